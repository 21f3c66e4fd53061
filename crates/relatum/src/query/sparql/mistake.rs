//! What is wrong with a text that is not SPARQL, in words.
//!
//! `spargebra` says which characters its grammar could have gone on with, at the furthest place that any of
//! its rules reached: both mean little to a person, and the place is often behind the mistake. So the common
//! mistakes are looked for among the tokens first.

use super::locate::Locator;
use super::tokens::{Kind, Token};
use crate::query::error::QueryError;
use crate::query::place::Place;

/// The mistake in a text that the parser refused with these words.
pub(super) fn find(text: &str, locator: &Locator<'_>, said: &str) -> QueryError {
    let tokens = locator.tokens();
    let (message, place) = string(&tokens)
        .or_else(|| bracket(&tokens))
        .or_else(|| tokens.windows(2).find_map(pair))
        .or_else(|| name(&tokens, locator))
        .or_else(|| clause_at_the_end(text, &tokens))
        .or_else(|| own_words(text, said))
        .unwrap_or_else(|| elsewhere(text, &tokens, said));
    QueryError::Sparql { message, place }
}

type Found = Option<(String, Place)>;

/// A string that never ends.
fn string(tokens: &[(Token, &str)]) -> Found {
    let open = tokens
        .iter()
        .find(|(token, text)| token.kind == Kind::String && (text.len() < 2 || !text.ends_with(&text[..1])));
    open.map(|(token, _)| ("this string is never closed".to_owned(), token.place))
}

/// A bracket without its other half.
fn bracket(tokens: &[(Token, &str)]) -> Found {
    let mut open: Vec<(&str, Place)> = Vec::new();
    for (token, sign) in tokens.iter().filter(|(token, _)| token.kind == Kind::Sign) {
        let opens = match *sign {
            "{" | "(" | "[" => {
                open.push((sign, token.place));
                continue;
            }
            "}" => "{",
            ")" => "(",
            "]" => "[",
            _ => continue,
        };
        match open.pop() {
            Some((last, _)) if last == opens => {}
            Some((last, place)) => {
                return Some((format!("this `{last}` is closed by `{sign}`"), place.to(token.place)));
            }
            None => return Some((format!("no `{opens}` is open here"), token.place)),
        }
    }
    let (sign, place) = open.pop()?;
    let close = match sign {
        "{" => "}",
        "(" => ")",
        _ => "]",
    };
    Some((format!("this `{sign}` is never closed: `{close}` is missing"), place))
}

/// A malformed name: a bare word, an undeclared prefix, an incomplete IRI.
fn name(tokens: &[(Token, &str)], locator: &Locator<'_>) -> Found {
    let base = tokens.iter().any(|(_, text)| text.eq_ignore_ascii_case("base"));
    for (index, (token, text)) in tokens.iter().enumerate() {
        let message = match token.kind {
            // A word before a parenthesis is a function.
            Kind::Word
                if !is_word_of_sparql(text) && tokens.get(index + 1).is_none_or(|next| next.1 != "(") =>
            {
                format!(
                    "`{text}` is no word of SPARQL: a variable is written ?{text}, an entity e:{text} or \
                     \"{text}\", a relation r:{text}, a blank in a name %20 (r:depends%20on)"
                )
            }
            Kind::Prefixed => {
                let (prefix, _) = text.split_once(':').unwrap_or_default();
                let declares =
                    index > 0 && tokens[index - 1].1.eq_ignore_ascii_case("prefix") && text.ends_with(':');
                if declares || locator.declares(prefix) {
                    continue;
                }
                format!(
                    "the prefix `{prefix}:` is not declared; declared are e: for entities, r: for relations, \
                     those of the graph and those that the query declares with PREFIX"
                )
            }
            Kind::Iri if !base && !has_scheme(&text[1..text.len() - 1]) => {
                "this IRI is incomplete: an IRI begins with a scheme, as in <http://…>; a name of the graph is \
                 written e:name or r:name"
                    .to_owned()
            }
            _ => continue,
        };
        return Some((message, token.place));
    }
    None
}

