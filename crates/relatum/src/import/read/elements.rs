//! Whether every element of an XML document is closed.
//!
//! The parser of RDF/XML takes the end of the file for the end of the document: a download that was cut off
//! between two tags would lose its rest without an error.

/// Counts the elements that are open while the bytes of a document pass by.
#[derive(Debug, Default)]
pub(super) struct Elements {
    open: usize,
    place: Place,
}

/// Where in the markup the next byte stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Place {
    #[default]
    Text,
    /// Behind `<`.
    Opened,
    /// Behind `<!`.
    Declared,
    /// Within a tag; whether it closes an element, and whether the last byte was `/`.
    Tag { closes: bool, slash: bool },
    /// Within a value of a tag that began with this quotation mark.
    Value(u8),
    /// Within `<!-- -->`, behind so many hyphens.
    Comment(u8),
    /// Within `<![CDATA[ ]]>`, behind so many brackets.
    Data(u8),
    /// Within `<? ?>`; whether the last byte was `?`.
    Instruction(bool),
    /// Within `<!DOCTYPE >`, so many brackets deep.
    Doctype(u8),
    /// Within a quoted value of `<!DOCTYPE >`.
    DoctypeValue(u8, u8),
}

impl Elements {
    pub(super) fn follow(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.place = self.next(byte);
        }
    }

    /// How many elements are open; a tag that was begun counts too.
    pub(super) fn open(&self) -> usize {
        self.open + usize::from(self.place != Place::Text)
    }

    fn next(&mut self, byte: u8) -> Place {
        match (self.place, byte) {
            (Place::Text, b'<') => Place::Opened,
            (Place::Text, _)
            | (Place::Comment(2..) | Place::Data(2..) | Place::Instruction(true) | Place::Doctype(0), b'>') => {
                Place::Text
            }
            (Place::Opened, b'!') => Place::Declared,
            (Place::Opened, b'?') => Place::Instruction(false),
            (Place::Opened, _) => Place::Tag { closes: byte == b'/', slash: false },
            (Place::Declared, b'-') => Place::Comment(0),
            (Place::Declared, b'[') => Place::Data(0),
            (Place::Declared, _) => Place::Doctype(0),
            (Place::Tag { closes, slash }, b'>') => {
                if closes {
                    self.open = self.open.saturating_sub(1);
                } else if !slash {
                    self.open += 1;
                }
                Place::Text
            }
            (Place::Tag { .. }, b'"' | b'\'') => Place::Value(byte),
            (Place::Tag { closes, .. }, _) => Place::Tag { closes, slash: byte == b'/' },
            (Place::Value(mark), _) if byte == mark => Place::Tag { closes: false, slash: false },
            (Place::Comment(hyphens), b'-') => Place::Comment(hyphens.saturating_add(1)),
            (Place::Comment(_), _) => Place::Comment(0),
            (Place::Data(brackets), b']') => Place::Data(brackets.saturating_add(1)),
            (Place::Data(_), _) => Place::Data(0),
            (Place::Instruction(_), _) => Place::Instruction(byte == b'?'),
            (Place::Doctype(depth), b'[') => Place::Doctype(depth.saturating_add(1)),
            (Place::Doctype(depth), b']') => Place::Doctype(depth.saturating_sub(1)),
            (Place::Doctype(depth), b'"' | b'\'') => Place::DoctypeValue(depth, byte),
            (Place::DoctypeValue(depth, mark), _) if byte == mark => Place::Doctype(depth),
            (place, _) => place,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn open(text: &str) -> usize {
        let mut elements = Elements::default();
        elements.follow(text.as_bytes());
        elements.open()
    }

    #[test]
    fn closed_elements_are_not_counted_as_open() {
        let whole = "<?xml version='1.0'?><!DOCTYPE r [ <!ENTITY x \"a>]b\"> ]><!-- <a> - -- <b> -->\n\
                     <r a=\"/>\" b='<'><s/><t u='v'/><![CDATA[ <x> ]] ]]><w>text</w></r>\n<!-- end -->\n";
        assert_eq!(open(whole), 0);
        let last = whole.find("</r>").unwrap();
        assert_eq!(open(&whole[..last]), 1, "the document is cut before its last tag");
        assert_eq!(open(&whole[..whole.find("</w>").unwrap()]), 2);
        assert_eq!(open(&whole[..last + 2]), 2, "a tag that was begun is open too");
    }
}
