//! How a server is started.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use schemars::JsonSchema;
use serde::Serialize;

/// How a server is started. The defaults are those of somebody who tries it on their own machine.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The address to listen at. Port 0 takes a free one.
    pub listen: SocketAddr,
    /// The model that answers if a request names none; by default the project's own.
    pub model: Option<String>,
    /// A file of bearer tokens, one a line: with it, every request needs one.
    pub token_file: Option<PathBuf>,
    /// Listen at an address that other machines can reach, although requests need no token.
    pub insecure: bool,
    /// Other origins whose pages may use the API.
    pub cors: Vec<String>,
    /// How long running requests may take to finish after the server was asked to stop.
    pub grace: Duration,
    /// How many replies are kept for questions that are asked again; 0 keeps none.
    pub cache: usize,
    /// The limits of a request.
    pub limits: Limits,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            listen: SocketAddr::from(([127, 0, 0, 1], 7878)),
            model: None,
            token_file: None,
            insecure: false,
            cors: Vec::new(),
            grace: Duration::from_secs(10),
            cache: 512,
            limits: Limits::default(),
        }
    }
}

/// The limits of a request, and how many may be answered at once.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Limits {
    /// Bytes of a request's body.
    pub body_bytes: usize,
    /// Bytes of the body of a batch.
    pub batch_bytes: usize,
    /// Questions of a batch.
    pub batch_questions: usize,
    /// Bytes of a question.
    pub question_bytes: usize,
    /// Alternatives that the normal form of a question may have.
    pub branches: usize,
    /// Assignments that a beam may keep.
    pub k: usize,
    /// Answers to one question.
    pub top: usize,
    /// Rows that may be scored for one question.
    pub rows: usize,
    /// Seconds that a search may take.
    pub seconds: f64,
    /// Questions that are answered at the same time.
    pub searches: usize,
    /// More questions that may wait.
    pub queue: usize,
    /// Connections that may be open.
    pub connections: usize,
}

impl Default for Limits {
    fn default() -> Self {
        let cores = std::thread::available_parallelism().map_or(2, usize::from);
        Self {
            body_bytes: 1 << 20,
            batch_bytes: 16 << 20,
            batch_questions: 100_000,
            question_bytes: 64 << 10,
            branches: 256,
            k: 4096,
            top: 1000,
            rows: 1_000_000,
            seconds: 30.0,
            // Searches that wait for a shared product do not compute, so there are more of them than cores.
            searches: (16 * cores).max(32),
            queue: 256,
            connections: 1024,
        }
    }
}
