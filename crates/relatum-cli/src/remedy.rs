//! The flags and commands that help against an error. The engine knows neither: its messages say what is
//! wrong and what to do, and this adds what to type.

use relatum::Error;
use relatum::baseline::{BaselineError, Kind};
use relatum::benchmark::BenchmarkError;
use relatum::engine::{SampleError, SourcesError, WorkflowError};
use relatum::graph::{NameError, SplitError};
use relatum::import::ImportError;
use relatum::import::read::{Emptiness, LineProblem, ReadError};
use relatum::model::rules::RuleError;
use relatum::model::{Calibration, ModelError};
use relatum::query::{Mistakes, QueryError};
use relatum::search::SearchError;
use relatum::store::StoreError;
use relatum::train::TrainError;

use crate::output;

/// What to type against an error, where a flag or a command helps.
pub(crate) fn remedy(error: &(dyn std::error::Error + 'static)) -> Option<String> {
    if let Some(error) = error.downcast_ref() {
        return match error {
            Error::Workflow(error) => of_workflow(error),
            Error::Train(error) => of_train(error),
            Error::Model(error) => of_model(error),
            Error::Import(error) => of_import(error),
            Error::Read(error) => of_read(error),
            Error::Store(error) => of_store(error),
            Error::Sample(error) => of_sample(error),
            Error::Benchmark(error) => of_benchmark(error),
            Error::Rules(error) => of_rules(error),
            Error::Baseline(error) => of_baseline(error),
            _ => None,
        };
    }
    (error.downcast_ref().and_then(of_train))
        .or_else(|| error.downcast_ref().and_then(of_model))
        .or_else(|| error.downcast_ref().and_then(of_import))
        .or_else(|| error.downcast_ref().and_then(of_read))
        .or_else(|| error.downcast_ref().and_then(of_store))
}

fn of_workflow(error: &WorkflowError) -> Option<String> {
    let remedy = match error {
        WorkflowError::Unfinished { .. } => "--resume goes on with it, --restart discards it",
        WorkflowError::Trained { .. } => "choose another --model, or --restart to replace it",
        WorkflowError::Occupied { .. } => "give another name, or --replace",
        WorkflowError::NothingToResume { .. } => "train without --resume",
        WorkflowError::FewerEpochs { .. } => "give more --epochs, or leave the flag out",
        WorkflowError::OtherSettings(_) => "leave the flags out, or use --restart",
        WorkflowError::NoValidation(_) => HOLD_OUT,
        WorkflowError::IntoItself(_) => "choose another --model",
        WorkflowError::OntoItself(_) => "choose another name with --as",
        WorkflowError::Rounded { .. } => "`relatum models DIR` shows what there is",
        WorkflowError::Sources(SourcesError::SplitTwice) => "give --valid and --test, or --split",
        WorkflowError::Sources(SourcesError::NoHeader) => "leave --header no out, or give --columns 1,2,3",
        WorkflowError::Sources(SourcesError::FixedForm { .. }) => {
            "--columns, --format, --header, --literals, --graph and --skip-bad-lines are for files of triples"
        }
        _ => return None,
    };
    Some(remedy.to_owned())
}

fn of_sample(error: &SampleError) -> Option<String> {
    let remedy = match error {
        SampleError::NoEdges { .. } => HOLD_OUT,
        SampleError::NotConjunctive { .. } => "name others with --types, or leave --all-missing out",
        SampleError::HasType { .. } => "--replace replaces them",
        SampleError::HasQueries { .. } => "--add adds to them, --replace replaces them",
        SampleError::NothingFound(_) => "--types, --attempts, --max-answers",
        _ => return None,
    };
    Some(remedy.to_owned())
}

fn of_benchmark(error: &BenchmarkError) -> Option<String> {
    match error.cause() {
        BenchmarkError::NoQueries { dir, split } => {
            Some(format!("`relatum sample {} --split {split}` makes some", output::typed(dir)))
        }
        BenchmarkError::NoRules => Some("`relatum rules DIR` mines some".to_owned()),
        BenchmarkError::NoEdges { .. } => Some("--split chooses it".to_owned()),
        BenchmarkError::NotKept(error) => of_store(error),
        _ => None,
    }
}

fn of_baseline(error: &BaselineError) -> Option<String> {
    let remedy = match error {
        BaselineError::Missing { name, dir, .. } => {
            let dir = output::typed(dir);
            return Some(match Kind::from_name(name) {
                Some(kind) => format!("`relatum train {dir} --baseline {}` trains it", kind.name()),
                None => format!("`relatum train {dir} --baseline gqe --model {name}` trains one"),
            });
        }
        BaselineError::Unfinished { .. } => "--resume goes on with it, --restart discards it",
        BaselineError::Trained(_) => "choose another --model, or --restart to replace it",
        BaselineError::NothingToResume { .. } => "train without --resume",
        BaselineError::OtherSettings(_) => "leave the flags out, or use --restart",
        BaselineError::Unusable { .. } => "--restart replaces it",
        BaselineError::Memory { .. } => "--dimension chooses it",
        BaselineError::Diverged { .. } => "--restart with a lower --lr",
        BaselineError::Store(error) => return of_store(error),
        _ => return None,
    };
    Some(remedy.to_owned())
}

fn of_rules(error: &RuleError) -> Option<String> {
    let remedy = match error {
        RuleError::Missing { name, dir, .. } => {
            return Some(format!("`relatum rules {} --name {name}` mines some", output::typed(dir)));
        }
        RuleError::Exists(_) => "choose another --name, or --restart to replace them",
        RuleError::Unfinished { .. } => "--resume goes on with it, --restart discards it",
        RuleError::NothingToResume(_) => "mine without --resume, or give more --paths or --seconds",
        RuleError::OtherSettings { .. } => "leave --seed and --max-length out, or use --restart",
        RuleError::OtherGraph { name, dir, .. } | RuleError::Damaged { name, dir, .. } => {
            let dir = output::typed(dir);
            return Some(format!(
                "`relatum rules {dir} --name {name} --restart` mines them again, `relatum rules {dir} \
                 --delete {name}` deletes them; with --evidence model the model alone answers"
            ));
        }
        RuleError::Memory { .. } => "--max-memory allows more",
        RuleError::Store(error) => return of_store(error),
        _ => return None,
    };
    Some(remedy.to_owned())
}

const HOLD_OUT: &str = "make it with `relatum init … --split 0.9/0.05/0.05`";

fn of_train(error: &TrainError) -> Option<String> {
    match error {
        TrainError::Model(error) => of_model(error),
        TrainError::Store(error) => of_store(error),
        TrainError::Checkpoint(_) => Some("train with --restart instead of --resume".to_owned()),
        TrainError::NothingToResume(_) => Some("train without --resume".to_owned()),
        TrainError::NothingToFit => Some(HOLD_OUT.to_owned()),
        _ => None,
    }
}

fn of_model(error: &ModelError) -> Option<String> {
    match error {
        ModelError::Store(error) => of_store(error),
        ModelError::Missing { name, dir, .. } => {
            Some(format!("`relatum train {} --model {name}` trains it", output::typed(dir)))
        }
        _ => None,
    }
}

fn of_import(error: &ImportError) -> Option<String> {
    match error {
        ImportError::Model(error) => of_model(error),
        ImportError::Store(error) => of_store(error),
        ImportError::UnknownKind { .. } | ImportError::Width { .. } => {
            Some("--predictor names it".to_owned())
        }
        ImportError::OtherKind { .. } => Some("leave --predictor out".to_owned()),
        _ => None,
    }
}

fn of_read(error: &ReadError) -> Option<String> {
    let remedy = match error {
        ReadError::Labels(error) => return of_read(error),
        ReadError::NoGraphs { .. } => "leave --graph out",
        ReadError::Empty { why: Emptiness::Literals, .. } => "--literals keeps them",
        ReadError::Empty { why: Emptiness::OtherGraphs(_), .. } => "--graph IRI reads one of them",
        ReadError::UnknownFormat { .. } => "--format says which",
        ReadError::WhichColumns { columns, .. } => return Some(format!("--columns {columns} takes them")),
        ReadError::BadLine { problem: LineProblem::Columns { expected: 3, found: 4.. }, .. } => {
            "--columns says which to take, as in --columns 1,2,3; --skip-bad-lines skips such lines"
        }
        ReadError::BadLine { .. } => "--skip-bad-lines skips such lines",
        ReadError::Split(SplitError::Given { .. }) => "give --valid and --test, or --split",
        _ => return None,
    };
    Some(remedy.to_owned())
}

fn of_store(error: &StoreError) -> Option<String> {
    match error {
        StoreError::NotAProject { dir, .. } => {
            Some(format!("`relatum init {} FILES…` makes one", output::typed(dir)))
        }
        StoreError::Foreign { .. } | StoreError::Damaged { .. } => {
            Some("`relatum init` makes a graph, `relatum train` a model".to_owned())
        }
        _ => None,
    }
}

/// The flags or commands that help with a question and its options, in one line.
pub(crate) fn flags(error: &Error) -> Option<String> {
    match error {
        Error::Question(mistakes) => of_question(mistakes),
        Error::Options(error) => {
            let flags = error.concerns().into_iter().map(|name| format!("--{}", name.replace('_', "-")));
            Some(format!("the flags: {}", flags.collect::<Vec<_>>().join(", ")))
        }
        Error::Search(error) => of_search(error).map(str::to_owned),
        Error::Benchmark(error) => match error.cause() {
            BenchmarkError::Search(error) => of_search(error).map(str::to_owned),
            _ => None,
        },
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
        SearchError::NoLists => Some("the flags: --method exact, --method beam"),
        SearchError::RawScores => Some("the flags: --method beam, --calibration softmax-count"),
        SearchError::NeedsARow { .. } => Some("the flags: --calibration, --method"),
        SearchError::NotCalibrated { calibration: Calibration::Adaptive } => {
            Some("the command: relatum calibrate DIR --kind adaptive; the flag: --calibration")
        }
        SearchError::NotCalibrated { .. } => {
            Some("the command: relatum calibrate DIR; the flag: --calibration")
        }
        SearchError::Diverged { .. } => Some("the flag: --calibration sigmoid"),
        SearchError::NoBounds { .. } => Some("the flag: --calibration"),
        _ => None,
    }
}
