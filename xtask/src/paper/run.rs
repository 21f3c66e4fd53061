//! Does what the plan says. Everything that is finished is kept at once, so that a run can be killed at any time.

use std::fmt::Display;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Instant;

use anyhow::ensure;
use relatum::Engine;
use relatum::baseline::GivenBaseline;
use relatum::benchmark::{PUBLISHED_TYPES, TrialsDone};
use relatum::control::Control;
use relatum::engine::{BaselineOptions, BenchmarkOptions, RuleOptions, Start, TypeMeasured, TypeTuned};
use relatum::project::{BaselineFolder, EpochRecord, Outcome};
use relatum::train::Settings;

use super::args::{Args, Name};
use super::cost::{self, Rates};
use super::home::Home;
use super::plan::{self, Job, cell_cost, train_cost};
use super::results::{Cell, EXAMPLES, RowResult, Store, TIMING};
use super::work::{Chosen, Row, Subject};
use super::{examples, recipes, render, timing};
use crate::shell::root;

/// Makes the plan, does it, and writes the document.
pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    let docs = root().join(&args.docs);
    let store = Store(docs.join("paper/results"));
    if args.render {
        return render::write(&store, &docs);
    }
    let (data, work) = (root().join(&args.data), root().join(&args.work));
    let chosen = Chosen::of(args);
    let mut home = Home::new(&data, &work);
    let jobs = plan::jobs(&chosen, &store, &mut home)?;
    let rates = Rates::of(&work);
    println!("{}", plan::in_words(&jobs, &chosen, &rates).trim_end());
    if args.plan {
        return Ok(());
    }
    // What is missing is told before hours of work, not after.
    jobs.iter().try_for_each(|job| home.check_data(job.dataset()))?;
    let mut runner = Runner { chosen, store, docs, home, rates };
    for job in &jobs {
        runner.job(job)?;
        render::write(&runner.store, &runner.docs)?;
    }
    render::write(&runner.store, &runner.docs)?;
    println!("{} is up to date", runner.docs.join("paper.md").display());
    Ok(())
}

struct Runner {
    chosen: Chosen,
    store: Store,
    docs: PathBuf,
    home: Home,
    rates: Rates,
}

impl Runner {
    fn job(&mut self, job: &Job) -> anyhow::Result<()> {
        let engine = self.home.project(job.dataset())?;
        let began = Instant::now();
        match job {
            Job::Train { dataset, subject, .. } => return self.train(&engine, *dataset, *subject),
            Job::Measure { row, types } => return self.measure(&engine, *row, types),
            Job::Rules { dataset, subject } => {
                if !rules(&engine, *dataset, &subject.name())? {
                    return Ok(());
                }
            }
            Job::Timing { dataset } => {
                let timing = timing::measure(&engine, &self.chosen.top_model().name(), self.chosen.timed())?;
                self.store.keep(*dataset, TIMING, &timing)?;
            }
            Job::Examples { dataset } => {
                let examples = examples::ask(&engine, &self.chosen.top_model().name())?;
                self.store.keep(*dataset, EXAMPLES, &examples)?;
            }
        }
        let seconds = began.elapsed().as_secs_f64();
        for (kind, operations) in job.costs(&self.chosen) {
            self.rates.note(&kind, operations, seconds)?;
        }
        Ok(())
    }

    /// Trains a model to its end; a run that was killed is resumed.
    fn train(&mut self, engine: &Engine, dataset: Name, subject: Subject) -> anyhow::Result<()> {
        let epochs = Arc::new(AtomicUsize::new(0));
        let (counted, name) = (Arc::clone(&epochs), format!("{} {}", dataset.title(), subject.name()));
        let control = Control::default().on(move |record: &EpochRecord| {
            counted.fetch_add(1, Ordering::Relaxed);
            let valid = record.valid.map_or_else(String::new, |it| format!(", validation MRR {:.4}", it.mrr));
            println!(
                "{name}: epoch {}, loss {:.4}, {}{valid}",
                record.epoch,
                record.loss,
                cost::in_words(record.seconds)
            );
        });
        let began = Instant::now();
        let (outcome, all) = match subject {
            Subject::Baseline(kind) => {
                let name = kind.name();
                let begun = engine.baselines().iter().any(|it| it.name == name && it.unfinished.is_some());
                let epochs = recipes::baseline(engine.graph(), kind, self.chosen.max_epochs).epochs;
                let options = BaselineOptions {
                    kind,
                    name: None,
                    settings: GivenBaseline { epochs: Some(epochs), ..GivenBaseline::default() },
                    start: if begun { Start::Resume } else { Start::New },
                };
                let trained = engine.train_baseline(&options, &control)?;
                (trained.outcome, trained.settings.epochs)
            }
            Subject::Predictor { .. } => {
                let given = recipes::settings(dataset, subject, self.chosen.max_epochs).unwrap_or_default();
                match engine.train_if_missing(Some(&subject.name()), &given, &control)? {
                    Some(trained) => (trained.outcome, trained.settings.epochs),
                    None => return Ok(()),
                }
            }
        };
        ensure!(outcome != Outcome::Interrupted, "the training of {} was stopped", subject.name());
        let (kind, operations) = train_cost(&self.chosen, dataset, subject);
        let share = epochs.load(Ordering::Relaxed) as f64 / all.max(1) as f64;
        self.rates.note(&kind, operations * share, began.elapsed().as_secs_f64())
    }

