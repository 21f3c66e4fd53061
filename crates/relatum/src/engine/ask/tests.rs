//! Questions that are answered from a source of lists which is not the model itself.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::*;
use crate::engine::testing::films;
use crate::graph::{RelationId, Triple};
use crate::model::{CandidateSource, Card, Model, SortedRow, SourceError, predictor};
use crate::project::ModelFolder;
use crate::search::{Known, SearchError};

/// The table of a model, counting who asks; it fails if it was told to.
struct Elsewhere {
    model: Model,
    asked: AtomicUsize,
    fails: bool,
}

impl CandidateSource for Elsewhere {
    fn candidates_of_a_row(&self) -> usize {
        self.model.candidates_of_a_row()
    }

    fn best_candidates(
        &self,
        rows: &[(EntityId, RelationId)],
        count: usize,
        sharpness: Option<f32>,
    ) -> Result<Vec<SortedRow>, SourceError> {
        self.asked.fetch_add(rows.len(), Ordering::Relaxed);
        if self.fails {
            return Err(SourceError::Unreachable("nobody is there".to_owned()));
        }
        self.model.best_candidates(rows, count, sharpness)
    }

    fn edge_scores(&self, edges: &[Triple]) -> Result<Vec<f32>, SourceError> {
        self.model.edge_scores(edges)
    }
}

#[test]
fn answers_from_a_source_are_those_of_lists_and_its_failures_are_told() {
    let (_dir, engine) = films();
    let model = Model::random(predictor("complex", 4).unwrap(), engine.graph(), 0.5, 1);
    let card = Card::new(&engine.project().manifest().fingerprint, &model, "random");
    ModelFolder::of(engine.project(), ModelFolder::DEFAULT).unwrap().save(&model, &card).unwrap();
    let elsewhere = |fails| Arc::new(Elsewhere { model: model.clone(), asked: AtomicUsize::new(0), fails });
    let source = elsewhere(false);
    let options = Options { known: Some(Known::Ignore), explain: true, ..Options::default() };
    let by_lists = Options { method: Method::Lists, ..options.clone() };
    for text in [
        r#"?G : exists F. stars(F, "Martin Lawrence") and "has genre"(F, G)"#,
        r#"?F : stars(F, "Eva Mendes") and not "has genre"(F, Action)"#,
        r#"exists F. stars(F, "Eva Mendes") and "has genre"(F, Action)"#,
    ] {
        let before = source.asked.load(Ordering::Relaxed);
        let shared = SharedSource(Arc::clone(&source) as _);
        let reply = engine.ask_from(&shared, text, &options, &Control::default()).unwrap();
        assert_eq!(reply, engine.ask(text, &by_lists).unwrap(), "{text}");
        assert!(source.asked.load(Ordering::Relaxed) > before, "{text}");
    }
    let failing = SharedSource(elsewhere(true));
    let text = r#"?F : stars(F, "Eva Mendes")"#;
    let refused = engine.ask_from(&failing, text, &options, &Control::default()).unwrap_err();
    assert!(matches!(refused, Error::Search(SearchError::Source(SourceError::Unreachable(_)))), "{refused}");
    let cycle = r#"?F : exists G, H. "has genre"(F, G) and stars(F, H) and stars(G, H)"#;
    let shared = SharedSource(source);
    let refused = engine.ask_from(&shared, cycle, &options, &Control::default()).unwrap_err();
    assert!(matches!(refused, Error::Search(SearchError::NoLists)), "{refused}");
}
