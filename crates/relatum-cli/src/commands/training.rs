//! What people see while a model is trained: a progress bar on a terminal, a line an epoch elsewhere.

use std::io::IsTerminal;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use indicatif::{HumanDuration, ProgressBar, ProgressStyle};
use relatum::control::Control;
use relatum::engine::{BaselineBegins, TrainingBegins};
use relatum::project::{EndsAfter, EpochRecord};
use relatum::train::{BatchReport, Floor};

use crate::output;

/// Listens to training runs, one after the other, and shows them.
#[derive(Clone, Default)]
pub(super) struct Watch {
    shown: Arc<Mutex<Shown>>,
}

#[derive(Default)]
struct Shown {
    /// What stands before each line.
    prefix: String,
    display: Option<Display>,
}

impl Watch {
    /// The control, with this as a listener.
    pub(super) fn over(&self, control: Control) -> Control {
        let [begins, baseline, batch, epoch, ends] = std::array::from_fn(|_| self.clone());
        control
            .on(move |event: &BaselineBegins| {
                let mut shown = baseline.shown();
                shown.display = Some(Display::of_baseline(event, &shown.prefix));
            })
            .on(move |event: &TrainingBegins| {
                let mut shown = begins.shown();
                shown.display = Some(Display::new(event, &shown.prefix));
            })
            .on(move |event: &BatchReport| batch.show(|display| display.batch(*event)))
            .on(move |event: &EpochRecord| epoch.show(|display| display.epoch(event)))
            .on(move |event: &EndsAfter| ends.show(|display| display.ends_after(event.0)))
    }

    /// What stands before each line of the runs that begin from now on.
    pub(super) fn prefix(&self, prefix: &str) {
        self.end();
        prefix.clone_into(&mut self.shown().prefix);
    }

    /// Says a line of the run that is shown, or is about to be.
    pub(super) fn say(&self, line: &str) {
        self.end();
        output::say(&format!("{}{line}", self.shown().prefix));
    }

    /// Removes the progress bar, however the run ended.
    pub(super) fn end(&self) {
        if let Some(display) = self.shown().display.take() {
            display.bar.finish_and_clear();
        }
    }

    fn show(&self, show: impl FnOnce(&mut Display)) {
        if let Some(display) = &mut self.shown().display {
            show(display);
        }
    }

    fn shown(&self) -> MutexGuard<'_, Shown> {
        self.shown.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What a person sees while one run is under way.
struct Display {
    bar: ProgressBar,
    prefix: String,
    /// What an epoch is made of.
    unit: &'static str,
    epochs: usize,
    epoch: usize,
    triples: usize,
    rows: usize,
    flops_a_row: f64,
    peak: f64,
    began: Instant,
    /// Batches, rows and triples of the epoch that were done before the run was resumed.
    skipped: Option<BatchReport>,
}

impl Display {
    fn new(begins: &TrainingBegins, prefix: &str) -> Self {
        let TrainingBegins { batch_rows, columns, flops_a_row, .. } = *begins;
        // Small enough to measure in a moment, large enough to reach the rate of the real products.
        let width = (flops_a_row / 6.0) as usize / columns.max(1);
        let peak = Floor::new(batch_rows, columns.min(16_384), width.max(1)).rate(batch_rows);
        let epochs = (begins.epochs_done, begins.last_epoch);
        Self::with("triples", epochs, begins.triples, (flops_a_row, peak), prefix)
    }

    fn of_baseline(begins: &BaselineBegins, prefix: &str) -> Self {
        let settings = &begins.settings;
        let batch = settings.batch_size.min(4096);
        let peak = Floor::new(batch, settings.negatives.min(16_384), settings.dimension).rate(batch);
        let epochs = (begins.epochs_done, settings.epochs);
        Self::with("queries", epochs, begins.queries, (settings.operations_a_query(), peak), prefix)
    }

    fn with(
        unit: &'static str,
        (epoch, epochs): (usize, usize),
        triples: usize,
        (flops_a_row, peak): (f64, f64),
        prefix: &str,
    ) -> Self {
        let terminal = std::io::stderr().is_terminal();
        let bar = if terminal { ProgressBar::new(triples as u64) } else { ProgressBar::hidden() };
        let template = "{prefix} {bar:24} {wide_msg}";
        bar.set_style(
            ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar()),
        );
        Self {
            bar,
            prefix: prefix.to_owned(),
            unit,
            epochs,
            epoch,
            triples,
            rows: 0,
            flops_a_row,
            peak,
            began: Instant::now(),
            skipped: None,
        }
    }

    fn ends_after(&mut self, last: usize) {
        self.epochs = last;
        self.say(&format!("{}no better for a while: cooling down until epoch {last}", self.prefix));
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
            "loss {:.4} · {} {}/s · {} of peak · {} left",
            report.loss,
            output::grouped(rate as u64),
            self.unit,
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
            let (cut, hits) = if self.unit == "queries" { (3, valid.hits[1]) } else { (10, valid.hits[2]) };
            format!(" · valid MRR {:.4}, H@{cut} {hits:.3}", valid.mrr)
        });
        let rate = output::grouped((self.triples as f64 / record.seconds.max(1e-9)) as u64);
        let seconds = self.began.elapsed().as_secs_f64().min(record.seconds);
        let line = format!(
            "{}epoch {}/{} · loss {:.4} · {:.1} s · {rate} {}/s · {} of peak{valid}",
            self.prefix,
            record.epoch,
            self.epochs,
            record.loss,
            record.seconds,
            self.unit,
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
