//! The intersection of regions: a weighted mean of the centres, and a shrunk minimum of the half-widths.
//!
//! ```text
//! centre      c = Σ aᵢ · cᵢ        aᵢ = softmax over i, for each dimension, of W₂ · relu(W₁ · cᵢ)
//! half-width  h = minᵢ hᵢ · σ(W₂ · meanᵢ relu(W₁ · hᵢ))
//! ```
//!
//! The parts of one query lie side by side: row `query · parts + i`.

use rayon::prelude::*;

use super::model::{Baseline, Table};
use crate::kernels::{Threads, View, ViewMut, add, attend, attend_back, logistic, product};

/// Queries that one task takes.
const QUERIES: usize = 16;

/// Rows of several matrices, those of one query side by side.
pub(super) fn interleaved(parts: &[&[f32]], width: usize) -> Vec<f32> {
    let mut rows = vec![0.0; parts.iter().map(|part| part.len()).sum()];
    let place = |(query, rows): (usize, &mut [f32])| {
        for (row, part) in rows.chunks_exact_mut(width).zip(parts) {
            row.copy_from_slice(&part[query * width..][..width]);
        }
    };
    rows.par_chunks_mut(width * parts.len()).enumerate().with_min_len(QUERIES).for_each(place);
    rows
}

/// The matrices that [`interleaved`] was made of.
pub(super) fn separated(rows: &[f32], parts: usize, width: usize) -> Vec<Vec<f32>> {
    let mut apart = vec![Vec::with_capacity(rows.len() / parts.max(1)); parts];
    for query in rows.chunks_exact(width * parts.max(1)) {
        query.chunks_exact(width).zip(&mut apart).for_each(|(row, part)| part.extend_from_slice(row));
    }
    apart
}

/// `values · Wᵀ`, W one of the networks' layers.
fn through(model: &Baseline, layer: Table, values: &[f32]) -> Vec<f32> {
    let (width, rows) = (model.width, values.len() / model.width);
    let mut out = vec![0.0; values.len()];
    let layer = View::new(model.table(layer), width, width);
    let values = View::new(values, rows, width);
    product(ViewMut::new(&mut out, rows, width), values, layer.transposed(), Threads::here());
    out
}

/// The way back through a layer: adds `byᵀ · values` to the gradient of W, and returns `by · W`.
fn back(model: &Baseline, layer: Table, values: &[f32], by: &[f32], nets: &mut [Vec<f32>; 4]) -> Vec<f32> {
    let (width, rows) = (model.width, values.len() / model.width);
    let by = View::new(by, rows, width);
    let mut gradient = vec![0.0; width * width];
    let into = ViewMut::new(&mut gradient, width, width);
    product(into, by.transposed(), View::new(values, rows, width), Threads::here());
    let place = &mut nets[layer as usize - Table::CentreIn as usize];
    if place.is_empty() {
        *place = gradient;
    } else {
        add(place, &gradient);
    }
    let mut out = vec![0.0; rows * width];
    let weights = View::new(model.table(layer), width, width);
    product(ViewMut::new(&mut out, rows, width), by, weights, Threads::here());
    out
}

fn relu(values: &mut [f32]) {
    values.par_iter_mut().with_min_len(1 << 14).for_each(|value| *value = value.max(0.0));
}

/// Sets the gradient to 0 where the relu was.
fn relu_back(by: &mut [f32], hidden: &[f32]) {
    let cut = |(by, hidden): (&mut f32, &f32)| *by = if *hidden > 0.0 { *by } else { 0.0 };
    by.par_iter_mut().zip(hidden).with_min_len(1 << 14).for_each(cut);
}

/// The centres of intersections, with what the way back needs.
pub(super) struct Attended {
    parts: usize,
    values: Vec<f32>,
    hidden: Vec<f32>,
    shares: Vec<f32>,
    pub(super) out: Vec<f32>,
}

impl Attended {
    pub(super) fn forward(model: &Baseline, values: Vec<f32>, parts: usize) -> Self {
        let width = model.width;
        let mut hidden = through(model, Table::CentreIn, &values);
        relu(&mut hidden);
        let mut shares = through(model, Table::CentreOut, &hidden);
        let mut out = vec![0.0; values.len() / parts];
        let of_query =
            |((out, shares), values): ((&mut [f32], &mut [f32]), &[f32])| attend(out, shares, values);
        out.par_chunks_mut(width)
            .zip(shares.par_chunks_mut(width * parts))
            .zip(values.par_chunks(width * parts))
            .with_min_len(QUERIES)
            .for_each(of_query);
        Self { parts, values, hidden, shares, out }
    }

