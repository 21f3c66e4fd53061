//! New benchmark queries for a project: what may be added or replaced, and what was found.

use std::path::PathBuf;
use std::sync::{Arc, PoisonError};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::options::at_least_one;
use super::{Engine, Error, Fault, WorkflowError};
use crate::benchmark::{
    BenchmarkError, Pattern, PatternError, QueryGroup, QuerySet, Sampled, Sampler, Sampling, Walks,
};
use crate::control::Control;
use crate::export::write_betae;
use crate::graph::{EntityId, Graph, Split};
use crate::model::Reciprocals;
use crate::project::{Project, Queries};
use crate::query::Shape;
use crate::report::{counted, grouped};
use crate::store::Staging;

/// How many queries of each type are sampled by default.
pub const DEFAULT_SAMPLE: usize = 1000;
/// The types that can be sampled so that every edge of a hard answer is missing: those without negation and union.
pub const ALL_MISSING_TYPES: [&str; 10] = ["1p", "2p", "3p", "4p", "5p", "2i", "3i", "4i", "ip", "pi"];
/// How many answers an example shows.
const EXAMPLE_ANSWERS: usize = 5;

/// What to sample, and what to do with the queries that the project has.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SampleOptions {
    /// Names of query types.
    pub types: Vec<String>,
    /// Questions with `_` in place of entities and relations, or skeletons of the BetaE files. Where there are
    /// neither types nor questions, the fourteen types of the literature are sampled.
    pub questions: Vec<String>,
    /// How many queries of each, by default 1000.
    pub count: Option<usize>,
    /// For validation or for test; if omitted, for both, as far as there are edges.
    pub split: Option<Split>,
    /// Equal seeds give equal queries.
    pub seed: u64,
    /// How many answers a query may have, easy and hard together, by default 100.
    pub max_answers: Option<usize>,
    /// Whether hard answers must need every hop predicted: an answer is hard if none of its proofs has a training
    /// edge. Answers that need only some of their hops predicted are among the easy ones. For
    /// [types](ALL_MISSING_TYPES) without negation and union only; if no type is given, for those of them with at
    /// most four atoms.
    pub all_missing: bool,
    /// How many walks to try for each type. If omitted, 1000 for each query and at least 100,000, ending early when
    /// 100,000 in a row find nothing new.
    pub attempts: Option<usize>,
    /// What to do with the queries that the project has.
    pub existing: Existing,
    /// A new folder, to which graph and queries are written in the form of BetaE.
    pub betae: Option<PathBuf>,
    /// How many queries of each type to hand out in words, with their answers.
    pub examples: usize,
}

/// What to do with the queries that a project has when new ones are sampled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Existing {
    /// Leave them: sampling is refused for a split that has any.
    #[default]
    Refuse,
    /// They are kept, and types are added that are not among them.
    Keep,
    /// They are replaced, for the splits that are sampled.
    Replace,
}

/// What was sampled and stored.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SampleReport {
    /// By split and type.
    pub types: Vec<SampledType>,
    /// Types that are in the project but not in the BetaE folder, which has no form for them.
    pub not_in_betae: Vec<String>,
}

/// The queries of one type that were found for one split. Also an event, told as soon as they are found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SampledType {
    /// The type of query.
    #[serde(rename = "type")]
    pub shape: String,
    /// Its structure.
    pub skeleton: String,
    /// The split whose edges its hard answers need.
    pub split: Split,
    /// How many queries were found.
    pub queries: usize,
    /// Easy answers of all of them.
    pub easy_answers: usize,
    /// Hard answers of all of them.
    pub hard_answers: usize,
    /// How many walks were tried, and why some gave no query.
    pub walks: Walks,
    /// Why there are fewer than were wanted, if there are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shortfall: Option<String>,
    /// Some of the queries in words.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub examples: Vec<ExampleQuery>,
}

/// A sampled query in words.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ExampleQuery {
    /// The question.
    pub question: String,
    /// The first of its easy answers.
    pub easy: Vec<String>,
    /// How many it has.
    pub easy_count: usize,
    /// The first of its hard answers.
    pub hard: Vec<String>,
    /// How many it has.
    pub hard_count: usize,
}

