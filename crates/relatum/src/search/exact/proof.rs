//! Whether bounds prove the best answers.

use super::Exact;
use super::refine::CONTENDERS;
use super::state::State;
use crate::graph::{EntityId, Id};
use crate::logic::TNorm;
use crate::search::top::best;

impl Exact<'_> {
    /// The scores of all branches, joined by the t-conorm; the upper bounds only where they differ.
    ///
    /// The bounds are in double precision: two predictions joined are less than a fact, by less than
    /// single precision can tell.
    pub(super) fn joined(&self) -> (Vec<f32>, Option<Vec<f64>>) {
        let t_norm = self.logic.t_norm;
        let roots: Vec<&State> =
            self.plan.roots().into_iter().map(|root| &self.states[root.index()]).collect();
        let Some((first, others)) = roots.split_first() else {
            return (vec![0.0; self.truth.entities()], None);
        };
        let mut low = first.low.clone();
        for root in others {
            low.iter_mut().zip(&root.low).for_each(|(all, one)| *all = t_norm.or(*all, *one));
        }
        if !self.bounded || roots.iter().all(|root| root.is_exact()) {
            return (low, None);
        }
        let high = low.iter().enumerate().map(|(x, &low)| {
            if roots.iter().all(|root| root.low[x] >= root.high(x)) {
                return f64::from(low);
            }
            roots.iter().fold(0.0, |all, root| or(t_norm, all, f64::from(root.high(x))))
        });
        let high = high.collect();
        (low, Some(high))
    }
}

/// The t-conorm in double precision.
fn or(t_norm: TNorm, x: f64, y: f64) -> f64 {
    match t_norm {
        TNorm::Godel => x.max(y),
        TNorm::Product => x + y * (1.0 - x),
        TNorm::Lukasiewicz => (x + y).min(1.0),
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

/// The best answers, the worst of which scores `worst`, and all that may still be better than one of them;
/// none if they are too many, or if there are fewer answers than are wanted.
pub(super) fn contenders(
    high: &[f64],
    worst: f32,
    keep: &(dyn Fn(EntityId) -> bool + Sync),
) -> Option<Vec<EntityId>> {
    let may_enter = high.iter().enumerate().filter(|(_, high)| **high >= f64::from(worst));
    let kept = may_enter.map(|(x, _)| EntityId::from_index(x)).filter(|x| keep(*x));
    let found: Vec<EntityId> = kept.take(CONTENDERS + 1).collect();
    (worst > 0.0 && found.len() <= CONTENDERS).then_some(found)
}

pub(super) fn examine(
    low: &[f32],
    high: Option<&[f64]>,
    count: usize,
    keep: &(dyn Fn(EntityId) -> bool + Sync),
) -> Proof {
    let top = best(low, count, keep);
    let worst = if top.len() < count { 0.0 } else { top.last().map_or(0.0, |(_, score)| *score) };
    let Some(high) = high else { return Proof { ordered: true, worst, widest: 0.0 } };
    let widest = top.iter().map(|&(x, low)| high[x.index()] - f64::from(low)).fold(0.0, f64::max) as f32;
    // One may be as good as the one before it only if its number is larger.
    let follows = |pair: &[(EntityId, f32)]| {
        let (before, after) = (pair[0].0, pair[1].0);
        let (least, most) = (f64::from(pair[0].1), high[after.index()]);
        most < least || most <= least && before < after
    };
    let mut ordered = top.windows(2).all(follows);
    if ordered {
        let is_top = |x: EntityId| top.iter().any(|&(entity, _)| entity == x);
        let threatens = |(x, (low, high)): (usize, (&f32, &f64))| {
            f64::from(*low) < *high && *high >= f64::from(worst) && {
                let x = EntityId::from_index(x);
                keep(x) && !is_top(x)
            }
        };
        ordered = !low.iter().zip(high).enumerate().any(threatens);
    }
    Proof { ordered, worst, widest }
}
