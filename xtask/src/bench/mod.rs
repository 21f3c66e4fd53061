//! `cargo xtask bench …`: one file for each question a user would ask.

#[cfg(feature = "engine")]
mod answer;
#[cfg(feature = "engine")]
pub(crate) mod baselines;
#[cfg(feature = "engine")]
mod child;
#[cfg(feature = "engine")]
mod cluster;
#[cfg(feature = "engine")]
mod ingest;
#[cfg(feature = "engine")]
mod lists;
#[cfg(feature = "engine")]
mod products;
#[cfg(feature = "engine")]
mod scaling;
#[cfg(feature = "engine")]
mod serve;
#[cfg(feature = "engine")]
mod train;
#[cfg(feature = "engine")]
mod world;

#[cfg(feature = "engine")]
pub(crate) use world::processor;

/// Measure against a floor taken in the same run
#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    question: Question,
}

#[derive(clap::Subcommand)]
#[cfg_attr(not(feature = "engine"), allow(dead_code, reason = "the optimised build reads it"))]
enum Question {
    /// How much time and memory does reading a graph take?
    Ingest {
        /// Triples of the generated file
        #[arg(long, default_value_t = 10_000_000)]
        triples: usize,
        /// How often to measure; the best of each is compared
        #[arg(long, default_value_t = 3)]
        rounds: usize,
    },
    /// How near is training to the machine's peak? Batches of an epoch, and their three matrix products
    /// alone, are run in turns, so that noise affects both equally
    Train {
        /// Ranks to measure
        #[arg(long, value_delimiter = ',', default_value = "100,1000")]
        rank: Vec<usize>,
        /// Triples a step
        #[arg(long, default_value_t = 1000)]
        batch_size: usize,
        /// Measure this many batches instead of the whole epoch
        #[arg(long)]
        batches: Option<usize>,
        /// Also show how the time grows with the size of the graph
        #[arg(long)]
        growth: bool,
    },
    /// How long does an answer take, and how far is that from the matrix products of its rows alone?
    Answer {
        /// Ranks to measure with generated weights
        #[arg(long, value_delimiter = ',', default_value = "100,1000")]
        rank: Vec<usize>,
        /// Questions of each shape
        #[arg(long, default_value_t = 60)]
        queries: usize,
        /// Also show how time and memory grow up to 1.5 million entities
        #[arg(long)]
        growth: bool,
    },
    /// How long does a query take by type: Query2Box and GQE against CQD-Beam and exact search, in one run?
    Baselines {
        /// Ranks of the link predictors to measure, with generated weights
        #[arg(long, value_delimiter = ',', default_value = "100,1000")]
        rank: Vec<usize>,
        /// Questions of each shape
        #[arg(long, default_value_t = 60)]
        queries: usize,
        /// Take the link predictor of this project of FB15k-237 instead
        #[arg(long, value_name = "DIR")]
        project: Option<std::path::PathBuf>,
        /// The name of that model
        #[arg(long, value_name = "NAME", requires = "project")]
        model: Option<String>,
    },
    /// Is the stream of inner products that answers are made of faster than a general matrix product?
    Products {
        /// Ranks to measure
        #[arg(long, value_delimiter = ',', default_value = "100,1000")]
        rank: Vec<usize>,
        /// Entities of the table; as many as FB15k-237 has
        #[arg(long, default_value_t = 14_505)]
        entities: usize,
        /// How often to measure
        #[arg(long, default_value_t = 9)]
        rounds: usize,
    },
    /// How many requests does the server answer, how long do they take, and does a heavy one hold up a light one?
    Serve {
        /// Seconds of each measurement
        #[arg(long, default_value_t = 10.0)]
        seconds: f64,
        /// Seconds under full load at the end, in which nothing may fail and memory must not grow
        #[arg(long, default_value_t = 60.0)]
        soak: f64,
    },
    /// How much memory does a question need on a graph of millions of entities, by sorted lists and by whole vectors?
    Lists {
        /// Entities of the generated graph
        #[arg(long, default_value_t = 10_000_000)]
        entities: usize,
        /// Rank of the generated model
        #[arg(long, default_value_t = 32)]
        rank: usize,
    },
    /// What does a round of a cluster cost, and from which size does a cluster pay?
    Cluster {
        /// Millions of entities of the generated graphs
        #[arg(long, value_delimiter = ',', default_value = "1,4,10")]
        millions: Vec<usize>,
        /// Executors, in turn
        #[arg(long, value_delimiter = ',', default_value = "1,2,3")]
        executors: Vec<usize>,
        /// Rows of a round, in turn
        #[arg(long, value_delimiter = ',', default_value = "1,64,1000")]
        rows: Vec<usize>,
        /// Rank of the generated model
        #[arg(long, default_value_t = 64)]
        rank: usize,
        /// How often each round is measured, if that takes no longer than half a minute
        #[arg(long, default_value_t = 5)]
        rounds: usize,
    },
    /// What does a sample of the candidates cost, and what does it save on a large graph?
    Scaling {
        /// Candidates of the sampled softmax, in turn
        #[arg(long, value_delimiter = ',', default_value = "1024,4096,8192")]
        candidates: Vec<usize>,
        /// Epochs of training
        #[arg(long, default_value_t = 5)]
        epochs: usize,
        /// Rank of the model
        #[arg(long, default_value_t = 100)]
        rank: usize,
        /// Instead: one epoch on a generated graph of so many entities, with the first number of candidates
        #[arg(long)]
        entities: Option<usize>,
        /// Edges of the generated graph
        #[arg(long, default_value_t = 20_000_000)]
        edges: usize,
    },
    /// What does a call from Python cost beyond the engine's own time, and do threads scale?
    Python,
}

