//! Distributes ∧ over ∨ and pushes ¬ inwards.

use rustc_hash::{FxHashMap, FxHashSet};

use super::Limits;
use super::branch::{Branch, Negated};
use super::canonical::{canonical, signature};
use crate::query::error::QueryError;
use crate::query::formula::{Formula, Variable, VariableId};

/// The branches of a formula with these free variables, and all variables of theirs.
pub(super) fn alternatives(
    variables: &[Variable],
    formula: &Formula,
    free: &[VariableId],
    limits: Limits,
) -> Result<(Vec<Variable>, Vec<Branch>), QueryError> {
    let mut builder = Builder { variables: variables.to_vec(), scope: free.to_vec(), limits };
    let mut branches = builder.branches(formula, false)?;
    merge_equal(&mut branches, free, limits)?;
    for branch in &mut branches {
        let mut taken = branch.variables().into_iter().collect();
        builder.give_one_role(branch, &mut taken);
    }
    Ok((builder.variables, branches))
}

/// Keeps one of the branches that are the same up to the names of variables.
fn merge_equal(branches: &mut Vec<Branch>, free: &[VariableId], limits: Limits) -> Result<(), QueryError> {
    // Most branches differ already in their relations and entities, which is quick to see.
    let signs: Vec<u64> = branches.iter().map(signature).collect();
    let mut alike: FxHashMap<u64, usize> = FxHashMap::default();
    for &sign in &signs {
        *alike.entry(sign).or_default() += 1;
    }
    if alike.len() > limits.branches {
        return Err(too_many(alike.len(), alike.len() == branches.len(), limits));
    }
    let mut seen = FxHashSet::default();
    let mut signs = signs.into_iter();
    branches.retain(|branch| {
        let alone = signs.next().is_some_and(|sign| alike[&sign] == 1);
        alone || seen.insert(canonical(branch, free))
    });
    if branches.len() > limits.branches { Err(too_many(branches.len(), true, limits)) } else { Ok(()) }
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
                    self.within_reason(union.len(), atoms(&union))?;
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
            // ¬∃V.(φ(V) ∧ ψ) is ¬∃V.φ(V) ∨ ¬ψ: a sub-query has only literals with variables of its own.
            let rest = branch.split_off(&own);
            let mut negation = negated_literals(&rest);
            if !own.is_empty() {
                if index > 0 {
                    // A copy gets variables of its own, or un-negating two copies would join them.
                    branch = self.fresh_copy(&branch, &mut own);
                }
                let negated = vec![Negated { bound: own, branch }];
                negation.insert(0, Branch { negated, ..Branch::default() });
            }
            product = self.product(&product, &negation)?;
        }
        Ok(product)
    }

    /// The branch with new variables for its own ones and for those of its sub-queries.
    fn fresh_copy(&mut self, branch: &Branch, own: &mut [VariableId]) -> Branch {
        let mut old = own.to_vec();
        branch.bound_below(&mut old);
        let new = self.fresh(&old);
        let new = |id: VariableId| new.get(&id).copied().unwrap_or(id);
        for id in own.iter_mut() {
            *id = new(*id);
        }
        branch.renamed(&new)
    }

    /// New variables of the same names.
    fn fresh(&mut self, old: &[VariableId]) -> FxHashMap<VariableId, VariableId> {
        let mut new = FxHashMap::default();
        for &id in old {
            new.entry(id).or_insert_with(|| {
                self.variables.push(self.variables[id.index()].clone());
                VariableId(self.variables.len() as u32 - 1)
            });
        }
        new
    }

    /// Renames what sub-queries bind where a branch has the same variable elsewhere: a sub-query
    /// that was un-negated in one place may be left as it was in another.
    fn give_one_role(&mut self, branch: &mut Branch, taken: &mut FxHashSet<VariableId>) {
        for negated in &mut branch.negated {
            let twice: Vec<VariableId> =
                negated.bound.iter().copied().filter(|&id| !taken.insert(id)).collect();
            if !twice.is_empty() {
                let new = self.fresh(&twice);
                taken.extend(new.values());
                let new = |id: VariableId| new.get(&id).copied().unwrap_or(id);
                for id in &mut negated.bound {
                    *id = new(*id);
                }
                negated.branch = negated.branch.renamed(&new);
            }
            self.give_one_role(&mut negated.branch, taken);
        }
    }

    fn product(&self, left: &[Branch], right: &[Branch]) -> Result<Vec<Branch>, QueryError> {
        let literals = atoms(left) * right.len() + atoms(right) * left.len();
        self.within_reason(left.len().saturating_mul(right.len()), literals)?;
        Ok(distinct(left.iter().flat_map(|a| right.iter().map(|b| a.joined(b))).collect()))
    }

    /// Refuses a normal form that grows too large. Since equal branches merge later, more branches than the limit
    /// may exist for a while, but at most 16 times as many.
    fn within_reason(&self, count: usize, atoms: usize) -> Result<(), QueryError> {
        let most = self.limits.branches.saturating_mul(16);
        if count > most {
            return Err(too_many(count, false, self.limits));
        }
        // Negation copies atoms, and nested negation copies the copies: few branches may have many atoms.
        let limit = self.limits.atoms.saturating_mul(self.limits.branches);
        if atoms > limit {
            return Err(QueryError::TooLarge { what: "atoms in normal form", count: atoms, limit });
        }
        Ok(())
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

fn atoms(branches: &[Branch]) -> usize {
    branches.iter().map(Branch::atoms).sum()
}

fn too_many(count: usize, exact: bool, limits: Limits) -> QueryError {
    QueryError::TooManyBranches { count, exact, limit: limits.branches }
}
