//! `relatum train`: edges in, a link predictor out.

use std::io::Write;
use std::path::PathBuf;

use relatum::engine::{Divergence, Search, Start, TrainOptions, Trained, TrainingBegins, WorkflowError};
use relatum::graph::Split;
use relatum::project::Outcome;
use relatum::train::{Recommendation, Settings, TrainError, cool_down, recommend};
use relatum::{Engine, Error};

use super::baseline;
use super::searching;
use super::settings::{Flags, flags_for};
use super::training::Watch;
use crate::exit::Stopped;
use crate::{output, signals};

/// Train a link predictor on the edges of a project
///
/// Without flags, settings are chosen by the size of the graph and shown with their reasons. Those
/// that differ most between graphs (--reg, --lr, --batch-size, --relation-loss) are searched first
/// where they are not given: short runs, then longer ones of the best, compared by validation MRR.
/// The best model by validation MRR is kept; Ctrl-C stops after the batch, and --resume goes on. An
/// existing model is replaced only with --restart, and only when there is something to save.
///
/// `87% of peak` means: of the rate at which this machine multiplies matrices of this size and does
/// nothing else, measured before the first epoch, training reaches 87%.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  relatum train movies/
  relatum train fb15k-237/ --predictor complex --rank 1000 --reg 0.05 --batch-size 1000 --epochs 100
  relatum train movies/ --model small --rank 32 --epochs 10
  relatum train movies/ --resume
  relatum train movies/ --search off
  relatum train fb15k-237/ --baseline query2box")]
pub(crate) struct Args {
    /// The project folder
    dir: PathBuf,
    /// The name of the model [default: default, or what `relatum models --default` chose]
    #[arg(long, value_name = "NAME")]
    model: Option<String>,
    #[command(flatten)]
    flags: Flags,
    #[command(flatten)]
    baseline: baseline::BaselineFlags,
    /// The work that the search for settings may take, as a share of the run itself, or `off` [default:
    /// 0.25, and none on graphs that train in seconds]
    #[arg(long, value_name = "SHARE|off", value_parser = searching::parse, conflicts_with_all = ["resume", "baseline"])]
    search: Option<Search>,
    /// Threads to use [default: all cores]
    #[arg(long, value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: Option<u16>,
    /// Go on where an earlier run of this model was stopped or killed
    #[arg(long, conflicts_with = "restart")]
    resume: bool,
    /// Begin anew and replace the model of this name, whether finished, imported or half trained
    #[arg(long)]
    restart: bool,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    use_threads(args.threads)?;
    let engine = Engine::open(&args.dir)?;
    let start = match (args.resume, args.restart) {
        (true, _) => Start::Resume,
        (_, true) => Start::Restart,
        _ => Start::New,
    };
    let given = args.flags.given();
    if let Some(kind) = args.baseline.kind() {
        let settings = args.baseline.given(&given);
        return baseline::run(&args.dir, &engine, kind, args.model.clone(), settings, start);
    }
    let options = TrainOptions {
        model: args.model.clone(),
        settings: given,
        start,
        search: args.search.unwrap_or_default(),
    };
    let validated = !engine.graph().edges(Split::Valid).is_empty();
    let watch = Watch::default();
    let control = searching::shown(signals::watched_control()?)
        .on(move |begins: &TrainingBegins| introduce(begins, validated));
    let trained = engine.train(&options, &watch.over(control));
    watch.end();
    let trained = trained.map_err(|error| advised(args, &engine, error))?;
    conclude(args, &engine, &trained)
}

/// Shows what is trained, and why these settings were chosen.
fn introduce(begins: &TrainingBegins, validated: bool) {
    if let Some(at) = begins.resumed {
        output::say(&format!("resuming {} after epoch {}, batch {}", begins.name, at.epoch, at.batch));
    }
    if let Some(recommended) = &begins.recommended {
        output::say(&chosen(recommended, &begins.settings, validated));
    }
    if let Some((looked_at, pairs)) = begins.validation_sample {
        output::say(&sample(looked_at, pairs));
    }
}

/// The note that validation ranks only a sample.
fn sample(looked_at: usize, pairs: usize) -> String {
    format!(
        "validation ranks a sample: {} of {} (head, relation) pairs, evenly spread, because all of them \
         would take too long; `relatum link-eval` ranks all",
        output::grouped(looked_at),
        output::grouped(pairs)
    )
}

