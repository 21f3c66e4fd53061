//! One walk, and the conditions that its query must meet to be taken.

use super::pattern::Pattern;
use super::walk::Walk;
use crate::benchmark::missing::missing_links;
use crate::graph::{EntityId, Graph, Split};
use crate::model::Reciprocals;
use crate::query::{Branch, Limits, NormalForm};
use crate::random::Rng;
use crate::symbolic::{World, answers};

pub(super) struct Attempt<'a> {
    pub(super) pattern: &'a Pattern,
    pub(super) walk: Walk<'a>,
    pub(super) relations: &'a Reciprocals,
    pub(super) smaller: World<'a>,
    pub(super) larger: World<'a>,
    /// Where hard answers must need every edge predicted: the graph, and its splits that training has not seen.
    pub(super) all_missing: Option<(&'a Graph, Vec<Split>)>,
    pub(super) max_answers: usize,
}

/// A query that may be taken, unless it was found before.
pub(super) struct Found {
    pub(super) arguments: Vec<u32>,
    /// Shared by queries that are the same but for the order of their parts.
    pub(super) key: Vec<Branch>,
    pub(super) easy: Vec<EntityId>,
    pub(super) hard: Vec<EntityId>,
}

/// Why a walk gave no query; [`Walks`](super::Walks) says what each means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rejection {
    Stuck,
    Degenerate,
    Pointless,
    TooMany,
    Easy,
}

impl Attempt<'_> {
    pub(super) fn run(&self, rng: &mut Rng) -> Result<Found, Rejection> {
        let arguments = self.walk.run(rng).ok_or(Rejection::Stuck)?;
        let query = self.pattern.template().fill(&arguments, self.relations).ok_or(Rejection::Stuck)?;
        let query = query.normal_form(Limits::default()).map_err(|_| Rejection::Degenerate)?;
        // Equal branches of an intersection or a union have become one.
        if query.branches.iter().map(Branch::atoms).sum::<usize>() < self.pattern.atoms() || query.has_twins()
        {
            return Err(Rejection::Degenerate);
        }
        let all = answers(&query, &self.larger);
        if all.len() > self.max_answers {
            return Err(Rejection::TooMany);
        }
        let mut easy = answers(&query, &self.smaller);
        let without = |some: &[EntityId]| -> Vec<EntityId> {
            all.iter().filter(|answer| some.binary_search(answer).is_err()).copied().collect()
        };
        let mut hard = without(&easy);
        if let Some((graph, missing)) = &self.all_missing {
            hard = wholly_missing(graph, &query, missing, &hard);
            // An answer that needs only some of its edges predicted is true: it must not count as a wrong one.
            easy = without(&hard);
        }
        if hard.is_empty() {
            return Err(Rejection::Easy);
        }
        if easy.len() + hard.len() > self.max_answers {
            return Err(Rejection::TooMany);
        }
        if let Some(positive) = without_negation(&query)
            && self.is_pointless(&positive, &easy, &all)
        {
            return Err(Rejection::Pointless);
        }
        Ok(Found { arguments, key: query.canonical(), easy, hard })
    }

    /// Whether the negation changes too little. For a shape, the published generators require that the
    /// larger graph refutes an answer of the smaller one; for a question in words it is enough that the
    /// negation removes some answer. The first implies the second: without negation, more edges never
    /// remove an answer.
    fn is_pointless(&self, positive: &NormalForm, easy: &[EntityId], all: &[EntityId]) -> bool {
        if self.pattern.is_shape() {
            easy.iter().all(|answer| all.binary_search(answer).is_ok())
        } else {
            answers(positive, &self.larger).len() == all.len()
        }
    }
}

/// Those of the answers of which no proof has a training edge: even the assignment with the fewest missing edges
/// lacks one for every atom.
fn wholly_missing(
    graph: &Graph,
    query: &NormalForm,
    missing: &[Split],
    answers: &[EntityId],
) -> Vec<EntityId> {
    let atoms: usize = query.branches.iter().map(Branch::atoms).sum();
    let links = missing_links(graph, query, &[Split::Train], missing, answers);
    let lacks_all = |links: Option<u8>| links.is_some_and(|links| usize::from(links) == atoms);
    answers.iter().zip(links).filter(|&(_, links)| lacks_all(links)).map(|(&answer, _)| answer).collect()
}

/// The query without its negated parts; `None` if it has none.
fn without_negation(query: &NormalForm) -> Option<NormalForm> {
    if !query.branches.iter().any(Branch::negates) {
        return None;
    }
    let positive = |branch: &Branch| Branch { positive: branch.positive.clone(), ..Branch::default() };
    let branches = query.branches.iter().map(positive).collect();
    Some(NormalForm { branches, ..query.clone() })
}
