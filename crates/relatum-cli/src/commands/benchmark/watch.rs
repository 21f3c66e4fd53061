//! What people see while settings are tuned and queries measured: a progress bar on a terminal, a line a type
//! elsewhere.

use std::io::IsTerminal;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use indicatif::{HumanDuration, ProgressBar, ProgressStyle};
use relatum::Error;
use relatum::benchmark::{BenchmarkError, Choice, Part, QueriesDone, TrialsDone};
use relatum::control::Control;
use relatum::engine::{MeasuringBegins, TuningBegins, TypeMeasured, TypeTuned};

use crate::exit::Stopped;
use crate::output;

/// Runs work that tunes or measures, and shows its progress.
pub(crate) fn watched<T>(
    control: Control,
    work: impl FnOnce(&Control) -> Result<T, Error>,
) -> anyhow::Result<T> {
    let bar = if std::io::stderr().is_terminal() { ProgressBar::new(1) } else { ProgressBar::hidden() };
    let style = ProgressStyle::with_template("{prefix} {bar:24} {wide_msg}");
    bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
    let done = work(&shown_on(&bar, control));
    bar.finish_and_clear();
    match done {
        Err(Error::Benchmark(error @ BenchmarkError::Stopped)) => {
            output::say(&error.to_string());
            Err(Stopped.into())
        }
        other => Ok(other?),
    }
}

fn shown_on(bar: &ProgressBar, control: Control) -> Control {
    let [tuning, trials, tuned, measuring, queries, measured] = std::array::from_fn(|_| bar.clone());
    let began = Arc::new(Mutex::new(Instant::now()));
    let begins = Arc::clone(&began);
    control
        .on(move |event: &TuningBegins| {
            let TuningBegins { family, shape, queries, adaptive, before } = event;
            if let Some(before) = before {
                let before = output::counted(*before, "validation query");
                let at_most = if *adaptive { "at most " } else { "" };
                let queries = format!("{at_most}{}", output::grouped(*queries));
                output::say(&format!(
                    "{} {shape}: the setting was chosen on {before}, and is chosen again on {queries}",
                    family.name()
                ));
            }
            tuning.reset();
            tuning.set_prefix(format!("tuning {} {shape}", family.name()));
        })
        .on(move |&TrialsDone { done, all }: &TrialsDone| {
            trials.set_length(all as u64);
            trials.set_position(done as u64);
            trials.set_message(format!("setting {} of {all}", done + 1));
        })
        .on(move |event: &TypeTuned| {
            tuned.set_message("");
            let TypeTuned { family, shape, part, choice } = event;
            tuned.suspend(|| {
                output::say(&format!("{} {shape}: {}", family.name(), chosen_text(choice, *part)));
            });
        })
        .on(move |event: &MeasuringBegins| {
            *begins.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now();
            measuring.reset();
            measuring.set_length(event.queries as u64);
            measuring.set_prefix(format!("{} {}", event.label, event.shape));
        })
        .on(move |&QueriesDone { done, all }: &QueriesDone| {
            let seconds = began.lock().unwrap_or_else(PoisonError::into_inner).elapsed().as_secs_f64();
            let rate = done as f64 / seconds.max(1e-9);
            let left = Duration::from_secs_f64((all - done) as f64 / rate.max(1e-9));
            queries.set_position(done as u64);
            queries.set_message(format!("{rate:.0} queries/s · {} left", HumanDuration(left)));
        })
        .on(move |TypeMeasured { label, shape, cell }: &TypeMeasured| {
            if measured.is_hidden() {
                output::say(&format!(
                    "{label} {shape}: H@3 {:.4} on {}, {:.1} s, {:.0}% of peak",
                    cell.metrics.hits[1],
                    output::counted(cell.metrics.count, "query"),
                    cell.seconds,
                    100.0 * cell.of_peak
                ));
            }
        })
}

fn chosen_text(choice: &Choice, part: Part) -> String {
    let figures = choice.trial().map_or_else(
        || "nothing to choose".to_owned(),
        |trial| {
            let half = if part == Part::All { String::new() } else { format!(" of the {}", part.name()) };
            let queries = output::counted(trial.metrics.count, "validation query");
            let tried = choice.trials.len();
            if choice.is_by_default() {
                return format!("the default: H@3 0 on {queries}{half} for each of {tried} settings");
            }
            let hits = trial.metrics.hits[1];
            let error = trial.standard_error.map_or(String::new(), |error| format!(" ± {error:.4}"));
            let lead = choice.lead.map_or(String::new(), |lead| {
                format!(", {:+.4} ± {:.4} to the next", lead.difference, lead.standard_error)
            });
            format!("H@3 {hits:.4}{error} on {queries}{half}, best of {tried}{lead}")
        },
    );
    format!("{} ({figures})", choice.setting)
}
