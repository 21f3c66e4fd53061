//! Compares with trying every assignment, one by one.

use proptest::prelude::*;

use super::*;
use crate::control::Cancel;
use crate::graph::{Graph, GraphBuilder, Split, Triple};
use crate::query::testing::{ENTITIES, RELATIONS, brute_force, edges, safe_query, tiny_graph};
use crate::query::{Atom, Branch, Limits, Term};

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]
    #[test]
    fn answers_are_those_of_trying_every_assignment(query in safe_query(), edges in edges()) {
        let graph = tiny_graph(&edges);
        let Ok(checked) = query.clone().check(Limits::default()) else { return Ok(()) };
        let found = answers(&checked.normal_form, &World::of(&graph, &[Split::Train]));
        prop_assert_eq!(found, brute_force(&query, &graph));
    }

    #[test]
    fn ways_counted_at_once_are_those_counted_answer_by_answer(query in safe_query(), edges in edges()) {
        let graph = tiny_graph(&edges);
        let Ok(checked) = query.check(Limits::default()) else { return Ok(()) };
        // Twice the same edges: an edge in two layers is one way.
        for splits in [&[Split::Train][..], &[Split::Train, Split::Train]] {
            let (query, world) = (&checked.normal_form, World::of(&graph, splits));
            let Some(counted) = answers_with_ways(query, &world, 3, &Control::default()) else { return Ok(()) };
            let (found, at_once): (Vec<EntityId>, Vec<Ways>) = counted.into_iter().unzip();
            prop_assert_eq!(&found, &answers(query, &world));
            prop_assert_eq!(ways(query, &world, &found, 3), Some(at_once));
        }
    }

    #[test]
    fn when_time_is_up_there_is_no_result_rather_than_a_wrong_one(
        query in safe_query(), edges in edges(), checks in 0u32..4
    ) {
        thread_local! { static LEFT: std::cell::Cell<u32> = const { std::cell::Cell::new(0) } }
        let graph = tiny_graph(&edges);
        let Ok(checked) = query.clone().check(Limits::default()) else { return Ok(()) };
        LEFT.set(checks);
        let impatient = || {
            LEFT.set(LEFT.get().saturating_sub(1));
            LEFT.get() == 0
        };
        let control = Control::default().with_cancel(Cancel::when(impatient));
        let found = answers_within(&checked.normal_form, &World::of(&graph, &[Split::Train]), &control);
        prop_assert!(checks > 1 || found.is_none());
        prop_assert!(found.is_none_or(|found| found == brute_force(&query, &graph)));
    }

    #[test]
    fn the_cost_is_the_least_of_all_assignments(
        query in safe_query(),
        edges in prop::collection::vec((0..ENTITIES, 0..RELATIONS, 0..ENTITIES, 0..3usize), 0..12),
    ) {
        let mut builder = GraphBuilder::default();
        (0..ENTITIES).for_each(|id| { builder.entity(&format!("e{id}")); });
        (0..RELATIONS).for_each(|id| { builder.relation(&format!("r{id}")); });
        for (h, r, t, split) in edges {
            builder.add_ids(Split::ALL[split], Triple::new(h, r, t));
        }
        let (graph, _) = builder.finish();
        let Ok(checked) = query.check(Limits::default()) else { return Ok(()) };
        let query = &checked.normal_form;
        let found = cheapest(query, &World::with_missing(&graph, &[Split::Train], &[Split::Valid, Split::Test]));
        let expected: Vec<(EntityId, u8)> = graph.entities.ids().filter_map(|id| {
            let mut values = vec![None; query.variables.len()];
            values[query.target.index()] = Some(id);
            let costs = query.branches.iter().filter_map(|branch| least(branch, &graph, &values));
            Some((id, costs.min()?))
        }).collect();
        prop_assert_eq!(found, expected);
    }
}

type Values = [Option<EntityId>];

/// The least number of positive atoms outside train, over all values of the branch's variables.
fn least(branch: &Branch, graph: &Graph, values: &Values) -> Option<u8> {
    let open = branch.variables().into_iter().find(|id| values[id.index()].is_none());
    if let Some(open) = open {
        let tried = graph.entities.ids().filter_map(|id| {
            let mut values = values.to_vec();
            values[open.index()] = Some(id);
            least(branch, graph, &values)
        });
        return tried.min();
    }
    let split = |atom: &Atom| {
        let value = |term| match term {
            Term::Entity(id) => id,
            Term::Variable(id) => values[id.index()].unwrap(),
        };
        let triple = Triple { head: value(atom.subject), relation: atom.relation, tail: value(atom.object) };
        Split::ALL.into_iter().find(|&split| graph.edges(split).contains(triple))
    };
    let holds = branch.negative.iter().all(|atom| split(atom).is_none())
        && branch.negated.iter().all(|negated| least(&negated.branch, graph, values).is_none());
    let costs: Option<Vec<u8>> =
        branch.positive.iter().map(|atom| split(atom).map(|split| u8::from(split != Split::Train))).collect();
    Some(costs?.iter().sum()).filter(|_| holds)
}

#[test]
fn trees_are_counted_at_once() {
    let mut builder = GraphBuilder::default();
    for (head, tail) in [("a", "x"), ("a", "y"), ("x", "z"), ("y", "z"), ("x", "w")] {
        builder.add(Split::Train, head, "r", tail);
    }
    let (graph, _) = builder.finish();
    let world = World::of(&graph, &[Split::Train]);
    for (text, expected) in [
        ("?B : exists X. r(a, X) and r(X, B)", Some(vec![("z", 2), ("w", 1)])),
        ("?B : exists X. (r(a, X) and r(X, B)) or r(x, B)", Some(vec![("z", 3), ("w", 2)])),
        // One edge leads to w and two to z, and nothing else is said of where they begin.
        ("?B : exists X, Y. r(a, X) and r(X, B) and r(Y, B)", Some(vec![("z", 4), ("w", 1)])),
        ("?B : exists X. r(a, X) and r(X, B) and r(a, B)", Some(vec![])),
        ("?B : exists X. r(a, X) and r(X, B) and not r(y, B)", None),
    ] {
        let query = crate::query::read(text, crate::query::Syntax::Text, &graph, Limits::default()).unwrap();
        let counted = answers_with_ways(&query.checked.normal_form, &world, 100, &Control::default());
        let named = counted.map(|list| {
            let mut list: Vec<_> =
                list.iter().map(|(id, ways)| (graph.entities.name(*id).to_owned(), ways.count)).collect();
            list.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
            list
        });
        let expected = expected.map(|list: Vec<(&str, usize)>| {
            list.into_iter().map(|(name, count)| (name.to_owned(), count)).collect::<Vec<_>>()
        });
        assert_eq!(named, expected, "{text}");
    }
}
