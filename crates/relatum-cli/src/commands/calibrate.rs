//! `relatum calibrate`: what a score of each relation is worth.

use std::io::Write;
use std::path::{Path, PathBuf};

use relatum::model::Model;
use relatum::project::Project;
use relatum::project::{Forgotten, Results};
use relatum::train::{CalibrateSettings, calibrate};

use super::model;
use super::train::use_threads;
use crate::exit::Stopped;
use crate::{output, signals};

/// Learn the adaptive calibration of a model
///
/// The embeddings stay as they are; each relation gets a line a·score + b, whose sigmoid is the
/// truth of its atoms. The lines are learned from small questions drawn from the training edges, and
/// kept with the model for --calibration adaptive.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  relatum calibrate movies/
  relatum ask movies/ '?G : exists F. stars(F, \"Martin Lawrence\") and has_genre(F, G)' --calibration adaptive")]
pub(crate) struct Args {
    /// The project folder
    dir: PathBuf,
    /// The name of the model [default: default, or what `relatum models --default` chose]
    #[arg(long)]
    model: Option<String>,
    /// How many questions to draw; a tenth of them is held out to choose the best epoch
    #[arg(long, default_value_t = CalibrateSettings::default().queries, value_parser = at_least_two)]
    queries: usize,
    /// How often each question is seen at most; it ends before when the held-out loss has all but
    /// stood still
    #[arg(long, default_value_t = 40, value_parser = at_least_one)]
    epochs: usize,
    /// The learning rate
    #[arg(long, default_value_t = CalibrateSettings::default().learning_rate, value_parser = positive)]
    lr: f32,
    /// What is drawn: equal seeds give equal bytes
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Threads to use [default: all cores]
    #[arg(long, value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: Option<u16>,
}

/// A held-out loss falls if it is below so much of the least before it.
const FALL: f64 = 0.999;
/// So many epochs in which it does not fall are the last.
const PATIENCE: usize = 3;

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
    use_threads(args.threads)?;
    let project = Project::open(&args.dir)?;
    let folder = model::folder(&project, args.model.as_deref())?;
    // Before the lock, which would make a folder for a model that is not there.
    folder.load(&project)?;
    let _lock = folder.lock()?;
    let stored = folder.load(&project)?;
    let settings = CalibrateSettings {
        queries: args.queries,
        epochs: args.epochs,
        learning_rate: args.lr,
        seed: args.seed,
        ..CalibrateSettings::default()
    };
    signals::watch()?;
    let (mut fell, mut least) = (0, f64::INFINITY);
    let mut still_falling = true;
    let mut show = |epoch: usize, loss: f64| {
        let what = if epoch == 0 { "sigmoid".to_owned() } else { format!("epoch {epoch}") };
        output::say(&format!("{what:<10} held-out loss {loss:.4}"));
        if loss < least * FALL {
            (fell, least) = (epoch, loss);
        }
        still_falling = epoch < fell + PATIENCE;
        still_falling && !signals::stop_requested()
    };
    let done = calibrate(&stored.model, project.graph(), settings, &mut show)?;
    if signals::stop_requested() {
        output::say("stopped: the model is as it was");
        return Err(Stopped.into());
    }
    if still_falling {
        output::say(&format!(
            "note: this ended at the limit of {}, while the held-out loss still fell: --epochs {} allows more",
            output::counted(args.epochs as u64, "epoch"),
            args.epochs * 2
        ));
    }
    if done.epoch == 0 {
        let kept =
            if stored.model.affine().is_some() { "keeps the lines it had" } else { "stays without lines" };
        writeln!(
            output::out(false),
            "no epoch was better than sigmoid on the held-out questions (loss {:.4}): `{}` {kept}",
            done.losses[0],
            folder.name(),
        )?;
        return Ok(());
    }
    let relations = done.affine.len();
    let Some(model) = stored.model.with_affine(done.affine) else {
        anyhow::bail!("the calibration does not fit the model");
    };
    folder.save(&model, &stored.card)?;
    let results = results_text(folder.dir(), &model);
    writeln!(
        output::out(false),
        "calibrated `{}`: {} relations by {} questions; held-out loss {:.4}, with sigmoid {:.4} (epoch {})\n\
         {results}next: relatum ask {} '…' --calibration adaptive",
        folder.name(),
        output::grouped(relations),
        output::grouped(done.queries),
        done.losses[done.epoch],
        done.losses[0],
        done.epoch,
        output::typed(&args.dir),
    )?;
    Ok(())
}

/// What became of the tuned choices and results that are kept with the model. The calibration is saved
/// already, so a file that cannot be read is a warning.
fn results_text(folder: &Path, model: &Model) -> String {
    let counted = |count: Forgotten| {
        let parts = [(count.choices, "tuned choice"), (count.cells, "result")];
        let parts = parts.into_iter().filter(|(number, _)| *number > 0);
        parts.map(|(number, noun)| output::counted(number as u64, noun)).collect::<Vec<_>>().join(" and ")
    };
    let (kept, forgotten) = match Results::recalibrate(folder, model) {
        Ok(Some(outcome)) => outcome,
        Ok(None) => return String::new(),
        Err(error) => {
            output::say(&format!("warning: the results that are kept with the model: {error}"));
            return String::new();
        }
    };
    let mut text = String::new();
    if kept != Forgotten::default() {
        text += &format!("kept {}: made without the calibration\n", counted(kept));
    }
    if forgotten != Forgotten::default() {
        text += &format!("dropped {}: made with the calibration that was there before\n", counted(forgotten));
    }
    text
}
