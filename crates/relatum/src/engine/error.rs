//! Why the engine could not do what it was asked to.

use super::look::listed;
use super::options::OptionsError;
use super::sample::SampleError;
use super::workflow::WorkflowError;
use crate::baseline::BaselineError;
use crate::benchmark::BenchmarkError;
use crate::graph::{NameError, visible};
use crate::import::ImportError;
use crate::import::read::{FolderError, ReadError};
use crate::model::rules::RuleError;
use crate::model::{ModelError, SourceError};
use crate::query::Mistakes;
use crate::search::SearchError;
use crate::store::StoreError;
use crate::train::TrainError;

/// Anything that can go wrong in the engine.
///
/// A caller turns [`fault`](Self::fault) into its own language: an exit code, an HTTP status, an exception.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The question has mistakes; each has its place in the text.
    #[error(transparent)]
    Question(#[from] Mistakes),
    /// The options contradict each other.
    #[error(transparent)]
    Options(#[from] OptionsError),
    /// A name does not mean exactly one thing of the graph.
    #[error(transparent)]
    Name(#[from] NameError),
    /// Neither an entity nor a relation has this name: write one of the nearest, or look for a part of it.
    #[error(
        "there is no entity or relation '{}'; the nearest entities: {}; the nearest relations: {}",
        visible(name),
        listed(entities),
        listed(relations)
    )]
    NothingNamed {
        /// The name.
        name: String,
        /// The nearest entities, best first.
        entities: Vec<String>,
        /// The nearest relations, best first.
        relations: Vec<String>,
    },
    /// The question cannot be searched in this way.
    #[error(transparent)]
    Search(#[from] SearchError),
    /// A model cannot be used.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// Work on a model or a project is refused, or it failed and left something behind.
    #[error(transparent)]
    Workflow(#[from] WorkflowError),
    /// Training cannot go on.
    #[error(transparent)]
    Train(#[from] TrainError),
    /// A file of another program cannot become a model.
    #[error(transparent)]
    Import(#[from] ImportError),
    /// A file of triples cannot be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// A benchmark folder cannot be read.
    #[error(transparent)]
    Folder(#[from] FolderError),
    /// Queries cannot be sampled.
    #[error(transparent)]
    Sample(#[from] SampleError),
    /// A benchmark cannot go on.
    #[error(transparent)]
    Benchmark(#[from] BenchmarkError),
    /// A baseline cannot be trained or used.
    #[error(transparent)]
    Baseline(#[from] BaselineError),
    /// Rules cannot be mined, read or used.
    #[error(transparent)]
    Rules(#[from] RuleError),
    /// The disk or a file on it is at fault.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Who has to do something about an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The caller: ask for something else.
    Caller,
    /// The data: repair or replace a file.
    Data,
    /// The machine: free space, give permission, wait.
    Machine,
}

impl Error {
    /// Who has to do something about it.
    pub fn fault(&self) -> Fault {
        match self {
            Self::Question(_) | Self::Options(_) | Self::Name(_) | Self::NothingNamed { .. } => Fault::Caller,
            Self::Workflow(error) => error.fault(),
            Self::Search(error) => of_search(error),
            Self::Sample(error) => error.fault(),
            Self::Benchmark(error) => of_benchmark(error.cause()),
            Self::Model(error) => of_model(error),
            Self::Train(error) => of_train(error),
            Self::Import(error) => of_import(error),
            Self::Read(error) => of_read(error),
            Self::Folder(_) => Fault::Data,
            Self::Baseline(error) => of_baseline(error),
            Self::Rules(error) => of_rules(error),
            Self::Store(error) => of_store(error),
        }
    }
}

fn of_search(error: &SearchError) -> Fault {
    match error {
        SearchError::Source(SourceError::Unreachable(_)) => Fault::Machine,
        SearchError::NotANumber | SearchError::Source(_) => Fault::Data,
        _ => Fault::Caller,
    }
}

fn of_benchmark(error: &BenchmarkError) -> Fault {
    match error {
        BenchmarkError::Search(error) => of_search(error),
        BenchmarkError::NotKept(error) => of_store(error),
        BenchmarkError::NoQueries { .. }
        | BenchmarkError::NoSuchType { .. }
        | BenchmarkError::NoEdges { .. }
        | BenchmarkError::Stopped => Fault::Caller,
        _ => Fault::Data,
    }
}

fn of_model(error: &ModelError) -> Fault {
    match error {
        ModelError::Missing { .. }
        | ModelError::Name(_)
        | ModelError::Misfit { .. }
        | ModelError::Busy(_) => Fault::Caller,
        ModelError::Store(error) => of_store(error),
        _ => Fault::Data,
    }
}

fn of_train(error: &TrainError) -> Fault {
    match error {
        TrainError::Model(error) => of_model(error),
        TrainError::Setting { .. }
        | TrainError::UnknownPredictor { .. }
        | TrainError::RelationLoss(_)
        | TrainError::NothingToLearn
        | TrainError::NothingToFit
        | TrainError::NothingToResume(_) => Fault::Caller,
        _ => Fault::Data,
    }
}

fn of_import(error: &ImportError) -> Fault {
    match error {
        ImportError::Model(error) => of_model(error),
        ImportError::UnknownFormat(_)
        | ImportError::NotFound(_)
        | ImportError::UnknownKind { .. }
        | ImportError::OtherKind { .. }
        | ImportError::Width { .. }
        | ImportError::Names { .. } => Fault::Caller,
        _ => Fault::Data,
    }
}

fn of_read(error: &ReadError) -> Fault {
    match error {
        ReadError::Labels(error) => of_read(error),
        ReadError::NotFound { .. }
        | ReadError::NoColumn { .. }
        | ReadError::NoGraphs { .. }
        | ReadError::Split(_) => Fault::Caller,
        _ => Fault::Data,
    }
}

fn of_baseline(error: &BaselineError) -> Fault {
    match error {
        BaselineError::Diverged { .. } | BaselineError::Unusable { .. } => Fault::Data,
        BaselineError::Memory { .. } => Fault::Machine,
        BaselineError::Store(error) => of_store(error),
        _ => Fault::Caller,
    }
}

fn of_rules(error: &RuleError) -> Fault {
    match error {
        RuleError::Line { .. } | RuleError::Empty { .. } | RuleError::NoEdges | RuleError::Damaged { .. } => {
            Fault::Data
        }
        RuleError::Io(_) => Fault::Machine,
        RuleError::Store(error) => of_store(error),
        _ => Fault::Caller,
    }
}

fn of_store(error: &StoreError) -> Fault {
    match error {
        StoreError::Exists(_) | StoreError::Busy(_) | StoreError::NotAProject { .. } => Fault::Caller,
        StoreError::Io { .. } => Fault::Machine,
        _ => Fault::Data,
    }
}
