//! A search in words: what a recipe is, and why one won.

use std::fmt;

use super::{Open, Recipe, RecipeTrial};
use crate::train::Recommendation;

impl fmt::Display for Recipe {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { regularizer_weight, learning_rate, batch_size, relation_loss } = self;
        write!(f, "regulariser {regularizer_weight}, rate {learning_rate}, batches of {batch_size}, ")?;
        match relation_loss {
            0.0 => f.write_str("no relation loss"),
            weight => write!(f, "relation loss {weight}"),
        }
    }
}

impl Recipe {
    /// Why this recipe won.
    pub fn reason(self, plain: Self, trials: &[RecipeTrial]) -> String {
        let rungs = trials.chunk_by(|a, b| a.rung == b.rung).rev();
        let mut decided = rungs.filter(|rung| rung.iter().any(|trial| trial.mrr.is_some()));
        let Some(last) = decided.next() else {
            return "every trial diverged, so the plain settings are kept".to_owned();
        };
        let of =
            |recipe: Self| move |trial: &&RecipeTrial| if trial.recipe == recipe { trial.mrr } else { None };
        let own = last.iter().find_map(|trial| of(self)(&trial)).unwrap_or_default();
        let others = last.iter().filter(|trial| trial.recipe != self).filter_map(|trial| trial.mrr);
        let mut reason = format!("the best of rung {}, with a validation MRR of {own:.4}", last[0].rung);
        if let Some(next) = others.max_by(f64::total_cmp) {
            reason += &format!("; the next has {next:.4}");
        }
        if self == plain {
            return format!("{reason}; these are the plain settings");
        }
        // Only trials of one rung can be compared; the last in which the plain settings took part says most.
        let both = trials.chunk_by(|a, b| a.rung == b.rung).rev().find_map(|rung| {
            let there = rung.iter().find_map(|trial| of(plain)(&trial))?;
            let best = rung.iter().filter_map(|trial| trial.mrr).max_by(f64::total_cmp)?;
            Some((rung[0].rung, there, best))
        });
        if let Some((rung, there, best)) = both {
            reason +=
                &format!("; the plain settings had {there:.4} in rung {rung}, where the best had {best:.4}");
        }
        reason
    }
}

impl Recommendation {
    /// The same with what a search has found in the place of what was chosen by the size of the graph.
    #[must_use]
    pub fn with_found(mut self, found: Recipe, open: Open) -> Self {
        let settings = &mut self.settings;
        let mut names = Vec::new();
        let mut take = |open: bool, name: &'static str| {
            if open {
                names.push(name);
            }
            open
        };
        if take(open.regularizer_weight, "regulariser") {
            settings.regularizer_weight = found.regularizer_weight;
        }
        if take(open.learning_rate, "optimiser") {
            settings.learning_rate = found.learning_rate;
        }
        if take(open.batch_size, "batch size") {
            settings.batch_size = found.batch_size;
        }
        if take(open.relation_loss, "relation loss") {
            settings.relation_loss = found.relation_loss;
        }
        let values = settings.in_words();
        let value = |name| values.iter().find(|(other, _)| *other == name).map(|(_, value)| value.clone());
        self.reasons.retain(|(name, ..)| !names.contains(name));
        let found =
            names.into_iter().filter_map(|name| Some((name, value(name)?, "found by the search".to_owned())));
        self.reasons.extend(found);
        self
    }
}
