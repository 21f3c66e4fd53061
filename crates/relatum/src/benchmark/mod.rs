//! Queries with known answers, by which the engine is judged.
//!
//! A [`QuerySet`] holds the queries of one split whatever file they came from, one
//! [`QueryGroup`] for each shape; a [`Skeleton`] says what the numbers of its queries mean.

mod queries;
mod skeleton;

pub use queries::{Lists, QueryGroup, QuerySet};
pub(crate) use skeleton::Piece;
pub use skeleton::{Role, Skeleton, SkeletonError};
