//! What the shell is told at the end: 0 done, 1 failed, 2 misused, 130 stopped by Ctrl-C.

use std::process::ExitCode;

use relatum::graph::NameError;
use relatum::graph::read::ReadError;
use relatum::store::StoreError;

/// The person asked for something that cannot be: a wrong combination of flags, say.
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
    let Err(error) = outcome else {
        return ExitCode::SUCCESS;
    };
    if error.chain().any(is_broken_pipe) {
        // The reader of our output (`| head`) has had enough; that is not a failure.
        return ExitCode::SUCCESS;
    }
    eprintln!("error: {}", message(&error));
    if error.chain().any(is_stop) {
        return ExitCode::from(130);
    }
    ExitCode::from(if error.chain().any(is_misuse) { 2 } else { 1 })
}

/// The error and its causes, without what a message has already said of its cause.
fn message(error: &anyhow::Error) -> String {
    let mut message = error.to_string();
    for cause in error.chain().skip(1).map(ToString::to_string) {
        if !message.contains(&cause) {
            message += &format!(": {cause}");
        }
    }
    message
}

/// Whether the person, not the data or the machine, has to do something differently.
fn is_misuse(error: &(dyn std::error::Error + 'static)) -> bool {
    if let Some(error) = error.downcast_ref() {
        return matches!(
            error,
            ReadError::NotFound { .. } | ReadError::NoColumn { .. } | ReadError::Split(_)
        );
    }
    if let Some(error) = error.downcast_ref() {
        return matches!(error, StoreError::Exists(_) | StoreError::Busy(_) | StoreError::NotAProject { .. });
    }
    error.is::<Misuse>() || error.is::<NameError>()
}

fn is_stop(error: &(dyn std::error::Error + 'static)) -> bool {
    matches!(error.downcast_ref(), Some(ReadError::Stopped))
}

fn is_broken_pipe(error: &(dyn std::error::Error + 'static)) -> bool {
    let io: Option<&std::io::Error> = error.downcast_ref();
    io.is_some_and(|error| error.kind() == std::io::ErrorKind::BrokenPipe)
}
