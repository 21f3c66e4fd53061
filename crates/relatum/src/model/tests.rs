//! What every link predictor must do, whatever its formula.

#![allow(clippy::needless_range_loop, reason = "the index is what is being varied")]

use super::*;
use crate::graph::{GraphBuilder, Split};

fn row(rng: &mut Rng, len: usize) -> Vec<f32> {
    (0..len).map(|_| rng.normal() as f32).collect()
}

#[test]
fn the_pull_back_of_every_predictor_is_its_finite_difference() {
    for name in predictor_names() {
        let predictor = predictor(name, 3).unwrap();
        let mut rng = Rng::new(5);
        let mut head = row(&mut rng, predictor.entity_width());
        let mut relation = row(&mut rng, predictor.relation_width());
        let gradient = row(&mut rng, predictor.tail().len());
        let (mut by_head, mut by_relation) = (vec![0.0; head.len()], vec![0.0; relation.len()]);
        predictor.pull_back(&head, &relation, &gradient, &mut by_head, &mut by_relation);
        let value = |head: &[f32], relation: &[f32]| {
            let mut query = vec![0.0; gradient.len()];
            predictor.query(head, relation, &mut query);
            query.iter().zip(&gradient).map(|(q, g)| f64::from(q * g)).sum::<f64>()
        };
        for i in 0..head.len() {
            let numeric = difference(&mut head, i, |head| value(head, &relation));
            assert!(
                (numeric - f64::from(by_head[i])).abs() < 1e-2,
                "{name}: head {i}: {numeric} {}",
                by_head[i]
            );
        }
        for i in 0..relation.len() {
            let numeric = difference(&mut relation, i, |relation| value(&head, relation));
            assert!((numeric - f64::from(by_relation[i])).abs() < 1e-2, "{name}: relation {i}");
        }
    }
}

#[test]
fn the_bias_gradient_of_every_predictor_is_its_finite_difference() {
    for name in predictor_names() {
        let predictor = predictor(name, 3).unwrap();
        let mut tail = row(&mut Rng::new(6), predictor.tail().len());
        let mut gradient = vec![0.0; tail.len()];
        predictor.bias_pull_back(&tail, 1.5, &mut gradient);
        for i in 0..tail.len() {
            let numeric = difference(&mut tail, i, |tail| 1.5 * f64::from(predictor.bias(tail)));
            assert!((numeric - f64::from(gradient[i])).abs() < 1e-2, "{name}: {i}");
        }
    }
}

#[test]
fn the_offset_gradient_of_every_predictor_is_its_finite_difference() {
    for name in predictor_names() {
        let predictor = predictor(name, 3).unwrap();
        let mut query = row(&mut Rng::new(8), predictor.tail().len());
        let mut gradient = vec![0.0; query.len()];
        predictor.offset_pull_back(&query, 1.5, &mut gradient);
        for i in 0..query.len() {
            let numeric = difference(&mut query, i, |query| 1.5 * f64::from(predictor.offset(query)));
            assert!((numeric - f64::from(gradient[i])).abs() < 1e-2, "{name}: {i}");
        }
    }
}

#[test]
fn a_trilinear_predictor_scores_relations_by_the_pull_back_of_the_tail() {
    for name in predictor_names() {
        let predictor = predictor(name, 4).unwrap();
        let mut rng = Rng::new(7);
        let (head, tail) = (row(&mut rng, predictor.entity_width()), row(&mut rng, predictor.tail().len()));
        let relation = row(&mut rng, predictor.relation_width());
        let mut query = vec![0.0; tail.len()];
        predictor.query(&head, &relation, &mut query);
        let (mut unused, mut p) = (vec![0.0; head.len()], vec![0.0; relation.len()]);
        predictor.pull_back(&head, &relation, &tail, &mut unused, &mut p);
        let same = (dot(&query, &tail) - dot(&p, &relation)).abs() < 1e-4;
        assert_eq!(same, predictor.is_trilinear(), "{name}");
    }
}

#[test]
fn distances_expand_into_the_one_shape() {
    let graph = triangle();
    for name in ["transe", "rotate"] {
        let model = Model::random(predictor(name, 4).unwrap(), &graph, 1.0, 3);
        let (h, r, t) = (EntityId(0), RelationId(0), EntityId(2));
        let moved: Vec<f32> = model.query(h, r).iter().map(|q| q / 2.0).collect();
        let distance: f32 = moved.iter().zip(model.entity(t).iter()).map(|(a, b)| (a - b) * (a - b)).sum();
        assert!((model.score(h, r, t) + distance).abs() < 1e-4, "{name}");
    }
}

#[test]
fn a_root_is_the_distance_itself_in_the_same_order() {
    let graph = triangle();
    for (name, squared) in ROOTS {
        let square = Model::random(predictor(squared, 4).unwrap(), &graph, 1.0, 3);
        let shape = predictor(name, 4).unwrap();
        let model =
            Model::new(Arc::clone(&shape), square.entities().to_vec(), square.relations().to_vec()).unwrap();
        let (h, r) = (EntityId(0), RelationId(0));
        let mut rows = [[0.0; 3]; 2];
        model.scores(&[(h, r)], &mut rows[0]);
        square.scores(&[(h, r)], &mut rows[1]);
        for t in 0..3u32 {
            let (root, square) = (rows[0][t as usize], rows[1][t as usize]);
            assert!((root + (-square).sqrt()).abs() < 1e-4, "{name}: {root} {square}");
            assert!((root - model.score(h, r, EntityId(t))).abs() < 1e-4, "{name}");
            let slope = (shape.shaped(square + 1e-2) - shape.shaped(square - 1e-2)) / 2e-2;
            assert!((slope - shape.shape_slope(root)).abs() < 1e-2, "{name}");
        }
        assert!(!predictor_names().any(|other| other == name), "it is not for training");
    }
}

