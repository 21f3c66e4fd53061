//! Rows of results, computed in tiles of candidates by whatever threads can help.

use std::ops::Range;
use std::sync::{Mutex, PoisonError};

use super::product::Threads;

/// Bytes of a line of cache.
pub(super) const LINE: usize = 64;

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
    let threads = rayon::current_num_threads().min(tiles.len());
    let tiles = tiles.into_iter().enumerate();
    if alone || threads < 2 || Threads::here() == Threads::One {
        return tiles.for_each(compute);
    }
    // Threads take the next tile as they come: this one at once, the others when they have woken up. A loop of the
    // pool's would wake one more thread and let this one sleep.
    let tiles = Mutex::new(tiles);
    let next = || tiles.lock().unwrap_or_else(PoisonError::into_inner).next();
    let work = || std::iter::from_fn(next).for_each(&compute);
    rayon::in_place_scope(|scope| {
        (1..threads).for_each(|_| scope.spawn(|_| work()));
        work();
    });
}

/// Prefetches values into the cache.
#[inline(always)]
pub(super) fn bring_near<T>(values: &[T]) {
    for line in values.chunks((LINE / size_of::<T>()).max(1)) {
        bring_line_near(line.as_ptr());
    }
}

/// Prefetches the line of cache that a value is in. The address may be any: nothing is read for the program.
#[inline(always)]
pub(super) fn bring_line_near<T>(value: *const T) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: a prefetch is a hint with no effect that the program can observe, whatever the address.
    #[allow(unsafe_code, reason = "there is no safe hint to the cache")]
    unsafe {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        _mm_prefetch::<_MM_HINT_T0>(value.cast());
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = value;
}
