//! Whether bounds prove the best answers.

use super::top::best;
use crate::graph::{EntityId, Id};
use crate::logic::TNorm;

/// What the bounds prove about the best answers.
pub(super) struct Proof {
    /// Whether they and their order are certain.
    ordered: bool,
    /// The best answers by their lower bounds.
    pub(super) top: Vec<(EntityId, f32)>,
    /// How many of them, from the first on, are certain to be in their place.
    pub(super) certain: usize,
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

/// Examines lower bounds, and upper ones where they differ, of the scores of all entities: whether the
/// best `count` of those to keep, and their order, are certain.
pub(super) fn examine(
    low: &[f32],
    high: Option<&[f64]>,
    count: usize,
    keep: &(dyn Fn(EntityId) -> bool + Sync),
) -> Proof {
    let top = best(low, count, keep);
    let worst = if top.len() < count { 0.0 } else { top.last().map_or(0.0, |(_, score)| *score) };
    let Some(high) = high else {
        return Proof { ordered: true, certain: top.len(), top, worst, widest: 0.0 };
    };
    let widest = top.iter().map(|&(x, low)| high[x.index()] - f64::from(low)).fold(0.0, f64::max) as f32;
    // An answer may equal the one before it only if its id is larger, because ties break by id.
    let follows = |pair: &[(EntityId, f32)]| {
        let (before, after) = (pair[0].0, pair[1].0);
        let (least, most) = (f64::from(pair[0].1), high[after.index()]);
        most < least || most <= least && before < after
    };
    let in_order = 1 + top.windows(2).take_while(|pair| follows(pair)).count();
    let is_top = |x: EntityId| top.iter().any(|&(entity, _)| entity == x);
    let may_enter = |&(x, (low, high)): &(usize, (&f32, &f64))| {
        f64::from(*low) < *high && *high >= f64::from(worst) && {
            let x = EntityId::from_index(x);
            keep(x) && !is_top(x)
        }
    };
    let threats = low.iter().zip(high).enumerate().filter(may_enter).map(|(_, (_, high))| *high);
    let threat = threats.fold(f64::NEG_INFINITY, f64::max);
    let beyond = top.partition_point(|&(_, low)| f64::from(low) > threat);
    let certain = in_order.min(beyond).min(top.len());
    let ordered = in_order >= top.len() && threat == f64::NEG_INFINITY;
    Proof { ordered, top, certain, worst, widest }
}

/// The t-conorm in double precision: two predictions joined are less than a fact, by less than single
/// precision can tell.
pub(super) fn or(t_norm: TNorm, x: f64, y: f64) -> f64 {
    match t_norm {
        TNorm::Godel => x.max(y),
        TNorm::Product => x + y * (1.0 - x),
        TNorm::Lukasiewicz => (x + y).min(1.0),
    }
}
