//! Why a search cannot run.

use crate::model::{Calibration, SourceError};

/// Why a search cannot run.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum SearchError {
    /// Exact search needs a tree of variables. Take a beam.
    #[error(
        "the question is not a tree (its variables form a cycle, or an atom joins a variable with itself), \
         so exact search cannot run it: take a beam"
    )]
    NotATree,
    /// A search by lists needs a tree of variables too. Take a beam, or exact search, which widens one.
    #[error(
        "the question is not a tree (its variables form a cycle, or an atom joins a variable with itself), \
         so sorted lists cannot answer it: take exact search, which widens a beam for it, or a beam"
    )]
    NoLists,
    /// A beam of width 0 keeps no assignment. Take a width of at least 1.
    #[error("a beam keeps at least 1 assignment: k was 0")]
    EmptyBeam,
    /// Raw scores are not truth values, and a bound on them proves nothing.
    #[error(
        "raw scores are not in [0, 1]: exact search cannot bound them, and `or` and `not` of them mean nothing. \
         Take a beam if the question has neither, else another calibration, such as softmax-count"
    )]
    RawScores,
    /// Vectors of continuous optimisation have single scores, not rows. Take another calibration.
    #[error(
        "`{calibration}` needs the scores of all entities at once, which continuous optimisation does not have: \
         take the calibration sigmoid, adaptive or raw, or exact search or a beam"
    )]
    NeedsARow {
        /// The calibration that is refused.
        calibration: Calibration,
    },
    /// The adaptive and the fitted calibration have to be learned first.
    #[error("the model has no {calibration} calibration yet: learn that, or take another calibration")]
    NotCalibrated {
        /// The calibration that the model lacks.
        calibration: Calibration,
    },
    /// The vectors went to infinity. Regularise more, step less, or take sigmoid.
    #[error(
        "continuous optimisation diverged at step {step}: take a larger regularisation, a smaller learning \
         rate, or the calibration sigmoid"
    )]
    Diverged {
        /// The step.
        step: usize,
    },
    /// Missing edges are found by bounds, which these scores do not have. Take another calibration.
    #[error(
        "`{calibration}` gives no bound on single edges, by which missing ones are found: take another calibration"
    )]
    NoBounds {
        /// The calibration that is refused.
        calibration: Calibration,
    },
    /// The model gives NaN as a score. Train it again.
    #[error("the model gives scores that are NaN or infinite: train or import it again")]
    NotANumber,
    /// The candidates of a row cannot be had.
    #[error(transparent)]
    Source(SourceError),
}

impl From<SourceError> for SearchError {
    fn from(error: SourceError) -> Self {
        match error {
            SourceError::NotANumber => Self::NotANumber,
            other => Self::Source(other),
        }
    }
}
