use proptest::prelude::*;

use super::*;
use crate::graph::Prefixes;
use crate::query::normal_form::Limits;
use crate::query::syntax::Parsed;
use crate::query::testing::{any_query, tiny_graph};
use crate::query::{Query, QueryError, Style};

fn text(sparql: &str) -> String {
    match parse(sparql, &Prefixes::default()) {
        Ok(select) => select.query.to_string(),
        Err(error) => error.diagnostic().render(sparql, Style::Plain),
    }
}

#[test]
fn patterns_are_formulas() {
    let cases = [
        (
            "SELECT ?g WHERE { ?m r:stars \"Martin Lawrence\" ; r:has_genre ?g }",
            r#"?g : exists m. stars(m, "Martin Lawrence") and has_genre(m, g)"#,
        ),
        ("SELECT * { e:a r:p ?x }", "?x : p(a, x)"),
        (
            "SELECT ?x { { e:a r:p ?x } UNION { e:b r:q ?x } UNION { e:c r:q ?x } }",
            "?x : p(a, x) or q(b, x) or q(c, x)",
        ),
        (
            "SELECT ?x { e:a r:p ?x FILTER NOT EXISTS { ?y r:q ?x } }",
            "?x : p(a, x) and not (exists y. q(y, x))",
        ),
        ("SELECT ?x { e:a r:p ?x MINUS { e:b r:q ?x } }", "?x : p(a, x) and not q(b, x)"),
        ("SELECT ?x { e:a r:p ?x FILTER EXISTS { ?x r:q ?z } }", "?x : p(a, x) and (exists z. q(x, z))"),
        ("SELECT ?x { e:a r:p/r:q ?x }", "?x : exists _1. p(a, _1) and q(_1, x)"),
        ("SELECT ?x { e:a (r:p|^r:q) ?x }", "?x : p(a, x) or q(x, a)"),
        ("SELECT ?x { e:a ^(r:p/r:q) ?x }", "?x : exists _1. p(x, _1) and q(_1, a)"),
        ("SELECT ?x { VALUES ?a { e:Bad%20Boys } ?a r:p ?x }", "?x : p(\"Bad Boys\", x)"),
        ("SELECT ?x { ?a r:p ?x } VALUES ?a { \"Bad Boys\" }", "?x : p(\"Bad Boys\", x)"),
        (
            "PREFIX dbr: <http://d.org/> SELECT ?x { dbr:Berlin a ?x }",
            "?x : <http://www.w3.org/1999/02/22-rdf-syntax-ns#type>(<http://d.org/Berlin>, x)",
        ),
        ("SELECT ?x { [] r:p ?x }", "?x : exists _1. p(_1, x)"),
        ("SELECT DISTINCT ?x ?score { e:a r:p ?x } ORDER BY DESC(?score)", "?x : p(a, x)"),
        // The second ?y is not the first: a group does not see its neighbours.
        (
            "SELECT ?x { ?x r:p ?y { e:a r:p ?x FILTER NOT EXISTS { ?x r:q ?y } } }",
            "?x : exists y. p(x, y) and p(a, x) and not (exists y_2. q(x, y_2))",
        ),
    ];
    for (sparql, formula) in cases {
        assert_eq!(text(sparql), formula, "{sparql}");
    }
}

