//! What every target does with a query once it is parsed.

use std::sync::LazyLock;

use relatum::graph::{Graph, GraphBuilder, Split};
use relatum::plan::{Plan, PlanOptions};
use relatum::query::syntax::Parsed;
use relatum::query::{Limits, ParsedBetween, ParsedQuery, ParsedStatement, QueryError, Style, syntax};

pub static GRAPH: LazyLock<Graph> = LazyLock::new(|| {
    let mut builder = GraphBuilder::default();
    builder.prefixes.insert("x", "http://x.org/");
    for (head, relation, tail) in [
        ("a", "p", "b"),
        ("b", "q", "c"),
        ("http://x.org/d", "http://x.org/r", "a"),
        ("A", "and", "two words"),
    ] {
        builder.add(Split::Train, head, relation, tail);
    }
    builder.finish().0
});

/// Shows a mistake, which must not panic whatever its place is.
pub fn show(error: &QueryError, source: &str) {
    let _ = error.diagnostic().render(source, Style::Plain);
    let _ = error.diagnostic().render(source, Style::Colour);
}

/// Prints, reads back, resolves and checks a statement.
pub fn follow_statement(statement: &ParsedStatement, source: &str) {
    let printed = statement.to_string();
    match syntax::parse_any(&printed) {
        Ok(Parsed::Statement(again)) => assert_eq!(again.to_string(), printed),
        other => panic!("{printed}\n{other:?}"),
    }
    if let Err(errors) = statement.resolve(&GRAPH).and_then(|statement| statement.check(Limits::default())) {
        errors.iter().for_each(|error| show(error, source));
    }
}

/// Prints, reads back and resolves a question for relations.
pub fn follow_between(between: &ParsedBetween, source: &str) {
    let printed = between.to_string();
    match syntax::parse_any(&printed) {
        Ok(Parsed::Between(again)) => assert_eq!(again.to_string(), printed),
        other => panic!("{printed}\n{other:?}"),
    }
    if let Err(errors) = between.resolve(&GRAPH) {
        errors.iter().for_each(|error| show(error, source));
    }
}

/// Prints, reads back, resolves, checks and plans a query.
pub fn follow(query: &ParsedQuery, source: &str) {
    let printed = query.to_string();
    let again = syntax::parse(&printed).unwrap_or_else(|error| panic!("{printed}\n{error}"));
    assert_eq!(again.to_string(), printed);
    let resolved = match query.resolve(&GRAPH) {
        Ok(resolved) => resolved,
        Err(errors) => return errors.iter().for_each(|error| show(error, source)),
    };
    let checked = match resolved.check(Limits::default()) {
        Ok(checked) => checked,
        Err(errors) => return errors.iter().for_each(|error| show(error, source)),
    };
    checked.validity.notes.iter().for_each(|note| drop(note.diagnostic().render(source, Style::Plain)));
    let sparql = checked.normal_form.to_sparql(&GRAPH);
    // A query can be longer in SPARQL than SPARQL may be here; if it is read, it says the same.
    if let Ok(select) = relatum::query::sparql::parse(&sparql, &GRAPH.prefixes) {
        let again = select.query.resolve(&GRAPH).expect("names that were printed are found");
        let again = again.normal_form(Limits::default()).expect("no more branches than before");
        assert_eq!(again.branches.len(), checked.normal_form.branches.len(), "{sparql}");
    }
    let plan = Plan::new(&checked, &GRAPH, PlanOptions::default());
    assert!(plan.rows.is_finite());
    let report = plan.describe(&GRAPH);
    let _ = (report.to_string(), report.to_dot());
}
