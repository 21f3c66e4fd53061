//! Runs that are interrupted, killed and resumed.

use super::*;
use crate::control::Cancel;
use crate::graph::{Graph, GraphBuilder, Triple};
use crate::project::Queries;
use crate::random::Rng;
use crate::store::Staging;
use crate::train::{BatchReport, Optimizer};
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

fn graph() -> Graph {
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
    builder.finish().0
}

fn project(dir: &Path) -> Project {
    Project::create(Staging::begin(dir).unwrap(), &graph(), &Queries::default(), Vec::new()).unwrap();
    Project::open(dir).unwrap()
}

fn settings() -> Settings {
    Settings { rank: 6, epochs: 6, batch_size: 20, eval_every: 2, init_scale: 0.1, ..Settings::default() }
}

fn files(folder: &ModelFolder) -> Vec<Vec<u8>> {
    ["model.safetensors", "card.json"].map(|name| fs::read(folder.dir().join(name)).unwrap()).to_vec()
}

/// Cancels itself after so many events, of batches and of epochs.
fn stopping_after(events: usize) -> Control {
    let cancel = Cancel::default();
    let left = Arc::new(AtomicUsize::new(events));
    let count = move |cancel: &Cancel| {
        if left.fetch_sub(1, Ordering::Relaxed) == 1 {
            cancel.cancel();
        }
    };
    let (on_batch, on_epoch) = ((count.clone(), cancel.clone()), (count, cancel.clone()));
    Control::default()
        .with_cancel(cancel)
        .on(move |_: &BatchReport| on_batch.0(&on_batch.1))
        .on(move |_: &EpochRecord| on_epoch.0(&on_epoch.1))
}

#[test]
fn interrupted_anywhere_and_resumed_a_run_ends_with_the_same_bytes() {
    for optimizer in Optimizer::ALL {
        let dir = tempfile::tempdir().unwrap();
        let project = project(&dir.path().join("project"));
        let settings = Settings { optimizer, relation_loss: 0.5, cool_down: 3, ..settings() };
        let whole = ModelFolder::of(&project, "whole").unwrap();
        let mut run = Run::new(&project, whole.clone(), settings.clone()).unwrap();
        assert_eq!(run.train(&Control::default()).unwrap(), Outcome::Finished);

        let broken = ModelFolder::of(&project, "broken").unwrap();
        let mut run = Run::new(&project, broken.clone(), settings).unwrap();
        let mut parts = 0;
        loop {
            // Stops after three more events: sometimes within an epoch, sometimes at its end.
            let outcome = run.train(&stopping_after(3));
            if outcome.unwrap() == Outcome::Finished {
                break;
            }
            parts += 1;
            run = Run::resume(&project, broken.clone(), None).unwrap();
        }
        assert!(parts > 4, "{parts} interruptions");
        assert_eq!(files(&whole), files(&broken), "{}", optimizer.name());
        let last = |folder: &ModelFolder| {
            let (checkpoint, file) = Checkpoint::open(&project, folder).unwrap().unwrap();
            (checkpoint.progress, file.matrix::<f32>("entities").unwrap(), checkpoint.best)
        };
        assert_eq!(last(&whole), last(&broken), "the last model is the same as well");
    }
}

#[test]
fn the_best_model_is_kept_and_patience_ends_the_run() {
    let dir = tempfile::tempdir().unwrap();
    let project = project(&dir.path().join("project"));
    let folder = ModelFolder::of(&project, "m").unwrap();
    let settings = Settings { epochs: 500, eval_every: 1, patience: 2, ..settings() };
    let mut run = Run::new(&project, folder.clone(), settings).unwrap();
    assert_eq!(run.train(&Control::default()).unwrap(), Outcome::StoppedEarly);
    let checkpoint = run.checkpoint();
    let (best_epoch, best) = checkpoint.best.unwrap();
    assert_eq!(checkpoint.epochs.len(), best_epoch + 2);
    assert!(checkpoint.epochs.iter().all(|epoch| epoch.valid.unwrap().mrr <= best.mrr));
    let stored = folder.load(&project).unwrap();
    assert_eq!((stored.card.epoch, stored.card.valid), (best_epoch, Some(best)));
    let again = crate::train::evaluate(&stored.model, project.graph(), Split::Valid, Ties::Mean);
    assert_eq!(again.overall, best);
}

