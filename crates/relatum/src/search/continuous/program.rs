//! A branch laid out flat, so that a step of the optimisation is a few loops.

use std::ops::Range;

use crate::graph::{EntityId, RelationId};
use crate::model::Reciprocals;
use crate::plan::BranchPlan;
use crate::query::{Atom, Branch, Direction, Hop, Term, VariableId};

/// A branch: its variables, its atoms, and which (sub-)query each belongs to.
pub(super) struct Program {
    pub(super) slots: Vec<Slot>,
    /// The slot of the target, if the branch mentions it.
    pub(super) target: Option<usize>,
    pub(super) links: Vec<Link>,
    /// The branch, then its negated sub-queries, each after the one that it is part of.
    pub(super) levels: Vec<Level>,
}

/// A variable that gets a vector.
pub(super) struct Slot {
    pub(super) variable: VariableId,
    /// The (sub-)query that binds it, whose score it climbs.
    pub(super) level: usize,
}

/// An atom, in the direction in which it is scored.
pub(super) struct Link {
    pub(super) from: Side,
    pub(super) to: Side,
    /// The relation of the model that leads from `from` to `to`.
    pub(super) relation: RelationId,
    /// The same as the graph has it.
    pub(super) hop: Hop,
    pub(super) negated: bool,
    pub(super) level: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    Entity(EntityId),
    Slot(usize),
}

/// The branch or a negated sub-query.
pub(super) struct Level {
    /// The (sub-)query that it is part of; `None` for the branch itself.
    pub(super) parent: Option<usize>,
    pub(super) links: Range<usize>,
    /// Its negated sub-queries.
    pub(super) inner: Vec<usize>,
}

impl Program {
    pub(super) fn new(plan: &BranchPlan, reciprocals: &Reciprocals) -> Self {
        let mut program = Self { slots: Vec::new(), target: None, links: Vec::new(), levels: Vec::new() };
        let mut own = plan.branch.variables();
        let position = |id: &VariableId| plan.steps.iter().position(|step| step.variable == *id);
        // In the order of the plan, the target last, so that atoms are read towards it.
        own.sort_by_key(|id| (*id == plan.target, position(id)));
        program.target = own.iter().position(|id| *id == plan.target);
        program.level(&plan.branch, &own, &mut Vec::new(), None, reciprocals);
        program
    }

    /// Whether an atom takes a row when every entity is put in the target's place.
    pub(super) fn ends_at_target(&self, link: &Link) -> bool {
        self.target.is_some_and(|target| link.to == Side::Slot(target))
    }

    /// How many atoms take a row when every entity is put in the target's place.
    pub(super) fn rows(&self) -> usize {
        self.links.iter().filter(|link| self.ends_at_target(link)).count()
    }

    /// Lays out a (sub-)query and returns its place. `scope` holds the variables bound around it.
    fn level(
        &mut self,
        branch: &Branch,
        own: &[VariableId],
        scope: &mut Vec<(VariableId, usize)>,
        parent: Option<usize>,
        reciprocals: &Reciprocals,
    ) -> usize {
        let level = self.levels.len();
        let outside = scope.len();
        for &variable in own {
            scope.push((variable, self.slots.len()));
            self.slots.push(Slot { variable, level });
        }
        let first = self.links.len();
        for (atom, negated) in branch.signed_atoms() {
            let link = self.link(atom, negated, level, scope, reciprocals);
            self.links.push(link);
        }
        self.levels.push(Level { parent, links: first..self.links.len(), inner: Vec::new() });
        for negated in &branch.negated {
            let inner = self.level(&negated.branch, &negated.bound, scope, Some(level), reciprocals);
            self.levels[level].inner.push(inner);
        }
        scope.truncate(outside);
        level
    }

    fn link(
        &mut self,
        atom: &Atom,
        negated: bool,
        level: usize,
        scope: &mut Vec<(VariableId, usize)>,
        reciprocals: &Reciprocals,
    ) -> Link {
        let mut side = |term: Term| match term {
            Term::Entity(id) => Side::Entity(id),
            Term::Variable(id) => {
                let bound = scope.iter().rev().find(|(other, _)| *other == id).map(|&(_, slot)| slot);
                // A variable that is bound nowhere, which the checks refuse, is taken as one of this level.
                Side::Slot(bound.unwrap_or_else(|| {
                    self.slots.push(Slot { variable: id, level });
                    scope.push((id, self.slots.len() - 1));
                    self.slots.len() - 1
                }))
            }
        };
        let (subject, object) = (side(atom.subject), side(atom.object));
        let direction =
            if self.rank(subject) <= self.rank(object) { Direction::Forward } else { Direction::Backward };
        let (from, to, relation) = match direction {
            Direction::Forward => (subject, object, atom.relation),
            Direction::Backward => (object, subject, reciprocals.inverse(atom.relation)),
        };
        Link { from, to, relation, hop: Hop { relation: atom.relation, direction }, negated, level }
    }

    /// Atoms are read from the side of lower rank: an anchor, then variables in the order of the
    /// plan, the target only if there is nothing else.
    fn rank(&self, side: Side) -> usize {
        match side {
            Side::Entity(_) => 0,
            Side::Slot(slot) if Some(slot) == self.target => usize::MAX,
            Side::Slot(slot) => slot + 1,
        }
    }
}
