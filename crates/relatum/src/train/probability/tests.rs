//! What a fit recovers, what its prior is for, and that it is the same each time.

use super::*;
use crate::graph::{EntityId, GraphBuilder, Id, Triple};
use crate::model::predictor;
use crate::random::Rng;

/// Rows of one relation whose candidates are right as often as a curve says.
fn rows(curve: Curve, relation: usize, count: usize, rng: &mut Rng) -> Vec<Row> {
    let row = |rng: &mut Rng| {
        let count = ((1 + rng.below(20)) as f64).ln();
        let shares: Vec<f32> = (0..60).map(|_| -6.0 * rng.uniform() as f32).collect();
        let truth =
            |share: f32| 1.0 / (1.0 + (-(curve[0] * f64::from(share) + curve[1] * count + curve[2])).exp());
        let (right, other): (Vec<f32>, Vec<f32>) =
            shares.into_iter().partition(|share| rng.uniform() < truth(*share));
        let (held_out, right_ones) = (right.len(), right.len());
        let shares = right.into_iter().chain(other).collect();
        Row { relation, count, held_out, right: right_ones, weight: 1.0, shares }
    };
    (0..count).map(|_| row(rng)).collect()
}

fn references(rows: &[Row]) -> Vec<&Row> {
    rows.iter().collect()
}

#[test]
fn the_curve_that_made_the_data_is_found_again() {
    let curve = [1.7, 0.6, -0.8];
    let rows = rows(curve, 0, 400, &mut Rng::new(1));
    let found = newton::fit(&references(&rows), &COMMON);
    for (found, right) in found.iter().zip(curve) {
        assert!((found - right).abs() < 0.1, "{found} {right}");
    }
}

#[test]
fn a_relation_with_one_row_stays_near_the_common_curve_and_one_with_many_goes_its_own_way() {
    let common = [1.5, 1.0, 2.0];
    let other = [0.8, 0.3, -1.0];
    let many = rows(other, 0, 300, &mut Rng::new(2));
    let prior = Prior { mean: common, spread: SPREAD };
    let far = |found: Curve| (found[0] - common[0]).abs() + (found[2] - common[2]).abs();
    let by_many = newton::fit(&references(&many), &prior);
    assert!((by_many[0] - other[0]).abs() < 0.1 && (by_many[2] - other[2]).abs() < 0.2, "{by_many:?}");
    // One row with one right candidate, which is what most rare relations have.
    let one = Row {
        relation: 0,
        count: 0.0,
        held_out: 1,
        right: 1,
        weight: 1.0,
        shares: vec![-3.0, -0.5, -2.0, -4.0],
    };
    let by_one = newton::fit(&[&one], &prior);
    assert!(far(by_one) < 0.35 * far(by_many), "{by_one:?} {by_many:?}");
}

#[test]
fn a_relation_whose_scores_mean_the_opposite_gets_a_flat_curve_and_not_a_falling_one() {
    let rows = rows([-1.0, 0.0, -3.0], 0, 300, &mut Rng::new(3));
    let [slope, c, b] = newton::fit(&references(&rows), &COMMON);
    assert!((slope - 0.05).abs() < 1e-9 && c.is_finite() && b.is_finite(), "{slope} {c} {b}");
}

#[test]
fn corrected_curves_expect_as_many_right_candidates_as_there_are_held_out_edges() {
    let mut rng = Rng::new(4);
    let truth = [1.2, 0.7, -0.5];
    let (seen, mut rows) = (0.4, rows(truth, 0, 2000, &mut rng));
    let all: usize = rows.iter().map(|row| row.right).sum();
    // Each right candidate is a validation edge with probability π, else a test edge, which confirms nothing; rows
    // without any validation edge are not looked at.
    for row in &mut rows {
        let (kept, lost): (Vec<f32>, Vec<f32>) =
            row.shares[..row.right].iter().partition(|_| rng.uniform() < seen);
        let others = row.shares.split_off(row.right);
        (row.right, row.held_out) = (kept.len(), kept.len());
        row.shares = kept.into_iter().chain(lost).chain(others).collect();
    }
    rows.retain(|row| row.right > 0);
    let curve = newton::fit(&references(&rows), &COMMON);
    let [factor, shift] = newton::correction(&rows, &[curve], seen);
    // Where most rows have several held-out edges, thinning them out has made the curve flatter as well as lower.
    assert!((1.0..2.0).contains(&factor) && shift > 0.5, "{factor} {shift}");
    let expected: f64 = rows
        .iter()
        .flat_map(|row| row.shares.iter().map(move |share| (row, f64::from(*share))))
        .map(|(row, share)| {
            let odds = factor * (curve[0] * share + curve[1] * row.count + curve[2]) + shift;
            1.0 / (1.0 + (-odds).exp())
        })
        .sum();
    // Rows without a validation edge had few right candidates.
    assert!((expected / all as f64 - 1.0).abs() < 0.05, "{expected} of {all}");
    let none = newton::correction(&rows, &[curve], 1.0);
    assert_eq!(none.map(f64::to_bits), [1.0f64, 0.0].map(f64::to_bits), "all held-out edges are seen");
}