#[test]
fn a_run_out_of_patience_cools_down_before_it_ends_also_when_resumed() {
    let dir = tempfile::tempdir().unwrap();
    let project = project(&dir.path().join("project"));
    let settings = Settings { epochs: 500, eval_every: 1, patience: 2, cool_down: 4, ..settings() };
    let whole = ModelFolder::of(&project, "whole").unwrap();
    let mut run = Run::new(&project, whole.clone(), settings.clone()).unwrap();
    let said = Arc::new(Mutex::new(Vec::new()));
    let heard = Arc::clone(&said);
    let control = Control::default().on(move |&EndsAfter(last): &EndsAfter| heard.lock().unwrap().push(last));
    let outcome = run.train(&control);
    assert_eq!(outcome.unwrap(), Outcome::StoppedEarly);
    let mrr: Vec<f64> = run.checkpoint().epochs.iter().map(|epoch| epoch.valid.unwrap().mrr).collect();
    let [last] = said.lock().unwrap()[..] else { panic!("said once") };
    assert_eq!((mrr.len(), run.checkpoint().settings.epochs), (last, 500));
    // Two validations without a better MRR, then four more epochs, whatever their result.
    let before = &mrr[..last - 4];
    let best = before.iter().copied().fold(0.0, f64::max);
    assert_eq!(before.iter().position(|it| *it >= best).unwrap() + 3, before.len());

    // A run that was stopped just when the end was decided has the same last epochs.
    let broken = ModelFolder::of(&project, "broken").unwrap();
    let mut run = Run::new(&project, broken.clone(), settings).unwrap();
    let cancel = Cancel::default();
    let control = Control::default().with_cancel(cancel.clone()).on(move |record: &EpochRecord| {
        if record.epoch == last - 4 {
            cancel.cancel();
        }
    });
    let outcome = run.train(&control);
    assert_eq!(outcome.unwrap(), Outcome::Interrupted);
    let mut run = Run::resume(&project, broken.clone(), None).unwrap();
    assert_eq!(run.train(&Control::default()).unwrap(), Outcome::StoppedEarly);
    assert_eq!(files(&whole), files(&broken));
}

#[test]
fn a_model_of_another_graph_is_refused_with_both_sides_named() {
    let dir = tempfile::tempdir().unwrap();
    let ours = project(&dir.path().join("a"));
    let folder = ModelFolder::of(&ours, "m").unwrap();
    Run::new(&ours, folder.clone(), settings()).unwrap().train(&Control::default()).unwrap();
    let mut builder = GraphBuilder::default();
    builder.add(Split::Train, "a", "r", "b");
    let (other, _) = builder.finish();
    let path = dir.path().join("b");
    Project::create(Staging::begin(&path).unwrap(), &other, &Queries::default(), Vec::new()).unwrap();
    let other = Project::open(&path).unwrap();
    let error = folder.load(&other).unwrap_err().to_string();
    for side in [ours.manifest(), other.manifest()] {
        assert!(error.contains(&side.fingerprint), "{error}");
    }
    let error = Checkpoint::read(&other, &folder).unwrap_err().to_string();
    assert!(error.contains(&other.manifest().fingerprint), "{error}");
}

