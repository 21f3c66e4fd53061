//! `relatum calibrate`: learns the adaptive calibration of a model.

use std::io::Write;
use std::path::PathBuf;

use relatum::Engine;
use relatum::engine::Calibration;
use relatum::project::Forgotten;
use relatum::train::{CalibrateSettings, CalibrationEnd, CalibrationEpoch};

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
    #[arg(long, value_name = "NAME")]
    model: Option<String>,
    /// How many questions to draw; a tenth of them is held out to choose the best epoch
    #[arg(long, default_value_t = CalibrateSettings::default().queries, value_parser = at_least_two)]
    queries: usize,
    /// How often each question is seen at most; it ends earlier when the held-out loss has nearly
    /// stopped falling
    #[arg(long, default_value_t = CalibrateSettings::default().epochs, value_parser = at_least_one)]
    epochs: usize,
    /// The learning rate
    #[arg(long, default_value_t = CalibrateSettings::default().learning_rate, value_parser = positive)]
    lr: f32,
    /// The seed of all random numbers; equal seeds give equal bytes
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Threads to use [default: all cores]
    #[arg(long, value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: Option<u16>,
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
    use_threads(args.threads)?;
    let engine = Engine::open(&args.dir)?;
    let settings = CalibrateSettings {
        queries: args.queries,
        epochs: args.epochs,
        learning_rate: args.lr,
        seed: args.seed,
        ..CalibrateSettings::default()
    };
    let control = signals::watched_control()?.on(|&CalibrationEpoch { epoch, loss }: &CalibrationEpoch| {
        let what = if epoch == 0 { "sigmoid".to_owned() } else { format!("epoch {epoch}") };
        output::say(&format!("{what:<10} held-out loss {loss:.4}"));
    });
    let done = engine.calibrate(args.model.as_deref(), settings, &control)?;
    match done.end {
        CalibrationEnd::Interrupted => {
            output::say("stopped: the model is unchanged");
            return Err(Stopped.into());
        }
        CalibrationEnd::StillFalling => output::say(&format!(
            "note: this ended at the limit of {}, while the held-out loss still fell: --epochs {} allows more",
            output::counted(args.epochs as u64, "epoch"),
            args.epochs * 2
        )),
        CalibrationEnd::Settled => {}
    }
    if !done.saved {
        let kept = if done.had_lines { "keeps the calibration it had" } else { "stays uncalibrated" };
        writeln!(
            output::out(false),
            "no epoch was better than sigmoid on the held-out questions (loss {:.4}): `{}` {kept}",
            done.losses[0],
            done.name,
        )?;
        return Ok(());
    }
    let results = results_text(&done);
    writeln!(
        output::out(false),
        "calibrated `{}`: {} relations by {} questions; held-out loss {:.4}, with sigmoid {:.4} (epoch {})\n\
         {results}next: relatum ask {} '…' --calibration adaptive",
        done.name,
        output::grouped(done.relations),
        output::grouped(done.queries),
        done.losses[done.epoch],
        done.losses[0],
        done.epoch,
        output::typed(&args.dir),
    )?;
    Ok(())
}

/// Which of the tuned choices and results of the model were kept, and which were dropped.
fn results_text(done: &Calibration) -> String {
    if let Some(error) = &done.results_lost {
        output::say(&format!("warning: the kept results of the model could not be updated: {error}"));
    }
    let counted = |count: Forgotten| {
        let parts = [(count.choices, "tuned choice"), (count.cells, "result")];
        let parts = parts.into_iter().filter(|(number, _)| *number > 0);
        parts.map(|(number, noun)| output::counted(number as u64, noun)).collect::<Vec<_>>().join(" and ")
    };
    let mut text = String::new();
    if done.kept != Forgotten::default() {
        text += &format!("kept {}: made without the calibration\n", counted(done.kept));
    }
    if done.dropped != Forgotten::default() {
        text += &format!("dropped {}: made with the earlier calibration\n", counted(done.dropped));
    }
    text
}
