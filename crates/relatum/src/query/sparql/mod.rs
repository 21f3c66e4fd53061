//! SPARQL: `SELECT ?d WHERE { … }` and `ASK { … }`, through `spargebra`, as far as it is a logical question.
//!
//! Basic graph patterns, joins and `FILTER EXISTS` are conjunctions, `UNION` and `|` are
//! disjunctions, `FILTER NOT EXISTS` and `MINUS` are negations, `/` and `^` are paths. `VALUES`
//! gives one anchor a name; `LIMIT`, `OFFSET` and `ORDER BY DESC(?score)` are about the answers,
//! which come by falling score anyway. Everything else is refused by its name.
//!
//! In a graph whose names are not IRIs, a name is the IRI that [`entity_iri`] or
//! [`relation_iri`] makes of it; the prefixes `e:` and `r:` are declared for that. Whatever is
//! no letter, digit or `_` in such a name is percent-encoded: the relation `depends on` is
//! `r:depends%20on`. A plain
//! string as subject or object means the entity of that name.

mod locate;
mod mistake;
mod names;
mod path;
mod pattern;
mod print;
mod refuse;
mod select;
#[cfg(test)]
mod tests;
mod tokens;

pub use names::{ENTITY_PREFIX, RELATION_PREFIX, encoded, entity_iri, relation_iri};
pub use select::{KNOWN, Request, SCORE, Select, parse, parse_any};

use crate::query::place::Place;

/// Whether a text begins like SPARQL.
pub fn looks_like(text: &str) -> bool {
    let first = tokens::scan(text, 2);
    let word = |index: usize| first.get(index).map(|token| &text[token.place.range()]);
    let is = |name: &str| word(0).is_some_and(|it| it.eq_ignore_ascii_case(name));
    // `select : r(a, select)` is a question in the text syntax whose target is called so, and `ask(a, b)` a
    // statement whose relation is; but `PREFIX : <…>` and `SELECT (COUNT(…)` are SPARQL.
    word(0).is_some_and(opens)
        && (word(1) != Some(":") || is("prefix"))
        && (word(1) != Some("(") || is("select"))
}

/// Where a text begins, if it does not begin as SPARQL does.
pub(super) fn wrong_beginning(text: &str) -> Option<Place> {
    let first = tokens::scan(text, 1).first().map(|token| token.place);
    let first = first.unwrap_or_else(|| Place::new(text.len()..text.len()));
    (!opens(&text[first.range()])).then_some(first)
}

/// Whether a word is one that SPARQL begins with.
pub(in crate::query) fn opens(word: &str) -> bool {
    let words = ["select", "prefix", "base", "ask", "construct", "describe", "insert", "delete"];
    words.iter().any(|it| word.eq_ignore_ascii_case(it))
}
