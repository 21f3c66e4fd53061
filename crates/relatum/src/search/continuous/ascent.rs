//! The climb itself: values, slopes and steps in flat buffers, nothing allocated on the way.

#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::ops::Range;

use super::program::{Link, Program, Side};
use super::{ContinuousSettings, Optimum};
use crate::control::Control;
use crate::kernels::{adam, axpy, dot};
use crate::logic::TNorm;
use crate::model::{Calibration, Layout, LinkPredictor, Model};
use crate::random::Rng;
use crate::search::{Logic, SearchError};

/// For how many steps in a row the loss must stay the same.
const PATIENCE: usize = 10;
/// How many steps pass between two looks at the clock.
const UNTIMED: usize = 32;
/// The standard deviation with which vectors start.
const START: f32 = 1e-3;

/// How a climb ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    /// The loss no longer changed.
    Rest,
    /// The steps were used up first.
    Steps,
    /// The time was up first.
    Time,
}

/// The optimisation of one branch.
pub(super) struct Ascent<'a> {
    program: &'a Program,
    model: &'a Model,
    predictor: &'a dyn LinkPredictor,
    logic: Logic,
    settings: ContinuousSettings,
    width: usize,
    /// Where an entity's vector as a tail is in its row.
    tail: Range<usize>,
    step: usize,

    /// One row for each slot.
    values: Vec<f32>,
    gradient: Vec<f32>,
    means: Vec<f32>,
    squares: Vec<f32>,
    /// q of each link, one after another; those from anchors are made once.
    queries: Vec<f32>,
    scratch: Vec<f32>,
    /// The affine map of each link's score before the sigmoid.
    lines: Vec<(f32, f32)>,

    /// The truth of each link (of a negated one, its negation) and the derivative by the raw score.
    truths: Vec<f32>,
    slopes: Vec<f32>,
    /// `∂ level / ∂ truth` of each link, and `∂ parent / ∂ level` of each level.
    link_weights: Vec<f32>,
    level_weights: Vec<f32>,
    /// The truth of each level, and what its variables climb (see [`Ascent::fold`]).
    levels: Vec<f32>,
    climbed: Vec<f32>,
    prefix: Vec<f32>,
    /// Whether no raw score is NaN or infinite.
    finite: bool,
}

impl<'a> Ascent<'a> {
    /// The start: every variable near 0. `part` tells branches of one question apart.
    pub(super) fn new(
        program: &'a Program,
        model: &'a Model,
        logic: Logic,
        settings: ContinuousSettings,
        part: usize,
    ) -> Self {
        let predictor: &dyn LinkPredictor = &**model.predictor();
        let (width, tail) = (predictor.entity_width(), predictor.tail());
        let (links, size) = (program.links.len(), program.slots.len() * width);
        let mut rng = Rng::stream(settings.seed, part as u64);
        let mut queries = vec![0.0; links * tail.len()];
        for (link, query) in program.links.iter().zip(queries.chunks_exact_mut(tail.len())) {
            if let Side::Entity(anchor) = link.from {
                predictor.query(&model.entity(anchor), model.relation(link.relation), query);
            }
        }
        let affine = model.affine().filter(|_| settings.calibration == Calibration::Adaptive);
        let line = |link: &Link| affine.map_or((1.0, 0.0), |affine| affine.of(link.relation));
        let mut ascent = Self {
            lines: program.links.iter().map(line).collect(),
            program,
            model,
            predictor,
            logic,
            settings,
            width,
            step: 0,
            values: (0..size).map(|_| rng.normal() as f32 * START).collect(),
            gradient: vec![0.0; size],
            means: vec![0.0; size],
            squares: vec![0.0; size],
            queries,
            scratch: vec![0.0; tail.len()],
            tail,
            truths: vec![0.0; links],
            slopes: vec![0.0; links],
            link_weights: vec![0.0; links],
            level_weights: vec![0.0; program.levels.len()],
            levels: vec![0.0; program.levels.len()],
            climbed: vec![0.0; program.levels.len()],
            prefix: Vec::with_capacity(links + program.levels.len()),
            finite: true,
        };
        ascent.evaluate();
        ascent
    }

