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
//! in a project folder; [`import`] reads what other programs wrote; [`query`] reads questions,
//! [`plan`] says how to answer them, [`logic`] combines truth values; [`benchmark`] holds queries
//! with known answers.

pub mod benchmark;
pub mod graph;
pub mod import;
pub mod logic;
pub mod plan;
pub mod query;
pub mod random;
pub mod store;
