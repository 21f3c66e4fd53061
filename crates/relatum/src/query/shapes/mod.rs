//! The fourteen query shapes of the literature, by name, as nested tuples, and recognised.
//!
//! | shape | formula |
//! | --- | --- |
//! | 1p | r1(a, A) |
//! | 2p | ∃V. r1(a, V) ∧ r2(V, A) |
//! | 3p | ∃V,U. r1(a, V) ∧ r2(V, U) ∧ r3(U, A) |
//! | 2i | r1(a, A) ∧ r2(b, A) |
//! | 3i | r1(a, A) ∧ r2(b, A) ∧ r3(c, A) |
//! | ip | ∃V. r1(a, V) ∧ r2(b, V) ∧ r3(V, A) |
//! | pi | ∃V. r1(a, V) ∧ r2(V, A) ∧ r3(b, A) |
//! | 2u | r1(a, A) ∨ r2(b, A) |
//! | up | ∃V. (r1(a, V) ∨ r2(b, V)) ∧ r3(V, A) |
//! | 2in | r1(a, A) ∧ ¬r2(b, A) |
//! | 3in | r1(a, A) ∧ r2(b, A) ∧ ¬r3(c, A) |
//! | inp | ∃V. r1(a, V) ∧ ¬r2(b, V) ∧ r3(V, A) |
//! | pin | ∃V. r1(a, V) ∧ r2(V, A) ∧ ¬r3(b, A) |
//! | pni | ¬(∃V. r1(a, V) ∧ r2(V, A)) ∧ r3(b, A) |

mod recognise;
mod structure;
#[cfg(test)]
mod tests;
mod tuple;
mod value;

pub use recognise::Arguments;
pub use structure::{Step, Structure};
pub use tuple::parse;

/// A query shape of the literature.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Shape {
    /// One projection.
    P1,
    /// A chain of two projections.
    P2,
    /// A chain of three projections.
    P3,
    /// An intersection of two.
    I2,
    /// An intersection of three.
    I3,
    /// A projection of an intersection.
    Ip,
    /// An intersection with a chain.
    Pi,
    /// A union of two.
    U2,
    /// A projection of a union.
    Up,
    /// An intersection with one negated.
    In2,
    /// An intersection of three, one negated.
    In3,
    /// A projection of an intersection with one negated.
    Inp,
    /// A chain intersected with a negated projection.
    Pin,
    /// A negated chain intersected with a projection.
    Pni,
}

impl Shape {
    /// All shapes, in the order of the literature's tables.
    pub const ALL: [Self; 14] = [
        Self::P1,
        Self::P2,
        Self::P3,
        Self::I2,
        Self::I3,
        Self::Ip,
        Self::Pi,
        Self::U2,
        Self::Up,
        Self::In2,
        Self::In3,
        Self::Inp,
        Self::Pin,
        Self::Pni,
    ];

    /// The name in today's papers.
    pub fn name(self) -> &'static str {
        match self {
            Self::P1 => "1p",
            Self::P2 => "2p",
            Self::P3 => "3p",
            Self::I2 => "2i",
            Self::I3 => "3i",
            Self::Ip => "ip",
            Self::Pi => "pi",
            Self::U2 => "2u",
            Self::Up => "up",
            Self::In2 => "2in",
            Self::In3 => "3in",
            Self::Inp => "inp",
            Self::Pin => "pin",
            Self::Pni => "pni",
        }
    }

    /// The name in the files of Query2Box, which has no negation.
    pub fn query2box_name(self) -> Option<&'static str> {
        Some(match self {
            Self::P1 => "1c",
            Self::P2 => "2c",
            Self::P3 => "3c",
            Self::Ip => "ic",
            Self::Pi => "ci",
            Self::Up => "uc",
            Self::I2 | Self::I3 | Self::U2 => self.name(),
            _ => return None,
        })
    }

    /// The shape of a name, of either kind.
    pub fn from_name(name: &str) -> Option<Self> {
        let fits = |shape: &&Self| shape.name() == name || shape.query2box_name() == Some(name);
        Self::ALL.iter().find(fits).copied()
    }

    /// How many anchors and relations the shape has.
    pub fn arity(self) -> (usize, usize) {
        match self {
            Self::P1 => (1, 1),
            Self::P2 => (1, 2),
            Self::P3 => (1, 3),
            Self::I2 | Self::U2 | Self::In2 => (2, 2),
            Self::I3 | Self::In3 => (3, 3),
            Self::Ip | Self::Pi | Self::Up | Self::Inp | Self::Pin | Self::Pni => (2, 3),
        }
    }

    /// The shape with its arguments: anchors and relations in the order of the table above.
    /// `None` if there are not as many as the shape has.
    pub fn structure<E: Clone, R: Clone>(self, anchors: &[E], relations: &[R]) -> Option<Structure<E, R>> {
        if (anchors.len(), relations.len()) != self.arity() {
            return None;
        }
        let chain = |anchor: usize, from: usize, len: usize| {
            let steps = relations[from..from + len].iter().cloned().map(Step::Relation).collect();
            Structure::chain(anchors[anchor].clone(), steps)
        };
        let hop = |anchor: usize| chain(anchor, anchor, 1);
        let not = |structure: Structure<E, R>| structure.then(Step::Not);
        let last = || Step::Relation(relations[2].clone());
        Some(match self {
            Self::P1 | Self::P2 | Self::P3 => chain(0, 0, relations.len()),
            Self::I2 | Self::I3 => Structure::All((0..anchors.len()).map(hop).collect()),
            Self::Ip => Structure::All(vec![hop(0), hop(1)]).then(last()),
            Self::Pi => Structure::All(vec![chain(0, 0, 2), chain(1, 2, 1)]),
            Self::U2 => Structure::Any(vec![hop(0), hop(1)]),
            Self::Up => Structure::Any(vec![hop(0), hop(1)]).then(last()),
            Self::In2 => Structure::All(vec![hop(0), not(hop(1))]),
            Self::In3 => Structure::All(vec![hop(0), hop(1), not(hop(2))]),
            Self::Inp => Structure::All(vec![hop(0), not(hop(1))]).then(last()),
            Self::Pin => Structure::All(vec![chain(0, 0, 2), not(chain(1, 2, 1))]),
            Self::Pni => Structure::All(vec![not(chain(0, 0, 2)), chain(1, 2, 1)]),
        })
    }
}

impl std::fmt::Display for Shape {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(self.name())
    }
}
