//! Branches that differ only in the names of their variables, recognised.

use std::hash::{Hash, Hasher};

use rustc_hash::{FxHashMap, FxHasher};

use super::branch::Branch;
use crate::query::formula::{Atom, Term, VariableId};

/// The branch with its variables renamed by their role and its literals sorted. Two branches
/// with equal canonical forms are the same up to the names of variables outside `fixed`.
///
/// Roles are found by colour refinement: a variable's colour is made of those of its
/// neighbours, again and again. Some symmetric branches that are the same are not recognised
/// (graph isomorphism is not that easy); none that differ are confused.
pub(super) fn canonical(branch: &Branch, fixed: &[VariableId]) -> Branch {
    let mut literals = Vec::new();
    collect(branch, 0, &mut literals);
    let mut colours: FxHashMap<VariableId, u64> = FxHashMap::default();
    for (_, atom) in &literals {
        for id in atom.variables() {
            let fixed = fixed.iter().position(|&it| it == id);
            colours.insert(id, fixed.map_or(0, |at| at as u64 + 1));
        }
    }
    // A path as long as the number of variables carries the colours from one end to the other.
    for _ in 0..colours.len() {
        let mut signs: FxHashMap<VariableId, Vec<u64>> = FxHashMap::default();
        for (kind, atom) in &literals {
            for (side, term) in [atom.subject, atom.object].into_iter().enumerate() {
                if let Term::Variable(id) = term {
                    let seen = (
                        kind,
                        atom.relation,
                        side,
                        colour(&colours, atom.subject),
                        colour(&colours, atom.object),
                    );
                    signs.entry(id).or_default().push(hash(&seen));
                }
            }
        }
        for (id, mut seen) in signs {
            seen.sort_unstable();
            let old = colours[&id];
            colours.insert(id, hash(&(old, seen)));
        }
    }
    let mut order: Vec<VariableId> = colours.keys().copied().filter(|id| !fixed.contains(id)).collect();
    order.sort_unstable_by_key(|id| (colours[id], *id));
    let first = fixed.iter().map(|id| id.0 + 1).max().unwrap_or(0);
    let new: FxHashMap<VariableId, VariableId> =
        order.iter().enumerate().map(|(at, &id)| (id, VariableId(first + at as u32))).collect();
    branch.renamed(&|id| new.get(&id).copied().unwrap_or(id)).sorted()
}

/// All atoms with a number that says how: positive or not, in how many negations.
fn collect<'a>(branch: &'a Branch, depth: u32, literals: &mut Vec<(u32, &'a Atom)>) {
    literals.extend(branch.positive.iter().map(|atom| (2 * depth, atom)));
    literals.extend(branch.negative.iter().map(|atom| (2 * depth + 1, atom)));
    for negated in &branch.negated {
        collect(&negated.branch, depth + 1, literals);
    }
}

fn colour(colours: &FxHashMap<VariableId, u64>, term: Term) -> (bool, u64) {
    match term {
        Term::Entity(id) => (true, u64::from(id.0)),
        Term::Variable(id) => (false, colours[&id]),
    }
}

fn hash(value: &impl Hash) -> u64 {
    let mut hasher = FxHasher::default();
    value.hash(&mut hasher);
    hasher.finish()
}
