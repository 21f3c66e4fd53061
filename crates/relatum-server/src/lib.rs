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
//! [`Server`] listens and ends; `app` is what requests share, and `searches` the threads that answer; `api` has the
//! endpoints by group, `sparql` and `mcp` the other two doors; `question` and `input` read what comes, `problem` says
//! what is wrong with it, `openapi` and `docs` describe all of that; `guard` says who may ask, `observe`, `metrics` and
//! `log` what happened; `page` sends the built files of the page.

mod api;
mod app;
mod cache;
mod docs;
mod guard;
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
mod sparql;

pub use log::Log;
pub use mcp::serve_stdio;
pub use server::{Server, ServerError};
pub use settings::{Limits, Settings};
