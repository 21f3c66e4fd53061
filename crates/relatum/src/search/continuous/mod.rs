//! Continuous optimisation (CQD-CO): variables are vectors, and the vectors climb.
//!
//! Instead of entities, the variables of a branch get embeddings of their own, the target's among
//! them, and these maximise
//!
//! ```text
//! f(e_A, e_V1, …) − λ Σ_V N3(e_V),     N3(x) = Σ |xᵢ|³ over the moduli of its factors,
//! ```
//!
//! f being the truth of the branch: every atom scored by the link predictor and calibrated, folded
//! by the t-norm. Adam climbs from N(0, 1) · 10⁻³ until the loss no longer changes. Then the target is
//! replaced by every entity while the other variables stay where they are, which gives the score
//! vector of the branch; the branches of a disjunction are optimised one by one and their vectors
//! joined by the t-conorm.
//!
//! **From which side.** An atom is read from its anchor, or else from the variable that the plan
//! binds first; the target is always the far side. So `s = ⟨q, e_V⟩ + b + c` with a q that does not
//! change if it comes from an anchor, and replacing the target takes one row an atom.
//!
//! **Negation.** A negated atom counts `1 − min(1, c·φ)`. A negated sub-query counts `1 − max_W g`,
//! so a maximum over A holds a minimum over W: each variable climbs the score of the (sub-)query
//! that binds it, the sub-query's own variables g, the others f, all at the same time (gradient
//! descent and ascent on a game, whose resting points are the local solutions of the max-min).
//!
//! **Plateaus.** Łukasiewicz' conjunction and a scaled negation are 0 on whole regions, where no
//! gradient leads out. There the slope of the uncut function is taken: the vectors climb `Σx − (n−1)`.

mod ascent;
mod nearest;
mod program;
#[cfg(test)]
mod tests;

pub use nearest::nearest;

use super::facts::Facts;
use super::{Certainty, Found, Known, Logic, SearchError};
use crate::control::Control;
use crate::graph::{EntityId, Graph, Id};
use crate::kernels::meet;
use crate::logic::TNorm;
use crate::model::{Calibration, Model, Reciprocals};
use crate::plan::Plan;
use crate::query::VariableId;
use ascent::{Ascent, End};
use program::{Link, Program, Side};

/// How to optimise.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ContinuousSettings {
    /// How scores become truth values: [`Calibration::Sigmoid`], [`Calibration::Adaptive`], or
    /// [`Calibration::Raw`] for parity. The others need a whole row of scores, and a vector has none.
    pub calibration: Calibration,
    /// Which stored edges from an anchor to the target count as true when entities are ranked.
    /// Edges from and to other variables cannot, because those variables have no entity.
    pub known: Known,
    /// At most so many steps.
    pub steps: usize,
    /// The learning rate of Adam.
    pub learning_rate: f32,
    /// λ, the weight of N3 on the variables' embeddings.
    pub regularization: f32,
    /// The climb ends when the loss changes by no more than this for ten steps in a row.
    pub tolerance: f32,
    /// Where the vectors start; equal seeds give equal bytes.
    pub seed: u64,
}

impl Default for ContinuousSettings {
    fn default() -> Self {
        Self {
            calibration: Calibration::Sigmoid,
            known: Known::Ignore,
            steps: 1000,
            learning_rate: 0.1,
            regularization: 0.05,
            tolerance: 1e-6,
            seed: 0,
        }
    }
}

/// A search by continuous optimisation, and after it what an explanation needs.
pub struct Continuous<'a> {
    plan: &'a Plan,
    model: &'a Model,
    facts: Facts<'a>,
    logic: Logic,
    settings: ContinuousSettings,
    control: Control,
    programs: Vec<Program>,
    optima: Vec<Optimum>,
}

/// A variable with the entities nearest to its optimised vector, best first, and how near they are.
pub type Near = (VariableId, Vec<(EntityId, f32)>);

