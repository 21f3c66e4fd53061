use super::*;
use crate::graph::{EntityId, Inverses, RelationId};
use crate::query::normal_form::Limits;
use proptest::prelude::*;

fn ids(text: &str) -> crate::query::Query {
    // In these tests names are numbers, so a graph is not needed to resolve them.
    let query = parse(text).unwrap();
    let number = |name: &crate::query::Name| name.text.parse().unwrap();
    let term = |term: &crate::query::Term<crate::query::Name>| match term {
        crate::query::Term::Entity(name) => crate::query::Term::Entity(EntityId(number(name))),
        crate::query::Term::Variable(id) => crate::query::Term::Variable(*id),
    };
    crate::query::Query {
        target: query.target,
        variables: query.variables.clone(),
        formula: query.formula.map(&mut |atom| crate::query::Atom {
            relation: RelationId(number(&atom.relation)),
            subject: term(&atom.subject),
            object: term(&atom.object),
            place: atom.place,
        }),
    }
}

fn arguments(query: &crate::query::Query) -> Option<Arguments> {
    Arguments::of(&query.normal_form(Limits::default()).unwrap())
}

#[test]
fn a_relation_may_be_followed_backwards() {
    for (tuple, text) in [
        (
            r#"["Ridley Scott", ["^directed_by", "stars"]]"#,
            r#"?A : exists V. directed_by(V, "Ridley Scott") and stars(V, A)"#,
        ),
        (r#"[["a", ["^r"]], ["b", ["^#3", "n"]]]"#, r##"?A : r(A, a) and not "#3"(A, b)"##),
        (
            r#"{"shape": "2p", "anchors": ["a"], "relations": ["r", "^s"]}"#,
            "?A : exists V. r(a, V) and s(A, V)",
        ),
    ] {
        assert_eq!(parse(tuple).unwrap().to_string(), text, "{tuple}");
    }
}

#[test]
fn the_forms_of_the_files_mean_the_formulas_of_the_literature() {
    let cases = [
        ("((1,(2,)),)", "?A : #2(#1, A)", "1p"),
        ("[[1,[2,3]]]", "?A : exists V. #2(#1, V) and #3(V, A)", "2p"),
        ("[1,[2,3,4]]", "?A : exists V, U. #2(#1, V) and #3(V, U) and #4(U, A)", "3p"),
        ("((1,(2,)),(3,(4,)))", "?A : #2(#1, A) and #4(#3, A)", "2i"),
        ("[[1,[2]],[3,[4]],[5,[6]]]", "?A : #2(#1, A) and #4(#3, A) and #6(#5, A)", "3i"),
        ("((1,(2,)),(3,(4,)),5)", "?A : exists V. #2(#1, V) and #4(#3, V) and #5(V, A)", "ip"),
        ("[[[1,[2]],[3,[4]]],[5]]", "?A : exists V. #2(#1, V) and #4(#3, V) and #5(V, A)", "ip"),
        ("((1,(2,3)),(4,(5,)))", "?A : exists V. #2(#1, V) and #3(V, A) and #5(#4, A)", "pi"),
        ("[[1,[2]],[3,[4]],[-1]]", "?A : #2(#1, A) or #4(#3, A)", "2u"),
        (r#"{"shape": "2u", "query": [[1,[2]],[3,[4]]]}"#, "?A : #2(#1, A) or #4(#3, A)", "2u"),
        ("[[[1,[2]],[3,[4]],['u']],[5]]", "?A : exists V. (#2(#1, V) or #4(#3, V)) and #5(V, A)", "up"),
        (
            r#"{"shape": "uc", "query": [[1,[2]],[3,[4]],5]}"#,
            "?A : exists V. (#2(#1, V) or #4(#3, V)) and #5(V, A)",
            "up",
        ),
        ("((1,(2,)),(3,(4,-2)))", "?A : #2(#1, A) and not #4(#3, A)", "2in"),
        ("((1,(2,)),(3,(4,)),(5,(6,'n')))", "?A : #2(#1, A) and #4(#3, A) and not #6(#5, A)", "3in"),
        ("(((1,(2,)),(3,(4,-2))),(5,))", "?A : exists V. #2(#1, V) and not #4(#3, V) and #5(V, A)", "inp"),
        ("((1,(2,3)),(4,(5,-2)))", "?A : exists V. #2(#1, V) and #3(V, A) and not #5(#4, A)", "pin"),
        ("((1,(2,3,-2)),(4,(5,)))", "?A : not (exists V. #2(#1, V) and #3(V, A)) and #5(#4, A)", "pni"),
        ("(((1,(2,-2)),(3,(4,-2))),(-2,))", "?A : not (not #2(#1, A) and not #4(#3, A))", "2u"),
        (
            "(((1,(2,-2)),(3,(4,-2))),(-2,5))",
            "?A : exists V. not (not #2(#1, V) and not #4(#3, V)) and #5(V, A)",
            "up",
        ),
        (
            r#"{"shape": "2p", "anchors": [1], "relations": [2, 3]}"#,
            "?A : exists V. #2(#1, V) and #3(V, A)",
            "2p",
        ),
        ("[1,[2,3,4,5]]", "?A : exists V, U, W. #2(#1, V) and #3(V, U) and #4(U, W) and #5(W, A)", "general"),
    ];
    for (text, formula, shape) in cases {
        assert_eq!(parse(text).unwrap().to_string(), formula, "{text}");
        let found = arguments(&ids(text)).map_or("general", |arguments| arguments.shape.name());
        assert_eq!(found, shape, "{text}");
    }
}

#[test]
fn a_declared_shape_must_be_that_of_the_query() {
    for right in
        [r#"{"shape": "pi", "query": [[4,[5]],[1,[2,3]]]}"#, r#"{"shape": "2i", "query": [[1,[2]],[1,[2]]]}"#]
    {
        assert!(parse(right).is_ok(), "{right}");
    }
    for wrong in [r#"{"shape": "2p", "query": [1,[2]]}"#, r#"{"shape": "3i", "query": [[1,[2]],[3,[4]]]}"#] {
        let error = parse(wrong).unwrap_err().to_string();
        assert!(error.contains("which is declared, found another"), "{error}");
    }
}

#[test]
fn the_edge_reading_of_pni_is_another_question() {
    let edge =
        crate::query::syntax::parse("?A : exists V. #2(#1, V) and not #3(V, A) and #5(#4, A)").unwrap();
    assert_ne!(edge, parse("((1,(2,3,-2)),(4,(5,)))").unwrap());
}

#[test]
fn a_relation_read_backwards_needs_an_inverse_to_be_written_as_a_tuple() {
    let query = Shape::P1.structure(&[EntityId(4)], &[RelationId(2)]).unwrap().query().unwrap();
    let mut backwards = query.clone();
    if let crate::query::Formula::Atom(atom) = &mut backwards.formula {
        std::mem::swap(&mut atom.subject, &mut atom.object);
    }
    let found = arguments(&backwards).unwrap();
    assert_eq!(found.shape, Shape::P1);
    assert_eq!(found.structure(&Inverses::default()), None);
    let mut inverses = Inverses::default();
    inverses.pair(RelationId(2), RelationId(3));
    assert_eq!(found.structure(&inverses).unwrap().to_betae(), "[4,[3]]");
}

proptest! {
    #[test]
    fn every_shape_survives_the_round_trip_through_both_file_forms(
        index in 0usize..14, anchors in prop::collection::vec(0u32..50, 3), relations in prop::collection::vec(0u32..9, 3)
    ) {
        let shape = Shape::ALL[index];
        let (a, r) = shape.arity();
        let anchors: Vec<EntityId> = anchors[..a].iter().copied().map(EntityId).collect();
        let relations: Vec<RelationId> = relations[..r].iter().copied().map(RelationId).collect();
        let structure = shape.structure(&anchors, &relations).unwrap();
        for other in Shape::ALL {
            prop_assert_eq!(structure.has_shape(other), other == shape);
        }
        let query = structure.query().unwrap();
        prop_assert_eq!(&ids(&structure.to_betae()), &query);
        if let Some(text) = structure.to_query2box() {
            let with_shape = format!("{{\"shape\":\"{}\",\"query\":{text}}}", shape.query2box_name().unwrap());
            prop_assert_eq!(&ids(&with_shape), &query);
        }
        // Two equal hops make one, so the shape is only what it was if all hops differ.
        let mut hops: Vec<_> = anchors.iter().zip(&relations).collect();
        hops.sort();
        hops.dedup();
        if hops.len() == anchors.len() {
            let found = arguments(&query).unwrap();
            prop_assert_eq!(found.shape, shape);
            let again = found.structure(&Inverses::default()).unwrap().query().unwrap();
            prop_assert_eq!(again, query);
        }
    }
}
