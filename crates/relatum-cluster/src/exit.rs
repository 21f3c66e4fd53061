//! The exit code of the process: 0 done, 1 failed, 2 misused; as those of `relatum`.

use std::io::{IsTerminal, Write};
use std::process::ExitCode;

use relatum::graph::visible;
use relatum::query::Style;
use relatum::{Error, Fault};
use relatum_cluster::ClusterError;

/// The user asked for something impossible.
#[derive(Debug)]
pub(crate) struct Misuse(pub(crate) String);

impl std::fmt::Display for Misuse {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Misuse {}

/// Prints an error with its causes and gives the exit code that fits it.
pub(crate) fn report(outcome: anyhow::Result<()>) -> ExitCode {
    let Err(error) = outcome else { return ExitCode::SUCCESS };
    let broken = |cause: &(dyn std::error::Error + 'static)| {
        cause.downcast_ref().map(std::io::Error::kind) == Some(std::io::ErrorKind::BrokenPipe)
    };
    if error.chain().any(broken) {
        // The reader of our output (`| head`) needs no more of it; that is not a failure.
        return ExitCode::SUCCESS;
    }
    if let Some(Error::Question(mistakes)) = engine_error(&error) {
        let style = if std::io::stderr().is_terminal() { Style::Colour } else { Style::Plain };
        let _ = writeln!(std::io::stderr(), "{}", mistakes.render(style));
    } else {
        say(&format!("error: {}", message(&error)));
    }
    ExitCode::from(if error.chain().any(is_misuse) { 2 } else { 1 })
}

/// Prints a message on standard error, beside the results. It does not matter if that fails.
pub(crate) fn say(text: &str) {
    let shown = text.split('\n').map(visible).collect::<Vec<_>>().join("\n");
    let _ = writeln!(std::io::stderr(), "{shown}");
}

/// What to do about an error of the engine, in the words of this command.
pub(crate) fn remedy(error: &Error) -> Option<&'static str> {
    match error {
        Error::Search(relatum::search::SearchError::NoLists) => Some(
            "a cluster answers by lists: `relatum ask --method exact` or `--method beam` answers it on one machine",
        ),
        _ => None,
    }
}

/// The error and its causes, without causes that a message already contains.
fn message(error: &anyhow::Error) -> String {
    let mut message = error.to_string();
    for cause in error.chain().skip(1).map(ToString::to_string) {
        if !message.contains(&cause) {
            message += &format!(": {cause}");
        }
    }
    if let Some(remedy) = engine_error(error).and_then(remedy) {
        message += &format!(" ({remedy})");
    }
    message
}

fn engine_error(error: &anyhow::Error) -> Option<&Error> {
    error.chain().find_map(|cause| match cause.downcast_ref() {
        Some(ClusterError::Engine(error)) => Some(error),
        _ => cause.downcast_ref::<Error>(),
    })
}

fn is_misuse(error: &(dyn std::error::Error + 'static)) -> bool {
    if let Some(error) = error.downcast_ref::<ClusterError>() {
        return error.is_misuse();
    }
    error.is::<Misuse>() || error.downcast_ref::<Error>().is_some_and(|error| error.fault() == Fault::Caller)
}
