//! `relatum grid`: tries every combination of settings and keeps the best.

use std::io::Write;
use std::path::PathBuf;

use relatum::Engine;
use relatum::engine::{GridOptions, Searched, TrialBegins, TrialDiverged};
use relatum::train::{GivenSettings, Grid};

use super::settings::{Common, positive, rate, weight};
use super::train::use_threads;
use super::training::Watch;
use crate::exit::Stopped;
use crate::{output, signals};

/// Train every combination of settings, choose by validation MRR, and install the winner
///
/// Lists are separated by commas. If it is stopped or killed, the same command goes on where it was:
/// finished runs are not repeated. A run that diverges is listed as such and cannot win.
#[derive(clap::Args)]
#[command(after_help = "Example:
  relatum grid fb15k-237/ --rank 100,200 --batch-size 500,1000 --reg 0.01,0.05,0.1 --epochs 30")]
pub(crate) struct Args {
    /// The project folder
    dir: PathBuf,
    /// The name under which the winner is installed
    #[arg(long, value_name = "NAME")]
    model: Option<String>,
    /// Link predictors to try
    #[arg(long, value_delimiter = ',', value_parser = clap::builder::PossibleValuesParser::new(relatum::model::predictor_names()))]
    predictor: Vec<String>,
    /// Ranks to try
    #[arg(long, value_delimiter = ',', value_parser = positive)]
    rank: Vec<usize>,
    /// Batch sizes to try, in triples
    #[arg(long, value_delimiter = ',', value_parser = positive)]
    batch_size: Vec<usize>,
    /// Weights of the regulariser to try
    #[arg(long, value_delimiter = ',', value_parser = weight)]
    reg: Vec<f32>,
    /// Learning rates to try
    #[arg(long, value_delimiter = ',', value_parser = rate)]
    lr: Vec<f32>,
    /// Weights of the relation loss to try
    #[arg(long, value_delimiter = ',', value_parser = weight)]
    relation_loss: Vec<f32>,
    /// Passes over the training edges, for every run
    #[arg(long, value_parser = positive)]
    epochs: Option<usize>,
    #[command(flatten)]
    common: Common,
    /// Replace a model of this name that no grid has installed
    #[arg(long)]
    replace: bool,
    /// Threads to use [default: all cores]
    #[arg(long, value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: Option<u16>,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    use_threads(args.threads)?;
    let engine = Engine::open(&args.dir)?;
    let options = GridOptions {
        model: args.model.clone(),
        grid: Grid {
            predictors: args.predictor.clone(),
            ranks: args.rank.clone(),
            batch_sizes: args.batch_size.clone(),
            regularizer_weights: args.reg.clone(),
            learning_rates: args.lr.clone(),
            relation_losses: args.relation_loss.clone(),
        },
        settings: GivenSettings { epochs: args.epochs, ..args.common.given() },
        replace: args.replace,
    };
    let watch = Watch::default();
    let (begins, diverged) = (watch.clone(), watch.clone());
    let control = signals::watched_control()?
        .on(move |TrialBegins { number, of, name }: &TrialBegins| {
            begins.prefix(&format!("[{number}/{of}] "));
            begins.say(name);
        })
        .on(move |TrialDiverged { what }: &TrialDiverged| diverged.say(&format!("diverged: {what}")));
    let searched = engine.grid(&options, &watch.over(control));
    watch.end();
    let searched = searched?;
    if searched.interrupted {
        println!("stopped; the same command goes on from here");
        return Err(Stopped.into());
    }
    show(&searched)
}

fn show(searched: &Searched) -> anyhow::Result<()> {
    let header = [
        "predictor",
        "rank",
        "batch",
        "reg",
        "lr",
        "relation loss",
        "best epoch",
        "valid MRR",
        "H@1",
        "H@3",
        "H@10",
        "minutes",
    ];
    let mut table = output::table(&header, &[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]);
    for run in &searched.trials {
        let (epoch, valid) = (run.best_epoch.unwrap_or_default(), run.valid.unwrap_or_default());
        let diverged = run.diverged.is_some();
        let s = &run.settings;
        let mut cells = vec![
            s.predictor.clone(),
            s.rank.to_string(),
            s.batch_size.to_string(),
            s.regularizer_weight.to_string(),
            s.learning_rate.to_string(),
            s.relation_loss.to_string(),
        ];
        if diverged {
            cells.extend(["diverged", "–", "–", "–", "–"].map(str::to_owned));
        } else {
            cells.extend([epoch.to_string(), format!("{:.4}", valid.mrr)]);
            cells.extend(valid.hits.map(|hits| format!("{hits:.3}")));
        }
        cells.push(format!("{:.1}", run.seconds / 60.0));
        table.add_row(cells);
    }
    let mut out = output::out(false);
    write!(out, "{}", output::render(&table))?;
    let Some(file) = &searched.file else {
        anyhow::bail!("every combination diverged, so none was installed: try lower learning rates (--lr)");
    };
    writeln!(out, "installed the first as {}", file.display())?;
    Ok(())
}
