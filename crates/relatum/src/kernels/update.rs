//! Steps of the optimisers on one stretch of parameters, in one pass over memory.

vectorised! {
    /// `G += g²; x −= lr · g / (√G + 10⁻¹⁰)`.
    pub fn adagrad<'a>(x: &'a mut [f32], squares: &'a mut [f32], gradient: &'a [f32], lr: f32) -> () {
        for ((x, squares), &g) in x.iter_mut().zip(squares).zip(gradient) {
            *squares = g.mul_add(g, *squares);
            *x -= lr * g / (squares.sqrt() + 1e-10);
        }
    }
}

const B1: f32 = 0.9;
const B2: f32 = 0.999;

/// `m ← β₁m + (1−β₁)g; v ← β₂v + (1−β₂)g²; x −= lr · m̂ / (√v̂ + 10⁻⁸)` with β = (0.9, 0.999) and
/// the means corrected for having started at 0, `step` steps ago.
pub fn adam(x: &mut [f32], means: &mut [f32], squares: &mut [f32], gradient: &[f32], lr: f32, step: u64) {
    let power = i32::try_from(step).unwrap_or(i32::MAX);
    let lr = lr / (1.0 - B1.powi(power));
    let correction = (1.0 / (1.0 - f64::from(B2).powi(power))) as f32;
    corrected_adam(x, means, squares, gradient, lr, correction);
}

vectorised! {
    /// [`adam`] with its corrections computed: `lr` includes that of the mean, `correction` is that of the square.
    fn corrected_adam<'a>(
        x: &'a mut [f32], means: &'a mut [f32], squares: &'a mut [f32], gradient: &'a [f32], lr: f32, correction: f32
    ) -> () {
        for (((x, m), v), &g) in x.iter_mut().zip(means).zip(squares).zip(gradient) {
            *m = B1 * *m + (1.0 - B1) * g;
            *v = B2 * *v + (1.0 - B2) * g * g;
            *x -= lr * *m / ((*v * correction).sqrt() + 1e-8);
        }
    }
}

/// `x −= lr · g`.
pub fn sgd(x: &mut [f32], gradient: &[f32], lr: f32) {
    super::axpy(x, -lr, gradient);
}

#[cfg(test)]
#[allow(clippy::float_cmp, reason = "these results are exact")]
mod tests {
    use super::*;

    #[test]
    fn the_first_step_of_adagrad_and_adam_is_the_learning_rate() {
        let (mut a, mut b) = ([1.0, 1.0], [1.0, 1.0]);
        adagrad(&mut a, &mut [0.0; 2], &[0.3, -2.0], 0.1);
        adam(&mut b, &mut [0.0; 2], &mut [0.0; 2], &[0.3, -2.0], 0.1, 1);
        for x in [a, b] {
            assert!((x[0] - 0.9).abs() < 1e-5 && (x[1] - 1.1).abs() < 1e-5, "{x:?}");
        }
    }

    #[test]
    fn adagrad_divides_by_the_root_of_all_squares_so_far() {
        let (mut x, mut squares) = ([0.0], [0.0]);
        adagrad(&mut x, &mut squares, &[3.0], 1.0);
        adagrad(&mut x, &mut squares, &[4.0], 1.0);
        assert_eq!(squares, [25.0]);
        assert!((x[0] + 1.0 + 0.8f32).abs() < 1e-6);
    }

    #[test]
    fn a_parameter_without_gradient_stays() {
        let (mut x, mut squares) = ([0.25], [0.0]);
        adagrad(&mut x, &mut squares, &[0.0], 0.1);
        assert_eq!(x, [0.25]);
    }
}
