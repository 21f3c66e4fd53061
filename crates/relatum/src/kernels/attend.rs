//! A weighted mean whose weights are a softmax over few rows, for each dimension by itself.

use super::softmax::exp;

vectorised! {
    /// Replaces the logits of some rows by their softmax over the rows, for each dimension by itself, and writes the mean
    /// of the rows of `values` with these weights. Rows are as long as `out`.
    pub fn attend<'a>(out: &'a mut [f32], logits: &'a mut [f32], values: &'a [f32]) -> () {
        let width = out.len();
        let mut sums = vec![0.0f32; width];
        out.fill(f32::NEG_INFINITY);
        for row in logits.chunks_exact(width) {
            for (most, logit) in out.iter_mut().zip(row) {
                *most = if *logit > *most { *logit } else { *most };
            }
        }
        for row in logits.chunks_exact_mut(width) {
            for ((logit, most), sum) in row.iter_mut().zip(&*out).zip(&mut sums) {
                *logit = exp(*logit - *most);
                *sum += *logit;
            }
        }
        out.fill(0.0);
        for (row, values) in logits.chunks_exact_mut(width).zip(values.chunks_exact(width)) {
            for (((share, sum), value), out) in row.iter_mut().zip(&sums).zip(values).zip(&mut *out) {
                *share /= *sum;
                *out += *share * value;
            }
        }
    }
}

vectorised! {
    /// The way back: with shares a, values v, mean m and the slope g by the mean, writes `a · (v − m) · g` (by the
    /// logits) and `a · g` (by the values).
    pub fn attend_back<'a>(
        by_logits: &'a mut [f32], by_values: &'a mut [f32], shares: &'a [f32], values: &'a [f32], mean: &'a [f32],
        by: &'a [f32]
    ) -> () {
        let width = mean.len();
        let rows = by_logits.chunks_exact_mut(width).zip(by_values.chunks_exact_mut(width));
        for ((by_logits, by_values), (shares, values)) in
            rows.zip(shares.chunks_exact(width).zip(values.chunks_exact(width)))
        {
            let operands = shares.iter().zip(values).zip(mean).zip(by);
            for ((by_logit, by_value), (((share, value), mean), by)) in
                by_logits.iter_mut().zip(by_values).zip(operands)
            {
                *by_value = share * by;
                *by_logit = *by_value * (value - mean);
            }
        }
    }
}
