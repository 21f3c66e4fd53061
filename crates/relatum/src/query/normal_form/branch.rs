//! One conjunctive branch: a query graph whose edges are atoms.

use crate::query::formula::{Atom, Formula, Term, VariableId};

/// A conjunction of atoms, negated atoms and negated sub-queries.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Branch {
    /// Atoms that must hold.
    pub positive: Vec<Atom>,
    /// Atoms that must not hold.
    pub negative: Vec<Atom>,
    /// Sub-queries that must not hold.
    pub negated: Vec<Negated>,
}

/// `¬∃ bound. branch`
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Negated {
    /// The variables of the sub-query alone; at least one.
    pub bound: Vec<VariableId>,
    /// What must not hold for any values of them.
    pub branch: Branch,
}

impl Negated {
    /// The variables that the sub-query shares with the branch around it, in order of appearance.
    pub fn free(&self) -> Vec<VariableId> {
        let mut free = self.branch.variables();
        free.retain(|id| !self.bound.contains(id));
        free
    }
}

impl Branch {
    /// Every variable of the branch that is not a sub-query's own, in order of appearance.
    pub fn variables(&self) -> Vec<VariableId> {
        let mut seen = Vec::new();
        let mut see = |id| {
            if !seen.contains(&id) {
                seen.push(id);
            }
        };
        self.positive.iter().chain(&self.negative).flat_map(Atom::variables).for_each(&mut see);
        self.negated.iter().flat_map(Negated::free).for_each(&mut see);
        seen
    }

    /// Every atom, with whether it is negated; those that must hold first.
    pub fn signed_atoms(&self) -> impl Iterator<Item = (&Atom, bool)> {
        let positive = self.positive.iter().map(|atom| (atom, false));
        positive.chain(self.negative.iter().map(|atom| (atom, true)))
    }

    /// Whether anything in it is negated.
    pub fn negates(&self) -> bool {
        !self.negative.is_empty() || !self.negated.is_empty()
    }

    /// Whether the variable is in an atom that must hold.
    pub fn binds(&self, id: VariableId) -> bool {
        self.positive.iter().any(|atom| atom.variables().any(|other| other == id))
    }

    /// Whether the variables form a tree: connected, one pair of neighbours less than variables,
    /// no loops, and no sub-query that ties several variables together or is not a tree itself.
    /// Exact search can answer such a branch.
    pub fn is_tree(&self) -> bool {
        let mut pairs: Vec<(VariableId, VariableId)> = Vec::new();
        for atom in self.positive.iter().chain(&self.negative) {
            if let (Term::Variable(a), Term::Variable(b)) = (atom.subject, atom.object) {
                if a == b {
                    return false;
                }
                pairs.push((a.min(b), a.max(b)));
            }
        }
        pairs.sort_unstable();
        pairs.dedup();
        let variables = self.variables();
        if self.negated.iter().any(|negated| negated.free().len() != 1 || !negated.branch.is_tree())
            || pairs.len() + 1 != variables.len()
        {
            return false;
        }
        // As many pairs as a tree has: then it is one exactly if it is connected.
        let mut reached = vec![variables[0]];
        let mut next = 0;
        while let Some(&at) = reached.get(next) {
            next += 1;
            for &(a, b) in &pairs {
                let other = if a == at {
                    b
                } else if b == at {
                    a
                } else {
                    continue;
                };
                if !reached.contains(&other) {
                    reached.push(other);
                }
            }
        }
        reached.len() == variables.len()
    }

    /// The number of atoms, those of sub-queries among them.
    pub fn atoms(&self) -> usize {
        let negated: usize = self.negated.iter().map(|negated| negated.branch.atoms()).sum();
        self.positive.len() + self.negative.len() + negated
    }

    /// The branch as a formula; its variables are free in it.
    pub fn formula(&self) -> Formula {
        let positive = self.positive.iter().map(|&atom| Formula::Atom(atom));
        let negative = self.negative.iter().map(|&atom| Formula::Atom(atom).negate());
        let negated = self
            .negated
            .iter()
            .map(|negated| Formula::exists(negated.bound.clone(), negated.branch.formula()).negate());
        Formula::and(positive.chain(negative).chain(negated))
    }

    /// Takes out the literals that mention none of these variables.
    pub(super) fn split_off(&mut self, own: &[VariableId]) -> Self {
        let is_foreign = |atom: &mut Atom| !atom.variables().any(|id| own.contains(&id));
        Self {
            positive: self.positive.extract_if(.., is_foreign).collect(),
            negative: self.negative.extract_if(.., is_foreign).collect(),
            negated: self
                .negated
                .extract_if(.., |negated| !negated.free().iter().any(|id| own.contains(id)))
                .collect(),
        }
    }

    /// The conjunction of two branches, every literal once.
    pub(super) fn joined(&self, other: &Self) -> Self {
        let mut both = self.clone();
        add(&mut both.positive, &other.positive);
        add(&mut both.negative, &other.negative);
        add(&mut both.negated, &other.negated);
        both
    }

    /// The variables that sub-queries bind, at any depth.
    pub(super) fn bound_below(&self, ids: &mut Vec<VariableId>) {
        for negated in &self.negated {
            ids.extend(&negated.bound);
            negated.branch.bound_below(ids);
        }
    }

    /// The same branch with other variables.
    pub(super) fn renamed(&self, new: &impl Fn(VariableId) -> VariableId) -> Self {
        let term = |term: Term| match term {
            Term::Variable(id) => Term::Variable(new(id)),
            entity @ Term::Entity(_) => entity,
        };
        let atoms = |atoms: &[Atom]| {
            let renamed =
                |atom: &Atom| Atom { subject: term(atom.subject), object: term(atom.object), ..*atom };
            atoms.iter().map(renamed).collect()
        };
        let negated = |negated: &Negated| Negated {
            bound: negated.bound.iter().map(|&id| new(id)).collect(),
            branch: negated.branch.renamed(new),
        };
        Self {
            positive: atoms(&self.positive),
            negative: atoms(&self.negative),
            negated: self.negated.iter().map(negated).collect(),
        }
    }

    /// The same branch with its literals sorted, so that equal sets are equal values.
    pub(super) fn sorted(&self) -> Self {
        let mut sorted = self.clone();
        sorted.positive.sort_unstable();
        sorted.negative.sort_unstable();
        for negated in &mut sorted.negated {
            negated.bound.sort_unstable();
            negated.branch = negated.branch.sorted();
        }
        sorted.negated.sort_unstable();
        sorted
    }
}

fn add<T: Clone + PartialEq>(into: &mut Vec<T>, more: &[T]) {
    for item in more {
        if !into.contains(item) {
            into.push(item.clone());
        }
    }
}
