//! A rough scanner of SPARQL, only good enough to find places: `spargebra` gives none.

use crate::query::place::Place;

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Kind {
    /// A keyword, `a`, or the name of a function.
    Word,
    Variable,
    Iri,
    Prefixed,
    String,
    Number,
    Sign,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Token {
    pub(super) kind: Kind,
    pub(super) place: Place,
}

/// The first `most` tokens of a text, without comments.
pub(super) fn scan(text: &str, most: usize) -> Vec<Token> {
    let mut tokens = Vec::new();
    let mut at = 0;
    while tokens.len() < most {
        let rest = &text[at..];
        let Some(first) = rest.chars().next() else { break };
        if first.is_whitespace() {
            at += first.len_utf8();
            continue;
        }
        if first == '#' {
            at += rest.find(['\n', '\r']).unwrap_or(rest.len());
            continue;
        }
        let (kind, len) = token(rest, first);
        tokens.push(Token { kind, place: Place::new(at..at + len) });
        at += len;
    }
    tokens
}

fn token(rest: &str, first: char) -> (Kind, usize) {
    match first {
        '<' => match rest.find(|c: char| "> \t\r\n\"{}|^`\\".contains(c)) {
            Some(end) if rest[end..].starts_with('>') => (Kind::Iri, end + 1),
            _ => (Kind::Sign, 1),
        },
        '"' | '\'' => (Kind::String, string_len(rest, first)),
        '?' | '$' => match name_len(&rest[1..], |c| c.is_alphanumeric() || c == '_') {
            0 => (Kind::Sign, 1),
            len => (Kind::Variable, 1 + len),
        },
        c if c.is_ascii_digit() => (Kind::Number, name_len(rest, |c| c.is_ascii_alphanumeric() || c == '.')),
        c if c.is_alphabetic() || c == '_' || c == ':' => {
            let len = prefixed_len(rest);
            (if rest[..len].contains(':') { Kind::Prefixed } else { Kind::Word }, len)
        }
        c => (Kind::Sign, c.len_utf8()),
    }
}

fn name_len(text: &str, belongs: impl Fn(char) -> bool) -> usize {
    text.find(|c| !belongs(c)).unwrap_or(text.len())
}

fn prefixed_len(text: &str) -> usize {
    let mut len = 0;
    let mut escaped = false;
    for (at, c) in text.char_indices() {
        let belongs = escaped || c.is_alphanumeric() || "_-:%\\".contains(c);
        escaped = c == '\\' && !escaped;
        if belongs {
            len = at + c.len_utf8();
        } else if c != '.' {
            break;
        }
    }
    len
}

fn string_len(text: &str, quote: char) -> usize {
    let long = [quote; 3].iter().collect::<String>();
    let close = if text.starts_with(&long) { long } else { quote.to_string() };
    let mut at = close.len();
    while at < text.len() {
        let rest = &text[at..];
        if rest.starts_with(&close) {
            return at + close.len();
        }
        let mut chars = rest.chars();
        let c = chars.next().map_or(1, char::len_utf8);
        // What a backslash escapes cannot close the string.
        at += if rest.starts_with('\\') { c + chars.next().map_or(0, char::len_utf8) } else { c };
    }
    text.len()
}
