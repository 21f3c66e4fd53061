//! An atom read from one side to the other.

use super::formula::{Atom, Term, VariableId};
use crate::graph::{Arc, Edges, EntityId, Inverses, RelationId, Triple};

/// From which side an atom is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Direction {
    /// From the subject to the object.
    Forward,
    /// From the object to the subject, through the reciprocal relation.
    Backward,
}

/// A step along a relation: one side is a known entity, and on the other side all entities are scored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Hop {
    /// The relation.
    pub relation: RelationId,
    /// From which side it is read.
    pub direction: Direction,
}

impl Atom {
    /// The atom as a hop that ends in a variable, and where it comes from; `None` if the variable is not in
    /// it. A loop `p(x, x)` comes from the variable itself.
    pub fn towards(&self, x: VariableId) -> Option<(Hop, Term)> {
        let hop = |direction| Hop { relation: self.relation, direction };
        match (self.subject, self.object) {
            (from, Term::Variable(id)) if id == x => Some((hop(Direction::Forward), from)),
            (Term::Variable(id), from) if id == x => Some((hop(Direction::Backward), from)),
            _ => None,
        }
    }
}

impl Hop {
    /// The arcs along which it leads from an entity, by neighbour.
    pub fn arcs(self, edges: &Edges, from: EntityId) -> &[Arc] {
        let adjacency = match self.direction {
            Direction::Forward => &edges.outgoing,
            Direction::Backward => &edges.incoming,
        };
        adjacency.along(from, self.relation)
    }

    /// The edge that it takes between two entities.
    pub fn edge(self, from: EntityId, to: EntityId) -> Triple {
        let (head, tail) = match self.direction {
            Direction::Forward => (from, to),
            Direction::Backward => (to, from),
        };
        Triple { head, relation: self.relation, tail }
    }

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
