//! The bounds of a whole question, from those of its messages.

use super::Exact;
use super::refine::CONTENDERS;
use super::state::State;
use crate::graph::{EntityId, Id};
use crate::search::proof::or;

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

    /// Whether stored edges alone prove so many answers. With fewer, only rows can tell what comes after them,
    /// so the bounds of all entities need not be looked at before.
    pub(super) fn has_known(&self, count: usize, keep: &(dyn Fn(EntityId) -> bool + Sync)) -> bool {
        let roots: Vec<&[f32]> = self.plan.roots().into_iter().map(|root| self.values(root)).collect();
        let is_known = |x: &usize| roots.iter().any(|root| root.get(*x).is_some_and(|low| *low >= 1.0));
        let known = (0..self.truth.entities()).filter(is_known).map(EntityId::from_index);
        known.filter(|x| keep(*x)).take(count).count() >= count
    }
}

/// The best answers, the worst of which scores `worst`, and all that may still be better than one of them;
/// `None` if they are too many, or if there are fewer answers than are wanted.
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
