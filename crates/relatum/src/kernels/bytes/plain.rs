//! 8-bit products without special instructions: what the other kernels are tested against, and what runs where
//! there is none of them.

use super::{ByteRows, Queries, score};

/// Some candidates against all queries: `out[query][candidate]`.
pub(super) fn tile(out: &mut [&mut [f32]], queries: &Queries<i8>, candidates: ByteRows<'_>) {
    let (_, width) = candidates.size();
    for (index, out) in out.iter_mut().enumerate() {
        let (query, scale) = (&queries.row(index)[..width], queries.scales[index]);
        let rows = candidates.values.chunks_exact(candidates.stride).zip(candidates.scales);
        for (out, (row, &own)) in out.iter_mut().zip(rows) {
            *out = score(sum(query, &row[candidates.columns.0..candidates.columns.1]), scale, own);
        }
    }
}

fn sum(query: &[i8], candidate: &[i8]) -> i32 {
    query.iter().zip(candidate).map(|(&a, &b)| i32::from(i16::from(a) * i16::from(b))).sum()
}
