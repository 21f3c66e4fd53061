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
//! endpoints by group, `question` and `input` read what comes, `problem` says what is wrong with it, `openapi`
//! describes all of that; `page` sends the built files of the page.

mod api;
mod app;
mod docs;
mod input;
mod listen;
mod observe;
mod openapi;
mod page;
mod problem;
mod question;
mod searches;
mod server;
mod settings;

pub use server::{Server, ServerError};
pub use settings::{Limits, Settings};