/// A graph whose edges are drawn from the softmax of a model, sharpened or softened.
pub(crate) fn drawn(sharpness: f64, test: bool) -> (Graph, Model) {
    const ENTITIES: usize = 150;
    let mut builder = GraphBuilder::default();
    for entity in 0..ENTITIES {
        builder.entity(&format!("e{entity}"));
    }
    builder.relation("r0");
    builder.relation("r1");
    let empty = builder.finish().0;
    let model = Model::random(predictor("complex", 8).unwrap(), &empty, 1.0, 7);
    let mut builder = GraphBuilder::default();
    for entity in 0..ENTITIES {
        builder.entity(&format!("e{entity}"));
    }
    builder.relation("r0");
    builder.relation("r1");
    let mut rng = Rng::new(8);
    let mut scores = vec![0.0; ENTITIES];
    for head in 0..ENTITIES {
        for relation in 0..2u32 {
            model.scores(&[(EntityId::from_index(head), RelationId(relation))], &mut scores);
            let weights: Vec<f64> =
                scores.iter().map(|score| (sharpness * f64::from(*score)).exp()).collect();
            let total: f64 = weights.iter().sum();
            for _ in 0..6 {
                let mut left = rng.uniform() * total;
                let tail = weights.iter().position(|weight| {
                    left -= weight;
                    left <= 0.0
                });
                let split = match rng.below(6) {
                    0 | 1 => Split::Valid,
                    2 if test => Split::Test,
                    _ => Split::Train,
                };
                builder.add_ids(split, Triple::new(head as u32, relation, tail.unwrap_or(0) as u32));
            }
        }
    }
    (builder.finish().0, model)
}

#[test]
fn a_fit_is_the_same_on_any_number_of_threads_and_can_be_stopped() {
    let (graph, model) = drawn(0.5, true);
    let run = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let fit = || fit(&model, &graph, FitSettings::default(), &Control::default()).unwrap().unwrap();
        pool.install(fit)
    };
    let done = run(1);
    assert_eq!(done, run(3));
    assert_eq!(done.fitted.len(), model.relation_count());
    assert!(done.pairs == done.pairs_of_split && done.edges >= done.pairs, "{done:?}");
    let control = Control::default();
    control.cancel_token().cancel();
    assert_eq!(fit(&model, &graph, FitSettings::default(), &control).unwrap(), None);
    let few = fit(&model, &graph, FitSettings { pairs: 20 }, &Control::default()).unwrap().unwrap();
    assert!(few.pairs <= 20 && few.pairs_of_split == done.pairs_of_split, "{few:?}");
}

#[test]
fn test_edges_change_nothing_but_by_their_number() {
    let (graph, model) = drawn(0.5, true);
    // The same training and validation edges, with other test edges.
    let mut builder = GraphBuilder::default();
    for id in graph.entities.ids() {
        builder.entity(graph.entities.name(id));
    }
    builder.relation("r0");
    builder.relation("r1");
    for split in [Split::Train, Split::Valid] {
        graph.edges(split).triples().for_each(|triple| builder.add_ids(split, triple));
    }
    let mut left = graph.edges(Split::Test).len();
    'all: for head in 0..150u32 {
        for tail in 0..150u32 {
            let triple = Triple::new(head, 1, tail);
            if left == 0 {
                break 'all;
            }
            if ![Split::Train, Split::Valid].iter().any(|split| graph.edges(*split).contains(triple)) {
                builder.add_ids(Split::Test, triple);
                left -= 1;
            }
        }
    }
    let other = builder.finish().0;
    assert_eq!(other.edges(Split::Test).len(), graph.edges(Split::Test).len());
    let of = |graph: &Graph| {
        fit(&model, graph, FitSettings::default(), &Control::default()).unwrap().unwrap().fitted
    };
    assert_eq!(of(&graph), of(&other));
}

#[test]
fn a_graph_without_validation_edges_gives_nothing_to_fit_by() {
    let mut builder = GraphBuilder::default();
    builder.add(Split::Train, "a", "r", "b");
    let graph = builder.finish().0;
    let model = Model::random(predictor("complex", 2).unwrap(), &graph, 0.1, 1);
    let refused = fit(&model, &graph, FitSettings::default(), &Control::default());
    assert!(matches!(refused, Err(TrainError::NothingToFit)));
    let mut builder = GraphBuilder::default();
    builder.add(Split::Train, "a", "r", "b");
    builder.add(Split::Valid, "b", "r", "a");
    let graph = builder.finish().0;
    let wild = Model::new(predictor("distmult", 1).unwrap(), vec![f32::NAN; 2], vec![1.0; 2]).unwrap();
    let refused = fit(&wild, &graph, FitSettings::default(), &Control::default());
    assert!(matches!(refused, Err(TrainError::Uncalibrated)));
}
