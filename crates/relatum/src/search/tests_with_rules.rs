//! Exact search with rules beside a predictor: its bounds stay proofs.

use std::sync::Arc;

use proptest::prelude::*;

use super::beam::{Beam, Effort, Widened, Width};
use super::exact::{Exact, Goal};
use super::tests::{checked, logics};
use super::{AtomTruth, Certainty, Known, RuleEvidence, Scorer, best, mixed};
use crate::control::Control;
use crate::graph::{EntityId, Id, RelationId};
use crate::model::rules::testing::bodies;
use crate::model::rules::{Overlaps, Rule, RuleIndex, RuleSet, Steps};
use crate::model::{Calibration, Model, predictor};
use crate::plan::{Plan, PlanOptions};
use crate::query::testing::{edges, tiny_graph};
use crate::query::{Direction, Hop};

/// Rules over three entities and four relations of a model.
pub(super) fn rules() -> impl Strategy<Value = Vec<Rule>> {
    let rule = (0u32..4, bodies(3, 4), 0u32..100);
    let rule = rule.prop_map(|(head, body, correct)| Rule::counted(RelationId(head), body, 100, correct));
    prop::collection::vec(rule, 0..12)
}

pub(super) fn index(graph: &crate::graph::Graph, rules: Vec<Rule>) -> RuleIndex {
    let steps = Arc::new(Steps::of(graph));
    let set = RuleSet::new(rules).clustered(&steps, &[Overlaps::default(); 4]);
    RuleIndex::new(steps, set)
}

