//! `relatum grid`: tries every combination of settings and keeps the best.

use std::fs;
use std::io::Write;
use std::path::PathBuf;

use anyhow::Context;
use relatum::graph::Split;
use relatum::model::LinkMetrics;
use relatum::project::ModelFolder;
use relatum::project::Project;
use relatum::project::{Checkpoint, Outcome, Run};
use relatum::store::write_atomically;
use relatum::train::{Grid, Settings, TrainError, recommend};
use serde_json::json;

use super::model;
use super::settings::{Common, positive, rate, weight, without_needless_relation_loss};
use super::train::{unfinished, use_threads, watch};
use crate::exit::{Misuse, Stopped};
use crate::{output, signals};

/// Train every combination of settings, choose by validation MRR, and install the winner
///
/// Lists are separated by commas. Stopped or killed, the same command goes on where it was:
/// finished runs are not repeated. A run that diverges is listed as such and cannot win.
#[derive(clap::Args)]
#[command(after_help = "Example:
  relatum grid fb15k-237/ --rank 100,200 --batch-size 500,1000 --reg 0.01,0.05,0.1 --epochs 30")]
pub(crate) struct Args {
    /// The project folder
    dir: PathBuf,
    /// The name under which the winner is installed
    #[arg(long)]
    name: Option<String>,
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
    /// Replace a model of this name that no grid has installed
    #[arg(long)]
    replace: bool,
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
    /// Why it came to no end, if it did not.
    diverged: Option<String>,
}

impl Tried {
    /// What it is chosen by: nothing, if it diverged.
    fn mrr(&self) -> f64 {
        self.best.filter(|_| self.diverged.is_none()).map_or(-1.0, |(_, valid)| valid.mrr)
    }
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
    let target = model::folder(&project, args.name.as_deref())?;
    let _lock = target.lock()?;
    if !args.replace {
        refuse_to_replace(&project, &target)?;
    }
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
    let base = args.common.cooled(base);
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
            return Err(Stopped.into());
        };
        tried.push(run);
        write_results(&target, &tried)?;
    }
    install(&target, &mut tried)?;
    show(&target, &tried)
}

/// A model that a person trained or imported must not vanish; the winner of an earlier grid may, as
/// its run is still there.
fn refuse_to_replace(project: &Project, target: &ModelFolder) -> anyhow::Result<()> {
    let name = target.name();
    if let Some(run) = unfinished(project, target) {
        return Err(Misuse(format!(
            "an unfinished run of `{name}` is here, {run}: choose another --name, or --replace it"
        ))
        .into());
    }
    let Ok(card) = fs::read(target.dir().join("card.json")) else { return Ok(()) };
    let runs = fs::read_dir(target.dir().join("grid")).into_iter().flatten().flatten();
    let installed =
        runs.into_iter().any(|run| fs::read(run.path().join("card.json")).is_ok_and(|c| c == card));
    if installed {
        return Ok(());
    }
    Err(Misuse(format!("there is a model `{name}` already: choose another --name, or --replace it")).into())
}

/// The reason of a run's divergence, in its folder: a run would diverge again.
const DIVERGED: &str = "diverged.txt";

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
    let mark = folder.dir().join(DIVERGED);
    let same = begun.as_ref().is_some_and(|checkpoint| checkpoint.settings.epochs == settings.epochs);
    let mut diverged = fs::read_to_string(&mark).ok().filter(|_| same);
    let mut run = match begun {
        Some(_) => Run::resume(project, folder.clone(), Some((settings.epochs, settings.cool_down)))?,
        None => Run::new(project, folder.clone(), settings.clone())?,
    };
    if !run.checkpoint().finished && diverged.is_none() {
        match watch(&mut run, prefix) {
            Ok(Outcome::Interrupted) => return Ok(None),
            Ok(_) => {}
            Err(error) if matches!(error.downcast_ref(), Some(TrainError::Diverged { .. })) => {
                eprintln!("{prefix}diverged: {error}");
                let text = error.to_string();
                write_atomically(&mark, |file| file.write_all(text.as_bytes()))?;
                diverged = Some(text);
            }
            Err(error) => return Err(error),
        }
    }
    let checkpoint = run.checkpoint();
    let seconds = checkpoint.epochs.iter().map(|epoch| epoch.seconds).sum();
    let (best, epochs) = (checkpoint.best, checkpoint.epochs.len());
    Ok(Some(Tried { settings: settings.clone(), folder, best, epochs, seconds, diverged }))
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
                "diverged": run.diverged,
            })
        })
        .collect();
    let text = serde_json::to_string_pretty(&rows)?;
    write_atomically(&target.dir().join("grid.json"), |file| writeln!(file, "{text}"))?;
    Ok(())
}

/// Sorts the runs, best first, and copies the first one's files to the model's own place.
fn install(target: &ModelFolder, tried: &mut [Tried]) -> anyhow::Result<()> {
    tried.sort_by(|a, b| b.mrr().total_cmp(&a.mrr()));
    let Some(winner) = tried.first().filter(|run| run.diverged.is_none()) else { return Ok(()) };
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
        let diverged = run.diverged.is_some();
        let s = &run.settings;
        let mut cells = vec![
            s.model.clone(),
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
    if tried.iter().all(|run| run.diverged.is_some()) {
        anyhow::bail!("every combination diverged, so none was installed: try lower learning rates (--lr)");
    }
    writeln!(out, "installed the first as {}", target.model_file().display())?;
    Ok(())
}
