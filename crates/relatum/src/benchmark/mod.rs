//! Queries with known answers, by which the engine is judged.
//!
//! A [`QuerySet`] holds the queries of one split whatever file they came from, one
//! [`QueryGroup`] for each shape; a [`Skeleton`] says what the numbers of its queries mean, and a
//! [`Template`] makes a query of them. An [`Evaluator`] answers them under a [`Setting`] and ranks
//! their hard answers; it also tunes settings on validation queries. [`Results`](crate::project::Results) keeps
//! finished figures, [`Dataset`] has those that others published; a [`BenchmarkReport`] has both, as data, tables
//! and pictures.
//!
//! A [`Sampler`] finds new queries; [`symbolic`](crate::symbolic) finds their answers by stored edges alone, and
//! [`missing_links`] counts the links that have to be predicted to reach an answer.

mod csv;
mod error;
mod evaluate;
mod fair;
mod missing;
mod part;
mod pictures;
pub mod plots;
mod published;
mod queries;
mod race;
mod reliability;
mod report;
mod sample;
mod setting;
mod skeleton;
mod tables;
mod template;
mod tune;
mod way;

pub use error::BenchmarkError;
pub(crate) use evaluate::ranks;
pub use evaluate::{ByMissing, Evaluator, QueriesDone, Ranked};
pub(crate) use fair::parts;
pub use missing::{missing_links, missing_links_of};
pub use part::Part;
pub(crate) use pictures::accuracy_by;
pub use plots::reliability_svg;
pub use published::{Dataset, PUBLISHED_TYPES, Published};
pub use queries::{Lists, QueryGroup, QuerySet};
pub use race::{Lead, Pace};
pub use reliability::{Reliability, ReliabilityBin, reliability};
pub use report::{
    BenchmarkReport, Cell, MethodResult, MissingLinksResult, PublishedResult, TunedOn, TypeResult,
};
pub use sample::{Pattern, PatternError, QueriesFound, Sampled, Sampler, Sampling, Walks};
pub use setting::{Reading, Search, Setting, SettingError};
pub(crate) use skeleton::Piece;
pub use skeleton::{Role, Skeleton, SkeletonError};
pub use tables::ReportTable;
pub use template::{Template, TemplateError};
pub use tune::{Choice, Family, Trial, TrialsDone, Tuned};
pub use way::Way;
