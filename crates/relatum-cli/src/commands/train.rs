//! `relatum train`: edges in, a link predictor out.

use std::io::{IsTerminal, Write};
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::time::Instant;

use indicatif::{HumanDuration, ProgressBar, ProgressStyle};
use relatum::graph::Split;
use relatum::project::ModelFolder;
use relatum::project::Project;
use relatum::project::{Checkpoint, EpochRecord, Event, Outcome, Run};
use relatum::train::{
    BatchReport, Floor, Recommendation, Settings, TrainError, Trainer, cool_down, recommend,
};

use super::model;
use super::settings::{Flags, flags_for};
use crate::exit::{Misuse, Stopped};
use crate::{output, signals};

/// Train a link predictor on the edges of a project
///
/// Without flags, settings are chosen by the size of the graph and shown with their reasons. The
/// best model by validation MRR is kept; Ctrl-C stops after the batch, and --resume goes on. A model
/// that is there already is replaced only with --restart, and only when there is something to save.
///
/// `87% of peak` means: of the rate at which this machine multiplies matrices of this size and does
/// nothing else, measured before the first epoch, training reaches 87%.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  relatum train movies/
  relatum train fb15k-237/ --model complex --rank 1000 --reg 0.05 --batch-size 1000 --epochs 100
  relatum train movies/ --name small --rank 32 --epochs 10
  relatum train movies/ --resume")]
pub(crate) struct Args {
    /// The project folder
    dir: PathBuf,
    /// The name of the model [default: default, or what `relatum models --default` chose]
    #[arg(long)]
    name: Option<String>,
    #[command(flatten)]
    flags: Flags,
    /// Threads to use [default: all cores]
    #[arg(long, value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: Option<u16>,
    /// Go on where an earlier run of this model was stopped or killed
    #[arg(long, conflicts_with = "restart")]
    resume: bool,
    /// Begin anew and replace the model of this name, finished, imported or half trained
    #[arg(long)]
    restart: bool,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    use_threads(args.threads)?;
    let project = Project::open(&args.dir)?;
    let folder = model::folder(&project, args.name.as_deref())?;
    let _lock = folder.lock()?;
    let mut out = std::io::stderr();
    let mut run = if args.resume {
        let settings = resumed_settings(args, &project, &folder)?;
        let name = folder.name().to_owned();
        let run = Run::resume(&project, folder, Some((settings.epochs, settings.cool_down)))?;
        let at = run.checkpoint().progress;
        writeln!(out, "resuming {name} after epoch {}, batch {}", at.epoch, at.batch)?;
        run
    } else {
        if !args.restart {
            refuse_to_discard(&project, &folder)?;
        }
        let recommended = recommend(project.graph());
        let settings = args.flags.common.cooled(args.flags.over(recommended.settings.clone()));
        let validated = !project.graph().edges(Split::Valid).is_empty();
        writeln!(out, "{}", chosen(&recommended, &settings, validated))?;
        Run::new(&project, folder, settings)?
    };
    if let Some((looked_at, pairs)) = run.validation_sample() {
        writeln!(out, "{}", sample(looked_at, pairs))?;
    }
    signals::watch()?;
    let outcome = watch(&mut run, "").map_err(|error| advised(args, &project, &run, error))?;
    conclude(args, &project, &run, outcome)
}

/// That validation does not look at everything.
fn sample(looked_at: usize, pairs: usize) -> String {
    format!(
        "validation looks at a sample: {} of {} (head, relation) pairs, evenly spread, because all of them \
         would take too long; `relatum link-eval` looks at all",
        output::grouped(looked_at),
        output::grouped(pairs)
    )
}

/// A divergence, with what is left of the run and the command to try next.
fn advised(args: &Args, project: &Project, run: &Run<'_>, error: anyhow::Error) -> anyhow::Error {
    let Some(TrainError::Diverged { learning_rate, .. }) = error.downcast_ref() else { return error };
    let kept = match run.kept() {
        Some(at) if at.step > 0 => {
            format!("the checkpoint after epoch {}, batch {} is kept", at.epoch, at.batch)
        }
        _ => "nothing of this run was saved".to_owned(),
    };
    let model = run.folder().model_file();
    let model = if model.exists() { format!("; {} is as it was", model.display()) } else { String::new() };
    let calmer = Settings { learning_rate: learning_rate / 10.0, ..run.checkpoint().settings.clone() };
    let flags = flags_for(&calmer, &recommend(project.graph()).settings);
    let (dir, name) = (args.dir.display(), flag_of_name(args, "--name"));
    anyhow::anyhow!("{error}\n{kept}{model}\nnext: relatum train {dir}{name} --restart{flags}")
}

