//! Candidates in half precision, which a stream makes f32 a few at a time.

use std::ops::Range;

use half::f16;
use half::slice::HalfFloatSliceExt;

use super::stream::Source;
use super::tiles::bring_near;

/// Rows of half-precision numbers, or some of their columns.
#[derive(Clone, Copy, Debug)]
pub struct HalfRows<'a> {
    values: &'a [f16],
    count: usize,
    stride: usize,
    columns: (usize, usize),
}

impl<'a> HalfRows<'a> {
    /// The given columns of rows of `stride` values each.
    ///
    /// # Panics
    /// If the columns are not within a row.
    pub fn new(values: &'a [f16], stride: usize, columns: Range<usize>) -> Self {
        assert!(columns.start <= columns.end && columns.end <= stride, "columns {columns:?} of {stride}");
        let count = values.len().checked_div(stride).unwrap_or(0);
        Self { values, count, stride, columns: (columns.start, columns.end) }
    }

    #[inline(always)]
    fn part(self, row: usize, stretch: &Range<usize>) -> &'a [f16] {
        let from = row * self.stride + self.columns.0 + stretch.start;
        &self.values[from..][..stretch.len()]
    }
}

impl<'a> Source<'a> for HalfRows<'a> {
    const IS_MADE: bool = true;

    fn size(self) -> (usize, usize) {
        (self.count, self.columns.1 - self.columns.0)
    }

    fn rows(self, range: Range<usize>) -> Self {
        let values = &self.values[range.start * self.stride..range.end * self.stride];
        Self { values, count: range.len(), ..self }
    }

    #[inline(always)]
    fn values<'b>(self, row: usize, stretch: &Range<usize>, room: &'b mut [f32]) -> &'b [f32]
    where
        'a: 'b,
    {
        let room = &mut room[..stretch.len()];
        self.part(row, stretch).convert_to_f32_slice(room);
        room
    }

    #[inline(always)]
    fn bring_near(self, row: usize, part: Range<usize>) {
        bring_near(self.part(row, &part));
    }
}
