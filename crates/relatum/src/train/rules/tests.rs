//! Counts against brute force; what is drawn depends on the seed alone.

use std::collections::BTreeMap;
use std::sync::Arc;

use proptest::prelude::*;

use super::*;
use crate::control::Cancel;
use crate::graph::{EntityId, Graph, Id};
use crate::model::rules::testing::{predictions, small_graph};
use crate::model::rules::{Path, RuleSet};

fn mined(graph: &Graph, settings: &MineSettings) -> Mined {
    let steps = Steps::of(graph);
    mine(&steps, settings, None, &Control::default(), &mut |_| Ok(())).unwrap()
}

fn settings(paths: u64) -> MineSettings {
    MineSettings { paths: Some(paths), ..MineSettings::default() }
}

/// Every rule with a body of one or two atoms, or with constants.
fn all_short(steps: &Steps) -> Vec<(RelationId, Body)> {
    let relations: Vec<RelationId> = (0..steps.relations()).map(RelationId::from_index).collect();
    let entities: Vec<EntityId> = (0..steps.entities()).map(EntityId::from_index).collect();
    let mut all = Vec::new();
    for &head in &relations {
        for &one in &relations {
            if steps.main(head) == head {
                if one != head {
                    all.push((head, Body::Path(Path::new(&[one]).unwrap())));
                }
                for &two in &relations {
                    all.push((head, Body::Path(Path::new(&[one, two]).unwrap())));
                }
            }
            for &object in &entities {
                if one != head {
                    all.push((head, Body::Some { object, relation: one }));
                }
                for &to in entities.iter().filter(|to| **to != object) {
                    all.push((head, Body::Edge { object, relation: one, to }));
                }
            }
        }
        all.extend(entities.iter().map(|&object| (head, Body::Always { object })));
    }
    all
}

fn counted(steps: &Steps, head: RelationId, body: Body) -> Rule {
    let rule = Rule::counted(head, body, 0, 0);
    let predictions = predictions(steps, &rule);
    let correct = predictions.iter().filter(|(x, y)| steps.leads(*x, head, *y)).count();
    Rule::counted(head, body, predictions.len() as u32, correct as u32)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]
    #[test]
    fn counts_are_those_of_brute_force(
        edges in prop::collection::vec((0u32..10, 0u32..3, 0u32..10), 5..70)
    ) {
        let graph = small_graph(&edges);
        let steps = Steps::of(&graph);
        prop_assume!(steps.arcs() > 0);
        let found = mined(&graph, &settings(3_000));
        prop_assert!(found.finished);
        let by_body: BTreeMap<(RelationId, Body), Rule> =
            found.rules.iter().map(|rule| ((rule.head, rule.body), *rule)).collect();
        prop_assert_eq!(by_body.len(), found.rules.len());
        for (head, body) in all_short(&steps) {
            let expected = counted(&steps, head, body);
            let (least, floor) = match body {
                Body::Path(_) => (LEAST_CORRECT, LEAST_CONFIDENCE),
                _ => (LEAST_CORRECT_NAMED, LEAST_CONFIDENCE_NAMED),
            };
            let wanted = expected.correct >= least && expected.confidence >= floor;
            prop_assert_eq!(by_body.get(&(head, body)), wanted.then_some(&expected), "{:?} {:?}", head, body);
        }
        // With fewer starts than are drawn, bodies of three atoms are counted exactly too.
        for rule in found.rules.iter().filter(|rule| rule.body.atoms() == 3) {
            let Body::Path(path) = rule.body else { panic!("{rule:?}") };
            prop_assert_eq!(*rule, counted(&steps, rule.head, Body::Path(path)));
        }
    }
}

/// A graph in which grandparents are parents of parents of parents, with some noise.
fn families() -> Graph {
    let mut builder = crate::graph::GraphBuilder::default();
    let mut rng = crate::random::Rng::new(3);
    for family in 0..60 {
        let name = |generation: usize| format!("f{family}g{generation}");
        for generation in 0..3 {
            builder.add(crate::graph::Split::Train, &name(generation), "parent", &name(generation + 1));
        }
        let split = if family % 4 == 0 { crate::graph::Split::Valid } else { crate::graph::Split::Train };
        builder.add(split, &name(0), "ancestor", &name(3));
        let other = format!("f{}g{}", rng.below(60), rng.below(4));
        builder.add(crate::graph::Split::Train, &name(1), "knows", &other);
    }
    builder.finish().0
}

#[test]
fn a_body_of_three_atoms_is_found_and_learned_to_count() {
    let graph = families();
    let steps = Arc::new(Steps::of(&graph));
    let found = mined(&graph, &settings(20_000));
    let [parent, ancestor] = ["parent", "ancestor"].map(|name| graph.relation(name).unwrap());
    let body = Body::Path(Path::new(&[parent; 3]).unwrap());
    let rule = found.rules.iter().find(|rule| (rule.head, rule.body) == (ancestor, body)).unwrap();
    assert_eq!((rule.predicted, rule.correct), (60, 45));
    let fitted = fit(&graph, &steps, found.set(), &Control::default());
    let (mrr, edges) = fitted.valid.unwrap();
    assert_eq!(edges, 30, "fifteen edges from both sides");
    assert!(mrr > 0.9, "{mrr}");
}

