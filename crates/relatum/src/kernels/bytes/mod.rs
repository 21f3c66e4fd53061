//! Inner products of 8-bit vectors, exact in 32-bit integers.
//!
//! A vector is a scale and numbers from −127 to 127. The sum of a pair is an integer, so it has the same bits
//! whatever kernel computes it, in whatever order; it is rounded once, when it is multiplied by the two scales.
//! Every kernel gives what [`plain`] gives, to the bit.

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "aarch64")]
mod neon;
mod plain;
#[cfg(target_arch = "x86_64")]
mod vnni;

use std::ops::Range;

use super::tiles::{LINE, bring_near, in_tiles};

/// The largest number of an 8-bit vector. −128 is never used, so that a vector and its negation have the same
/// numbers.
const LARGEST: f32 = 127.0;
/// Bytes of candidates that one task takes: they stay in the second level of cache while all queries pass by.
const TILE_BYTES: usize = 128 << 10;
/// The same for one query, which reads every candidate once.
const TILE_BYTES_OF_ONE: usize = 256 << 10;
/// Up to this many multiplications, waking other threads takes longer than they would save.
const ALONE: usize = 3 << 20;
/// How many bytes ahead of the next candidates of a few queries memory is fetched.
const AHEAD: usize = 2048;
/// Queries are padded with zeros to a multiple of this, so that no kernel needs a shorter last step.
const STEP: usize = 64;

/// 8-bit vectors with a scale each, or some of their columns.
#[derive(Clone, Copy, Debug)]
pub struct ByteRows<'a> {
    values: &'a [i8],
    scales: &'a [f32],
    stride: usize,
    columns: (usize, usize),
}

impl<'a> ByteRows<'a> {
    /// The given columns of rows of `stride` values each.
    ///
    /// # Panics
    /// If there is not one scale for each row, or the columns are not within a row.
    pub fn new(values: &'a [i8], scales: &'a [f32], stride: usize, columns: Range<usize>) -> Self {
        assert_eq!(values.len(), scales.len() * stride, "one scale for each row");
        assert!(columns.start <= columns.end && columns.end <= stride, "columns {columns:?} of {stride}");
        Self { values, scales, stride, columns: (columns.start, columns.end) }
    }

    /// The numbers of rows and columns.
    pub(crate) fn size(self) -> (usize, usize) {
        (self.scales.len(), self.columns.1 - self.columns.0)
    }

    /// Some of the rows.
    #[must_use]
    pub(crate) fn rows(self, range: Range<usize>) -> Self {
        let values = &self.values[range.start * self.stride..range.end * self.stride];
        Self { values, scales: &self.scales[range], ..self }
    }

    /// Prefetches as many bytes as `count` rows have, a little behind the beginning of a row.
    #[inline(always)]
    fn bring_near_from(self, row: usize, count: usize) {
        let from = (row * self.stride + AHEAD).min(self.values.len());
        let to = (from + count * self.stride).min(self.values.len());
        bring_near(&self.values[from..to]);
    }

    /// The numbers of a row in whole steps of `N`, and the rest of them in one more step. Behind the row's own
    /// numbers that step holds those of the next row, or zeros at the end of the table: a query is 0 there.
    #[inline(always)]
    fn steps<const N: usize>(self, row: usize) -> (&'a [[i8; N]], [i8; N]) {
        let from = row * self.stride + self.columns.0;
        let (steps, rest) = self.values[from..][..self.columns.1 - self.columns.0].as_chunks::<N>();
        let at = from + steps.len() * N;
        let last = self.values.get(at..at + N).and_then(|step| <[i8; N]>::try_from(step).ok());
        let last = last.unwrap_or_else(|| {
            let mut step = [0; N];
            step[..rest.len()].copy_from_slice(rest);
            step
        });
        (steps, last)
    }
}

/// Queries as 8-bit vectors, in the form that a kernel reads.
struct Queries<T> {
    /// Row after row, each padded with zeros to `padded` numbers.
    values: Vec<T>,
    /// Where the first row begins in `values`: at the beginning of a line of cache, so that no load touches two.
    start: usize,
    scales: Vec<f32>,
    padded: usize,
}

impl<T: Copy + Default> Queries<T> {
    fn new(queries: &[f32], width: usize, convert: impl Fn(i8) -> T) -> Self {
        let (rows, padded) = (queries.len() / width, width.next_multiple_of(STEP));
        let mut values = vec![T::default(); STEP + rows * padded];
        let start = values.as_ptr().align_offset(LINE).min(STEP);
        let mut bytes = vec![0; width];
        let padded_rows = values[start..].chunks_exact_mut(padded);
        let scales = queries.chunks_exact(width).zip(padded_rows).map(|(query, row)| {
            let scale = to_bytes(query, &mut bytes);
            row.iter_mut().zip(&bytes).for_each(|(value, &byte)| *value = convert(byte));
            scale
        });
        let scales = scales.collect();
        Self { values, start, scales, padded }
    }

    fn row(&self, index: usize) -> &[T] {
        &self.values[self.start + index * self.padded..][..self.padded]
    }
}

