//! What a fit looks at: the best candidates of the pairs that have a validation edge.

use rayon::prelude::*;

use super::{Pair, TrainError};
use crate::control::Control;
use crate::graph::{EntityId, Graph, Id, RelationId, Split};
use crate::kernels::exp_sum;
use crate::model::{Model, Reciprocals};

/// Rows that are scored at once.
const BLOCK: usize = 64;
/// At most so many scores are made, so that a graph of millions of entities takes no longer than a smaller one.
const SCORES: usize = 400_000_000;
/// So many pairs are looked at however many entities there are.
const LEAST: usize = 500;
/// Candidates whose share, times the tails of the row, is smaller are not looked at: no curve makes them 0.05, and
/// there are thousands of them in each row.
const FLOOR: f32 = 0.002;
/// At most so many candidates of a row are looked at.
const BEST: usize = 1000;

/// A (head, relation) pair with its best candidates outside training.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Row {
    pub(super) relation: usize,
    /// ln n
    pub(super) count: f64,
    /// How many validation edges the pair has.
    pub(super) held_out: usize,
    /// How many of the candidates are right; these come first.
    pub(super) right: usize,
    /// For how many right ones each of them stands.
    pub(super) weight: f64,
    /// ln p of each candidate.
    pub(super) shares: Vec<f32>,
}

/// The pairs that are looked at, and how many there are.
pub(super) struct Pairs {
    pub(super) chosen: Vec<Pair>,
    pub(super) all: usize,
}

/// The pairs that have a validation edge, by relation; at most `most` of them, and as many of each relation as of any
/// other that has more, evenly spread over its heads.
pub(super) fn pairs(graph: &Graph, reciprocals: &Reciprocals, most: usize, entities: usize) -> Pairs {
    let most = most.min((SCORES / entities.max(1)).max(LEAST));
    let directed = reciprocals.directed(graph, Split::Valid);
    let mut all: Vec<Pair> =
        directed.iter().map(|edge| Pair { relation: edge.relation, head: edge.head }).collect();
    all.sort_unstable_by_key(|pair| (pair.relation, pair.head));
    all.dedup();
    let of_relation: Vec<&[Pair]> = all.chunk_by(|a, b| a.relation == b.relation).collect();
    let cap = cap(&of_relation.iter().map(|pairs| pairs.len()).collect::<Vec<_>>(), most);
    let thin = |pairs: &&[Pair]| -> Vec<Pair> {
        let count = pairs.len().min(cap);
        (0..count).map(|at| pairs[at * pairs.len() / count]).collect()
    };
    Pairs { chosen: of_relation.iter().flat_map(thin).collect(), all: all.len() }
}

/// The largest number to which all counts can be cut so that they sum to no more than `most`; at least 1.
fn cap(counts: &[usize], most: usize) -> usize {
    let sum = |cap: usize| counts.iter().map(|&count| count.min(cap)).sum::<usize>();
    let (mut low, mut high) = (1, counts.iter().copied().max().unwrap_or(1).max(1));
    while low < high {
        let middle = (low + high).div_ceil(2);
        if sum(middle) <= most { low = middle } else { high = middle - 1 }
    }
    low
}

/// Scores the pairs; `None` if it was stopped.
pub(super) fn observe(
    model: &Model,
    graph: &Graph,
    reciprocals: &Reciprocals,
    pairs: &[Pair],
    control: &Control,
) -> Result<Option<Vec<Row>>, TrainError> {
    let n = model.entity_count();
    let mut scores = vec![0.0; BLOCK.min(pairs.len()) * n];
    let mut rows = Vec::with_capacity(pairs.len());
    for block in pairs.chunks(BLOCK) {
        if control.is_late() {
            return Ok(None);
        }
        let scores = &mut scores[..block.len() * n];
        let queries: Vec<(EntityId, RelationId)> = block.iter().map(|it| (it.head, it.relation)).collect();
        model.scores(&queries, scores);
        let observed = scores.par_chunks_exact(n).zip(block);
        let observed: Vec<Option<Row>> =
            observed.map(|(scores, pair)| observed_row(graph, reciprocals, *pair, scores)).collect();
        for row in observed {
            rows.push(row.ok_or(TrainError::Uncalibrated)?);
        }
    }
    Ok(Some(rows))
}

/// `None` if a score is NaN or infinite.
fn observed_row(graph: &Graph, reciprocals: &Reciprocals, pair: Pair, scores: &[f32]) -> Option<Row> {
    let hop = reciprocals.hop(pair.relation);
    let tails = |split: Split| -> Vec<usize> {
        let mut tails: Vec<usize> =
            hop.arcs(graph.edges(split), pair.head).iter().map(|arc| arc.neighbour.index()).collect();
        tails.sort_unstable();
        tails
    };
    let (known, held_out) = (tails(Split::Train), tails(Split::Valid));
    let (largest, sum) = exp_sum(scores);
    if !sum.is_finite() {
        return None;
    }
    let n = known.len().max(1) as f32;
    let least = (FLOOR / n).ln();
    let shares = scores.iter().enumerate().map(|(tail, score)| (tail, (score - largest) - sum.ln()));
    let mut best: Vec<(usize, f32)> =
        shares.filter(|&(tail, share)| share >= least && known.binary_search(&tail).is_err()).collect();
    let better = |a: &(usize, f32), b: &(usize, f32)| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0));
    if best.len() > BEST {
        best.select_nth_unstable_by(BEST, better);
        best.truncate(BEST);
    }
    best.sort_unstable_by(better);
    let (right, other): (Vec<_>, Vec<_>) =
        best.into_iter().partition(|(tail, _)| held_out.binary_search(tail).is_ok());
    Some(Row {
        relation: pair.relation.index(),
        count: f64::from(n).ln(),
        held_out: held_out.len(),
        right: right.len(),
        weight: 1.0,
        shares: right.into_iter().chain(other).map(|(_, share)| share).collect(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn relations_with_many_pairs_are_cut_and_those_with_few_keep_all() {
        assert_eq!(cap(&[3, 100, 7], 1000), 100);
        assert_eq!(cap(&[3, 100, 7], 30), 20);
        assert_eq!(cap(&[3, 100, 7], 12), 4);
        assert_eq!(cap(&[3, 100, 7], 2), 1, "each keeps one");
        assert_eq!(cap(&[], 5), 1);
    }
}
