//! Where the candidates of a row are kept, and how a search asks for them.
//!
//! A search by lists holds no vector over all entities. It asks for the best candidates of a row (*sorted
//! access*) and for the scores of single edges (*random access*), as Fagin's threshold algorithm does, and the
//! table of a model is the first place that answers; tables that are spread over machines can answer too.

mod partial;
mod shard;
mod sums;

use std::cmp::Ordering;
use std::ops::Range;

use rayon::prelude::*;

use super::{Model, Table, biases};
use crate::graph::{EntityId, Id, RelationId, Triple};
use crate::kernels::{Threads, has_nan};

use partial::Part;
pub use partial::PartialRow;
pub use shard::CandidateBlock;

/// Candidates that are scored at a time. The sum of a row is kept by block and added up along a fixed tree of
/// blocks, so this number is a part of every result, and shards of a table begin at multiples of it.
pub const BLOCK: usize = 4096;
/// Rows that are scored at a time.
const ROWS: usize = 64;
/// Candidates that the lists of such rows may hold together, so that long lists are made for fewer rows at a time.
const LISTED: usize = ROWS * BLOCK;

/// Candidates with their scores. Relations are those of the model, reciprocal ones included, and scores are raw.
///
/// Every implementation gives the same bits: a score does not depend on what else is asked for, and neither does
/// the sum of a row.
pub trait CandidateSource: Send + Sync {
    /// How many candidates a row has: the number of entities.
    fn candidates_of_a_row(&self) -> usize;

    /// Sorted access: for each row `(head, relation)` the best `count` tails, and a summary of the whole row. The
    /// sum of exponentials is made only for a given sharpness.
    fn best_candidates(
        &self,
        rows: &[(EntityId, RelationId)],
        count: usize,
        sharpness: Option<f32>,
    ) -> Result<Vec<SortedRow>, SourceError>;

    /// Random access: the score of each edge.
    fn edge_scores(&self, edges: &[Triple]) -> Result<Vec<f32>, SourceError>;
}

/// The best candidates of a row and what all of them have in common.
#[derive(Clone, Debug, PartialEq)]
pub struct SortedRow {
    /// The best candidates, best first; equal ones in the order of their ids.
    pub best: Vec<(EntityId, f32)>,
    /// All candidates together.
    pub summary: RowSummary,
}

/// What all candidates of a row have in common.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RowSummary {
    /// How many there are.
    pub entities: usize,
    /// The highest score.
    pub max: f32,
    /// The lowest score.
    pub min: f32,
    /// `log Σ exp(sharpness · score)`; −∞ where no sharpness was given.
    pub log_sum: f64,
}

/// Why candidates cannot be had.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SourceError {
    /// A score is NaN, or so large that a sum over its row is infinite: train or import the model again.
    #[error("the model gives scores that are NaN or infinite: train or import it again")]
    NotANumber,
    /// The source has no such entity or relation: it is one of another graph or model.
    #[error(
        "a row of entity {head} and relation {relation} was asked for, but there are {entities} entities and \
         {relations} relations: take a model of the same graph"
    )]
    NoSuchRow {
        /// The entity that was asked for.
        head: u32,
        /// The relation that was asked for.
        relation: u32,
        /// How many entities there are.
        entities: usize,
        /// How many relations there are, reciprocal ones included.
        relations: usize,
    },
    /// Not every candidate was looked at: a part of the place where they are kept cannot be read.
    #[error(
        "{scanned} of {entities} candidates were read, and entity {first} is the first that was not: make sure that \
         every machine can read every part"
    )]
    Incomplete {
        /// How many candidates were looked at.
        scanned: usize,
        /// How many there are.
        entities: usize,
        /// The first entity of the block that is missing.
        first: u64,
    },
    /// A block of candidates was read more than once: two parts overlap.
    #[error("the block {block} of candidates was read twice: two parts overlap, so make them again")]
    Twice {
        /// The block.
        block: u64,
    },
    /// A part holds something else than the candidates that were asked for. Make the parts again.
    #[error("{0}")]
    Foreign(String),
    /// The place where the candidates are kept does not answer: try again once it does.
    #[error("the candidates cannot be reached: {0}")]
    Unreachable(String),
}

/// The table of a model in memory or in a mapped file. It is read in blocks, side by side; besides the lists
/// themselves only the scores of the blocks at work are held.
impl CandidateSource for Model {
    fn candidates_of_a_row(&self) -> usize {
        self.entity_count()
    }

    fn best_candidates(
        &self,
        rows: &[(EntityId, RelationId)],
        count: usize,
        sharpness: Option<f32>,
    ) -> Result<Vec<SortedRow>, SourceError> {
        rows.iter().try_for_each(|&(head, relation)| self.has(head, relation))?;
        let at_once = (LISTED / count.clamp(BLOCK, LISTED)).clamp(1, ROWS);
        let mut sorted = Vec::with_capacity(rows.len());
        for rows in rows.chunks(at_once) {
            sorted.extend(self.sorted(rows, count, sharpness)?);
        }
        Ok(sorted)
    }