/// Where the optimisation of one branch converged.
#[derive(Clone, Debug, PartialEq)]
pub struct Optimum {
    /// The truth of the branch at the optimised vectors, the target's among them.
    pub score: f32,
    /// How many steps it took.
    pub steps: usize,
    /// Every variable with its vector: those of the branch, the target last, then those of its
    /// negated sub-queries.
    pub vectors: Vec<(VariableId, Vec<f32>)>,
    /// The score of every entity in the target's place.
    pub scores: Vec<f32>,
}

impl<'a> Continuous<'a> {
    /// Prepares a search. The model must be one of this graph.
    pub fn new(
        plan: &'a Plan,
        model: &'a Model,
        graph: &'a Graph,
        logic: Logic,
        settings: ContinuousSettings,
        control: &Control,
    ) -> Result<Self, SearchError> {
        match settings.calibration {
            Calibration::Sigmoid => {}
            Calibration::Adaptive if model.affine().is_some() => {}
            calibration @ Calibration::Adaptive => return Err(SearchError::NotCalibrated { calibration }),
            Calibration::Raw => {
                if plan.branches.len() > 1 || plan.negates() {
                    return Err(SearchError::RawScores);
                }
            }
            other => return Err(SearchError::NeedsARow { calibration: other }),
        }
        let reciprocals = Reciprocals::of(graph);
        let programs = plan.branches.iter().map(|branch| Program::new(branch, &reciprocals)).collect();
        let facts = Facts::new(graph, settings.known);
        Ok(Self {
            plan,
            model,
            facts,
            logic,
            settings,
            control: control.clone(),
            programs,
            optima: Vec::new(),
        })
    }

    /// Optimises every branch and joins their scores. It runs on the calling thread but for the
    /// final rows: many questions are best run side by side, one a thread.
    pub fn run(&mut self) -> Result<Found, SearchError> {
        self.optima.clear();
        let (mut stopped, mut at_rest, mut rows, mut steps) = (false, true, 0, 0);
        let mut joined: Option<Vec<f32>> = None;
        for index in 0..self.programs.len() {
            if self.control.is_late() || self.control.left(rows) < self.programs[index].rows() {
                stopped = true;
                break;
            }
            let mut ascent = Ascent::new(&self.programs[index], self.model, self.logic, self.settings, index);
            let end = ascent.climb(&self.control)?;
            stopped |= end == End::Time;
            at_rest &= end == End::Rest;
            let scores = self.rank(&self.programs[index], &ascent, &mut rows)?;
            joined = Some(match joined {
                None => scores.clone(),
                Some(mut all) => {
                    let t_norm = self.logic.t_norm;
                    all.iter_mut().zip(&scores).for_each(|(a, b)| *a = t_norm.or(*a, *b));
                    all
                }
            });
            steps += ascent.steps();
            self.optima.push(ascent.into_optimum(scores));
        }
        let scores = joined.unwrap_or_else(|| vec![0.0; self.model.entity_count()]);
        let certainty = if stopped {
            Certainty::Stopped { by: self.control.limit() }
        } else {
            Certainty::Continuous { steps, at_rest }
        };
        Ok(Found { scores, certainty, rows })
    }

    /// Where each branch converged; empty before [`run`](Self::run).
    pub fn optima(&self) -> &[Optimum] {
        &self.optima
    }

    /// The score of each branch for an answer.
    pub fn branch_scores(&self, answer: EntityId) -> Vec<f32> {
        self.optima.iter().map(|optimum| optimum.scores[answer.index()]).collect()
    }

    /// For each variable of a branch, without the target and those of negated sub-queries, the entities
    /// nearest to its optimised vector (see [`nearest`]), best first.
    pub fn nearest(&self, branch: usize, count: usize) -> Vec<Near> {
        let (Some(program), Some(optimum)) = (self.programs.get(branch), self.optima.get(branch)) else {
            return Vec::new();
        };
        let own = program.slots.iter().zip(&optimum.vectors);
        own.filter(|(slot, _)| slot.level == 0 && slot.variable != self.plan.target)
            .map(|(_, (id, vector))| (*id, nearest(self.model, vector, count)))
            .collect()
    }

