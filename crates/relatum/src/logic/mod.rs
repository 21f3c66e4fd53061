//! Truth values in [0, 1] and how they combine.
//!
//! A t-norm ⊤ is a conjunction: commutative, associative, monotone, with unit 1. Its dual
//! t-conorm `x ⊥ y = 1 − (1−x) ⊤ (1−y)` is the disjunction, with unit 0. Negation is `1 − x`.
//! Because every t-norm is monotone, `max` distributes over it: that is what lets a search
//! maximise over a variable as soon as no later atom mentions it.

#[cfg(test)]
mod tests;

/// A t-norm with its dual t-conorm.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum TNorm {
    /// Gödel: `min(x, y)` and `max(x, y)`.
    Godel,
    /// Product: `x·y` and `x + y − x·y`.
    #[default]
    Product,
    /// Łukasiewicz: `max(0, x + y − 1)` and `min(1, x + y)`.
    Lukasiewicz,
}

impl TNorm {
    /// All t-norms.
    pub const ALL: [Self; 3] = [Self::Godel, Self::Product, Self::Lukasiewicz];

    /// The name in options and files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Godel => "godel",
            Self::Product => "product",
            Self::Lukasiewicz => "lukasiewicz",
        }
    }

    /// The t-norm of a name; `min` and `prod`, which the literature uses, are understood too.
    pub fn from_name(name: &str) -> Option<Self> {
        match name {
            "godel" | "gödel" | "min" => Some(Self::Godel),
            "product" | "prod" => Some(Self::Product),
            "lukasiewicz" | "łukasiewicz" => Some(Self::Lukasiewicz),
            _ => None,
        }
    }

    /// `x ⊤ y`
    #[inline]
    pub fn and(self, x: f32, y: f32) -> f32 {
        match self {
            Self::Godel => x.min(y),
            Self::Product => x * y,
            // x + y − 1 as the smaller minus what the larger lacks to 1: rounding cannot lift it above the smaller.
            Self::Lukasiewicz => (x.min(y) - (1.0 - x.max(y))).max(0.0),
        }
    }

    /// `x ⊥ y`, the dual t-conorm.
    #[inline]
    pub fn or(self, x: f32, y: f32) -> f32 {
        match self {
            Self::Godel => x.max(y),
            // x + y·(1 − x) does not leave [0, 1] by rounding, as x + y − x·y can.
            Self::Product => x + y * (1.0 - x),
            Self::Lukasiewicz => (x + y).min(1.0),
        }
    }

    /// `(∂/∂x, ∂/∂y)` of `x ⊤ y`. Where the function has a kink, the derivative of one side:
    /// at a tie of Gödel's minimum that of `x`, on the edge of Łukasiewicz' plateau zero.
    #[inline]
    pub fn and_derivative(self, x: f32, y: f32) -> (f32, f32) {
        match self {
            Self::Godel if x <= y => (1.0, 0.0),
            Self::Godel => (0.0, 1.0),
            Self::Product => (y, x),
            Self::Lukasiewicz if x + y > 1.0 => (1.0, 1.0),
            Self::Lukasiewicz => (0.0, 0.0),
        }
    }

    /// `(∂/∂x, ∂/∂y)` of `x ⊥ y`, with the same choice at kinks.
    #[inline]
    pub fn or_derivative(self, x: f32, y: f32) -> (f32, f32) {
        match self {
            Self::Godel if x >= y => (1.0, 0.0),
            Self::Godel => (0.0, 1.0),
            Self::Product => (1.0 - y, 1.0 - x),
            Self::Lukasiewicz if x + y < 1.0 => (1.0, 1.0),
            Self::Lukasiewicz => (0.0, 0.0),
        }
    }

    /// The conjunction of all values; of none, 1.
    pub fn all(self, values: impl IntoIterator<Item = f32>) -> f32 {
        values.into_iter().reduce(|x, y| self.and(x, y)).unwrap_or(1.0)
    }

    /// The disjunction of all values; of none, 0.
    pub fn any(self, values: impl IntoIterator<Item = f32>) -> f32 {
        values.into_iter().fold(0.0, |x, y| self.or(x, y))
    }
}

impl std::fmt::Display for TNorm {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(self.name())
    }
}

/// Negation: `1 − min(1, scale·x)`. With scale 1 it is the strong negation `1 − x`; later
/// systems sharpen it, because a link predictor's values for false atoms are small but not 0.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Negation {
    /// By how much a truth value is multiplied before it is negated.
    pub scale: f32,
}

impl Default for Negation {
    fn default() -> Self {
        Self { scale: 1.0 }
    }
}

impl Negation {
    /// `¬x`
    #[inline]
    pub fn not(self, x: f32) -> f32 {
        1.0 - (self.scale * x).min(1.0)
    }

    /// `d(¬x)/dx`
    #[inline]
    pub fn derivative(self, x: f32) -> f32 {
        if self.scale * x < 1.0 { -self.scale } else { 0.0 }
    }
}