#[test]
fn the_curve_is_written_as_lines_and_as_a_picture() {
    let dir = tempfile::tempdir().unwrap();
    let project = project(&dir.path().join("project"));
    let folder = ModelFolder::of(&project, "m").unwrap();
    Run::new(&project, folder.clone(), settings()).unwrap().train(&Control::default()).unwrap();
    let lines = fs::read_to_string(folder.dir().join("training.jsonl")).unwrap();
    let epochs: Vec<EpochRecord> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(epochs.len(), 6);
    assert_eq!(epochs.iter().filter(|epoch| epoch.valid.is_some()).count(), 3);
    let svg = fs::read_to_string(folder.dir().join("training.svg")).unwrap();
    assert!(svg.starts_with("<svg") && svg.contains("validation MRR"), "{svg}");
}

#[test]
fn after_a_divergence_the_last_good_model_is_still_there() {
    let dir = tempfile::tempdir().unwrap();
    let project = project(&dir.path().join("project"));
    let folder = ModelFolder::of(&project, "m").unwrap();
    Run::new(&project, folder.clone(), settings()).unwrap().train(&Control::default()).unwrap();
    let before = files(&folder);
    let wild = Settings { optimizer: Optimizer::Sgd, learning_rate: 1e25, init_scale: 1.0, ..settings() };
    let error = Run::new(&project, folder.clone(), wild).unwrap().train(&Control::default()).unwrap_err();
    assert!(matches!(error, TrainError::Diverged { .. }), "{error}");
    assert_eq!(before, files(&folder));
}

#[test]
fn resuming_where_nothing_was_begun_says_so() {
    let dir = tempfile::tempdir().unwrap();
    let project = project(&dir.path().join("project"));
    let folder = ModelFolder::of(&project, "m").unwrap();
    let error = Run::resume(&project, folder, None).err().unwrap().to_string();
    assert!(error.contains("there is nothing to resume"), "{error}");
}

#[test]
fn a_model_whose_values_are_out_of_bounds_is_never_saved() {
    let dir = tempfile::tempdir().unwrap();
    let project = project(&dir.path().join("project"));
    let folder = ModelFolder::of(&project, "m").unwrap();
    // One batch, whose loss is computed before the step that ruins the parameters.
    let wild = Settings { learning_rate: 1e38, epochs: 1, batch_size: 100_000, ..settings() };
    let mut run = Run::new(&project, folder.clone(), wild).unwrap();
    let error = run.train(&Control::default()).unwrap_err();
    assert!(matches!(error, TrainError::Diverged { epoch: 1, batch: 1, .. }), "{error}");
    assert!(!folder.model_file().exists());
    assert_eq!(run.kept().map(|kept| kept.step), Some(0));
    assert!(Checkpoint::read(&project, &folder).unwrap().is_some_and(|kept| kept.epochs.is_empty()));
}

#[test]
fn a_new_run_replaces_nothing_before_it_has_something_to_save() {
    let dir = tempfile::tempdir().unwrap();
    let project = project(&dir.path().join("project"));
    let folder = ModelFolder::of(&project, "m").unwrap();
    let mut run = Run::new(&project, folder.clone(), settings()).unwrap();
    run.train(&Control::default()).unwrap();
    let dir = folder.dir().to_owned();
    let everything = move || {
        let entries = fs::read_dir(&dir).unwrap().map(|entry| entry.unwrap().path());
        entries.map(|path| (fs::read(&path).unwrap(), path)).collect::<std::collections::BTreeSet<_>>()
    };
    let before = everything();
    let mut run = Run::new(&project, folder.clone(), Settings { rank: 3, ..settings() }).unwrap();
    let after_a_batch = Arc::new(Mutex::new(None));
    let (slot, look) = (Arc::clone(&after_a_batch), everything.clone());
    let control = Control::default().on(move |_: &BatchReport| {
        slot.lock().unwrap().get_or_insert_with(&look);
    });
    run.train(&control).unwrap();
    assert!(after_a_batch.lock().unwrap().as_ref() == Some(&before), "nothing is replaced after one batch");
    assert!(before != everything());
    assert_eq!(Checkpoint::read(&project, &folder).unwrap().unwrap().settings.rank, 3);
}