    /// The gradient of the centres of the parts; adds those of the network.
    pub(super) fn backward(&self, model: &Baseline, by: &[f32], nets: &mut [Vec<f32>; 4]) -> Vec<f32> {
        let (width, parts) = (model.width, self.parts);
        // ∂logitᵢ = aᵢ · (cᵢ − c) · ∂c, and the direct way ∂cᵢ = aᵢ · ∂c.
        let (mut by_logits, mut direct) = (vec![0.0; self.values.len()], vec![0.0; self.values.len()]);
        by_logits
            .par_chunks_mut(width * parts)
            .zip(direct.par_chunks_mut(width * parts))
            .enumerate()
            .with_min_len(QUERIES)
            .for_each(|(query, (by_logits, direct))| {
                let all = query * width * parts..(query + 1) * width * parts;
                let one = query * width..(query + 1) * width;
                let (shares, values) = (&self.shares[all.clone()], &self.values[all]);
                attend_back(by_logits, direct, shares, values, &self.out[one.clone()], &by[one]);
            });
        let mut by_hidden = back(model, Table::CentreOut, &self.hidden, &by_logits, nets);
        relu_back(&mut by_hidden, &self.hidden);
        let mut by_values = back(model, Table::CentreIn, &self.values, &by_hidden, nets);
        add(&mut by_values, &direct);
        by_values
    }
}

/// The half-widths of intersections, with what the way back needs.
pub(super) struct Shrunk {
    parts: usize,
    values: Vec<f32>,
    hidden: Vec<f32>,
    mean: Vec<f32>,
    gate: Vec<f32>,
    pub(super) out: Vec<f32>,
}

impl Shrunk {
    pub(super) fn forward(model: &Baseline, values: Vec<f32>, parts: usize) -> Self {
        let width = model.width;
        let mut hidden = through(model, Table::OffsetIn, &values);
        relu(&mut hidden);
        let mut mean = vec![0.0; values.len() / parts];
        let of_query = |(mean, hidden): (&mut [f32], &[f32])| {
            hidden.chunks_exact(width).for_each(|row| add(mean, row));
            for value in mean.iter_mut() {
                *value /= parts as f32;
            }
        };
        mean.par_chunks_mut(width)
            .zip(hidden.par_chunks(width * parts))
            .with_min_len(QUERIES)
            .for_each(of_query);
        let mut gate = through(model, Table::OffsetOut, &mean);
        gate.par_chunks_mut(width).with_min_len(QUERIES).for_each(|row| {
            logistic(row);
        });
        let mut out = vec![0.0; mean.len()];
        let of_query = |((out, values), gate): ((&mut [f32], &[f32]), &[f32])| {
            for (at, (out, gate)) in out.iter_mut().zip(gate).enumerate() {
                *out = gate * values[narrowest(values, width, at)];
            }
        };
        out.par_chunks_mut(width)
            .zip(values.par_chunks(width * parts))
            .zip(gate.par_chunks(width))
            .with_min_len(QUERIES)
            .for_each(of_query);
        Self { parts, values, hidden, mean, gate, out }
    }

    /// The gradient of the half-widths of the parts; adds those of the network.
    pub(super) fn backward(&self, model: &Baseline, by: &[f32], nets: &mut [Vec<f32>; 4]) -> Vec<f32> {
        let (width, parts) = (model.width, self.parts);
        let (mut by_gate, mut direct) = (vec![0.0; by.len()], vec![0.0; self.values.len()]);
        by_gate
            .par_chunks_mut(width)
            .zip(direct.par_chunks_mut(width * parts))
            .enumerate()
            .with_min_len(QUERIES)
            .for_each(|(query, (by_gate, direct))| {
                let values = &self.values[query * width * parts..][..width * parts];
                for at in 0..width {
                    let (gate, by) = (self.gate[query * width + at], by[query * width + at]);
                    let least = narrowest(values, width, at);
                    direct[least] = by * gate;
                    by_gate[at] = by * values[least] * gate * (1.0 - gate);
                }
            });
        let by_mean = back(model, Table::OffsetOut, &self.mean, &by_gate, nets);
        let mut by_hidden = vec![0.0; self.values.len()];
        let spread = |(query, rows): (usize, &mut [f32])| {
            for row in rows.chunks_exact_mut(width) {
                let of_mean = &by_mean[query * width..][..width];
                row.iter_mut().zip(of_mean).for_each(|(out, by)| *out = by / parts as f32);
            }
        };
        by_hidden.par_chunks_mut(width * parts).enumerate().with_min_len(QUERIES).for_each(spread);
        relu_back(&mut by_hidden, &self.hidden);
        let mut by_values = back(model, Table::OffsetIn, &self.values, &by_hidden, nets);
        add(&mut by_values, &direct);
        by_values
    }
}

/// The place of the smallest half-width of one dimension; of equal ones the first.
fn narrowest(values: &[f32], width: usize, at: usize) -> usize {
    let mut least = at;
    for place in (at + width..values.len()).step_by(width) {
        if values[place] < values[least] {
            least = place;
        }
    }
    least
}

#[cfg(test)]
mod tests;