fn flag_of_name(args: &Args, flag: &str) -> String {
    args.name.as_ref().map_or_else(String::new, |name| format!(" {flag} {name}"))
}

/// Rayon's global pool, of this many threads.
pub(super) fn use_threads(threads: Option<u16>) -> anyhow::Result<()> {
    if let Some(threads) = threads {
        rayon::ThreadPoolBuilder::new().num_threads(threads.into()).build_global()?;
    }
    Ok(())
}

/// Trains with a progress bar on a terminal and a line an epoch elsewhere.
pub(super) fn watch(run: &mut Run<'_>, prefix: &str) -> anyhow::Result<Outcome> {
    let mut display = Display::new(run, prefix);
    let outcome = run.train(|event| {
        display.show(event);
        if signals::stop_requested() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    display.bar.finish_and_clear();
    Ok(outcome?)
}

/// The settings of the checkpoint; flags may say the same, or how many epochs there shall
/// be and how many of them to cool down.
fn resumed_settings(args: &Args, project: &Project, folder: &ModelFolder) -> anyhow::Result<Settings> {
    let Some(checkpoint) = Checkpoint::read(project, folder)? else {
        let dir = args.dir.display();
        return Err(Misuse(format!(
            "there is nothing to resume: {dir} has no unfinished run of `{}`; train without --resume",
            folder.name()
        ))
        .into());
    };
    let mut wanted = args.flags.over(checkpoint.settings.clone());
    let Settings { epochs, cool_down: cools, .. } = checkpoint.settings;
    if wanted.epochs != epochs && cools == cool_down(epochs) {
        // It was a tenth of the epochs, and stays so.
        wanted = args.flags.common.cooled(wanted);
    }
    let done = checkpoint.epochs.len();
    if wanted.epochs < done {
        return Err(Misuse(format!(
            "the run to resume has done {done} epochs already, and --epochs {} is less: ask for more, or leave it out",
            wanted.epochs
        ))
        .into());
    }
    let same = Settings { epochs, cool_down: cools, ..wanted.clone() };
    if same != checkpoint.settings {
        return Err(Misuse(format!(
            "the run to resume was begun with other settings; leave the flags away, or use --restart\n  begun with: {}\n  asked for:  {}",
            one_line(&checkpoint.settings),
            one_line(&wanted)
        ))
        .into());
    }
    Ok(wanted)
}

/// Hours of work must not vanish because a flag was forgotten.
fn refuse_to_discard(project: &Project, folder: &ModelFolder) -> anyhow::Result<()> {
    let name = folder.name();
    if let Some(run) = unfinished(project, folder) {
        return Err(Misuse(format!(
            "an unfinished run of `{name}` is here, {run}: --resume goes on with it, --restart discards it"
        ))
        .into());
    }
    if folder.model_file().exists() {
        return Err(Misuse(format!(
            "there is a model `{name}` already: choose another --name, or --restart to replace it"
        ))
        .into());
    }
    Ok(())
}

/// How far a run has come that could be resumed, if there is one.
pub(super) fn unfinished(project: &Project, folder: &ModelFolder) -> Option<String> {
    // A checkpoint of another graph or version is of no use to anyone.
    let checkpoint = Checkpoint::read(project, folder).ok()??;
    (!checkpoint.finished && checkpoint.progress.step > 0).then(|| checkpoint.position())
}

/// The settings in a table, with the reason of each that was not given.
fn chosen(recommendation: &Recommendation, settings: &Settings, validated: bool) -> String {
    let recommended = &recommendation.settings;
    let mut table = output::table(&["setting", "value", "why"], &[]);
    table.add_row([
        "model",
        &settings.model,
        if settings.model == recommended.model { "the paper's" } else { "given" },
    ]);
    let values = one_line_pairs(settings);
    let defaults = one_line_pairs(recommended);
    for ((name, value), (_, default)) in values.into_iter().zip(defaults).skip(1) {
        let reason = recommendation.reasons.iter().find(|(setting, ..)| *setting == name);
        let reason = reason.map_or("the paper's", |(.., reason)| reason.as_str());
        let (value, why) = match name {
            "validation" if !validated => ("none".to_owned(), "there are no validation edges"),
            "cool-down" if settings.cool_down == 0 => (value, "less than ten epochs, or not wanted"),
            "cool-down" if settings.cool_down == cool_down(settings.epochs) => (value, reason),
            _ if value != default => (value, "given"),
            "seed" => (value, "any will do; the same gives the same model"),
            // The reason speaks of the patience that was recommended.
            "epochs" if settings.patience != recommended.patience => (value, "by the size of the graph"),
            _ => (value, reason),
        };
        table.add_row([name, &value, why]);
    }
    output::render(&table)
}

pub(super) fn one_line(settings: &Settings) -> String {
    let pairs = one_line_pairs(settings);
    pairs.into_iter().map(|(name, value)| format!("{name} {value}")).collect::<Vec<_>>().join(", ")
}

fn one_line_pairs(s: &Settings) -> Vec<(&'static str, String)> {
    vec![
        ("model", s.model.clone()),
        ("rank", s.rank.to_string()),
        ("epochs", s.epochs.to_string()),
        ("batch size", s.batch_size.to_string()),
        ("regulariser", format!("{}, weight {}", s.regularizer.name(), s.regularizer_weight)),
        ("optimiser", format!("{}, rate {}", s.optimizer.name(), s.learning_rate)),
        (
            "cool-down",
            match s.cool_down {
                0 => "none".to_owned(),
                1 => "the last epoch".to_owned(),
                epochs => format!("the last {epochs} epochs"),
            },
        ),
        ("relation loss", s.relation_loss.to_string()),
        ("candidates", s.candidates.map_or("all entities".to_owned(), |n| n.to_string())),
        ("validation", format!("every {} epochs, patience {}", s.eval_every, s.patience)),
        ("initial scale", s.init_scale.to_string()),
        ("seed", s.seed.to_string()),
    ]
}

/// What a person sees while it runs.
struct Display {
    bar: ProgressBar,
    prefix: String,
    epochs: usize,
    epoch: usize,
    triples: usize,
    rows: usize,
    flops_a_row: f64,
    peak: f64,
    began: Instant,
    /// Batches, rows and triples of the epoch that another run has done already.
    skipped: Option<BatchReport>,
}

impl Display {
    fn new(run: &Run<'_>, prefix: &str) -> Self {
        let (trainer, checkpoint) = (run.trainer(), run.checkpoint());
        let terminal = std::io::stderr().is_terminal();
        let bar = if terminal { ProgressBar::new(trainer.triples() as u64) } else { ProgressBar::hidden() };
        let template = "{prefix} {bar:24} {wide_msg}";
        bar.set_style(
            ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar()),
        );
        let rows = trainer.batch_rows();
        let mean_rows = (rows.iter().sum::<usize>() / rows.len().max(1)).max(1);
        // Small enough to measure in a moment, large enough to reach the rate of the real products.
        let width = (trainer.flops(1) / 6.0) as usize / columns(trainer).max(1);
        let peak = Floor::new(mean_rows, columns(trainer).min(16_384), width.max(1)).rate(mean_rows);
        Self {
            bar,
            prefix: prefix.to_owned(),
            epochs: checkpoint.last_epoch(),
            epoch: checkpoint.epochs.len(),
            triples: trainer.triples(),
            rows: 0,
            flops_a_row: trainer.flops(1),
            peak,
            began: Instant::now(),
            skipped: None,
        }
    }

    fn show(&mut self, event: Event) {
        match event {
            Event::Batch(report) => self.batch(report),
            Event::Epoch(record) => self.epoch(&record),
            Event::EndsAfter(last) => {
                self.epochs = last;
                self.say(&format!("{}no better for a while: cooling down until epoch {last}", self.prefix));
            }
        }
    }

    fn batch(&mut self, report: BatchReport) {
        if self.skipped.is_none() {
            self.skipped = Some(report);
            self.began = Instant::now();
            self.rows = 0;
            return;
        }
        self.rows += report.rows;
        if self.bar.is_hidden() {
            return;
        }
        let first = self.skipped.map_or(0, |first| first.triples);
        let seconds = self.began.elapsed().as_secs_f64();
        let rate = (report.triples - first) as f64 / seconds.max(1e-9);
        let left = (self.epochs - self.epoch) * self.triples - report.triples;
        let left = std::time::Duration::from_secs_f64(left as f64 / rate.max(1e-9));
        self.bar.set_position(report.triples as u64);
        self.bar.set_prefix(format!("{}epoch {}/{}", self.prefix, self.epoch + 1, self.epochs));
        self.bar.set_message(format!(
            "loss {:.4} · {} triples/s · {} of peak · {} left",
            report.loss,
            output::grouped(rate as u64),
            self.share(seconds),
            HumanDuration(left)
        ));
    }

    /// The share of the machine's matrix-product rate that went into products.
    fn share(&self, seconds: f64) -> String {
        let share = self.rows as f64 * self.flops_a_row / seconds.max(1e-9) / self.peak;
        format!("{:.0}%", 100.0 * share.min(1.0))
    }

    fn epoch(&mut self, record: &EpochRecord) {
        self.epoch = record.epoch;
        let valid = record.valid.map_or_else(String::new, |valid| {
            format!(" · valid MRR {:.4}, H@10 {:.3}", valid.mrr, valid.hits[2])
        });
        let rate = output::grouped((self.triples as f64 / record.seconds.max(1e-9)) as u64);
        let seconds = self.began.elapsed().as_secs_f64().min(record.seconds);
        let line = format!(
            "{}epoch {}/{} · loss {:.4} · {:.1} s · {rate} triples/s · {} of peak{valid}",
            self.prefix,
            record.epoch,
            self.epochs,
            record.loss,
            record.seconds,
            self.share(seconds)
        );
        self.skipped = None;
        if self.bar.is_hidden() || record.valid.is_some() {
            self.say(&line);
        }
    }

    fn say(&self, line: &str) {
        if self.bar.is_hidden() {
            eprintln!("{line}");
        } else {
            self.bar.println(line);
        }
    }
}

fn columns(trainer: &Trainer) -> usize {
    trainer.settings().candidates.map_or(trainer.entity_count(), |n| n.min(trainer.entity_count()))
}

fn conclude(args: &Args, project: &Project, run: &Run<'_>, outcome: Outcome) -> anyhow::Result<()> {
    let dir = args.dir.display();
    let mut out = output::out(false);
    let checkpoint = run.checkpoint();
    let epoch = checkpoint.epochs.len();
    let name = flag_of_name(args, "--name");
    match outcome {
        Outcome::Interrupted => {
            writeln!(out, "stopped in epoch {}; everything is saved", epoch + 1)?;
            writeln!(out, "next: relatum train {dir}{name} --resume")?;
            return Err(Stopped.into());
        }
        Outcome::StoppedEarly => {
            let Settings { patience, cool_down, .. } = checkpoint.settings;
            let validations = if patience == 1 { "one validation" } else { "several validations" };
            let cooled = if cool_down == 0 { "" } else { ", and cooled down" };
            writeln!(out, "stopped after epoch {epoch}: got no better for {validations}{cooled}")?;
        }
        Outcome::Finished => writeln!(out, "trained {epoch} epochs")?,
    }
    if let Some((epoch, valid)) = checkpoint.best {
        let [h1, h3, h10] = valid.hits;
        writeln!(
            out,
            "kept the model of epoch {epoch}: valid MRR {:.4}, H@1 {h1:.3}, H@3 {h3:.3}, H@10 {h10:.3} (filtered, {} predictions{})",
            valid.mrr,
            output::grouped(valid.count),
            if run.validation_sample().is_some() { ", a sample" } else { "" }
        )?;
    }
    writeln!(out, "model: {}", run.folder().model_file().display())?;
    let held_out = [Split::Test, Split::Valid].into_iter().find(|it| !project.graph().edges(*it).is_empty());
    let evaluate =
        held_out.map_or_else(String::new, |split| format!("relatum link-eval {dir}{name} --split {split}, "));
    let model = flag_of_name(args, "--model");
    writeln!(out, "next: {evaluate}relatum ask {dir}{model} 'QUERY'")?;
    Ok(())
}