#[test]
fn scores_of_a_row_are_the_scores_one_by_one() {
    let graph = triangle();
    for name in predictor_names() {
        let model = Model::random(predictor(name, 5).unwrap(), &graph, 1.0, 4);
        let queries = [(EntityId(1), RelationId(0)), (EntityId(2), RelationId(1))];
        let mut scores = vec![0.0; 2 * 3];
        model.scores(&queries, &mut scores);
        for (row, (h, r)) in queries.into_iter().enumerate() {
            for t in 0..3u32 {
                let alone = model.score(h, r, EntityId(t));
                assert!((scores[row * 3 + t as usize] - alone).abs() < 1e-4, "{name}");
            }
        }
    }
}

#[test]
fn a_relation_without_inverse_gets_a_reciprocal_and_a_pair_gets_none() {
    let mut builder = GraphBuilder::default();
    builder.add(Split::Train, "a", "likes", "b");
    builder.add(Split::Train, "a", "parent", "b");
    builder.add(Split::Train, "b", "child", "a");
    let (parent, child) = (builder.relation("parent"), builder.relation("child"));
    builder.pair(parent, child);
    let (graph, _) = builder.finish();
    let reciprocals = Reciprocals::of(&graph);
    let likes = graph.relation("likes").unwrap();
    let (parent, child) = (graph.relation("parent").unwrap(), graph.relation("child").unwrap());
    assert_eq!(reciprocals.len(), 4);
    assert_eq!(reciprocals.inverse(parent), child);
    assert!(!reciprocals.in_graph(reciprocals.inverse(likes)));
    assert_eq!(reciprocals.inverse(reciprocals.inverse(likes)), likes);
    assert_eq!(reciprocals.directed(&graph, Split::Train).len(), 4, "only the unpaired edge is doubled");
}

fn triangle() -> Graph {
    let mut builder = GraphBuilder::default();
    for (h, t) in [("a", "b"), ("b", "c"), ("c", "a")] {
        builder.add(Split::Train, h, "next", t);
    }
    builder.finish().0
}

fn difference(x: &mut [f32], i: usize, value: impl Fn(&[f32]) -> f64) -> f64 {
    const STEP: f32 = 1e-2;
    let kept = x[i];
    x[i] = kept + STEP;
    let above = value(x);
    x[i] = kept - STEP;
    let below = value(x);
    x[i] = kept;
    (above - below) / f64::from(2.0 * STEP)
}

#[test]
fn a_score_in_8_bits_has_one_value_wherever_it_is_asked_for() {
    let graph = triangle();
    for name in predictor_names().chain(ROOTS.map(|(root, _)| root)) {
        let full = Model::random(predictor(name, 21).unwrap(), &graph, 0.8, 9);
        let model = full.rounded(Precision::Int8).unwrap();
        assert_eq!(model.precision(), Precision::Int8);
        let pairs: Vec<(EntityId, RelationId)> = (0..3).map(|head| (EntityId(head), RelationId(0))).collect();
        let mut rows = vec![0.0; 9];
        model.scores(&pairs, &mut rows);
        let tails = [EntityId(2), EntityId(0)];
        let mut some = vec![0.0; 6];
        model.scores_at(&pairs, &tails, &mut some);
        for (head, (row, some)) in pairs.iter().zip(rows.chunks_exact(3).zip(some.chunks_exact(2))) {
            let mut alone = [0.0; 3];
            model.scores(&[*head], &mut alone);
            assert_eq!(alone.map(f32::to_bits), [row[0], row[1], row[2]].map(f32::to_bits), "{name}");
            for (tail, some) in tails.iter().zip(some) {
                let score = model.score(head.0, head.1, *tail);
                assert_eq!([score, *some].map(f32::to_bits), [row[tail.index()].to_bits(); 2], "{name}");
            }
        }
    }
}

#[test]
fn fewer_bits_move_scores_little() {
    let graph = triangle();
    for name in predictor_names().chain(ROOTS.map(|(root, _)| root)) {
        let full = Model::random(predictor(name, 40).unwrap(), &graph, 0.5, 4);
        for (precision, most) in [(Precision::F16, 0.02), (Precision::Int8, 0.25)] {
            let model = full.rounded(precision).unwrap();
            for (h, t) in [(0, 1), (1, 2), (2, 0)] {
                let edge = (EntityId(h), RelationId(0), EntityId(t));
                let (a, b) = (full.score(edge.0, edge.1, edge.2), model.score(edge.0, edge.1, edge.2));
                assert!((a - b).abs() < most, "{name} {precision:?}: {a} {b}");
            }
        }
    }
}

#[test]
fn what_does_not_fit_a_precision_is_not_rounded() {
    let model =
        |value: f32| Model::new(predictor("distmult", 1).unwrap(), vec![value, 0.5], vec![1.0]).unwrap();
    assert!(model(1e6).rounded(Precision::F16).is_none(), "the largest f16 is 65504");
    assert!(model(1e6).rounded(Precision::Int8).is_some());
    for precision in [Precision::F16, Precision::Int8] {
        assert!(
            model(f32::NAN).rounded(precision).is_none() && model(f32::INFINITY).rounded(precision).is_none()
        );
    }
}
