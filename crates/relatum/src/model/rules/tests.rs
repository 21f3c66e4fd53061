//! Rows against naive grounding, explanations against rows, and text against itself.

use std::sync::Arc;

use proptest::prelude::*;

use super::testing::{bodies, noisy_or, predictions, small_graph};
use super::*;
use crate::graph::{EntityId, Id, RelationId};
use crate::model::Reciprocals;

fn edges() -> impl Strategy<Value = Vec<(u32, u32, u32)>> {
    prop::collection::vec((0u32..10, 0u32..3, 0u32..10), 5..60)
}

/// Any rule over ten entities and six relations.
fn rules() -> impl Strategy<Value = Vec<Rule>> {
    let relation = (0u32..6).prop_map(RelationId);
    let rule = (relation, bodies(10, 6), 1u32..100).prop_map(|(head, body, correct)| {
        // Walks are kept under the smaller of a relation and its inverse, which is three beyond it.
        let head = if matches!(body, Body::Path(_)) { RelationId(head.0 % 3) } else { head };
        Rule::counted(head, body, 100, correct)
    });
    prop::collection::vec(rule, 1..25)
}

proptest! {
    #[test]
    fn rows_are_those_of_naive_grounding(
        edges in edges(), rules in rules(), paths in 0.0f32..1.2, constants in 0.0f32..1.2
    ) {
        let graph = small_graph(&edges);
        let steps = Arc::new(Steps::of(&graph));
        let overlaps = vec![Overlaps { paths, constants }; steps.relations()];
        let set = RuleSet::new(rules).clustered(&steps, &overlaps);
        let index = RuleIndex::new(Arc::clone(&steps), set.clone());
        for head in (0..10).map(EntityId::from_index) {
            for relation in (0..6).map(RelationId::from_index) {
                let expected = noisy_or(&steps, &set, head, relation);
                let found = index.strengths(head, relation);
                prop_assert_eq!(
                    found.iter().map(|it| it.0).collect::<Vec<_>>(),
                    expected.keys().copied().collect::<Vec<_>>()
                );
                for (tail, strength) in &found {
                    let (truth, expected) = (1.0 - (-strength).exp(), expected[tail]);
                    prop_assert!((truth - expected).abs() < 1e-3, "{truth} {expected}");
                    // What explains a candidate adds up to its strength.
                    let reasons = index.reasons(head, relation, *tail);
                    let left: f32 = reasons.iter().map(|reason| 1.0 - reason.rule.confidence.min(0.9999)).product();
                    prop_assert!((1.0 - left - truth).abs() < 1e-3, "{reasons:?} {truth}");
                }
                let known = steps.along(head, relation).len().max(1) as f32;
                let all: f32 = 0.25 + found.iter().map(|it| it.1.powi(2)).sum::<f32>();
                let row = index.row(head, relation);
                let mut largest = 0.0f32;
                for (tail, strength) in &found {
                    let share = (known * strength.powi(2) / all).min(0.9999);
                    let said = row.iter().find(|it| it.0 == *tail).map_or(0.0, |it| it.1);
                    prop_assert!((said - share).abs() < 2e-5, "{said} {share}");
                    largest = largest.max(said);
                }
                prop_assert!(largest <= index.at_most(head, relation));
            }
        }
    }

    #[test]
    fn the_grounding_of_a_reason_is_a_walk_of_stored_edges(edges in edges(), rules in rules()) {
        let graph = small_graph(&edges);
        let steps = Arc::new(Steps::of(&graph));
        let index = RuleIndex::new(Arc::clone(&steps), RuleSet::new(rules));
        for head in (0..10).map(EntityId::from_index) {
            for relation in (0..6).map(RelationId::from_index) {
                for (tail, _) in index.row(head, relation).iter() {
                    for reason in index.reasons(head, relation, *tail) {
                        prop_assert_eq!(reason.grounding.len(), reason.rule.body.atoms());
                        for &(from, along, to) in &reason.grounding {
                            prop_assert!(steps.leads(from, along, to));
                        }
                        let (x, y) = if reason.backwards { (*tail, head) } else { (head, *tail) };
                        if let Body::Path(path) = reason.rule.body {
                            prop_assert!(predictions(&steps, &reason.rule).contains(&(x, y)));
                            let along: Vec<RelationId> = reason.grounding.iter().map(|step| step.1).collect();
                            prop_assert_eq!(along.as_slice(), path.steps());
                            prop_assert_eq!(reason.grounding[0].0, x);
                            prop_assert_eq!(reason.grounding[reason.grounding.len() - 1].2, y);
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn what_is_written_is_read_again(rules in rules()) {
        let graph = small_graph(&[]);
        let reciprocals = Reciprocals::of(&graph);
        let set = RuleSet::new(rules);
        let circle = |rule: &Rule| match rule.body {
            Body::Path(path) => path.steps() == [rule.head],
            Body::Edge { object, relation, to } => relation == rule.head && to == object,
            _ => false,
        };
        let expected: Vec<Rule> = set.rules().iter().copied().filter(|rule| !circle(rule)).collect();
        let text: String = expected.iter().map(|rule| write(rule, &graph, &reciprocals) + "\n").collect();
        let parsed = parse(text.as_bytes(), &graph).unwrap();
        prop_assert_eq!(parsed.passed_over, 0, "{}", text);
        prop_assert_eq!(parsed.rules, expected);
    }

    #[test]
    fn rules_are_kept_as_they_are(rules in rules()) {
        let set = RuleSet::new(rules);
        let again = RuleSet::from_words(&set.words(), set.leaders().to_vec(), 10, 6);
        prop_assert_eq!(again.as_ref(), Some(&set));
        prop_assert_eq!(RuleSet::from_words(&set.words(), set.leaders().to_vec(), 10, 0), None);
        let mut words = set.words();
        words[0][7] = (-0.0f32).to_bits();
        prop_assert_eq!(RuleSet::from_words(&words, set.leaders().to_vec(), 10, 6), None, "-0 is no confidence");
    }
}

fn films() -> crate::graph::Graph {
    let mut builder = crate::graph::GraphBuilder::default();
    for (head, relation, tail) in [
        ("Jaws", "stars", "Roy (actor)"),
        ("Jaws", "genre", "Thriller, mostly"),
        ("X", "stars", "Roy (actor)"),
        ("X", "genre", "say \"hi\""),
    ] {
        builder.add(crate::graph::Split::Train, head, relation, tail);
    }
    builder.finish().0
}

#[test]
fn names_that_look_like_something_else_stand_in_quotation_marks() {
    let graph = films();
    let text = "10\t4\t0.25\tgenre(X,\"say \\\"hi\\\"\") <= stars(X,\"Roy (actor)\")\n\
                3\t3\t0.5\tgenre(\"X\",Y) <= \n\
                7\t7\t0.5\tgenre(X,Y) <= stars(X,A), stars(B,A), genre(B,Y)\n";
    let parsed = parse(text.as_bytes(), &graph).unwrap();
    assert_eq!(parsed.rules.len(), 3);
    let reciprocals = Reciprocals::of(&graph);
    let lines: Vec<String> = parsed.rules.iter().map(|rule| write(rule, &graph, &reciprocals)).collect();
    assert_eq!(lines[0], "10\t4\t0.25\tgenre(X,\"say \\\"hi\\\"\") <= stars(X,\"Roy (actor)\")");
    assert_eq!(lines[1], "3\t3\t0.5\tgenre(\"X\",X) <=");
    assert_eq!(lines[2], "7\t7\t0.5\tgenre(X,Y) <= stars(X,A), stars(B,A), genre(B,Y)");
    let read = |rule: usize| rule_text(&parsed.rules[rule], &graph, &reciprocals);
    assert_eq!(read(1), "genre(\"X\", X) ←", "for people too, where a name looks like a variable");
    assert_eq!(read(2), "genre(X, Y) ← stars(X, A), stars(B, A), genre(B, Y)");
}

#[test]
fn a_rule_in_another_order_or_from_the_other_end_is_the_same_rule() {
    let graph = films();
    let one = |rule: &str| parse(format!("1\t1\t1\t{rule}\n").as_bytes(), &graph).unwrap().rules[0];
    let expected = one("genre(X,Y) <= stars(X,A), stars(B,A), genre(B,Y)");
    for same in [
        "genre(X,Y) <= genre(B,Y), stars(X,A), stars(B,A)",
        "genre(A,B) <= stars(A,X), stars(Y,X), genre(Y,B)",
        "genre( X , Y )<=stars(X,A),stars(B,A),genre(B,Y)",
    ] {
        assert_eq!(one(same), expected, "{same}");
    }
}

#[test]
fn mistakes_have_their_place_and_the_nearest_name() {
    let graph = films();
    let message = |text: &str| parse(text.as_bytes(), &graph).unwrap_err().to_string();
    insta::assert_snapshot!(message("# a remark\n\n1\t1\t1\tgenre(X,Y) <= strs(X,Y)"), @"line 3, column 21: there is no relation 'strs'; the nearest: 'stars'");
    insta::assert_snapshot!(message("1\t1\t1\tgenre(X,Thrill) <= stars(X,A)"), @"line 1, column 15: there is no entity 'Thrill'; the nearest: 'Thriller, mostly'");
    insta::assert_snapshot!(message("1\t1\tgenre(X,Y) <= stars(X,Y)"), @"line 1, column 1: expected four fields separated by tabs (predicted, correct, confidence, rule), found 3");
    insta::assert_snapshot!(message("1\t2\t1\tgenre(X,Y) <= stars(X,Y)"), @"line 1, column 3: expected at most as many correct as predicted, found `2`");
    insta::assert_snapshot!(message("1\t1\t1.5\tgenre(X,Y) <= stars(X,Y)"), @"line 1, column 5: expected a confidence from 0 to 1, found `1.5`");
    insta::assert_snapshot!(message("1\t1\t-0\tgenre(X,Y) <= stars(X,Y)"), @"line 1, column 5: expected a confidence from 0 to 1, found `-0`");
    for variable in ["x", "?x"] {
        let said = message(&format!("1\t1\t1\tgenre({variable},Jaws) <= stars({variable},A)"));
        assert!(said.starts_with(&format!("line 1, column 13: there is no entity '{variable}'")), "{said}");
        assert!(said.ends_with("; a variable is a single capital letter"), "{said}");
    }
    insta::assert_snapshot!(message("x\t1\t1\tgenre(X,Y) <= stars(X,Y)"), @"line 1, column 1: expected a whole number, found `x`");
    insta::assert_snapshot!(message("1\t1\t1\tgenre(X,Y) <= stars(X,A)"), @"line 1, column 7: the variable Y of the head is not in the body: a body leads from one variable of the head to the other");
    insta::assert_snapshot!(message("1\t1\t1\tgenre(X,X) <= stars(X,A)"), @"line 1, column 7: the head needs two different variables, or one variable and one entity");
    insta::assert_snapshot!(message("1\t1\t1\tgenre(X,Y) <= genre(X,Y)"), @"line 1, column 7: the rule is a circle: its body is its head");
    insta::assert_snapshot!(message("1\t1\t1\tgenre(X,Y) stars(X,A)"), @"line 1, column 18: expected `<=` after the head, found `stars(X,A)`");
    insta::assert_snapshot!(message("1\t1\t1\tgenre(X,\"Jaws"), @"line 1, column 20: expected a closing quotation mark, found the end of the line");
    let broken =
        parse(&b"# a remark\n1\t1\t1\tgenre(X,Caf\xE9) <= stars(X,A)\n"[..], &graph).unwrap_err().to_string();
    insta::assert_snapshot!(broken, @"line 2, column 18: expected text in UTF-8, found the byte 0xE9, which is none there: save the file as UTF-8");
    for other in [
        "1\t1\t1\tgenre(X,Jaws) <= stars(X,A), genre(B,A)",
        "1\t1\t1\tgenre(X,me_myself_i) <= stars(X,A)",
        "1\t1\t1\tgenre(X,Y) <= stars(X,me_myself_i), genre(X,Y)",
    ] {
        let parsed = parse(other.as_bytes(), &graph).unwrap();
        assert_eq!(
            (parsed.rules.len(), parsed.passed_over, parsed.first),
            (0, 1, Some((1, other.to_owned())))
        );
    }
}

#[test]
fn of_equal_rules_the_most_confident_stays() {
    let path = Body::Path(Path::new(&[RelationId(1)]).unwrap());
    let set = RuleSet::new(vec![
        Rule::counted(RelationId(0), path, 10, 2),
        Rule::counted(RelationId(0), path, 10, 9),
        Rule::counted(RelationId(0), Body::Always { object: EntityId(1) }, 10, 5),
    ]);
    assert_eq!(set.rules().iter().map(|rule| rule.correct).collect::<Vec<_>>(), [9, 5]);
}
