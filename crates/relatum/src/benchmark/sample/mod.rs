//! New benchmark queries from any graph with splits, made as the published generators do.
//!
//! A query is found by walking back from an answer: an entity is drawn, then an edge that leads to
//! it, then one that leads to that edge's other end, until every place of a [`Pattern`] is filled.
//! The walk is in the *larger* graph (train and valid; for test queries also test). Answers that
//! the *smaller* graph (without the last of these splits) gives are easy, the others hard.
//!
//! With negation the larger graph can also refute an answer of the smaller one. Every query of a shape
//! with negation has such an answer, as in the published files: otherwise it would have the same
//! answers without its negated part. The refuted answers stay among the easy ones: a system that
//! trusts the smaller graph must take them for answers, so they are left out of a ranking instead of
//! pushing the hard ones down.
//!
//! A sample can ask for hard answers that need *every* edge predicted ([`Sampling::all_missing`]). Then the walk
//! follows held-out edges only, since walks in the larger graph would hardly ever find such a query, and of the hard
//! answers those stay of which no proof has a training edge. The others join the easy ones: they are true, so a
//! ranking leaves them out.

mod attempt;
mod pattern;
#[cfg(test)]
mod tests;
mod walk;

pub use pattern::{Pattern, PatternError};

use rayon::prelude::*;
use rustc_hash::FxHashSet;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_64;

use super::queries::QueryGroup;
use crate::control::Control;
use crate::graph::{Edges, Graph, Split, Triple};
use crate::model::Reciprocals;
use crate::random::Rng;
use crate::symbolic::World;
use attempt::{Attempt, Found, Rejection};

/// What is wanted of a sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sampling {
    /// How many queries.
    pub count: usize,
    /// How many answers a query may have, easy and hard together.
    pub max_answers: usize,
    /// Whether hard answers must need every edge predicted: no proof has a training edge. No query is found for a
    /// pattern that is not [conjunctive](Pattern::is_conjunctive).
    pub all_missing: bool,
    /// How many walks to try before giving up.
    pub attempts: usize,
    /// After so many walks in a row without a new query the sample ends: the graph has hardly any more.
    pub patience: usize,
    /// Equal seeds give equal queries, whatever the number of threads.
    pub seed: u64,
}

impl Sampling {
    /// So many queries, with at most 100 answers each as in the literature, and a thousand walks
    /// for each of them (a hundred thousand at least), unless a hundred thousand in a row find no new query.
    pub fn of(count: usize, seed: u64) -> Self {
        let attempts = count.saturating_mul(1000).max(100_000);
        Self { count, max_answers: 100, all_missing: false, attempts, patience: 100_000, seed }
    }
}

/// The queries that were found.
#[derive(Clone, Debug, PartialEq)]
pub struct Sampled {
    /// The queries in the order in which they were found, so that the first n are a sample too.
    pub group: QueryGroup,
    /// How many walks were tried, and why some gave no query.
    pub walks: Walks,
}

/// How far a sample is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueriesFound {
    /// How many queries were found.
    pub found: usize,
    /// How many are wanted.
    pub wanted: usize,
}

/// How many walks a sample took, and why some gave no query.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Walks {
    /// How many walks there were.
    pub tried: usize,
    /// Walks that led nowhere: an entity had no edge of the kind that was needed, or only the one back.
    pub stuck: usize,
    /// The query says less than its shape: two branches are the same.
    pub degenerate: usize,
    /// The negated part takes no answer away that the smaller graph gives.
    #[serde(rename = "pointless_negation")]
    pub pointless: usize,
    /// The query has more answers than are allowed.
    #[serde(rename = "too_many_answers")]
    pub too_many: usize,
    /// The smaller graph gives every answer; where every edge is to be missing, a training edge helps to prove it.
    #[serde(rename = "no_hard_answer")]
    pub easy: usize,
    /// The query was found before.
    pub repeated: usize,
    /// Walks at the end, after the last new query was found.
    #[serde(rename = "in_vain_at_the_end")]
    pub in_vain: usize,
}