    /// Climbs until the loss no longer changes, or the steps or the time are used up.
    pub(super) fn climb(&mut self, control: &Control) -> Result<End, SearchError> {
        let (mut still, mut before) = (0, f32::INFINITY);
        // A branch whose atoms all come from anchors still has a target to optimise; one without
        // variables has nothing to optimise.
        while self.step < self.settings.steps && !self.values.is_empty() {
            if self.step.is_multiple_of(UNTIMED) && control.is_past_deadline() {
                return Ok(End::Time);
            }
            let penalty = self.differentiate();
            self.step += 1;
            let lr = self.settings.learning_rate;
            adam(&mut self.values, &mut self.means, &mut self.squares, &self.gradient, lr, self.step as u64);
            let loss = penalty - self.climbed[0];
            if !loss.is_finite() || !self.finite {
                // Vectors start near 0, where every score is small: NaN in the first step comes from the embeddings.
                // Truth values are bounded, so only raw scores can make vectors diverge later.
                let by_the_model = self.step == 1 || self.settings.calibration != Calibration::Raw;
                return Err(if by_the_model {
                    SearchError::NotANumber
                } else {
                    SearchError::Diverged { step: self.step }
                });
            }
            still = if (loss - before).abs() <= self.settings.tolerance { still + 1 } else { 0 };
            before = loss;
            self.evaluate();
            if still == PATIENCE {
                return Ok(End::Rest);
            }
        }
        Ok(if self.values.is_empty() { End::Rest } else { End::Steps })
    }

    /// How many steps were taken.
    pub(super) fn steps(&self) -> usize {
        self.step
    }

    /// The truth of a link, negated if it is, at the vectors as they are.
    pub(super) fn truth(&self, link: usize) -> f32 {
        self.truths[link]
    }

    /// q of a link, at the vectors as they are.
    pub(super) fn query(&self, link: usize) -> &[f32] {
        &self.queries[link * self.tail.len()..][..self.tail.len()]
    }

    pub(super) fn into_optimum(self, scores: Vec<f32>) -> Optimum {
        let vectors = self.program.slots.iter().zip(self.values.chunks_exact(self.width));
        let vectors = vectors.map(|(slot, values)| (slot.variable, values.to_vec())).collect();
        Optimum { score: self.levels[0], steps: self.step, vectors, scores }
    }

    /// The truth of every atom, sub-query and the branch, with the slopes of each by its parts.
    fn evaluate(&mut self) {
        let d = self.tail.len();
        self.finite = true;
        for (index, link) in self.program.links.iter().enumerate() {
            let query = &mut self.queries[index * d..][..d];
            if let Side::Slot(slot) = link.from {
                let head = &self.values[slot * self.width..][..self.width];
                self.predictor.query(head, self.model.relation(link.relation), query);
            }
            let row = match link.to {
                Side::Entity(id) => self.model.entity(id),
                Side::Slot(slot) => Cow::Borrowed(&self.values[slot * self.width..][..self.width]),
            };
            let tail = &row[self.tail.clone()];
            let mut score = dot(query, tail);
            if self.predictor.has_bias() {
                score += self.predictor.bias(tail) + self.predictor.offset(query);
            }
            let score = self.predictor.shaped(score);
            let bend = self.predictor.shape_slope(score);
            self.finite &= score.is_finite();
            let (truth, slope) = if self.settings.calibration == Calibration::Raw {
                (score, bend)
            } else {
                let (scale, shift) = self.lines[index];
                let truth = 1.0 / (1.0 + (-(scale * score + shift)).exp());
                (truth, bend * scale * truth * (1.0 - truth))
            };
            (self.truths[index], self.slopes[index]) = if link.negated {
                // Where the negation is cut off at 0, the slope without the cut is taken: a slope of 0 would leave the
                // vectors stuck.
                (self.logic.negation.not(truth), -self.logic.negation.scale * slope)
            } else {
                (truth, slope)
            };
        }
        for at in (0..self.program.levels.len()).rev() {
            self.fold(at);
        }
    }

