//! Every mistake that a query can have, as people see it: text in, diagnostic out, all of them in
//! `snapshots/query_diagnostics__*.snap`. Belongs here: what is said about wrong or unusual
//! queries, and nothing about right ones.

use relatum::graph::{Graph, GraphBuilder, Split};
use relatum::query::{Limits, Style, Syntax, read};

/// Films, two towns that share a label, one IRI.
fn graph() -> Graph {
    let mut builder = GraphBuilder::default();
    builder.prefixes.insert("ex", "http://example.org/");
    for (head, relation, tail) in [
        ("Bad Boys", "stars", "Martin Lawrence"),
        ("Bad Boys", "has_genre", "comedy"),
        ("Bad Boys II", "stars", "Will Smith"),
        ("http://example.org/Paris", "capital_of", "France"),
        ("Q1", "capital_of", "Texas"),
        ("Q2", "part_of", "Texas"),
    ] {
        builder.add(Split::Train, head, relation, tail);
    }
    for name in ["Q1", "Q2"] {
        let id = builder.entity(name);
        builder.label_entity(id, "Springfield");
    }
    builder.finish().0
}

/// What is said about each query: its mistakes or, if it can run, the notes about it.
fn said(cases: &[(&str, &str)]) -> String {
    let graph = graph();
    let limits = Limits { branches: 8, atoms: 40 };
    let mut all = String::new();
    for (name, text) in cases {
        let said = match read(text, Syntax::detect(text), &graph, limits) {
            Err(mistakes) => mistakes.render(Style::Plain),
            Ok(question) => {
                let notes = question.checked.validity.notes;
                assert!(!notes.is_empty(), "{name}: nothing is wrong with {text}");
                let notes = notes.iter().map(|note| note.diagnostic().render(text, Style::Plain));
                notes.collect::<Vec<_>>().join("\n\n")
            }
        };
        all += &format!("──── {name}\n{said}\n\n");
    }
    all
}

