//! What some blocks of candidates say about a row.

use super::sums::{BlockSums, Node};
use super::{BLOCK, RowSummary, SortedRow, SourceError, better, keep_best};
use crate::graph::EntityId;
use crate::kernels::{exp_row, scale_by};

/// What one block says about a row.
pub(super) struct Part {
    start: usize,
    len: usize,
    best: Vec<(EntityId, f32)>,
    max: f32,
    min: f32,
    /// The largest exponent and the sum of exponentials relative to it.
    sum: (f32, f32),
}

impl Part {
    /// The scores of a block that begins at entity `start`; they are overwritten.
    pub(super) fn of(
        row: &mut [f32],
        start: usize,
        count: usize,
        bar: Option<f32>,
        sharpness: Option<f32>,
    ) -> Self {
        let passes = |score: f32| bar.is_none_or(|bar| score.total_cmp(&bar).is_gt());
        let above = row.iter().enumerate().filter(|(_, score)| passes(**score));
        let mut best: Vec<(EntityId, f32)> =
            above.map(|(at, &score)| (EntityId((start + at) as u32), score)).collect();
        keep_best(&mut best, count);
        let max = row.iter().copied().fold(f32::NEG_INFINITY, f32::max);
        let min = row.iter().copied().fold(f32::INFINITY, f32::min);
        let mut sum = (f32::NEG_INFINITY, 0.0);
        if let Some(sharpness) = sharpness {
            scale_by(row, sharpness);
            sum = exp_row(row, None);
        }
        Self { start, len: row.len(), best, max, min, sum }
    }
}

/// What some blocks of candidates say about a row. Two of them that have no block in common make a third, and it
/// does not matter in which order: the row that comes of all blocks has the same bits.
#[derive(Clone, Debug, PartialEq)]
pub struct PartialRow {
    count: usize,
    /// In no particular order.
    best: Vec<(EntityId, f32)>,
    entities: usize,
    /// The end of the last block.
    end: usize,
    max: f32,
    min: f32,
    sums: BlockSums,
}

impl PartialRow {
    /// A row of which the best `count` candidates are wanted, without any block yet.
    pub fn new(count: usize) -> Self {
        let (max, min) = (f32::NEG_INFINITY, f32::INFINITY);
        Self { count, best: Vec::new(), entities: 0, end: 0, max, min, sums: BlockSums::default() }
    }

    /// The score that a candidate of a later block must exceed; an equal one has the larger id.
    pub(super) fn bar(&self) -> Option<f32> {
        let worst = self.best.iter().map(|&(_, score)| score).min_by(f32::total_cmp);
        worst.filter(|_| self.best.len() >= self.count)
    }

    /// The same for a block that begins at an entity: none unless it is a later one.
    pub(super) fn bar_from(&self, start: usize) -> Option<f32> {
        if start >= self.end { self.bar() } else { None }
    }

    pub(super) fn count(&self) -> usize {
        self.count
    }

    pub(super) fn add(&mut self, part: Part) -> Result<(), SourceError> {
        self.sums.add(Node::of_block(part.start / BLOCK, part.sum))?;
        self.take(part.best, part.len, part.start + part.len, (part.min, part.max));
        Ok(())
    }

    /// Adds what other blocks say.
    pub fn merge(&mut self, other: Self) -> Result<(), SourceError> {
        other.sums.nodes().iter().try_for_each(|node| self.sums.add(*node))?;
        self.take(other.best, other.entities, other.end, (other.min, other.max));
        Ok(())
    }

    fn take(&mut self, best: Vec<(EntityId, f32)>, entities: usize, end: usize, (min, max): (f32, f32)) {
        self.best.extend(best);
        keep_best(&mut self.best, self.count);
        self.entities += entities;
        self.end = self.end.max(end);
        self.max = self.max.max(max);
        self.min = self.min.min(min);
    }

    /// How many candidates were looked at.
    pub fn entities(&self) -> usize {
        self.entities
    }

    /// The row, if every one of so many candidates was looked at; `summed` where exponentials were added up.
    pub fn finish(mut self, entities: usize, summed: bool) -> Result<SortedRow, SourceError> {
        let scanned = self.entities;
        let incomplete = |first: u64| SourceError::Incomplete { scanned, entities, first };
        let log_sum =
            self.sums.log_sum(entities.div_ceil(BLOCK)).map_err(|block| incomplete(block * BLOCK as u64))?;
        if scanned != entities {
            return Err(incomplete(scanned.min(entities) as u64));
        }
        self.best.sort_unstable_by(better);
        let log_sum = if summed { log_sum } else { f64::NEG_INFINITY };
        if summed && entities > 0 && !log_sum.is_finite() {
            return Err(SourceError::NotANumber);
        }
        let summary = RowSummary { entities, max: self.max, min: self.min, log_sum };
        Ok(SortedRow { best: self.best, summary })
    }

    /// Writes it for another process; [`read`](Self::read) reads it.
    pub fn write(&self, out: &mut Vec<u8>) {
        let nodes = self.sums.nodes();
        for number in [self.count, self.best.len(), self.entities, self.end, nodes.len()] {
            out.extend((number as u64).to_le_bytes());
        }
        out.extend(self.max.to_le_bytes());
        out.extend(self.min.to_le_bytes());
        for (entity, score) in &self.best {
            out.extend(entity.0.to_le_bytes());
            out.extend(score.to_le_bytes());
        }
        for node in nodes {
            out.extend(node.height.to_le_bytes());
            out.extend(node.index.to_le_bytes());
            out.extend(node.largest.to_le_bytes());
            out.extend(node.sum.to_le_bytes());
        }
    }

    /// Reads what [`write`](Self::write) wrote and leaves the bytes behind it; `None` if they are something else.
    pub fn read(bytes: &mut &[u8]) -> Option<Self> {
        let mut number = || usize::try_from(u64::from_le_bytes(taken(bytes)?)).ok();
        let (count, listed, entities, end, summed) = (number()?, number()?, number()?, number()?, number()?);
        let (max, min) = (f32::from_le_bytes(taken(bytes)?), f32::from_le_bytes(taken(bytes)?));
        // What is announced is compared with what is there before memory is taken for it.
        if listed > bytes.len() / 8 || summed > bytes.len() / 24 || listed > count {
            return None;
        }
        let mut row = Self { count, entities, end, max, min, ..Self::new(count) };
        for _ in 0..listed {
            let id = u32::from_le_bytes(taken(bytes)?);
            row.best.push((EntityId(id), f32::from_le_bytes(taken(bytes)?)));
        }
        for _ in 0..summed {
            let (height, index) = (u32::from_le_bytes(taken(bytes)?), u32::from_le_bytes(taken(bytes)?));
            let (largest, sum) = (f64::from_le_bytes(taken(bytes)?), f64::from_le_bytes(taken(bytes)?));
            if height > 32 {
                return None;
            }
            row.sums.add(Node { height, index, largest, sum }).ok()?;
        }
        Some(row)
    }
}

fn taken<const N: usize>(bytes: &mut &[u8]) -> Option<[u8; N]> {
    let (first, rest) = bytes.split_first_chunk::<N>()?;
    *bytes = rest;
    Some(*first)
}
