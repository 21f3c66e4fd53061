//! The slopes are those of the function, and climbing them reaches a maximum.

use proptest::prelude::*;

use super::*;
use crate::graph::{EntityId, Graph, Id};
use crate::logic::Negation;
use crate::model::{Affine, Reciprocals, predictor, predictor_names};
use crate::plan::{Plan, PlanOptions};
use crate::query::testing::{safe_query, tiny_graph};
use crate::query::{Checked, Limits, Syntax, read};
use crate::random::Rng;

const QUESTIONS: [&str; 7] = [
    "?A : exists V. r0(plain, V) and \"has (part)\"(V, A)",
    "?A : exists V. r0(V, plain) and \"has (part)\"(A, V) and r0(plain, A)",
    "?A : exists V, U. r0(V, plain) and r0(V, U) and r0(U, A) and r0(A, V)",
    "?A : exists V. r0(V, V) and r0(A, V) and \"has (part)\"(A, A)",
    "?A : exists V. r0(plain, V) and r0(V, A) and not \"has (part)\"(V, A)",
    "?A : r0(plain, A) and not exists W. (r0(A, W) and \"has (part)\"(W, plain))",
    "?A : exists V. r0(plain, V) and r0(V, A) and not exists W. (r0(A, W) and r0(W, V) \
     and not exists U. (r0(U, W) and \"has (part)\"(U, A)))",
];

fn plan(graph: &Graph, checked: &Checked) -> Plan {
    Plan::new(checked, graph, PlanOptions::default())
}

fn model(graph: &Graph, name: &str, seed: u64) -> Model {
    let maps = [[0.8, -0.2], [1.5, 0.3], [0.5, 0.1], [1.1, -0.4]];
    let model = Model::random(predictor(name, 3).unwrap(), graph, 0.6, seed);
    model.with_affine(Affine::new(&maps).unwrap()).unwrap()
}

#[test]
fn the_gradient_of_every_predictor_and_t_norm_is_its_finite_difference() {
    let graph = tiny_graph(&[]);
    let mut compared = 0;
    for (question, text) in QUESTIONS.iter().enumerate() {
        let checked = read(text, Syntax::Text, &graph, Limits::default()).unwrap().checked;
        let plan = plan(&graph, &checked);
        let program = Program::new(&plan.branches[0], &Reciprocals::of(&graph));
        for name in predictor_names() {
            let model = model(&graph, name, question as u64);
            for t_norm in TNorm::ALL {
                for calibration in [Calibration::Sigmoid, Calibration::Adaptive, Calibration::Raw] {
                    let logic = Logic { t_norm, negation: Negation { scale: 0.9 } };
                    let settings =
                        ContinuousSettings { calibration, regularization: 0.02, ..Default::default() };
                    let mut ascent = Ascent::new(&program, &model, logic, settings, 0);
                    let mut rng = Rng::new(40 + question as u64);
                    ascent.values.iter_mut().for_each(|value| *value = 0.5 * rng.normal() as f32);
                    compared += compare(&mut ascent, &format!("{text} {name} {t_norm} {calibration}"));
                }
            }
        }
    }
    assert!(compared > 1500, "{compared} slopes compared");
}

/// Compares every slope that is not on a plateau; returns how many.
fn compare(ascent: &mut Ascent<'_>, what: &str) -> usize {
    const STEP: f32 = 4e-3;
    ascent.evaluate();
    // Raw scores may leave the interval in which a negation has its slope, and a sum of truths that in
    // which it is above 0: there the slope is deliberately not that of the value.
    let scaled = |truth: f32| truth <= 0.02;
    let flat_atom =
        ascent.program.links.iter().zip(&ascent.truths).any(|(link, &x)| link.negated && scaled(x));
    let flat_level = ascent.climbed.iter().skip(1).any(|&climbed| climbed < 0.02);
    if flat_atom || flat_level {
        return 0;
    }
    ascent.differentiate();
    let gradient = ascent.gradient.clone();
    for (at, &slope) in gradient.iter().enumerate() {
        let level = ascent.program.slots[at / ascent.width].level;
        let kept = ascent.values[at];
        let mut loss = |value: f32| {
            ascent.values[at] = value;
            ascent.evaluate();
            ascent.differentiate() - ascent.climbed[level]
        };
        let numeric = (loss(kept + STEP) - loss(kept - STEP)) / (2.0 * STEP);
        loss(kept);
        let difference = (numeric - slope).abs();
        assert!(difference < 3e-3 + 0.02 * slope.abs(), "{what}: value {at}: {numeric} is not {slope}");
    }
    gradient.len()
}

#[test]
fn a_plateau_is_climbed_out_of() {
    let graph = tiny_graph(&[]);
    let text = "?A : exists V. r0(plain, V) and r0(V, A) and \"has (part)\"(A, plain) and not r0(A, V)";
    let checked = read(text, Syntax::Text, &graph, Limits::default()).unwrap().checked;
    let plan = plan(&graph, &checked);
    let program = Program::new(&plan.branches[0], &Reciprocals::of(&graph));
    let model = model(&graph, "complex", 1);
    let logic = Logic { t_norm: TNorm::Lukasiewicz, negation: Negation { scale: 3.0 } };
    let settings = ContinuousSettings { regularization: 0.0, ..Default::default() };
    let mut ascent = Ascent::new(&program, &model, logic, settings, 0);
    assert_eq!(ascent.levels, [0.0], "it starts where every slope is cut off");
    ascent.climb(&Control::default()).unwrap();
    assert!(ascent.levels[0] > 0.9, "{}", ascent.levels[0]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    /// Without a penalty, vectors can reach at least the truth that entities reach.
    #[test]
    fn vectors_get_at_least_as_high_as_entities(
        query in safe_query(), seed in 0u64..100, name in prop::sample::select(vec!["complex", "distmult", "cp"])
    ) {
        let graph = tiny_graph(&[]);
        let Ok(checked) = query.check(Limits::default()) else { return Ok(()) };
        let plan = plan(&graph, &checked);
        let model = model(&graph, name, seed);
        for branch in &plan.branches {
            // With a negated sub-query (a game), or where there may be several maxima, there is no guarantee.
            if !branch.branch.negated.is_empty() || !branch.branch.is_tree() {
                continue;
            }
            let program = Program::new(branch, &Reciprocals::of(&graph));
            let settings = ContinuousSettings { regularization: 0.0, ..Default::default() };
            let mut ascent = Ascent::new(&program, &model, Logic::default(), settings, 0);
            ascent.climb(&Control::default()).unwrap();
            let reached = ascent.levels[0];
            let best = best_entities(&mut ascent, &model);
            prop_assert!(reached >= best - 1e-3, "{reached} reached in {} steps, entities give {best}", ascent.step);
        }
    }
}

/// The best truth of the branch with every variable an entity.
fn best_entities(ascent: &mut Ascent<'_>, model: &Model) -> f32 {
    let (slots, n) = (ascent.program.slots.len(), model.entity_count());
    let mut best = f32::NEG_INFINITY;
    for assignment in 0..n.pow(slots as u32) {
        let mut left = assignment;
        for slot in ascent.values.chunks_exact_mut(ascent.width) {
            slot.copy_from_slice(&model.entity(EntityId::from_index(left % n)));
            left /= n;
        }
        ascent.evaluate();
        best = best.max(ascent.levels[0]);
    }
    best
}