/// A divergence, with the command to try next.
fn advised(args: &Args, engine: &Engine, error: Error) -> anyhow::Error {
    let Error::Workflow(WorkflowError::Diverged(left)) = &error else { return error.into() };
    let Divergence { error: TrainError::Diverged { learning_rate, .. }, settings, .. } = left.as_ref() else {
        return error.into();
    };
    let calmer = Settings { learning_rate: learning_rate / 10.0, ..settings.clone() };
    let flags = flags_for(&calmer, &recommend(engine.graph()).settings);
    let (dir, model) = (args.dir.display(), model_flag(args));
    anyhow::anyhow!("{error}\nnext: relatum train {dir}{model} --restart{flags}")
}

/// The flag that names the model, if one was named.
fn model_flag(args: &Args) -> String {
    args.model.as_ref().map_or_else(String::new, |name| format!(" --model {name}"))
}

/// Rayon's global pool, of this many threads.
pub(super) fn use_threads(threads: Option<u16>) -> anyhow::Result<()> {
    if let Some(threads) = threads {
        rayon::ThreadPoolBuilder::new().num_threads(threads.into()).build_global()?;
    }
    Ok(())
}

/// The settings in a table, with the reason of each that was not given.
fn chosen(recommendation: &Recommendation, settings: &Settings, validated: bool) -> String {
    let recommended = &recommendation.settings;
    let mut table = output::table(&["setting", "value", "why"], &[]);
    table.add_row([
        "predictor",
        &settings.predictor,
        if settings.predictor == recommended.predictor { "the paper's" } else { "given" },
    ]);
    let values = settings.in_words();
    let defaults = recommended.in_words();
    for ((name, value), (_, default)) in values.into_iter().zip(defaults).skip(1) {
        let reason = recommendation.reasons.iter().find(|(setting, ..)| *setting == name);
        let reason = reason.map_or("the paper's", |(.., reason)| reason.as_str());
        let (value, why) = match name {
            "validation" if !validated => ("none".to_owned(), "there are no validation edges"),
            "cool-down" if settings.cool_down == 0 => (value, "less than ten epochs, or not wanted"),
            "cool-down" if settings.cool_down == cool_down(settings.epochs) => (value, reason),
            _ if value != default => (value, "given"),
            "seed" => (value, "any will do; the same gives the same model"),
            // The recommended reason mentions the recommended patience.
            "epochs" if settings.patience != recommended.patience => (value, "by the size of the graph"),
            _ => (value, reason),
        };
        table.add_row([name, &value, why]);
    }
    output::render(&table)
}

fn conclude(args: &Args, engine: &Engine, trained: &Trained) -> anyhow::Result<()> {
    let dir = args.dir.display();
    let mut out = output::out(false);
    let epoch = trained.epochs;
    let model = model_flag(args);
    match trained.outcome {
        Outcome::Interrupted if trained.searching => {
            writeln!(out, "stopped {}; everything is saved", trained.position)?;
            writeln!(out, "next: relatum train {dir}{model} --resume")?;
            return Err(Stopped.into());
        }
        Outcome::Interrupted => {
            writeln!(out, "stopped in epoch {}; everything is saved", epoch + 1)?;
            writeln!(out, "next: relatum train {dir}{model} --resume")?;
            return Err(Stopped.into());
        }
        Outcome::StoppedEarly => {
            let Settings { patience, cool_down, .. } = trained.settings;
            let validations = if patience == 1 { "one validation" } else { "several validations" };
            let cooled = if cool_down == 0 { "" } else { ", and cooled down" };
            writeln!(out, "stopped after epoch {epoch}: got no better for {validations}{cooled}")?;
        }
        Outcome::Finished => writeln!(out, "trained {epoch} epochs")?,
    }
    if let Some((epoch, valid)) = trained.best {
        let [h1, h3, h10] = valid.hits;
        writeln!(
            out,
            "kept the model of epoch {epoch}: valid MRR {:.4}, H@1 {h1:.3}, H@3 {h3:.3}, H@10 {h10:.3} (filtered, {} predictions{})",
            valid.mrr,
            output::grouped(valid.count),
            if trained.sampled { ", a sample" } else { "" }
        )?;
    }
    if let Some(edges) = trained.fitted {
        let edges = output::counted(edges as u64, "validation edge");
        writeln!(
            out,
            "fitted truth values to {edges}, so that they are probabilities: --calibration fitted"
        )?;
    }
    writeln!(out, "model: {}", trained.file.display())?;
    let held_out = [Split::Test, Split::Valid].into_iter().find(|it| !engine.graph().edges(*it).is_empty());
    let evaluate = held_out
        .map_or_else(String::new, |split| format!("relatum link-eval {dir}{model} --split {split}, "));
    writeln!(out, "next: {evaluate}relatum ask {dir}{model} 'QUERY'")?;
    Ok(())
}
