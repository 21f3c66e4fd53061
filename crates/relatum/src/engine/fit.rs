//! The fitted calibration of a model, kept with it, and how far truth values are probabilities before and after.

use serde::Serialize;

use super::{Engine, Error, WorkflowError};
use crate::benchmark::{BenchmarkError, Reliability, reliability, reliability_svg};
use crate::control::Control;
use crate::graph::{Graph, Split};
use crate::model::{Calibration, Model, StoredModel};
use crate::project::{Forgotten, ModelFolder, Results};
use crate::search::{Known, Scorer};
use crate::train::{Fit, FitSettings, TrainError, fit};

/// The result of fitting truth values to validation edges.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Fitting {
    /// The name of the model.
    pub name: String,
    /// How many (head, relation) pairs were looked at.
    pub pairs: usize,
    /// How many such pairs have a validation edge.
    pub pairs_of_split: usize,
    /// How many validation edges these pairs have, in both directions.
    pub edges: usize,
    /// How many relations, reciprocal ones included, have a curve of their own.
    pub relations: usize,
    /// The a, c and b of all others.
    pub common: [f32; 3],
    /// Whether the model had fitted curves before.
    pub had_curves: bool,
    /// What was measured: on validation edges, and on test edges where there are some.
    pub measured: Vec<BeforeAfter>,
    /// Tuned choices and results that stay with the model, because they do not depend on its fitted calibration.
    pub kept: Forgotten,
    /// Tuned choices and results that depended on an earlier fit and were dropped.
    pub dropped: Forgotten,
    /// Why the choices and results that are kept with the model could not be brought up to date.
    pub results_lost: Option<String>,
}

/// How often predictions are right, by truth value, with two calibrations.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct BeforeAfter {
    /// The split whose pairs were asked.
    pub split: Split,
    /// With softmax-count.
    pub before: Reliability,
    /// With the fitted calibration; none where the model has none.
    pub after: Option<Reliability>,
}

/// On how many (head, relation) pairs of a split reliability is measured, if nothing else is asked for.
pub const MEASURED_PAIRS: usize = 3000;
/// Fewer validation edges than this say too little for a model that is trained to be fitted by itself.
const ENOUGH: usize = 30;

impl Engine {
    /// Fits the truth values of a model to its validation edges, keeps the curves with the model, and measures on at
    /// most `measured` (head, relation) pairs of each split how far truth values are probabilities, before and after.
    pub fn fit(
        &self,
        name: Option<&str>,
        settings: FitSettings,
        measured: usize,
        control: &Control,
    ) -> Result<Fitting, Error> {
        let (project, folder) = (self.project(), self.folder(name)?);
        // This comes before the lock, which would make a folder for a model that does not exist.
        folder.load(project)?;
        let _lock = folder.lock()?;
        let StoredModel { model, card } = folder.load(project)?;
        let had_curves = model.fitted().is_some();
        let stopped = || Error::from(WorkflowError::Stopped);
        let found = fit(&model, project.graph(), settings, control)?.ok_or_else(stopped)?;
        let Fit { fitted, common, pairs, pairs_of_split, edges, relations } = found;
        let model = model.with_fitted(fitted).ok_or(TrainError::Uncalibrated)?;
        let mut by_split = Vec::new();
        for split in [Split::Valid, Split::Test] {
            if !project.graph().edges(split).is_empty() {
                by_split.push(
                    before_after(&model, project.graph(), split, measured, control).ok_or_else(stopped)?,
                );
            }
        }
        folder.save(&model, &card)?;
        self.forget(folder.name());
        let mut done = Fitting {
            name: folder.name().to_owned(),
            pairs,
            pairs_of_split,
            edges,
            relations,
            common,
            had_curves,
            measured: by_split,
            kept: Forgotten::default(),
            dropped: Forgotten::default(),
            results_lost: None,
        };
        match Results::recalibrate(folder.dir(), &model) {
            Ok(outcome) => (done.kept, done.dropped) = outcome.unwrap_or_default(),
            // The curves are saved, so results that cannot be read do not make it fail.
            Err(error) => done.results_lost = Some(error.to_string()),
        }
        Ok(done)
    }

    /// Measures how far truth values are probabilities on at most `most` (head, relation) pairs of a split, with
    /// softmax-count and, where the model has it, with the fitted calibration.
    pub fn reliability(
        &self,
        name: Option<&str>,
        split: Split,
        most: usize,
        control: &Control,
    ) -> Result<BeforeAfter, Error> {
        let open = self.model(name)?;
        if self.graph().edges(split).is_empty() {
            return Err(BenchmarkError::NoEdges { dir: self.project().dir().to_owned(), split }.into());
        }
        let measured = before_after(&open.model, self.graph(), split, most, control);
        Ok(measured.ok_or(WorkflowError::Stopped)?)
    }