impl Walks {
    fn count(&mut self, rejection: Rejection) {
        *match rejection {
            Rejection::Stuck => &mut self.stuck,
            Rejection::Degenerate => &mut self.degenerate,
            Rejection::Pointless => &mut self.pointless,
            Rejection::TooMany => &mut self.too_many,
            Rejection::Easy => &mut self.easy,
        } += 1;
    }
}

/// Finds queries in a graph.
pub struct Sampler<'a> {
    graph: &'a Graph,
    split: Split,
    larger: Edges,
    relations: Reciprocals,
}

impl<'a> Sampler<'a> {
    /// A sampler of queries whose hard answers need an edge of this split.
    pub fn new(graph: &'a Graph, split: Split) -> Self {
        let splits = Split::ALL.into_iter().filter(|&it| it <= split);
        let triples: Vec<Triple> = splits.flat_map(|split| graph.edges(split).triples()).collect();
        let larger = Edges::new(graph.entities.len(), &triples);
        Self { graph, split, larger, relations: Reciprocals::of(graph) }
    }

    /// Draws queries until there are enough, the walks are used up, too many in a row found no new query, or
    /// `control` stops it. Listeners hear [`QueriesFound`].
    pub fn sample(&self, pattern: &Pattern, how: &Sampling, control: &Control) -> Sampled {
        let entities = self.graph.entities.len();
        let smaller: Vec<Split> = Split::ALL.into_iter().filter(|&it| it < self.split).collect();
        let held_out = how.all_missing.then(|| self.held_out());
        let edges = held_out.as_ref().unwrap_or(&self.larger);
        let missing =
            || Split::ALL.into_iter().filter(|&it| it != Split::Train && it <= self.split).collect();
        let attempt = Attempt {
            pattern,
            walk: walk::Walk::new(pattern, self.graph, edges, &self.relations),
            relations: &self.relations,
            smaller: World::of(self.graph, &smaller),
            larger: World::of_edges(&self.larger, entities),
            all_missing: how.all_missing.then(|| (self.graph, missing())),
            max_answers: how.max_answers,
        };
        let part = xxh3_64(format!("{} {}", self.split, pattern.name()).as_bytes());
        let mut walks = Walks::default();
        let mut found: Vec<Found> = Vec::new();
        let mut keys = FxHashSet::default();
        let more = |found: usize, walks: &Walks| {
            control.report(|| QueriesFound { found, wanted: how.count });
            found < how.count
                && walks.tried < how.attempts
                && walks.in_vain < how.patience
                && !control.is_late()
        };
        while more(found.len(), &walks) {
            // The size of a round depends only on how many queries were found, so threads change nothing.
            let wanted = (how.count - found.len()).saturating_mul(4).clamp(512, 1 << 14);
            let round = wanted.min(how.attempts - walks.tried);
            let numbers = walks.tried..walks.tried + round;
            let tried: Vec<Result<Found, Rejection>> = numbers
                .into_par_iter()
                .map(|number| attempt.run(&mut Rng::stream(how.seed ^ part, number as u64)))
                .collect();
            for outcome in tried {
                if found.len() == how.count {
                    break;
                }
                walks.tried += 1;
                walks.in_vain += 1;
                match outcome {
                    Err(rejection) => walks.count(rejection),
                    Ok(query) if keys.insert(query.key.clone()) => {
                        found.push(query);
                        walks.in_vain = 0;
                    }
                    Ok(_) => walks.repeated += 1,
                }
            }
        }
        Sampled { group: group(pattern, &found), walks }
    }

    /// The edges of the larger graph that training has not seen.
    fn held_out(&self) -> Edges {
        let train = self.graph.edges(Split::Train);
        let triples: Vec<Triple> = self.larger.triples().filter(|&triple| !train.contains(triple)).collect();
        Edges::new(self.graph.entities.len(), &triples)
    }
}

fn group(pattern: &Pattern, found: &[Found]) -> QueryGroup {
    QueryGroup {
        shape: pattern.name().to_owned(),
        skeleton: pattern.skeleton().to_owned(),
        arity: pattern.template().roles().len(),
        arguments: found
            .iter()
            .flat_map(|query| query.arguments.iter().copied())
            .collect::<Vec<u32>>()
            .into(),
        easy: found.iter().map(|query| query.easy.as_slice()).collect(),
        hard: found.iter().map(|query| query.hard.as_slice()).collect(),
    }
}
