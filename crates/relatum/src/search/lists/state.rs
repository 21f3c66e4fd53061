//! What is known about a message so far: bounds for the entities that were met, and one bound for all others.

use rustc_hash::FxHashMap;

use super::rows::Listed;
use crate::graph::EntityId;
use crate::logic::TNorm;

/// A value between its bounds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bounds {
    /// The value is at least this.
    pub low: f32,
    /// It is at most this.
    pub high: f32,
}

impl Bounds {
    /// Nothing is known.
    pub(super) const OPEN: Self = Self { low: 0.0, high: 1.0 };

    pub(super) fn exact(value: f32) -> Self {
        Self { low: value, high: value }
    }

    /// No more than this.
    pub(super) fn at_most(high: f32) -> Self {
        Self { low: 0.0, high }
    }

    pub(super) fn is_exact(self) -> bool {
        self.low >= self.high
    }

    pub(super) fn and(self, t_norm: TNorm, other: Self) -> Self {
        Self { low: t_norm.and(self.low, other.low), high: t_norm.and(self.high, other.high) }
    }

    pub(super) fn or(self, t_norm: TNorm, other: Self) -> Self {
        Self { low: t_norm.or(self.low, other.low), high: t_norm.or(self.high, other.high) }
    }

    /// A falling function of the value.
    pub(super) fn turned(self, not: impl Fn(f32) -> f32) -> Self {
        Self { low: not(self.high), high: not(self.low) }
    }
}

/// The value of a message for one entity.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entry {
    pub(super) bounds: Bounds,
    /// For a projection or a look, the value at the other end of the best assignment found.
    pub(super) via: Option<EntityId>,
}

impl Entry {
    pub(super) const NOTHING: Self = Self { bounds: Bounds { low: 0.0, high: 0.0 }, via: None };

    /// One more assignment through a value.
    pub(super) fn offer(&mut self, value: Bounds, via: EntityId) {
        // Of equal values the first stays: that with the larger message.
        if value.low > self.bounds.low {
            self.bounds.low = value.low;
            self.via = Some(via);
        }
        self.bounds.high = self.bounds.high.max(value.high);
    }
}

/// A message as far as it is listed.
pub(super) struct State {
    /// Entities that were met.
    pub(super) values: FxHashMap<EntityId, Entry>,
    /// No other entity has more.
    pub(super) rest: f32,
    /// An entity of `values` has no more than this or its own bound: assignments that were not followed may
    /// lead to it too.
    pub(super) unfollowed: f32,
    /// Entities that were asked about one by one, with their best bounds.
    pub(super) probed: FxHashMap<EntityId, Entry>,
    /// For a row, how many entities were asked for.
    pub(super) depth: usize,
    /// For a projection, the values of its source whose edges were followed.
    pub(super) followed: FxHashMap<EntityId, Followed>,
}

/// How far the edges of a value were followed.
#[derive(Clone, Copy)]
pub(super) struct Followed {
    /// How many entities were asked for.
    pub(super) depth: usize,
    /// No other edge is truer.
    pub(super) rest: f32,
}

impl Default for State {
    fn default() -> Self {
        Self {
            values: FxHashMap::default(),
            rest: 1.0,
            unfollowed: 0.0,
            probed: FxHashMap::default(),
            depth: 0,
            followed: FxHashMap::default(),
        }
    }
}

impl State {
    pub(super) fn set_row(&mut self, list: Listed, depth: usize) {
        let entry = |value| Entry { bounds: Bounds::exact(value), via: None };
        self.values = list.values.into_iter().map(|(x, value)| (x, entry(value))).collect();
        (self.rest, self.depth) = (list.rest, depth);
    }

    /// The bounds of an entity, met or not.
    pub(super) fn bounds(&self, x: EntityId) -> Bounds {
        let listed = match self.values.get(&x) {
            Some(entry) => Bounds { high: entry.bounds.high.max(self.unfollowed), ..entry.bounds },
            None => Bounds::at_most(self.rest),
        };
        match self.probed.get(&x) {
            Some(Entry { bounds, .. }) => {
                Bounds { low: listed.low.max(bounds.low), high: listed.high.min(bounds.high) }
            }
            None => listed,
        }
    }

    /// The best assignment found for an entity, whether it is certain to be the best or not.
    pub(super) fn best(&self, x: EntityId) -> Entry {
        let entries = [self.values.get(&x), self.probed.get(&x)].into_iter().flatten();
        let best = entries.copied().max_by(|a, b| a.bounds.low.total_cmp(&b.bounds.low));
        best.unwrap_or(Entry::NOTHING)
    }

    /// The entities that were met.
    pub(super) fn met(&self) -> impl Iterator<Item = EntityId> {
        self.values.keys().copied()
    }

    /// No entity has more than this.
    pub(super) fn most(&self) -> f32 {
        let highs = self.values.values().map(|entry| entry.bounds.high);
        highs.fold(self.rest.max(self.unfollowed), f32::max)
    }

    /// How many entities it holds.
    pub(super) fn len(&self) -> usize {
        self.values.len() + self.probed.len() + self.followed.len()
    }
}