/// An event: queries of a type are about to be sampled. [`QueriesFound`](crate::benchmark::QueriesFound) follow, and
/// a [`SampledType`] at the end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SamplingBegins {
    /// For which split.
    pub split: Split,
    /// The type of query.
    pub shape: String,
    /// How many are wanted.
    pub wanted: usize,
}

/// Why nothing was sampled.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SampleError {
    /// A type or question cannot be sampled.
    #[error(transparent)]
    Pattern(PatternError),
    /// The hops of a type cannot all be missing, because it negates or unites: leave it out, or allow hard answers
    /// that need only some of their hops predicted.
    #[error(
        "hard answers that need every hop predicted exist only without negation and union, and {name} has one: \
         possible are {}, and skeletons and questions without them",
        ALL_MISSING_TYPES.join(" ")
    )]
    NotConjunctive {
        /// The type.
        name: String,
    },
    /// A type is given twice.
    #[error("{0} is given twice: once is enough")]
    Twice(String),
    /// No edge is held out: make the project with some of the edges held out.
    #[error(
        "{} has no {} edges, so there is nothing that a hard answer could need: make it with some of the edges \
         held out",
        dir.display(), splits.iter().map(|split| split.name()).collect::<Vec<_>>().join(" or ")
    )]
    NoEdges {
        /// The project.
        dir: PathBuf,
        /// The splits.
        splits: Vec<Split>,
    },
    /// The project has queries of a type that is to be added: leave it out, or replace all queries.
    #[error(
        "{} has {split} queries of type {name} already: leave it out, or replace all {split} queries",
        dir.display()
    )]
    HasType {
        /// The project.
        dir: PathBuf,
        /// The split.
        split: Split,
        /// The type.
        name: String,
    },
    /// The project has queries: add types to them, or replace them.
    #[error(
        "{} has {} for {split} already: add types to them, or replace them",
        dir.display(), counted(*queries, "query")
    )]
    HasQueries {
        /// The project.
        dir: PathBuf,
        /// The split.
        split: Split,
        /// How many.
        queries: usize,
    },
    /// No query was found: take other types, more walks, or allow more answers.
    #[error(
        "no query was found, so nothing was written: try other types, more walks, or queries with more answers"
    )]
    NothingFound(Box<SampleReport>),
}

impl SampleError {
    pub(super) fn fault(&self) -> Fault {
        match self {
            Self::NothingFound(_) => Fault::Data,
            _ => Fault::Caller,
        }
    }
}

