//! Recognises branches that differ only in the names of their variables.

use std::hash::{Hash, Hasher};

use rustc_hash::{FxHashMap, FxHashSet, FxHasher};

use super::branch::Branch;
use crate::query::formula::{Atom, Term, VariableId};

/// The branch with its variables renamed by their role and its literals sorted. Two branches
/// with equal canonical forms are the same up to the names of variables outside `fixed`.
///
/// Roles are found by colour refinement: a variable's colour is made of those of its
/// neighbours, again and again. Some symmetric branches that are the same are not recognised
/// (graph isomorphism is not that easy); none that differ are confused.
pub(super) fn canonical(branch: &Branch, fixed: &[VariableId]) -> Branch {
    let (variables, colours) = colours(branch, fixed);
    let mut order: Vec<(u64, VariableId)> = colours.into_iter().zip(variables).collect();
    order.retain(|(_, id)| !fixed.contains(id));
    order.sort_unstable();
    let first = fixed.iter().map(|id| id.0 + 1).max().unwrap_or(0);
    let new: FxHashMap<VariableId, VariableId> =
        order.iter().enumerate().map(|(at, &(_, id))| (id, VariableId(first + at as u32))).collect();
    branch.renamed(&|id| new.get(&id).copied().unwrap_or(id)).sorted()
}

/// Whether two variables of a branch have the same role: then what is said of one is said of the
/// other, as in `∃V,U. p(a, V) ∧ q(V, A) ∧ p(a, U) ∧ q(U, A)`.
pub(super) fn has_twins(branch: &Branch, fixed: &[VariableId]) -> bool {
    let (variables, colours) = colours(branch, fixed);
    distinct(&colours) < variables.len()
}

/// The variables of a branch, those of its sub-queries among them, each with the colour of its role.
fn colours(branch: &Branch, fixed: &[VariableId]) -> (Vec<VariableId>, Vec<u64>) {
    let mut literals = Vec::new();
    collect(branch, 0, &mut literals);
    let mut variables: Vec<VariableId> = literals.iter().flat_map(|(_, atom)| atom.variables()).collect();
    variables.sort_unstable();
    variables.dedup();
    let index: FxHashMap<VariableId, usize> = variables.iter().copied().zip(0..).collect();
    let is_fixed = |id: &VariableId| fixed.iter().position(|it| it == id);
    let mut colours: Vec<u64> =
        variables.iter().map(|id| is_fixed(id).map_or(0, |at| at as u64 + 1)).collect();
    let mut different = distinct(&colours);
    let mut signs: Vec<Vec<u64>> = vec![Vec::new(); variables.len()];
    loop {
        for (kind, atom) in &literals {
            let colour = |term: Term| match term {
                Term::Entity(id) => (true, u64::from(id.0)),
                Term::Variable(id) => (false, colours[index[&id]]),
            };
            let seen = (kind, atom.relation, colour(atom.subject), colour(atom.object));
            for (side, term) in [atom.subject, atom.object].into_iter().enumerate() {
                if let Term::Variable(id) = term {
                    signs[index[&id]].push(hash(&(seen, side)));
                }
            }
        }
        for (colour, seen) in colours.iter_mut().zip(&mut signs) {
            seen.sort_unstable();
            *colour = hash(&(*colour, &*seen));
            seen.clear();
        }
        // Colours only ever split; once none does, none will.
        let now = distinct(&colours);
        if now == different {
            break;
        }
        different = now;
    }
    (variables, colours)
}

/// A number that branches with equal canonical forms share: their relations and entities.
pub(super) fn signature(branch: &Branch) -> u64 {
    let mut literals = Vec::new();
    collect(branch, 0, &mut literals);
    let entity = |term: Term| match term {
        Term::Entity(id) => Some(id),
        Term::Variable(_) => None,
    };
    let mut signs: Vec<_> = literals
        .iter()
        .map(|(kind, atom)| (*kind, atom.relation, entity(atom.subject), entity(atom.object)))
        .collect();
    signs.sort_unstable();
    hash(&signs)
}

/// All atoms, each with a number for its sign and for how many negations it stands in.
fn collect<'a>(branch: &'a Branch, depth: u32, literals: &mut Vec<(u32, &'a Atom)>) {
    literals.extend(branch.positive.iter().map(|atom| (2 * depth, atom)));
    literals.extend(branch.negative.iter().map(|atom| (2 * depth + 1, atom)));
    for negated in &branch.negated {
        collect(&negated.branch, depth + 1, literals);
    }
}

fn distinct(colours: &[u64]) -> usize {
    colours.iter().collect::<FxHashSet<_>>().len()
}

fn hash(value: &impl Hash) -> u64 {
    let mut hasher = FxHasher::default();
    value.hash(&mut hasher);
    hasher.finish()
}
