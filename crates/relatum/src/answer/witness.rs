//! The witness against a negated sub-query: the values that make it truest.

use super::explanation::{assignment_of, atoms, value_of};
use super::{ExplainedAtom, Explanation};
use crate::plan::BranchPlan;
use crate::search::beam::{Assignment, Beam};
use crate::search::exact::Exact;
use crate::search::{AtomTruth, Logic, SearchError};

/// A negated sub-query under the assignment of the branch around it.
#[derive(Clone, Debug, PartialEq)]
pub struct SubQuery {
    /// How true it is at its best; an upper bound if the search was stopped, or did not need to know it
    /// more exactly.
    pub truth: f32,
    /// What enters the score: 1 − truth.
    pub value: f32,
    /// The values that make it truest; `None` if no values were found that make it true at all.
    pub witness: Option<Witness>,
}

/// An assignment with the truth of every atom under it: of a sub-query, the one that makes it truest.
#[derive(Clone, Debug, PartialEq)]
pub struct Witness {
    /// How true the sub-query is with this assignment: the t-norm of its atoms and sub-queries.
    pub score: f32,
    /// The values of the sub-query's own variables and of those that it shares.
    pub assignment: Assignment,
    /// Every atom of the sub-query.
    pub atoms: Vec<ExplainedAtom>,
    /// The sub-queries that are negated in it.
    pub sub_queries: Vec<SubQuery>,
}

/// Finds witnesses in the messages of an exact search, or else by a beam.
#[derive(Clone, Copy)]
pub(super) struct Witnesses<'a> {
    pub(super) truth: &'a dyn AtomTruth,
    pub(super) logic: Logic,
    pub(super) exact: Option<&'a Exact<'a>>,
    pub(super) beam: &'a Beam<'a>,
}

impl Witnesses<'_> {
    /// The negated sub-queries of a branch under an assignment.
    fn against(&self, branch: &BranchPlan, assignment: &Assignment) -> Result<Vec<SubQuery>, SearchError> {
        branch.negated.iter().map(|nested| self.sub_query(nested, assignment)).collect()
    }

    fn sub_query(&self, nested: &BranchPlan, outer: &Assignment) -> Result<SubQuery, SearchError> {
        let (truth, found) = match (self.exact, nested.root, value_of(outer, nested.target)) {
            (Some(exact), Some(root), Some(target)) => {
                let tree = nested.tree.as_ref();
                (exact.at_most(root, target), tree.and_then(|tree| assignment_of(exact, tree, target)))
            }
            _ => self.beam.sub_query(nested, outer)?,
        };
        let witness = found.map(|assignment| self.of(nested, assignment)).transpose()?;
        Ok(SubQuery { truth, value: 1.0 - truth, witness: witness.filter(|witness| witness.score > 0.0) })
    }

    /// A branch under an assignment: the truth of its atoms and sub-queries, folded.
    pub(super) fn of(&self, branch: &BranchPlan, assignment: Assignment) -> Result<Witness, SearchError> {
        let atoms = atoms(branch, self.truth, self.logic, &assignment);
        let sub_queries = self.against(branch, &assignment)?;
        let score = Explanation::fold(self.logic, &atoms, &sub_queries);
        Ok(Witness { score, assignment, atoms, sub_queries })
    }
}
