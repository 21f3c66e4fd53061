//! Work on models, end to end, through the engine alone.

use std::fs;
use std::path::Path;
use std::sync::{Arc, Mutex};

use super::*;
use crate::control::{Cancel, Control};
use crate::engine::{
    GridOptions, ImportOptions, MergeOptions, Start, TrainOptions, Trained, TrainingBegins, TrialBegins,
};
use crate::graph::{GraphBuilder, Split, Triple};
use crate::project::{EpochRecord, Outcome, Queries};
use crate::random::Rng;
use crate::store::Staging;
use crate::train::{BatchReport, CalibrateSettings, CalibrationEnd, GivenSettings, Grid};

fn engine(dir: &Path) -> Engine {
    let mut builder = GraphBuilder::default();
    for entity in 0..40 {
        builder.entity(&entity.to_string());
    }
    builder.relation("next");
    builder.relation("far");
    let mut rng = Rng::new(4);
    for head in 0..40u32 {
        for (relation, by) in [(0, 1), (1, 7)] {
            let split = if rng.below(6) == 0 { Split::Valid } else { Split::Train };
            builder.add_ids(split, Triple::new(head, relation, (head + by) % 40));
        }
    }
    let (graph, _) = builder.finish();
    Project::create(Staging::begin(dir).unwrap(), &graph, &Queries::default(), Vec::new()).unwrap();
    Engine::open(dir).unwrap()
}

fn in_a_folder(test: impl FnOnce(&Path, Engine)) {
    let dir = tempfile::tempdir().unwrap();
    test(dir.path(), engine(&dir.path().join("project")));
}

fn given() -> GivenSettings {
    GivenSettings {
        rank: Some(6),
        epochs: Some(6),
        batch_size: Some(20),
        eval_every: Some(2),
        init_scale: Some(0.1),
        ..GivenSettings::default()
    }
}

fn options(name: &str, start: Start) -> TrainOptions {
    TrainOptions { model: Some(name.to_owned()), settings: given(), start, ..TrainOptions::default() }
}

fn train(engine: &Engine, name: &str) -> Trained {
    engine.train(&options(name, Start::New), &Control::default()).unwrap()
}

/// Stops after so many batches.
fn stopping_after(batches: usize) -> Control {
    let (cancel, done) = (Cancel::default(), Mutex::new(0));
    let enough = cancel.clone();
    Control::default().with_cancel(cancel).on(move |_: &BatchReport| {
        *done.lock().unwrap() += 1;
        if *done.lock().unwrap() == batches {
            enough.cancel();
        }
    })
}

fn refused<T: std::fmt::Debug>(outcome: Result<T, Error>) -> WorkflowError {
    let error = outcome.unwrap_err();
    assert_eq!(error.fault(), Fault::Caller, "{error}");
    match error {
        Error::Workflow(error) => error,
        other => panic!("{other}"),
    }
}

fn bytes(engine: &Engine, name: &str) -> Vec<u8> {
    fs::read(engine.folder(Some(name)).unwrap().model_file()).unwrap()
}

#[test]
fn settings_that_are_not_given_are_chosen_by_the_graph_and_listeners_hear_everything() {
    in_a_folder(|_, engine| {
        let heard = Arc::new(Mutex::new(Vec::new()));
        let (begins, epochs) = (Arc::clone(&heard), Arc::clone(&heard));
        let control = Control::default()
            .on(move |it: &TrainingBegins| {
                assert!(it.recommended.is_some() && it.resumed.is_none());
                begins.lock().unwrap().push(format!("begins {}, {} epochs", it.name, it.last_epoch));
            })
            .on(move |it: &EpochRecord| epochs.lock().unwrap().push(format!("epoch {}", it.epoch)));
        let settings = GivenSettings { epochs: Some(2), ..GivenSettings::default() };
        let trained = engine.train(&TrainOptions { settings, ..TrainOptions::default() }, &control).unwrap();
        assert_eq!(*heard.lock().unwrap(), ["begins default, 2 epochs", "epoch 1", "epoch 2"]);
        assert_eq!((trained.outcome, trained.epochs, trained.settings.rank), (Outcome::Finished, 2, 32));
        assert!(trained.file.exists() && trained.best.is_some());
        assert_eq!(serde_json::to_value(&trained).unwrap()["outcome"], "finished");
    });
}

