//! Which entities a vector stands for.

use rayon::prelude::*;

use crate::graph::EntityId;
use crate::kernels::{dot, sum_of_squares};
use crate::model::Model;
use crate::search::best;

/// How many entities one task takes.
const CHUNK: usize = 1024;

/// The entities whose rows are most similar to a vector, with the similarity, best first: the cosine
/// if the predictor scores by inner products, because optimised vectors are shorter than learned
/// ones, and minus the Euclidean distance if it scores by distances.
pub fn nearest(model: &Model, vector: &[f32], count: usize) -> Vec<(EntityId, f32)> {
    let width = model.predictor().entity_width();
    let by_distance = model.predictor().has_bias();
    let own = sum_of_squares(vector);
    let mut likeness = vec![0.0; model.entity_count()];
    let table = model.entities();
    let rows = table.par_chunks(CHUNK * width);
    likeness.par_chunks_mut(CHUNK).zip(rows).for_each(|(likeness, rows)| {
        for (likeness, row) in likeness.iter_mut().zip(rows.chunks_exact(width)) {
            let (product, square) = (dot(vector, row), sum_of_squares(row));
            *likeness = if by_distance {
                -(own + square - 2.0 * product).max(0.0).sqrt()
            } else {
                product / (own * square).sqrt().max(f32::MIN_POSITIVE)
            };
        }
    });
    best(&likeness, count, |_| true)
}
