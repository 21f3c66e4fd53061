//! Finds the place of what `spargebra` read, by looking for it among the tokens.

use rustc_hash::FxHashMap;

use super::tokens::{Kind, Token};
use crate::query::place::Place;

pub(super) struct Locator<'a> {
    text: &'a str,
    tokens: Vec<Token>,
    /// The IRIs of the prefixes, those of the query behind those declared before.
    prefixes: FxHashMap<String, String>,
    /// How often each thing was asked for: the second time it means the second token.
    asked: FxHashMap<String, usize>,
}

impl<'a> Locator<'a> {
    pub(super) fn new(text: &'a str, tokens: Vec<Token>, mut prefixes: FxHashMap<String, String>) -> Self {
        for part in tokens.windows(3) {
            let [word, name, iri] = [part[0], part[1], part[2]].map(|token| &text[token.place.range()]);
            if word.eq_ignore_ascii_case("prefix")
                && part[1].kind == Kind::Prefixed
                && part[2].kind == Kind::Iri
            {
                prefixes.insert(name.trim_end_matches(':').to_owned(), iri[1..iri.len() - 1].to_owned());
            }
        }
        Self { text, tokens, prefixes, asked: FxHashMap::default() }
    }

    /// All tokens, each with its text.
    pub(super) fn tokens(&self) -> Vec<(Token, &'a str)> {
        self.tokens.iter().map(|token| (*token, self.token_text(token))).collect()
    }

    /// Whether a prefix is declared, by the query or before it.
    pub(super) fn declares(&self, prefix: &str) -> bool {
        self.prefixes.contains_key(prefix)
    }

    /// The first of these words, in any case of letters.
    pub(super) fn word(&self, words: &[&str]) -> Option<Place> {
        self.nth_word(words, 0)
    }

    /// The n-th of these words, counted from 0.
    pub(super) fn nth_word(&self, words: &[&str], n: usize) -> Option<Place> {
        let is = |token: &&Token| {
            let text = self.token_text(token);
            token.kind == Kind::Word && words.iter().any(|word| text.eq_ignore_ascii_case(word))
        };
        self.tokens.iter().filter(is).nth(n).map(|token| token.place)
    }

    /// The first of these signs that follows a name or a closing parenthesis, as the
    /// operators of paths do.
    pub(super) fn path_sign(&self, signs: &[&str]) -> Option<Place> {
        let pairs = self.tokens.windows(2).filter(|pair| {
            let before = pair[0];
            let name = matches!(before.kind, Kind::Iri | Kind::Prefixed) || self.token_text(&before) == "a";
            (name || self.token_text(&before) == ")") && signs.contains(&self.token_text(&pair[1]))
        });
        pairs.map(|pair| pair[1].place).next()
    }

    /// The first of these signs.
    pub(super) fn sign(&self, signs: &[&str]) -> Option<Place> {
        let is = |token: &&Token| token.kind == Kind::Sign && signs.contains(&self.token_text(token));
        self.tokens.iter().find(is).map(|token| token.place)
    }

    /// The first of these operators of two signs, written without a blank.
    pub(super) fn operator(&self, operator: &str) -> Option<Place> {
        let places = self.tokens.windows(2).filter(|pair| pair.iter().all(|token| token.kind == Kind::Sign));
        let mut joined = places.map(|pair| pair[0].place.to(pair[1].place));
        joined.find(|place| &self.text[place.range()] == operator)
    }

    /// The next token that means this IRI.
    pub(super) fn iri(&mut self, iri: &str) -> Place {
        const TYPE: &str = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type";
        self.next(iri, |locator, token| {
            let text = locator.token_text(token);
            match token.kind {
                Kind::Iri => &text[1..text.len() - 1] == iri,
                Kind::Word => text == "a" && iri == TYPE,
                Kind::Prefixed => {
                    let (prefix, local) = text.split_once(':').unwrap_or_default();
                    let start = locator.prefixes.get(prefix);
                    start.and_then(|start| iri.strip_prefix(start.as_str())) == Some(&local.replace('\\', ""))
                }
                _ => false,
            }
        })
    }

    /// The next literal with this value: a string, a number, `true` or `false`.
    pub(super) fn literal(&mut self, value: &str) -> Place {
        self.next(&format!("\"{value}"), |locator, token| {
            let text = locator.token_text(token);
            match token.kind {
                Kind::String => unescaped(text.trim_matches(['"', '\''])) == value,
                Kind::Number | Kind::Word => text == value,
                _ => false,
            }
        })
    }

    /// The next use of a variable; the first is where it is introduced.
    pub(super) fn variable(&self, name: &str) -> Place {
        let is = |token: &&Token| token.kind == Kind::Variable && &self.token_text(token)[1..] == name;
        self.tokens.iter().find(is).map_or_else(Place::default, |token| token.place)
    }

    /// The last use of a variable.
    pub(super) fn last_variable(&self, name: &str) -> Option<Place> {
        let is = |token: &&Token| token.kind == Kind::Variable && &self.token_text(token)[1..] == name;
        self.tokens.iter().rev().find(is).map(|token| token.place)
    }

    fn next(&mut self, key: &str, fits: impl Fn(&Self, &Token) -> bool) -> Place {
        let asked = self.asked.get(key).copied().unwrap_or(0);
        self.asked.insert(key.to_owned(), asked + 1);
        let mut found = Place::default();
        for (index, token) in self.tokens.iter().filter(|token| fits(self, token)).enumerate() {
            found = token.place;
            if index == asked {
                break;
            }
        }
        found
    }

    fn token_text(&self, token: &Token) -> &'a str {
        &self.text[token.place.range()]
    }
}

/// A string without its escapes; only the common ones are known.
fn unescaped(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        plain.push(match c {
            '\\' => match chars.next() {
                Some('n') => '\n',
                Some('r') => '\r',
                Some('t') => '\t',
                Some(other) => other,
                None => '\\',
            },
            other => other,
        });
    }
    plain
}
