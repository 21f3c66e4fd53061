//! What a step computes, shown against plain double-precision loops over single triples.

use super::*;
use crate::graph::{EntityId, GraphBuilder, Id, RelationId, Triple};
use crate::model::predictor_names;
use crate::train::{Optimizer, Regularizer};

const ENTITIES: usize = 9;

fn small_graph() -> Graph {
    let mut builder = GraphBuilder::default();
    for entity in 0..ENTITIES {
        builder.entity(&format!("e{entity}"));
    }
    for relation in ["likes", "owns"] {
        builder.relation(relation);
    }
    let mut rng = Rng::new(11);
    for _ in 0..14 {
        let triple = Triple::new(rng.below(4) as u32, rng.below(2) as u32, rng.below(ENTITIES) as u32);
        builder.add_ids(Split::Train, triple);
    }
    builder.finish().0
}

/// SGD with rate 1, so that a step subtracts exactly the gradient.
fn settings(model: &str) -> Settings {
    Settings {
        predictor: model.to_owned(),
        rank: 3,
        batch_size: 1000,
        regularizer: Regularizer::None,
        regularizer_weight: 0.0,
        optimizer: Optimizer::Sgd,
        learning_rate: 1.0,
        init_scale: 0.7,
        seed: 5,
        ..Settings::default()
    }
}

/// The mean loss of all training triples, one at a time: no groups, no kernels, no tricks.
fn plain_loss(graph: &Graph, settings: &Settings, entities: &[f32], relations: &[f32]) -> f64 {
    let predictor = settings.predictor().unwrap();
    let model = Model::new(predictor.clone(), entities.to_vec(), relations.to_vec()).unwrap();
    let triples = Reciprocals::of(graph).directed(graph, Split::Train);
    let score = |h: EntityId, r: RelationId, t: EntityId| {
        let query = model.query(h, r);
        let tail = &model.entity(t)[predictor.tail()];
        let product: f64 = query.iter().zip(tail).map(|(q, e)| f64::from(*q) * f64::from(*e)).sum();
        product + f64::from(predictor.bias(tail))
    };
    let log_sum = |scores: &mut dyn Iterator<Item = f64>| scores.map(f64::exp).sum::<f64>().ln();
    let mut sum = 0.0;
    for &Triple { head, relation, tail } in &triples {
        let own = score(head, relation, tail);
        let mut tails = (0..model.entity_count()).map(|t| score(head, relation, EntityId::from_index(t)));
        sum += log_sum(&mut tails) - own;
        if settings.relation_loss > 0.0 {
            let mut relations =
                (0..model.relation_count()).map(|r| score(head, RelationId::from_index(r), tail));
            sum += f64::from(settings.relation_loss) * (log_sum(&mut relations) - own);
        }
        let penalty = |layout, row: &[f32]| settings.regularizer.value(layout, row);
        let (layout, relation_layout) = (predictor.entity_layout(), predictor.relation_layout());
        let penalties = penalty(layout, &model.entity(head)[predictor.head()])
            + penalty(layout, &model.entity(tail)[predictor.tail()])
            + penalty(relation_layout, model.relation(relation));
        sum += f64::from(settings.regularizer_weight) * penalties;
    }
    sum / triples.len() as f64
}

/// Takes one step and compares what it subtracted with finite differences of [`plain_loss`].
fn assert_gradient_is_right(settings: &Settings) {
    let graph = small_graph();
    let name = format!(
        "{} {} relation loss {}",
        settings.predictor,
        settings.regularizer.name(),
        settings.relation_loss
    );
    let mut trainer = Trainer::new(&graph, settings.clone()).unwrap();
    let before = trainer.model();
    let (mut entities, mut relations) = (before.entities().to_vec(), before.relations().to_vec());
    trainer.run_epoch(&Control::default()).unwrap();
    let after = trainer.model();
    for i in 0..entities.len() {
        let numeric = difference(&mut entities, i, |x| plain_loss(&graph, settings, x, &relations));
        let step = f64::from(before.entities()[i] - after.entities()[i]);
        assert!(
            (numeric - step).abs() < 2e-4 + 2e-3 * numeric.abs(),
            "{name}: entity value {i}: {numeric} {step}"
        );
    }
    for i in 0..relations.len() {
        let numeric = difference(&mut relations, i, |x| plain_loss(&graph, settings, &entities, x));
        let step = f64::from(before.relations()[i] - after.relations()[i]);
        assert!(
            (numeric - step).abs() < 2e-4 + 2e-3 * numeric.abs(),
            "{name}: relation value {i}: {numeric} {step}"
        );
    }
}