    fn edge_scores(&self, edges: &[Triple]) -> Result<Vec<f32>, SourceError> {
        for edge in edges {
            self.has(edge.head, edge.relation)?;
            self.has(edge.tail, edge.relation)?;
        }
        let of_row: Vec<&[Triple]> =
            edges.chunk_by(|a, b| (a.head, a.relation) == (b.head, b.relation)).collect();
        let rows: Vec<Vec<f32>> =
            of_row.par_iter().with_min_len(Threads::here().grain()).map(|row| self.scores_of(row)).collect();
        let scores = rows.concat();
        if has_nan(&scores) { Err(SourceError::NotANumber) } else { Ok(scores) }
    }
}

impl Model {
    fn has(&self, head: EntityId, relation: RelationId) -> Result<(), SourceError> {
        let (entities, relations) = (self.entity_count(), self.relation_count());
        if head.index() < entities && relation.index() < relations {
            return Ok(());
        }
        Err(SourceError::NoSuchRow { head: head.0, relation: relation.0, entities, relations })
    }

    /// A few rows against the whole table.
    fn sorted(
        &self,
        rows: &[(EntityId, RelationId)],
        count: usize,
        sharpness: Option<f32>,
    ) -> Result<Vec<SortedRow>, SourceError> {
        let n = self.entity_count();
        let queries = self.queries(rows);
        let mut all: Vec<PartialRow> = rows.iter().map(|_| PartialRow::new(count)).collect();
        let blocks: Vec<Range<usize>> =
            (0..n).step_by(BLOCK).map(|start| start..(start + BLOCK).min(n)).collect();
        // How many blocks are on their way at the same moment changes no result, only the memory that they take.
        for some in blocks.chunks(2 * rayon::current_num_threads()) {
            let bars: Vec<Option<f32>> = all.iter().map(PartialRow::bar).collect();
            let tasks = some.par_iter().with_min_len(Threads::here().grain());
            let parts: Vec<Vec<Part>> = tasks
                .map(|block| self.parts(&queries, block.clone(), count, &bars, sharpness))
                .collect::<Result<_, _>>()?;
            for part in parts {
                all.iter_mut().zip(part).try_for_each(|(row, part)| row.add(part))?;
            }
        }
        all.into_iter().map(|row| row.finish(n, sharpness.is_some())).collect()
    }

    /// One block of candidates for a few rows; candidates that are not above the bar of their row are left out.
    fn parts(
        &self,
        queries: &[f32],
        block: Range<usize>,
        count: usize,
        bars: &[Option<f32>],
        sharpness: Option<f32>,
    ) -> Result<Vec<Part>, SourceError> {
        let mut scores = vec![0.0; bars.len() * block.len()];
        self.score_block(queries, block.clone(), &mut scores);
        if has_nan(&scores) {
            return Err(SourceError::NotANumber);
        }
        let rows = scores.chunks_exact_mut(block.len()).zip(bars);
        Ok(rows.map(|(row, &bar)| Part::of(row, block.start, count, bar, sharpness)).collect())
    }

    /// The scores of the candidates of one block for ready-made query vectors, one row a query.
    fn score_block(&self, queries: &[f32], block: Range<usize>, scores: &mut [f32]) {
        // Not the product that many rows share elsewhere: in a stream, a score does not depend on its company.
        self.candidates().rows(block.clone()).stream(scores, queries);
        self.add_own_biases(scores, queries, &self.entities, block);
    }

    /// The scores of edges that share head and relation.
    fn scores_of(&self, edges: &[Triple]) -> Vec<f32> {
        let Some(first) = edges.first() else { return Vec::new() };
        let width = self.predictor.entity_width();
        let query = self.query(first.head, first.relation);
        let some = self.entities.gathered(edges.iter().map(|edge| edge.tail.index()), width);
        let mut scores = vec![0.0; edges.len()];
        some.candidates(width, self.predictor.tail()).stream(&mut scores, &query);
        self.add_own_biases(&mut scores, &query, &some, 0..edges.len());
        scores
    }

    /// Adds the biases of some rows of a table, which are made anew: those of all entities would be a vector over them.
    fn add_own_biases(&self, scores: &mut [f32], queries: &[f32], table: &Table, rows: Range<usize>) {
        if !self.predictor.has_bias() {
            return;
        }
        let rows = table.rows(rows, self.predictor.entity_width());
        if let Some(biases) = biases(&*self.predictor, &rows) {
            self.add_biases(scores, queries, &biases);
        }
    }
}

/// Keeps the best candidates, in no particular order.
fn keep_best(all: &mut Vec<(EntityId, f32)>, count: usize) {
    if all.len() > count {
        all.select_nth_unstable_by(count, better);
        all.truncate(count);
    }
}

/// Higher scores first, then smaller ids.
#[allow(clippy::trivially_copy_pass_by_ref, reason = "sorting hands out references")]
fn better(a: &(EntityId, f32), b: &(EntityId, f32)) -> Ordering {
    b.1.total_cmp(&a.1).then(a.0.cmp(&b.0))
}

#[cfg(test)]
mod tests;
