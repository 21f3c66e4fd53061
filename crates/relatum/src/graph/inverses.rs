//! Pairs of relations that say the same thing in opposite directions.

use super::ids::{Id, RelationId};

/// Which relation is the inverse of which, where the source carries both directions.
///
/// Benchmark folders hold every edge twice, along relation 2i and back along 2i + 1. Knowing
/// the pairs keeps training from adding reciprocal relations a second time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Inverses {
    inverse_of: Vec<Option<RelationId>>,
}

impl Inverses {
    /// Records that `a` and `b` are inverses of each other.
    pub fn pair(&mut self, a: RelationId, b: RelationId) {
        let needed = a.max(b).index() + 1;
        if self.inverse_of.len() < needed {
            self.inverse_of.resize(needed, None);
        }
        self.inverse_of[a.index()] = Some(b);
        self.inverse_of[b.index()] = Some(a);
    }

    /// The inverse of a relation, if the source carries it.
    pub fn of(&self, relation: RelationId) -> Option<RelationId> {
        self.inverse_of.get(relation.index()).copied().flatten()
    }

    /// Whether the source carries no inverse at all.
    pub fn is_empty(&self) -> bool {
        self.inverse_of.is_empty()
    }

    /// Every pair once, the smaller relation first.
    pub fn pairs(&self) -> impl Iterator<Item = (RelationId, RelationId)> {
        let with_inverse = self.inverse_of.iter().enumerate();
        with_inverse.filter_map(|(index, inverse)| {
            let relation = RelationId::from_index(index);
            inverse.filter(|&inverse| relation <= inverse).map(|inverse| (relation, inverse))
        })
    }
}