fn difference(x: &mut [f32], i: usize, value: impl Fn(&[f32]) -> f64) -> f64 {
    const STEP: f32 = 1e-3;
    let kept = x[i];
    x[i] = kept + STEP;
    let (above, high) = (value(x), f64::from(x[i]));
    x[i] = kept - STEP;
    let (below, low) = (value(x), f64::from(x[i]));
    x[i] = kept;
    (above - below) / (high - low)
}

#[test]
fn the_gradient_of_every_predictor_is_that_of_the_loss_triple_by_triple() {
    for model in predictor_names() {
        assert_gradient_is_right(&settings(model));
    }
}

#[test]
fn the_gradient_of_every_regulariser_is_that_of_the_loss_triple_by_triple() {
    for model in predictor_names() {
        for regularizer in [Regularizer::N3, Regularizer::F2] {
            assert_gradient_is_right(&Settings { regularizer, regularizer_weight: 0.3, ..settings(model) });
        }
    }
}

#[test]
fn the_gradient_of_the_relation_loss_is_that_of_the_loss_triple_by_triple() {
    for model in ["complex", "distmult", "cp"] {
        let regularizer = Regularizer::N3;
        assert_gradient_is_right(&Settings {
            relation_loss: 0.8,
            regularizer,
            regularizer_weight: 0.1,
            ..settings(model)
        });
    }
}

#[test]
fn grouped_and_single_triples_have_one_loss_and_one_gradient() {
    for model in predictor_names() {
        let graph = small_graph();
        let settings = Settings { regularizer: Regularizer::N3, regularizer_weight: 0.2, ..settings(model) };
        let start = Model::random(settings.predictor().unwrap(), &graph, 0.7, 2);
        let triples = Reciprocals::of(&graph).directed(&graph, Split::Train);
        let run = |longest: usize| {
            let groups = Groups::from_triples(triples.clone(), longest);
            let (entities, relations) = (start.entities().to_vec(), start.relations().to_vec());
            let mut stepper = Stepper::new(settings.predictor().unwrap(), entities, relations, &settings);
            let batch: Vec<_> = groups.iter().collect();
            let loss = stepper.step(&groups, &batch, None, 1);
            (groups.len(), loss, stepper.entities.values, stepper.relations.values)
        };
        let (groups, grouped_loss, grouped_entities, grouped_relations) = run(usize::MAX);
        let (rows, loss, entities, relations) = run(1);
        assert!(groups < rows && rows == triples.len());
        assert!((grouped_loss - loss).abs() < 1e-4, "{model}");
        for (a, b) in grouped_entities.iter().chain(&grouped_relations).zip(entities.iter().chain(&relations))
        {
            assert!((a - b).abs() < 1e-5, "{model}: {a} {b}");
        }
    }
}

#[test]
fn the_reported_loss_is_the_cross_entropy_before_the_step() {
    let graph = small_graph();
    for model in predictor_names() {
        let mut trainer = Trainer::new(&graph, settings(model)).unwrap();
        let before = trainer.model();
        let expected = plain_loss(&graph, &settings(model), &before.entities(), before.relations());
        let Epoch::Finished(loss) = trainer.run_epoch(&Control::default()).unwrap() else {
            panic!("nobody stopped it");
        };
        assert!((loss - expected).abs() < 1e-5, "{model}: {loss} {expected}");
    }
}

#[test]
fn all_candidates_in_the_sample_make_the_full_softmax() {
    let graph = small_graph();
    for model in predictor_names() {
        // So many draws that no entity is missed.
        let sampled = Settings { candidates: Some(2000), ..settings(model) };
        let run = |settings: Settings| {
            let mut trainer = Trainer::new(&graph, settings).unwrap();
            let outcome = trainer.run_epoch(&Control::default()).unwrap();
            (outcome, trainer.model())
        };
        let ((_, full), (_, sampled)) = (run(settings(model)), run(sampled));
        for (a, b) in full.entities().iter().zip(sampled.entities().iter()) {
            assert!((a - b).abs() < 1e-5, "{model}");
        }
    }
}

