//! What is left to do, in order, and how long it will take.

use super::args::{Name, Table};
use super::cost::{self, Rates};
use super::examples::Examples;
use super::home::{Home, State};
use super::recipes;
use super::results::{EXAMPLES, Store, TIMING, left};
use super::timing::Timing;
use super::work::{Chosen, Row, Subject};

/// Something to do.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Job {
    Train {
        dataset: Name,
        subject: Subject,
        /// Epochs that are done, and all of them.
        done: usize,
        of: usize,
    },
    Rules {
        dataset: Name,
        subject: Subject,
    },
    Measure {
        row: Row,
        types: Vec<&'static str>,
    },
    Timing {
        dataset: Name,
    },
    Examples {
        dataset: Name,
    },
}

/// What is left of the chosen tables. A model is trained only for results that are missing.
pub(super) fn jobs(chosen: &Chosen, store: &Store, home: &mut Home) -> anyhow::Result<Vec<Job>> {
    let mut jobs = Vec::new();
    for &dataset in &chosen.datasets {
        let mut subjects: Vec<Subject> = Vec::new();
        let mut train = |subject: Subject, jobs: &mut Vec<Job>, home: &mut Home| {
            if !subjects.contains(&subject) {
                subjects.push(subject);
                if let State::Begun { done, of } = home.state(dataset, subject)? {
                    jobs.push(Job::Train { dataset, subject, done, of });
                }
            }
            anyhow::Ok(())
        };
        for row in chosen.rows(dataset) {
            let recipe = home.recipe(row, chosen.max_epochs)?;
            let types = left(store.row(row)?.as_ref(), recipe.as_deref(), chosen.limit, chosen.again);
            if types.is_empty() {
                continue;
            }
            train(row.subject, &mut jobs, home)?;
            if row.method() == "best-rules" {
                jobs.push(Job::Rules { dataset, subject: row.subject });
            }
            jobs.push(Job::Measure { row, types });
        }
        let timed: Option<Timing> = store.read(dataset, TIMING)?;
        let enough = |it: &Timing| it.rank >= chosen.top() && it.queries >= chosen.timed();
        if chosen.wants(Table::Timing) && (chosen.again || !timed.as_ref().is_some_and(enough)) {
            train(chosen.top_model(), &mut jobs, home)?;
            jobs.push(Job::Timing { dataset });
        }
        // The two questions are about FB15k-237.
        let asked: Option<Examples> = store.read(dataset, EXAMPLES)?;
        let of_rank = |it: &Examples| it.rank >= chosen.top();
        let is_asked = asked.as_ref().is_some_and(of_rank) && !chosen.again;
        if chosen.wants(Table::Examples) && dataset == Name::Fb15k237 && !is_asked {
            train(chosen.top_model(), &mut jobs, home)?;
            jobs.push(Job::Examples { dataset });
        }
    }
    Ok(jobs)
}

impl Job {
    pub(super) fn dataset(&self) -> Name {
        match self {
            Self::Train { dataset, .. }
            | Self::Rules { dataset, .. }
            | Self::Timing { dataset }
            | Self::Examples { dataset } => *dataset,
            Self::Measure { row, .. } => row.dataset,
        }
    }

    /// Kinds of work with their operations, by the model of [`cost`].
    pub(super) fn costs(&self, chosen: &Chosen) -> Vec<(String, f64)> {
        match self {
            Self::Train { dataset, subject, done, of } => {
                let (kind, operations) = train_cost(chosen, *dataset, *subject);
                vec![(kind, operations * of.saturating_sub(*done) as f64 / (*of).max(1) as f64)]
            }
            Self::Rules { dataset, .. } => vec![("rules".to_owned(), cost::rules(*dataset))],
            Self::Measure { row, types } => {
                types.iter().map(|shape| cell_cost(chosen, *row, shape)).collect()
            }
            Self::Timing { dataset } => vec![("timing".to_owned(), cost::timing(*dataset, chosen.top()))],
            Self::Examples { .. } => vec![("examples".to_owned(), 1e9)],
        }
    }

    fn title(&self) -> String {
        let what = match self {
            Self::Train { subject, done: 0, .. } => format!("train {}", subject.name()),
            Self::Train { subject, done, .. } => {
                format!("train {}, from epoch {} on", subject.name(), done + 1)
            }
            Self::Rules { subject, .. } => format!("mine rules, weigh them beside {}", subject.name()),
            Self::Measure { row, types } => {
                let how = if matches!(row.subject, Subject::Baseline(_)) {
                    row.method().to_owned()
                } else {
                    format!("{} of {}", row.method(), row.subject.name())
                };
                format!("measure {how}: {}", types.join(" "))
            }
            Self::Timing { .. } => "time a query of each type".to_owned(),
            Self::Examples { .. } => "ask the two questions of the paper".to_owned(),
        };
        format!("{}: {what}", self.dataset().title())
    }
}

/// The kind of a cell's work, and its operations.
pub(super) fn cell_cost(chosen: &Chosen, row: Row, shape: &str) -> (String, f64) {
    let model = match row.subject {
        Subject::Baseline(kind) => (kind.name(), kind.published_dimension()),
        Subject::Predictor { predictor, rank, .. } => (predictor, rank),
    };
    let operations = cost::cell(row.dataset, model, row.method(), shape, (chosen.limit, chosen.tune_on));
    (format!("{} {shape}", row.method()), operations)
}

/// The kind of a training's work, and the operations of all its epochs.
pub(super) fn train_cost(chosen: &Chosen, dataset: Name, subject: Subject) -> (String, f64) {
    match (recipes::resolved(dataset, subject, chosen.max_epochs), subject) {
        (Some(settings), _) => {
            let epoch = cost::epoch(dataset, &settings);
            (format!("train {}", settings.predictor), settings.epochs as f64 * epoch)
        }
        (None, subject) => (format!("train {}", subject.name()), cost::BASELINE),
    }
}

/// The plan in words, with the time that each step will take.
pub(super) fn in_words(jobs: &[Job], chosen: &Chosen, rates: &Rates) -> String {
    if jobs.is_empty() {
        return "nothing is left to do".to_owned();
    }
    let seconds = |job: &Job| {
        let costs = job.costs(chosen);
        costs.iter().map(|(kind, operations)| rates.seconds(kind, *operations)).sum::<f64>()
    };
    let all: f64 = jobs.iter().map(seconds).sum();
    let steps = if jobs.len() == 1 { "step" } else { "steps" };
    let mut text = format!("{} {steps} left, about {}:\n", jobs.len(), cost::in_words(all));
    for job in jobs {
        let guessed = job.costs(chosen).iter().any(|(kind, _)| !rates.knows(kind));
        let mark = if guessed { "  (not measured here yet)" } else { "" };
        text += &format!("  {:>12}  {}{mark}\n", cost::in_words(seconds(job)), job.title());
    }
    text += &format!(
        "times: rates of the work folder where such work was done, else products at {:.0} GFLOP/s, measured now; {}\n",
        rates.products / 1e9,
        cost::MODEL
    );
    text
}
