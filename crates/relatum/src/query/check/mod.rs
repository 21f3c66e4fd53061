//! Checks whether a question can be answered, and whether it is one of the paper's.

mod branch;
mod validity;

pub(super) use branch::unsafe_negation;
pub use validity::{Note, Validity};

use super::error::QueryError;
use super::formula::{Formula, Query, Variable, VariableId};
use super::normal_form::{Limits, NormalForm};
use super::shapes::Shape;

/// A query that can be answered, with what is known about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checked {
    /// The query.
    pub query: Query,
    /// Its alternatives.
    pub normal_form: NormalForm,
    /// The shape of the literature that it has; `None` is shown as `general`.
    pub shape: Option<Shape>,
    /// Whether it is one of the paper's *valid* queries, and what is beyond them.
    pub validity: Validity,
}

impl Query {
    /// Brings the query into normal form and finds every mistake that would keep an engine
    /// from answering it: variables that nothing binds, a missing target, unsafe negation,
    /// parts that are not connected, too many alternatives.
    pub fn check(self, limits: Limits) -> Result<Checked, Vec<QueryError>> {
        let unused = unused_variables(&self.variables, &self.formula, Some(self.target));
        if !unused.is_empty() {
            return Err(unused);
        }
        let normal_form = self.normal_form(limits).map_err(|error| vec![error])?;
        let errors = branch::errors(&normal_form);
        if !errors.is_empty() {
            return Err(errors);
        }
        let validity = Validity::of(&normal_form);
        let shape = Shape::of(&normal_form);
        Ok(Checked { query: self, normal_form, shape, validity })
    }
}

/// The variables that no atom uses.
pub(super) fn unused_variables(
    variables: &[Variable],
    formula: &Formula,
    target: Option<VariableId>,
) -> Vec<QueryError> {
    let mut used = vec![false; variables.len()];
    formula.for_each_atom(&mut |atom| atom.variables().for_each(|id| used[id.index()] = true));
    let unused = variables.iter().enumerate().filter(|(index, _)| !used[*index]);
    let error = |(index, variable): (usize, &Variable)| {
        let (name, place) = (variable.name.clone(), variable.place);
        if target.is_some_and(|target| target.index() == index) {
            QueryError::TargetMissing { name, place }
        } else {
            QueryError::NeverBound { name, place }
        }
    };
    unused.map(error).collect()
}