impl Engine {
    /// The benchmark queries of the project as they are now, including those that were sampled.
    pub fn queries(&self) -> Arc<Queries> {
        Arc::clone(&self.shared.queries.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Samples benchmark queries from the graph, and stores them in the project. A query for validation has easy
    /// answers, which the training edges give, and at least one hard answer, which needs a validation edge; for
    /// test, one that needs a test edge. With [`all_missing`](SampleOptions::all_missing) a hard answer needs every one
    /// of its edges predicted. Where the graph cannot supply as many as are wanted, those that were
    /// found are stored. If the work is stopped, nothing is changed.
    ///
    /// Listeners hear [`SamplingBegins`], [`QueriesFound`](crate::benchmark::QueriesFound) and [`SampledType`].
    pub fn sample(&self, options: &SampleOptions, control: &Control) -> Result<SampleReport, Error> {
        let SampleOptions { count, max_answers, attempts, .. } = *options;
        at_least_one(&[("count", count), ("max_answers", max_answers), ("attempts", attempts)])?;
        // Another process may have changed the queries since this one opened the project.
        self.keep_queries(Project::open(self.project().dir())?.queries().clone());
        let patterns = self.patterns(options)?;
        let splits = self.sampled_splits(options)?;
        for &split in &splits {
            self.refuse_queries(options, split, &patterns)?;
        }
        let staging = options.betae.as_deref().map(Staging::begin).transpose()?;
        let mut report = SampleReport::default();
        let mut groups = Vec::new();
        for &split in &splits {
            let sampler = Sampler::new(self.graph(), split);
            for pattern in &patterns {
                let (sampled, group) = self.sample_one(&sampler, split, pattern, options, control)?;
                report.types.push(sampled);
                groups.push((split, group));
            }
        }
        if groups.iter().all(|(_, group)| group.is_empty()) {
            return Err(SampleError::NothingFound(Box::new(report)).into());
        }
        let new = self.merged(options, &splits, groups);
        let now = self.queries();
        let all = Queries {
            valid: new.valid.clone().or_else(|| now.valid.clone()),
            test: new.test.clone().or_else(|| now.test.clone()),
        };
        if let Some(staging) = &staging {
            report.not_in_betae = write_betae(staging.path(), self.graph(), &all)?;
        }
        Project::replace_queries(self.project().dir(), &new)?;
        if let Some(staging) = staging {
            staging.finish()?;
        }
        self.keep_queries(all);
        Ok(report)
    }

    fn keep_queries(&self, queries: Queries) {
        *self.shared.queries.lock().unwrap_or_else(PoisonError::into_inner) = Arc::new(queries);
    }

    fn patterns(&self, options: &SampleOptions) -> Result<Vec<Pattern>, Error> {
        let mut texts: Vec<&str> = options.types.iter().map(|name| name.trim()).collect();
        texts.extend(options.questions.iter().map(String::as_str));
        if texts.is_empty() && options.all_missing {
            texts.extend(ALL_MISSING_TYPES.iter().filter(|name| **name != "5p"));
        } else if texts.is_empty() {
            texts.extend(Shape::ALL.iter().map(|shape| shape.name()));
        }
        let mut patterns: Vec<Pattern> = Vec::new();
        for text in texts {
            let pattern = Pattern::parse(text, self.graph()).map_err(|error| match error {
                PatternError::Mistakes(mistakes) => Error::from(mistakes),
                other => SampleError::Pattern(other).into(),
            })?;
            if options.all_missing && !pattern.is_conjunctive() {
                return Err(SampleError::NotConjunctive { name: pattern.name().to_owned() }.into());
            }
            if patterns.iter().any(|other| other.name() == pattern.name()) {
                return Err(SampleError::Twice(pattern.name().to_owned()).into());
            }
            patterns.push(pattern);
        }
        Ok(patterns)
    }

    /// The splits to sample for: those asked for that have edges.
    fn sampled_splits(&self, options: &SampleOptions) -> Result<Vec<Split>, SampleError> {
        let mut splits = options.split.map_or_else(|| vec![Split::Valid, Split::Test], |split| vec![split]);
        let wanted = splits.clone();
        splits.retain(|&split| split != Split::Train && !self.graph().edges(split).is_empty());
        if splits.is_empty() {
            return Err(SampleError::NoEdges { dir: self.project().dir().to_owned(), splits: wanted });
        }
        Ok(splits)
    }

    /// Refuses to lose queries that the project has.
    fn refuse_queries(
        &self,
        options: &SampleOptions,
        split: Split,
        patterns: &[Pattern],
    ) -> Result<(), SampleError> {
        let (queries, dir) = (self.queries(), self.project().dir().to_owned());
        let Some(set) = queries.of(split) else { return Ok(()) };
        match options.existing {
            Existing::Replace => Ok(()),
            Existing::Refuse => Err(SampleError::HasQueries { dir, split, queries: set.len() }),
            Existing::Keep => match patterns.iter().find(|pattern| set.group(pattern.name()).is_some()) {
                Some(pattern) => Err(SampleError::HasType { dir, split, name: pattern.name().to_owned() }),
                None => Ok(()),
            },
        }
    }

    fn sample_one(
        &self,
        sampler: &Sampler<'_>,
        split: Split,
        pattern: &Pattern,
        options: &SampleOptions,
        control: &Control,
    ) -> Result<(SampledType, QueryGroup), Error> {
        let wanted = options.count.unwrap_or(DEFAULT_SAMPLE);
        let mut how = Sampling::of(wanted, options.seed);
        how.max_answers = options.max_answers.unwrap_or(how.max_answers);
        how.all_missing = options.all_missing;
        if let Some(attempts) = options.attempts {
            // If the number of walks is given, all of them are tried.
            (how.attempts, how.patience) = (attempts, attempts);
        }
        control.tell(&SamplingBegins { split, shape: pattern.name().to_owned(), wanted });
        let Sampled { group, walks } = sampler.sample(pattern, &how, control);
        if control.is_late() {
            return Err(WorkflowError::Stopped.into());
        }
        let sampled = SampledType {
            shape: group.shape.clone(),
            skeleton: group.skeleton.clone(),
            split,
            queries: group.len(),
            easy_answers: group.easy.items.len(),
            hard_answers: group.hard.items.len(),
            walks,
            shortfall: (group.len() < wanted).then(|| shortfall(split, &how, &group, &walks)),
            examples: examples(options.examples, self.graph(), &group)?,
        };
        control.tell(&sampled);
        Ok((sampled, group))
    }

    /// The queries that each split is to have from now on.
    fn merged(&self, options: &SampleOptions, splits: &[Split], groups: Vec<(Split, QueryGroup)>) -> Queries {
        let (now, mut queries) = (self.queries(), Queries::default());
        let mut found = groups.into_iter().peekable();
        for &split in splits {
            let kept = now.of(split).filter(|_| options.existing == Existing::Keep);
            let mut groups = kept.map(|set| set.groups.clone()).unwrap_or_default();
            while let Some((_, group)) = found.next_if(|(of, _)| *of == split) {
                if !group.is_empty() {
                    groups.push(group);
                }
            }
            if let Some(slot) = queries.slot(split).filter(|_| !groups.is_empty()) {
                *slot = Some(QuerySet { groups });
            }
        }
        queries
    }
}

/// How many were found, and what became of the other walks.
fn shortfall(split: Split, how: &Sampling, group: &QueryGroup, walks: &Walks) -> String {
    let Walks { tried, stuck, degenerate, pointless, too_many, easy, repeated, in_vain } = *walks;
    let mut reasons = [
        (stuck, "led nowhere"),
        (degenerate, "had equal branches"),
        (pointless, "had a negation that refutes nothing"),
        (too_many, "had too many answers"),
        (easy, if how.all_missing { "had no answer without training edges" } else { "had no hard answer" }),
        (repeated, "gave a query that was found before"),
    ];
    reasons.sort_by_key(|&(count, _)| std::cmp::Reverse(count));
    let reasons: Vec<String> = reasons
        .iter()
        .filter(|(count, _)| *count > 0)
        .take(3)
        .map(|&(count, reason)| format!("{} {reason}", grouped(count)))
        .collect();
    let given_up = if in_vain >= how.patience && tried < how.attempts {
        format!(", given up because the last {} found nothing new", grouped(in_vain))
    } else {
        String::new()
    };
    format!(
        "{} of {} {split} queries of type {} found in {} walks{given_up}: {}",
        grouped(group.len()),
        grouped(how.count),
        group.shape,
        grouped(tried),
        reasons.join(", "),
    )
}

/// Some queries in words.
fn examples(count: usize, graph: &Graph, group: &QueryGroup) -> Result<Vec<ExampleQuery>, BenchmarkError> {
    if count == 0 || group.is_empty() {
        return Ok(Vec::new());
    }
    let template = group.template()?;
    let relations = Reciprocals::of(graph);
    let names = |answers: &[EntityId]| -> Vec<String> {
        answers.iter().take(EXAMPLE_ANSWERS).map(|&id| graph.entity_text(id)).collect()
    };
    let in_words = |index: usize| {
        let query = template.fill(group.query(index), &relations)?;
        let (easy, hard) = (group.easy(index), group.hard(index));
        Some(ExampleQuery {
            question: query.named(graph).to_string(),
            easy: names(easy),
            easy_count: easy.len(),
            hard: names(hard),
            hard_count: hard.len(),
        })
    };
    Ok((0..count.min(group.len())).filter_map(in_words).collect())
}
