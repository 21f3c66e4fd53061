//! The order in which variables get their values: the one that scores the fewest rows.

use super::PlanOptions;
use super::statistics::Statistics;
use crate::query::{Atom, Branch, Term, VariableId};

/// Up to this many variables every order is considered (by dynamic programming over sets of
/// them); beyond, the cheapest next variable is taken.
const ALL_ORDERS: usize = 10;

/// A variable with about how many values it has when it is bound.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Bound {
    pub(super) variable: VariableId,
    /// About how many values fit all that was scored before.
    pub(super) candidates: f64,
    /// How many rows it takes to go on from here by one atom.
    pub(super) rows_from: f64,
    /// Whether the search goes on with all its values: where nothing ranks them yet, and where every
    /// one of them is to be ranked.
    pub(super) whole: bool,
}

impl Bound {
    /// The variable as it is seen by a sub-query that runs once for each of its values.
    pub(super) fn given(self) -> Self {
        Self { candidates: 1.0, rows_from: 1.0, ..self }
    }
}

/// What the order is sought for.
pub(super) struct Ordering<'a> {
    pub(super) branch: &'a Branch,
    pub(super) target: VariableId,
    /// Variables that have their values from outside.
    pub(super) inputs: &'a [Bound],
    /// In a negated sub-query: the values of the target that are asked about.
    pub(super) asked: Option<Bound>,
    pub(super) statistics: Statistics<'a>,
    pub(super) options: PlanOptions,
}

#[derive(Clone)]
struct Partial {
    cost: f64,
    bound: Vec<Bound>,
}

impl Partial {
    /// Whether every variable is bound that must come before this one.
    fn allows(&self, variable: VariableId, after: &[(VariableId, VariableId)]) -> bool {
        let is_bound = |id: VariableId| self.bound.iter().any(|bound| bound.variable == id);
        after.iter().all(|&(second, first)| second != variable || is_bound(first))
    }
}

