//! The adaptive calibration of a model, learned and kept with it.

use serde::Serialize;

use super::{Engine, Error};
use crate::control::Control;
use crate::model::StoredModel;
use crate::project::{Forgotten, Results};
use crate::train::{CalibrateSettings, CalibrationEnd, TrainError, calibrate};

/// What came of a calibration.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Calibration {
    /// The name of the model.
    pub name: String,
    /// How it ended; after an interruption the model is as it was.
    pub end: CalibrationEnd,
    /// The best epoch; 0 is the plain sigmoid, and then the model is as it was.
    pub epoch: usize,
    /// The mean loss of a held-out question, before the first epoch and after each.
    pub losses: Vec<f64>,
    /// How many questions were drawn.
    pub queries: usize,
    /// How many relations have a line.
    pub relations: usize,
    /// Whether the model was saved with the new lines.
    pub saved: bool,
    /// Whether it had lines before.
    pub had_lines: bool,
    /// Tuned choices and results that are kept with the model and do not rest on its calibration.
    pub kept: Forgotten,
    /// Those that rested on an earlier calibration, and were dropped.
    pub dropped: Forgotten,
    /// Why the choices and results that are kept with the model could not be brought up to date.
    pub results_lost: Option<String>,
}

impl Engine {
    /// Learns the adaptive calibration of a model, an affine map for each relation, and saves it with the model. Where no epoch
    /// is better than the plain sigmoid, or the work is stopped, the model stays as it was.
    ///
    /// Listeners hear a [`CalibrationEpoch`](crate::train::CalibrationEpoch) after each epoch.
    pub fn calibrate(
        &self,
        name: Option<&str>,
        settings: CalibrateSettings,
        control: &Control,
    ) -> Result<Calibration, Error> {
        let (project, folder) = (self.project(), self.folder(name)?);
        // Before the lock, which would make a folder for a model that is not there.
        folder.load(project)?;
        let _lock = folder.lock()?;
        let StoredModel { model, card } = folder.load(project)?;
        let learned = calibrate(&model, project.graph(), settings, control)?;
        let mut done = Calibration {
            name: folder.name().to_owned(),
            end: learned.end,
            epoch: learned.epoch,
            losses: learned.losses,
            queries: learned.queries,
            relations: learned.affine.len(),
            saved: false,
            had_lines: model.affine().is_some(),
            kept: Forgotten::default(),
            dropped: Forgotten::default(),
            results_lost: None,
        };
        if done.end == CalibrationEnd::Interrupted || done.epoch == 0 {
            return Ok(done);
        }
        let model = model.with_affine(learned.affine).ok_or(TrainError::Uncalibrated)?;
        folder.save(&model, &card)?;
        self.forget(folder.name());
        done.saved = true;
        match Results::recalibrate(folder.dir(), &model) {
            Ok(outcome) => (done.kept, done.dropped) = outcome.unwrap_or_default(),
            // The calibration is saved, so results that cannot be read do not make it fail.
            Err(error) => done.results_lost = Some(error.to_string()),
        }
        Ok(done)
    }
}
