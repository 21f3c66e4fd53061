//! Project folders that earlier versions wrote are opened, checked and asked by this one.
//!
//! One folder for each version of the format, in `fixtures/project-N`. A folder is never changed: a new version
//! adds its own. They hold a dozen facts about films, a model of rank 4 with its checkpoint and calibration, and
//! sampled queries.

use std::path::{Path, PathBuf};

use relatum::project::{Checkpoint, ModelFolder, Project};
use relatum::search::Known;
use relatum::{Engine, Options};

fn folders() -> Vec<PathBuf> {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures");
    let entries = std::fs::read_dir(fixtures).unwrap().map(|entry| entry.unwrap().path());
    let mut folders: Vec<PathBuf> = entries.filter(|path| path.is_dir()).collect();
    folders.sort();
    assert!(!folders.is_empty());
    folders
}

#[test]
fn every_file_is_as_it_was_written() {
    for folder in folders() {
        let project =
            Project::check(&folder, |file, error| assert!(error.is_none(), "{file}: {error:?}")).unwrap();
        assert_eq!((project.graph().entities.len(), project.graph().relations.len()), (11, 2));
        assert!(project.queries().valid.is_some() && project.queries().test.is_some());
        let model = ModelFolder::of(&project, "default").unwrap();
        model.check(&project).unwrap();
        assert!(model.check_card().unwrap());
        let checkpoint = Checkpoint::read(&project, &model).unwrap().unwrap();
        assert!(checkpoint.finished && checkpoint.epochs.len() == 3);
    }
}

#[test]
fn the_old_model_gives_its_old_answers() {
    for folder in folders() {
        let engine = Engine::open(&folder).unwrap();
        let options =
            Options { known: Some(Known::TRAIN), unseen: Some(1.0), top: Some(4), ..Options::default() };
        let question = r#"?G : exists F. stars(F, "Martin Lawrence") and has_genre(F, G)"#;
        let reply = engine.ask(question, &options).unwrap();
        let answers: Vec<(&str, f32)> =
            reply.answers.iter().map(|answer| (answer.entity.name.as_str(), answer.score)).collect();
        let expected = [("Comedy", 1.0), ("Action", 1.0), ("Drama", 0.1829), ("Romance", 0.1829)];
        for ((name, score), (other, old)) in answers.into_iter().zip(expected) {
            assert_eq!(name, other);
            assert!((score - old).abs() < 1e-3, "{name}: {score}, once {old}");
        }
        let labelled = engine.ask(r#"?A : stars("Bad Boys (1995)", A)"#, &options).unwrap();
        assert_eq!(labelled.answers[0].known, Some(true));
    }
}