/// Two tokens that cannot follow each other.
fn pair(tokens: &[(Token, &str)]) -> Found {
    let [(first, before), (second, after)] = tokens else { return None };
    let is = |word: &str| first.kind == Kind::Word && before.eq_ignore_ascii_case(word);
    let wants = |wanted: &str| format!("{} is followed by {wanted}, not by `{after}`", before.to_uppercase());
    let then = |words: &[&str]| words.iter().any(|word| after.eq_ignore_ascii_case(word));
    let message = if is("select") && (then(&["where", "{"])) {
        "SELECT names no variable: write the one whose values you want, SELECT ?x".to_owned()
    } else if first.kind == Kind::Variable && *after == "," {
        "variables stand side by side without a comma".to_owned()
    } else if (is("order") || is("group")) && !then(&["by"]) {
        wants("BY")
    } else if is("not") && !then(&["exists", "in"]) {
        wants("EXISTS")
    } else if (is("limit") || is("offset")) && second.kind != Kind::Number {
        wants("a number")
    } else if is("filter") && second.kind == Kind::Sign && !then(&["(", "!"]) {
        wants("NOT EXISTS { … } or EXISTS { … }")
    } else if (is("ask") || is("where")) && !then(&["{", "where", "from"]) {
        wants("`{`")
    } else if is("prefix") && !after.ends_with(':') {
        wants("a name with a colon, as in PREFIX ex: <http://example.org/>")
    } else if matches!(first.kind, Kind::Prefixed | Kind::Iri) && *after == "(" {
        "a triple is written `subject relation object`, not `relation(subject, object)`".to_owned()
    } else {
        return None;
    };
    Some((message, second.place))
}

/// A clause at the end that something must follow.
fn clause_at_the_end(text: &str, tokens: &[(Token, &str)]) -> Found {
    let (token, last) = tokens.last()?;
    let wants = ["select", "ask", "where", "order", "group", "by", "limit", "offset", "prefix", "base"];
    let unfinished = token.kind == Kind::Word && wants.iter().any(|word| last.eq_ignore_ascii_case(word));
    let end = Place::new(text.len()..text.len());
    unfinished.then(|| (format!("it ends after {}", last.to_uppercase()), end))
}

/// A mistake that the parser describes in words of its own: against a rule that a grammar cannot express, such
/// as a variable of SELECT that nothing binds.
fn own_words(text: &str, said: &str) -> Found {
    let (at, rest) = position(text, said)?;
    let words = rest.strip_prefix("expected one of ").or_else(|| rest.strip_prefix("expected "))?;
    let mut options = words.split(", ");
    let sentence = options.find(|option| option.starts_with(char::is_uppercase) && option.contains(' '))?;
    Some((sentence.trim_start_matches("The ").to_owned(), around(text, at)))
}

/// Where the parser got no further.
fn elsewhere(text: &str, tokens: &[(Token, &str)], said: &str) -> (String, Place) {
    let at = position(text, said).map_or(text.len(), |(at, _)| at);
    let index = tokens.iter().position(|(token, _)| token.place.range().end > at);
    let before = index.unwrap_or(tokens.len()).checked_sub(1).map(|last| tokens[last].1);
    let after = before.map_or_else(String::new, |before| format!(" after `{before}`"));
    let triple = "a triple is `subject relation object`, and triples are separated by `.`";
    match index.map(|index| tokens[index]) {
        Some((token, found)) => (format!("`{found}` cannot stand{after}: {triple}"), token.place),
        None => (format!("it ends too soon{after}: {triple}"), Place::new(text.len()..text.len())),
    }
}

/// `error at LINE:COLUMN: expected …` → the place in bytes, and what was expected.
fn position<'a>(text: &str, said: &'a str) -> Option<(usize, &'a str)> {
    let (position, rest) = said.strip_prefix("error at ")?.split_once(": ")?;
    let (line, column) = position.split_once(':')?;
    let (line, column) = (line.parse::<usize>().ok()?, column.parse::<usize>().ok()?);
    let start: usize = text.split_inclusive('\n').take(line.saturating_sub(1)).map(str::len).sum();
    let of_line = text.get(start..).unwrap_or_default();
    let offset: usize = of_line.chars().take(column.saturating_sub(1)).map(char::len_utf8).sum();
    Some((start + offset, rest))
}

fn around(text: &str, at: usize) -> Place {
    Place::new(at..at + text[at..].chars().next().map_or(0, char::len_utf8))
}

