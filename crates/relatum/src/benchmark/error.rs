//! Why a benchmark cannot run.

use std::path::PathBuf;

use super::TemplateError;
use crate::graph::Split;
use crate::report::grouped;
use crate::search::SearchError;
use crate::store::StoreError;

/// A benchmark that cannot go on.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BenchmarkError {
    /// The project has no queries of this split: sample some, or make it from a benchmark folder.
    #[error(
        "{} has no {split} queries: sample some, or make it from a Query2Box or BetaE folder, which has them",
        dir.display()
    )]
    NoQueries {
        /// The project.
        dir: PathBuf,
        /// The split.
        split: Split,
    },
    /// There are no queries of a type that was asked for: name one of those that there are.
    #[error("there are no {split} queries of type `{name}`: there are {}", there.join(", "))]
    NoSuchType {
        /// The split.
        split: Split,
        /// The type.
        name: String,
        /// The types that there are.
        there: Vec<String>,
    },
    /// The graph has no edges of this split: choose another.
    #[error("{} has no {split} edges to predict: choose another split", dir.display())]
    NoEdges {
        /// The project.
        dir: PathBuf,
        /// The split.
        split: Split,
    },
    /// Scores that overflowed: train again, or merge with smaller weights.
    #[error(
        "the scores of the model `{model}` are infinite or NaN in {} of the rows, so that ranks by them mean \
         nothing: its values are too large (merged with great weights, or imported from a training that diverged)",
        grouped(*rows)
    )]
    Overflow {
        /// The model.
        model: String,
        /// How many rows have such scores.
        rows: usize,
    },
    /// Results could not be written: free some space, or give permission.
    #[error("results could not be kept, so nothing was computed: {0}")]
    NotKept(StoreError),
    /// A query of the project makes no sense for its graph: make the project again.
    #[error("a benchmark query cannot be read: {0}")]
    Query(String),
    /// The structure of a query type is damaged: checking the project says where.
    #[error(transparent)]
    Template(#[from] TemplateError),
    /// A setting that a type of query cannot be answered with: choose another.
    #[error(transparent)]
    Search(#[from] SearchError),
    /// One of these errors, with the type of query that it is about.
    #[error("queries of type {shape}: {error}")]
    OfType {
        /// The type.
        shape: String,
        /// What is wrong.
        error: Box<BenchmarkError>,
    },
    /// A setting takes rules for evidence, and there are none: mine some.
    #[error("the setting takes rules for evidence, and the project has none: mine some")]
    NoRules,
    /// The work was cancelled; finished results are kept.
    #[error("stopped: finished results are kept, and the same work goes on from there")]
    Stopped,
}

impl BenchmarkError {
    /// The same with the type of query that it is about; a stop is about no type.
    pub(crate) fn of_type(self, shape: &str) -> Self {
        match self {
            Self::Stopped => Self::Stopped,
            error => Self::OfType { shape: shape.to_owned(), error: Box::new(error) },
        }
    }

    /// What is wrong, whatever type of query it is about.
    pub fn cause(&self) -> &Self {
        match self {
            Self::OfType { error, .. } => error.cause(),
            error => error,
        }
    }
}
