//! The exit code of the process: 0 done, 1 failed, 2 misused, 130 stopped by Ctrl-C.

use std::io::IsTerminal;
use std::process::ExitCode;

use relatum::engine::WorkflowError;
use relatum::graph::NameError;
use relatum::import::ImportError;
use relatum::import::read::ReadError;
use relatum::model::ModelError;
use relatum::query::Style;
use relatum::store::StoreError;
use relatum::train::TrainError;
use relatum::{Error, Fault};

use crate::{output, remedy};

/// The user asked for something impossible, such as a wrong combination of flags.
#[derive(Debug)]
pub(crate) struct Misuse(pub(crate) String);

impl std::fmt::Display for Misuse {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Misuse {}

/// The user asked to stop; finished work is saved, and a message says how to go on.
#[derive(Debug)]
pub(crate) struct Stopped;

impl std::fmt::Display for Stopped {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("stopped as asked")
    }
}

impl std::error::Error for Stopped {}

/// Prints an error with its causes and gives the exit code that fits it.
pub(crate) fn report(outcome: anyhow::Result<()>) -> ExitCode {
    let Err(error) = outcome else {
        return ExitCode::SUCCESS;
    };
    if error.chain().any(is_broken_pipe) {
        // The reader of our output (`| head`) needs no more of it; that is not a failure.
        return ExitCode::SUCCESS;
    }
    if error.is::<Stopped>() {
        return ExitCode::from(130);
    }
    say(&error);
    if error.chain().any(is_stop) {
        return ExitCode::from(130);
    }
    ExitCode::from(if error.chain().any(is_misuse) { 2 } else { 1 })
}

/// Prints an error with its causes.
pub(crate) fn say(error: &anyhow::Error) {
    let engine = error.downcast_ref::<Error>();
    if let Some(Error::Question(mistakes)) = engine {
        // The engine has escaped control characters in the parts of a mistake; only its colours act on the
        // terminal.
        let style = if std::io::stderr().is_terminal() { Style::Colour } else { Style::Plain };
        output::say_coloured(&mistakes.render(style));
    } else {
        let mut text = message(error);
        if let Some(remedy) = error.chain().find_map(remedy::remedy) {
            let lines = text.contains('\n');
            text += &if lines { format!("\n  {remedy}") } else { format!(" ({remedy})") };
        }
        output::say(&format!("error: {text}"));
    }
    if let Some(flags) = engine.and_then(remedy::flags) {
        output::say(&format!("  {flags}"));
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
    message
}

/// Whether the user, and not the data or the machine, is at fault.
fn is_misuse(error: &(dyn std::error::Error + 'static)) -> bool {
    if let Some(error) = error.downcast_ref::<Error>() {
        return error.fault() == Fault::Caller;
    }
    if let Some(error) = error.downcast_ref() {
        return matches!(
            error,
            ReadError::NotFound { .. }
                | ReadError::NoColumn { .. }
                | ReadError::NoGraphs { .. }
                | ReadError::Split(_)
        );
    }
    if let Some(error) = error.downcast_ref() {
        return matches!(error, StoreError::Exists(_) | StoreError::Busy(_) | StoreError::NotAProject { .. });
    }
    if let Some(error) = error.downcast_ref() {
        return is_model_misuse(error);
    }
    if let Some(error) = error.downcast_ref() {
        return match error {
            TrainError::Model(error) => is_model_misuse(error),
            TrainError::Setting { .. }
            | TrainError::UnknownPredictor { .. }
            | TrainError::RelationLoss(_)
            | TrainError::NothingToLearn
            | TrainError::NothingToFit
            | TrainError::NothingToResume(_) => true,
            _ => false,
        };
    }
    if let Some(error) = error.downcast_ref() {
        return match error {
            ImportError::Model(error) => is_model_misuse(error),
            ImportError::UnknownFormat(_)
            | ImportError::NotFound(_)
            | ImportError::UnknownKind { .. }
            | ImportError::OtherKind { .. }
            | ImportError::Width { .. }
            | ImportError::Names { .. } => true,
            _ => false,
        };
    }
    error.is::<Misuse>() || error.is::<NameError>()
}

fn is_model_misuse(error: &ModelError) -> bool {
    matches!(
        error,
        ModelError::Missing { .. } | ModelError::Name(_) | ModelError::Misfit { .. } | ModelError::Busy(_)
    )
}

fn is_stop(error: &(dyn std::error::Error + 'static)) -> bool {
    matches!(error.downcast_ref(), Some(ReadError::Stopped))
        || matches!(error.downcast_ref(), Some(Error::Read(ReadError::Stopped)))
        || matches!(error.downcast_ref(), Some(Error::Workflow(WorkflowError::Stopped)))
}

fn is_broken_pipe(error: &(dyn std::error::Error + 'static)) -> bool {
    let broken = Some(std::io::ErrorKind::BrokenPipe);
    let io = error.downcast_ref().map(std::io::Error::kind);
    let json = error.downcast_ref().and_then(serde_json::Error::io_error_kind);
    io == broken || json == broken
}
