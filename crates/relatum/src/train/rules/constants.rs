//! Rules that name entities: what those who have one edge in common also have in common.

use rayon::prelude::*;
use rustc_hash::FxHashMap;

use super::{LEAST_CONFIDENCE_NAMED, LEAST_CORRECT_NAMED, MiningStage, Tally};
use crate::control::Control;
use crate::graph::{EntityId, Id, RelationId};
use crate::model::rules::{Body, Rule, Steps};

/// An entity with more edges than this is no example of a rule: it would be one of nearly every rule.
const HUB: usize = 50_000;
/// Every relation has room for so many rules, however few edges it has, unless there is room for fewer in all.
const LEAST_ROOM: usize = 2_000;

/// All rules with constants, at most `room` of them, and whether none was left out because of a stop.
pub(super) fn mine(steps: &Steps, room: usize, control: &Control) -> (Vec<Rule>, bool) {
    let groups = Groups::of(steps);
    let mut of_head: Vec<Vec<u32>> = vec![Vec::new(); steps.relations()];
    for (id, group) in groups.list.iter().enumerate() {
        of_head[group.relation.index()].push(id as u32);
    }
    let heads: Vec<(RelationId, Vec<u32>)> =
        of_head.into_iter().enumerate().map(|(head, ids)| (RelationId::from_index(head), ids)).collect();
    let tally = Tally::new(MiningStage::Constants, heads.len(), 0);
    let least = LEAST_ROOM.min(room / heads.len().max(1));
    let shared = room - least * heads.len();
    let found: Vec<Option<Vec<Rule>>> = heads
        .par_iter()
        .map_init(
            || Counters { groups: vec![0; groups.list.len()], relations: vec![0; steps.relations()] },
            |counters, (head, ids)| {
                if control.is_late() {
                    return None;
                }
                let edges: usize = ids.iter().map(|&id| groups.members(steps, id).len()).sum();
                // The edges of all relations are the arcs, so that no more than the room is shared out.
                let share = (shared as f64 * edges as f64 / steps.arcs().max(1) as f64) as usize;
                let found = of_relation(steps, &groups, *head, ids, least + share, counters, control)?;
                tally.add(found.len(), control);
                Some(found)
            },
        )
        .collect();
    let whole = found.iter().all(Option::is_some);
    (found.into_iter().flatten().flatten().collect(), whole)
}

/// Everything from which a relation leads to one entity: `relation(X, to)`.
struct Group {
    relation: RelationId,
    to: EntityId,
}

/// All groups, and for each arc the group that it belongs to.
struct Groups {
    list: Vec<Group>,
    /// Where the arcs of each entity begin in `of_arc`.
    starts: Vec<usize>,
    of_arc: Vec<u32>,
}

impl Groups {
    fn of(steps: &Steps) -> Self {
        let mut starts = Vec::with_capacity(steps.entities());
        let mut arcs = 0;
        for entity in (0..steps.entities()).map(EntityId::from_index) {
            starts.push(arcs);
            arcs += steps.from(entity).len();
        }
        let mut groups = Vec::new();
        let mut ids: FxHashMap<(RelationId, EntityId), u32> = FxHashMap::default();
        for (to, back, _) in steps.groups() {
            let relation = steps.inverse(back);
            ids.insert((relation, to), groups.len() as u32);
            groups.push(Group { relation, to });
        }
        let mut of_arc = Vec::with_capacity(arcs);
        for entity in (0..steps.entities()).map(EntityId::from_index) {
            // Every arc has its reverse, so every arc is in a group.
            of_arc.extend(steps.from(entity).iter().map(|arc| ids[&(arc.relation, arc.neighbour)]));
        }
        Self { list: groups, starts, of_arc }
    }

    fn members<'a>(&self, steps: &'a Steps, id: u32) -> &'a [crate::graph::Arc] {
        let Group { relation, to } = self.list[id as usize];
        steps.along(to, steps.inverse(relation))
    }
}

/// How often groups and relations came together with the one that is looked at; all 0 in between.
struct Counters {
    groups: Vec<u32>,
    relations: Vec<u32>,
}

fn of_relation(
    steps: &Steps,
    groups: &Groups,
    head: RelationId,
    ids: &[u32],
    room: usize,
    counters: &mut Counters,
    control: &Control,
) -> Option<Vec<Rule>> {
    let mut rules: Vec<Rule> = Vec::new();
    let mut touched: Vec<u32> = Vec::new();
    for &id in ids {
        if control.is_late() {
            return None;
        }
        let object = groups.list[id as usize].to;
        let members = groups.members(steps, id);
        if (members.len() as u32) < LEAST_CORRECT_NAMED {
            continue;
        }
        let mut keep = |body: Body, predicted: usize, correct: u32| {
            let rule = Rule::counted(head, body, predicted as u32, correct);
            if correct >= LEAST_CORRECT_NAMED && rule.confidence >= LEAST_CONFIDENCE_NAMED {
                rules.push(rule);
            }
        };
        let is_start = |relation: RelationId| steps.starts(relation).binary_search(&object).is_ok();
        // An object is never its own subject: it is not among those for whom the rule speaks.
        let predicted = steps.starts(head).len() - usize::from(is_start(head));
        keep(Body::Always { object }, predicted, members.len() as u32);
        for arc in members {
            let x = arc.neighbour;
            let arcs = steps.from(x);
            if arcs.len() > HUB {
                continue;
            }
            for run in arcs.chunk_by(|a, b| a.relation == b.relation) {
                counters.relations[run[0].relation.index()] += 1;
            }
            let of_arc = &groups.of_arc[groups.starts[x.index()]..][..arcs.len()];
            for &group in of_arc {
                let count = &mut counters.groups[group as usize];
                if *count == 0 {
                    touched.push(group);
                }
                *count += 1;
            }
        }
        for (relation, count) in counters.relations.iter_mut().enumerate() {
            let (relation, correct) = (RelationId::from_index(relation), std::mem::take(count));
            if correct >= LEAST_CORRECT_NAMED && relation != head {
                let predicted = steps.starts(relation).len() - usize::from(is_start(relation));
                keep(Body::Some { object, relation }, predicted, correct);
            }
        }
        for group in touched.drain(..) {
            let correct = std::mem::take(&mut counters.groups[group as usize]);
            let Group { relation, to } = groups.list[group as usize];
            // `head(X, c) ← b(X, c)` is the walk of one step, and `head(X, c) ← head(X, c)` says nothing.
            if correct < LEAST_CORRECT_NAMED || to == object {
                continue;
            }
            let predicted =
                groups.members(steps, group).len() - usize::from(steps.leads(object, relation, to));
            keep(Body::Edge { object, relation, to }, predicted, correct);
        }
        if rules.len() > 2 * room {
            strongest(&mut rules, room);
        }
    }
    strongest(&mut rules, room);
    Some(rules)
}

fn strongest(rules: &mut Vec<Rule>, room: usize) {
    if rules.len() > room {
        rules.select_nth_unstable_by_key(room, Rule::order);
        rules.truncate(room);
    }
}