#[test]
fn ask_is_a_statement_and_a_selected_predicate_asks_for_relations() {
    let said = |sparql: &str| match parse_any(sparql, &Prefixes::default()).unwrap().parsed {
        Parsed::Query(query) => query.to_string(),
        Parsed::Statement(statement) => statement.to_string(),
        Parsed::Between(between) => between.to_string(),
    };
    let cases = [
        ("ASK { e:Alien r:stars \"Sigourney Weaver\" }", r#"stars(Alien, "Sigourney Weaver")"#),
        ("ASK WHERE { e:a r:p ?x . ?x r:q ?y }", "exists x, y. p(a, x) and q(x, y)"),
        ("ASK { { e:a r:p e:b } UNION { e:a r:q ?x } }", "exists x. p(a, b) or q(a, x)"),
        ("ASK { e:a r:p e:b FILTER NOT EXISTS { e:a r:q ?x } }", "p(a, b) and not (exists x. q(a, x))"),
        ("SELECT ?r { e:a ?r \"Bad Boys\" } LIMIT 3", r#"?r : r(a, "Bad Boys")"#),
    ];
    for (sparql, text) in cases {
        assert_eq!(said(sparql), text, "{sparql}");
    }
    assert!(matches!(parse("ASK { e:a r:p e:b }", &Prefixes::default()), Err(QueryError::NoTarget { .. })));
}

#[test]
fn limit_and_offset_are_kept() {
    let select = parse("SELECT ?x { e:a r:p ?x } LIMIT 5 OFFSET 2", &Prefixes::default()).unwrap();
    assert_eq!((select.limit, select.offset, select.selected.len()), (Some(5), 2, 1));
}

#[test]
fn the_prefixes_of_the_graph_are_declared() {
    let mut prefixes = Prefixes::default();
    prefixes.insert("x", "http://x.org/");
    prefixes.insert("bad", "no iri");
    let select = parse("SELECT ?y { x:a x:p ?y }", &prefixes).unwrap();
    assert_eq!(select.query.to_string(), "?y : <http://x.org/p>(<http://x.org/a>, y)");
}

#[test]
fn every_other_construct_is_refused_by_name_with_its_place() {
    let cases = [
        ("CONSTRUCT { ?x r:p ?x } WHERE { e:a r:p ?x }", "CONSTRUCT", "CONSTRUCT"),
        ("DESCRIBE e:a", "DESCRIBE", "DESCRIBE"),
        ("INSERT DATA { e:a r:p e:b }", "the update INSERT", "INSERT"),
        ("DELETE WHERE { e:a r:p ?b }", "the update DELETE", "DELETE"),
        ("CLEAR ALL", "the update CLEAR", "CLEAR"),
        ("SELECT ?x FROM <http://g> { e:a r:p ?x }", "FROM", "FROM"),
        ("SELECT ?x { e:a r:p ?x OPTIONAL { ?x r:q ?y } }", "OPTIONAL", "OPTIONAL"),
        ("SELECT ?x { GRAPH e:g { e:a r:p ?x } }", "GRAPH", "GRAPH"),
        ("SELECT ?x { SERVICE <http://s> { e:a r:p ?x } }", "SERVICE", "SERVICE"),
        ("SELECT ?x { BIND(e:a AS ?a) ?a r:p ?x }", "BIND (or an expression with AS)", "BIND"),
        ("SELECT (?y AS ?x) { e:a r:p ?y }", "BIND (or an expression with AS)", "AS"),
        ("SELECT (COUNT(?y) AS ?x) { e:a r:p ?y }", "an aggregate or GROUP BY", "COUNT"),
        ("SELECT ?x { e:a r:p ?x } GROUP BY ?x", "an aggregate or GROUP BY", "GROUP"),
        ("SELECT ?x { { SELECT ?x { e:a r:p ?x } } }", "a sub-query with SELECT", "SELECT ?x { e"),
        ("SELECT ?x ?y { ?x r:p ?y }", "SELECT of several variables", "?y"),
        ("SELECT * { ?x r:p ?y }", "SELECT of several variables", "*"),
        ("SELECT ?x ?score { ?x r:p ?score }", "?score in the pattern and beside ?x in SELECT", "?score }"),
        ("SELECT ?known ?x { ?known r:p ?x }", "?known in the pattern and beside ?x in SELECT", "?known r"),
        ("SELECT ?x { e:a r:p ?x } ORDER BY ?x", "this ORDER BY", "ORDER"),
        ("SELECT ?x { e:a r:p ?x } ORDER BY ASC(?score)", "this ORDER BY", "ORDER"),
        ("SELECT ?x { e:a r:p* ?x }", "the property-path closure `*`", "*"),
        ("SELECT ?x { e:a r:p+ ?x }", "the property-path closure `+`", "+"),
        ("SELECT ?x { e:a r:p? ?x }", "the optional path `?`", "? ?x"),
        ("SELECT ?x { e:a !r:p ?x }", "the negated property set `!`", "!"),
        ("SELECT ?x { e:a ?p ?x }", "a variable as predicate here", "?p"),
        ("SELECT ?p { e:a ?p ?x }", "a variable for a relation in this question", "?p"),
        ("SELECT ?p { e:a ?p e:b . e:a r:q e:b }", "a variable for a relation in this question", "?p"),
        ("ASK { e:a ?p e:b }", "a variable as predicate here", "?p"),
        ("ASK { e:a r:p e:b } LIMIT 1", "LIMIT or OFFSET in ASK", "LIMIT"),
        ("ASK { }", "an empty pattern", "{"),
        ("SELECT ?x { VALUES ?a { e:a e:b } ?a r:p ?x }", "VALUES with several variables or rows", "VALUES"),
        (
            "SELECT ?x { VALUES (?a ?b) { (e:a e:b) } ?a r:p ?x . ?b r:p ?x }",
            "VALUES with several variables or rows",
            "VALUES",
        ),
        ("SELECT ?x { VALUES ?a { UNDEF } ?a r:p ?x }", "UNDEF", "UNDEF"),
        ("SELECT ?x { VALUES ?x { e:a } ?x r:p ?y }", "VALUES for a variable that is sought", "VALUES"),
        (
            "SELECT ?x { { VALUES ?a { e:a } ?a r:p ?x } UNION { e:b r:p ?x } }",
            "VALUES inside of UNION",
            "VALUES",
        ),
        (
            "SELECT ?x { e:a r:p ?x MINUS { e:b r:q ?z } }",
            "MINUS that shares no variable with what stands before it",
            "MINUS",
        ),
        ("SELECT ?x { e:a r:p ?x FILTER(?x = e:b) }", "FILTER with =", "FILTER"),
        ("SELECT ?x { e:a r:p ?x FILTER(?x != e:b) }", "FILTER with !=", "!="),
        ("SELECT ?x { e:a r:p ?x FILTER(!(?x = e:b)) }", "FILTER with =", "FILTER"),
        ("SELECT ?x { e:a r:p ?x FILTER(?x > 3) }", "FILTER with a comparison", "FILTER"),
        ("SELECT ?x { e:a r:p ?x FILTER(?x IN (e:b)) }", "FILTER with IN", "IN"),
        ("SELECT ?x { e:a r:p ?x FILTER(sameTerm(?x, e:b)) }", "FILTER with sameTerm", "sameTerm"),
        ("SELECT ?x { e:a r:p ?x FILTER(BOUND(?x)) }", "FILTER with BOUND", "BOUND"),
        ("SELECT ?x { e:a r:p ?x FILTER(IF(true, true, false)) }", "FILTER with IF", "IF"),
        ("SELECT ?x { e:a r:p ?x FILTER(COALESCE(?x, true)) }", "FILTER with COALESCE", "COALESCE"),
        ("SELECT ?x { e:a r:p ?x FILTER(REGEX(?x, 'b')) }", "FILTER with the function REGEX", "REGEX"),
        ("SELECT ?x { e:a r:p ?x FILTER(?x + 1) }", "FILTER with arithmetic", "FILTER"),
        ("SELECT ?x { e:a r:p ?x FILTER(true) }", "FILTER with a value", "FILTER"),
        ("SELECT ?x { ?x r:p (1 2) }", "a collection `( )`", "("),
        ("SELECT ?x { }", "an empty pattern", "{"),
        ("SELECT ?x { e:a r:p ?x FILTER NOT EXISTS { } }", "an empty EXISTS", "EXISTS"),
        ("SELECT ?x { { e:a r:p ?x } UNION { } }", "an empty alternative of UNION", "UNION"),
    ];
    for (sparql, construct, at) in cases {
        match parse(sparql, &Prefixes::default()) {
            Err(QueryError::Refused { construct: found, place, instead }) => {
                assert_eq!(found, construct, "{sparql}");
                assert!(!instead.is_empty());
                let place = place.unwrap_or_else(|| panic!("no place: {sparql}"));
                assert!(sparql[place.range().start..].starts_with(at), "{sparql}: {:?}", place.range());
            }
            other => panic!("{sparql}: {other:?}"),
        }
    }
}

#[test]
fn literals_of_every_kind_have_a_place() {
    for (literal, name) in [("3", "\"3\""), ("1.5", "\"1.5\""), ("true", "\"true\""), (r#""x\ny""#, "x\ny")] {
        let sparql = format!("SELECT ?x {{ ?x r:p {literal} }}");
        let query = parse(&sparql, &Prefixes::default()).unwrap().query;
        let mut places = Vec::new();
        query.formula.for_each_atom(&mut |atom| {
            if let crate::query::Term::Entity(entity) = &atom.object {
                places.push(entity.place.range());
            }
        });
        assert_eq!(&sparql[places[0].clone()], literal, "{name}");
    }
}

#[test]
fn words_in_strings_and_comments_are_no_places() {
    let sparql = "# OPTIONAL\nSELECT ?x { e:a r:p ?x . \"OPTIONAL\" r:q ?x OPTIONAL { ?x r:r ?y } }";
    let Err(QueryError::Refused { place: Some(place), .. }) = parse(sparql, &Prefixes::default()) else {
        panic!("{}", text(sparql));
    };
    assert_eq!(place.range().start, sparql.rfind("OPTIONAL").unwrap());
}

#[test]
fn deep_and_long_queries_are_refused_or_read_without_overflow() {
    for sparql in [
        format!("SELECT ?x {}e:a r:p ?x{}", "{".repeat(5000), "}".repeat(5000)),
        format!("SELECT ?x {{ e:a {}r:p{} ?x }}", "(".repeat(5000), ")".repeat(5000)),
        format!("SELECT ?x {{ e:a r:p ?x FILTER({}true{}) }}", "(".repeat(5000), ")".repeat(5000)),
        format!("SELECT ?x {{ e:a r:p ?x FILTER({}true) }}", "!".repeat(5000)),
        format!("SELECT ?x {{ e:a r:p{} ?x }}", "/r:p".repeat(1900)),
        format!("SELECT ?x {{ e:a r:p{} ?x }}", "|r:p".repeat(1900)),
        format!("SELECT ?x {{ {{e:a r:p ?x}} {} }}", "UNION {e:a r:p ?x}".repeat(600)),
        format!("SELECT ?x {{ e:a r:p ?x {} }}", "MINUS {e:a r:p ?x}".repeat(600)),
        format!(
            "SELECT ?x {{ {} e:a r:p ?x {} }}",
            "{ e:a r:p ?x FILTER NOT EXISTS ".repeat(15),
            "}".repeat(15)
        ),
    ] {
        let _ = parse(&sparql, &Prefixes::default());
    }
}

/// The text of a safe query in normal form, read back.
fn round_trip(query: &Query, graph: &crate::graph::Graph) -> Option<(String, String)> {
    let checked = query.clone().check(Limits { branches: 512, ..Limits::default() }).ok()?;
    let sparql = checked.normal_form.to_sparql(graph);
    let again = parse(&sparql, &graph.prefixes).unwrap().query.resolve(graph).unwrap();
    let again = again.normal_form(Limits { branches: 512, ..Limits::default() }).unwrap();
    Some((sparql, again.to_sparql(graph)))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, max_global_rejects: 1_000_000, ..ProptestConfig::default() })]

    #[test]
    fn a_safe_query_survives_the_round_trip_through_sparql(query in any_query()) {
        let graph = tiny_graph(&[]);
        if let Some((written, again)) = round_trip(&query, &graph) {
            prop_assert_eq!(written, again);
        }
    }
}

#[test]
fn score_and_known_may_be_selected_beside_the_target_in_any_order() {
    let selected = |text: &str| parse(text, &Prefixes::default()).unwrap().selected;
    assert_eq!(selected("SELECT ?x ?score { ?x r:a e:b }"), ["x", "score"]);
    assert_eq!(selected("SELECT ?known ?x ?score { ?x r:a e:b }"), ["known", "x", "score"]);
    assert_eq!(selected("SELECT ?score { ?score r:a e:b }"), ["score"], "alone it is a name like any other");
    assert!(parse("SELECT ?score ?known { ?x r:a e:b }", &Prefixes::default()).is_err());
    assert!(parse("SELECT ?x ?y ?score { ?x r:a ?y }", &Prefixes::default()).is_err());
}
