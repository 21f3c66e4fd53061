//! Benchmark queries.

mod queries;

pub use queries::{Lists, QueryGroup, QuerySet};
