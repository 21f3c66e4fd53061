//! Mistakes that show only in a branch: unsafe negation, loose parts.

use crate::query::error::QueryError;
use crate::query::formula::{Atom, Variable, VariableId};
use crate::query::normal_form::{Branch, Negated, NormalForm};
use crate::query::place::Place;

/// Every mistake of every branch, each once.
pub(super) fn errors(normal_form: &NormalForm) -> Vec<QueryError> {
    let mut checker = Checker { variables: &normal_form.variables, errors: Vec::new() };
    for branch in &normal_form.branches {
        checker.ground(branch);
        if branch.variables().contains(&normal_form.target) {
            checker.negation(branch, &[]);
            checker.connection(branch, normal_form.target, &[normal_form.target]);
        } else {
            let name = normal_form.variable_name(normal_form.target).to_owned();
            checker.add(QueryError::TargetMissingInBranch { name, place: extent(branch) });
        }
    }
    checker.errors
}

/// Variables of closed branches that occur only under negation, each once.
pub(in crate::query) fn unsafe_negation(variables: &[Variable], branches: &[Branch]) -> Vec<QueryError> {
    let mut checker = Checker { variables, errors: Vec::new() };
    for branch in branches {
        checker.negation(branch, &[]);
    }
    checker.errors
}

struct Checker<'a> {
    variables: &'a [Variable],
    errors: Vec<QueryError>,
}

impl Checker<'_> {
    /// An error of an atom appears in every branch that has the atom; one is enough.
    fn add(&mut self, error: QueryError) {
        if !self.errors.contains(&error) {
            self.errors.push(error);
        }
    }

    fn ground(&mut self, branch: &Branch) {
        for atom in branch.positive.iter().chain(&branch.negative) {
            if atom.variables().next().is_none() {
                self.add(QueryError::Ground { place: atom.place });
            }
        }
        branch.negated.iter().for_each(|negated| self.ground(&negated.branch));
    }

    /// Every variable must be in a positive atom of this branch or, if it comes from outside, of one around it.
    fn negation(&mut self, branch: &Branch, outside: &[VariableId]) {
        for id in branch.variables() {
            if !branch.binds(id) && !outside.contains(&id) {
                let name = self.name(id);
                self.add(QueryError::Unsafe { name, place: first_place(branch, id) });
            }
        }
        for negated in &branch.negated {
            self.negation(&negated.branch, &negated.free());
        }
    }

    /// Every variable must be connected with one of `roots` by a chain of literals.
    fn connection(&mut self, branch: &Branch, target: VariableId, roots: &[VariableId]) {
        let mut reached = roots.to_vec();
        let groups: Vec<Vec<VariableId>> = literals(branch).collect();
        loop {
            let before = reached.len();
            for group in &groups {
                if group.iter().any(|id| reached.contains(id)) {
                    for &id in group {
                        if !reached.contains(&id) {
                            reached.push(id);
                        }
                    }
                }
            }
            if reached.len() == before {
                break;
            }
        }
        let loose: Vec<VariableId> =
            branch.variables().into_iter().filter(|id| !reached.contains(id)).collect();
        if let Some(&first) = loose.first() {
            let name = self.name(target);
            let variables = loose.iter().map(|&id| self.name(id)).collect();
            self.add(QueryError::Disconnected { target: name, variables, place: first_place(branch, first) });
        }
        for negated in &branch.negated {
            self.connection(&negated.branch, target, &negated.free());
        }
    }

    fn name(&self, id: VariableId) -> String {
        self.variables.get(id.index()).map_or_else(String::new, |variable| variable.name.clone())
    }
}

/// The variables of each literal.
fn literals(branch: &Branch) -> impl Iterator<Item = Vec<VariableId>> {
    let atoms = branch.positive.iter().chain(&branch.negative).map(|atom| atom.variables().collect());
    atoms.chain(branch.negated.iter().map(Negated::free))
}

/// The first atom that mentions a variable.
fn first_place(branch: &Branch, id: VariableId) -> Place {
    let mut atoms = Vec::new();
    all_atoms(branch, &mut atoms);
    let mentions = |atom: &&&Atom| atom.variables().any(|other| other == id);
    atoms.iter().find(mentions).map_or_else(|| extent(branch), |atom| atom.place)
}

/// From the first atom of a branch to its last.
fn extent(branch: &Branch) -> Place {
    let mut atoms = Vec::new();
    all_atoms(branch, &mut atoms);
    atoms.iter().map(|atom| atom.place).reduce(Place::to).unwrap_or_default()
}

fn all_atoms<'a>(branch: &'a Branch, atoms: &mut Vec<&'a Atom>) {
    atoms.extend(branch.positive.iter().chain(&branch.negative));
    branch.negated.iter().for_each(|negated| all_atoms(&negated.branch, atoms));
}
