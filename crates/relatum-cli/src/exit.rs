//! What the shell is told at the end: 0 done, 1 failed, 2 misused.

use std::process::ExitCode;

/// The person asked for something that cannot be: a wrong flag value, a name that is not there,
/// a folder that exists already. Everything else that goes wrong is a failure.
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
    if is_broken_pipe(&error) {
        // The reader of our output (`| head`) has had enough; that is not a failure.
        return ExitCode::SUCCESS;
    }
    eprintln!("error: {error:#}");
    let misuse = error.chain().any(<dyn std::error::Error>::is::<Misuse>);
    ExitCode::from(if misuse { 2 } else { 1 })
}

fn is_broken_pipe(error: &anyhow::Error) -> bool {
    let broken = |io: &std::io::Error| io.kind() == std::io::ErrorKind::BrokenPipe;
    error.chain().any(|cause| cause.downcast_ref().is_some_and(broken))
}
