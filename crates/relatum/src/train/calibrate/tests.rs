//! Slopes, determinism, and whether calibrating helps.

use super::sample::Atom;
use std::sync::{Arc, Mutex};

use super::*;
use crate::graph::{EntityId, GraphBuilder, Split};
use crate::model::predictor;

fn question() -> Question {
    let atom = |anchor, relation| Atom { anchor: EntityId(anchor), relation: RelationId(relation) };
    Question {
        atoms: vec![atom(0, 0), atom(1, 1), atom(2, 0)],
        answer: EntityId(3),
        others: vec![EntityId(1)],
    }
}

#[test]
fn the_slopes_of_the_loss_are_its_finite_differences() {
    const STEP: f32 = 1e-2;
    let mut rng = Rng::new(4);
    let scores: Vec<f32> = (0..3 * 8).map(|_| rng.normal() as f32).collect();
    let lines = [(1.2, -0.3), (0.7, 0.4), (1.0, -1.0)];
    for binary in [0.0, 0.5] {
        let loss = |lines: &[(f32, f32)]| {
            differentiate(&question(), &scores, lines, binary, &mut Scratch::default())
        };
        let (_, slopes) = loss(&lines);
        for i in 0..3 {
            for (by_a, slope) in [(true, slopes[i].0), (false, slopes[i].1)] {
                let moved = |step: f32| {
                    let mut lines = lines;
                    *(if by_a { &mut lines[i].0 } else { &mut lines[i].1 }) += step;
                    loss(&lines).0
                };
                let numeric = (moved(STEP) - moved(-STEP)) / f64::from(2.0 * STEP);
                assert!((numeric - f64::from(slope)).abs() < 1e-3, "{binary} {i} {by_a}: {numeric} {slope}");
            }
        }
    }
}

/// Two relations, one of which the model scores ten times as high as the other without having learned
/// anything about it: calibration must make its scores count for little.
fn world() -> (Graph, Model) {
    let mut builder = GraphBuilder::default();
    let n = 40;
    for x in 0..n {
        for (relation, step) in [("sure", 1), ("vain", 7), ("vain", 11)] {
            builder.add(Split::Train, &format!("e{x}"), relation, &format!("e{}", (x * 3 + step) % n));
        }
    }
    let (graph, _) = builder.finish();
    // CP of rank n, so that scores can be written down: a head is a unit vector or noise, a tail
    // a row of the matrix of the relation. Relation r takes its own half of the factors.
    let cp = predictor("cp", 2 * n).unwrap();
    let reciprocals = Reciprocals::of(&graph);
    let mut rng = Rng::new(2);
    let mut entities = vec![0.0f32; n * 4 * n];
    let place = |name: usize| graph.entity(&format!("e{name}")).unwrap().index();
    for x in 0..n {
        let row = &mut entities[place(x) * 4 * n..][..4 * n];
        row[x] = 1.0;
        for value in &mut row[n..2 * n] {
            *value = rng.normal() as f32;
        }
        for value in &mut row[3 * n..] {
            *value = 1.5 * rng.normal() as f32;
        }
    }
    for x in 0..n {
        entities[place((x * 3 + 1) % n) * 4 * n + 2 * n + x] = 3.0;
    }
    let sure = graph.relation("sure").unwrap();
    let mut relations = vec![0.0f32; reciprocals.len() * 2 * n];
    for relation in 0..reciprocals.len() {
        let reads_sure = relation == sure.index();
        let row = &mut relations[relation * 2 * n..][..2 * n];
        row[if reads_sure { 0..n } else { n..2 * n }].fill(1.0);
    }
    (graph, Model::new(cp, entities, relations).unwrap())
}

#[test]
fn calibrating_helps_and_discounts_a_relation_that_knows_nothing() {
    let (graph, model) = world();
    let settings = CalibrateSettings { queries: 400, epochs: 15, ..Default::default() };
    let done = calibrate(&model, &graph, settings, &Control::default()).unwrap();
    assert!(done.losses[done.epoch] < 0.8 * done.losses[0], "{:?}", done.losses);
    let slope = |name: &str| done.affine.of(graph.relation(name).unwrap()).0;
    assert!(slope("sure") > 5.0 * slope("vain"), "{} {}", slope("sure"), slope("vain"));
    assert!(model.with_affine(done.affine).is_some());
}

#[test]
fn a_calibration_ends_by_itself_when_the_loss_stops_falling_and_listeners_hear_each_epoch() {
    let (graph, model) = world();
    let settings = CalibrateSettings { queries: 400, epochs: 500, ..Default::default() };
    let heard = Arc::new(Mutex::new(Vec::new()));
    let hears = Arc::clone(&heard);
    let control = Control::default().on(move |it: &CalibrationEpoch| hears.lock().unwrap().push(it.loss));
    let done = calibrate(&model, &graph, settings, &control).unwrap();
    assert_eq!((done.end, &done.losses), (CalibrationEnd::Settled, &*heard.lock().unwrap()));
    assert!(done.losses.len() < 500, "{}", done.losses.len());
    let (before, last) = done.losses.split_at(done.losses.len() - PATIENCE);
    let least = before.iter().copied().fold(f64::INFINITY, f64::min);
    assert!(last.iter().all(|loss| *loss >= FALL * least), "{:?}", done.losses);
    let few = CalibrateSettings { epochs: 2, ..settings };
    let few = calibrate(&model, &graph, few, &Control::default()).unwrap();
    assert_eq!((few.end, &few.losses[..]), (CalibrationEnd::StillFalling, &done.losses[..3]));
}

#[test]
fn a_calibration_can_be_stopped_and_senseless_settings_are_refused() {
    let (graph, model) = world();
    let control = Control::default();
    control.cancel_token().cancel();
    let settings = CalibrateSettings { queries: 100, ..Default::default() };
    let done = calibrate(&model, &graph, settings, &control).unwrap();
    assert_eq!((done.end, done.epoch, done.losses.len()), (CalibrationEnd::Interrupted, 0, 1));
    for wrong in [
        CalibrateSettings { queries: 1, ..settings },
        CalibrateSettings { epochs: 0, ..settings },
        CalibrateSettings { learning_rate: f32::NAN, ..settings },
        CalibrateSettings { binary: -1.0, ..settings },
    ] {
        let refused = calibrate(&model, &graph, wrong, &Control::default());
        assert!(matches!(refused, Err(TrainError::Setting { .. })), "{wrong:?}");
    }
}

#[test]
fn a_seed_gives_the_same_bytes_on_any_number_of_threads() {
    let (graph, model) = world();
    let run = |threads: usize, seed: u64| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let settings = CalibrateSettings { queries: 100, epochs: 2, seed, ..Default::default() };
        pool.install(|| calibrate(&model, &graph, settings, &Control::default()).unwrap())
    };
    assert_eq!(run(1, 5), run(3, 5));
    assert_ne!(run(1, 5).affine, run(1, 6).affine);
}

#[test]
fn a_graph_without_two_edges_at_an_entity_gives_nothing_to_calibrate_by() {
    let mut builder = GraphBuilder::default();
    builder.add(Split::Train, "a", "r", "b");
    let (graph, _) = builder.finish();
    let model = Model::random(predictor("complex", 2).unwrap(), &graph, 0.1, 1);
    let refused = calibrate(&model, &graph, CalibrateSettings::default(), &Control::default());
    assert!(matches!(refused, Err(TrainError::NothingToCalibrate)));
}
