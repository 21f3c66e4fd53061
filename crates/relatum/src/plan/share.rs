//! Steps that two branches begin with.

use super::branch::{BranchPlan, Factor, Step};
use crate::query::{Term, VariableId};

/// Marks every step that leaves the same states as a step of an earlier branch: the same factors
/// at every step so far, and the same variables needed later.
pub(super) fn mark_common_steps(branches: &mut [BranchPlan]) {
    for index in 1..branches.len() {
        let (earlier, rest) = branches.split_at_mut(index);
        let branch = &mut rest[0];
        for step in 0..branch.steps.len() {
            let same = |other: &BranchPlan| {
                other.steps.len() > step && (0..=step).all(|at| is_same(branch, other, at))
            };
            match earlier.iter().position(same) {
                Some(other) => branch.steps[step].same_as = Some((other, step)),
                None => break,
            }
        }
    }
}

fn is_same(a: &BranchPlan, b: &BranchPlan, at: usize) -> bool {
    let (left, right) = (&a.steps[at], &b.steps[at]);
    let needed =
        |plan: &BranchPlan, step: &Step| step.needed.iter().map(|&id| number(plan, id)).collect::<Vec<_>>();
    left.factors.len() == right.factors.len()
        && (left.variable == a.target) == (right.variable == b.target)
        && left.factors.iter().zip(&right.factors).all(|(x, y)| is_same_factor(a, x, b, y))
        && needed(a, left) == needed(b, right)
}

fn is_same_factor(a: &BranchPlan, x: &Factor, b: &BranchPlan, y: &Factor) -> bool {
    match (x, y) {
        (Factor::Row { from, hop, negated }, Factor::Row { from: other, hop: hop2, negated: negated2 }) => {
            let from = match (*from, *other) {
                (Term::Entity(e), Term::Entity(f)) => e == f,
                (Term::Variable(v), Term::Variable(w)) => number(a, v) == number(b, w),
                _ => false,
            };
            from && hop == hop2 && negated == negated2
        }
        // Sub-queries have variables of their own; those that are trees are shared as messages.
        (Factor::Negated(_), _) | (_, Factor::Negated(_)) => false,
        _ => x == y,
    }
}

/// A variable by the step that binds it: equal in two branches if it has the same part in both.
fn number(plan: &BranchPlan, id: VariableId) -> Option<usize> {
    plan.steps.iter().position(|step| step.variable == id)
}