/// A benchmark must be built with optimisation, which this program usually is not; so it builds
/// itself again.
#[cfg(not(feature = "engine"))]
pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    use crate::{python, shell};
    if matches!(args.question, Question::Python) {
        return python::bench();
    }
    if matches!(args.question, Question::Ingest { .. } | Question::Serve { .. } | Question::Lists { .. }) {
        shell::run(&mut shell::cargo(&["build", "--release", "--package", "relatum-cli"]))?;
    }
    if matches!(args.question, Question::Cluster { .. }) {
        let folder = shell::root().join("crates/relatum-cluster");
        let mut build = shell::cargo(&["build", "--release", "--locked"]);
        shell::run(build.current_dir(&folder).env("CARGO_TARGET_DIR", folder.join("target")))?;
    }
    crate::with_engine()
}

#[cfg(feature = "engine")]
pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    match &args.question {
        Question::Ingest { triples, rounds } => ingest::run(*triples, *rounds),
        Question::Train { rank, batch_size, batches, growth } => {
            train::run(rank, *batch_size, *batches, *growth)
        }
        Question::Answer { rank, queries, growth } => answer::run(rank, *queries, *growth),
        Question::Baselines { rank, queries, project, model } => {
            let project = project.as_deref().map(|dir| (dir, model.as_deref()));
            baselines::run(rank, *queries, project)
        }
        Question::Products { rank, entities, rounds } => {
            products::run(rank, *entities, *rounds);
            Ok(())
        }
        Question::Lists { entities, rank } => lists::run(*entities, *rank),
        Question::Cluster { millions, executors, rows, rank, rounds } => {
            cluster::run(millions, executors, rows, *rank, *rounds)
        }
        Question::Serve { seconds, soak } => serve::run(*seconds, *soak),
        Question::Scaling { candidates, epochs, rank, entities, edges } => {
            match (entities, candidates.first()) {
                (Some(entities), Some(&candidates)) => {
                    scaling::one_epoch(*entities, *edges, *rank, candidates)
                }
                _ => scaling::run(candidates, *epochs, *rank),
            }
        }
        Question::Python => crate::python::bench(),
    }
}
