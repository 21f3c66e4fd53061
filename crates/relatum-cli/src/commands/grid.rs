//! `relatum grid`: tries every combination of settings and keeps the best.

use std::fs;
use std::io::Write;
use std::path::PathBuf;

use anyhow::Context;
use relatum::graph::Split;
use relatum::model::{LinkMetrics, ModelFolder};
use relatum::store::{Project, write_atomically};
use relatum::train::{Checkpoint, Grid, Outcome, Run, Settings, recommend};
use serde_json::json;

use super::settings::{Common, positive, rate, weight, without_needless_relation_loss};
use super::train::{use_threads, watch};
use crate::exit::Misuse;
use crate::{output, signals};

/// Train every combination of settings, choose by validation MRR, and install the winner
///
/// Lists are separated by commas. Stopped or killed, the same command goes on where it was:
/// finished runs are not repeated.
#[derive(clap::Args)]
#[command(after_help = "Example:
  relatum grid fb15k-237/ --rank 100,200 --batch-size 500,1000 --reg 0.01,0.05,0.1 --epochs 30")]
pub(crate) struct Args {
    /// The project folder
    dir: PathBuf,
    /// The name under which the winner is installed
    #[arg(long, default_value = ModelFolder::DEFAULT)]
    name: String,
    /// Link predictors to try
    #[arg(long, value_delimiter = ',', value_parser = clap::builder::PossibleValuesParser::new(relatum::model::predictor_names()))]
    model: Vec<String>,
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
    /// Threads to use [default: all cores]
    #[arg(long, value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: Option<u16>,
}

struct Tried {
    settings: Settings,
    folder: ModelFolder,
    best: Option<(usize, LinkMetrics)>,
    epochs: usize,
    seconds: f64,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    use_threads(args.threads)?;
    let project = Project::open(&args.dir)?;
    if project.graph().edges(Split::Valid).is_empty() {
        return Err(Misuse(format!(
            "{} has no validation edges to choose by: make it with `relatum init … --split 0.9/0.05/0.05`",
            args.dir.display()
        ))
        .into());
    }
    let target = ModelFolder::of(&project, &args.name)?;
    let grid = Grid {
        models: args.model.clone(),
        ranks: args.rank.clone(),
        batch_sizes: args.batch_size.clone(),
        regularizer_weights: args.reg.clone(),
        learning_rates: args.lr.clone(),
        relation_losses: args.relation_loss.clone(),
    };
    let mut base = args.common.over(recommend(project.graph()).settings);
    base.epochs = args.epochs.unwrap_or(base.epochs);
    let mut all = grid.settings(&base);
    if args.relation_loss.is_empty() {
        all.iter_mut().for_each(without_needless_relation_loss);
    }
    // Every mistake is found before the first hour is spent.
    for settings in &all {
        settings.predictor().map_err(|error| Misuse(error.to_string()))?;
    }
    signals::watch()?;
    let mut tried = Vec::new();
    for (index, settings) in all.iter().enumerate() {
        let folder = target.within(&Grid::name(settings));
        let prefix = format!("[{}/{}] ", index + 1, all.len());
        eprintln!("{prefix}{}", Grid::name(settings));
        let Some(run) = try_one(&project, folder, settings, &prefix)? else {
            println!("stopped; the same command goes on from here");
            return Ok(());
        };
        tried.push(run);
        write_results(&target, &tried)?;
    }
    install(&target, &mut tried)?;
    show(&target, &tried)
}

/// Runs, resumes or looks up one combination; `None` if a stop was asked for.
fn try_one(
    project: &Project,
    folder: ModelFolder,
    settings: &Settings,
    prefix: &str,
) -> anyhow::Result<Option<Tried>> {
    let begun = Checkpoint::read(project, &folder)?.filter(|checkpoint| {
        Settings { epochs: settings.epochs, ..checkpoint.settings.clone() } == *settings
    });
    let mut run = match begun {
        Some(_) => Run::resume(project, folder.clone(), Some(settings.epochs))?,
        None => Run::new(project, folder.clone(), settings.clone())?,
    };
    if !run.checkpoint().finished && watch(&mut run, prefix)? == Outcome::Interrupted {
        return Ok(None);
    }
    let checkpoint = run.checkpoint();
    let seconds = checkpoint.epochs.iter().map(|epoch| epoch.seconds).sum();
    let (best, epochs) = (checkpoint.best, checkpoint.epochs.len());
    Ok(Some(Tried { settings: settings.clone(), folder, best, epochs, seconds }))
}

fn write_results(target: &ModelFolder, tried: &[Tried]) -> anyhow::Result<()> {
    let rows: Vec<_> = tried
        .iter()
        .map(|run| {
            json!({
                "name": run.folder.name(),
                "settings": run.settings,
                "epochs": run.epochs,
                "seconds": run.seconds,
                "best_epoch": run.best.map(|(epoch, _)| epoch),
                "valid": run.best.map(|(_, valid)| valid),
            })
        })
        .collect();
    let text = serde_json::to_string_pretty(&rows)?;
    write_atomically(&target.dir().join("grid.json"), |file| writeln!(file, "{text}"))?;
    Ok(())
}

/// Sorts the runs, best first, and copies the first one's files to the model's own place.
fn install(target: &ModelFolder, tried: &mut [Tried]) -> anyhow::Result<()> {
    let mrr = |run: &Tried| run.best.map_or(0.0, |(_, valid)| valid.mrr);
    tried.sort_by(|a, b| mrr(b).total_cmp(&mrr(a)));
    let Some(winner) = tried.first() else { return Ok(()) };
    for file in ["card.json", "training.jsonl", "training.svg", "checkpoint.safetensors", "model.safetensors"]
    {
        let from = winner.folder.dir().join(file);
        let bytes = fs::read(&from).with_context(|| format!("cannot read {}", from.display()))?;
        write_atomically(&target.dir().join(file), |out| out.write_all(&bytes))?;
    }
    Ok(())
}

fn show(target: &ModelFolder, tried: &[Tried]) -> anyhow::Result<()> {
    let header = [
        "model",
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
    for run in tried {
        let (epoch, valid) = run.best.unwrap_or_default();
        let s = &run.settings;
        let mut cells = vec![
            s.model.clone(),
            s.rank.to_string(),
            s.batch_size.to_string(),
            s.regularizer_weight.to_string(),
            s.learning_rate.to_string(),
            s.relation_loss.to_string(),
            epoch.to_string(),
            format!("{:.4}", valid.mrr),
        ];
        cells.extend(valid.hits.map(|hits| format!("{hits:.3}")));
        cells.push(format!("{:.1}", run.seconds / 60.0));
        table.add_row(cells);
    }
    let mut out = std::io::stdout().lock();
    write!(out, "{}", output::render(&table))?;
    writeln!(out, "installed the first as {}", target.model_file().display())?;
    Ok(())
}
