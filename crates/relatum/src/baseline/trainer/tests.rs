//! Gradients, and that equal settings train equal models.

use std::collections::BTreeMap;

use super::*;
use crate::baseline::{Kind, recommend_baseline};
use crate::control::Cancel;
use crate::graph::films;
use crate::kernels::{exp_row, logistic};

fn settings(graph: &Graph, kind: Kind) -> BaselineSettings {
    BaselineSettings {
        dimension: 6,
        margin: 3.0,
        negatives: 9,
        batch_size: 8,
        epochs: 3,
        seed: 5,
        ..recommend_baseline(graph, kind)
    }
}

/// The loss of a step with these vectors, the weights of hard negatives as `frozen` has them.
fn loss(
    drawn: &Drawn<'_>,
    pool: &Pool,
    model: &Baseline,
    settings: &BaselineSettings,
    frozen: &[Vec<f32>],
) -> f64 {
    let tape = Tape::forward(model, &pool.program.branches[0], &drawn.queries);
    let regions = tape.last().unwrap().regions(INSIDE);
    let (near, far) = (
        gathered(model, Table::Entities, &drawn.answers),
        gathered(model, Table::Entities, &drawn.negatives),
    );
    let mut to_near = vec![0.0; drawn.answers.len()];
    pair_distances(&mut to_near, regions, &near);
    let mut to_far = vec![0.0; to_near.len() * drawn.negatives.len()];
    distances(to_far.chunks_mut(drawn.negatives.len()).collect(), regions, &far);
    let total: f32 = drawn.weights.iter().sum();
    let mut sum = 0.0;
    for (row, near) in to_near.iter().enumerate() {
        let mut of_query = f64::from(logistic(&mut [near - settings.margin]));
        for (at, far) in to_far[row * drawn.negatives.len()..][..drawn.negatives.len()].iter().enumerate() {
            of_query += f64::from(frozen[row][at]) * f64::from(logistic(&mut [settings.margin - far]));
        }
        sum += 0.5 * f64::from(drawn.weights[row] / total) * of_query;
    }
    sum
}

/// The weights of the negatives of every query.
fn weights(drawn: &Drawn<'_>, pool: &Pool, model: &Baseline, settings: &BaselineSettings) -> Vec<Vec<f32>> {
    let tape = Tape::forward(model, &pool.program.branches[0], &drawn.queries);
    let far = gathered(model, Table::Entities, &drawn.negatives);
    let count = drawn.negatives.len();
    let mut rows = vec![vec![0.0; count]; drawn.queries.len()];
    distances(rows.iter_mut().map(Vec::as_mut_slice).collect(), tape.last().unwrap().regions(INSIDE), &far);
    for row in &mut rows {
        for distance in row.iter_mut() {
            *distance = settings.adversarial * (settings.margin - *distance);
        }
        let (_, sum) = exp_row(row, None);
        for share in row.iter_mut() {
            *share /= sum;
        }
    }
    rows
}

