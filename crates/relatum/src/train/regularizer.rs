//! Penalties that keep the factors small.

use serde::{Deserialize, Serialize};

use crate::model::Layout;

/// What is added to the loss of a triple for each of the rows of its head, relation and tail.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Regularizer {
    /// Nothing.
    None,
    /// `Σ |x|³` over the moduli of the factors: the nuclear 3-norm (Lacroix et al., 2018).
    N3,
    /// `Σ |x|²`: the squared Frobenius norm.
    F2,
}

impl Regularizer {
    /// Every penalty.
    pub const ALL: [Self; 3] = [Self::None, Self::N3, Self::F2];

    /// The name in options and files.
    pub fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::N3 => "n3",
            Self::F2 => "f2",
        }
    }

    /// The penalty of one row.
    pub fn value(self, layout: Layout, row: &[f32]) -> f64 {
        let squares = moduli_squared(layout, row).map(f64::from);
        match self {
            Self::None => 0.0,
            Self::N3 => squares.map(|square| square * square.sqrt()).sum(),
            Self::F2 => squares.sum(),
        }
    }

    /// Adds `weight` times the gradient of the penalty.
    pub(super) fn pull_back(self, layout: Layout, row: &[f32], weight: f32, gradient: &mut [f32]) {
        if layout == Layout::Phase {
            return;
        }
        match self {
            Self::None => {}
            Self::F2 => crate::kernels::axpy(gradient, 2.0 * weight, row),
            Self::N3 if layout == Layout::Complex => {
                let rank = row.len() / 2;
                let ((re, im), (g_re, g_im)) = (row.split_at(rank), gradient.split_at_mut(rank));
                for i in 0..rank {
                    let factor = 3.0 * weight * (re[i] * re[i] + im[i] * im[i]).sqrt();
                    g_re[i] += factor * re[i];
                    g_im[i] += factor * im[i];
                }
            }
            Self::N3 => {
                for (g, x) in gradient.iter_mut().zip(row) {
                    *g += 3.0 * weight * x.abs() * x;
                }
            }
        }
    }
}

fn moduli_squared(layout: Layout, row: &[f32]) -> Box<dyn Iterator<Item = f32> + '_> {
    match layout {
        Layout::Real => Box::new(row.iter().map(|x| x * x)),
        Layout::Complex => {
            let (re, im) = row.split_at(row.len() / 2);
            Box::new(re.iter().zip(im).map(|(a, b)| a * a + b * b))
        }
        // A rotation has modulus 1 whatever its angle, so there is nothing to keep small.
        Layout::Phase => Box::new(std::iter::empty()),
    }
}
