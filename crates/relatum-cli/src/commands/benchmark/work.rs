//! Doing what a benchmark needs, once: tuning and cells, kept as they are finished.

use std::cell::OnceCell;
use std::io::IsTerminal;
use std::time::{Duration, Instant};

use anyhow::Context;
use indicatif::{HumanDuration, ProgressBar, ProgressStyle};
use relatum::benchmark::{
    BenchmarkError, Choice, Evaluator, Family, Outcome, Part, QueriesDone, QueryGroup, QuerySet, Setting,
    TrialsDone, Tuned, missing_links_of,
};
use relatum::graph::Split;
use relatum::model::{Model, StoredModel};
use relatum::project::ModelFolder;
use relatum::project::Project;
use relatum::project::{Cell, CellKey, Results};
use relatum::train::Floor;

use crate::commands::model;
use crate::exit::{Misuse, Stopped};
use crate::{output, signals};

/// A model with the benchmark queries of its project.
pub(crate) struct Bench<'a> {
    project: &'a Project,
    model: &'a Model,
    evaluator: Evaluator<'a>,
    results: Results,
    bar: ProgressBar,
    /// Measured when the first cell is.
    peak: OnceCell<f64>,
    /// Whether it is known that results can be kept.
    writable: bool,
}

/// What is to be measured.
pub(crate) struct Task<'g> {
    pub(crate) label: &'g str,
    pub(crate) split: Split,
    pub(crate) group: &'g QueryGroup,
    pub(crate) part: Part,
    pub(crate) limit: Option<usize>,
    pub(crate) setting: Setting,
    pub(crate) by_missing: bool,
}

/// What there is to choose settings on.
pub(crate) struct Tuning<'t> {
    pub(crate) family: Family,
    /// The types of query; all if none is named.
    pub(crate) types: &'t [String],
    /// Which validation queries of a type.
    pub(crate) part: &'t dyn Fn(&QueryGroup) -> Part,
    /// How many of these.
    pub(crate) queries: usize,
    /// Whether to choose where a choice is there.
    pub(crate) again: bool,
}

/// The model of a name, or the default one, and where its results are.
pub(crate) fn load(project: &Project, name: Option<&str>) -> anyhow::Result<(ModelFolder, StoredModel)> {
    let folder = model::folder(project, name)?;
    let stored = folder.load(project)?;
    Ok((folder, stored))
}

impl<'a> Bench<'a> {
    pub(crate) fn new(
        project: &'a Project,
        folder: &ModelFolder,
        stored: &'a StoredModel,
    ) -> anyhow::Result<Self> {
        let model = &stored.model;
        let results = Results::open(folder.dir(), model)?;
        let bar = if std::io::stderr().is_terminal() { ProgressBar::new(1) } else { ProgressBar::hidden() };
        let style = ProgressStyle::with_template("{prefix} {bar:24} {wide_msg}");
        bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
        let evaluator = Evaluator::new(model, project.graph());
        Ok(Self { project, model, evaluator, results, bar, peak: OnceCell::new(), writable: false })
    }

