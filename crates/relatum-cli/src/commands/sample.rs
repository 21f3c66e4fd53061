//! `relatum sample`: new benchmark queries from a graph with splits.

use std::io::Write;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use indicatif::{ProgressBar, ProgressStyle};
use relatum::benchmark::QueriesFound;
use relatum::control::Control;
use relatum::engine::{
    DEFAULT_SAMPLE, ExampleQuery, Existing, SampleError, SampleOptions, SampledType, SamplingBegins,
    WorkflowError,
};
use relatum::graph::Split;
use relatum::{Engine, Error};

use super::train::use_threads;
use crate::exit::Stopped;
use crate::{output, signals};

/// Sample benchmark queries from a graph with splits, and store them in the project
///
/// Queries are found by walking back from a random answer, as the published generators do. A query
/// for validation has easy answers, which the training edges give, and at least one hard answer,
/// which needs a validation edge; for test, one that needs a test edge. No query comes twice, and none
/// has two equal branches or a hop that the next one undoes. In a type with negation, the held-out
/// edges refute an answer that the other edges give; it stays among the easy ones, as in the published
/// files. In a question of your own, the negation removes some answer.
///
/// If the graph cannot supply as many queries as are wanted, those that were found are kept with a
/// warning, and the exit code is 0; it is 1 if there are none at all.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  relatum sample movies/ --count 1000
  relatum sample movies/ --types 2p,3p,pni --count 500 --split test --replace
  relatum sample movies/ --query '?G : exists F. stars(F, _) and has_genre(F, G)' --add
  relatum sample movies/ --types 4p,5p --add --show 3
  relatum sample movies/ --all-missing --replace
  relatum sample movies/ --query \"(('e',('r','r')),('e',('r','r')))\" --betae movies-betae/ --replace")]
pub(crate) struct Args {
    /// The project folder
    dir: PathBuf,
    /// Query types, separated by commas: 1p 2p 3p 4p 5p 2i 3i 4i ip pi 2u up 2in 3in inp pin pni
    /// [default: the fourteen of the literature, unless there is a --query; with --all-missing
    /// 1p 2p 3p 4p 2i 3i 4i ip pi]
    #[arg(long, value_delimiter = ',')]
    types: Vec<String>,
    /// A question with _ in place of entities and relations, or a skeleton of the BetaE files
    #[arg(long, value_name = "QUESTION")]
    query: Vec<String>,
    /// How many queries of each type
    #[arg(long, default_value_t = DEFAULT_SAMPLE as u32, value_parser = clap::value_parser!(u32).range(1..))]
    count: u32,
    /// For validation or for test [default: both, as far as there are edges]
    #[arg(long)]
    split: Option<SplitName>,
    /// Equal seeds give equal queries
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// How many answers a query may have, easy and hard together
    #[arg(long, default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..))]
    max_answers: u32,
    /// Only hard answers that need every hop predicted, not just one: none of their proofs has a training
    /// edge. Other answers that are true count as easy, so no ranking takes them for wrong. For types
    /// without negation and union: 1p 2p 3p 4p 5p 2i 3i 4i ip pi
    #[arg(long)]
    all_missing: bool,
    /// How many walks to try for each type [default: 1000 for each query, at least 100000, until
    /// 100000 in a row find nothing new]
    #[arg(long, value_parser = clap::value_parser!(u64).range(1..))]
    attempts: Option<u64>,
    /// Keep the queries that the project has, and add types that it does not have
    #[arg(long, conflicts_with = "replace")]
    add: bool,
    /// Replace the queries that the project has for the split
    #[arg(long)]
    replace: bool,
    /// Also write graph and queries as a new folder in the form of BetaE; a question in words is written
    /// as the type of the literature that it has
    #[arg(long, value_name = "FOLDER")]
    betae: Option<PathBuf>,
    /// Print so many queries of each type in words, with their answers
    #[arg(long, default_value_t = 0, value_name = "N")]
    show: usize,
    /// Print JSON
    #[arg(long, conflicts_with = "show")]
    json: bool,
    /// Threads to use [default: all cores]
    #[arg(long, value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: Option<u16>,
}

#[derive(Clone, Copy, clap::ValueEnum)]
enum SplitName {
    Valid,
    Test,
}

