//! Why a search cannot run.

/// A search that cannot be.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum SearchError {
    /// Exact search needs a tree of variables. Take a beam.
    #[error(
        "the question is not a tree (its variables form a cycle, or an atom joins a variable with itself), \
         so exact search cannot run it: take --method beam"
    )]
    NotATree,
    /// A beam of nothing finds nothing.
    #[error("a beam keeps at least 1 assignment: k was 0")]
    EmptyBeam,
    /// Raw scores are no truth values, and a bound on them proves nothing.
    #[error(
        "raw scores are not in [0, 1], so they have no exact search, no disjunction and no negation: take \
         --method beam, or another calibration"
    )]
    RawScores,
    /// The model gives scores that are no numbers. Train it again.
    #[error("the model gives scores that are no numbers (NaN): train or import it again")]
    NotANumber,
}