#[test]
fn a_stopped_run_is_resumed_to_the_same_bytes_and_never_discarded_by_mistake() {
    in_a_folder(|_, engine| {
        train(&engine, "whole");
        let stopped = engine.train(&options("m", Start::New), &stopping_after(9)).unwrap();
        assert_eq!((stopped.outcome, stopped.epochs < 6), (Outcome::Interrupted, true));
        assert!(engine.model(Some("m")).unwrap().unfinished.as_ref() == Some(&stopped.position));
        let again = engine.train(&options("m", Start::New), &Control::default());
        assert!(
            matches!(refused(again), WorkflowError::Unfinished { position, .. } if position == stopped.position)
        );
        let resumed = engine.train(&options("m", Start::Resume), &Control::default()).unwrap();
        assert_eq!((resumed.outcome, resumed.epochs), (Outcome::Finished, 6));
        assert!(bytes(&engine, "m") == bytes(&engine, "whole"));
        assert!(engine.model(Some("m")).unwrap().unfinished.is_none(), "the model is read again");
    });
}

#[test]
fn a_model_is_replaced_only_on_purpose() {
    in_a_folder(|_, engine| {
        train(&engine, "m");
        let before = bytes(&engine, "m");
        let rank = |engine: &Engine| engine.model(Some("m")).unwrap().card.rank;
        let mut other = options("m", Start::New);
        other.settings.rank = Some(4);
        assert!(matches!(refused(engine.train(&other, &Control::default())), WorkflowError::Trained { .. }));
        assert!(before == bytes(&engine, "m") && rank(&engine) == 6);
        other.start = Start::Restart;
        engine.train(&other, &Control::default()).unwrap();
        assert_eq!(rank(&engine), 4, "the model is read again");
    });
}

#[test]
fn a_run_is_resumed_with_its_own_settings_or_with_more_epochs() {
    in_a_folder(|_, engine| {
        let resume = |settings| {
            let options = TrainOptions {
                model: Some("m".to_owned()),
                settings,
                start: Start::Resume,
                ..TrainOptions::default()
            };
            engine.train(&options, &Control::default())
        };
        assert!(matches!(refused(resume(given())), WorkflowError::NothingToResume { .. }));
        assert!(!engine.folder(Some("m")).unwrap().dir().exists(), "nothing is left behind");
        train(&engine, "m");
        let other = GivenSettings { rank: Some(7), ..given() };
        let message = refused(resume(other)).to_string();
        assert!(message.contains("begun with: predictor complex, rank 6, "), "{message}");
        assert!(message.contains("asked for:  predictor complex, rank 7, "), "{message}");
        let fewer = GivenSettings { epochs: Some(3), ..GivenSettings::default() };
        assert!(matches!(refused(resume(fewer)), WorkflowError::FewerEpochs { done: 6, wanted: 3 }));
        let more = GivenSettings { epochs: Some(20), ..GivenSettings::default() };
        let trained = resume(more).unwrap();
        assert_eq!((trained.epochs, trained.settings.cool_down), (20, 2), "a tenth stays a tenth");
    });
}

#[test]
fn training_if_missing_begins_goes_on_or_does_nothing() {
    in_a_folder(|_, engine| {
        let missing = |control: &Control| engine.train_if_missing(Some("m"), &given(), control).unwrap();
        assert_eq!(missing(&stopping_after(3)).unwrap().outcome, Outcome::Interrupted);
        assert_eq!(missing(&Control::default()).unwrap().outcome, Outcome::Finished);
        assert_eq!(missing(&Control::default()), None);
        train(&engine, "whole");
        assert!(bytes(&engine, "m") == bytes(&engine, "whole"));
    });
}

