//! How far a model can be believed: by relation, and by truth value.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Engine, Error, LinkEvalOptions, Options, WorkflowError};
use crate::answer::Ask;
use crate::benchmark::{Reliability, reliability};
use crate::control::Control;
use crate::graph::Split;
use crate::report::LinkEvaluation;
use crate::search::Known;

/// How well a model predicts validation edges, and whether its truth values are probabilities.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Quality {
    /// Its ranking metrics, in all and by relation, with rules beside it where the project has some.
    pub links: LinkEvaluation,
    /// How often its predictions are right, by truth value, under the settings that people ask with.
    pub reliability: Reliability,
}

impl Engine {
    /// Measures a model on at most `most` (head, relation) pairs of the validation edges, evenly spread: enough for
    /// a picture in a few seconds. Rules speak as they do when people ask. [`link_eval`](Self::link_eval) measures a whole split.
    pub fn quality(&self, model: Option<&str>, most: usize, control: &Control) -> Result<Quality, Error> {
        let open = self.model(model)?;
        let how = self.scoring_edges(&open, &Options::default(), control)?;
        let options = LinkEvalOptions {
            model: model.map(str::to_owned),
            split: Some(Split::Valid),
            pairs: Some(most),
            evidence: how.evidence,
            ..LinkEvalOptions::default()
        };
        let links = self.link_eval(&options, control)?;
        let predictions_alone = Ask { known: Known::Ignore, ..how.ask };
        let scorer = predictions_alone.scorer(&open.model, self.graph())?;
        let reliability = reliability(&scorer, self.graph(), Split::Valid, most, control);
        Ok(Quality { links, reliability: reliability.ok_or(WorkflowError::Stopped)? })
    }
}
