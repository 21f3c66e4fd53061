//! Relatum answers logical questions over incomplete knowledge graphs and explains every answer.
//!
//! ```no_run
//! use relatum::{Engine, Options};
//!
//! let engine = Engine::open("movies")?;
//! let reply = engine.ask(r#"?G : exists F. stars(F, "Martin Lawrence") and has_genre(F, G)"#,
//!                        &Options { explain: true, ..Options::default() })?;
//! println!("{reply}");
//! # Ok::<(), relatum::Error>(())
//! ```
//!
//! [`Engine`] is the façade: everything that a command line, a server or another language calls. Below it, the
//! modules in the order of the data: [`graph`] holds names and edges; [`query`] reads questions, [`logic`] combines
//! truth values; a [`model`] says how likely an edge is, and [`train`] makes one; [`plan`] says how to answer,
//! [`symbolic`] what stored edges alone say, [`search`] what a model adds; [`answer`] ranks and explains it, and
//! [`report`] puts names in place of ids. [`benchmark`] holds queries with known answers, and [`baseline`] the systems
//! that the paper compares itself with; a [`project`] is the
//! folder that keeps it all, [`import`] and [`export`] speak with other programs, and [`control`] stops and
//! watches whatever takes long.

pub mod answer;
pub mod baseline;
pub mod benchmark;
pub mod column;
pub mod control;
pub mod engine;
pub mod export;
pub mod graph;
pub mod import;
#[cfg(not(feature = "kernels"))]
mod kernels;
#[cfg(feature = "kernels")]
#[doc(hidden)]
pub mod kernels;
pub mod logic;
pub mod model;
pub mod plan;
pub mod project;
pub mod query;
pub mod random;
pub mod report;
pub mod search;
pub mod store;
mod svg;
pub mod symbolic;
pub mod train;

pub use engine::{Engine, Error, Fault, Options};
pub use report::Reply;
