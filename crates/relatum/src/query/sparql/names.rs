//! Names that are not IRIs, as IRIs.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};

use crate::query::name::Name;

/// What the prefix `e:` stands for, unless a query or a graph says otherwise.
pub const ENTITY_PREFIX: &str = "urn:relatum:e:";

/// What the prefix `r:` stands for, unless a query or a graph says otherwise.
pub const RELATION_PREFIX: &str = "urn:relatum:r:";

/// All but letters, digits and `_`: what is left is a local name in every syntax of RDF.
const ENCODED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'_');

/// The IRI of an entity that has another name: `urn:relatum:e:Bad%20Boys`.
pub fn entity_iri(name: &str) -> String {
    format!("{ENTITY_PREFIX}{}", encoded(name))
}

/// The IRI of a relation that has another name: `urn:relatum:r:stars`.
pub fn relation_iri(name: &str) -> String {
    format!("{RELATION_PREFIX}{}", encoded(name))
}

/// A name as the local part of `e:` or `r:`: `Bad%20Boys`.
pub fn encoded(name: &str) -> String {
    utf8_percent_encode(name, ENCODED).to_string()
}

/// The name that an IRI of a query means.
pub(super) fn name_of_iri(iri: &str) -> Name {
    let local = iri.strip_prefix(ENTITY_PREFIX).or_else(|| iri.strip_prefix(RELATION_PREFIX));
    match local.map(|local| percent_decode_str(local).decode_utf8()) {
        Some(Ok(name)) => Name::text(name),
        _ => Name::iri(iri),
    }
}
