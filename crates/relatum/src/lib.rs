//! Relatum answers logical questions over incomplete knowledge graphs and explains every answer.
//!
//! ```
//! use relatum::graph::{GraphBuilder, Split};
//!
//! let mut builder = GraphBuilder::default();
//! builder.add(Split::Train, "Bad Boys", "stars", "Martin Lawrence");
//! let (graph, _) = builder.finish();
//! let actor = graph.entity("Martin Lawrence").unwrap();
//! let stars = graph.relation("stars").unwrap();
//! assert_eq!(graph.edges(Split::Train).heads(stars, actor).len(), 1);
//! ```
//!
//! The modules in the order of the data: [`graph`] holds names and edges, [`store`] keeps them
//! in a project folder, [`import`] reads what other programs wrote; a [`model`] says how likely an
//! edge is, and [`train`] makes one, on the products of [`kernels`]; [`query`] reads questions,
//! [`logic`] combines truth values, [`plan`] says how to answer; [`symbolic`] tells what stored edges
//! alone say, [`search`] what a model adds, and [`answer`] ranks and explains it; [`benchmark`] holds queries with
//! known answers, and [`export`] writes them for others.

pub mod answer;
pub mod benchmark;
pub mod column;
pub mod control;
pub mod engine;
pub mod export;
pub mod graph;
pub mod import;
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
