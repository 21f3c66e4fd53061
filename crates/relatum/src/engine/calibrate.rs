//! The adaptive calibration of a model, learned and kept with it.

use serde::Serialize;

use super::{Engine, Error};
use crate::control::Control;
use crate::model::StoredModel;
use crate::project::{Forgotten, Results};
use crate::train::{CalibrateSettings, CalibrationEnd, TrainError, calibrate};

/// The result of a calibration.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Calibration {
    /// The name of the model.
    pub name: String,
    /// How it ended; after an interruption the model is unchanged.
    pub end: CalibrationEnd,
    /// The best epoch; 0 is the plain sigmoid, and then the model is unchanged.
    pub epoch: usize,
    /// The mean loss of a held-out question, before the first epoch and after each.
    pub losses: Vec<f64>,
    /// How many questions were drawn.
    pub queries: usize,
    /// How many relations have an affine map.
    pub relations: usize,
    /// Whether the model was saved with the new maps.
    pub saved: bool,
    /// Whether it had such maps before.
    pub had_lines: bool,
    /// Tuned choices and results that stay with the model, because they do not depend on its calibration.
    pub kept: Forgotten,
    /// Tuned choices and results that depended on an earlier calibration and were dropped.
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
        // This comes before the lock, which would make a folder for a model that does not exist.
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