    /// The truth of one level from those of its parts, and its slopes by them. What it climbs is
    /// its truth, but for Łukasiewicz, where the sum goes on falling below 0 and keeps its slope.
    fn fold(&mut self, at: usize) {
        let level = &self.program.levels[at];
        let t_norm = self.logic.t_norm;
        self.prefix.clear();
        let inner = level.inner.iter().map(|&inner| 1.0 - self.levels[inner]);
        let parts = self.truths[level.links.clone()].iter().copied().chain(inner);
        for part in parts {
            let so_far = self.prefix.last().map_or(part, |&before| match t_norm {
                TNorm::Lukasiewicz => before + part - 1.0,
                other => other.and(before, part),
            });
            self.prefix.push(so_far);
        }
        let climbed = self.prefix.last().copied().unwrap_or(1.0);
        self.climbed[at] = climbed;
        self.levels[at] = match t_norm {
            TNorm::Lukasiewicz if self.prefix.len() > 1 => climbed.max(0.0),
            _ => climbed,
        };
        let mut above = 1.0;
        for place in (0..self.prefix.len()).rev() {
            let link = level.links.start + place;
            let is_link = link < level.links.end;
            let inner = place.wrapping_sub(level.links.len());
            let part = if is_link { self.truths[link] } else { 1.0 - self.levels[level.inner[inner]] };
            let (by_rest, by_part) = match (place, t_norm) {
                (0, _) | (_, TNorm::Lukasiewicz) => (1.0, 1.0),
                _ => t_norm.and_derivative(self.prefix[place - 1], part),
            };
            let weight = above * by_part;
            above *= by_rest;
            if is_link {
                self.link_weights[link] = weight;
            } else {
                self.level_weights[level.inner[inner]] = -weight;
            }
        }
    }

    /// The gradient of the loss at the vectors as they are; returns the penalty in the loss.
    fn differentiate(&mut self) -> f32 {
        self.gradient.fill(0.0);
        let (width, d, tail) = (self.width, self.tail.len(), self.tail.clone());
        for (index, link) in self.program.links.iter().enumerate() {
            let query = &self.queries[index * d..][..d];
            if let Side::Slot(slot) = link.to {
                let amount = -self.slope(index, slot);
                if amount != 0.0 {
                    let gradient = &mut self.gradient[slot * width..][..width][tail.clone()];
                    axpy(gradient, amount, query);
                    if self.predictor.has_bias() {
                        let own = &self.values[slot * width..][..width][tail.clone()];
                        self.predictor.bias_pull_back(own, amount, gradient);
                    }
                }
            }
            if let Side::Slot(slot) = link.from {
                let amount = -self.slope(index, slot);
                if amount != 0.0 {
                    let to = match link.to {
                        Side::Entity(id) => self.model.entity(id),
                        Side::Slot(to) => Cow::Borrowed(&self.values[to * width..][..width]),
                    };
                    for (s, e) in self.scratch.iter_mut().zip(&to[tail.clone()]) {
                        *s = amount * e;
                    }
                    if self.predictor.has_bias() {
                        self.predictor.offset_pull_back(query, amount, &mut self.scratch);
                    }
                    let head = &self.values[slot * width..][..width];
                    let relation = self.model.relation(link.relation);
                    let gradient = &mut self.gradient[slot * width..][..width];
                    self.predictor.head_pull_back(head, relation, &self.scratch, gradient);
                }
            }
        }
        let layout = self.predictor.entity_layout();
        let rows = self.values.chunks_exact(width).zip(self.gradient.chunks_exact_mut(width));
        let weight = self.settings.regularization;
        rows.map(|(values, gradient)| penalise(layout, values, weight, gradient)).sum()
    }

    /// How the score that a slot climbs changes with the raw score of a link.
    fn slope(&self, link: usize, slot: usize) -> f32 {
        let mut slope = self.slopes[link] * self.link_weights[link];
        let mut level = self.program.links[link].level;
        while level != self.program.slots[slot].level {
            slope *= self.level_weights[level];
            let Some(parent) = self.program.levels[level].parent else { break };
            level = parent;
        }
        slope
    }
}

/// Adds the gradient of `weight · N3` and returns its value.
fn penalise(layout: Layout, values: &[f32], weight: f32, gradient: &mut [f32]) -> f32 {
    if weight == 0.0 {
        return 0.0;
    }
    let mut sum = 0.0;
    match layout {
        Layout::Complex => {
            let rank = values.len() / 2;
            let ((re, im), (g_re, g_im)) = (values.split_at(rank), gradient.split_at_mut(rank));
            for i in 0..rank {
                let square = re[i] * re[i] + im[i] * im[i];
                let modulus = square.sqrt();
                sum += square * modulus;
                g_re[i] += 3.0 * weight * modulus * re[i];
                g_im[i] += 3.0 * weight * modulus * im[i];
            }
        }
        Layout::Real => {
            for (x, g) in values.iter().zip(gradient) {
                let modulus = x.abs();
                sum += modulus * modulus * modulus;
                *g += 3.0 * weight * modulus * x;
            }
        }
        // A rotation has modulus 1 whatever its angle: nothing to keep small.
        Layout::Phase => {}
    }
    weight * sum
}
