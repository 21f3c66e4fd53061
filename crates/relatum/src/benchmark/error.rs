//! Why a benchmark cannot run.

use super::TemplateError;
use crate::search::SearchError;

/// A benchmark that cannot go on.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BenchmarkError {
    /// A query of the folder makes no sense for this graph: read the folder again with `init`.
    #[error("a benchmark query cannot be read: {0}")]
    Query(String),
    /// The structure of a query type is damaged: see `relatum check`.
    #[error(transparent)]
    Template(#[from] TemplateError),
    /// A setting that a type of query cannot be answered with: choose another.
    #[error(transparent)]
    Search(#[from] SearchError),
    /// Somebody asked it to stop; what is finished is kept.
    #[error("stopped: what is finished is kept, the same command goes on from there")]
    Stopped,
}
