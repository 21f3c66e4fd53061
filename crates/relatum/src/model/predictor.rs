//! The one shape of a link predictor.

use std::fmt::Debug;
use std::ops::Range;

use crate::kernels::{axpy, sum_of_squares};

/// How the numbers of a row are to be read: what a regulariser measures and how a row starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layout {
    /// One real number a factor.
    Real,
    /// Complex factors: all real parts, then all imaginary parts.
    Complex,
    /// Angles in radians, whose factor e^{iθ} has modulus 1 whatever θ is.
    Phase,
}

impl Layout {
    /// How many numbers a row of so many factors has.
    fn width(self, rank: usize) -> usize {
        if self == Self::Complex { 2 * rank } else { rank }
    }
}

/// A link predictor: `s(h, r, t) = ⟨q(h, r), e_t⟩ + b_t + c(q)`.
///
/// One vector for a (head, relation) pair, one inner product for each candidate tail. A predictor
/// says how q is made of the rows of head and relation, and how a gradient flows back through q;
/// nothing else of it is ever needed. The candidate vector `e_t` is a part of the tail's row. The
/// bias `b_t` is a function of `e_t` and the offset c one of q, for predictors that measure a distance:
/// `−|q/2 − e|² = ⟨q, e⟩ − |e|² − |q|²/4`. The default methods are those of the plainest predictor: real
/// factors, every value read on both sides, no distance.
pub trait LinkPredictor: Debug + Send + Sync {
    /// The name in options and files.
    fn name(&self) -> &'static str;

    /// The number of factors of a row.
    fn rank(&self) -> usize;

    /// How to read an entity's values.
    fn entity_layout(&self) -> Layout {
        Layout::Real
    }

    /// How to read a relation's values.
    fn relation_layout(&self) -> Layout {
        Layout::Real
    }

    /// The number of values an entity has.
    fn entity_width(&self) -> usize {
        self.entity_layout().width(self.rank())
    }

    /// The number of values a relation has.
    fn relation_width(&self) -> usize {
        self.relation_layout().width(self.rank())
    }

    /// Which of an entity's values q reads when the entity is the head.
    fn head(&self) -> Range<usize> {
        0..self.entity_width()
    }

    /// Which of an entity's values are `e_t` when the entity is the tail.
    fn tail(&self) -> Range<usize> {
        0..self.entity_width()
    }

    /// Writes `q(h, r)`, as long as [`tail`](Self::tail).
    fn query(&self, head: &[f32], relation: &[f32], query: &mut [f32]);

    /// The vector-Jacobian product of q by the head: for a gradient ∂ by q, adds `∂ᵀ · ∂q/∂h` to
    /// that of the head.
    fn head_pull_back(&self, head: &[f32], relation: &[f32], gradient: &[f32], head_gradient: &mut [f32]);

    /// The same by the relation: adds `∂ᵀ · ∂q/∂r`.
    fn relation_pull_back(
        &self,
        head: &[f32],
        relation: &[f32],
        gradient: &[f32],
        relation_gradient: &mut [f32],
    );

    /// Adds both gradients: that by the head's row and that by the relation's.
    fn pull_back(
        &self,
        head: &[f32],
        relation: &[f32],
        gradient: &[f32],
        head_gradient: &mut [f32],
        relation_gradient: &mut [f32],
    ) {
        self.head_pull_back(head, relation, gradient, head_gradient);
        self.relation_pull_back(head, relation, gradient, relation_gradient);
    }

    /// Whether `q(h, r)` is linear in h and in r, so that the score is one trilinear form. Then
    /// `s(h, r, t) = ⟨p(h, t), r⟩` with p the pull-back of `e_t`, and relations can be predicted as
    /// tails are. A distance never is.
    fn is_trilinear(&self) -> bool {
        !self.is_distance()
    }

    /// Whether the score is the distance `−|q/2 − e_t|²`, not the inner product alone.
    fn is_distance(&self) -> bool {
        false
    }

    /// Whether the score is the distance itself, `−|q/2 − e_t|`, not its square.
    fn is_root(&self) -> bool {
        false
    }

    /// The score, given an inner product or minus a squared distance: that value itself, or minus the root of
    /// the squared distance.
    fn shaped(&self, score: f32) -> f32 {
        if self.is_root() { -(-score).max(0.0).sqrt() } else { score }
    }

    /// The derivative of [`shaped`](Self::shaped) at the score for which it gives this value.
    fn shape_slope(&self, shaped: f32) -> f32 {
        // At 0 the root has no slope; with any finite value an optimum can stay there.
        if self.is_root() { 0.5 / shaped.abs().max(1e-6) } else { 1.0 }
    }

    /// Whether [`bias`](Self::bias) is ever other than 0.
    fn has_bias(&self) -> bool {
        self.is_distance()
    }

    /// `b_t` as a function of `e_t`: `−|e_t|²` of a distance, else 0.
    fn bias(&self, tail: &[f32]) -> f32 {
        if self.is_distance() { -sum_of_squares(tail) } else { 0.0 }
    }

    /// Adds the gradient of `amount · b_t` to that of `e_t`.
    fn bias_pull_back(&self, tail: &[f32], amount: f32, gradient: &mut [f32]) {
        if self.is_distance() {
            axpy(gradient, -2.0 * amount, tail);
        }
    }

    /// c as a function of q: it shifts all tails of a (head, relation) alike, so no ranking and no
    /// softmax over tails depends on it. `−|q|²/4` of a distance, else 0.
    fn offset(&self, query: &[f32]) -> f32 {
        if self.is_distance() { -sum_of_squares(query) / 4.0 } else { 0.0 }
    }

    /// Adds the gradient of `amount · c(q)` to that of q.
    fn offset_pull_back(&self, query: &[f32], amount: f32, gradient: &mut [f32]) {
        if self.is_distance() {
            axpy(gradient, -0.5 * amount, query);
        }
    }
}