#[test]
fn a_divergence_says_what_is_left() {
    in_a_folder(|_, engine| {
        let mut wild = options("m", Start::New);
        (wild.settings.learning_rate, wild.settings.batch_size) = (Some(1e38), Some(100_000));
        let error = engine.train(&wild, &Control::default()).unwrap_err();
        assert_eq!(error.fault(), Fault::Data);
        assert!(error.to_string().ends_with("\nnothing of this run was saved"), "{error}");
        let Error::Workflow(WorkflowError::Diverged(left)) = error else { panic!("{error}") };
        assert_eq!((left.model, left.settings.rank), (None, 6));
    });
}

#[test]
fn a_grid_installs_the_best_and_goes_on_where_it_was_stopped() {
    in_a_folder(|_, engine| {
        let grid = Grid { ranks: vec![2, 6], learning_rates: vec![0.1, 0.3], ..Grid::default() };
        let mut options = GridOptions { model: None, grid, settings: given(), replace: false };
        let stopped = engine.grid(&options, &stopping_after(50)).unwrap();
        assert!(stopped.interrupted && stopped.file.is_none() && !stopped.trials.is_empty());
        assert!(engine.model(None).is_err());
        let names = Arc::new(Mutex::new(Vec::new()));
        let heard = Arc::clone(&names);
        let control = Control::default().on(move |it: &TrialBegins| heard.lock().unwrap().push(it.number));
        let done = engine.grid(&options, &control).unwrap();
        assert_eq!((names.lock().unwrap().as_slice(), done.trials.len()), (&[1, 2, 3, 4][..], 4));
        let mrr: Vec<f64> = done.trials.iter().map(|trial| trial.valid.unwrap().mrr).collect();
        assert!(mrr.is_sorted_by(|a, b| a >= b), "{mrr:?}");
        assert_eq!(engine.model(None).unwrap().card.valid, done.trials[0].valid);
        assert_eq!(engine.grid(&options, &Control::default()).unwrap(), done, "nothing is trained twice");
        train(&engine, "mine");
        options.model = Some("mine".to_owned());
        let occupied = refused(engine.grid(&options, &Control::default()));
        assert!(matches!(occupied, WorkflowError::Occupied { unfinished: None, .. }), "{occupied}");
    });
}

#[test]
fn a_calibration_is_kept_with_the_model_unless_it_is_stopped() {
    in_a_folder(|_, engine| {
        train(&engine, "m");
        let before = bytes(&engine, "m");
        let settings = CalibrateSettings { queries: 200, ..CalibrateSettings::default() };
        let calibrate = |control: &Control| engine.calibrate(Some("m"), settings, control).unwrap();
        assert!(engine.model(Some("m")).unwrap().model.affine().is_none());
        let cancelled = Control::default();
        cancelled.cancel_token().cancel();
        assert_eq!(calibrate(&cancelled).end, CalibrationEnd::Interrupted);
        assert!(before == bytes(&engine, "m"));
        let done = calibrate(&Control::default());
        assert!(done.saved && !done.had_lines && done.losses[done.epoch] < done.losses[0], "{done:?}");
        assert!(engine.model(Some("m")).unwrap().model.affine().is_some(), "the model is read again");
        let missing = engine.calibrate(Some("nobody"), settings, &Control::default()).unwrap_err();
        assert_eq!(missing.fault(), Fault::Caller);
        assert!(!engine.folder(Some("nobody")).unwrap().dir().exists());
    });
}

