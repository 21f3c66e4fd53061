//! Loops over one or two vectors.

use super::vectorised;

const LANES: usize = 16;

/// `⟨a, b⟩`, over the shorter of the two.
pub fn dot(a: &[f32], b: &[f32]) -> f32 {
    let len = a.len().min(b.len());
    let (a, b) = (&a[..len], &b[..len]);
    vectorised(|| {
        let mut lanes = [0.0f32; LANES];
        let ((a, a_rest), (b, b_rest)) = (a.as_chunks::<LANES>(), b.as_chunks::<LANES>());
        for (x, y) in a.iter().zip(b) {
            for lane in 0..LANES {
                lanes[lane] = x[lane].mul_add(y[lane], lanes[lane]);
            }
        }
        lanes.iter().sum::<f32>() + a_rest.iter().zip(b_rest).map(|(x, y)| x * y).sum::<f32>()
    })
}

/// `|a|²`.
pub fn sum_of_squares(a: &[f32]) -> f32 {
    dot(a, a)
}

/// `y += x`.
pub fn add(y: &mut [f32], x: &[f32]) {
    vectorised(|| {
        for (y, x) in y.iter_mut().zip(x) {
            *y += x;
        }
    });
}

/// `y += a · x`.
pub fn axpy(y: &mut [f32], a: f32, x: &[f32]) {
    vectorised(|| {
        for (y, x) in y.iter_mut().zip(x) {
            *y = x.mul_add(a, *y);
        }
    });
}

/// How many values are above the threshold, and how many equal it.
pub fn count_above(values: &[f32], threshold: f32) -> (usize, usize) {
    vectorised(|| {
        let (mut above, mut equal) = (0u32, 0u32);
        for &value in values {
            above += u32::from(value > threshold);
            equal += u32::from(value == threshold);
        }
        (above as usize, equal as usize)
    })
}