#[test]
fn a_seed_and_a_number_of_paths_give_the_same_rules_whatever_the_threads() {
    let graph = families();
    let with = |threads: usize, seed| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| mined(&graph, &MineSettings { seed, ..settings(30_000) }))
    };
    assert_eq!(with(1, 1), with(3, 1));
}

#[test]
fn a_run_that_was_stopped_and_resumed_finds_what_one_that_was_not_finds() {
    let (graph, all) = (families(), settings(40_000));
    let steps = Steps::of(&graph);
    let whole = mined(&graph, &all);
    for stop_after in [0u64, 1, 7_000, 20_000] {
        let cancel = Cancel::default();
        let token = cancel.clone();
        let control = Control::default().with_cancel(cancel).on(move |progress: &MiningProgress| {
            if progress.stage == MiningStage::Long && progress.done >= stop_after {
                token.cancel();
            }
        });
        let begun = mine(&steps, &all, None, &control, &mut |_| Ok(())).unwrap();
        assert!(!begun.finished && begun.short, "{stop_after}");
        // What is kept is a set.
        let begun = Mined { rules: begun.set().rules().to_vec(), ..begun };
        let resumed = mine(&steps, &all, Some(begun), &Control::default(), &mut |_| Ok(())).unwrap();
        assert_eq!(resumed.set(), whole.set(), "{stop_after}");
        assert!(resumed.finished);
    }
}

#[test]
fn the_time_is_that_of_drawing_and_a_run_that_it_ended_goes_on() {
    let steps = Steps::of(&families());
    let timed = |time| MineSettings { time: Some(time), ..MineSettings::default() };
    let control = Control::default();
    let mine = |settings, begun| mine(&steps, &settings, begun, &control, &mut |_| Ok(())).unwrap();
    let at_once = mine(timed(Duration::ZERO), None);
    assert!(at_once.short && at_once.finished && at_once.paths == 0, "what is exact is done all the same");
    let length = |length| MineSettings { max_length: length, ..MineSettings::default() };
    assert_eq!(at_once.set(), mine(length(2), None).set());
    // Two rounds, and then others until the time is up.
    let some = mine(settings(12_000), None);
    let more = mine(timed(Duration::from_millis(500)), Some(Mined { finished: false, ..some.clone() }));
    assert!(more.finished && more.paths > some.paths, "{}", more.paths);
}

#[test]
fn there_are_no_more_rules_than_there_is_room_for() {
    let edges: Vec<(u32, u32, u32)> = (0..300u32)
        .map(|at| (at % 10, at / 10 % 3, at / 30))
        .filter(|&(head, relation, tail)| !(head + 2 * relation + tail * tail).is_multiple_of(3))
        .collect();
    let steps = Steps::of(&small_graph(&edges));
    let control = Control::default();
    let (all, _) = constants::mine(&steps, 1_000_000, &control);
    for room in [6, 50, all.len() / 2] {
        let (found, whole) = constants::mine(&steps, room, &control);
        assert!(whole && !found.is_empty() && found.len() <= room, "{} of {}", found.len(), all.len());
    }
    let (mut walks, _) = short::mine(&steps, 2, 1_000, 0, &control);
    let (few, _) = short::mine(&steps, 2, 2, 0, &control);
    limit(&mut walks, 2);
    assert_eq!(few, walks, "the most confident of all");
}

#[test]
fn what_is_asked_to_stop_at_once_gives_what_it_has() {
    let steps = Steps::of(&families());
    let control = Control::default();
    control.cancel_token().clone().cancel();
    let found = mine(&steps, &settings(1_000), None, &control, &mut |_| Ok(())).unwrap();
    assert!(!found.short && !found.finished);
}

#[test]
fn too_little_memory_and_no_edges_are_refused_with_what_is_needed() {
    let steps = Steps::of(&families());
    let little = MineSettings { memory: 1 << 20, ..MineSettings::default() };
    let refused = mine(&steps, &little, None, &Control::default(), &mut |_| Ok(()));
    assert!(matches!(refused, Err(RuleError::Memory { given: 1, .. })), "{refused:?}");
    let nothing = Steps::of(&small_graph(&[]));
    let refused = mine(&nothing, &MineSettings::default(), None, &Control::default(), &mut |_| Ok(()));
    assert!(matches!(refused, Err(RuleError::NoEdges)), "{refused:?}");
}

#[test]
fn rules_of_one_edge_or_without_validation_edges_are_no_trouble() {
    let graph = small_graph(&[(0, 0, 1)]);
    let steps = Arc::new(Steps::of(&graph));
    let found = mined(&graph, &settings(100));
    assert!(found.finished && found.rules.is_empty(), "{:?}", found.rules);
    let fitted = fit(&graph, &steps, RuleSet::default(), &Control::default());
    assert_eq!((fitted.set.len(), fitted.valid), (0, None));
}
