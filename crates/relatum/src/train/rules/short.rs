//! Bodies of one and two atoms between variables: every one of them, counted exactly.

use std::sync::{Mutex, PoisonError};

use rayon::prelude::*;
use rustc_hash::FxHashMap;

use super::{LEAST_CONFIDENCE, LEAST_CORRECT, MiningStage, Tally, limit, main_relations};
use crate::control::Control;
use crate::graph::{EntityId, Id, RelationId};
use crate::model::rules::{Body, Path, Rule, Steps};

/// A body with more walks than this is not counted: it would predict nearly everything.
const WIDEST: usize = 200_000_000;

/// The rules with bodies of one or two atoms, of each relation the `of_head` most confident, and whether none was left
/// out because of a stop.
pub(super) fn mine(
    steps: &Steps,
    max_length: usize,
    of_head: usize,
    found: usize,
    control: &Control,
) -> (Vec<Rule>, bool) {
    let links = Links::of(steps);
    let firsts: Vec<RelationId> = (0..steps.relations()).map(RelationId::from_index).collect();
    let tally = Tally::new(MiningStage::Short, firsts.len(), found);
    // No two rules are equal in order, so the same ones stay however the threads meet.
    let kept: Mutex<Vec<Rule>> = Mutex::default();
    let room = of_head * main_relations(steps).len();
    let whole = firsts
        .par_iter()
        .with_max_len(1)
        .map_init(
            || Marks { stamps: vec![0; steps.entities()], stamp: 0, ends: Vec::new() },
            |marks, &first| {
                let mut counts = Counts::default();
                counts.one_step(steps, &links, first);
                if max_length >= 2 && counts.two_steps(steps, &links, first, marks, control).is_none() {
                    return false;
                }
                let found = counts.rules(first);
                tally.add(found.len(), control);
                let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
                kept.extend(found);
                if kept.len() > 2 * room {
                    limit(&mut kept, of_head);
                }
                true
            },
        )
        .reduce(|| true, |a, b| a && b);
    let mut kept = kept.into_inner().unwrap_or_else(PoisonError::into_inner);
    limit(&mut kept, of_head);
    (kept, whole)
}

/// The relations between two entities, by the second.
pub(super) struct Links {
    starts: Vec<usize>,
    links: Vec<(EntityId, RelationId)>,
}

impl Links {
    pub(super) fn of(steps: &Steps) -> Self {
        let (mut starts, mut links) = (vec![0], Vec::with_capacity(steps.arcs()));
        for entity in (0..steps.entities()).map(EntityId::from_index) {
            let from = links.len();
            links.extend(steps.from(entity).iter().map(|arc| (arc.neighbour, arc.relation)));
            links[from..].sort_unstable();
            starts.push(links.len());
        }
        Self { starts, links }
    }

    /// All neighbours of an entity with the relations that lead there, by neighbour.
    pub(super) fn from(&self, x: EntityId) -> &[(EntityId, RelationId)] {
        &self.links[self.starts[x.index()]..self.starts[x.index() + 1]]
    }

    /// The relations from one entity to another.
    pub(super) fn between(&self, x: EntityId, y: EntityId) -> &[(EntityId, RelationId)] {
        let links = self.from(x);
        let from = links.partition_point(|link| link.0 < y);
        let len = links[from..].partition_point(|link| link.0 == y);
        &links[from..from + len]
    }
}

/// Which entities are neighbours of the one that is looked at.
struct Marks {
    stamps: Vec<u32>,
    stamp: u32,
    ends: Vec<u64>,
}

/// Predictions of the bodies that begin with one relation, and which of them are there.
#[derive(Default)]
struct Counts {
    /// By the second relation, or none: how many different pairs there are.
    predicted: FxHashMap<Option<RelationId>, usize>,
    correct: FxHashMap<(Option<RelationId>, RelationId), u32>,
}

impl Counts {
    fn one_step(&mut self, steps: &Steps, links: &Links, first: RelationId) {
        for &x in steps.starts(first) {
            let arcs = steps.along(x, first);
            *self.predicted.entry(None).or_default() += arcs.len();
            for arc in arcs {
                for &(_, head) in links.between(x, arc.neighbour) {
                    if head != first && steps.main(head) == head {
                        *self.correct.entry((None, head)).or_default() += 1;
                    }
                }
            }
        }
    }

    fn two_steps(
        &mut self,
        steps: &Steps,
        links: &Links,
        first: RelationId,
        marks: &mut Marks,
        control: &Control,
    ) -> Option<()> {
        let allowed = narrow(steps, first);
        let mut predicted = vec![0usize; steps.relations()];
        for &x in steps.starts(first) {
            if control.is_late() {
                return None;
            }
            marks.stamp += 1;
            for &(y, _) in links.from(x) {
                marks.stamps[y.index()] = marks.stamp;
            }
            let ends = &mut marks.ends;
            ends.clear();
            let through = steps.along(x, first);
            for arc in through {
                for run in steps.from(arc.neighbour).chunk_by(|a, b| a.relation == b.relation) {
                    if allowed[run[0].relation.index()] {
                        let ahead = run.iter().filter(|arc| arc.neighbour != x);
                        ends.extend(
                            ahead.map(|arc| u64::from(arc.relation.0) << 32 | u64::from(arc.neighbour.0)),
                        );
                    }
                }
            }
            if through.len() > 1 {
                ends.sort_unstable();
                ends.dedup();
            }
            for &end in ends.iter() {
                let (second, y) = (RelationId((end >> 32) as u32), EntityId(end as u32));
                predicted[second.index()] += 1;
                if marks.stamps[y.index()] == marks.stamp {
                    for &(_, head) in links.between(x, y) {
                        if steps.main(head) == head {
                            *self.correct.entry((Some(second), head)).or_default() += 1;
                        }
                    }
                }
            }
        }
        let second = |(second, count): (usize, usize)| (Some(RelationId::from_index(second)), count);
        self.predicted.extend(predicted.into_iter().enumerate().map(second));
        Some(())
    }

    fn rules(self, first: RelationId) -> Vec<Rule> {
        let mut rules = Vec::new();
        for ((second, head), correct) in self.correct {
            let predicted = self.predicted.get(&second).copied().unwrap_or(0);
            let path = match second {
                None => Path::new(&[first]),
                Some(second) => Path::new(&[first, second]),
            };
            let Some(path) = path else { continue };
            let predicted = u32::try_from(predicted).unwrap_or(u32::MAX);
            let rule = Rule::counted(head, Body::Path(path), predicted, correct);
            if correct >= LEAST_CORRECT && rule.confidence >= LEAST_CONFIDENCE {
                rules.push(rule);
            }
        }
        rules
    }
}

/// For each relation whether few enough walks take it after the first.
fn narrow(steps: &Steps, first: RelationId) -> Vec<bool> {
    let mut walks = vec![0usize; steps.relations()];
    for &x in steps.starts(first) {
        for arc in steps.along(x, first) {
            for run in steps.from(arc.neighbour).chunk_by(|a, b| a.relation == b.relation) {
                walks[run[0].relation.index()] += run.len();
            }
        }
    }
    walks.into_iter().map(|walks| walks <= WIDEST).collect()
}
