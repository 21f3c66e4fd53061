//! Matrix products.

use std::ops::Range;

use crate::control::others_can_help;

/// How many threads share one product.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Threads {
    /// The calling thread alone, for products that are themselves done side by side.
    One,
    /// All threads of the current pool.
    All,
}

impl Threads {
    /// `One` inside a thread of a shared pool, where other threads are already busy and splitting small work
    /// further would only make them wait for each other; `All` outside, and with
    /// [threads of one's own](crate::control::OwnThreads).
    pub fn here() -> Self {
        if others_can_help() { Self::All } else { Self::One }
    }

    /// The least number of items that one task of a parallel loop takes.
    pub(crate) fn grain(self) -> usize {
        match self {
            Self::One => usize::MAX,
            Self::All => 1,
        }
    }
}

/// A matrix of f32 seen through strides: a table, some of its rows or columns, or its transpose.
#[derive(Clone, Copy, Debug)]
pub struct View<'a> {
    data: &'a [f32],
    shape: Shape,
}

/// A matrix that can be written; rows are stored one after another.
#[derive(Debug)]
pub struct ViewMut<'a> {
    data: &'a mut [f32],
    shape: Shape,
}

#[derive(Clone, Copy, Debug)]
struct Shape {
    rows: usize,
    columns: usize,
    row_stride: usize,
    column_stride: usize,
}

impl Shape {
    /// One past the last element's position. A shape too large to count panics: wrapped around, it
    /// would seem to fit anywhere.
    fn extent(self) -> usize {
        if self.rows == 0 || self.columns == 0 {
            return 0;
        }
        let down = (self.rows - 1).checked_mul(self.row_stride);
        let right = (self.columns - 1).checked_mul(self.column_stride);
        let last = down.zip(right).and_then(|(down, right)| down.checked_add(right)?.checked_add(1));
        last.unwrap_or_else(|| panic!("a view of more values than can be counted: {self:?}"))
    }
}

impl<'a> View<'a> {
    /// `rows` × `columns` values, row after row.
    ///
    /// # Panics
    /// If `data` is shorter than that.
    pub fn new(data: &'a [f32], rows: usize, columns: usize) -> Self {
        let shape = Shape { rows, columns, row_stride: columns, column_stride: 1 };
        assert!(shape.extent() <= data.len(), "a {rows} × {columns} view of {} values", data.len());
        Self { data, shape }
    }

    /// The same matrix with rows and columns exchanged; nothing is moved.
    #[must_use]
    pub fn transposed(self) -> Self {
        let Shape { rows, columns, row_stride, column_stride } = self.shape;
        let shape =
            Shape { rows: columns, columns: rows, row_stride: column_stride, column_stride: row_stride };
        Self { data: self.data, shape }
    }

    /// The numbers of rows and columns.
    pub(crate) fn size(self) -> (usize, usize) {
        (self.shape.rows, self.shape.columns)
    }

    /// One row.
    ///
    /// # Panics
    /// If there is no such row, or if rows are not stored whole.
    #[inline(always)]
    pub(super) fn row(self, index: usize) -> &'a [f32] {
        assert!(self.shape.column_stride == 1 && index < self.shape.rows, "a row stored whole");
        &self.data[index * self.shape.row_stride..][..self.shape.columns]
    }

    /// Some of the rows.
    ///
    /// # Panics
    /// If the range is outside the matrix.
    #[must_use]
    pub fn rows(self, range: Range<usize>) -> Self {
        assert!(
            range.start <= range.end && range.end <= self.shape.rows,
            "rows {range:?} of {:?}",
            self.shape
        );
        let shape = Shape { rows: range.len(), ..self.shape };
        let from = range.start.saturating_mul(self.shape.row_stride).min(self.data.len());
        Self { data: &self.data[from..], shape }
    }

    /// Some of the columns.
    ///
    /// # Panics
    /// If the range is outside the matrix.
    #[must_use]
    pub fn columns(self, range: Range<usize>) -> Self {
        self.transposed().rows(range).transposed()
    }
}

impl<'a> ViewMut<'a> {
    /// `rows` × `columns` values, row after row.
    ///
    /// # Panics
    /// If `data` is shorter than that.
    pub fn new(data: &'a mut [f32], rows: usize, columns: usize) -> Self {
        Self::within(data, rows, columns, 0..columns)
    }

