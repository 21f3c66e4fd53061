//! What the three matrix products of a batch cost alone: no training can be faster.

use std::time::{Duration, Instant};

use crate::kernels::{Threads, View, ViewMut, product};

/// Matrices of a batch's shapes, to measure the products with.
pub struct Floor {
    columns: usize,
    width: usize,
    queries: Vec<f32>,
    candidates: Vec<f32>,
    scores: Vec<f32>,
    by_query: Vec<f32>,
    by_candidate: Vec<f32>,
}

impl Floor {
    /// Buffers for batches of up to `rows` queries of `width` values against `columns` candidates.
    pub fn new(rows: usize, columns: usize, width: usize) -> Self {
        Self {
            columns,
            width,
            queries: vec![0.01; rows * width],
            candidates: vec![0.01; columns * width],
            scores: vec![0.0; rows * columns],
            by_query: vec![0.0; rows * width],
            by_candidate: vec![0.0; columns * width],
        }
    }

    /// Computes the scores `S = Q·Eᵀ` and the gradients `G·E` and `Gᵀ·Q` of a batch, all threads on
    /// one product at a time, and says how long that took.
    ///
    /// # Panics
    /// If the buffers are too small for so many rows.
    pub fn time(&mut self, rows: usize) -> Duration {
        let (columns, width) = (self.columns, self.width);
        let candidates = View::new(&self.candidates, columns, width);
        let queries = View::new(&self.queries, rows, width);
        let began = Instant::now();
        let scores = ViewMut::new(&mut self.scores, rows, columns);
        product(scores, queries, candidates.transposed(), Threads::All);
        let scores = View::new(&self.scores, rows, columns);
        product(ViewMut::new(&mut self.by_query, rows, width), scores, candidates, Threads::All);
        let by_candidate = ViewMut::new(&mut self.by_candidate, columns, width);
        product(by_candidate, scores.transposed(), queries, Threads::All);
        began.elapsed()
    }

    /// Floating-point operations a second that the products reach with batches of `rows` queries:
    /// the best of a few tries.
    pub fn rate(&mut self, rows: usize) -> f64 {
        let flops = 6.0 * rows as f64 * self.columns as f64 * self.width as f64;
        let best = (0..4).map(|_| self.time(rows)).min().unwrap_or_default();
        flops / best.as_secs_f64().max(1e-9)
    }
}