    /// The truth of the branch for every entity in the target's place.
    fn rank(
        &self,
        program: &Program,
        ascent: &Ascent<'_>,
        rows: &mut usize,
    ) -> Result<Vec<f32>, SearchError> {
        let n = self.model.entity_count();
        let t_norm = self.logic.t_norm;
        let mut values: Vec<Option<Truth>> = Vec::new();
        values.resize_with(program.levels.len(), || None);
        // Sub-queries come after the (sub-)query that they are part of.
        for (at, level) in program.levels.iter().enumerate().rev() {
            let mut value: Option<Truth> = None;
            let mut add = |part: Truth| {
                value = Some(match value.take() {
                    None => part,
                    Some(all) => all.and(part, t_norm),
                });
            };
            for index in level.links.clone() {
                let link = &program.links[index];
                add(if program.ends_at_target(link) {
                    *rows += 1;
                    Truth::Row(self.row(link, ascent.query(index), n)?)
                } else {
                    Truth::One(ascent.truth(index))
                });
            }
            level
                .inner
                .iter()
                .filter_map(|&inner| values[inner].take())
                .for_each(|inner| add(inner.negated()));
            values[at] = value;
        }
        let scores = match values.into_iter().next().flatten() {
            Some(Truth::Row(scores)) => scores,
            Some(Truth::One(score)) => vec![score; n],
            None => vec![1.0; n],
        };
        if scores.iter().any(|score| score.is_nan()) {
            return Err(SearchError::NotANumber);
        }
        Ok(scores)
    }

    /// How true an atom is for every entity in the target's place.
    fn row(&self, link: &Link, query: &[f32], n: usize) -> Result<Vec<f32>, SearchError> {
        let mut row = vec![0.0; n];
        if link.from == link.to {
            for (x, score) in row.iter_mut().enumerate() {
                let x = EntityId::from_index(x);
                *score = self.model.score(x, link.relation, x);
            }
        } else {
            self.model.score_rows(query, &mut row);
        }
        // A calibration would turn infinity into a truth of exactly 1.
        if !row.iter().all(|score| score.is_finite()) {
            return Err(SearchError::NotANumber);
        }
        if let (Calibration::Adaptive, Some(affine)) = (self.settings.calibration, self.model.affine()) {
            affine.apply(link.relation, &mut row);
        }
        self.settings.calibration.apply(&mut row, 1);
        if let Side::Entity(anchor) = link.from {
            self.facts.mark(anchor, link.hop, &mut row);
        }
        if link.negated {
            for truth in &mut row {
                *truth = self.logic.negation.not(*truth);
            }
        }
        Ok(row)
    }
}

/// The truth of a part of the branch: the same for every entity in the target's place, or not.
enum Truth {
    One(f32),
    Row(Vec<f32>),
}

impl Truth {
    /// The conjunction with another part. It does not begin with 1, because 1 is not neutral for raw scores.
    fn and(self, other: Self, t_norm: TNorm) -> Self {
        match (self, other) {
            (Self::One(a), Self::One(b)) => Self::One(t_norm.and(a, b)),
            (Self::One(one), Self::Row(mut row)) | (Self::Row(mut row), Self::One(one)) => {
                for value in &mut row {
                    *value = t_norm.and(*value, one);
                }
                Self::Row(row)
            }
            (Self::Row(mut all), Self::Row(row)) => {
                meet(t_norm, &mut all, &row);
                Self::Row(all)
            }
        }
    }

    fn negated(self) -> Self {
        match self {
            Self::One(one) => Self::One(1.0 - one),
            Self::Row(mut row) => {
                for value in &mut row {
                    *value = 1.0 - *value;
                }
                Self::Row(row)
            }
        }
    }
}
