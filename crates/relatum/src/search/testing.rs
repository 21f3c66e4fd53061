//! Truth by a table, and the slowest possible search, for comparison.

use std::collections::HashMap;

use super::{AtomTruth, Logic};
use crate::graph::{EntityId, Id, RelationId, Split};
use crate::query::{Atom, Branch, Direction, Hop, NormalForm, Term, VariableId};

/// `values[relation][subject][object]`: an atom is as true from one side as from the other.
#[derive(Debug)]
pub(crate) struct Table {
    pub(crate) values: Vec<Vec<Vec<f32>>>,
}

impl Table {
    pub(crate) fn truth(&self, relation: RelationId, subject: EntityId, object: EntityId) -> f32 {
        self.values[relation.index()][subject.index()][object.index()]
    }
}

impl AtomTruth for Table {
    fn entities(&self) -> usize {
        self.values[0].len()
    }

    fn pairs(&self, pairs: &[(EntityId, Hop)], rows: &mut [f32]) {
        let n = self.entities();
        for (row, &(known, hop)) in rows.chunks_exact_mut(n).zip(pairs) {
            for (x, value) in row.iter_mut().enumerate() {
                let x = EntityId::from_index(x);
                *value = match hop.direction {
                    Direction::Forward => self.truth(hop.relation, known, x),
                    Direction::Backward => self.truth(hop.relation, x, known),
                };
            }
        }
    }

    fn known(&self, from: EntityId, hop: Hop, to: EntityId) -> Option<Split> {
        let truth = match hop.direction {
            Direction::Forward => self.truth(hop.relation, from, to),
            Direction::Backward => self.truth(hop.relation, to, from),
        };
        (truth >= 1.0).then_some(Split::Train)
    }

    fn stored(&self, from: EntityId, hop: Hop, to: EntityId) -> Option<Split> {
        self.known(from, hop, to)
    }

    /// Edges with a truth of exactly 1 count as stored.
    fn facts(&self, from: EntityId, hop: Hop, each: &mut dyn FnMut(EntityId)) {
        let mut row = vec![0.0; self.entities()];
        self.pairs(&[(from, hop)], &mut row);
        let entirely = row.iter().enumerate().filter(|(_, value)| **value >= 1.0);
        entirely.for_each(|(x, _)| each(EntityId::from_index(x)));
    }

    fn at_most(&self, from: &[EntityId], hop: Hop, at: &[EntityId], bounds: &mut [f32]) -> bool {
        let mut rows = vec![0.0; from.len() * self.entities()];
        let pairs: Vec<(EntityId, Hop)> = from.iter().map(|&entity| (entity, hop)).collect();
        self.pairs(&pairs, &mut rows);
        for (row, bounds) in rows.chunks_exact(self.entities()).zip(bounds.chunks_exact_mut(at.len())) {
            // Not too tight, like the bounds of a model.
            bounds.iter_mut().zip(at).for_each(|(bound, x)| *bound = (1.5 * row[x.index()]).min(1.0));
        }
        true
    }

    fn ceiling(&self) -> f32 {
        let values = self.values.iter().flatten().flatten().copied();
        values.filter(|value| *value < 1.0).fold(0.0, f32::max)
    }
}

/// Every assignment of every variable, one after another.
pub(crate) fn naive(table: &Table, normal_form: &NormalForm, logic: Logic) -> Vec<f32> {
    let entities = (0..table.entities()).map(EntityId::from_index);
    entities
        .map(|answer| {
            let values = HashMap::from([(normal_form.target, answer)]);
            let branches = normal_form.branches.iter().map(|branch| best(table, branch, &values, logic));
            logic.t_norm.any(branches)
        })
        .collect()
}

/// The score of every assignment by which an entity is an answer of a branch, best first.
pub(crate) fn every_score(
    table: &Table,
    branch: &Branch,
    values: &HashMap<VariableId, EntityId>,
    logic: Logic,
) -> Vec<f32> {
    let Some(variable) = branch.variables().into_iter().find(|id| !values.contains_key(id)) else {
        return vec![best(table, branch, values, logic)];
    };
    let with = |value: EntityId| {
        let mut values = values.clone();
        values.insert(variable, value);
        every_score(table, branch, &values, logic)
    };
    let mut scores: Vec<f32> = (0..table.entities()).map(EntityId::from_index).flat_map(with).collect();
    scores.sort_by(|a, b| b.total_cmp(a));
    scores
}

fn best(table: &Table, branch: &Branch, values: &HashMap<VariableId, EntityId>, logic: Logic) -> f32 {
    let open = branch.variables().into_iter().find(|id| !values.contains_key(id));
    if let Some(variable) = open {
        let entities = (0..table.entities()).map(EntityId::from_index);
        return entities
            .map(|value| {
                let mut values = values.clone();
                values.insert(variable, value);
                best(table, branch, &values, logic)
            })
            .fold(0.0, f32::max);
    }
    let term = |term: Term| match term {
        Term::Entity(id) => id,
        Term::Variable(id) => values[&id],
    };
    let truth = |atom: &Atom| table.truth(atom.relation, term(atom.subject), term(atom.object));
    let positive = branch.positive.iter().map(truth);
    let negative = branch.negative.iter().map(|atom| logic.negation.not(truth(atom)));
    let negated = branch.negated.iter().map(|negated| 1.0 - best(table, &negated.branch, values, logic));
    logic.t_norm.all(positive.chain(negative).chain(negated))
}
