//! Which format a file has, by its name and by its content.

use std::path::Path;

use super::error::ReadError;
use super::foreign;
use super::source::Source;

/// A way of writing triples.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Tab-separated values, nothing quoted.
    Tsv,
    /// Comma- or semicolon-separated values, quoted where needed.
    Csv,
    /// One RDF triple a line.
    NTriples,
    /// RDF as people write it.
    Turtle,
    /// One RDF quad a line; the default graph is read, unless a named one is asked for.
    NQuads,
    /// Turtle with named graphs; the default graph is read, unless a named one is asked for.
    TriG,
    /// RDF in XML, as ontologies are published.
    RdfXml,
    /// RDF in JSON; the default graph is read, unless a named one is asked for.
    JsonLd,
}

impl Format {
    /// Every format with the names it goes by.
    pub const NAMES: [(&'static str, Self); 8] = [
        ("tsv", Self::Tsv),
        ("csv", Self::Csv),
        ("nt", Self::NTriples),
        ("ttl", Self::Turtle),
        ("nq", Self::NQuads),
        ("trig", Self::TriG),
        ("rdf", Self::RdfXml),
        ("jsonld", Self::JsonLd),
    ];

    /// The format of a file extension or of a name in options.
    pub fn by_name(name: &str) -> Option<Self> {
        let name = name.to_ascii_lowercase();
        Self::NAMES.iter().find(|(known, _)| *known == name).map(|&(_, format)| format)
    }

    pub(super) fn is_rdf(self) -> bool {
        !matches!(self, Self::Tsv | Self::Csv)
    }

    /// Whether a mistake in the middle leaves the rest readable.
    pub(super) fn is_of_lines(self) -> bool {
        !matches!(self, Self::RdfXml | Self::JsonLd)
    }

    /// Guesses by the extension, without `.gz` and `.zst`, or else by the content.
    pub(super) fn guess(path: &Path, source: &Source<'_>) -> Result<Self, ReadError> {
        foreign::refuse_binary(&source.name, &source.start)?;
        if let Some(format) = by_extension(path) {
            return Ok(format);
        }
        foreign::refuse_text(&source.name, &source.start)?;
        by_content(&source.start).ok_or_else(|| {
            let start = String::from_utf8_lossy(&source.start[..source.start.len().min(40)]);
            ReadError::UnknownFormat { file: source.name.clone(), start: format!("{start:?}") }
        })
    }
}

impl std::fmt::Display for Format {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Tsv => "TSV",
            Self::Csv => "CSV",
            Self::NTriples => "N-Triples",
            Self::Turtle => "Turtle",
            Self::NQuads => "N-Quads",
            Self::TriG => "TriG",
            Self::RdfXml => "RDF/XML",
            Self::JsonLd => "JSON-LD",
        })
    }
}

fn by_extension(path: &Path) -> Option<Format> {
    let extension = path.extension()?.to_str()?;
    if ["gz", "zst"].contains(&extension.to_ascii_lowercase().as_str()) {
        return by_extension(Path::new(path.file_stem()?));
    }
    // Other XML and JSON files have these endings too, so their content decides.
    let alias = if extension.eq_ignore_ascii_case("owl") { "rdf" } else { extension };
    Format::by_name(alias)
}

/// Whether a JSON text has one of the keywords of JSON-LD.
pub(super) fn is_json_ld(text: &str) -> bool {
    ["\"@context\"", "\"@id\"", "\"@graph\"", "\"@type\""].iter().any(|word| text.contains(word))
}

fn by_content(start: &[u8]) -> Option<Format> {
    let text = String::from_utf8_lossy(start);
    let mut lines = text.trim_start_matches('\u{feff}').lines().map(str::trim_end);
    let line = lines.find(|line| !line.trim_start().is_empty() && !line.starts_with('#'))?;
    let first_word = line.split_whitespace().next().unwrap_or_default().to_ascii_lowercase();
    if ["@prefix", "@base", "prefix", "base"].contains(&first_word.as_str()) {
        // TriG reads everything that is Turtle, and named graphs as well.
        return Some(Format::TriG);
    }
    if line.starts_with("<?xml") || line.starts_with("<!") || line.starts_with("<rdf:RDF") {
        return Some(Format::RdfXml);
    }
    if line.starts_with('<') || line.starts_with("_:") {
        let mut words = line.split_whitespace().skip(1);
        let one_statement =
            line.ends_with('.') && words.next().is_some_and(|predicate| predicate.starts_with('<'));
        return Some(if one_statement { Format::NQuads } else { Format::TriG });
    }
    if line.starts_with(['{', '[']) {
        return is_json_ld(&text).then_some(Format::JsonLd);
    }
    if line.contains('\t') {
        return Some(Format::Tsv);
    }
    line.contains([',', ';']).then_some(Format::Csv)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_extension_is_seen_through_compression() {
        let formats =
            ["a.tsv", "a.CSV", "a.nt.gz", "a.b.ttl.zst", "a.trig"].map(|name| by_extension(Path::new(name)));
        let expected = [Format::Tsv, Format::Csv, Format::NTriples, Format::Turtle, Format::TriG];
        assert_eq!(formats, expected.map(Some));
        let formats = ["a.rdf", "a.owl.gz", "a.jsonld"].map(|name| by_extension(Path::new(name)));
        assert_eq!(formats, [Format::RdfXml, Format::RdfXml, Format::JsonLd].map(Some));
        assert_eq!(by_extension(Path::new("train.txt")), None);
    }

    #[test]
    fn content_decides_where_the_name_does_not() {
        use Format::{Csv, NQuads, TriG, Tsv};
        let formats = [
            "# comment\n@prefix x: <http://x/> .\n",
            "PREFIX x: <http://x/>\n",
            "<http://a> <http://b> <http://c> .\n",
            "_:a <http://b> \"x, y\" .\n",
            "<http://a> a <http://c> .\n",
            "<http://a> <http://b> <http://c> ;\n",
            "a\tb\tc\n",
            "a,b,c\n",
            "\u{feff}a;b;c\n",
        ]
        .map(|text| by_content(text.as_bytes()));
        assert_eq!(formats, [TriG, TriG, NQuads, NQuads, TriG, TriG, Tsv, Csv, Csv].map(Some));
        assert_eq!(by_content(b"<?xml version='1.0'?><rdf:RDF/>"), Some(Format::RdfXml));
        assert_eq!(by_content(b"<rdf:RDF xmlns:rdf='x'>"), Some(Format::RdfXml));
        assert_eq!(by_content(b"[{\"@id\": \"http://a\"}]"), Some(Format::JsonLd));
        assert_eq!(by_content(b"{\"a\": 1, \"b\": 2}"), None);
        assert_eq!(by_content(b"\x89PNG\r\n"), None);
        assert_eq!(by_content(b""), None);
    }
}