    /// The queries of a split, of the types asked for, in the order of the literature.
    pub(crate) fn groups(&self, split: Split, types: &[String]) -> anyhow::Result<Vec<&'a QueryGroup>> {
        let project = self.project;
        let set = queries(project, split)?;
        let has: Vec<&str> = set.groups.iter().map(|group| group.shape.as_str()).collect();
        if let Some(unknown) = types.iter().find(|name| !has.contains(&name.as_str())) {
            return Err(Misuse(format!(
                "there are no {split} queries of type `{unknown}`: there are {}",
                has.join(", ")
            ))
            .into());
        }
        let wanted = |group: &&QueryGroup| types.is_empty() || types.contains(&group.shape);
        Ok(set.groups.iter().filter(|group| !group.is_empty()).filter(wanted).collect())
    }

    /// What is best for each type in a family, by validation queries; chosen now where it was not
    /// before, or on fewer queries.
    pub(crate) fn tuned(&mut self, tuning: &Tuning<'_>) -> anyhow::Result<Tuned> {
        let Tuning { family, .. } = *tuning;
        let mut tuned = Tuned::default();
        for group in self.groups(Split::Valid, tuning.types)? {
            let shape = &group.shape;
            let part = (tuning.part)(group);
            let chosen = part.choose(group.len(), Some(tuning.queries));
            let kept = self.results.choice(family, part, group).filter(|_| !tuning.again);
            if let Some(choice) = kept.filter(|choice| choice.is_good_for(chosen.len())) {
                tuned.types.insert(shape.clone(), choice.clone());
                continue;
            }
            if let Some(before) = kept.and_then(Choice::queries) {
                output::say(&format!(
                    "{} {shape}: was chosen on {}, is chosen again on {}",
                    family.name(),
                    output::counted(before as u64, "validation query"),
                    output::grouped(chosen.len())
                ));
            }
            self.make_sure_to_keep()?;
            let choice = self.choose(family, group, &chosen)?;
            output::say(&format!("{} {shape}: {}", family.name(), chosen_text(&choice, part)));
            self.results.keep_choice(family, part, shape, choice.clone())?;
            tuned.types.insert(shape.clone(), choice);
        }
        Ok(tuned)
    }

    fn choose(&self, family: Family, group: &QueryGroup, chosen: &[usize]) -> anyhow::Result<Choice> {
        self.bar.reset();
        self.bar.set_prefix(format!("tuning {} {}", family.name(), group.shape));
        let bar = self.bar.clone();
        let control = signals::control().on(move |&TrialsDone { done, all }: &TrialsDone| {
            bar.set_length(all as u64);
            bar.set_position(done as u64);
            bar.set_message(format!("setting {} of {all}", done + 1));
        });
        let choice = self.evaluator.tune(family, group, chosen, &control);
        self.bar.set_message("");
        stopped_or(choice, &group.shape)
    }

    /// How the queries of a type come out.
    pub(crate) fn measure(&mut self, task: &Task<'_>) -> anyhow::Result<Cell> {
        let Task { label, split, group, part, setting, .. } = *task;
        let chosen = part.choose(group.len(), task.limit);
        let key = CellKey { split, group, part, queries: chosen.len(), setting };
        let shape = &group.shape;
        let enough = |cell: &&Cell| !task.by_missing || !cell.by_missing.is_empty();
        if let Some(cell) = self.results.cell(&key).filter(enough) {
            return Ok(cell.clone());
        }
        self.make_sure_to_keep()?;
        self.bar.reset();
        self.bar.set_length(chosen.len() as u64);
        self.bar.set_prefix(format!("{label} {shape}"));
        let (began, bar) = (Instant::now(), self.bar.clone());
        let control = signals::control().on(move |&QueriesDone { done, all }: &QueriesDone| {
            let rate = done as f64 / began.elapsed().as_secs_f64().max(1e-9);
            let left = Duration::from_secs_f64((all - done) as f64 / rate.max(1e-9));
            bar.set_position(done as u64);
            bar.set_message(format!("{rate:.0} queries/s · {} left", HumanDuration(left)));
        });
        let outcome = self.evaluator.run(group, &chosen, &setting, &control);
        let outcome = stopped_or(outcome, shape)?;
        let by_missing = if task.by_missing {
            let missing = missing_links_of(group, self.project.graph(), split, &[Split::Train])?;
            let missing: Vec<Vec<Option<u8>>> = chosen.iter().map(|&index| missing[index].clone()).collect();
            outcome.by_missing(&missing)
        } else {
            Vec::new()
        };
        let of_peak = self.of_peak(outcome.rows, outcome.seconds);
        let Outcome { rows, seconds, .. } = outcome;
        let cell = Cell { metrics: outcome.metrics(), rows, seconds, of_peak, by_missing };
        self.results.keep(&key, cell.clone())?;
        if self.bar.is_hidden() {
            output::say(&format!(
                "{label} {shape}: H@3 {:.4} on {}, {:.1} s, {:.0}% of peak",
                cell.metrics.hits[1],
                output::counted(cell.metrics.count as u64, "query"),
                cell.seconds,
                100.0 * cell.of_peak
            ));
        }
        Ok(cell)
    }

    /// Finds out before the first long work whether what comes of it can be kept.
    fn make_sure_to_keep(&mut self) -> anyhow::Result<()> {
        if !self.writable {
            self.results.check_writable().context("results could not be kept, so nothing was computed")?;
            self.writable = true;
        }
        Ok(())
    }

    /// The share of the machine's matrix-product rate that scoring so many rows came to.
    fn of_peak(&self, rows: usize, seconds: f64) -> f64 {
        let (entities, width) = (self.model.entity_count(), self.model.predictor().tail().len());
        // Small enough to measure in a moment, large enough to reach the rate of the real products.
        let peak = self.peak.get_or_init(|| Floor::new(256, entities.min(16_384), width).rate(256));
        let flops = 2.0 * rows as f64 * entities as f64 * width as f64;
        (flops / seconds.max(1e-9) / peak).min(1.0)
    }

    pub(crate) fn finish(&self) {
        self.bar.finish_and_clear();
    }
}

/// The benchmark queries of a split.
pub(crate) fn queries(project: &Project, split: Split) -> anyhow::Result<&QuerySet> {
    let set = project.queries().of(split).filter(|set| !set.is_empty());
    let dir = output::typed(project.dir());
    set.ok_or_else(|| {
        let message = format!(
            "{dir} has no {split} queries: make some with `relatum sample {dir} --split {split}`, or read a \
             Query2Box or BetaE folder with `relatum init`"
        );
        Misuse(message).into()
    })
}

fn stopped_or<T>(outcome: Result<T, BenchmarkError>, shape: &str) -> anyhow::Result<T> {
    match outcome {
        Err(error @ BenchmarkError::Stopped) => {
            output::say(&error.to_string());
            Err(Stopped.into())
        }
        other => other.with_context(|| format!("queries of type {shape}")),
    }
}

fn chosen_text(choice: &Choice, part: Part) -> String {
    let best = choice.trials.iter().find(|trial| trial.setting == choice.setting);
    let figures = best.map_or_else(
        || "nothing to choose".to_owned(),
        |trial| {
            let half = if part == Part::All { String::new() } else { format!(" of the {}", part.name()) };
            let queries = output::counted(trial.metrics.count as u64, "validation query");
            let tried = choice.trials.len();
            if choice.is_by_default() {
                return format!("the default: H@3 0 on {queries}{half} for each of {tried} settings");
            }
            format!("H@3 {:.4} on {queries}{half}, best of {tried}", trial.metrics.hits[1])
        },
    );
    format!("{} ({figures})", choice.setting)
}
