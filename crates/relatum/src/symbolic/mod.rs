//! Answers by stored edges alone: what follows from a graph without any prediction.
//!
//! A branch of the normal form is solved from its anchors to its target, set by set, along the
//! rows of the adjacency; what a tree of sets cannot say (cycles, negated atoms between two
//! variables) is searched for afterwards, answer by answer. So the work follows the edges that a
//! query touches, not the number of entities.

mod costs;
mod patience;
mod search;
#[cfg(test)]
mod tests;
mod tree;
mod world;

pub use world::World;

use crate::graph::EntityId;
use crate::query::{NormalForm, VariableId};
use crate::search::Budget;
use patience::Patience;
use search::Search;

/// The entities for which a query is true in a world, ascending.
///
/// ```
/// use relatum::graph::{GraphBuilder, Split};
/// use relatum::query::{Limits, Syntax, read};
/// use relatum::symbolic::{World, answers};
///
/// let mut builder = GraphBuilder::default();
/// builder.add(Split::Train, "Bad Boys", "stars", "Martin Lawrence");
/// builder.add(Split::Train, "Bad Boys", "genre", "comedy");
/// builder.add(Split::Test, "Bad Boys", "genre", "thriller");
/// let (graph, _) = builder.finish();
/// let text = r#"?G : exists F. stars(F, "Martin Lawrence") and genre(F, G)"#;
/// let query = read(text, Syntax::Text, &graph, Limits::default())?.checked.normal_form;
/// assert_eq!(answers(&query, &World::of(&graph, &[Split::Train])).len(), 1);
/// assert_eq!(answers(&query, &World::of(&graph, &Split::ALL)).len(), 2);
/// # Ok::<(), relatum::query::Mistakes>(())
/// ```
pub fn answers(query: &NormalForm, world: &World<'_>) -> Vec<EntityId> {
    cheapest(query, world).into_iter().map(|(id, _)| id).collect()
}

/// The same, but only until the time of a budget is up. None: it was up before all were found.
pub fn answers_within(query: &NormalForm, world: &World<'_>, budget: Budget) -> Option<Vec<EntityId>> {
    let patience = Patience::new(budget);
    let found = cheapest_within(query, world, &patience);
    (!patience.is_lost()).then(|| found.into_iter().map(|(id, _)| id).collect())
}

/// Why an entity is an answer in a world: the alternative by which it is one, and the values of that
/// alternative's variables. None: it is no answer, or the time of a budget was up before that was found.
pub fn reason(
    query: &NormalForm,
    world: &World<'_>,
    answer: EntityId,
    budget: Budget,
) -> Option<(usize, Vec<(VariableId, EntityId)>)> {
    let patience = Patience::new(budget);
    let domains = vec![None; query.variables.len()];
    query.branches.iter().enumerate().find_map(|(which, branch)| {
        let (_, values) = Search::new(branch, world, &patience, &domains).cheapest(query.target, answer)?;
        let value = |id: VariableId| Some((id, values[id.index()]?));
        Some((which, branch.variables().into_iter().filter_map(value).collect()))
    })
}

/// The answers of a query, ascending, each with the smallest cost of an assignment that makes it
/// one: how many of the query's positive atoms stand for edges that cost something in this world.
/// Of several alternatives the cheapest counts; negated atoms cost nothing.
pub fn cheapest(query: &NormalForm, world: &World<'_>) -> Vec<(EntityId, u8)> {
    cheapest_within(query, world, &Patience::new(Budget::default()))
}

fn cheapest_within(query: &NormalForm, world: &World<'_>, patience: &Patience) -> Vec<(EntityId, u8)> {
    let solve = |branch| tree::solve(branch, query.target, query.variables.len(), world, patience);
    query.branches.iter().map(solve).reduce(costs::union).unwrap_or_default()
}
