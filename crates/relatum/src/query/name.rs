//! A name as it was written, before the graph is asked what it means.

use super::place::Place;

/// How a name was written, which decides how it is looked up and printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum NameKind {
    /// A word or a quoted text: name, prefixed name or label.
    Text,
    /// An IRI in `<>`, kept without them.
    Iri,
    /// An id of the graph, `#7`, kept without `#`.
    Number,
}

/// A name of an entity or a relation in a query.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Name {
    /// How it was written.
    pub kind: NameKind,
    /// The name, without quotes or brackets.
    pub text: String,
    /// Where it stands in the source.
    pub place: Place,
}

impl Name {
    /// A word or a quoted text.
    pub fn text(text: impl Into<String>) -> Self {
        Self { kind: NameKind::Text, text: text.into(), place: Place::default() }
    }

    /// An IRI.
    pub fn iri(iri: impl Into<String>) -> Self {
        Self { kind: NameKind::Iri, text: iri.into(), place: Place::default() }
    }

    /// An id of the graph.
    pub fn number(id: u32) -> Self {
        Self { kind: NameKind::Number, text: id.to_string(), place: Place::default() }
    }

    /// The same name at a place.
    #[must_use]
    pub fn at(self, place: Place) -> Self {
        Self { place, ..self }
    }
}
