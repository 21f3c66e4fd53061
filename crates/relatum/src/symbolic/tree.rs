//! One branch, solved set by set from its anchors to its target.

use super::costs::{Costs, Gather, contains, meet, plus};
use super::patience::Patience;
use super::search::Search;
use super::world::World;
use crate::graph::EntityId;
use crate::query::{Branch, Hop, Term, VariableId};

/// The values of `target` for which a branch is true, with their least costs.
///
/// The positive atoms are walked as a tree with the target at its root:
/// `cost(x) = Σ over atoms p(y, x) of min over y of cost(y) + cost of the edge p(y, x)`.
/// Where the branch is more than such a tree, these are candidates, and a search decides.
pub(super) fn solve(
    branch: &Branch,
    target: VariableId,
    variables: usize,
    world: &World<'_>,
    patience: &Patience,
) -> Costs {
    let mut tree = Tree {
        branch,
        world,
        patience,
        variables,
        walked: vec![false; branch.positive.len()],
        refused: vec![false; branch.negative.len()],
        excluded: vec![false; branch.negated.len()],
        domains: vec![None; variables],
        visited: vec![false; variables],
    };
    let domain = tree.domain(target);
    let settled = [&tree.walked, &tree.refused, &tree.excluded].into_iter().flatten().all(|&done| done);
    match domain {
        Domain::Of(costs) if settled => costs,
        domain => {
            let candidates: Costs = match domain {
                Domain::Of(costs) => costs,
                Domain::Any => world.ids().map(|id| (id, 0)).collect(),
            };
            let search = Search::new(branch, world, patience, &tree.domains);
            let cost = |&(id, _): &(EntityId, u8)| Some((id, search.cheapest(target, id)?.0));
            candidates.iter().take_while(|_| patience.step()).filter_map(cost).collect()
        }
    }
}

/// What a variable can be, as far as the tree below it says.
enum Domain {
    /// Nothing restricts it.
    Any,
    Of(Costs),
}

struct Tree<'a> {
    branch: &'a Branch,
    world: &'a World<'a>,
    patience: &'a Patience,
    variables: usize,
    /// Which positive atoms are part of the tree, which negative ones and sub-queries have been
    /// applied; the others are left to the search.
    walked: Vec<bool>,
    refused: Vec<bool>,
    excluded: Vec<bool>,
    domains: Vec<Option<Costs>>,
    visited: Vec<bool>,
}

impl Tree<'_> {
    fn domain(&mut self, x: VariableId) -> Domain {
        self.visited[x.index()] = true;
        let mut domain: Option<Costs> = None;
        let mut loose = Vec::new();
        let mut restrict = |set: Costs| {
            domain = Some(match domain.take() {
                None => set,
                Some(so_far) => meet(&so_far, &set, plus),
            });
        };
        for index in 0..self.branch.positive.len() {
            let atom = self.branch.positive[index];
            let Some((hop, from)) = atom.towards(x).filter(|_| !self.walked[index]) else { continue };
            match from {
                Term::Entity(anchor) => {
                    self.walked[index] = true;
                    let mut row = Gather::least(self.world.entities());
                    self.world.row(anchor, hop).for_each(|(id, cost)| row.add(id, cost));
                    restrict(row.finish());
                }
                Term::Variable(y) if !self.visited[y.index()] => {
                    self.walked[index] = true;
                    match self.domain(y) {
                        Domain::Any => loose.push(hop),
                        Domain::Of(set) => restrict(self.image(&set, hop)),
                    }
                }
                // The atom closes a cycle, or is a loop.
                Term::Variable(_) => {}
            }
        }
        for hop in loose {
            domain = Some(self.reached_from_anywhere(domain.take(), hop));
        }
        let Some(mut set) = domain else { return Domain::Any };
        self.apply_negation(x, &mut set);
        self.domains[x.index()] = Some(set.clone());
        Domain::Of(set)
    }

    fn image(&self, set: &Costs, hop: Hop) -> Costs {
        let mut image = Gather::least(self.world.entities());
        for &(y, cost) in set.iter().take_while(|_| self.patience.step()) {
            self.world.row(y, hop).for_each(|(x, edge)| image.add(x, plus(cost, edge)));
        }
        image.finish()
    }

    /// Those of the candidates, or of all entities, to which the hop leads from some entity.
    fn reached_from_anywhere(&self, candidates: Option<Costs>, hop: Hop) -> Costs {
        let least = |x: EntityId| self.world.row(x, hop.reversed()).map(|(_, cost)| cost).min();
        let candidates = candidates.unwrap_or_else(|| self.world.ids().map(|x| (x, 0)).collect());
        let left = candidates.into_iter().take_while(|_| self.patience.step());
        left.filter_map(|(x, cost)| Some((x, plus(cost, least(x)?)))).collect()
    }

    /// Removes the entities that are excluded by negated atoms with an anchor, or by negated sub-queries about
    /// `x` alone.
    fn apply_negation(&mut self, x: VariableId, set: &mut Costs) {
        for (atom, refused) in self.branch.negative.iter().zip(&mut self.refused) {
            if let Some((hop, Term::Entity(anchor))) = atom.towards(x) {
                *refused = true;
                set.retain(|&(id, _)| self.world.cost(hop.edge(anchor, id)).is_none());
            }
        }
        for (negated, excluded) in self.branch.negated.iter().zip(&mut self.excluded) {
            if negated.free() == [x] && negated.branch.binds(x) {
                *excluded = true;
                let answers = solve(&negated.branch, x, self.variables, self.world, self.patience);
                set.retain(|&(id, _)| !contains(&answers, id));
            }
        }
    }
}
