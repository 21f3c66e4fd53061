//! What Ballista logs, on standard error.

use std::io::Write;

use ::log::{LevelFilter, Log, Metadata, Record};

struct Lines;

impl Log for Lines {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.level() <= ::log::max_level()
    }

    fn log(&self, record: &Record<'_>) {
        if self.enabled(record.metadata()) {
            let _ =
                writeln!(std::io::stderr(), "{:5} {}: {}", record.level(), record.target(), record.args());
        }
    }

    fn flush(&self) {}
}

/// Logs messages of this level and above.
pub(crate) fn start(level: LevelFilter) {
    // It fails only if there is a logger already.
    if ::log::set_logger(&Lines).is_ok() {
        ::log::set_max_level(level);
    }
}

/// Reads a level.
pub(crate) fn parse(text: &str) -> Result<LevelFilter, String> {
    text.parse().map_err(|_| "expected off, error, warn, info, debug or trace".to_owned())
}