impl Ordering<'_> {
    /// All variables of the branch but the inputs, in the best order.
    pub(super) fn best(&self) -> Vec<Bound> {
        let mut open: Vec<VariableId> = self.branch.variables();
        open.retain(|id| self.inputs.iter().all(|input| input.variable != *id));
        // Of equally good orders, take the one that binds the target last: its values are then all scored.
        open.sort_unstable_by_key(|&id| (id == self.target, id));
        let start = Partial { cost: 0.0, bound: self.inputs.to_vec() };
        let after = self.precedence();
        let best = if open.len() <= ALL_ORDERS {
            self.all_orders(&open, &after, start)
        } else {
            self.greedy(open, &after, start)
        };
        best.bound[self.inputs.len()..].to_vec()
    }

    /// Which variable must come after which, so that every atom of a tree is scored away from the named
    /// entities, whatever that costs: the side towards the target comes second if there is a named
    /// entity on the other one, and first if there is none. Empty where costs decide, and where the branch
    /// is not a tree, because there an atom has no side towards the target.
    fn precedence(&self) -> Vec<(VariableId, VariableId)> {
        let mut after = Vec::new();
        if !self.options.either_side && self.inputs.is_empty() && self.branch.is_tree() {
            self.note_order(self.target, None, &mut after);
        }
        after
    }

    /// Notes the order of all variables behind this one, as seen from the target, and returns whether a named
    /// entity is among them or at this one.
    fn note_order(
        &self,
        x: VariableId,
        parent: Option<VariableId>,
        after: &mut Vec<(VariableId, VariableId)>,
    ) -> bool {
        let is_x = |term: Term| term.variable() == Some(x);
        let other_end = |atom: &Atom| {
            let ends = [(atom.subject, atom.object), (atom.object, atom.subject)];
            ends.into_iter().find_map(|(this, other)| is_x(this).then_some(other))
        };
        let mut anchored =
            self.branch.positive.iter().filter_map(other_end).any(|other| other.variable().is_none());
        let all = self.branch.positive.iter().chain(&self.branch.negative);
        let mut neighbours: Vec<VariableId> = all.filter_map(|atom| other_end(atom)?.variable()).collect();
        neighbours.sort_unstable();
        neighbours.dedup();
        for y in neighbours.into_iter().filter(|y| Some(*y) != parent && *y != x) {
            if self.note_order(y, Some(x), after) {
                after.push((x, y));
                anchored = true;
            } else {
                after.push((y, x));
            }
        }
        anchored
    }

    fn all_orders(&self, open: &[VariableId], after: &[(VariableId, VariableId)], start: Partial) -> Partial {
        let mut best: Vec<Option<Partial>> = vec![None; 1 << open.len()];
        let full = best.len() - 1;
        best[0] = Some(start);
        for set in 0..full {
            let Some(partial) = best[set].take() else { continue };
            let left = open.iter().enumerate().filter(|(index, _)| set >> index & 1 == 0);
            for (index, &variable) in left.filter(|(_, id)| partial.allows(**id, after)) {
                let (cost, bound) = self.bind(&partial, variable);
                let slot = &mut best[set | 1 << index];
                if slot.as_ref().is_none_or(|other| partial.cost + cost < other.cost) {
                    let mut next = partial.clone();
                    next.cost += cost;
                    next.bound.push(bound);
                    *slot = Some(next);
                }
            }
        }
        best[full].take().unwrap_or(Partial { cost: 0.0, bound: self.inputs.to_vec() })
    }

    fn greedy(
        &self,
        mut open: Vec<VariableId>,
        after: &[(VariableId, VariableId)],
        mut partial: Partial,
    ) -> Partial {
        while !open.is_empty() {
            let mut cheapest = (f64::INFINITY, f64::INFINITY, 0, None);
            for (index, &variable) in open.iter().enumerate().filter(|(_, id)| partial.allows(**id, after)) {
                let (cost, bound) = self.bind(&partial, variable);
                // Beginning at a variable without anchor costs nothing now, but all entities later.
                let ahead = cost + bound.rows_from;
                if (ahead, cost) < (cheapest.0, cheapest.1) {
                    cheapest = (ahead, cost, index, Some(bound));
                }
            }
            open.remove(cheapest.2);
            partial.cost += cheapest.1;
            partial.bound.extend(cheapest.3);
        }
        partial
    }

    /// What it costs to give a variable its values now, and how many there will be.
    fn bind(&self, so_far: &Partial, variable: VariableId) -> (f64, Bound) {
        let everything = self.statistics.entities();
        let (mut cost, mut candidates, mut informed, mut loops) = (0.0, everything, false, 0.0);
        for (atom, negated) in self.branch.signed_atoms() {
            let Some((hop, other)) = atom.towards(variable) else { continue };
            let fits = match other {
                Term::Variable(id) if id == variable => {
                    loops += 1.0;
                    continue;
                }
                Term::Entity(anchor) => {
                    cost += 1.0;
                    self.statistics.degree(anchor, hop)
                }
                Term::Variable(id) => {
                    let Some(known) = so_far.bound.iter().find(|bound| bound.variable == id) else {
                        continue;
                    };
                    cost += known.rows_from;
                    (known.candidates * self.statistics.fanout(hop)).min(self.statistics.reach(hop))
                }
            };
            if !negated {
                informed = true;
                candidates = candidates.min(fits.max(1.0));
            }
        }
        // A beam needs scores to choose by; a target of which every value must be ranked has no beam.
        let whole = !informed || (!self.options.either_side && variable == self.target);
        let mut rows_from = if whole { everything } else { candidates.ceil().min(self.options.beam as f64) };
        if let Some(asked) = self.asked.filter(|_| variable == self.target) {
            candidates = candidates.min(asked.candidates);
            rows_from = rows_from.min(asked.rows_from);
        }
        (cost + loops * rows_from, Bound { variable, candidates, rows_from, whole })
    }
}
