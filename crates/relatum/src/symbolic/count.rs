//! In how many ways entities are answers, counted for all of them at once.

use super::costs::{Gather, Valued, meet};
use super::patience::Patience;
use super::world::World;
use crate::graph::EntityId;
use crate::query::{Atom, Branch, Hop, NormalForm, Term, VariableId};

/// Entities with the number of assignments that make each what it is, ascending by entity.
pub(super) type Counts = Valued<u32>;

/// The answers of a query with the number of assignments that make each one, over all alternatives. None: the
/// patience is lost, or an alternative is no tree of positive atoms and must be searched.
///
/// On a tree the assignments below a variable are independent of each other, so that
/// `count(x) = Π over atoms p(y, x) of Σ over edges p(y, x) of count(y)`, which takes one visit to every edge.
pub(super) fn counts(query: &NormalForm, world: &World<'_>, patience: &Patience) -> Option<Counts> {
    let mut sum = Gather::sum(world.entities());
    for branch in &query.branches {
        for (id, count) in of_branch(branch, query, world, patience)? {
            sum.add(id, count);
        }
    }
    (!patience.is_lost()).then(|| sum.finish())
}

fn of_branch(branch: &Branch, query: &NormalForm, world: &World<'_>, patience: &Patience) -> Option<Counts> {
    if !branch.negative.is_empty() || !branch.negated.is_empty() {
        return None;
    }
    let mut tree = Tree {
        branch,
        world,
        patience,
        walked: vec![false; branch.positive.len()],
        visited: vec![false; query.variables.len()],
    };
    let counts = tree.below(query.target)?;
    // What the walk did not reach is a cycle, or has nothing to do with the target.
    tree.walked.iter().all(|&walked| walked).then_some(counts)
}

struct Tree<'a> {
    branch: &'a Branch,
    world: &'a World<'a>,
    patience: &'a Patience,
    walked: Vec<bool>,
    visited: Vec<bool>,
}

impl Tree<'_> {
    /// The values of a variable by the atoms below it; none where no anchor below it restricts them.
    fn below(&mut self, x: VariableId) -> Option<Counts> {
        self.visited[x.index()] = true;
        let mut counts: Option<Counts> = None;
        let mut open = Vec::new();
        for index in 0..self.branch.positive.len() {
            let atom = self.branch.positive[index];
            let Some((hop, from)) = atom.towards(x).filter(|_| !self.walked[index]) else { continue };
            self.walked[index] = true;
            let reached = match from {
                Term::Entity(anchor) => self.along(&[(anchor, 1)], hop),
                Term::Variable(y) if !self.visited[y.index()] => match self.below(y) {
                    Some(values) => self.along(&values, hop),
                    None if self.is_leaf(y) => {
                        open.push(hop);
                        continue;
                    }
                    None => return None,
                },
                // The atom closes a cycle, or is a loop.
                Term::Variable(_) => return None,
            };
            counts = Some(match counts {
                None => reached,
                Some(so_far) => meet(&so_far, &reached, u32::saturating_mul),
            });
        }
        let mut counts = counts?;
        for hop in open {
            // Every edge that ends here is a way of its own.
            counts.retain_mut(|(x, count)| {
                *count = count.saturating_mul(self.world.row_once(*x, hop.reversed()).count() as u32);
                *count > 0
            });
        }
        Some(counts)
    }

    /// Whether a variable stands in one atom only.
    fn is_leaf(&self, y: VariableId) -> bool {
        let of_y = |atom: &&Atom| atom.variables().any(|id| id == y);
        self.branch.positive.iter().filter(of_y).count() == 1
    }

    fn along(&self, values: &[(EntityId, u32)], hop: Hop) -> Counts {
        let mut sum = Gather::sum(self.world.entities());
        for &(y, count) in values.iter().take_while(|_| self.patience.step()) {
            self.world.row_once(y, hop).for_each(|x| sum.add(x, count));
        }
        sum.finish()
    }
}
