//! How well a baseline answers benchmark queries.

use std::time::Instant;

use rayon::prelude::*;

use super::{Program, QueryEncoder};
use crate::benchmark::{BenchmarkError, Part, QueriesDone, QueryGroup, QuerySet, Ranked, ranks};
use crate::control::Control;
use crate::model::LinkMetrics;

/// Values of scores that are held at a time: 64 MB.
const SCORES: usize = 1 << 24;

/// Ranks the hard answers of the chosen queries of a group among all entities; `None` if the baseline has no operators
/// for the shape. Listeners hear [`QueriesDone`].
///
/// # Errors
/// If an argument of a query is outside the graph, or if the work was cancelled.
pub fn rank(
    encoder: &dyn QueryEncoder,
    relations: usize,
    group: &QueryGroup,
    chosen: &[usize],
    control: &Control,
) -> Result<Option<Ranked>, BenchmarkError> {
    let Some(program) = group.structure().as_ref().and_then(Program::of) else { return Ok(None) };
    let began = Instant::now();
    let n = encoder.entities().max(1);
    let mut outcome = Ranked { ranks: Vec::with_capacity(chosen.len()), rows: 0, seconds: 0.0 };
    for chunk in chosen.chunks((SCORES / n).clamp(1, 256)) {
        let queries: Vec<&[u32]> = chunk.iter().map(|&index| group.query(index)).collect();
        check(&program, &queries, n, relations)?;
        let scores = encoder.answer(&program, &queries);
        let of = |(scores, &index): (&[f32], &usize)| ranks(scores, group, index);
        outcome.ranks.par_extend(scores.par_chunks(n).zip(chunk).map(of));
        outcome.rows += queries.len() * program.branches.len();
        control.report(|| QueriesDone { done: outcome.ranks.len(), all: chosen.len() });
        if control.is_late() {
            return Err(BenchmarkError::Stopped);
        }
    }
    outcome.seconds = began.elapsed().as_secs_f64();
    Ok(Some(outcome))
}

/// The mean over types of how well validation queries are answered, at most `most` of each type, evenly spread; `None` if
/// there are none that the baseline can answer.
///
/// # Errors
/// If an argument of a query is outside the graph.
pub fn validate(
    encoder: &dyn QueryEncoder,
    relations: usize,
    queries: &QuerySet,
    most: usize,
) -> Result<Option<LinkMetrics>, BenchmarkError> {
    let mut each = Vec::new();
    for group in &queries.groups {
        let chosen = Part::All.choose(group.len(), Some(most));
        if chosen.is_empty() {
            continue;
        }
        let ranked = rank(encoder, relations, group, &chosen, &Control::default())?;
        each.extend(ranked.map(|ranked| ranked.metrics()));
    }
    let count = each.iter().map(|metrics| metrics.count).sum();
    Ok((!each.is_empty()).then(|| LinkMetrics { count, ..LinkMetrics::mean(&each) }))
}

fn check(
    program: &Program,
    queries: &[&[u32]],
    entities: usize,
    relations: usize,
) -> Result<(), BenchmarkError> {
    let (arity, of_relations) = program.roles();
    let fits = |query: &&[u32]| {
        let inside = |(place, &id): (usize, &u32)| {
            (id as usize) < if of_relations.contains(&place) { relations } else { entities }
        };
        query.len() == arity && query.iter().enumerate().all(inside)
    };
    match queries.iter().find(|query| !fits(query)) {
        Some(query) => {
            Err(BenchmarkError::Query(format!("{query:?} are not arguments of a query of this graph")))
        }
        None => Ok(()),
    }
}
