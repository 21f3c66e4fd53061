//! Which settings to try on a graph that nobody has tuned, and which of them won: successive halving.
//!
//! The settings that matter most differ most between graphs: the regulariser's weight (0.05 on FB15k-237, 0.002
//! on `FB15k`), the learning rate, the batch size and the relation loss. Three rungs find them, each with fewer
//! recipes and longer runs than the one before:
//!
//! 1. *Wide*, at a small rank: weights that are four to five times apart, with the rates and batch sizes.
//! 2. *At the rank of the final run*: the best three, and the winner with half and with twice its weight. The best
//!    weight depends on the rank, and not by one law on all graphs, so it is tried there and not extrapolated.
//! 3. *The relation loss*, again at that rank and with half of all the work in two or three runs: it begins far
//!    behind and ends ahead, so that shorter runs would always decide against it.
//!
//! A rung compares models at the end of their own schedule, when the rate has fallen to 0, never in the middle of
//! a longer one. Everything follows from the settings, the work that may be spent and the trials that are done: the
//! same search again makes the same choices, and one that was stopped goes on as if it had not been.

mod words;

use serde::{Deserialize, Serialize};

use super::{GivenSettings, Optimizer, Regularizer, Settings};
use crate::model;

/// The settings that a search finds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Recipe {
    /// The weight of the regulariser.
    pub regularizer_weight: f32,
    /// The length of the optimiser's steps.
    pub learning_rate: f32,
    /// Triples a step.
    pub batch_size: usize,
    /// The weight of the relation loss.
    pub relation_loss: f32,
}

/// A recipe that was tried.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct RecipeTrial {
    /// The rung, from 1.
    pub rung: usize,
    /// The rank it was trained at.
    pub rank: usize,
    /// For how many epochs.
    pub epochs: usize,
    /// What was tried.
    pub recipe: Recipe,
    /// The validation MRR at the end; `None` if it diverged.
    pub mrr: Option<f64>,
}

/// A trial that is due.
#[derive(Clone, Debug, PartialEq)]
pub struct PlannedTrial {
    /// The rung, from 1.
    pub rung: usize,
    /// Its place in the rung, from 1.
    pub number: usize,
    /// How many trials the rung has.
    pub of: usize,
    /// What to try.
    pub recipe: Recipe,
    /// With it, everything that the run needs.
    pub settings: Settings,
}

/// What a trial costs.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct TrialCost {
    /// Work of an epoch.
    pub epoch: f64,
    /// Work of the validation at its end.
    pub validation: f64,
}

/// Which of the four settings are searched: those that nobody gave and that make a difference.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Open {
    /// The weight of the regulariser.
    pub regularizer_weight: bool,
    /// The learning rate.
    pub learning_rate: bool,
    /// The batch size.
    pub batch_size: bool,
    /// The weight of the relation loss.
    pub relation_loss: bool,
}

/// A search: what it starts from, and what it may spend.
pub struct RecipeSearch<'a> {
    /// The settings of the final run if nothing were searched.
    pub plain: &'a Settings,
    /// What is searched.
    pub open: Open,
    /// How much work all trials may cost together.
    pub budget: f64,
    /// What a trial with these settings costs.
    pub cost: &'a dyn Fn(&Settings) -> TrialCost,
}

/// The rank of the first rung.
const SMALL_RANK: usize = 32;
/// Entities that stand for all in the softmax of a trial.
const CANDIDATES: usize = 1024;
/// A rung has fewer recipes rather than shorter runs than this.
const FEWEST_EPOCHS: usize = 4;
/// Weights of the regulariser, those first that are most often the best.
const WEIGHTS: [f32; 5] = [0.05, 0.01, 0.002, 0.2, 0.0005];
/// Relation losses beside none. FB15k-237 wants 4, `FB15k` a little, NELL995 none.
const RELATION_LOSSES: [f32; 2] = [4.0, 0.5];
/// How many of the first rung's recipes go on.
const SURVIVORS: usize = 3;
/// How the work is shared out among the rungs.
const SHARES: [f64; 3] = [1.0, 1.0, 2.0];

struct Rung {
    recipes: Vec<Recipe>,
    epochs: usize,
    work: f64,
}

