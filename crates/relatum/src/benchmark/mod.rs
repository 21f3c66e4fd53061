//! Queries with known answers, by which the engine is judged.
//!
//! A [`QuerySet`] holds the queries of one split whatever file they came from, one
//! [`QueryGroup`] for each shape; a [`Skeleton`] says what the numbers of its queries mean, and a
//! [`Template`] makes a query of them. An [`Evaluator`] answers them under a [`Setting`] and ranks
//! their hard answers; it also tunes settings on validation queries. [`Results`](crate::project::Results) keeps what is done,
//! [`Dataset`] what others published, and [`plots`] draws both.
//!
//! A [`Sampler`] finds new queries. What answers they have by stored edges alone [`symbolic`](crate::symbolic) knows,
//! and [`missing_links`] counts what has to be predicted to reach one.

mod error;
mod evaluate;
mod missing;
mod part;
pub mod plots;
mod published;
mod queries;
mod sample;
mod setting;
mod skeleton;
mod template;
mod tune;

pub use error::BenchmarkError;
pub use evaluate::{ByMissing, Evaluator, Outcome, QueriesDone};
pub use missing::{missing_links, missing_links_of};
pub use part::Part;
pub use published::{Dataset, PUBLISHED_TYPES, Published};
pub use queries::{Lists, QueryGroup, QuerySet};
pub use sample::{Pattern, PatternError, QueriesFound, Sampled, Sampler, Sampling, Walks};
pub use setting::{Reading, Search, Setting, SettingError};
pub(crate) use skeleton::Piece;
pub use skeleton::{Role, Skeleton, SkeletonError};
pub use template::{Template, TemplateError};
pub use tune::{Choice, Family, Trial, TrialsDone, Tuned};