    /// The given columns of a table of `rows` × `width` values.
    ///
    /// # Panics
    /// If `data` is too short or the columns are not within the width.
    pub fn within(data: &'a mut [f32], rows: usize, width: usize, columns: Range<usize>) -> Self {
        assert!(columns.start <= columns.end && columns.end <= width, "columns {columns:?} of {width}");
        let shape = Shape { rows, columns: columns.len(), row_stride: width, column_stride: 1 };
        let from = columns.start.min(data.len());
        let data = &mut data[from..];
        assert!(shape.extent() <= data.len(), "a {rows} × {width} view of {} values", data.len());
        Self { data, shape }
    }
}

/// `out = left · right`.
///
/// Each element is summed in an order that depends on the shapes alone, so the number of threads
/// does not change a result.
///
/// # Panics
/// If the shapes do not fit.
#[allow(
    clippy::needless_pass_by_value,
    reason = "a mutable view is handed over, as a mutable slice would be"
)]
pub fn product(out: ViewMut<'_>, left: View<'_>, right: View<'_>, threads: Threads) {
    let (o, l, r) = (out.shape, left.shape, right.shape);
    assert!(
        o.rows == l.rows && l.columns == r.rows && o.columns == r.columns,
        "a product of {l:?} and {r:?} into {o:?}"
    );
    let parallelism = match threads {
        Threads::One => gemm_common::Parallelism::None,
        Threads::All => gemm_common::Parallelism::Rayon(0),
    };
    // SAFETY: a view is made only over a slice that reaches its extent, sub-views stay inside their
    // view, and `out` is borrowed mutably, so it overlaps neither operand. The shapes were compared.
    #[allow(unsafe_code, reason = "the product's interface is raw pointers with strides")]
    unsafe {
        gemm_f32::gemm::f32::get_gemm_fn()(
            o.rows,
            o.columns,
            l.columns,
            out.data.as_mut_ptr(),
            o.column_stride as isize,
            o.row_stride as isize,
            false,
            left.data.as_ptr(),
            l.column_stride as isize,
            l.row_stride as isize,
            right.data.as_ptr(),
            r.column_stride as isize,
            r.row_stride as isize,
            0.0,
            1.0,
            false,
            false,
            false,
            parallelism,
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Rng;

    fn random(rng: &mut Rng, len: usize) -> Vec<f32> {
        (0..len).map(|_| rng.normal() as f32).collect()
    }

    #[test]
    fn a_product_of_views_equals_the_sum_of_its_definition() {
        let mut rng = Rng::new(1);
        let (a, b) = (random(&mut rng, 5 * 7), random(&mut rng, 9 * 4));
        let mut out = vec![f32::NAN; 3 * 6];
        // Rows 1..4 and columns 2..6 of a, times the transpose of rows 2..6 of b, into columns 1..5.
        let left = View::new(&a, 5, 7).rows(1..4).columns(2..6);
        let right = View::new(&b, 9, 4).rows(2..6).transposed();
        product(ViewMut::within(&mut out, 3, 6, 1..5), left, right, Threads::One);
        for i in 0..3 {
            assert!(out[i * 6].is_nan() && out[i * 6 + 5].is_nan(), "columns outside the view are untouched");
            for j in 0..4 {
                let expected: f32 = (0..4).map(|k| a[(i + 1) * 7 + k + 2] * b[(j + 2) * 4 + k]).sum();
                assert!((out[i * 6 + j + 1] - expected).abs() < 1e-5);
            }
        }
    }

    #[test]
    fn the_number_of_threads_does_not_change_a_product() {
        let mut rng = Rng::new(2);
        let (m, k, n) = (70, 3000, 210);
        let (a, b) = (random(&mut rng, m * k), random(&mut rng, k * n));
        let run = |threads: usize, parallel| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let mut out = vec![0.0; m * n];
            pool.install(|| {
                product(ViewMut::new(&mut out, m, n), View::new(&a, m, k), View::new(&b, k, n), parallel);
            });
            out
        };
        let alone = run(1, Threads::One);
        for threads in 1..5 {
            assert_eq!(alone, run(threads, Threads::All), "{threads} threads");
        }
    }

    #[test]
    #[should_panic(expected = "view of")]
    fn a_view_beyond_its_data_is_refused() {
        View::new(&[0.0; 5], 2, 3);
    }

    #[test]
    #[should_panic(expected = "view of")]
    fn a_view_whose_size_would_wrap_around_is_refused() {
        // (rows − 1) · columns is 2⁶⁴, which wraps to 0.
        View::new(&[0.0; 5], (1 << 62) + 1, 4);
    }

    #[test]
    #[should_panic(expected = "view of")]
    fn a_view_to_write_whose_size_would_wrap_around_is_refused() {
        ViewMut::within(&mut [0.0; 5], (1 << 62) + 1, 4, 0..2);
    }
}
