//! `relatum calibrate`: learns how raw scores of a model become truth values.

mod adaptive;
mod fitted;

use std::path::PathBuf;

use clap::ValueEnum;
use relatum::Engine;
use relatum::project::Forgotten;
use relatum::train::CalibrateSettings;

use super::train::use_threads;
use crate::exit::Misuse;
use crate::output;

/// Learn how raw scores of a model become truth values
///
/// The embeddings stay as they are, and what is learned is kept with the model. Fitted: each relation gets a curve that
/// makes its truth values probabilities, so that .7 is right in seven of ten cases; it is fitted to the
/// validation edges, and its reliability is shown before and after, on validation and on test edges. Adaptive: each
/// relation gets a line a·score + b, whose sigmoid is the truth of its atoms, learned from small questions drawn from
/// the training edges.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  relatum calibrate movies/
  relatum calibrate movies/ --plots pictures/
  relatum ask movies/ '?G : exists F. stars(F, \"Martin Lawrence\") and has_genre(F, G)' --calibration fitted
  relatum calibrate movies/ --kind adaptive --queries 1000")]
pub(crate) struct Args {
    /// The project folder
    dir: PathBuf,
    /// The name of the model [default: default, or what `relatum models --default` chose]
    #[arg(long, value_name = "NAME")]
    model: Option<String>,
    /// What is learned
    #[arg(long, default_value = "fitted")]
    kind: Kind,
    /// Fitted: on how many (head, relation) pairs of each split reliability is measured, evenly spread
    #[arg(long, value_name = "N", value_parser = at_least_one)]
    measure: Option<usize>,
    /// Fitted: draw reliability before and after into this folder, one picture for each split
    #[arg(long, value_name = "DIR")]
    plots: Option<PathBuf>,
    /// Adaptive: how many questions to draw; a tenth of them is held out to choose the best epoch [default: 3000]
    #[arg(long, value_parser = at_least_two)]
    queries: Option<usize>,
    /// Adaptive: how often each question is seen at most; it ends earlier when the held-out loss has nearly
    /// stopped falling [default: 40]
    #[arg(long, value_parser = at_least_one)]
    epochs: Option<usize>,
    /// Adaptive: the learning rate [default: 0.2]
    #[arg(long, value_parser = positive)]
    lr: Option<f32>,
    /// Adaptive: the seed of all random numbers; equal seeds give equal bytes [default: 0]
    #[arg(long)]
    seed: Option<u64>,
    /// Threads to use [default: all cores]
    #[arg(long, value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: Option<u16>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Kind {
    /// A curve for each relation, fitted to validation edges: truth values are probabilities
    Fitted,
    /// A line for each relation, learned from small questions: truth values combine well
    Adaptive,
}

fn at_least_one(text: &str) -> Result<usize, String> {
    let count = text.parse().ok().filter(|&count| count > 0);
    count.ok_or_else(|| "expected a whole number, at least 1".to_owned())
}

fn at_least_two(text: &str) -> Result<usize, String> {
    let count = text.parse().ok().filter(|count| (2..=10_000_000).contains(count));
    count.ok_or_else(|| {
        "expected a number from 2 to 10000000: one question to learn from, one held out".to_owned()
    })
}

fn positive(text: &str) -> Result<f32, String> {
    let number = text.parse().ok().filter(|number: &f32| number.is_finite() && *number > 0.0);
    number.ok_or_else(|| "expected a number above 0".to_owned())
}

pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    args.refuse()?;
    use_threads(args.threads)?;
    let engine = Engine::open(&args.dir)?;
    match args.kind {
        Kind::Fitted => fitted::run(args, &engine),
        Kind::Adaptive => adaptive::run(args, &engine),
    }
}

impl Args {
    /// Refuses flags that the kind has no use for.
    fn refuse(&self) -> Result<(), Misuse> {
        let of_adaptive = [
            ("--queries", self.queries.is_some()),
            ("--epochs", self.epochs.is_some()),
            ("--lr", self.lr.is_some()),
            ("--seed", self.seed.is_some()),
        ];
        let of_fitted = [("--measure", self.measure.is_some()), ("--plots", self.plots.is_some())];
        let (given, belongs) = match self.kind {
            Kind::Fitted => (&of_adaptive[..], "adaptive"),
            Kind::Adaptive => (&of_fitted[..], "fitted"),
        };
        match given.iter().find(|(_, given)| *given) {
            Some((flag, _)) => Err(Misuse(format!("{flag} belongs to --kind {belongs}"))),
            None => Ok(()),
        }
    }

    fn settings(&self) -> CalibrateSettings {
        let default = CalibrateSettings::default();
        CalibrateSettings {
            queries: self.queries.unwrap_or(default.queries),
            epochs: self.epochs.unwrap_or(default.epochs),
            learning_rate: self.lr.unwrap_or(default.learning_rate),
            seed: self.seed.unwrap_or(default.seed),
            ..default
        }
    }
}

/// Which of the tuned choices and results of a model were kept, and which were dropped.
fn results_text(kept: Forgotten, dropped: Forgotten, lost: Option<&str>) -> String {
    if let Some(error) = lost {
        output::say(&format!("warning: the kept results of the model could not be updated: {error}"));
    }
    let counted = |count: Forgotten| {
        let parts = [(count.choices, "tuned choice"), (count.cells, "result")];
        let parts = parts.into_iter().filter(|(number, _)| *number > 0);
        parts.map(|(number, noun)| output::counted(number as u64, noun)).collect::<Vec<_>>().join(" and ")
    };
    let mut text = String::new();
    if kept != Forgotten::default() {
        text += &format!("kept {}: made without the calibration\n", counted(kept));
    }
    if dropped != Forgotten::default() {
        text += &format!("dropped {}: made with the earlier calibration\n", counted(dropped));
    }
    text
}
