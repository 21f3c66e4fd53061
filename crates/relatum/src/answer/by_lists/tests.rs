//! Answers from sorted lists are those of exact search: scores, marks, filters and explanations.

use std::collections::HashMap;

use proptest::prelude::*;

use crate::answer::{Answer, Answers, Ask, Explanation, Method, ask};
use crate::control::Control;
use crate::graph::{EntityId, Graph};
use crate::model::{Calibration, Fitted, Model, Reciprocals, predictor};
use crate::plan::{Plan, PlanOptions};
use crate::query::testing::{edges, tiny_graph};
use crate::query::{Limits, Syntax, VariableId, read};
use crate::random::Rng;
use crate::search::tests::{checked, logics};
use crate::search::{Certainty, Known, Logic};

fn model(graph: &Graph, coarse: bool, seed: u64) -> Model {
    let predictor = predictor("complex", 2).unwrap();
    let mut rng = Rng::new(seed);
    let mut value = || if coarse { rng.below(3) as f32 - 1.0 } else { rng.normal() as f32 };
    let mut table = |len: usize| (0..len).map(|_| value()).collect::<Vec<f32>>();
    let entities = table(graph.entities.len() * predictor.entity_width());
    let relations = table(Reciprocals::of(graph).len() * predictor.relation_width());
    let model = Model::new(predictor, entities, relations).unwrap();
    let curves: Vec<[f32; 3]> =
        (0..model.relation_count()).map(|r| [0.6 + 0.3 * r as f32, 0.8, 0.5 - 0.2 * r as f32]).collect();
    model.with_fitted(Fitted::new(&curves).unwrap()).unwrap()
}

/// Scores that are not treated as 0: both searches stop looking at 1e-6, but may have met what is below.
fn scores(answers: &[Answer]) -> Vec<f32> {
    answers.iter().map(|answer| answer.score).filter(|score| *score > 2e-6).collect()
}

/// Whether scores are the same. One that is not there is as good as 0: what a search treats as 0 may be a little larger
/// than in another.
fn are_close(a: &[f32], b: &[f32]) -> bool {
    let score = |scores: &[f32], place: usize| scores.get(place).copied().unwrap_or(0.0);
    (0..a.len().max(b.len())).all(|place| (score(a, place) - score(b, place)).abs() < 1e-4)
}

/// Whether an explanation re-folds to the score of its answer.
fn refolds(answer: &Answer, logic: Logic) -> bool {
    let Some(it) = &answer.explanation else { return false };
    let folded = it.refold(logic);
    let joined = logic.t_norm.any(it.branch_scores.iter().copied());
    (folded - it.branch_scores[it.branch]).abs() < 1e-4
        && (joined - answer.score).abs() < 1e-4
        && it.alternatives.iter().all(|other| other.score <= folded + 1e-4)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn lists_answer_and_explain_as_exact_search_does(
        checked in checked(), logic in logics(), edges in edges(), (coarse, new_only) in any::<(bool, bool)>(),
        seed in 0u64..1000, top in 1usize..4, only in prop::option::of(0u32..3), either_side: bool,
        known in prop::sample::select(vec![Known::ALL, Known::Ignore]),
        calibration in prop::sample::select(vec![Calibration::SoftmaxCount, Calibration::Fitted, Calibration::Sigmoid]),
    ) {
        let graph = tiny_graph(&edges);
        let plan = Plan::new(&checked, &graph, PlanOptions { either_side, ..PlanOptions::default() });
        if !plan.is_tree() {
            return Ok(());
        }
        let model = model(&graph, coarse, seed);
        let only = only.map(EntityId);
        let by = |method| {
            let how = Ask {
                method, logic, calibration, known, top, new_only, only, unseen: 0.5, explain: true, ..Ask::default()
            };
            ask(&plan, &model, &graph, &how).unwrap()
        };
        let (listed, exact): (Answers, Answers) = (by(Method::Lists), by(Method::Exact));
        prop_assert_eq!(listed.method, Method::Lists);
        let is_exact = matches!(listed.certainty, Certainty::Exact { .. });
        prop_assert!(is_exact);
        prop_assert!(are_close(&scores(&listed.answers), &scores(&exact.answers)), "{listed:?} {exact:?}");
        for (answer, other) in listed.answers.iter().zip(&exact.answers) {
            prop_assert!(refolds(answer, logic), "{answer:?}");
            if answer.entity != other.entity {
                continue;
            }
            prop_assert_eq!((answer.known, answer.ways), (other.known, other.ways));
            let (a, b) = (answer.explanation.as_ref().unwrap(), other.explanation.as_ref().unwrap());
            if a.branch == b.branch && a.alternatives_certain && b.alternatives_certain && known == Known::Ignore {
                let next = |it: &Explanation| {
                    let scores = it.alternatives.iter().map(|it| it.score);
                    scores.chain(std::iter::repeat(0.0)).take(3).collect::<Vec<f32>>()
                };
                prop_assert!(are_close(&next(a), &next(b)), "{a:?} {b:?}");
            }
            let distinct: Vec<HashMap<VariableId, EntityId>> = std::iter::once(&a.assignment)
                .chain(a.alternatives.iter().map(|it| &it.assignment))
                .map(|it| it.iter().copied().collect())
                .collect();
            for (place, one) in distinct.iter().enumerate() {
                prop_assert!(!distinct[..place].contains(one), "{a:?}");
            }
        }
    }
}

#[test]
fn lists_are_chosen_where_vectors_would_not_fit_and_only_where_they_can_answer() {
    let graph = tiny_graph(&[(0, 0, 1), (1, 1, 2)]);
    let model = model(&graph, false, 1);
    let method = |text: &str, method: Method, bytes: u64| {
        let checked = read(text, Syntax::Text, &graph, Limits::default()).unwrap().checked;
        let plan = Plan::new(&checked, &graph, PlanOptions::default());
        let control = Control::default().with_memory(bytes);
        let how = Ask { method, control, known: Known::Ignore, ..Ask::default() };
        ask(&plan, &model, &graph, &how).unwrap().method
    };
    let path = "?A : exists V. r0(plain, V) and 'has (part)'(V, A)";
    assert_eq!(method(path, Method::Auto, 1 << 30), Method::Exact);
    assert_eq!(method(path, Method::Auto, 100), Method::Lists);
    assert_eq!(method(path, Method::Exact, 100), Method::Exact, "what was chosen is what runs");
    let cycle = "?A : exists V, W. r0(plain, V) and r0(V, W) and r0(W, A) and r0(V, A)";
    assert_ne!(method(cycle, Method::Auto, 100), Method::Lists);
}
