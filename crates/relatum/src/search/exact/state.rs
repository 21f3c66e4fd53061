//! What is known about a message so far.

use crate::graph::{EntityId, Id};
use crate::query::Hop;
use crate::search::AtomTruth;

/// A message between its bounds.
#[derive(Default)]
pub(super) struct State {
    pub(super) low: Vec<f32>,
    pub(super) high: High,
    /// How each value was looked at: for a projection those of its source, for a look its own.
    pub(super) seen: Vec<Seen>,
    /// For each entity, the value at the other end of the best assignment.
    pub(super) via: Vec<EntityId>,
    /// The largest value that a limit on their number left out.
    pub(super) left_out: f32,
    /// For a projection, the values of its source that are the next to look at, if that is known.
    pub(super) wanted: Vec<EntityId>,
}

/// The upper bound of a message.
#[derive(Default)]
pub(super) enum High {
    /// The lower bound.
    #[default]
    Same,
    /// The lower bound, but nowhere less than this.
    AtLeast(f32),
    /// A bound for each entity.
    Each(Vec<f32>),
}

/// How a value was looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Seen {
    Not,
    /// Its trusted edges were followed.
    Facts,
    /// Its row was scored.
    Row,
}

impl State {
    pub(super) fn exact(low: Vec<f32>) -> Self {
        Self { low, ..Self::default() }
    }

    /// Nothing known yet of a projection or look over n entities.
    pub(super) fn open(n: usize, high: High) -> Self {
        let (seen, via) = (vec![Seen::Not; n], vec![EntityId(0); n]);
        Self { low: vec![0.0; n], high, seen, via, ..Self::default() }
    }

    pub(super) fn set_row(&mut self, row: &[f32]) {
        self.low.clear();
        self.low.extend_from_slice(row);
        self.high = High::Same;
    }

    pub(super) fn set_facts(&mut self, truth: &dyn AtomTruth, anchor: EntityId, hop: Hop) {
        self.low = vec![0.0; truth.entities()];
        truth.facts(anchor, hop, &mut |tail| {
            if let Some(value) = self.low.get_mut(tail.index()) {
                *value = 1.0;
            }
        });
        self.high = High::AtLeast(truth.ceiling());
    }

    pub(super) fn is_exact(&self) -> bool {
        matches!(self.high, High::Same)
    }

    #[inline]
    pub(super) fn high(&self, x: usize) -> f32 {
        match &self.high {
            High::Same => self.low[x],
            High::AtLeast(least) => self.low[x].max(*least),
            High::Each(high) => high[x],
        }
    }

    /// The upper bound of every entity.
    pub(super) fn highs(&self) -> Vec<f32> {
        match &self.high {
            High::Each(high) => high.clone(),
            _ => (0..self.low.len()).map(|x| self.high(x)).collect(),
        }
    }

    pub(super) fn value(&self, entity: EntityId) -> f32 {
        self.low.get(entity.index()).copied().unwrap_or(0.0)
    }

    pub(super) fn via(&self, entity: EntityId) -> Option<EntityId> {
        let low = self.low.get(entity.index())?;
        self.via.get(entity.index()).copied().filter(|_| *low > 0.0)
    }
}
