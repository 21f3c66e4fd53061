//! How a gradient becomes a step.

use serde::{Deserialize, Serialize};

use crate::kernels;

/// The rule that turns gradients into steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Optimizer {
    /// Steps divided by the root of all squared gradients so far; a row without gradient stays.
    Adagrad,
    /// Steps by running means of the gradient and its square. With sampled candidates, the means of rows
    /// outside the sample do not change.
    Adam,
    /// Steps along the gradient.
    Sgd,
}

impl Optimizer {
    /// Every rule.
    pub const ALL: [Self; 3] = [Self::Adagrad, Self::Adam, Self::Sgd];

    /// The name in options and files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Adagrad => "adagrad",
            Self::Adam => "adam",
            Self::Sgd => "sgd",
        }
    }

    /// How many numbers it remembers for each parameter.
    pub fn slots(self) -> usize {
        match self {
            Self::Adagrad => 1,
            Self::Adam => 2,
            Self::Sgd => 0,
        }
    }

    /// One step; `state` has [`slots`](Self::slots) stretches as long as `x`.
    pub(super) fn step(self, x: &mut [f32], state: [&mut [f32]; 2], gradient: &[f32], lr: f32, step: u64) {
        let [first, second] = state;
        match self {
            Self::Adagrad => kernels::adagrad(x, first, gradient, lr),
            Self::Adam => kernels::adam(x, first, second, gradient, lr, step),
            Self::Sgd => kernels::sgd(x, gradient, lr),
        }
    }
}

/// Parameters with what the optimiser remembers of them: rows of `width` values.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Table {
    pub(super) width: usize,
    pub(super) values: Vec<f32>,
    /// One for each slot of the optimiser, as long as `values`; the others empty.
    pub(super) state: [Vec<f32>; 2],
}

impl Table {
    pub(super) fn new(values: Vec<f32>, width: usize, optimizer: Optimizer) -> Self {
        let slot = |index| if index < optimizer.slots() { vec![0.0; values.len()] } else { Vec::new() };
        Self { width, state: [slot(0), slot(1)], values }
    }

    pub(super) fn row(&self, index: usize) -> &[f32] {
        &self.values[index * self.width..][..self.width]
    }

    /// All rows, to be cut into stretches that threads change side by side.
    pub(super) fn stretch(&mut self) -> Stretch<'_> {
        let [first, second] = &mut self.state;
        Stretch { width: self.width, first_row: 0, values: &mut self.values, state: [first, second] }
    }
}

/// Some consecutive rows of a [`Table`].
pub(super) struct Stretch<'a> {
    width: usize,
    pub(super) first_row: usize,
    pub(super) values: &'a mut [f32],
    state: [&'a mut [f32]; 2],
}

impl<'a> Stretch<'a> {
    /// Splits off the rows before `row`.
    pub(super) fn split_before(self, row: usize) -> (Stretch<'a>, Stretch<'a>) {
        let at = (row - self.first_row) * self.width;
        let cut = |slice: &'a mut [f32]| {
            let at = at.min(slice.len());
            slice.split_at_mut(at)
        };
        let (values, values_rest) = cut(self.values);
        let [first, second] = self.state;
        let ((first, first_rest), (second, second_rest)) = (cut(first), cut(second));
        (
            Stretch { width: self.width, first_row: self.first_row, values, state: [first, second] },
            Stretch {
                width: self.width,
                first_row: row,
                values: values_rest,
                state: [first_rest, second_rest],
            },
        )
    }

    pub(super) fn row(&self, row: usize) -> &[f32] {
        &self.values[(row - self.first_row) * self.width..][..self.width]
    }

    /// Steps of consecutive rows, from `row` on.
    pub(super) fn step(&mut self, row: usize, gradient: &[f32], optimizer: Optimizer, lr: f32, step: u64) {
        let from = (row - self.first_row) * self.width;
        let part = |slice: &'_ mut [f32]| -> std::ops::Range<usize> {
            if slice.is_empty() { 0..0 } else { from..from + gradient.len() }
        };
        let [first, second] = &mut self.state;
        let (a, b) = (part(first), part(second));
        let values = &mut self.values[from..from + gradient.len()];
        optimizer.step(values, [&mut first[a], &mut second[b]], gradient, lr, step);
    }
}
