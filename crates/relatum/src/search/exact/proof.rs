//! Whether bounds prove the best answers.

use super::Exact;
use super::state::State;
use crate::graph::{EntityId, Id};
use crate::search::top::best;

impl Exact<'_> {
    /// The scores of all branches, joined by the t-conorm; the upper bounds only where they differ.
    pub(super) fn joined(&self) -> (Vec<f32>, Option<Vec<f32>>) {
        let t_norm = self.logic.t_norm;
        let roots: Vec<&State> =
            self.plan.branches.iter().filter_map(|branch| Some(&self.states[branch.root?.index()])).collect();
        let join = |all: Vec<Vec<f32>>| {
            all.into_iter().reduce(|mut all, next| {
                all.iter_mut().zip(next).for_each(|(a, b)| *a = t_norm.or(*a, b));
                all
            })
        };
        let low = join(roots.iter().map(|root| root.low.clone()).collect());
        let high = (self.bounded && roots.iter().any(|root| !root.is_exact()))
            .then(|| join(roots.iter().map(|root| root.highs()).collect()));
        (low.unwrap_or_else(|| vec![0.0; self.truth.entities()]), high.flatten())
    }
}

/// What bounds say of the best answers.
pub(super) struct Proof {
    /// Whether they and their order are certain.
    ordered: bool,
    /// The score of the worst of them; 0 if there are fewer than asked for.
    pub(super) worst: f32,
    /// How uncertain a score of theirs is at most.
    pub(super) widest: f32,
}

impl Proof {
    pub(super) fn holds(&self, within: f32) -> bool {
        self.ordered && self.widest <= within
    }
}

pub(super) fn examine(
    low: &[f32],
    high: Option<&[f32]>,
    count: usize,
    keep: &(dyn Fn(EntityId) -> bool + Sync),
) -> Proof {
    let top = best(low, count, keep);
    let worst = if top.len() < count { 0.0 } else { top.last().map_or(0.0, |(_, score)| *score) };
    let Some(high) = high else { return Proof { ordered: true, worst, widest: 0.0 } };
    let widest = top.iter().map(|&(x, low)| high[x.index()] - low).fold(0.0, f32::max);
    // One may be as good as the one before it only if its number is larger.
    let follows = |pair: &[(EntityId, f32)]| {
        let ((before, least), (after, most)) = (pair[0], (pair[1].0, high[pair[1].0.index()]));
        most < least || most <= least && before < after
    };
    let mut ordered = top.windows(2).all(follows);
    if ordered {
        let is_top = |x: EntityId| top.iter().any(|&(entity, _)| entity == x);
        let threatens = |(x, (low, high)): (usize, (&f32, &f32))| {
            low < high && *high >= worst && *high > 0.0 && {
                let x = EntityId::from_index(x);
                keep(x) && !is_top(x)
            }
        };
        ordered = !low.iter().zip(high).enumerate().any(threatens);
    }
    Proof { ordered, worst, widest }
}