#[test]
fn models_are_merged_listed_chosen_and_deleted() {
    in_a_folder(|_, engine| {
        for (name, seed) in [("a", 1), ("b", 2)] {
            let mut options = options(name, Start::New);
            options.settings.seed = Some(seed);
            engine.train(&options, &Control::default()).unwrap();
        }
        let of = |models: &[&str], weights: &[f32], name: &str| MergeOptions {
            models: models.iter().map(ToString::to_string).collect(),
            weights: weights.to_vec(),
            model: Some(name.to_owned()),
            replace: false,
        };
        let wrong = |options: MergeOptions| refused(engine.merge(&options));
        assert!(matches!(wrong(of(&["a", "a"], &[], "c")), WorkflowError::Twice(_)));
        assert!(matches!(wrong(of(&["a", "b"], &[], "b")), WorkflowError::IntoItself(_)));
        assert!(matches!(wrong(of(&["a", "b"], &[1.0], "c")), WorkflowError::Weights { .. }));
        assert!(matches!(wrong(of(&["a", "b"], &[1.0, f32::NAN], "c")), WorkflowError::Weight { .. }));
        assert!(matches!(wrong(of(&["a"], &[], "c")), WorkflowError::Merge(_)));
        let merged = engine.merge(&of(&["a", "b"], &[], "c")).unwrap();
        assert_eq!((merged.card.rank, merged.parts[0].weight), (12, 0.5));
        assert!(matches!(wrong(of(&["a", "b"], &[], "c")), WorkflowError::Occupied { .. }));

        engine.choose_default("c").unwrap();
        let models = engine.models();
        let names: Vec<&str> = models.models.iter().map(|model| model.name.as_str()).collect();
        assert_eq!((models.default.as_str(), names.as_slice()), ("c", &["a", "b", "c"][..]));
        let json = serde_json::to_value(&models).unwrap();
        assert_eq!((&json["models"][2]["rank"], &json["models"][2]["error"]), (&12.into(), &().into()));
        assert_eq!(engine.model(None).unwrap().card.rank, 12);
        engine.delete("c").unwrap();
        assert_eq!((engine.models().models.len(), engine.default_model().as_str()), (2, "default"));
        assert!(engine.model(Some("c")).is_err(), "a deleted model is not kept open");
    });
}

#[test]
fn an_exported_model_is_imported_as_it_was() {
    in_a_folder(|dir, engine| {
        train(&engine, "m");
        let settings = CalibrateSettings { queries: 200, epochs: 3, ..CalibrateSettings::default() };
        engine.calibrate(Some("m"), settings, &Control::default()).unwrap();
        let export = |to: &str, control: &Control| engine.export(Some("m"), &dir.join(to), control);
        let import = |from: &str, name: &str, replace: bool| {
            let (files, model) = (vec![dir.join(from)], Some(name.to_owned()));
            engine.import(&ImportOptions { files, model, replace, ..ImportOptions::default() })
        };
        assert!(export("m.safetensors", &Control::default()).unwrap().arrays.is_none());
        let arrays = export("arrays", &Control::default()).unwrap().arrays.unwrap();
        assert_eq!(arrays, [[40, 12], [4, 12]]);
        let original = engine.model(Some("m")).unwrap();
        for (index, from) in ["m.safetensors", "arrays"].into_iter().enumerate() {
            let name = format!("back{index}");
            let imported = import(from, &name, false).unwrap();
            assert_eq!((imported.entities, imported.relations, imported.guessed), (40, 4, None));
            let back = engine.model(Some(&name)).unwrap();
            assert_eq!(back.model.entities(), original.model.entities());
            assert_eq!(back.model.affine(), original.model.affine());
            assert_eq!(back.card.training, original.card.training);
        }
        assert!(matches!(refused(import("arrays", "m", false)), WorkflowError::Occupied { .. }));
        import("arrays", "m", true).unwrap();
        assert!(matches!(refused(export("arrays", &Control::default())), WorkflowError::TargetExists(_)));
        assert!(matches!(refused(export("m.onnx", &Control::default())), WorkflowError::Ending(_)));
        let cancelled = Control::default();
        cancelled.cancel_token().cancel();
        assert!(matches!(refused(export("later", &cancelled)), WorkflowError::Stopped));
        let left: Vec<_> = fs::read_dir(dir).unwrap().map(|it| it.unwrap().file_name()).collect();
        assert_eq!(left.len(), 3, "{left:?}");
    });
}
