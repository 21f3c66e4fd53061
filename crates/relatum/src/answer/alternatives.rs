//! Other assignments for the same answers, from the messages of an exact search.

use super::explanation::{ALTERNATIVES, assignment_of};
use crate::graph::{EntityId, Id};
use crate::plan::{BranchPlan, Message, MessageId, Plan, TreeNode};
use crate::search::beam::Assignment;
use crate::search::exact::Exact;
use crate::search::{AtomTruth, Logic, SearchError, best, rows};

/// How many values of a variable are tried.
const TRIED: usize = 32;

/// For each answer the best assignments that differ in one variable next to the target: for each of
/// its values, what is further away is at its best.
pub(super) fn of_tree(
    plan: &Plan,
    branch: &BranchPlan,
    truth: &dyn AtomTruth,
    logic: Logic,
    exact: &Exact<'_>,
    answers: &[EntityId],
) -> Result<Vec<Vec<(Assignment, f32)>>, SearchError> {
    let mut found: Vec<Vec<(Assignment, f32)>> = vec![Vec::new(); answers.len()];
    let (Some(root), Some(tree)) = (branch.root, &branch.tree) else { return Ok(found) };
    let search = Search { plan, truth, logic, exact };
    for (message, child) in &tree.children {
        let values = search.values(*message, answers)?;
        for (place, &answer) in answers.iter().enumerate() {
            let Some(assignment) = assignment_of(exact, tree, answer) else { continue };
            let rest = search.rest(root, *message, answer);
            for &(value, truth) in &values[place] {
                let Some(others) = assignment_of(exact, child, value) else { continue };
                let mut other = assignment.clone();
                replace(&mut other, &others, child);
                found[place].push((other, logic.t_norm.and(rest, truth)));
            }
        }
    }
    for all in &mut found {
        all.retain(|(_, score)| *score > 0.0);
        all.sort_by(|a, b| b.1.total_cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        all.dedup_by(|a, b| a.0 == b.0);
        all.truncate(ALTERNATIVES + 1);
    }
    Ok(found)
}

struct Search<'a> {
    plan: &'a Plan,
    truth: &'a dyn AtomTruth,
    logic: Logic,
    exact: &'a Exact<'a>,
}

impl Search<'_> {
    /// For each answer x the best values y at the other end of a message, with `m(y) ⊤ φ`.
    fn values(
        &self,
        message: MessageId,
        answers: &[EntityId],
    ) -> Result<Vec<Vec<(EntityId, f32)>>, SearchError> {
        let n = self.truth.entities();
        let t_norm = self.logic.t_norm;
        let mut buffers = Default::default();
        match &self.plan.messages[message.index()] {
            Message::Project { source, hops, .. } => {
                let tried = best(self.exact.values(*source), TRIED, |_| true);
                let from: Vec<EntityId> = tried.iter().map(|&(y, _)| y).collect();
                rows::of(self.truth, self.logic, &from, hops, &mut buffers)?;
                let of_answer = |x: &EntityId| {
                    let values = tried.iter().zip(buffers.0.chunks_exact(n));
                    values.map(|(&(y, value), row)| (y, t_norm.and(value, row[x.index()]))).collect()
                };
                Ok(answers.iter().map(of_answer).collect())
            }
            Message::Look { hops, inner } => {
                let inner = self.exact.values(*inner);
                rows::of(self.truth, self.logic, answers, hops, &mut buffers)?;
                let of_answer = |row: &[f32]| {
                    let joint: Vec<f32> = row.iter().zip(inner).map(|(&a, &b)| t_norm.and(a, b)).collect();
                    best(&joint, ALTERNATIVES + 1, |_| true)
                };
                Ok(buffers.0.chunks_exact(n).map(of_answer).collect())
            }
            _ => Ok(vec![Vec::new(); answers.len()]),
        }
    }

    /// What everything but one message says of an answer.
    fn rest(&self, root: MessageId, message: MessageId, answer: EntityId) -> f32 {
        let Message::Meet(parts) = &self.plan.messages[root.index()] else { return 1.0 };
        // The same message may stand twice, for two variables: only one of them is left out.
        let left_out = parts.iter().position(|part| *part == message);
        let rest = parts.iter().enumerate().filter(|(index, _)| Some(*index) != left_out);
        self.logic.t_norm.all(rest.map(|(_, part)| self.exact.value(*part, answer)))
    }
}

fn replace(assignment: &mut Assignment, others: &Assignment, child: &TreeNode) {
    for (id, value) in assignment.iter_mut() {
        if let Some(&(_, other)) = others.iter().find(|(variable, _)| variable == id) {
            *value = other;
        }
    }
    debug_assert!(assignment.iter().any(|(id, _)| *id == child.variable));
}
