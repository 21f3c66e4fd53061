//! The adaptive calibration, learned from small questions.

use std::io::Write;

use relatum::Engine;
use relatum::train::{CalibrationEnd, CalibrationEpoch};

use super::{Args, results_text};
use crate::exit::Stopped;
use crate::{output, signals};

pub(super) fn run(args: &Args, engine: &Engine) -> anyhow::Result<()> {
    let settings = args.settings();
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
            output::counted(settings.epochs as u64, "epoch"),
            settings.epochs * 2
        )),
        CalibrationEnd::Settled => {}
    }
    if args.json {
        let mut out = output::out(true);
        serde_json::to_writer_pretty(&mut out, &done)?;
        return Ok(writeln!(out)?);
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
    let results = results_text(done.kept, done.dropped, done.results_lost.as_deref());
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
