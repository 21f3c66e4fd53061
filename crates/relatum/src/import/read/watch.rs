//! Limits for what an RDF document may ask its parser to do.
//!
//! XML lets a document define short names for long texts, and names for those: a few lines can stand for
//! gigabytes. In RDF such entities abbreviate namespaces, so they must be defined at the beginning and be
//! short. JSON-LD lets every object bring a context, which is added to a copy of the one around it, and
//! its parser calls itself for objects within objects.

use std::collections::HashMap;
use std::io::{self, Read};

use memchr::memmem;

use super::elements::Elements;

/// The longest text that an entity of XML may stand for.
const LONGEST_ENTITY: usize = 1000;
/// The most contexts of a JSON-LD document.
const MOST_CONTEXTS: usize = 10_000;
/// The most objects and lists of a JSON-LD document within each other.
const DEEPEST: usize = 100;

/// What a document contains that its parser must not get.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum Excess {
    #[error(
        "an XML entity that stands for more than 1,000 characters, or is not defined in the first 64 KiB"
    )]
    Entity,
    #[error("more than 10,000 contexts of JSON-LD")]
    Contexts,
    #[error("objects or lists of JSON more than 100 deep within each other")]
    Depth,
}

/// A document that ends before its elements are closed, with how many are open.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the file ends while {0} of its elements are open; it seems to be cut off")]
pub(super) struct CutOff(usize);

/// Checks the entities that the beginning of an XML document defines.
pub(super) fn check_entities(start: &[u8]) -> Result<(), Excess> {
    let text = String::from_utf8_lossy(start);
    let mut lengths: HashMap<&str, usize> = HashMap::new();
    for definition in text.split("<!ENTITY").skip(1) {
        // Definitions of another form than NAME "VALUE" are refused by the parser itself.
        let definition = definition.trim_start().trim_start_matches('%').trim_start();
        let Some((name, rest)) = definition.split_once(|c: char| c.is_ascii_whitespace()) else { continue };
        let Some(rest) = rest.trim_start().strip_prefix('"') else { continue };
        let (value, _) = rest.split_once('"').ok_or(Excess::Entity)?;
        let mut length = 0;
        for (at, piece) in value.split('&').enumerate() {
            let used = piece.split_once(';').filter(|_| at > 0).and_then(|(name, _)| lengths.get(name));
            length += piece.len() + used.copied().unwrap_or(0);
        }
        if length > LONGEST_ENTITY {
            return Err(Excess::Entity);
        }
        lengths.insert(name, length);
    }
    Ok(())
}

/// A stream in which a word may occur only so often.
pub(super) struct Watched<R> {
    bytes: R,
    word: &'static [u8],
    allowed: usize,
    excess: Excess,
    /// Where the stream is within JSON, if it is JSON.
    nesting: Option<Nesting>,
    /// Which elements are open, if it is XML.
    elements: Option<Elements>,
    /// The last bytes that were read, which may hold the beginning of the word.
    tail: Vec<u8>,
}

impl<R: Read> Watched<R> {
    /// An XML document, which may define entities only in its beginning; that has been checked.
    pub(super) fn xml(start: &[u8], bytes: R) -> Self {
        let word = b"<!ENTITY";
        let allowed = memmem::find_iter(start, word).count();
        let elements = Some(Elements::default());
        Self { bytes, word, allowed, excess: Excess::Entity, nesting: None, elements, tail: Vec::new() }
    }

    pub(super) fn json_ld(bytes: R) -> Self {
        let (word, allowed) = (b"@context", MOST_CONTEXTS);
        let nesting = Some(Nesting::default());
        Self { bytes, word, allowed, excess: Excess::Contexts, nesting, elements: None, tail: Vec::new() }
    }
}

/// How deep a place of a JSON text is.
#[derive(Default)]
struct Nesting {
    depth: usize,
    in_text: bool,
    escaped: bool,
}

impl Nesting {
    fn follow(&mut self, bytes: &[u8]) -> Result<(), Excess> {
        for byte in bytes {
            match byte {
                _ if self.escaped => self.escaped = false,
                b'\\' if self.in_text => self.escaped = true,
                b'"' => self.in_text = !self.in_text,
                b'{' | b'[' if !self.in_text => self.depth += 1,
                b'}' | b']' if !self.in_text => self.depth = self.depth.saturating_sub(1),
                _ => {}
            }
            if self.depth > DEEPEST {
                return Err(Excess::Depth);
            }
        }
        Ok(())
    }
}

impl<R: Read> Read for Watched<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.bytes.read(buffer)?;
        if let Some(nesting) = &mut self.nesting {
            nesting.follow(&buffer[..read]).map_err(io::Error::other)?;
        }
        if let Some(elements) = &mut self.elements {
            elements.follow(&buffer[..read]);
            if read == 0 && !buffer.is_empty() && elements.open() > 0 {
                return Err(io::Error::other(CutOff(elements.open())));
            }
        }
        self.tail.extend_from_slice(&buffer[..read]);
        let met = memmem::find_iter(&self.tail, self.word).count();
        let left = self.allowed.checked_sub(met).ok_or_else(|| io::Error::other(self.excess))?;
        self.allowed = left;
        let keep = self.tail.len().saturating_sub(self.word.len() - 1);
        self.tail.drain(..keep);
        Ok(read)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entities_that_grow_are_found_and_namespaces_are_not() {
        let namespaces =
            r#"<!DOCTYPE rdf:RDF [ <!ENTITY w "http://www.w3.org/"> <!ENTITY owl "&w;2002/07/owl#"> ]>"#;
        assert_eq!(check_entities(namespaces.as_bytes()), Ok(()));
        let mut bomb = r#"<!DOCTYPE x [ <!ENTITY a0 "laughter">"#.to_owned();
        for level in 1..10 {
            bomb += &format!(r#"<!ENTITY a{level} "{}">"#, format!("&a{};", level - 1).repeat(10));
        }
        assert_eq!(check_entities(bomb.as_bytes()), Err(Excess::Entity));
        assert_eq!(check_entities(br#"<!ENTITY cut "off"#), Err(Excess::Entity));
    }

    #[test]
    fn brackets_within_texts_are_not_counted() {
        let nested = |depth: usize| "[".repeat(depth) + &"]".repeat(depth);
        let text = |depth| format!(r#"{{"a\"{{[": "{}\\", "b": {}}}"#, nested(1000), nested(depth));
        assert_eq!(Nesting::default().follow(text(DEEPEST - 1).as_bytes()), Ok(()));
        assert_eq!(Nesting::default().follow(text(DEEPEST).as_bytes()), Err(Excess::Depth));
    }

    #[test]
    fn a_word_is_found_wherever_reads_cut_it() {
        struct ByOne<'a>(&'a [u8]);
        impl Read for ByOne<'_> {
            fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
                let many = buffer.len().min(1);
                self.0.read(&mut buffer[..many])
            }
        }
        let text = b"<a><!ENTITY x><!ENTITY y></a>";
        for (start, fits) in [(&text[..], true), (&text[..14], false), (b"", false)] {
            let mut all = Vec::new();
            assert_eq!(Watched::xml(start, ByOne(text)).read_to_end(&mut all).is_ok(), fits);
        }
    }
}
