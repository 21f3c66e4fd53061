//! Answers by stored edges alone: what follows from a graph without any prediction.
//!
//! A branch of the normal form is solved from its anchors to its target, set by set, along the
//! rows of the adjacency; what a tree of sets cannot say (cycles, negated atoms between two
//! variables) is searched for afterwards, answer by answer. So the work follows the edges that a
//! query touches, not the number of entities.

mod costs;
mod count;
mod patience;
mod search;
#[cfg(test)]
mod tests;
mod tree;
mod world;

pub use world::World;

use crate::control::Control;
use crate::graph::EntityId;
use crate::query::{NormalForm, VariableId};
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

/// The same, but only until the time is up; `None` if it was up before all answers were found.
pub fn answers_within(query: &NormalForm, world: &World<'_>, control: &Control) -> Option<Vec<EntityId>> {
    let patience = Patience::new(control);
    let found = cheapest_within(query, world, &patience);
    (!patience.is_lost()).then(|| found.into_iter().map(|(id, _)| id).collect())
}

/// One way in which an entity is an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reason {
    /// The alternative by which it is one.
    pub branch: usize,
    /// The values of that alternative's variables.
    pub assignment: Vec<(VariableId, EntityId)>,
}

/// Why an entity is an answer in a world, in at most `most` ways, those of the first alternatives first.
/// There are fewer if no more exist or the time was up.
pub fn reasons(
    query: &NormalForm,
    world: &World<'_>,
    answer: EntityId,
    most: usize,
    control: &Control,
) -> Vec<Reason> {
    let patience = Patience::new(control);
    let domains = vec![None; query.variables.len()];
    let mut reasons = Vec::new();
    for (which, branch) in query.branches.iter().enumerate() {
        let search = Search::new(branch, world, &patience, &domains);
        for values in search.assignments(query.target, answer, most - reasons.len()) {
            let value = |id: VariableId| Some((id, values[id.index()]?));
            let assignment = branch.variables().into_iter().filter_map(value).collect();
            reasons.push(Reason { branch: which, assignment });
        }
    }
    reasons
}

/// In how many ways something follows from stored edges.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Ways {
    /// How many were counted.
    pub count: usize,
    /// Whether counting stopped there, and there may be more.
    pub more: bool,
}

/// The answers of a query in a world, ascending, with the number of ways in which each is one, counted up to
/// `most`; `None` if the time was up or if the query is not a union of trees without negation, whose ways can be
/// counted all at once; [`ways`] counts any query answer by answer.
pub fn answers_with_ways(
    query: &NormalForm,
    world: &World<'_>,
    most: usize,
    control: &Control,
) -> Option<Vec<(EntityId, Ways)>> {
    let counted = count::counts(query, world, &Patience::new(control))?;
    let ways = |count: u32| Ways { count: most.min(count as usize), more: count as usize > most };
    Some(counted.into_iter().map(|(id, count)| (id, ways(count))).collect())
}

/// In how many ways each of some entities is an answer in a world, counted up to `most`; `None` if counting
/// would take too long. That depends on the question and the graph alone, not on the machine.
pub fn ways(query: &NormalForm, world: &World<'_>, answers: &[EntityId], most: usize) -> Option<Vec<Ways>> {
    /// About a tenth of a second.
    const STEPS: u64 = 1 << 19;
    let patience = Patience::of_steps(STEPS);
    let domains = vec![None; query.variables.len()];
    let of = |&answer: &EntityId| {
        let mut count = 0;
        for branch in &query.branches {
            let search = Search::new(branch, world, &patience, &domains);
            count += search.assignments(query.target, answer, most + 1 - count).len();
            // A branch without variables of its own takes no step.
            if !patience.step() {
                return None;
            }
        }
        Some(Ways { count: count.min(most), more: count > most })
    };
    answers.iter().map(of).collect()
}

/// The answers of a query, ascending, each with the smallest cost of an assignment that makes it
/// one: how many of the query's positive atoms stand for edges that cost something in this world.
/// Of several alternatives the cheapest counts; negated atoms cost nothing.
pub fn cheapest(query: &NormalForm, world: &World<'_>) -> Vec<(EntityId, u8)> {
    cheapest_within(query, world, &Patience::new(&Control::default()))
}

fn cheapest_within(query: &NormalForm, world: &World<'_>, patience: &Patience) -> Vec<(EntityId, u8)> {
    let solve = |branch| tree::solve(branch, query.target, query.variables.len(), world, patience);
    query.branches.iter().map(solve).reduce(costs::union).unwrap_or_default()
}
