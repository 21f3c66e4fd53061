//! The baselines of the paper: GQE and Query2Box, which embed a whole query instead of searching.
//!
//! A query becomes a point (GQE) or a box (Query2Box) in the space of the entities, and what lies near it is an answer.
//! There are no values of variables, so nothing is explained, and a model must be trained on complex queries, not only
//! on edges. In reading order: a [`Program`] is a query as operators, a [`QueryEncoder`] runs it, a [`Baseline`] is one
//! with learnt vectors; a [`BaselineTrainer`] trains it on `questions` of the training graph, and [`rank`] measures it.

mod adam;
mod encoder;
mod error;
mod evaluate;
mod loss;
mod meet;
mod model;
mod program;
mod questions;
mod settings;
mod tape;
mod trainer;

pub use encoder::{Encoded, QueryEncoder};
pub use error::BaselineError;
pub use evaluate::{rank, validate};
pub use model::{Baseline, Kind};
pub use program::{Branch, Program};
pub use settings::{BaselineSettings, GivenBaseline, recommend_baseline};
pub use trainer::BaselineTrainer;
pub(crate) use trainer::as_tensors;
