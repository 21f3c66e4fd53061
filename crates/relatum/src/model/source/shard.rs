//! A table in parts that other machines hold: what they store, what they are asked, what they compute.

use std::ops::Range;
use std::sync::Arc;

use super::partial::Part;
use super::{BLOCK, PartialRow, ROWS, SourceError};
use crate::column::Column;
use crate::graph::{EntityId, RelationId};
use crate::kernels::has_nan;
use crate::model::{LinkPredictor, Model, Precision, Table};

impl Model {
    /// The values of some entities as they are stored, and their scales if numbers have 8 bits.
    ///
    /// # Panics
    /// If there are not so many entities.
    pub fn stored_rows(&self, rows: Range<usize>) -> (&[u8], &[f32]) {
        let width = self.predictor.entity_width();
        let at = rows.start * width..rows.end * width;
        match &self.entities {
            Table::F32(values) => (bytemuck::cast_slice(&values[at]), &[]),
            Table::F16(values) => (bytemuck::cast_slice(&values[at]), &[]),
            Table::Int8 { values, scales } => (bytemuck::cast_slice(&values[at]), &scales[rows]),
        }
    }

    /// The query vectors `q(h, r)` of rows, one after another.
    pub fn query_vectors(&self, rows: &[(EntityId, RelationId)]) -> Result<Vec<f32>, SourceError> {
        rows.iter().try_for_each(|&(head, relation)| self.has(head, relation))?;
        Ok(self.queries(rows))
    }
}

/// One block of a table, away from the rest of it.
#[derive(Debug)]
pub struct CandidateBlock {
    /// The entities of the block alone; it has no relations.
    model: Model,
    start: usize,
}

impl CandidateBlock {
    /// The entities from `start` on, as [`Model::stored_rows`] gives them; `None` if they are not whole rows, more than
    /// a [`BLOCK`], or begin at none.
    pub fn new(
        predictor: &Arc<dyn LinkPredictor>,
        precision: Precision,
        (values, scales): (&[u8], &[f32]),
        start: usize,
    ) -> Option<Self> {
        fn column<T: bytemuck::Pod>(bytes: &[u8]) -> Option<Column<T>> {
            let whole = bytes.len().is_multiple_of(size_of::<T>());
            whole.then(|| bytemuck::pod_collect_to_vec::<u8, T>(bytes).into())
        }
        let table = match precision {
            Precision::F32 => Table::F32(column(values)?),
            Precision::F16 => Table::F16(column(values)?),
            Precision::Int8 => Table::Int8 { values: column(values)?, scales: scales.to_vec().into() },
        };
        let model = Model::of_tables(Arc::clone(predictor), table, Vec::new().into())?;
        let fits = model.entity_count() <= BLOCK && start.is_multiple_of(BLOCK);
        fits.then_some(Self { model, start })
    }

    /// Adds what the block says to rows, whose query vectors follow each other in `queries`.
    ///
    /// # Panics
    /// If there is not one query vector for each row.
    pub fn add_to(
        &self,
        queries: &[f32],
        rows: &mut [PartialRow],
        sharpness: Option<f32>,
    ) -> Result<(), SourceError> {
        let (width, n) = (self.model.predictor.tail().len(), self.model.entity_count());
        assert_eq!(queries.len(), rows.len() * width, "one query vector for each row");
        let mut scores = vec![0.0; n * ROWS.min(rows.len())];
        for (queries, rows) in queries.chunks(ROWS * width).zip(rows.chunks_mut(ROWS)) {
            let scores = &mut scores[..n * rows.len()];
            self.model.score_block(queries, 0..n, scores);
            if has_nan(scores) {
                return Err(SourceError::NotANumber);
            }
            for (row, scores) in rows.iter_mut().zip(scores.chunks_exact_mut(n)) {
                let bar = row.bar_from(self.start);
                row.add(Part::of(scores, self.start, row.count(), bar, sharpness))?;
            }
        }
        Ok(())
    }
}
