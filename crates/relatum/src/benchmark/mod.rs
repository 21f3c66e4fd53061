//! Queries with known answers, by which the engine is judged.
//!
//! A [`QuerySet`] holds the queries of one split whatever file they came from, one
//! [`QueryGroup`] for each shape; a [`Skeleton`] says what the numbers of its queries mean. An
//! [`Evaluator`] answers them under a [`Setting`] and ranks their hard answers; it also tunes
//! settings on validation queries. [`Results`] keeps what is done, [`Dataset`] what others
//! published, and [`plots`] draws both.

mod cells;
mod error;
mod evaluate;
pub mod plots;
mod published;
mod queries;
mod setting;
mod skeleton;
mod tune;

pub use cells::{Cell, CellKey, Results};
pub use error::BenchmarkError;
pub use evaluate::{Evaluator, Outcome, spread};
pub use published::{Dataset, PUBLISHED_TYPES, Published};
pub use queries::{Lists, QueryGroup, QuerySet};
pub use setting::{Search, Setting, SettingError};
pub(crate) use skeleton::Piece;
pub use skeleton::{Role, Skeleton, SkeletonError};
pub use tune::{Choice, Family, Trial, Tuned};
