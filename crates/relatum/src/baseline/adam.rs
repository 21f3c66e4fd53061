//! Adam for tables of which a step touches few rows.

use rayon::prelude::*;

use super::tape::Rows;
use crate::kernels::{adam, add};

/// What Adam remembers of a table: the means of gradients and of their squares, and how often each row was touched.
///
/// A row that has no gradient stays as it is, and so do its means: the corrections for having begun at 0 count the steps
/// of the row, not those of the run.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Adam {
    width: usize,
    pub(super) means: Vec<f32>,
    pub(super) squares: Vec<f32>,
    /// Whole numbers; f32 counts up to 16 million, and beyond that the corrections are 1 anyway.
    pub(super) counts: Vec<f32>,
}

/// A row that is touched, with all that changes.
struct Touched<'a> {
    values: &'a mut [f32],
    means: &'a mut [f32],
    squares: &'a mut [f32],
    count: &'a mut f32,
    /// Where its gradients stand.
    from: &'a [(u32, u32)],
}

impl Adam {
    pub(super) fn new(len: usize, width: usize) -> Self {
        Self { width, means: vec![0.0; len], squares: vec![0.0; len], counts: vec![0.0; len / width.max(1)] }
    }

    /// One step of the rows that have gradients. Those of one row are added in the order in which they stand there.
    pub(super) fn step(&mut self, values: &mut [f32], gradients: &Rows, lr: f32) {
        let width = self.width;
        let mut order: Vec<(u32, u32)> = gradients.ids.iter().copied().zip(0..).collect();
        order.sort_unstable();
        let mut touched = Vec::new();
        let (mut values, mut means, mut squares) = (values, &mut self.means[..], &mut self.squares[..]);
        let mut counts = &mut self.counts[..];
        let mut next = 0;
        for from in order.chunk_by(|a, b| a.0 == b.0) {
            let row = from[0].0 as usize;
            let skip = row - next;
            let (own_values, rest) = taken(values, skip, width);
            values = rest;
            let (own_means, rest) = taken(means, skip, width);
            means = rest;
            let (own_squares, rest) = taken(squares, skip, width);
            squares = rest;
            let (count, rest) = taken(counts, skip, 1);
            counts = rest;
            touched.push(Touched {
                values: own_values,
                means: own_means,
                squares: own_squares,
                count: &mut count[0],
                from,
            });
            next = row + 1;
        }
        touched.into_par_iter().with_min_len(8).for_each_init(
            || vec![0.0; width],
            |sum, Touched { values, means, squares, count, from }| {
                let of = |at: u32| &gradients.values[at as usize * width..][..width];
                sum.copy_from_slice(of(from[0].1));
                from[1..].iter().for_each(|&(_, at)| add(sum, of(at)));
                *count += 1.0;
                adam(values, means, squares, sum, lr, *count as u64);
            },
        );
    }
}

/// The next `width` values after `skip` rows, and what comes behind them.
fn taken(slice: &mut [f32], skip: usize, width: usize) -> (&mut [f32], &mut [f32]) {
    slice.split_at_mut(skip * width).1.split_at_mut(width)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_touched_rows_move_and_the_first_step_is_the_learning_rate() {
        let mut values = vec![1.0f32; 8];
        let mut state = Adam::new(8, 2);
        // Row 2 has two gradients, whose sum counts.
        let rows = Rows { ids: vec![2, 0, 2], values: vec![1.0, -1.0, 5.0, -5.0, 2.0, -1.0] };
        state.step(&mut values, &rows, 0.1);
        let right = [0.9, 1.1, 1.0, 1.0, 0.9, 1.1, 1.0, 1.0];
        assert!(values.iter().zip(right).all(|(a, b): (&f32, f32)| (a - b).abs() < 1e-5), "{values:?}");
        let counts: Vec<u32> = state.counts.iter().map(|&count| count as u32).collect();
        assert_eq!(counts, [1, 0, 1, 0]);
        // A row that is touched for the first time later makes a first step as well.
        let late = Rows { ids: vec![3], values: vec![0.5, 0.5] };
        state.step(&mut values, &late, 0.1);
        assert!((values[6] - 0.9).abs() < 1e-5 && state.counts[3] as u32 == 1, "{values:?}");
    }
}
