//! Relatum behind HTTP: an API, a SPARQL endpoint, a page, and tools for assistants.
//!
//! ```no_run
//! use relatum::Engine;
//! use relatum_server::{Server, Settings};
//!
//! let server = Server::bind(Engine::open("movies")?, Settings::default())?;
//! println!("http://{}", server.address());
//! server.run()?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! [`Server`] starts and ends; `app` is the state that requests share, and `searches` the threads that answer; `api`
//! has the endpoints by group, `sparql` and `mcp` serve the other two protocols; `question`, `input` and
//! `shape` read requests, `problem` reports errors, `openapi` and `docs` describe the API; `guard` checks tokens and origins,
//! `impatient` gives up clients that read nothing,
//! `observe`, `metrics` and `log` record what happened; `page` sends the built files of the page.

mod api;
mod app;
mod cache;
mod docs;
mod guard;
mod impatient;
mod input;
mod listen;
mod log;
mod mcp;
mod metrics;
mod observe;
mod openapi;
mod page;
mod problem;
mod question;
mod searches;
mod server;
mod settings;
mod shape;
mod sparql;
mod stdio;

pub use log::Log;
pub use mcp::serve_stdio;
pub use server::{Server, ServerError};
pub use settings::{Limits, Settings};