/// Rounds a vector to 8 bits and returns its scale `s = max|x| / 127`: number i is `round(xᵢ / s)`, and `s` times it
/// is at most `s / 2` away from `xᵢ`. A vector of zeros has scale 0. A value that is not finite leaves a scale
/// that is not finite either, and with it every score.
///
/// # Panics
/// If the lengths differ.
pub fn to_bytes(values: &[f32], bytes: &mut [i8]) -> f32 {
    assert_eq!(values.len(), bytes.len(), "one byte for each value");
    round(values, bytes)
}

vectorised! {
    fn round<'a>(values: &'a [f32], bytes: &'a mut [i8]) -> f32 {
        // `max` drops a NaN, so that is looked for apart.
        let largest = values.iter().fold(0.0f32, |largest, value| largest.max(value.abs()));
        let largest = if values.iter().any(|value| value.is_nan()) { f32::NAN } else { largest };
        let scale = largest / LARGEST;
        if scale > 0.0 && scale.is_finite() {
            for (byte, value) in bytes.iter_mut().zip(values) {
                *byte = (value / scale).round_ties_even().clamp(-LARGEST, LARGEST) as i8;
            }
        } else {
            bytes.fill(0);
        }
        scale
    }
}

/// The score of a pair whose sum is given.
#[inline(always)]
fn score(sum: i32, query: f32, candidate: f32) -> f32 {
    sum as f32 * (query * candidate)
}

/// `out[i][j] = s_i · t_j · Σ qᵢ·eⱼ` with each query rounded to 8 bits by [`to_bytes`], into rows that lie apart, each
/// as long as there are candidates. The result of a pair does not depend on what else is computed with it.
///
/// # Panics
/// If there is not one row for each query.
pub fn byte_scores(out: Vec<&mut [f32]>, queries: &[f32], candidates: ByteRows<'_>) {
    let best = ByteKernel::all().next().unwrap_or(ByteKernel::Plain);
    best.scores(out, queries, candidates);
}

/// The kernels, best first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ByteKernel {
    /// AVX-512 VNNI.
    #[cfg(target_arch = "x86_64")]
    Vnni,
    /// AVX2.
    #[cfg(target_arch = "x86_64")]
    Avx2,
    /// NEON.
    #[cfg(target_arch = "aarch64")]
    Neon,
    /// No special instructions.
    Plain,
}

impl ByteKernel {
    /// The kernels that this machine can run, best first.
    pub fn all() -> impl Iterator<Item = Self> {
        [
            #[cfg(target_arch = "x86_64")]
            vnni::is_there().then_some(Self::Vnni),
            #[cfg(target_arch = "x86_64")]
            avx2::is_there().then_some(Self::Avx2),
            #[cfg(target_arch = "aarch64")]
            Some(Self::Neon),
            Some(Self::Plain),
        ]
        .into_iter()
        .flatten()
    }

    /// The name of its instructions.
    #[cfg(feature = "kernels")]
    pub fn name(self) -> &'static str {
        match self {
            #[cfg(target_arch = "x86_64")]
            Self::Vnni => "avx512-vnni",
            #[cfg(target_arch = "x86_64")]
            Self::Avx2 => "avx2",
            #[cfg(target_arch = "aarch64")]
            Self::Neon => "neon",
            Self::Plain => "plain",
        }
    }

    /// [`byte_scores`] by this kernel, which must be one that this machine has.
    ///
    /// # Panics
    /// If it is not, or if there is not one row for each query.
    pub fn scores(self, out: Vec<&mut [f32]>, queries: &[f32], candidates: ByteRows<'_>) {
        let (count, width) = candidates.size();
        // A search that has scored everything already may ask for no row.
        if width == 0 || count == 0 || out.is_empty() {
            return;
        }
        assert!(
            queries.len() == out.len() * width && out.iter().all(|row| row.len() == count),
            "one row for each query, one result for each candidate"
        );
        let rows = out.len();
        let bytes = if rows == 1 { TILE_BYTES_OF_ONE } else { TILE_BYTES };
        let size = (bytes / candidates.stride).next_multiple_of(8);
        let alone = rows * count * width <= ALONE;
        let out = out.into_iter();
        match self {
            #[cfg(target_arch = "x86_64")]
            Self::Vnni => {
                let queries = Queries::new(queries, width, vnni::unsigned);
                in_tiles(out, (count, size), alone, |at, out| {
                    vnni::tile(out, &queries, candidates.rows(at));
                });
            }
            #[cfg(target_arch = "x86_64")]
            Self::Avx2 => {
                let queries = Queries::new(queries, width, i16::from);
                in_tiles(out, (count, size), alone, |at, out| {
                    avx2::tile(out, &queries, candidates.rows(at));
                });
            }
            #[cfg(target_arch = "aarch64")]
            Self::Neon => {
                let queries = Queries::new(queries, width, |byte| byte);
                in_tiles(out, (count, size), alone, |at, out| {
                    neon::tile(out, &queries, candidates.rows(at));
                });
            }
            Self::Plain => {
                let queries = Queries::new(queries, width, |byte| byte);
                in_tiles(out, (count, size), alone, |at, out| {
                    plain::tile(out, &queries, candidates.rows(at));
                });
            }
        }
    }
}

#[cfg(test)]
mod tests;