#[test]
fn the_number_of_threads_does_not_change_a_byte() {
    let graph = large_graph();
    for (model, candidates) in [("complex", None), ("transe", None), ("cp", Some(50))] {
        let run = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let settings = Settings {
                rank: 16,
                batch_size: 200,
                relation_loss: if model == "transe" { 0.0 } else { 0.5 },
                candidates,
                predictor: model.to_owned(),
                ..Settings::default()
            };
            pool.install(|| {
                let mut trainer = Trainer::new(&graph, settings).unwrap();
                for _ in 0..2 {
                    trainer.run_epoch(&Control::default()).unwrap();
                }
                trainer.model()
            })
        };
        let one = run(1);
        for threads in [2, 3] {
            let many = run(threads);
            assert_eq!(one.entities(), many.entities(), "{model} on {threads} threads");
            assert_eq!(one.relations(), many.relations(), "{model} on {threads} threads");
        }
    }
}

#[test]
fn training_lowers_the_loss_of_every_predictor_with_every_optimiser() {
    let graph = large_graph();
    for model in predictor_names() {
        for (optimizer, learning_rate) in
            [(Optimizer::Adagrad, 0.1), (Optimizer::Adam, 0.01), (Optimizer::Sgd, 3.0)]
        {
            let settings = Settings {
                predictor: model.to_owned(),
                rank: 8,
                batch_size: 200,
                optimizer,
                learning_rate,
                init_scale: 0.3,
                regularizer_weight: 0.001,
                ..Settings::default()
            };
            let mut trainer = Trainer::new(&graph, settings).unwrap();
            let losses: Vec<f64> = (0..8)
                .map(|_| match trainer.run_epoch(&Control::default()).unwrap() {
                    Epoch::Finished(loss) => loss,
                    Epoch::Stopped => panic!("nobody stopped it"),
                })
                .collect();
            assert!(losses[7] < losses[0] - 0.01, "{model} {}: {losses:?}", optimizer.name());
        }
    }
}

#[test]
fn stopping_between_batches_changes_nothing() {
    let graph = large_graph();
    let settings = Settings { rank: 4, batch_size: 100, ..Settings::default() };
    let mut straight = Trainer::new(&graph, settings.clone()).unwrap();
    straight.run_epoch(&Control::default()).unwrap();
    let mut broken = Trainer::new(&graph, settings).unwrap();
    let mut pauses = 0;
    let stopped = Control::default();
    stopped.cancel_token().cancel();
    while let Epoch::Stopped = broken.run_epoch(&stopped).unwrap() {
        pauses += 1;
    }
    assert!(pauses > 3);
    assert_eq!(straight.model().entities(), broken.model().entities());
    assert_eq!(straight.progress(), broken.progress());
}

#[test]
fn a_loss_out_of_bounds_stops_the_run_with_advice() {
    let settings =
        Settings { learning_rate: 1e30, optimizer: Optimizer::Sgd, init_scale: 1.0, ..settings("complex") };
    let mut trainer = Trainer::new(&small_graph(), settings).unwrap();
    let error = (0..5).find_map(|_| trainer.run_epoch(&Control::default()).err()).unwrap();
    assert!(error.to_string().contains("lower the learning rate"), "{error}");
}

#[test]
fn the_learning_rate_falls_in_a_straight_line_to_the_end() {
    let graph = large_graph();
    let settings = Settings { epochs: 5, cool_down: 2, batch_size: 500, rank: 2, ..Settings::default() };
    let mut trainer = Trainer::new(&graph, settings).unwrap();
    let mut rates = Vec::new();
    for _ in 0..5 {
        rates.push(trainer.learning_rate());
        trainer.run_epoch(&Control::default()).unwrap();
    }
    assert_eq!(rates, [0.1, 0.1, 0.1, 0.1, 0.05]);
    // The last batch of all still steps.
    trainer.progress = Progress { epoch: 4, batch: trainer.batches.len() - 1, ..trainer.progress };
    assert!(trainer.learning_rate() > 0.0 && trainer.learning_rate() < 0.05);
}

