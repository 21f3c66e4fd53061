//! What stored edges alone say about the answers of a question.

use std::cmp::Reverse;

use crate::control::Control;
use crate::graph::{EntityId, Graph, Id, Members};
use crate::plan::Plan;
use crate::query::NormalForm;
use crate::search::Known;
use crate::symbolic::{Ways, World, answers_with_ways, answers_within, ways};

/// Ways are counted up to this many: larger counts tell people nothing more.
const MOST_WAYS: usize = 100;

/// The entities that the stored edges that count as known alone make answers; `None` if the time was up before that
/// was clear.
pub fn known_answers(plan: &Plan, graph: &Graph, known: Known, control: &Control) -> Option<Members> {
    let world = World::of(graph, known.splits());
    Some(Members::of(answers_within(&plan.normal_form(), &world, control)?, world.entities()))
}

/// The entities that stored edges alone make answers.
#[derive(Default)]
pub(super) struct Marks {
    /// `None` if that is not clear.
    known: Option<Members>,
    /// The first known answers, ordered by the number of ways, most first, then by id, for ranking those that are equally
    /// true. Empty if the ways were not counted.
    supported: Vec<(EntityId, Ways)>,
}

impl Marks {
    pub(super) fn new(known: Option<Members>) -> Self {
        Self { known, supported: Vec::new() }
    }

    /// The known answers with the ways in which each is one, as far as counting them is worth the time; the `top`
    /// with the most ways come first.
    pub(super) fn with_ways(query: &NormalForm, world: &World<'_>, top: usize, control: &Control) -> Self {
        if let Some(counted) = answers_with_ways(query, world, MOST_WAYS, control) {
            let known = Members::of(counted.iter().map(|&(entity, _)| entity), world.entities());
            return Self { known: Some(known), supported: first(counted, top) };
        }
        let Some(known) = answers_within(query, world, control) else { return Self::default() };
        let marks = Self::new(Some(Members::of(known.iter().copied(), world.entities())));
        match ways(query, world, &known, MOST_WAYS) {
            Some(ways) => Self { supported: first(known.into_iter().zip(ways).collect(), top), ..marks },
            None => marks,
        }
    }

    pub(super) fn of(&self, entity: EntityId) -> Option<bool> {
        self.known.as_ref().map(|known| known.contains(entity))
    }

    /// In how many ways an entity is known to be an answer, where that was counted.
    pub(super) fn ways(&self, entity: EntityId) -> Option<Ways> {
        self.supported.iter().find(|(other, _)| *other == entity).map(|&(_, ways)| ways)
    }

    /// Whether an entity may be shown where only new answers are wanted: it may, unless it is certain to be known.
    pub(super) fn may_be_new(&self, entity: EntityId) -> bool {
        self.of(entity) != Some(true)
    }

    /// The first known answers; `None` if there are fewer than `count`.
    pub(super) fn first(&self, count: usize) -> Option<Vec<EntityId>> {
        let first: Vec<EntityId> = if self.supported.is_empty() {
            self.known_entities().take(count).collect()
        } else {
            self.supported.iter().take(count).map(|&(entity, _)| entity).collect()
        };
        (first.len() == count).then_some(first)
    }

    /// Orders known answers, all of which are exactly 1, by the number of their ways. `top` are the best of all
    /// entities, in which known answers are ordered by their ids.
    pub(super) fn reorder(&self, top: &mut Vec<(EntityId, f32)>, count: usize) {
        if self.supported.is_empty() {
            return;
        }
        let known = self.supported.iter().map(|&(entity, _)| (entity, 1.0));
        let others = top.iter().copied().filter(|&(entity, _)| self.of(entity) != Some(true));
        *top = known.chain(others).take(count).collect();
    }

    /// Makes the scores of known answers exactly 1.
    pub(super) fn mark(&self, scores: &mut [f32]) {
        self.known_entities().for_each(|entity| scores[entity.index()] = 1.0);
    }

    /// The first known answers by id, no more than `most`.
    pub(super) fn first_by_id(&self, most: usize) -> Vec<EntityId> {
        self.known_entities().take(most).collect()
    }

    fn known_entities(&self) -> impl Iterator<Item = EntityId> {
        self.known.iter().flat_map(Members::iter)
    }
}

/// The `top` entities with the most ways, equal ones by id.
fn first(mut counted: Vec<(EntityId, Ways)>, top: usize) -> Vec<(EntityId, Ways)> {
    let order = |&(entity, ways): &(EntityId, Ways)| (Reverse(ways), entity);
    if top < counted.len() {
        counted.select_nth_unstable_by_key(top, order);
        counted.truncate(top);
    }
    counted.sort_unstable_by_key(order);
    counted
}
