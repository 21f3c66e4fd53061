//! The operators against a plain implementation in double precision.

use super::*;
use crate::baseline::{Kind, Program, QueryEncoder};
use crate::benchmark::{QueryGroup, Skeleton};
use crate::graph::films;
use crate::random::Rng;

const WIDTH: usize = 5;

fn model(kind: Kind) -> Baseline {
    Baseline::random(kind, &films().finish().0, WIDTH, 3.0, 11)
}

fn plain_layer(model: &Baseline, layer: Table, x: &[f64]) -> Vec<f64> {
    let weights = model.table(layer);
    (0..WIDTH).map(|out| (0..WIDTH).map(|i| f64::from(weights[out * WIDTH + i]) * x[i]).sum()).collect()
}

fn relu(x: Vec<f64>) -> Vec<f64> {
    x.into_iter().map(|x| x.max(0.0)).collect()
}

/// A region as the formulas have it.
#[derive(Clone)]
struct Plain {
    centre: Vec<f64>,
    half: Vec<f64>,
}

fn plain_anchor(model: &Baseline, entity: u32) -> Plain {
    let centre = model.row(Table::Entities, entity).iter().map(|&x| f64::from(x)).collect();
    Plain { centre, half: vec![0.0; WIDTH] }
}

fn plain_project(model: &Baseline, mut from: Plain, relation: u32) -> Plain {
    for at in 0..WIDTH {
        from.centre[at] += f64::from(model.row(Table::Relations, relation)[at]);
        if model.boxes() {
            from.half[at] += f64::from(model.row(Table::Offsets, relation)[at]);
        }
    }
    from
}

fn plain_meet(model: &Baseline, parts: &[Plain]) -> Plain {
    let logits: Vec<Vec<f64>> = parts
        .iter()
        .map(|part| {
            let hidden = relu(plain_layer(model, Table::CentreIn, &part.centre));
            plain_layer(model, Table::CentreOut, &hidden)
        })
        .collect();
    let centre = (0..WIDTH).map(|at| {
        let sum: f64 = logits.iter().map(|row| row[at].exp()).sum();
        parts.iter().zip(&logits).map(|(part, row)| row[at].exp() / sum * part.centre[at]).sum()
    });
    let centre = centre.collect();
    if !model.boxes() {
        return Plain { centre, half: vec![0.0; WIDTH] };
    }
    let hidden: Vec<Vec<f64>> =
        parts.iter().map(|part| relu(plain_layer(model, Table::OffsetIn, &part.half))).collect();
    let mean: Vec<f64> =
        (0..WIDTH).map(|at| hidden.iter().map(|row| row[at]).sum::<f64>() / parts.len() as f64).collect();
    let gate = plain_layer(model, Table::OffsetOut, &mean);
    let least = |at: usize| parts.iter().map(|part| part.half[at]).fold(f64::INFINITY, f64::min);
    let half = (0..WIDTH).map(|at| least(at) / (1.0 + (-gate[at]).exp())).collect();
    Plain { centre, half }
}

fn plain_score(model: &Baseline, region: &Plain, entity: u32) -> f64 {
    let mut distance = 0.0;
    for at in 0..WIDTH {
        let far = (f64::from(model.row(Table::Entities, entity)[at]) - region.centre[at]).abs();
        let half = if model.boxes() { region.half[at] } else { 0.0 };
        distance += (far - half).max(0.0) + 0.02 * far.min(half);
    }
    f64::from(model.margin()) - distance
}

/// The score of every shape by its formula.
fn plain_answer(model: &Baseline, shape: &str, q: &[u32], entity: u32) -> f64 {
    let chain = |from: u32, along: &[u32]| {
        along.iter().fold(plain_anchor(model, from), |region, &hop| plain_project(model, region, hop))
    };
    let score = |region: &Plain| plain_score(model, region, entity);
    match shape {
        "1p" | "2p" | "3p" => score(&chain(q[0], &q[1..])),
        "2i" => score(&plain_meet(model, &[chain(q[0], &q[1..2]), chain(q[2], &q[3..4])])),
        "3i" => {
            let parts = [chain(q[0], &q[1..2]), chain(q[2], &q[3..4]), chain(q[4], &q[5..6])];
            score(&plain_meet(model, &parts))
        }
        "ip" => {
            let met = plain_meet(model, &[chain(q[0], &q[1..2]), chain(q[2], &q[3..4])]);
            score(&plain_project(model, met, q[4]))
        }
        "pi" => score(&plain_meet(model, &[chain(q[0], &q[1..3]), chain(q[3], &q[4..5])])),
        "2u" => score(&chain(q[0], &q[1..2])).max(score(&chain(q[2], &q[3..4]))),
        "up" => {
            let one = |from: usize| score(&chain(q[from], &[q[from + 1], q[4]]));
            one(0).max(one(2))
        }
        other => panic!("{other} is not one of the nine shapes"),
    }
}

#[test]
fn all_nine_shapes_are_scored_as_the_formulas_say() {
    let mut rng = Rng::new(5);
    for kind in Kind::ALL {
        let model = model(kind);
        for shape in ["1p", "2p", "3p", "2i", "3i", "ip", "pi", "2u", "up"] {
            let skeleton = Skeleton::of_shape(shape).unwrap();
            let group = QueryGroup { skeleton: skeleton.to_string(), ..QueryGroup::default() };
            let program = Program::of(&group.structure().unwrap()).unwrap();
            let bounds: Vec<usize> = (skeleton.roles().iter())
                .map(|role| match role {
                    crate::benchmark::Role::Entity => model.entity_count(),
                    crate::benchmark::Role::Relation => model.relation_count(),
                })
                .collect();
            let queries: Vec<Vec<u32>> =
                (0..7).map(|_| bounds.iter().map(|&bound| rng.below(bound) as u32).collect()).collect();
            let rows: Vec<&[u32]> = queries.iter().map(Vec::as_slice).collect();
            let scores = model.answer(&program, &rows);
            for (query, scores) in queries.iter().zip(scores.chunks(model.entity_count())) {
                for (entity, &score) in scores.iter().enumerate() {
                    let right = plain_answer(&model, shape, query, entity as u32);
                    assert!((f64::from(score) - right).abs() < 1e-4, "{shape}: {score}, expected {right}");
                }
            }
        }
    }
}

#[test]
#[allow(clippy::float_cmp, reason = "the very same numbers")]
fn rows_that_were_laid_side_by_side_come_apart_again() {
    let (a, b) = ([1.0, 2.0, 3.0, 4.0], [5.0, 6.0, 7.0, 8.0]);
    let rows = interleaved(&[&a, &b], 2);
    assert_eq!(rows, [1.0, 2.0, 5.0, 6.0, 3.0, 4.0, 7.0, 8.0]);
    assert_eq!(separated(&rows, 2, 2), [a, b]);
}