impl Args {
    fn options(&self) -> SampleOptions {
        SampleOptions {
            types: self.types.clone(),
            questions: self.query.clone(),
            count: Some(self.count as usize),
            split: self.split.map(|split| match split {
                SplitName::Valid => Split::Valid,
                SplitName::Test => Split::Test,
            }),
            seed: self.seed,
            max_answers: Some(self.max_answers as usize),
            all_missing: self.all_missing,
            attempts: self.attempts.map(|attempts| attempts as usize),
            existing: match (self.add, self.replace) {
                (true, _) => Existing::Keep,
                (_, true) => Existing::Replace,
                _ => Existing::Refuse,
            },
            betae: self.betae.clone(),
            examples: self.show,
        }
    }
}

pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    use_threads(args.threads)?;
    let engine = Engine::open(&args.dir)?;
    match engine.sample(&args.options(), &watched(signals::watched_control()?)) {
        Ok(sampled) => {
            show(args, &sampled.types)?;
            for shape in sampled.not_in_betae {
                output::say(&format!(
                    "warning: {shape} has none of the structures of the BetaE files: its queries are in {}, not in \
                     the BetaE folder",
                    output::typed(&args.dir)
                ));
            }
            Ok(())
        }
        Err(Error::Workflow(WorkflowError::Stopped)) => {
            output::say("stopped; nothing was written");
            Err(Stopped.into())
        }
        Err(Error::Sample(error)) => {
            if let SampleError::NothingFound(sampled) = &error {
                show(args, &sampled.types)?;
            }
            Err(Error::from(error).into())
        }
        Err(error) => Err(error.into()),
    }
}

/// The control with a progress bar for each type, and a warning where fewer queries were found than wanted.
fn watched(control: Control) -> Control {
    let bar: Arc<Mutex<ProgressBar>> = Arc::new(Mutex::new(ProgressBar::hidden()));
    let [begins, found, ends] = std::array::from_fn(|_| Arc::clone(&bar));
    control
        .on(move |SamplingBegins { split, shape, wanted }: &SamplingBegins| {
            let style = ProgressStyle::with_template("{prefix:>5} {msg} {wide_bar} {pos}/{len}")
                .unwrap_or_else(|_| ProgressStyle::default_bar());
            let new = ProgressBar::new(*wanted as u64).with_style(style).with_prefix(split.name());
            new.set_message(shape.clone());
            *begins.lock().unwrap_or_else(PoisonError::into_inner) = new;
        })
        .on(move |it: &QueriesFound| {
            found.lock().unwrap_or_else(PoisonError::into_inner).set_position(it.found as u64);
        })
        .on(move |it: &SampledType| {
            ends.lock().unwrap_or_else(PoisonError::into_inner).finish_and_clear();
            if let Some(shortfall) = &it.shortfall {
                output::say(&format!("warning: {shortfall}"));
            }
        })
}

fn show(args: &Args, types: &[SampledType]) -> anyhow::Result<()> {
    let mut out = output::out(args.json);
    if args.json {
        serde_json::to_writer_pretty(&mut out, types)?;
        writeln!(out)?;
        return Ok(());
    }
    let mut table = output::table(
        &["type", "split", "queries", "easy answers a query", "hard answers a query", "walks"],
        &[2, 3, 4, 5],
    );
    for sampled in types {
        let mean = |answers: usize| match sampled.queries {
            0 => "–".to_owned(),
            queries => format!("{:.1}", answers as f64 / queries as f64),
        };
        table.add_row([
            sampled.shape.clone(),
            sampled.split.to_string(),
            output::grouped(sampled.queries),
            mean(sampled.easy_answers),
            mean(sampled.hard_answers),
            output::grouped(sampled.walks.tried),
        ]);
    }
    write!(out, "{}", output::render(&table))?;
    for SampledType { shape, examples, .. } in types {
        if !examples.is_empty() {
            writeln!(out, "\n── {shape}")?;
        }
        for ExampleQuery { question, easy, easy_count, hard, hard_count } in examples {
            writeln!(out, "  {question}")?;
            for (kind, names, count) in [("easy", easy, *easy_count), ("hard", hard, *hard_count)] {
                let more = if count > names.len() { " · …" } else { "" };
                writeln!(out, "    {kind} ({count}): {}{more}", names.join(" · "))?;
            }
        }
    }
    Ok(())
}