pub(super) fn calibrations() -> impl Strategy<Value = Calibration> {
    let all = Calibration::ALL.into_iter().filter(|it| it.is_truth() && *it != Calibration::Adaptive);
    prop::sample::select(all.collect::<Vec<_>>())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn a_certified_top_is_the_true_top(
        checked in checked(), logic in logics(), edges in edges(), rules in rules(), calibration in calibrations(),
        weight in prop::sample::select(vec![0.0f32, 0.3, 1.0]), alone: bool, trust: bool, seed in 0u64..20,
        count in 1usize..4
    ) {
        let graph = tiny_graph(&edges);
        let rules = index(&graph, rules);
        let model = Model::random(predictor("complex", 2).unwrap(), &graph, 1.0, seed);
        let weights = [weight; 4];
        let known = if trust { Known::TRAIN } else { Known::Ignore };
        let evidence = RuleEvidence { rules: &rules, weights: &weights, alone };
        let truth = Scorer::new(&model, &graph, calibration, known).with_unseen(0.5).with_rules(Some(evidence));
        let plan = Plan::new(&checked, &graph, PlanOptions { beam: 100_000, ..PlanOptions::default() });
        let wide = Width { k: 100_000, paper: false };
        let all = Beam::new(&plan, &truth, logic, wide, &Control::default(), false).unwrap().run().unwrap().scores;
        let close = |a: f32, b: f32| (a - b).abs() < 1e-4;
        let scores = |scores: &[f32]| best(scores, count, |_| true).iter().map(|it| it.1).collect::<Vec<_>>();
        if plan.is_tree() {
            let run = |goal| Exact::new(&plan, &truth, logic, &Control::default()).unwrap().run(goal).unwrap();
            let whole = run(Goal::All { floor: 0.0, most: None });
            prop_assert!(whole.scores.iter().zip(&all).all(|(a, b)| close(*a, *b)), "{:?} {all:?}", whole.scores);
            let top = run(Goal::Top { count, keep: &|_| true, within: 0.0, most: None });
            let is_exact = matches!(top.certainty, Certainty::Exact { .. });
            prop_assert!(is_exact);
            let same = scores(&top.scores).iter().zip(&scores(&all)).all(|(a, b)| close(*a, *b));
            prop_assert!(same, "{:?} {all:?}", top.scores);
        } else {
            let mut beam = Beam::new(&plan, &truth, logic, Width { k: 1, paper: false }, &Control::default(), false).unwrap();
            let goal = Widened { count, keep: &|_| true, within: 1e-5, effort: Effort::Some };
            let found = beam.widen(&goal).unwrap();
            let same = scores(&found.scores).iter().zip(&scores(&all)).all(|(a, b)| close(*a, *b));
            prop_assert!(same, "{:?} {all:?}", found.scores);
        }
    }

    #[test]
    fn rows_are_joined_and_no_edge_is_truer_than_its_bound(
        edges in edges(), rules in rules(), calibration in calibrations(), weight in 0.0f32..1.0, alone: bool,
        seed in 0u64..20
    ) {
        let graph = tiny_graph(&edges);
        let rules = index(&graph, rules);
        let model = Model::random(predictor("complex", 2).unwrap(), &graph, 1.0, seed);
        let weights = [weight; 4];
        let evidence = RuleEvidence { rules: &rules, weights: &weights, alone };
        let plain = Scorer::new(&model, &graph, calibration, Known::Ignore);
        let with_rules = Scorer::new(&model, &graph, calibration, Known::Ignore).with_rules(Some(evidence));
        let entities: Vec<EntityId> = (0..3).map(EntityId::from_index).collect();
        for relation in [0, 1] {
            for direction in [Direction::Forward, Direction::Backward] {
                let hop = Hop { relation: RelationId(relation), direction };
                let pairs: Vec<(EntityId, Hop)> = entities.iter().map(|&it| (it, hop)).collect();
                let [mut predicted, mut found] = [vec![0.0; 9], vec![0.0; 9]];
                plain.pairs(&pairs, &mut predicted);
                with_rules.pairs(&pairs, &mut found);
                for (at, &from) in entities.iter().enumerate() {
                    let row = rules.row(from, with_rules.model_relation(hop));
                    for (to, &value) in found[3 * at..][..3].iter().enumerate() {
                        let said = row.iter().find(|it| it.0.index() == to).map_or(0.0, |it| it.1);
                        let (phi, weight) = if alone { (0.0, 1.0) } else { (predicted[3 * at + to], weight) };
                        prop_assert!((value - mixed(phi, said, weight)).abs() < 1e-6);
                        let why = with_rules.why(from, hop, EntityId::from_index(to), value).unwrap();
                        prop_assert!((why.together() - value).abs() < 1e-5, "{why:?} {value}");
                        // Whoever speaks is named, whether it counts or not.
                        prop_assert_eq!(why.reasons.is_empty(), said <= 0.0, "{:?} {}", why, said);
                        prop_assert!(why.by_rules <= 0.0 || why.similar.is_empty(), "{why:?}");
                    }
                }
                let mut bounds = vec![f32::NAN; 9];
                if with_rules.at_most(&entities, hop, &entities, &mut bounds) {
                    prop_assert!(found.iter().zip(&bounds).all(|(value, bound)| value <= bound), "{found:?} {bounds:?}");
                }
                prop_assert!(found.iter().all(|value| *value <= with_rules.ceiling()));
            }
        }
    }
}

#[test]
fn a_mixture_never_falls_where_one_side_grows_and_is_never_above_both() {
    let values = [0.0, 1e-7, 0.3, 0.9998, 0.9999, 0.999_95, 1.0];
    for weight in [0.0, 0.031, 0.3, 0.992, 1.0] {
        for a in values {
            for pair in values.windows(2) {
                assert!(mixed(a, pair[0], weight) <= mixed(a, pair[1], weight), "{a} {pair:?} {weight}");
                assert!(mixed(pair[0], a, weight) <= mixed(pair[1], a, weight), "{a} {pair:?} {weight}");
                assert!(mixed(pair[0], a, weight) <= pair[0].max(a));
            }
            assert!(mixed(a, 0.7, 0.0).to_bits() == f32::to_bits(a), "rules without a weight change nothing");
        }
    }
}
