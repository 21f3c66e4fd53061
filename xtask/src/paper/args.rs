//! What can be chosen on the command line; without the engine, so that mistakes are told before anything is built.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::ValueEnum;

/// Make every table and figure of the paper: train what is missing, measure what is missing, write docs/paper.md
#[derive(clap::Args, Clone, Debug)]
#[cfg_attr(not(feature = "engine"), allow(dead_code, reason = "the optimised build reads it"))]
pub(crate) struct Args {
    /// The folder that holds the Query2Box folders fb15k, fb15k-237 and nell995
    #[arg(long, value_name = "FOLDER", default_value = "../shared/data")]
    pub(super) data: PathBuf,
    /// Where models are kept; a run that was stopped goes on there
    #[arg(long, value_name = "FOLDER", default_value = "target/paper")]
    pub(super) work: PathBuf,
    /// Only these datasets
    #[arg(long, value_name = "NAME", value_enum, value_delimiter = ',')]
    pub(super) dataset: Vec<Name>,
    /// Only these ranks; the paper has 100, 200, 500 and 1000
    #[arg(long, value_name = "N", value_delimiter = ',')]
    pub(super) rank: Vec<NonZeroUsize>,
    /// Only these tables
    #[arg(long, value_name = "NAME", value_enum, value_delimiter = ',')]
    pub(super) table: Vec<Table>,
    /// Only the rows of these methods
    #[arg(long, value_name = "NAME", value_parser = METHODS, value_delimiter = ',')]
    pub(super) method: Vec<String>,
    /// Say what is left and how long it will take, and do nothing
    #[arg(long)]
    pub(super) plan: bool,
    /// Write the document again from the results that are there, and do nothing else
    #[arg(long, conflicts_with = "plan")]
    pub(super) render: bool,
    /// At most so many queries of each type, evenly spread; such figures are marked, and replaced by a run without
    #[arg(long, value_name = "N")]
    pub(super) limit: Option<NonZeroUsize>,
    /// On how many validation queries of each type settings are chosen
    #[arg(long, value_name = "N", default_value = "500")]
    pub(super) tune_on: NonZeroUsize,
    /// Measure again what is there already
    #[arg(long)]
    pub(super) again: bool,
    /// No training takes more epochs than this; for trials of the command itself
    #[arg(long, value_name = "N", hide = true)]
    pub(super) max_epochs: Option<NonZeroUsize>,
    /// Where the document and the results are
    #[arg(long, value_name = "FOLDER", default_value = "docs", hide = true)]
    pub(super) docs: PathBuf,
}

/// The methods of the tables, by the names that `Row::method` gives them.
const METHODS: [&str; 6] = ["gqe", "query2box", "paper-co", "paper-beam", "best", "best-rules"];

/// A dataset of the paper.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, ValueEnum)]
pub(crate) enum Name {
    #[value(name = "fb15k")]
    Fb15k,
    #[value(name = "fb15k-237")]
    Fb15k237,
    #[value(name = "nell995")]
    Nell995,
}

/// A table or figure of the paper.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Table {
    /// All methods at the largest rank
    Main,
    /// CQD-CO and CQD-Beam by rank
    Ranks,
    /// Milliseconds a query by type
    Timing,
    /// `DistMult` beside `ComplEx`
    Distmult,
    /// Two questions with their explained answers
    Examples,
}