    /// Measures types of a row, one after the other; each is kept as soon as it is there.
    fn measure(&mut self, engine: &Engine, row: Row, types: &[&'static str]) -> anyhow::Result<()> {
        let fresh = self.begun(engine, row)?;
        // Cells of a model that was trained otherwise do not belong into the same row: then all types are measured.
        let kept = self.store.row(row)?;
        let types = match &kept {
            Some(kept) if kept.recipe != fresh.recipe => &PUBLISHED_TYPES[..],
            _ => types,
        };
        for &shape in types {
            let measured = Arc::new(AtomicBool::new(false));
            let control = told(row, &measured);
            let began = Instant::now();
            let name = row.subject.name();
            let baseline = matches!(row.subject, Subject::Baseline(_));
            let options = BenchmarkOptions {
                model: Some(name.clone()).filter(|_| !baseline),
                baselines: if baseline { vec![name] } else { Vec::new() },
                families: row.family.into_iter().collect(),
                types: vec![shape.to_owned()],
                limit: self.chosen.limit,
                tune_on: Some(self.chosen.tune_on),
                ..BenchmarkOptions::default()
            };
            let report = engine.benchmark(&options, &control)?;
            let cell = report.rows.first().and_then(|row| row.of_type(shape));
            let Some(cell) = cell else { anyhow::bail!("{} has no figure for {shape}", row.method()) };
            self.store.keep_cell(row, &fresh, shape, Cell::of(cell))?;
            if measured.load(Ordering::Relaxed) {
                let (kind, operations) = cell_cost(&self.chosen, row, shape);
                self.rates.note(&kind, operations, began.elapsed().as_secs_f64())?;
            }
        }
        Ok(())
    }

    /// The results of a row without any cell: what its model says of itself.
    fn begun(&self, engine: &Engine, row: Row) -> anyhow::Result<RowResult> {
        let name = row.subject.name();
        let result = |predictor: String, rank, settings: &str, epoch, valid_mrr| RowResult {
            method: row.method().to_owned(),
            model: name.clone(),
            predictor,
            rank,
            recipe: recipes::in_words(row, settings),
            epoch,
            valid_mrr,
            cells: std::collections::BTreeMap::new(),
        };
        if let Subject::Baseline(kind) = row.subject {
            let project = engine.project();
            let card = BaselineFolder::of(project, kind.name())?.card(project)?;
            let wanted = recipes::baseline(engine.graph(), kind, self.chosen.max_epochs);
            trained_as(engine, "baselines", &name, &card.training, &wanted)?;
            let (settings, valid) = (card.training.to_string(), card.valid.map(|it| it.mrr));
            return Ok(result(kind.name().to_owned(), card.training.dimension, &settings, card.epoch, valid));
        }
        let open = engine.model(Some(&name))?;
        let card = &open.card;
        let trained: Option<Settings> =
            card.training.clone().and_then(|training| serde_json::from_value(training).ok());
        let wanted = recipes::resolved(row.dataset, row.subject, self.chosen.max_epochs);
        let (Some(trained), Some(wanted)) = (trained, wanted) else {
            anyhow::bail!("the model {name} in {} was not trained here", engine.project().dir().display())
        };
        trained_as(engine, "models", &name, &trained, &wanted)?;
        let (settings, valid) = (trained.to_string(), card.valid.map(|it| it.mrr));
        Ok(result(card.predictor.clone(), card.rank, &settings, card.epoch, valid))
    }
}

/// Fails where a model was trained otherwise than its recipe says.
fn trained_as<T: PartialEq + Display>(
    engine: &Engine,
    folder: &str,
    name: &str,
    trained: &T,
    wanted: &T,
) -> anyhow::Result<()> {
    let dir = engine.project().dir();
    ensure!(
        trained == wanted,
        "the model {name} in {} was trained otherwise than its recipe says: delete {} to train it again, or take \
         another --work\n  it has: {trained}\n  recipe: {wanted}",
        dir.display(),
        dir.join(folder).join(name).display()
    );
    Ok(())
}

/// Mines rules and weighs them beside a model, as far as that was not done; whether anything was to be mined.
fn rules(engine: &Engine, dataset: Name, model: &str) -> anyhow::Result<bool> {
    let there = !engine.rule_names().is_empty();
    let finished = there && engine.rules(None)?.card.finished;
    if !finished {
        println!("{}: mining rules", dataset.title());
        let max_length = Some(recipes::rule_length(dataset));
        let options = RuleOptions { max_length, resume: there, ..RuleOptions::default() };
        engine.mine_rules(&options, &Control::default())?;
    }
    let (open, rules) = (engine.model(Some(model))?, engine.rules(None)?);
    if engine.rule_weights(&open, &rules).is_none() {
        println!("{}: weighing rules beside {model}", dataset.title());
        engine.weigh_rules(Some(model), None, &Control::default())?;
    }
    Ok(!finished)
}

/// A control that says what was chosen and measured.
fn told(row: Row, measured: &Arc<AtomicBool>) -> Control {
    let (heard, title) = (Arc::clone(measured), format!("{} {}", row.dataset.title(), row.subject.name()));
    let trial = title.clone();
    let tuned = title.clone();
    Control::default()
        .on(move |trials: &TrialsDone| {
            if trials.done == 0 {
                println!("{trial}: choosing among {} settings", trials.all);
            }
        })
        .on(move |it: &TypeTuned| {
            println!("{tuned}: {} takes {}", it.shape, it.choice.setting);
        })
        .on(move |it: &TypeMeasured| {
            heard.store(true, Ordering::Relaxed);
            let metrics = &it.cell.metrics;
            println!(
                "{title}: {} {}: Hits@3 {:.3} of {} queries, {}",
                it.label,
                it.shape,
                metrics.hits[1],
                metrics.count,
                cost::in_words(it.cell.seconds)
            );
        })
}
