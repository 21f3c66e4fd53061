//! Loops over one or two vectors.

const LANES: usize = 16;

vectorised! {
    /// `⟨a, b⟩`, over the shorter of the two.
    pub fn dot<'a>(a: &'a [f32], b: &'a [f32]) -> f32 {
        let len = a.len().min(b.len());
        let ((a, a_rest), (b, b_rest)) = (a[..len].as_chunks::<LANES>(), b[..len].as_chunks::<LANES>());
        let mut lanes = [0.0f32; LANES];
        for (x, y) in a.iter().zip(b) {
            for lane in 0..LANES {
                lanes[lane] = x[lane].mul_add(y[lane], lanes[lane]);
            }
        }
        lanes.iter().sum::<f32>() + a_rest.iter().zip(b_rest).map(|(x, y)| x * y).sum::<f32>()
    }
}

/// `|a|²`.
pub fn sum_of_squares(a: &[f32]) -> f32 {
    dot(a, a)
}

vectorised! {
    /// `y += x`.
    pub fn add<'a>(y: &'a mut [f32], x: &'a [f32]) -> () {
        for (y, x) in y.iter_mut().zip(x) {
            *y += x;
        }
    }
}

vectorised! {
    /// `y *= a`.
    pub fn scale_by<'a>(y: &'a mut [f32], a: f32) -> () {
        for y in y {
            *y *= a;
        }
    }
}

vectorised! {
    /// `y += a · x`.
    pub fn axpy<'a>(y: &'a mut [f32], a: f32, x: &'a [f32]) -> () {
        for (y, x) in y.iter_mut().zip(x) {
            *y = x.mul_add(a, *y);
        }
    }
}

vectorised! {
    /// How many values are above the threshold, and how many equal it.
    #[allow(clippy::float_cmp, reason = "a tie is the very same number")]
    pub fn count_above<'a>(values: &'a [f32], threshold: f32) -> (usize, usize) {
        let (mut above, mut equal) = (0u32, 0u32);
        for &value in values {
            above += u32::from(value > threshold);
            equal += u32::from(value == threshold);
        }
        (above as usize, equal as usize)
    }
}
