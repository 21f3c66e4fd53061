//! The inner loops of a search: whole vectors of truth values combined.

use rayon::prelude::*;

use crate::graph::EntityId;
use crate::kernels::Threads;
use crate::logic::TNorm;

/// How many entities one task takes.
const CHUNK: usize = 4096;

/// `all[x] = all[x] ⊤ part[x]`
pub(super) fn meet(t_norm: TNorm, all: &mut [f32], part: &[f32]) {
    all.iter_mut().zip(part).for_each(|(a, b)| *a = t_norm.and(*a, *b));
}

/// `out[x] = max(out[x], m(y) ⊤ row_y[x])` for every y with its row, and which y it was.
/// Of equal values the first stays, so the order of `from` decides, not the threads.
pub(super) fn fold_rows(
    t_norm: TNorm,
    from: &[(EntityId, f32)],
    rows: &[f32],
    out: &mut [f32],
    via: &mut [EntityId],
) {
    let n = out.len();
    let chunks = out.par_chunks_mut(CHUNK).zip(via.par_chunks_mut(CHUNK)).enumerate();
    chunks.with_min_len(Threads::here().grain()).for_each(|(chunk, (out, via))| {
        let start = chunk * CHUNK;
        for (index, &(y, message)) in from.iter().enumerate() {
            let row = &rows[index * n + start..][..out.len()];
            for ((out, via), &truth) in out.iter_mut().zip(via.iter_mut()).zip(row) {
                let value = t_norm.and(message, truth);
                if value > *out {
                    *out = value;
                    *via = y;
                }
            }
        }
    });
}
