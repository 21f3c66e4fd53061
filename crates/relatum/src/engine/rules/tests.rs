//! Mining through the engine, stopped in each of its parts.

use super::*;
use crate::control::Cancel;
use crate::engine::testing::engine_of;
use crate::graph::{GraphBuilder, Split, Triple};
use crate::random::Rng;
use crate::train::rules::{MiningProgress, MiningStage};

/// A ring with short cuts, of which some edges are to be predicted.
fn ring() -> (tempfile::TempDir, Engine) {
    let mut builder = GraphBuilder::default();
    for entity in 0..80 {
        builder.entity(&entity.to_string());
    }
    for relation in ["next", "second", "third"] {
        builder.relation(relation);
    }
    let mut rng = Rng::new(4);
    for head in 0..80u32 {
        for step in 1..=3 {
            let split = if rng.below(6) == 0 { Split::Valid } else { Split::Train };
            builder.add_ids(split, Triple::new(head, step - 1, (head + step) % 80));
        }
    }
    engine_of(&builder.finish().0)
}

/// A control that is cancelled as soon as mining says that it is in this part.
fn stopped_in(stage: MiningStage) -> Control {
    let cancel = Cancel::default();
    let token = cancel.clone();
    Control::default().with_cancel(cancel).on(move |progress: &MiningProgress| {
        if progress.stage == stage {
            token.cancel();
        }
    })
}

fn options(name: &str, resume: bool) -> RuleOptions {
    RuleOptions { name: Some(name.to_owned()), paths: Some(3_000), resume, ..RuleOptions::default() }
}

#[test]
fn a_run_that_is_stopped_in_any_part_is_unfinished_and_resumed_to_the_same_bytes() {
    let (_dir, engine) = ring();
    let whole = engine.mine_rules(&options("whole", false), &Control::default()).unwrap();
    assert!(whole.finished && whole.valid.is_some_and(|(mrr, _)| mrr > 0.5), "{whole:?}");
    let bytes = |name: &str| std::fs::read(engine.rule_folder(Some(name)).unwrap().file()).unwrap();
    for stage in [MiningStage::Long, MiningStage::Clusters] {
        let name = format!("{stage:?}").to_lowercase();
        let stopped = engine.mine_rules(&options(&name, false), &stopped_in(stage)).unwrap();
        assert!(!stopped.finished && !engine.rules(Some(&name)).unwrap().card.finished, "{stopped:?}");
        assert_ne!(bytes(&name), bytes("whole"), "{stage:?}: it was not stopped early enough to tell");
        let resumed = engine.mine_rules(&options(&name, true), &Control::default()).unwrap();
        assert_eq!((resumed.finished, bytes(&name) == bytes("whole")), (true, true), "{stage:?}");
    }
}

#[test]
fn a_resumed_run_keeps_to_the_memory_that_it_was_begun_with() {
    let (_dir, engine) = ring();
    let memory = Some(64 << 20);
    let begun = RuleOptions { memory, ..options("small", false) };
    engine.mine_rules(&begun, &stopped_in(MiningStage::Clusters)).unwrap();
    let folder = engine.rule_folder(Some("small")).unwrap();
    let (as_begun, _) = engine.begun(&folder, &options("small", true)).unwrap();
    assert_eq!(Some(as_begun.memory), memory);
}

#[test]
fn an_import_that_is_stopped_leaves_nothing() {
    let (_dir, engine) = ring();
    let text = "80\t70\t0.8\tsecond(X,Y) <= next(X,A), next(A,Y)\n";
    let import = |control: &Control| {
        engine.import_rules(
            text.as_bytes(),
            std::path::Path::new("rules.txt"),
            Some("theirs"),
            false,
            control,
        )
    };
    assert!(matches!(
        import(&stopped_in(MiningStage::Clusters)).unwrap_err(),
        Error::Workflow(WorkflowError::Stopped)
    ));
    assert!(engine.rule_names().is_empty());
    assert!(import(&Control::default()).unwrap().finished);
}
