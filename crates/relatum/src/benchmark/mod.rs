//! Queries with known answers, by which the engine is judged.
//!
//! A [`QuerySet`] holds the queries of one split whatever file they came from, one
//! [`QueryGroup`] for each shape; a [`Skeleton`] says what the numbers of its queries mean, and a
//! [`Template`] makes a query of them. What a query's answers are by stored edges alone is found
//! by [`answers`], and how many links are missing on the way to them by [`missing_links`]; a [`Sampler`]
//! finds new queries.

mod missing;
mod queries;
mod sample;
mod skeleton;
mod symbolic;
mod template;

pub use missing::{missing_links, missing_links_of};
pub use queries::{Lists, QueryGroup, QuerySet};
pub use sample::{Pattern, PatternError, Sampled, Sampler, Sampling, Walks};
pub(crate) use skeleton::Piece;
pub use skeleton::{Role, Skeleton, SkeletonError};
pub use symbolic::{World, answers, cheapest};
pub use template::{Template, TemplateError};
