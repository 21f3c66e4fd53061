//! Disjunctive normal form: a question as alternatives, each a conjunction.
//!
//! Negation is pushed to the atoms. Where it meets a quantifier it stays: `¬∃V. φ` becomes a
//! *negated sub-query* of its branch, whose truth is 1 − the best score of `φ` over V. That is
//! the `pni` shape of the literature; negating the edge instead (`∃V. … ∧ ¬r(V, A)`) is another
//! question, and both can be asked.

mod branch;
mod canonical;
mod dnf;
#[cfg(test)]
mod tests;

pub use branch::{Branch, Negated};

use super::error::QueryError;
use super::formula::{Formula, Query, Variable, VariableId};
use super::syntax::{Around, Part};
use crate::graph::Graph;

/// What a query may grow to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// How many branches the normal form may have.
    pub branches: usize,
    /// How many atoms the formula may have.
    pub atoms: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { branches: 64, atoms: 512 }
    }
}

/// A query as alternatives: an entity is an answer if one of the branches holds for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NormalForm {
    /// The variable whose values are the answers.
    pub target: VariableId,
    /// All variables; those of the query first, copies that the normal form needed behind them.
    pub variables: Vec<Variable>,
    /// The alternatives, no two of them the same up to the names of variables.
    pub branches: Vec<Branch>,
}

impl Query {
    /// The disjunctive normal form.
    pub fn normal_form(&self, limits: Limits) -> Result<NormalForm, QueryError> {
        let (variables, branches) = alternatives(&self.variables, &self.formula, Some(self.target), limits)?;
        Ok(NormalForm { target: self.target, variables, branches })
    }
}

/// The alternatives of a formula, in which nothing but the target may be free, and their variables: those
/// of the formula first, copies behind them.
pub(super) fn alternatives(
    variables: &[Variable],
    formula: &Formula,
    target: Option<VariableId>,
    limits: Limits,
) -> Result<(Vec<Variable>, Vec<Branch>), QueryError> {
    let mut atoms = 0;
    formula.for_each_atom(&mut |_| atoms += 1);
    if atoms > limits.atoms {
        return Err(QueryError::TooLarge { what: "atoms", count: atoms, limit: limits.atoms });
    }
    dnf::alternatives(variables, formula, target.as_slice(), limits)
}

impl NormalForm {
    /// The name of a variable, without `?`.
    pub fn variable_name(&self, id: VariableId) -> &str {
        self.variables.get(id.index()).map_or("", |variable| variable.name.as_str())
    }

    /// The alternatives in a form that queries share which are the same but for the names of their
    /// variables and the order of their parts; see `canonical` for what it misses.
    pub(crate) fn canonical(&self) -> Vec<Branch> {
        let branches = self.branches.iter().map(|branch| canonical::canonical(branch, &[self.target]));
        let mut branches: Vec<Branch> = branches.collect();
        branches.sort_unstable();
        branches
    }

    /// A negated sub-query as it is written in a question, without its `not`.
    pub fn sub_query_text(&self, negated: &Negated, graph: &Graph) -> String {
        let formula = Formula::exists(negated.bound.clone(), negated.branch.formula());
        let query = Query { target: self.target, variables: self.variables.clone(), formula };
        Part { query: &query.named(graph), free: &negated.free(), around: Around::Not }.to_string()
    }

    /// Whether an alternative says something twice, of two variables with the same role.
    pub(crate) fn has_twins(&self) -> bool {
        self.branches.iter().any(|branch| canonical::has_twins(branch, &[self.target]))
    }

    /// The normal form as a query again, for printing and for comparison.
    pub fn to_query(&self) -> Query {
        let branches = self.branches.iter().map(|branch| {
            let bound = branch.variables().into_iter().filter(|&id| id != self.target).collect();
            Formula::exists(bound, branch.formula())
        });
        Query { target: self.target, variables: self.variables.clone(), formula: Formula::or(branches) }
    }
}
