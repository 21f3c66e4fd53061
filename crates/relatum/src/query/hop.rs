//! An atom read from one side to the other.

use crate::graph::{Inverses, RelationId};

/// From which side an atom is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Direction {
    /// From the subject to the object.
    Forward,
    /// From the object to the subject, through the reciprocal relation.
    Backward,
}

/// A step along a relation: what is known on one side, all entities scored on the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Hop {
    /// The relation.
    pub relation: RelationId,
    /// From which side it is read.
    pub direction: Direction,
}

impl Hop {
    /// The same atom read from the other side.
    #[must_use]
    pub fn reversed(self) -> Self {
        let direction = match self.direction {
            Direction::Forward => Direction::Backward,
            Direction::Backward => Direction::Forward,
        };
        Self { direction, ..self }
    }

    /// The relation that says the same forwards, if the graph carries one.
    pub fn as_forward(self, inverses: &Inverses) -> Option<RelationId> {
        match self.direction {
            Direction::Forward => Some(self.relation),
            Direction::Backward => inverses.of(self.relation),
        }
    }
}
