//! Doing what a benchmark needs, once: tuning and cells, kept as they are finished.

use std::io::IsTerminal;
use std::time::{Duration, Instant};

use anyhow::Context;
use indicatif::{HumanDuration, ProgressBar, ProgressStyle};
use relatum::benchmark::{
    BenchmarkError, Cell, CellKey, Choice, Evaluator, Family, QueryGroup, QuerySet, Results, Setting, Tuned,
    missing_links_of, spread,
};
use relatum::graph::Split;
use relatum::model::{Model, ModelFolder, StoredModel};
use relatum::store::Project;
use relatum::train::Floor;

use crate::exit::{Misuse, Stopped};
use crate::{output, signals};

/// A model with the benchmark queries of its project.
pub(crate) struct Bench<'a> {
    project: &'a Project,
    model: &'a Model,
    evaluator: Evaluator<'a>,
    results: Results,
    bar: ProgressBar,
    peak: f64,
}

/// A type of query with its cell, and how it was answered.
pub(crate) struct Measured {
    pub(crate) shape: String,
    pub(crate) setting: Setting,
    pub(crate) cell: Cell,
}

/// The model of a name, and where its results are.
pub(crate) fn load(project: &Project, name: &str) -> anyhow::Result<(ModelFolder, StoredModel)> {
    let folder = ModelFolder::of(project, name)?;
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
        let results = Results::open(folder.dir(), model, &project.manifest().queries_fingerprint())?;
        let bar = if std::io::stderr().is_terminal() { ProgressBar::new(1) } else { ProgressBar::hidden() };
        let style = ProgressStyle::with_template("{prefix} {bar:24} {wide_msg}");
        bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
        // Small enough to measure in a moment, large enough to reach the rate of the real products.
        let width = model.predictor().tail().len();
        let peak = Floor::new(256, model.entity_count().min(16_384), width).rate(256);
        Ok(Self { project, model, evaluator: Evaluator::new(model, project.graph()), results, bar, peak })
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

    /// What is best for each type in a family, by validation queries; chosen now where it was not before.
    pub(crate) fn tuned(
        &mut self,
        family: Family,
        types: &[String],
        queries: usize,
        again: bool,
    ) -> anyhow::Result<Tuned> {
        let groups = self.groups(Split::Valid, types)?;
        let mut tuned = self.results.tuned(family.name()).cloned().unwrap_or_default();
        for group in groups {
            if !again && tuned.types.contains_key(&group.shape) {
                continue;
            }
            let choice = self.choose(family, group, queries)?;
            output::say(&format!("{} {}: {}", family.name(), group.shape, chosen_text(&choice)));
            tuned.types.insert(group.shape.clone(), choice);
            self.results.keep_tuned(family.name(), tuned.clone())?;
        }
        Ok(tuned)
    }

    fn choose(&self, family: Family, group: &QueryGroup, queries: usize) -> anyhow::Result<Choice> {
        self.bar.reset();
        self.bar.set_prefix(format!("tuning {} {}", family.name(), group.shape));
        let go_on = |done: usize, all: usize| {
            self.bar.set_length(all as u64);
            self.bar.set_position(done as u64);
            self.bar.set_message(format!("setting {} of {all}", done + 1));
            !signals::stop_requested()
        };
        let chosen = spread(group.len(), Some(queries));
        let choice = self.evaluator.tune(family, group, &chosen, &go_on);
        self.bar.set_message("");
        stopped_or(choice, &group.shape)
    }

    /// How the queries of a type come out.
    pub(crate) fn measure(
        &mut self,
        label: &str,
        split: Split,
        group: &QueryGroup,
        limit: Option<usize>,
        setting: Setting,
        by_missing: bool,
    ) -> anyhow::Result<Measured> {
        let chosen = spread(group.len(), limit);
        let key = CellKey { split, shape: &group.shape, queries: chosen.len(), setting };
        let shape = group.shape.clone();
        let enough = |cell: &&Cell| !by_missing || !cell.by_missing.is_empty();
        if let Some(cell) = self.results.cell(&key).filter(enough) {
            return Ok(Measured { shape, setting, cell: cell.clone() });
        }
        self.bar.reset();
        self.bar.set_length(chosen.len() as u64);
        self.bar.set_prefix(format!("{label} {shape}"));
        let began = Instant::now();
        let go_on = |done: usize| {
            let rate = done as f64 / began.elapsed().as_secs_f64().max(1e-9);
            let left = Duration::from_secs_f64((chosen.len() - done) as f64 / rate.max(1e-9));
            self.bar.set_position(done as u64);
            self.bar.set_message(format!("{rate:.0} queries/s · {} left", HumanDuration(left)));
            !signals::stop_requested()
        };
        let outcome = self.evaluator.run(group, &chosen, &setting, &go_on);
        let outcome = stopped_or(outcome, &shape)?;
        let by_missing = if by_missing {
            let missing = missing_links_of(group, self.project.graph(), split, &[Split::Train])?;
            let missing: Vec<Vec<Option<u8>>> = chosen.iter().map(|&index| missing[index].clone()).collect();
            outcome.by_missing(&missing)
        } else {
            Vec::new()
        };
        let cell =
            Cell { metrics: outcome.metrics(), rows: outcome.rows, seconds: outcome.seconds, by_missing };
        self.results.keep(&key, cell.clone())?;
        if self.bar.is_hidden() {
            output::say(&format!(
                "{label} {shape}: H@3 {:.4} on {} queries, {:.1} s, {} of peak",
                cell.metrics.hits[1],
                output::grouped(cell.metrics.count),
                cell.seconds,
                self.share(&cell)
            ));
        }
        Ok(Measured { shape, setting, cell })
    }

    /// The share of the machine's matrix-product rate that scoring the rows of a cell came to.
    pub(crate) fn share(&self, cell: &Cell) -> String {
        let width = self.model.predictor().tail().len();
        let flops = 2.0 * cell.rows as f64 * self.model.entity_count() as f64 * width as f64;
        format!("{:.0}%", 100.0 * (flops / cell.seconds.max(1e-9) / self.peak).min(1.0))
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

fn chosen_text(choice: &Choice) -> String {
    let best = choice.trials.iter().find(|trial| trial.setting == choice.setting);
    let figures = best.map_or_else(
        || "nothing to choose".to_owned(),
        |trial| {
            format!(
                "H@3 {:.4} on {} validation queries, best of {}",
                trial.metrics.hits[1],
                output::grouped(trial.metrics.count),
                choice.trials.len()
            )
        },
    );
    format!("{} ({figures})", choice.setting)
}
