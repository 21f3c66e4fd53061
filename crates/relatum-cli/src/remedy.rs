//! What to type about an error: the engine names concepts, and here are the flags and commands for them.

use relatum::Error;
use relatum::benchmark::BenchmarkError;
use relatum::graph::NameError;
use relatum::query::{Mistakes, QueryError};
use relatum::search::SearchError;

/// The flags or commands that help, in one line.
pub(crate) fn of(error: &Error) -> Option<String> {
    match error {
        Error::Question(mistakes) => of_question(mistakes),
        Error::Options(error) => {
            let flags = error.concerns().into_iter().map(|name| format!("--{}", name.replace('_', "-")));
            Some(format!("the flags: {}", flags.collect::<Vec<_>>().join(", ")))
        }
        Error::Search(error) | Error::Benchmark(BenchmarkError::Search(error)) => {
            of_search(error).map(str::to_owned)
        }
        Error::Name(NameError::Unknown { nearest, .. }) if nearest.is_empty() => Some(FIND.to_owned()),
        _ => None,
    }
}

const FIND: &str = "the command: relatum find DIR TEXT";

fn of_question(mistakes: &Mistakes) -> Option<String> {
    let of_mistake =
        |error: &QueryError| match error {
            QueryError::TooManyBranches { .. } => Some("the flag: --max-branches"),
            QueryError::Syntax { help: Some(help), .. } if help.contains("SPARQL") => Some(
                "the flag: --sparql reads a question as SPARQL; without it, it is read as what it looks like",
            ),
            QueryError::Name {
                error: NameError::Unknown { nearest, .. }, like_a_variable: false, ..
            } if nearest.is_empty() => Some(FIND),
            _ => None,
        };
    mistakes.errors.iter().find_map(of_mistake).map(str::to_owned)
}

fn of_search(error: &SearchError) -> Option<&'static str> {
    match error {
        SearchError::NotATree => Some("the flag: --method beam"),
        SearchError::RawScores => Some("the flags: --method beam, --calibration softmax-count"),
        SearchError::NeedsARow { .. } => Some("the flags: --calibration, --method"),
        SearchError::NotCalibrated => Some("the command: relatum calibrate DIR; the flag: --calibration"),
        SearchError::Diverged { .. } => Some("the flag: --calibration sigmoid"),
        SearchError::NoBounds { .. } => Some("the flag: --calibration"),
        _ => None,
    }
}
