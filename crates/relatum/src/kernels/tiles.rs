//! Rows of results, computed in tiles of candidates by whatever threads can help.

use std::ops::Range;

use rayon::prelude::*;

use super::product::Threads;

/// Cuts rows of results into tiles of `size` candidates and computes each: `compute` gets the candidates of a tile
/// and the part of every row that belongs to them. A tile is one task; `alone` keeps all of them on this thread.
pub(super) fn in_tiles<'a>(
    out: impl Iterator<Item = &'a mut [f32]>,
    (count, size): (usize, usize),
    alone: bool,
    compute: impl Fn(Range<usize>, &mut [&mut [f32]]) + Sync,
) {
    let mut tiles: Vec<Vec<&mut [f32]>> =
        (0..count.div_ceil(size)).map(|_| Vec::with_capacity(out.size_hint().0)).collect();
    for row in out {
        tiles.iter_mut().zip(row.chunks_mut(size)).for_each(|(tile, part)| tile.push(part));
    }
    let compute = |(tile, mut out): (usize, Vec<&mut [f32]>)| {
        let from = tile * size;
        compute(from..(from + size).min(count), &mut out);
    };
    if alone {
        tiles.into_iter().enumerate().for_each(compute);
    } else {
        tiles.into_par_iter().enumerate().with_min_len(Threads::here().grain()).for_each(compute);
    }
}

/// Prefetches values into the cache.
#[inline(always)]
pub(super) fn bring_near<T>(values: &[T]) {
    #[cfg(target_arch = "x86_64")]
    for line in values.chunks((64 / size_of::<T>()).max(1)) {
        // SAFETY: a prefetch is a hint with no effect that the program can observe; the address is within a slice.
        #[allow(unsafe_code, reason = "there is no safe hint to the cache")]
        unsafe {
            use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
            _mm_prefetch::<_MM_HINT_T0>(line.as_ptr().cast());
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = values;
}