impl RecipeSearch<'_> {
    /// The trial that is due after those that are done, in the order in which they were due; `None` where the search
    /// is over.
    pub fn next(&self, done: &[RecipeTrial]) -> Option<PlannedTrial> {
        let (mut left, mut rest) = (self.budget, done);
        let mut best = vec![Recipe::of(self.plain)];
        for rung in 1..=SHARES.len() {
            let share = SHARES[rung - 1] / SHARES[rung - 1..].iter().sum::<f64>();
            // A rung with nothing to compare, or too dear, leaves its work to the next.
            let Some(planned) = self.rung(rung, &best, left * share) else { continue };
            let of = planned.recipes.len();
            if rest.len() < of {
                let recipe = planned.recipes[rest.len()];
                let settings = self.trial(rung, recipe, planned.epochs);
                return Some(PlannedTrial { rung, number: rest.len() + 1, of, recipe, settings });
            }
            let (own, after) = rest.split_at(of);
            (best, rest) = (ranked(own), after);
            left -= planned.work;
        }
        None
    }

    /// The recipe to train with after these trials: the best of the last rung. `None` if none was tried to its end.
    pub fn winner(&self, done: &[RecipeTrial]) -> Option<Recipe> {
        let mut rungs = done.chunk_by(|a, b| a.rung == b.rung).rev();
        rungs.find_map(|trials| ranked(trials).first().copied())
    }

    /// The settings that a trial was made with.
    pub fn settings(&self, trial: &RecipeTrial) -> Settings {
        self.trial(trial.rung, trial.recipe, trial.epochs)
    }

    fn rung(&self, rung: usize, best: &[Recipe], budget: f64) -> Option<Rung> {
        let mut recipes = self.recipes(rung, best);
        let fewest = FEWEST_EPOCHS.min(self.plain.epochs);
        while recipes.len() > 1 {
            let costs = recipes.iter().map(|&recipe| (self.cost)(&self.trial(rung, recipe, 1)));
            let (epoch, validation) =
                costs.fold((0.0, 0.0), |sum, cost| (sum.0 + cost.epoch, sum.1 + cost.validation));
            let epochs = (((budget - validation) / epoch) as usize).min(self.plain.epochs);
            if epochs >= fewest {
                return Some(Rung { recipes, epochs, work: epochs as f64 * epoch + validation });
            }
            recipes.pop();
        }
        None
    }

    /// What a rung tries: the plain settings, or the winner of the rung before, and what differs from it; the least
    /// promising come last.
    fn recipes(&self, rung: usize, best: &[Recipe]) -> Vec<Recipe> {
        let Some(&first) = best.first() else { return Vec::new() };
        let mut all = vec![first];
        match rung {
            1 => {
                for (batch_size, learning_rate) in self.steps(first) {
                    let step = Recipe { learning_rate, batch_size, ..first };
                    all.push(step);
                    if self.open.regularizer_weight {
                        all.extend(WEIGHTS.map(|weight| Recipe { regularizer_weight: weight, ..step }));
                    }
                }
            }
            2 => {
                if self.open.regularizer_weight {
                    let near = [0.5, 2.0].map(|by| first.regularizer_weight * by);
                    all.extend(near.map(|weight| Recipe { regularizer_weight: weight, ..first }));
                }
                all.extend(best.iter().take(SURVIVORS));
            }
            _ if self.open.relation_loss => {
                all.extend(RELATION_LOSSES.map(|weight| Recipe { relation_loss: weight, ..first }));
            }
            _ => {}
        }
        let mut unique: Vec<Recipe> = Vec::new();
        for recipe in all {
            if !unique.contains(&recipe) {
                unique.push(recipe);
            }
        }
        unique
    }

    /// Batch sizes and rates. Smaller batches are tried at the plain rate alone: with them a run takes more steps.
    fn steps(&self, Recipe { batch_size, learning_rate, .. }: Recipe) -> Vec<(usize, f32)> {
        let mut steps = vec![(batch_size, learning_rate)];
        if self.open.learning_rate {
            let factors: &[f32] = match self.plain.optimizer {
                Optimizer::Adagrad => &[2.0],
                Optimizer::Adam => &[0.1, 0.01],
                Optimizer::Sgd => &[10.0],
            };
            steps.extend(factors.iter().map(|by| (batch_size, learning_rate * by)));
        }
        if self.open.batch_size {
            steps.push(((batch_size / 4).max(1), learning_rate));
        }
        steps
    }

    /// The settings of a trial. It cools down for a quarter of its epochs, because a short run gains more by that, and
    /// is validated once, at its end.
    fn trial(&self, rung: usize, recipe: Recipe, epochs: usize) -> Settings {
        let plain = self.plain;
        Settings {
            rank: if rung == 1 { plain.rank.min(SMALL_RANK) } else { plain.rank },
            epochs,
            cool_down: epochs.div_ceil(4),
            eval_every: epochs,
            patience: 0,
            candidates: Some(plain.candidates.map_or(CANDIDATES, |given| given.min(CANDIDATES))),
            ..recipe.over(plain.clone())
        }
    }
}

/// The recipes of trials that did not diverge, best first; equal ones in the order in which they were tried.
fn ranked(trials: &[RecipeTrial]) -> Vec<Recipe> {
    let mut ended: Vec<(f64, Recipe)> =
        trials.iter().filter_map(|trial| Some((trial.mrr?, trial.recipe))).collect();
    ended.sort_by(|a, b| b.0.total_cmp(&a.0));
    ended.into_iter().map(|(_, recipe)| recipe).collect()
}

impl Recipe {
    /// The recipe in these settings.
    pub fn of(settings: &Settings) -> Self {
        let Settings { regularizer_weight, learning_rate, batch_size, relation_loss, .. } = *settings;
        Self { regularizer_weight, learning_rate, batch_size, relation_loss }
    }

    /// These settings, with the recipe in its place.
    #[must_use]
    pub fn over(self, settings: Settings) -> Settings {
        let Self { regularizer_weight, learning_rate, batch_size, relation_loss } = self;
        Settings { batch_size, regularizer_weight, learning_rate, relation_loss, ..settings }
    }
}

impl Open {
    /// What is left open by what was given.
    pub fn of(given: &GivenSettings, plain: &Settings) -> Self {
        let predictor = model::predictor(&plain.predictor, 1);
        Self {
            regularizer_weight: given.regularizer_weight.is_none() && plain.regularizer != Regularizer::None,
            learning_rate: given.learning_rate.is_none(),
            batch_size: given.batch_size.is_none() && plain.batch_size > 1,
            relation_loss: given.relation_loss.is_none()
                && predictor.is_some_and(|predictor| predictor.is_trilinear()),
        }
    }

    /// Whether anything is.
    pub fn any(self) -> bool {
        self.regularizer_weight || self.learning_rate || self.batch_size || self.relation_loss
    }

    /// Whether everything that is open here is open there too.
    pub fn within(self, other: Self) -> bool {
        (!self.regularizer_weight || other.regularizer_weight)
            && (!self.learning_rate || other.learning_rate)
            && (!self.batch_size || other.batch_size)
            && (!self.relation_loss || other.relation_loss)
    }
}

#[cfg(test)]
mod tests;
