//! The log of the server, on standard error.

/// How the log is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Log {
    /// Lines for people.
    #[default]
    Text,
    /// A JSON object a line.
    Json,
    /// No log.
    Off,
}

impl Log {
    /// Starts the log of this process in this format. A second call changes nothing.
    pub fn start(self) {
        let builder =
            tracing_subscriber::fmt().with_writer(std::io::stderr).with_target(false).with_ansi(false);
        let started = match self {
            Self::Text => builder.try_init(),
            Self::Json => builder.json().flatten_event(true).with_span_list(false).try_init(),
            Self::Off => return,
        };
        // A program that has a log of its own keeps it.
        drop(started);
    }
}