    /// Fits the truth values of a model that was just made, where there are enough validation edges; returns how many
    /// these are. The folder must be locked. A model whose scores are no numbers stays as it is.
    pub(super) fn fit_new(&self, folder: &ModelFolder, control: &Control) -> Result<Option<usize>, Error> {
        let project = self.project();
        if project.graph().edges(Split::Valid).len() < ENOUGH {
            return Ok(None);
        }
        let StoredModel { model, card } = folder.load(project)?;
        let found = match fit(&model, project.graph(), FitSettings::default(), control) {
            Ok(Some(found)) => found,
            Ok(None) | Err(TrainError::Uncalibrated) => return Ok(None),
            Err(error) => return Err(error.into()),
        };
        let edges = project.graph().edges(Split::Valid).len();
        let model = model.with_fitted(found.fitted).ok_or(TrainError::Uncalibrated)?;
        folder.save(&model, &card)?;
        self.forget(folder.name());
        Ok(Some(edges))
    }
}

impl BeforeAfter {
    /// Both calibrations in one diagram, as SVG.
    pub fn svg(&self, model: &str) -> String {
        let title = format!(
            "Share of predictions that are right, by truth value: {} edges, model {model}",
            self.split
        );
        let before = (Calibration::SoftmaxCount.name(), &self.before);
        let after = self.after.as_ref().map(|after| (Calibration::Fitted.name(), after));
        reliability_svg(&title, &[before].into_iter().chain(after).collect::<Vec<_>>())
    }
}

fn before_after(
    model: &Model,
    graph: &Graph,
    split: Split,
    most: usize,
    control: &Control,
) -> Option<BeforeAfter> {
    // Edges that are trusted would be 1, and those of the split with them.
    let scorer = |calibration| Scorer::new(model, graph, calibration, Known::Ignore);
    let with = |calibration| reliability(&scorer(calibration), graph, split, most, control);
    let before = with(Calibration::SoftmaxCount)?;
    let after = if model.lacks(Calibration::Fitted) { None } else { Some(with(Calibration::Fitted)?) };
    Some(BeforeAfter { split, before, after })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::testing::engine_of;
    use crate::engine::{Fault, Options};
    use crate::model::Card;
    use crate::train::drawn;

    /// A project whose model is twice as sure of its predictions as it should be.
    fn too_sure() -> (tempfile::TempDir, Engine) {
        let (graph, model) = drawn(0.5, true);
        let (dir, engine) = engine_of(&graph);
        let card = Card::new(&engine.project().manifest().fingerprint, &model, "drawn");
        engine.folder(Some("m")).unwrap().save(&model, &card).unwrap();
        engine.choose_default("m").unwrap();
        (dir, engine)
    }

    #[test]
    fn fitting_makes_truth_values_more_reliable_on_edges_it_has_not_seen() {
        let (_dir, engine) = too_sure();
        let asked = Options { calibration: Some(Calibration::Fitted), ..Options::default() };
        let refused = engine.ask("?A : r0(e1, A)", &asked).unwrap_err();
        assert_eq!(refused.fault(), Fault::Caller);
        assert!(engine.reliability(None, Split::Test, 999, &Control::default()).unwrap().after.is_none());
        let done = engine.fit(None, FitSettings::default(), 999, &Control::default()).unwrap();
        assert!(!done.had_curves && done.measured.len() == 2, "{done:?}");
        for BeforeAfter { split, before, after } in &done.measured {
            let after = after.as_ref().unwrap();
            assert!(before.error > 0.1, "{split}: {before:?}");
            assert!(after.error < 0.4 * before.error, "{split}: {before:?} {after:?}");
        }
        assert!(engine.ask("?A : r0(e1, A)", &asked).is_ok(), "the model is read again");
        let again = engine.fit(None, FitSettings::default(), 999, &Control::default()).unwrap();
        assert_eq!(again, Fitting { had_curves: true, ..done.clone() });
        let measured = engine.reliability(None, Split::Test, 999, &Control::default()).unwrap();
        assert_eq!(measured, done.measured[1]);
    }

    #[test]
    fn a_fit_that_is_stopped_leaves_the_model_as_it_is() {
        let (_dir, engine) = too_sure();
        let control = Control::default();
        control.cancel_token().cancel();
        let stopped = engine.fit(None, FitSettings::default(), 9, &control).unwrap_err();
        assert!(matches!(stopped, Error::Workflow(WorkflowError::Stopped)), "{stopped}");
        assert!(engine.model(None).unwrap().model.fitted().is_none());
    }
}
