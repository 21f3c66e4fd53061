//! How well a model predicts edges it has not seen.

use rayon::prelude::*;

use super::groups::{Group, Groups};
use crate::control::Control;
use crate::graph::{EntityId, Graph, RelationId, Split};
use crate::model::{LinkMetrics, Model, Reciprocals, Ties, filtered_rank};

/// The metrics of one relation of the graph, in one direction.
#[derive(Clone, Debug, PartialEq)]
pub struct RelationMetrics {
    /// The relation, as the graph has it.
    pub relation: RelationId,
    /// Whether heads were to be found, not tails.
    pub backwards: bool,
    /// Its metrics.
    pub metrics: LinkMetrics,
}

/// The metrics of a split.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LinkReport {
    /// Over all predictions.
    pub overall: LinkMetrics,
    /// Over queries (h, r, ?): the mean of each query's answers first, then the mean of the queries.
    /// This is how complex query answering reports its 1p queries.
    pub queries: LinkMetrics,
    /// Over predictions of tails.
    pub tails: LinkMetrics,
    /// Over predictions of heads; there are none where the graph holds both directions already.
    pub heads: LinkMetrics,
    /// By relation and direction.
    pub relations: Vec<RelationMetrics>,
    /// Rows in which a score is infinite or NaN: ranks by such scores mean nothing.
    pub overflowed: usize,
}

/// Ranks the tail of every edge of a split among all entities, and its head likewise, other true
/// answers of any split left out (the filtered setting).
///
/// Where the graph holds a relation and its inverse, each edge is already there in both directions
/// and is ranked once in each. A score that is NaN ranks last.
///
/// # Panics
/// If the model has fewer entities or relations than the graph.
pub fn evaluate(model: &Model, graph: &Graph, split: Split, ties: Ties) -> LinkReport {
    evaluate_some(model, graph, split, ties, usize::MAX)
}

/// [`evaluate`] on at most `most` (head, relation) pairs, evenly spread over the split: for graphs
/// so large that ranking every edge would cost more than an epoch of training.
pub fn evaluate_some(model: &Model, graph: &Graph, split: Split, ties: Ties, most: usize) -> LinkReport {
    // Nothing can cancel it, so there is always a report.
    let scores = |pairs: &[(EntityId, RelationId)], rows: &mut [f32]| model.scores(pairs, rows);
    ranked(&scores, model.entity_count(), graph, split, ties, most, &Control::default()).unwrap_or_default()
}

/// [`evaluate_some`] that can be stopped and tells how far it is, by [`PairsRanked`]; `None` if it was stopped.
///
/// # Panics
/// If the model has fewer entities or relations than the graph.
pub fn evaluate_watched(
    model: &Model,
    graph: &Graph,
    split: Split,
    ties: Ties,
    most: usize,
    control: &Control,
) -> Option<LinkReport> {
    let scores = |pairs: &[(EntityId, RelationId)], rows: &mut [f32]| model.scores(pairs, rows);
    ranked(&scores, model.entity_count(), graph, split, ties, most, control)
}

/// [`evaluate_watched`] of whatever gives each (head, relation of a model) a row of scores over all entities.
pub fn evaluate_rows(
    scores: &Rows<'_>,
    graph: &Graph,
    split: Split,
    ties: Ties,
    most: usize,
    control: &Control,
) -> Option<LinkReport> {
    ranked(scores, graph.entities.len(), graph, split, ties, most, control)
}

/// Writes a row of scores for each pair of a head and a relation of a model.
pub type Rows<'a> = dyn Fn(&[(EntityId, RelationId)], &mut [f32]) + 'a;

/// An event: how far an evaluation is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PairsRanked {
    /// How many (head, relation) pairs have the ranks of their tails.
    pub done: usize,
    /// Of how many.
    pub all: usize,
}