fn has_scheme(iri: &str) -> bool {
    let scheme = iri.split_once(':').map_or("", |(scheme, _)| scheme);
    scheme.starts_with(|c: char| c.is_ascii_alphabetic())
        && scheme.chars().all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c))
}

/// The words of the query language. Those of updates are refused before.
fn is_word_of_sparql(word: &str) -> bool {
    const WORDS: &str = "a as asc ask base bind by construct desc describe distinct exists false filter from \
                         graph group having in limit minus named not offset optional order prefix reduced \
                         select separator service silent true undef union values version where";
    WORDS.split_whitespace().any(|known| word.eq_ignore_ascii_case(known))
}

#[cfg(test)]
mod tests {
    use super::super::parse_any;
    use crate::graph::Prefixes;
    use crate::query::QueryError;

    /// What is said, and the part of the text that it is said of.
    fn said(sparql: &str) -> String {
        match parse_any(sparql, &Prefixes::default()) {
            Err(QueryError::Sparql { message, place }) => format!("[{}] {message}", &sparql[place.range()]),
            other => panic!("{sparql}: {other:?}"),
        }
    }

    #[test]
    fn common_mistakes_are_told_in_words() {
        let cases = [
            ("SELECT ?x { ?x r:a \"b }", "[\"b }] this string is never closed"),
            ("SELECT ?x { ?x r:a e:b ", "[{] this `{` is never closed: `}` is missing"),
            ("SELECT ?x { ?x r:a e:b } }", "[}] no `{` is open here"),
            ("SELECT ?x { (?x r:a e:b }", "[(?x r:a e:b }] this `(` is closed by `}`"),
            ("SELECT ?x { ?x <rel> e:a }", "[<rel>] this IRI is incomplete"),
            ("SELECT ?x { ?x foo:a e:a }", "[foo:a] the prefix `foo:` is not declared"),
            ("SELECT ?x { ?x r:depends on e:a }", "[on] `on` is no word of SPARQL"),
            ("SELECT ?x { ?x r:a Martin Lawrence }", "[Martin] `Martin` is no word of SPARQL"),
            ("SELECT WHERE { ?x r:a e:b }", "[WHERE] SELECT names no variable"),
            ("SELECT ?x, ?y { ?x r:a ?y }", "[,] variables stand side by side without a comma"),
            ("SELECT ?x { ?x r:a e:b } LIMIT -1", "[-] LIMIT is followed by a number, not by `-`"),
            ("SELECT ?x { ?x r:a e:b } ORDER ?x", "[?x] ORDER is followed by BY, not by `?x`"),
            ("SELECT ?x { ?x r:a e:b . FILTER }", "[}] FILTER is followed by NOT EXISTS"),
            ("ASK e:a r:b e:c", "[e:a] ASK is followed by `{`, not by `e:a`"),
            ("PREFIX x <http://x> SELECT ?x { }", "[x] PREFIX is followed by a name with a colon"),
            ("SELECT ?x { r:stars(?x, e:b) }", "[(] a triple is written `subject relation object`"),
            ("SELECT ?x { ?x r:stars }", "[}] `}` cannot stand after `r:stars`"),
            ("SELECT ?x { ?x r:a e:b } LIMIT", "[] it ends after LIMIT"),
        ];
        for (sparql, expected) in cases {
            let said = said(sparql);
            assert!(said.starts_with(expected), "{sparql}: {said}");
        }
    }

    #[test]
    fn no_message_speaks_of_the_grammar() {
        for sparql in [
            "SELECT ?x { ?x r:a \"b\"@9x }",
            "SELECT ?x { ?x r:a e:b FILTER(",
            "SELECT (COUNT(?x)) { ?x r:a ?y }",
            "SELECT ?x { ?x r:a e:b } HAVING",
            "SELECT ?x { ?x ?y }",
            "SELECT ?x { ?x r:a e:b ?z }",
            "SELECT ?x { BIND(?y AS ?x) ?x r:a ?x BIND(?z AS ?x) }",
            "ASK",
        ] {
            let said = said(sparql);
            for leak in ["expected", "parsing failed", "ENCODE_FOR_URI", "..=", "[_]"] {
                assert!(!said.contains(leak), "{sparql}: {said}");
            }
        }
    }
}