#[test]
fn the_gradients_of_every_table_and_shape_are_those_of_finite_differences() {
    const STEP: f32 = 1.0 / 512.0;
    let (graph, _) = films().finish();
    for (kind, adversarial) in [(Kind::Gqe, 0.0), (Kind::Query2Box, 0.0), (Kind::Query2Box, 0.7)] {
        let settings = BaselineSettings { adversarial, ..settings(&graph, kind) };
        let trainer = BaselineTrainer::new(&graph, settings.clone()).unwrap();
        let mut steepest = BTreeMap::new();
        for pool in &trainer.pools {
            let batch: Vec<usize> = (0..5).collect();
            let model = trainer.model();
            let drawn = Drawn::of(pool, &batch, &settings, model.entity_count(), &mut Rng::new(2));
            let frozen = weights(&drawn, pool, model, &settings);
            let (Gradients { rows, nets }, said) = drawn.gradients(pool, model, &settings);
            assert!((said - loss(&drawn, pool, model, &settings, &frozen)).abs() < 1e-5, "{said}");
            for table in Table::of(kind) {
                let mut dense = vec![0.0f32; model.table(table).len()];
                if let Some(Rows { ids, values }) = rows.get(table as usize) {
                    for (&id, row) in ids.iter().zip(values.chunks(model.width)) {
                        add(&mut dense[id as usize * model.width..][..model.width], row);
                    }
                } else if let Some(net) = nets.get(table as usize - 3).filter(|net| !net.is_empty()) {
                    dense.copy_from_slice(net);
                }
                // The largest slopes, which the rounding of single precision does not hide, and some others.
                let mut order: Vec<usize> = (0..dense.len()).collect();
                order.sort_by(|&a, &b| dense[b].abs().total_cmp(&dense[a].abs()));
                let mut compared = 0;
                for &at in order.iter().take(25).chain(order.iter().step_by(41)) {
                    let of = |by: f32| {
                        let mut moved = model.clone();
                        moved.table_mut(table)[at] += by;
                        loss(&drawn, pool, &moved, &settings, &frozen)
                    };
                    let (up, here, down) = (of(STEP), of(0.0), of(-STEP));
                    let (right, left) = ((up - here) / f64::from(STEP), (here - down) / f64::from(STEP));
                    // Where both sides differ, a kink lies between them.
                    if (right - left).abs() < 2e-3 {
                        compared += 1;
                        let (got, right) = (f64::from(dense[at]), f64::midpoint(right, left));
                        let most = steepest.entry(table.name()).or_insert(0.0f64);
                        *most = most.max(right.abs());
                        let table = table.name();
                        assert!((got - right).abs() < 2e-3, "{kind:?} {table} {at}: {got}, expected {right}");
                    }
                }
                assert!(compared >= 5, "{kind:?} {}: {compared} compared", table.name());
            }
        }
        // Where all slopes are within the tolerance, one that is always 0 would pass.
        assert!(steepest.values().all(|most| *most > 2.0 * 2e-3), "{kind:?}: {steepest:?}");
    }
}

fn trained(graph: &Graph, kind: Kind, threads: usize, stop_after: Option<usize>) -> Vec<Vec<f32>> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
    pool.install(|| {
        let mut trainer = BaselineTrainer::new(graph, settings(graph, kind)).unwrap();
        if let Some(steps) = stop_after {
            let cancel = Cancel::default();
            let enough = cancel.clone();
            let control = Control::default().with_cancel(cancel).on(move |report: &BatchReport| {
                if report.batch == steps {
                    enough.cancel();
                }
            });
            assert_eq!(trainer.run_epoch(&control).unwrap(), Epoch::Stopped);
        }
        while trainer.progress().epoch < 3 {
            trainer.run_epoch(&Control::default()).unwrap();
        }
        trainer.tensors().into_iter().map(|(.., values)| values.to_vec()).collect()
    })
}

#[test]
fn neither_threads_nor_a_pause_change_a_bit_of_the_model() {
    let (graph, _) = films().finish();
    for kind in Kind::ALL {
        let once = trained(&graph, kind, 1, None);
        assert_eq!(once, trained(&graph, kind, 3, Some(4)), "{kind:?}");
    }
}

#[test]
fn the_loss_falls() {
    let (graph, _) = films().finish();
    for kind in Kind::ALL {
        let settings = BaselineSettings { learning_rate: 0.02, epochs: 12, ..settings(&graph, kind) };
        let mut trainer = BaselineTrainer::new(&graph, settings).unwrap();
        let mut losses = Vec::new();
        for _ in 0..12 {
            let Epoch::Finished(loss) = trainer.run_epoch(&Control::default()).unwrap() else { panic!() };
            losses.push(loss);
        }
        assert!(losses[11] < 0.8 * losses[0], "{kind:?}: {losses:?}");
    }
}

#[test]
fn a_graph_without_edges_is_refused() {
    let (graph, _) = crate::graph::GraphBuilder::default().finish();
    let settings = recommend_baseline(&graph, Kind::Gqe);
    assert!(matches!(BaselineTrainer::new(&graph, settings), Err(BaselineError::NothingToLearn)));
}
