//! The fitted calibration: how often predictions are right, by relation, learned from validation edges.
//!
//! With the embeddings frozen, the truth of a candidate t of (h, r, ?) becomes
//!
//! ```text
//! truth = σ(a_r · ln p + c_r · ln n + b_r)
//! ```
//!
//! with p its share in the softmax of the row and n the number of tails that (h, r) has in training, at least 1. Each
//! `a_r` is the sharpness of a relation, `c_r` says how far many tails raise the truth of each, `b_r` is how often
//! predictions of the relation are right at all. Looked at are the (head, relation) pairs that have a validation edge
//! and their best candidates that are not in training; right are those that a validation edge confirms. A test edge
//! is a candidate that nothing confirms.
//!
//! This is a logistic regression with a Gaussian prior. All relations together give common a, c and b, which are drawn
//! towards 1, 1 and 0, the calibration softmax-count; those of a relation are drawn towards the common ones, so that
//! a relation with few validation edges is judged as the others are, and one with many by its own.
//!
//! Where edges are held out for a test too, a validation edge stands for more than itself: only the share
//! π = valid / (valid + test) of the edges outside training is there to confirm a prediction. So the log-odds of all
//! curves get one correction in common, `α · log-odds + β`: the same regression, in which each of v right candidates of
//! a row counts 1 / π times, and once where v is 1. If the edges were split at random, that is right on average for rows
//! with at least one validation edge: of k held-out edges, Σᵥ P(v of k) · weight · v is k · P(v > 0). Of the test edges
//! this takes the number and nothing else.

mod newton;
mod rows;
#[cfg(test)]
pub(super) mod tests;

use rayon::prelude::*;

use super::TrainError;
use crate::control::Control;
use crate::graph::{EntityId, Graph, RelationId, Split};
use crate::model::{Fitted, Model, Reciprocals};
use newton::{Curve, Prior};
use rows::Row;

/// How far the common numbers may lie from those of softmax-count.
const COMMON: Prior = Prior { mean: [1.0, 1.0, 0.0], spread: [1.0, 1.0, 1.0] };
/// How far those of a relation lie from the common ones: about as far as was measured between the relations of
/// FB15k-237 with many validation edges.
const SPREAD: [f64; 3] = [0.3, 0.4, 1.0];

/// How to fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FitSettings {
    /// At most so many (head, relation) pairs are looked at. Where there are more, relations with many are thinned
    /// out, those with few keep all. On graphs of hundreds of thousands of entities there are fewer, so that the work
    /// stays the same.
    pub pairs: usize,
}

impl Default for FitSettings {
    fn default() -> Self {
        Self { pairs: 24_000 }
    }
}

/// The result of a fit.
#[derive(Clone, Debug, PartialEq)]
pub struct Fit {
    /// The curves of all relations.
    pub fitted: Fitted,
    /// The a, c and b of relations without validation edges.
    pub common: [f32; 3],
    /// How many (head, relation) pairs were looked at.
    pub pairs: usize,
    /// How many pairs the validation edges have.
    pub pairs_of_split: usize,
    /// How many validation edges they have, in both directions.
    pub edges: usize,
    /// How many relations of the model, reciprocal ones included, have such pairs.
    pub relations: usize,
}

/// Fits the curves of [`Calibration::Fitted`](crate::model::Calibration::Fitted) to the validation edges; `None` if it
/// was stopped. Equal models and graphs give equal bits on any number of threads.
pub fn fit(
    model: &Model,
    graph: &Graph,
    settings: FitSettings,
    control: &Control,
) -> Result<Option<Fit>, TrainError> {
    let reciprocals = Reciprocals::of(graph);
    let pairs = rows::pairs(graph, &reciprocals, settings.pairs, model.entity_count());
    if pairs.chosen.is_empty() {
        return Err(TrainError::NothingToFit);
    }
    let Some(rows) = rows::observe(model, graph, &reciprocals, &pairs.chosen, control)? else {
        return Ok(None);
    };
    let all: Vec<&Row> = rows.iter().collect();
    let common = newton::fit(&all, &COMMON);
    if control.is_late() {
        return Ok(None);
    }
    let mut of_relation: Vec<Vec<&Row>> = vec![Vec::new(); reciprocals.len()];
    for row in &rows {
        of_relation[row.relation].push(row);
    }
    let own = Prior { mean: common, spread: SPREAD };
    let mut curves: Vec<Curve> = of_relation
        .par_iter()
        .map(|rows| if rows.is_empty() { common } else { newton::fit(rows, &own) })
        .collect();
    let [factor, shift] = newton::correction(&rows, &curves, valid_share(graph));
    let mut common = common;
    for curve in curves.iter_mut().chain([&mut common]) {
        *curve = curve.map(|value| value * factor);
        curve[2] += shift;
    }
    let narrow = |curve: &Curve| curve.map(|value| value as f32);
    let fitted = Fitted::new(&curves.iter().map(narrow).collect::<Vec<_>>());
    Ok(Some(Fit {
        fitted: fitted.ok_or(TrainError::Uncalibrated)?,
        common: narrow(&common),
        pairs: rows.len(),
        pairs_of_split: pairs.all,
        edges: rows.iter().map(|row| row.held_out).sum(),
        relations: of_relation.iter().filter(|rows| !rows.is_empty()).count(),
    }))
}

/// π: how many of the edges outside training are validation edges.
fn valid_share(graph: &Graph) -> f64 {
    let [valid, test] = [Split::Valid, Split::Test].map(|split| graph.edges(split).len() as f64);
    valid / (valid + test)
}

/// A relation of the model and a head.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Pair {
    relation: RelationId,
    head: EntityId,
}