#[test]
fn settings_outside_their_range_are_refused_by_name() {
    let bad = |change: fn(&mut Settings)| {
        let mut settings = Settings::default();
        change(&mut settings);
        settings.predictor().unwrap_err().to_string()
    };
    assert!(bad(|s| s.rank = 0).starts_with("the rank is 0"));
    assert!(bad(|s| s.batch_size = 0).starts_with("the batch size is 0"));
    assert!(bad(|s| s.epochs = 0).contains("epochs"));
    assert!(bad(|s| s.cool_down = 101).starts_with("the number of epochs to cool down is 101"));
    assert!(bad(|s| s.learning_rate = f32::NAN).starts_with("the learning rate is NaN"));
    assert!(bad(|s| s.regularizer_weight = -1.0).starts_with("the regulariser's weight is -1"));
    assert!(bad(|s| s.candidates = Some(0)).contains("candidates"));
    assert!(bad(|s| s.predictor = "hole".to_owned()).contains("complex, distmult, cp, rotate, transe"));
    assert!(bad(|s| (s.predictor, s.relation_loss) = ("transe".to_owned(), 1.0)).contains("transe"));
}

/// Enough entities for several tiles, enough structure to be learnt.
fn large_graph() -> Graph {
    let mut builder = GraphBuilder::default();
    let n = 1500;
    for entity in 0..n {
        builder.entity(&entity.to_string());
    }
    for relation in 0..3 {
        builder.relation(&relation.to_string());
    }
    let mut rng = Rng::new(1);
    for _ in 0..600 {
        let (head, relation) = (rng.below(60) as u32, rng.below(3) as u32);
        builder.add_ids(Split::Train, Triple::new(head, relation, (head * 17 + relation * 400) % n));
        builder.add_ids(Split::Train, Triple::new(head, relation, rng.below(60) as u32));
    }
    builder.finish().0
}

#[test]
fn as_many_candidates_as_entities_or_more_are_all_of_them() {
    let graph = small_graph();
    let train = |candidates| {
        let mut trainer = Trainer::new(&graph, Settings { candidates, ..settings("complex") }).unwrap();
        trainer.run_epoch(&Control::default()).unwrap();
        (trainer.memory(), trainer.product_flops(), trainer.model().entities().to_vec())
    };
    let all = train(None);
    for many in [ENTITIES, ENTITIES + 1, usize::MAX] {
        assert_eq!(train(Some(many)), all, "{many} candidates");
    }
    assert_ne!(train(Some(2)).2, all.2);
}

#[test]
fn a_state_whose_scores_would_overflow_is_refused() {
    let graph = small_graph();
    let mut trainer = Trainer::new(&graph, settings("complex")).unwrap();
    assert!(trainer.check().is_ok());
    for wild in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, 1e38, -1e20] {
        let kept = std::mem::replace(&mut trainer.stepper.entities.values[4], wild);
        assert!(matches!(trainer.check(), Err(TrainError::Diverged { .. })), "{wild}");
        trainer.stepper.entities.values[4] = kept;
        let kept = std::mem::replace(&mut trainer.stepper.relations.values[1], wild);
        assert!(matches!(trainer.check(), Err(TrainError::Diverged { .. })), "{wild}");
        trainer.stepper.relations.values[1] = kept;
    }
    assert!(trainer.check().is_ok());
}

#[test]
#[cfg(target_os = "linux")]
fn a_run_larger_than_memory_is_refused_before_it_is_allocated() {
    let mut builder = GraphBuilder::default();
    for entity in 0..300_000 {
        builder.entity(&entity.to_string());
    }
    builder.relation("r");
    builder.add_ids(Split::Train, Triple::new(0, 0, 1));
    let (graph, _) = builder.finish();
    // 300,000 rows of 131,072 numbers of 4 bytes, and Adam's two copies: 472 GB.
    let large = Settings { rank: 65_536, optimizer: Optimizer::Adam, ..Settings::default() };
    let Err(TrainError::Memory { needed, available }) = Trainer::new(&graph, large) else {
        panic!("this machine has half a terabyte of memory, or the refusal is missing");
    };
    assert!(needed > 471_000_000_000 && available < needed, "{needed} {available}");
}
