//! The fitted calibration, and how reliable truth values are before and after.

use std::io::Write;
use std::path::Path;

use anyhow::Context;
use relatum::Engine;
use relatum::benchmark::{Reliability, ReliabilityBin};
use relatum::engine::{BeforeAfter, Fitting, MEASURED_PAIRS};
use relatum::store::write_atomically;
use relatum::train::FitSettings;

use super::{Args, results_text};
use crate::{output, signals};

pub(super) fn run(args: &Args, engine: &Engine) -> anyhow::Result<()> {
    let control = signals::watched_control()?;
    let measured = args.measure.unwrap_or(MEASURED_PAIRS);
    let done = engine.fit(args.model.as_deref(), FitSettings::default(), measured, &control)?;
    let mut out = output::out(args.json);
    if args.json {
        serde_json::to_writer_pretty(&mut out, &done)?;
        writeln!(out)?;
    } else {
        write!(out, "{}", as_text(&done, args))?;
    }
    drop(out);
    if let Some(dir) = &args.plots {
        draw(dir, &done)?;
    }
    Ok(())
}

fn as_text(done: &Fitting, args: &Args) -> String {
    let [a, c, b] = done.common;
    let looked_at = if done.pairs < done.pairs_of_split {
        format!(
            "{} of {} (head, relation) pairs",
            output::grouped(done.pairs),
            output::grouped(done.pairs_of_split)
        )
    } else {
        output::counted(done.pairs as u64, "(head, relation) pair")
    };
    let mut text = format!(
        "fitted `{}` to {looked_at}, which have {} validation edges: {} relations, reciprocal ones included, with a curve \
         of their own, all others σ({a:.2} ln p {c:+.2} ln n {b:+.2})\n",
        done.name,
        output::grouped(done.edges),
        output::grouped(done.relations),
    );
    for measured in &done.measured {
        text += &format!("\n{}", table(measured));
    }
    text += "\n";
    text += &results_text(done.kept, done.dropped, done.results_lost.as_deref());
    text + &format!("next: relatum ask {} '…' --calibration fitted\n", output::typed(&args.dir))
}

/// The bins of both calibrations side by side, with their errors.
fn table(measured: &BeforeAfter) -> String {
    let BeforeAfter { split, before, after } = measured;
    let after = after.as_ref().unwrap_or(before);
    let header = ["truth", "softmax-count", "right", "predictions", "fitted", "right", "predictions"];
    let mut table = output::table(&header, &[1, 2, 3, 4, 5, 6]);
    for tenth in 0..10 {
        let bin = |of: &Reliability| of.bins.iter().copied().find(|bin| place(bin) == tenth);
        let cells = [before, after].map(|of| match bin(of) {
            Some(bin) => [
                format!("{:.3}", bin.truth),
                format!("{:.3}", bin.confirmed),
                output::grouped(bin.predictions),
            ],
            None => ["–"; 3].map(str::to_owned),
        });
        let (from, to) = (f64::from(tenth) / 10.0, f64::from(tenth + 1) / 10.0);
        table.add_row([format!("{from:.1}–{to:.1}")].into_iter().chain(cells.into_iter().flatten()));
    }
    format!(
        "{split} edges, {} of {} (head, relation) pairs, predictions of at least .05 that are not in training\n{}\
         expected calibration error: softmax-count {:.4}, fitted {:.4}\n",
        output::grouped(before.pairs),
        output::grouped(before.pairs_of_split),
        output::render(&table),
        before.error,
        after.error
    )
}

/// In which tenth the predictions of a bin lie.
fn place(bin: &ReliabilityBin) -> u8 {
    ((bin.truth * 10.0) as u8).min(9)
}

fn draw(dir: &Path, done: &Fitting) -> anyhow::Result<()> {
    std::fs::create_dir_all(dir).with_context(|| format!("cannot create {}", dir.display()))?;
    let mut drawn = Vec::new();
    for measured in &done.measured {
        let name = format!("reliability-{}.svg", measured.split);
        let svg = measured.svg(&done.name);
        write_atomically(&dir.join(&name), |file| file.write_all(svg.as_bytes()))
            .map_err(relatum::Error::from)?;
        drawn.push(name);
    }
    output::say(&format!("drew {} in {}", drawn.join(" and "), output::typed(dir)));
    Ok(())
}
