//! Distributes ∧ over ∨ and pushes ¬ inwards.

use rustc_hash::FxHashSet;

use super::branch::{Branch, Negated};
use super::canonical::canonical;
use super::{Limits, NormalForm};
use crate::query::error::QueryError;
use crate::query::formula::{Formula, Query, Variable, VariableId};

pub(super) fn normal_form(query: &Query, limits: Limits) -> Result<NormalForm, QueryError> {
    let mut builder = Builder { variables: query.variables.clone(), scope: vec![query.target], limits };
    let mut branches = builder.branches(&query.formula, false)?;
    let mut seen = FxHashSet::default();
    branches.retain(|branch| seen.insert(canonical(branch, &[query.target])));
    if branches.len() > limits.branches {
        return Err(too_many(branches.len(), true, limits));
    }
    Ok(NormalForm { target: query.target, variables: builder.variables, branches })
}

struct Builder {
    variables: Vec<Variable>,
    /// The variables that the formula at hand may mention from outside.
    scope: Vec<VariableId>,
    limits: Limits,
}

impl Builder {
    /// The branches of a formula, or of its negation. Variables that the formula quantifies
    /// become variables of the branches: every binder has ids of its own, so none is captured.
    fn branches(&mut self, formula: &Formula, negate: bool) -> Result<Vec<Branch>, QueryError> {
        match (formula, negate) {
            (Formula::Atom(atom), false) => Ok(vec![Branch { positive: vec![*atom], ..Branch::default() }]),
            (Formula::Atom(atom), true) => Ok(vec![Branch { negative: vec![*atom], ..Branch::default() }]),
            (Formula::Not(inner), _) => self.branches(inner, !negate),
            (Formula::And(parts), false) | (Formula::Or(parts), true) => {
                let mut product = vec![Branch::default()];
                let mut seen = FxHashSet::default();
                for part in parts.iter().filter(|&part| seen.insert(part)) {
                    let branches = self.branches(part, negate)?;
                    product = self.product(&product, &branches)?;
                }
                Ok(product)
            }
            (Formula::Or(parts), false) | (Formula::And(parts), true) => {
                let mut union = Vec::new();
                for part in parts {
                    union.extend(self.branches(part, negate)?);
                    self.within_reason(union.len())?;
                }
                Ok(distinct(union))
            }
            (Formula::Exists(variables, body), negate) => {
                let outside = self.scope.len();
                self.scope.extend(variables);
                let inner = self.branches(body, false);
                self.scope.truncate(outside);
                if negate { self.none_of(inner?) } else { inner }
            }
        }
    }

    /// `¬(B1 ∨ B2 ∨ …)`, where the Bi may have variables of their own.
    fn none_of(&mut self, branches: Vec<Branch>) -> Result<Vec<Branch>, QueryError> {
        let mut product = vec![Branch::default()];
        for (index, mut branch) in branches.into_iter().enumerate() {
            let mut own = branch.variables();
            own.retain(|id| !self.scope.contains(id));
            let negation = if own.is_empty() {
                negated_literals(&branch)
            } else {
                if index > 0 {
                    // A copy gets variables of its own, or un-negating two copies would join them.
                    branch = self.fresh_copy(&branch, &mut own);
                }
                vec![Branch { negated: vec![Negated { bound: own, branch }], ..Branch::default() }]
            };
            product = self.product(&product, &negation)?;
        }
        Ok(product)
    }

    /// The branch with new variables for its own ones and for those of its sub-queries.
    fn fresh_copy(&mut self, branch: &Branch, own: &mut [VariableId]) -> Branch {
        let mut old = own.to_vec();
        branch.bound_below(&mut old);
        let first = self.variables.len();
        for id in &old {
            self.variables.push(self.variables[id.index()].clone());
        }
        let new = |id: VariableId| {
            let at = old.iter().position(|&it| it == id);
            at.map_or(id, |at| VariableId((first + at) as u32))
        };
        for id in own.iter_mut() {
            *id = new(*id);
        }
        branch.renamed(&new)
    }

    fn product(&self, left: &[Branch], right: &[Branch]) -> Result<Vec<Branch>, QueryError> {
        self.within_reason(left.len().saturating_mul(right.len()))?;
        Ok(distinct(left.iter().flat_map(|a| right.iter().map(|b| a.joined(b))).collect()))
    }

    /// Branches that merge later may pass through larger numbers, but not through any number.
    fn within_reason(&self, count: usize) -> Result<(), QueryError> {
        let most = self.limits.branches.saturating_mul(16);
        if count > most { Err(too_many(count, false, self.limits)) } else { Ok(()) }
    }
}

/// `¬(l1 ∧ l2 ∧ …)`: one branch for each literal. A negated sub-query becomes a positive part.
fn negated_literals(branch: &Branch) -> Vec<Branch> {
    let positive = branch.positive.iter().map(|&atom| Branch { negative: vec![atom], ..Branch::default() });
    let negative = branch.negative.iter().map(|&atom| Branch { positive: vec![atom], ..Branch::default() });
    let negated = branch.negated.iter().map(|negated| negated.branch.clone());
    positive.chain(negative).chain(negated).collect()
}

/// Every branch once, where branches with the same literals are the same.
fn distinct(mut branches: Vec<Branch>) -> Vec<Branch> {
    if branches.len() > 1 {
        let mut seen = FxHashSet::default();
        branches.retain(|branch| seen.insert(branch.sorted()));
    }
    branches
}

fn too_many(count: usize, exact: bool, limits: Limits) -> QueryError {
    QueryError::TooManyBranches { count, exact, limit: limits.branches }
}