#[test]
fn text_syntax() {
    let deep = format!("?A : {}stars(A, comedy)", "(".repeat(200));
    let cases = [
        ("nothing at all", ""),
        ("only a target", "?A"),
        ("no formula", "?A :"),
        ("no target", ": stars(A, comedy)"),
        ("a formula without target", "stars(A, comedy)"),
        ("a statement where things are sought", " stars(\"Bad Boys\", comedy) "),
        ("a question for relations where things are sought", "?R : R(\"Bad Boys\", comedy)"),
        ("a question for relations with an unknown name", "?R : R(\"Bad Boy\", comedy)"),
        ("a lone question mark", "?A : stars(?, comedy)"),
        ("a missing operand", "?A : stars(A, comedy) and"),
        ("for all", "?A : forall X. stars(X, A)"),
        ("for all, as a sign", "?A : stars(A, comedy) and ∀X. stars(X, A)"),
        ("an implication", "?A : stars(A, comedy) -> has_genre(A, comedy)"),
        ("an implication in parentheses", "?A : (stars(A, comedy) ⇒ has_genre(A, comedy))"),
        ("two operators", "?A : stars(A, comedy) and or stars(A, comedy)"),
        ("no operator between atoms", "?A : stars(A, comedy) stars(A, comedy)"),
        ("a parenthesis that is never closed", "?A : (stars(A, comedy) or has_genre(A, comedy)"),
        ("a parenthesis too many", "?A : stars(A, comedy))"),
        ("an atom that is never closed", "?A : stars(A, comedy"),
        ("one argument", "?A : stars(A)"),
        ("three arguments", "?A : stars(A, comedy, France)"),
        ("no arguments", "?A : stars"),
        ("a name with blanks", "?A : stars(A, Martin Lawrence)"),
        ("a variable as relation", "?A : ?A(A, comedy)"),
        ("a word of the language as a name", "?A : stars(A, and)"),
        ("a word of the language as a variable", "?A : exists not. stars(A, not)"),
        ("a word of the language as the target", "?or : stars(or, comedy)"),
        ("exists without variables", "?A : exists . stars(A, comedy)"),
        ("exists without dot", "?A : exists F stars(F, A)"),
        ("a quote that is never closed", "?A : stars(A, \"Martin Lawrence)"),
        ("an unknown escape", r#"?A : stars(A, "Martin\qLawrence")"#),
        ("a short code point", r#"?A : stars(A, "\u12")"#),
        ("an IRI that is never closed", "?A : stars(A, <http://example.org/Paris)"),
        ("a number that is no id", "?A : stars(A, #1x)"),
        ("a character that no name has", "?A : stars(A, \u{7})"),
        ("SPARQL without saying so", "select stars(A, comedy)"),
        ("several lines", "?A :\n  stars(A, comedy) and\n  has_genre(A comedy)  # here\n"),
        ("wide letters before the mistake", "?日本 : stars(日本, \"映画\" \"x\")"),
        ("too deep", deep.as_str()),
    ];
    insta::assert_snapshot!(said(&cases));
}

#[test]
fn names_and_variables() {
    let cases = [
        ("an unknown entity", "?A : stars(A, \"Martin Lawrense\")"),
        ("an unknown relation", "?A : star(A, \"Martin Lawrence\")"),
        ("two unknown names at once", "?A : star(A, \"Wil Smith\")"),
        ("nothing near it", "?A : stars(A, zzzzzzzz)"),
        ("an unknown name that may be a variable", "?A : stars(F, A)"),
        ("an unknown IRI", "?A : stars(A, <http://example.org/Pariss>)"),
        ("an unknown prefixed name", "?A : stars(A, ex:Parris)"),
        ("an id that is not there", "?A : #99(A, #1000)"),
        ("a label of several things", "?A : part_of(Springfield, A)"),
        ("a variable that nothing introduces", "?A : stars(?F, A)"),
        ("a variable out of its scope", "?A : (exists F. stars(F, A)) and has_genre(?F, comedy)"),
        ("a variable introduced twice", "?A : exists F. stars(F, A) and (exists F. has_genre(F, comedy))"),
        ("the target introduced again", "?A : exists A. stars(A, comedy)"),
        ("a variable that no atom uses", "?A : exists F, G. stars(F, A) and has_genre(F, comedy)"),
        ("a target that no atom uses", "?A : exists F. stars(F, comedy)"),
    ];
    insta::assert_snapshot!(said(&cases));
}

#[test]
fn questions_that_cannot_be_answered() {
    let branches: Vec<String> = (0..4).map(|n| format!("(stars(A, #{n}) or has_genre(A, #{n}))")).collect();
    let branches = format!("?A : {}", branches.join(" and "));
    let atoms: Vec<String> = (0..50).map(|n| format!("stars(A, #{})", n % 5)).collect();
    let atoms = format!("?A : {}", atoms.join(" and "));
    let cases = [
        ("only negated", "?A : not stars(A, comedy)"),
        ("a variable only under negation", "?A : exists F. stars(A, comedy) and not has_genre(F, A)"),
        (
            "a sub-query with an unsafe variable",
            "?A : stars(A, comedy) and not (exists F. not has_genre(F, A))",
        ),
        ("an alternative that is only negated", "?A : stars(A, comedy) or not stars(A, France)"),
        ("an alternative without target", "?A : exists F. stars(A, comedy) or stars(F, comedy)"),
        ("two parts that do not meet", "?A : exists F. stars(A, comedy) and stars(F, comedy)"),
        ("two parts of several variables", "?A : exists F, G. stars(A, comedy) and has_genre(F, G)"),
        (
            "a part of a sub-query that does not meet",
            "?A : stars(A, comedy) and not (exists F, G. stars(A, F) and has_genre(G, comedy))",
        ),
        ("a statement", "?A : stars(A, comedy) and stars(\"Bad Boys\", comedy)"),
        ("too many alternatives", branches.as_str()),
        ("too many atoms", atoms.as_str()),
    ];
    insta::assert_snapshot!(said(&cases));
}

#[test]
fn beyond_the_paper_but_answered() {
    let cases = [
        ("negation", "?A : stars(A, comedy) and not has_genre(A, comedy)"),
        ("no anchor", "?A : exists F. stars(F, A)"),
        ("a cycle", "?A : exists F, G. stars(F, comedy) and part_of(F, G) and part_of(G, F) and stars(G, A)"),
        ("a relation with itself", "?A : stars(A, comedy) and part_of(A, A)"),
        ("two atoms there and back", "?A : exists F. stars(comedy, F) and part_of(F, A) and part_of(A, F)"),
        (
            "a cycle that is not directed",
            "?A : exists F, G. stars(F, comedy) and part_of(F, G) and part_of(G, A) and stars(F, A)",
        ),
        ("a cycle without anchor", "?A : exists F, G. stars(F, G) and part_of(G, A) and part_of(A, F)"),
        ("a second sink", "?A : exists F. stars(A, comedy) and has_genre(A, F)"),
    ];
    insta::assert_snapshot!(said(&cases));
}

#[test]
fn sparql_and_tuples() {
    let cases = [
        ("not SPARQL", "SELECT ?x WHERE { ?x r:stars }"),
        ("SPARQL that ends too soon", "SELECT ?x WHERE {\n  ?x r:stars \"comedy\" ;\n"),
        ("an unknown prefix", "SELECT ?x { ?x foo:stars e:comedy }"),
        ("OPTIONAL", "SELECT ?x {\n  ?x r:stars e:comedy\n  OPTIONAL { ?x r:has_genre ?g }\n}"),
        ("ASK where things are sought", "ASK { \"Bad Boys\" r:stars e:comedy }"),
        ("COUNT", "SELECT (COUNT(?x) AS ?n) { ?x r:stars e:comedy }"),
        ("a closure", "SELECT ?x { ?x r:part_of+ e:Texas }"),
        ("CONSTRUCT", "CONSTRUCT { ?x r:stars ?y } WHERE { ?x r:stars ?y }"),
        ("an unknown name in SPARQL", "SELECT ?x { ?x r:stars \"Martin Lawrense\" . ?x r:stars e:comedy }"),
        ("an unknown relation in SPARQL", "SELECT ?x { ?x r:has_genre e:comedy ; r:star e:comedy }"),
        ("an unknown IRI in SPARQL", "SELECT ?x { ?x r:capital_of ex:Pari }"),
        ("unsafe in SPARQL", "SELECT ?x { ?y r:stars e:comedy FILTER NOT EXISTS { ?x r:stars ?y } }"),
        ("a tuple that ends too soon", "[[1,[2]],[3,"),
        ("a tuple with a bare word", "[[1,[stars]]]"),
        ("a tuple with a relation below zero", "[[1,[-3]]]"),
        ("an entity alone", "[[7]]"),
        ("an empty tuple", "[]"),
        ("an unknown shape", r#"{"shape": "4p", "anchors": [1], "relations": [2]}"#),
        ("a shape with too few arguments", r#"{"shape": "2p", "anchors": [1], "relations": [2]}"#),
        ("an unknown key", r#"{"form": "2p", "anchors": [1], "relations": [2]}"#),
        ("a tuple with an unknown id", "[[1,[99]]]"),
        ("a negated entity", "[[1,[-2]]]"),
    ];
    insta::assert_snapshot!(said(&cases));
}

#[test]
fn colour_is_there_for_terminals_only() {
    let text = "?A : stars(A";
    let mistakes = read(text, Syntax::Text, &graph(), Limits::default()).unwrap_err();
    assert!(mistakes.render(Style::Colour).contains('\u{1b}'));
    assert!(!mistakes.render(Style::Plain).contains('\u{1b}'));
}
