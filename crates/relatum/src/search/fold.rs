//! The inner loops of a search: whole vectors of truth values combined.

use rayon::prelude::*;

use crate::graph::EntityId;
use crate::kernels::{Threads, fold_max};
use crate::logic::TNorm;

/// How many entities one task takes.
const CHUNK: usize = 4096;

/// `out[x] = max(out[x], m(y) ⊤ row_y[x])` for every (place of its row, y, m(y)), and which y it was.
/// Of equal values the first stays, so the order of `from` decides, not the threads.
pub(super) fn fold_rows(
    t_norm: TNorm,
    from: &[(usize, EntityId, f32)],
    rows: &[f32],
    out: &mut [f32],
    via: &mut [EntityId],
) {
    let n = out.len();
    let chunks = out.par_chunks_mut(CHUNK).zip(via.par_chunks_mut(CHUNK)).enumerate();
    chunks.with_min_len(Threads::here().grain()).for_each(|(chunk, (out, via))| {
        let start = chunk * CHUNK;
        for &(at, y, message) in from {
            fold_max(
                t_norm,
                y.0,
                message,
                &rows[at * n + start..][..out.len()],
                out,
                bytemuck::cast_slice_mut(via),
            );
        }
    });
}