fn ranked(
    scores_of: &Rows<'_>,
    n: usize,
    graph: &Graph,
    split: Split,
    ties: Ties,
    most: usize,
    control: &Control,
) -> Option<LinkReport> {
    const ROWS: usize = 256;
    let reciprocals = Reciprocals::of(graph);
    let groups = Groups::of(graph, split, &reciprocals);
    let step = step(groups.len(), most);
    let all: Vec<&Group> = groups.iter().step_by(step).collect();
    let mut by_query = Vec::with_capacity(all.len());
    let mut ranked: Vec<(RelationId, f64)> = Vec::with_capacity(groups.triples());
    let mut scores = vec![0.0; ROWS.min(all.len()) * n];
    let mut overflowed = 0;
    for block in all.chunks(ROWS) {
        let queries: Vec<(EntityId, RelationId)> = block.iter().map(|g| (g.head, g.relation)).collect();
        let scores = &mut scores[..block.len() * n];
        scores_of(&queries, scores);
        overflowed += scores.par_chunks_exact(n).filter(|row| row.iter().any(|it| !it.is_finite())).count();
        let ranks: Vec<Vec<f64>> = scores
            .par_chunks_exact(n)
            .zip(block)
            .map(|(row, group)| {
                let known = known_tails(graph, &reciprocals, group.head, group.relation);
                groups.tails(group).iter().map(|&tail| filtered_rank(row, tail, &known, ties)).collect()
            })
            .collect();
        for (group, ranks) in block.iter().zip(ranks) {
            by_query.push(LinkMetrics::of(ranks.iter().copied()));
            ranked.extend(ranks.into_iter().map(|rank| (group.relation, rank)));
        }
        control.report(|| PairsRanked { done: by_query.len(), all: all.len() });
        if control.is_late() {
            return None;
        }
    }
    Some(LinkReport { overflowed, ..report(ranked, LinkMetrics::mean(&by_query), &reciprocals) })
}

/// The step from one (head, relation) pair to the next that is ranked, so that at most `most` are.
fn step(pairs: usize, most: usize) -> usize {
    pairs.div_ceil(most.max(1)).max(1)
}

/// How many of the (head, relation) pairs of a split [`evaluate_some`] looks at, and of how many.
pub(crate) fn sampled(graph: &Graph, split: Split, most: usize) -> (usize, usize) {
    let pairs = Groups::of(graph, split, &Reciprocals::of(graph)).len();
    (pairs.div_ceil(step(pairs, most)), pairs)
}

/// All true tails of a (head, relation) in any split, including those to be found.
pub(super) fn known_tails(
    graph: &Graph,
    reciprocals: &Reciprocals,
    head: EntityId,
    relation: RelationId,
) -> Vec<EntityId> {
    let forward = reciprocals.in_graph(relation);
    let mut known = Vec::new();
    for split in Split::ALL {
        let edges = graph.edges(split);
        if forward {
            known.extend(edges.tails(head, relation));
        } else {
            known.extend(edges.heads(reciprocals.inverse(relation), head));
        }
    }
    known.sort_unstable();
    known.dedup();
    known
}

fn report(mut ranked: Vec<(RelationId, f64)>, queries: LinkMetrics, reciprocals: &Reciprocals) -> LinkReport {
    // Stable, so that sums are taken in one order.
    ranked.sort_by_key(|&(relation, _)| relation);
    let backwards = |relation| !reciprocals.in_graph(relation);
    let of = |keep: &dyn Fn(RelationId) -> bool| {
        LinkMetrics::of(ranked.iter().filter(|(relation, _)| keep(*relation)).map(|&(_, rank)| rank))
    };
    let mut relations: Vec<RelationMetrics> = ranked
        .chunk_by(|a, b| a.0 == b.0)
        .map(|run| {
            let relation = run[0].0;
            let named = if backwards(relation) { reciprocals.inverse(relation) } else { relation };
            let metrics = LinkMetrics::of(run.iter().map(|&(_, rank)| rank));
            RelationMetrics { relation: named, backwards: backwards(relation), metrics }
        })
        .collect();
    relations.sort_by_key(|row| (row.relation, row.backwards));
    LinkReport {
        overall: of(&|_| true),
        queries,
        tails: of(&|relation| !backwards(relation)),
        heads: of(&backwards),
        relations,
        overflowed: 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sample_is_as_large_as_it_may_be_and_spread_evenly() {
        let (graph, _) = crate::graph::films().finish();
        let (all, pairs) = sampled(&graph, Split::Valid, usize::MAX);
        assert_eq!(all, pairs);
        for most in [1, 7, pairs / 2, pairs - 1] {
            let (looked_at, _) = sampled(&graph, Split::Valid, most);
            assert!(0 < looked_at && looked_at <= most, "{looked_at} of {pairs}, at most {most}");
            let model = Model::random(crate::model::predictor("distmult", 2).unwrap(), &graph, 1.0, 0);
            let report = evaluate_some(&model, &graph, Split::Valid, Ties::Mean, most);
            assert_eq!(report.queries.count, looked_at);
        }
    }
}
