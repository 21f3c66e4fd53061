//! Tries assignments one by one, where sets are not enough: cycles, negated atoms between two variables.

use super::costs::{Costs, contains, plus};
use super::patience::Patience;
use super::world::World;
use crate::graph::{EntityId, Triple};
use crate::query::{Atom, Branch, Hop, Term, VariableId};

/// The values that variables have so far, by their ids.
pub(super) type Values = Vec<Option<EntityId>>;

/// Looks for the cheapest assignment of a branch, depth first, along edges.
pub(super) struct Search<'a> {
    branch: &'a Branch,
    world: &'a World<'a>,
    patience: &'a Patience,
    /// The values that a variable can have at most, where they are known.
    domains: &'a [Option<Costs>],
    unbound: Vec<VariableId>,
}

impl<'a> Search<'a> {
    pub(super) fn new(
        branch: &'a Branch,
        world: &'a World<'a>,
        patience: &'a Patience,
        domains: &'a [Option<Costs>],
    ) -> Self {
        Self { branch, world, patience, domains, unbound: branch.variables() }
    }

    /// The cheapest assignment that gives the target this value, and its cost.
    pub(super) fn cheapest(&self, target: VariableId, value: EntityId) -> Option<(u8, Values)> {
        let mut values = vec![None; self.domains.len()];
        values[target.index()] = Some(value);
        self.complete(&mut values)
    }

    /// Assignments that give the target this value, whatever they cost; no more than `most`.
    pub(super) fn assignments(&self, target: VariableId, value: EntityId, most: usize) -> Vec<Values> {
        let mut values = vec![None; self.domains.len()];
        values[target.index()] = Some(value);
        let mut found = Vec::new();
        let holds = |triple: Triple| self.world.cost(triple).is_some();
        if self.branch.positive.iter().filter_map(|atom| triple(atom, &values)).all(holds) {
            self.collect(&mut values, most, &mut found);
        }
        found
    }

    fn collect(&self, values: &mut Values, most: usize, found: &mut Vec<Values>) {
        if found.len() >= most {
            return;
        }
        let Some(x) = self.next_variable(values) else {
            if self.negation_holds(values) {
                found.push(values.clone());
            }
            return;
        };
        let mut candidates = self.candidates(x, values);
        // An edge may stand in several layers.
        candidates.sort_unstable();
        candidates.dedup();
        for value in candidates.into_iter().take_while(|_| self.patience.step()) {
            values[x.index()] = Some(value);
            if self.cost_of(x, values).is_some() {
                self.collect(values, most, found);
            }
        }
        values[x.index()] = None;
    }

    /// The cheapest assignment that completes the given values, and its cost.
    fn complete(&self, values: &mut Values) -> Option<(u8, Values)> {
        let mut cost = 0;
        for triple in self.branch.positive.iter().filter_map(|atom| triple(atom, values)) {
            cost = plus(cost, self.world.cost(triple)?);
        }
        let mut best = None;
        self.extend(values, cost, &mut best);
        best
    }

    fn extend(&self, values: &mut Values, cost: u8, best: &mut Option<(u8, Values)>) {
        if best.as_ref().is_some_and(|(best, _)| cost >= *best) {
            return;
        }
        let Some(x) = self.next_variable(values) else {
            if self.negation_holds(values) {
                *best = Some((cost, values.clone()));
            }
            return;
        };
        for value in self.candidates(x, values).into_iter().take_while(|_| self.patience.step()) {
            values[x.index()] = Some(value);
            if let Some(more) = self.cost_of(x, values) {
                self.extend(values, plus(cost, more), best);
            }
        }
        values[x.index()] = None;
    }

    /// The variable without a value that has the fewest candidates.
    fn next_variable(&self, values: &Values) -> Option<VariableId> {
        let open = self.unbound.iter().copied().filter(|id| values[id.index()].is_none());
        open.min_by_key(|&x| self.shortest_row(x, values).map_or(usize::MAX, |(len, ..)| len))
    }

    fn shortest_row(&self, x: VariableId, values: &Values) -> Option<(usize, EntityId, Hop)> {
        let rows = self.branch.positive.iter().filter_map(|atom| {
            let (hop, from) = atom.towards(x)?;
            let from = value(from, values)?;
            Some((self.world.row_len(from, hop), from, hop))
        });
        rows.min_by_key(|&(len, ..)| len)
    }

    fn candidates(&self, x: VariableId, values: &Values) -> Vec<EntityId> {
        let domain = self.domains.get(x.index()).and_then(Option::as_ref);
        match self.shortest_row(x, values) {
            Some((_, from, hop)) => {
                let row = self.world.row(from, hop).map(|(id, _)| id);
                row.filter(|&id| domain.is_none_or(|domain| contains(domain, id))).collect()
            }
            None => domain.map_or_else(
                || self.world.ids().collect(),
                |domain| domain.iter().map(|&(id, _)| id).collect(),
            ),
        }
    }

    /// The cost of the atoms whose last value is that of `x`; `None` if one of them does not hold.
    fn cost_of(&self, x: VariableId, values: &Values) -> Option<u8> {
        let mut sum = 0;
        for atom in self.branch.positive.iter().filter(|atom| atom.variables().any(|id| id == x)) {
            if let Some(triple) = triple(atom, values) {
                sum = plus(sum, self.world.cost(triple)?);
            }
        }
        Some(sum)
    }

    fn negation_holds(&self, values: &Values) -> bool {
        let refused = |atom: &Atom| triple(atom, values).is_some_and(|it| self.world.cost(it).is_some());
        if self.branch.negative.iter().any(refused) {
            return false;
        }
        self.branch.negated.iter().all(|negated| {
            // The sub-query's own variables have ids of their own, so they have no values yet;
            // the domains of this branch do not hold in the sub-query.
            let nothing = vec![None; values.len()];
            let search = Search::new(&negated.branch, self.world, self.patience, &nothing);
            search.complete(&mut values.clone()).is_none()
        })
    }
}

fn value(term: Term, values: &Values) -> Option<EntityId> {
    match term {
        Term::Entity(id) => Some(id),
        Term::Variable(id) => values[id.index()],
    }
}

fn triple(atom: &Atom, values: &Values) -> Option<Triple> {
    let (head, tail) = (value(atom.subject, values)?, value(atom.object, values)?);
    Some(Triple { head, relation: atom.relation, tail })
}
