//! The slowest possible grounding, for comparison.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;

use super::{Body, Path, Rule, RuleSet, Steps};
use crate::graph::{EntityId, Graph, GraphBuilder, Id, RelationId, Split, Triple};

/// A graph of ten entities and three relations with these training edges.
pub(crate) fn small_graph(edges: &[(u32, u32, u32)]) -> Graph {
    let mut builder = GraphBuilder::default();
    for entity in 0..10 {
        builder.entity(&format!("e{entity}"));
    }
    for relation in 0..3 {
        builder.relation(&format!("r{relation}"));
    }
    for &(head, relation, tail) in edges {
        builder.add_ids(Split::Train, Triple::new(head % 10, relation % 3, tail % 10));
    }
    builder.finish().0
}

/// Bodies of every form over so many entities and relations of a model.
pub(crate) fn bodies(entities: u32, relations: u32) -> impl Strategy<Value = Body> {
    let relation = move || (0..relations).prop_map(RelationId);
    let entity = move || (0..entities).prop_map(EntityId);
    prop_oneof![
        prop::collection::vec(relation(), 1..4).prop_map(|steps| Body::Path(Path::new(&steps).unwrap())),
        (entity(), relation(), entity()).prop_map(|(object, relation, to)| Body::Edge {
            object,
            relation,
            to
        }),
        (entity(), relation()).prop_map(|(object, relation)| Body::Some { object, relation }),
        entity().prop_map(|object| Body::Always { object }),
    ]
}

/// Every pair that a rule predicts: all assignments of different entities are tried.
pub(crate) fn predictions(steps: &Steps, rule: &Rule) -> BTreeSet<(EntityId, EntityId)> {
    let all: Vec<EntityId> = (0..steps.entities()).map(EntityId::from_index).collect();
    let mut found = BTreeSet::new();
    for &x in &all {
        match rule.body {
            Body::Path(path) => walk(steps, path.steps(), &mut vec![x], &mut found),
            Body::Edge { object, relation, to } => {
                if x != object && steps.leads(x, relation, to) {
                    found.insert((x, object));
                }
            }
            Body::Some { object, relation } => {
                if x != object && all.iter().any(|&a| steps.leads(x, relation, a)) {
                    found.insert((x, object));
                }
            }
            Body::Always { object } => {
                if x != object && all.iter().any(|&a| steps.leads(x, rule.head, a)) {
                    found.insert((x, object));
                }
            }
        }
    }
    found
}

fn walk(
    steps: &Steps,
    relations: &[RelationId],
    passed: &mut Vec<EntityId>,
    found: &mut BTreeSet<(EntityId, EntityId)>,
) {
    let last = passed[passed.len() - 1];
    let Some((&relation, rest)) = relations.split_first() else {
        found.insert((passed[0], last));
        return;
    };
    for next in (0..steps.entities()).map(EntityId::from_index) {
        if !passed.contains(&next) && steps.leads(last, relation, next) {
            passed.push(next);
            walk(steps, rest, passed, found);
            passed.pop();
        }
    }
}

/// The noisy-or of (h, r, ?): the strongest rule of each cluster that predicts a tail.
pub(crate) fn noisy_or(
    steps: &Steps,
    set: &RuleSet,
    head: EntityId,
    relation: RelationId,
) -> BTreeMap<EntityId, f32> {
    let inverse = steps.inverse(relation);
    let mut by_cluster: BTreeMap<(EntityId, u32, bool), f32> = BTreeMap::new();
    for (rule, &leader) in set.rules().iter().zip(set.leaders()) {
        let path = matches!(rule.body, Body::Path(_));
        let always = matches!(rule.body, Body::Always { .. });
        for (x, y) in predictions(steps, rule) {
            let mut put = |tail, backwards| {
                let best = by_cluster.entry((tail, leader, backwards)).or_default();
                *best = best.max(rule.confidence);
            };
            // The prior speaks of whatever is asked about.
            if rule.head == relation && x == head && !always {
                put(y, false);
            }
            if rule.head == inverse && y == head && !always && !(path && inverse == relation) {
                put(x, true);
            }
        }
        if let Body::Always { object } = rule.body
            && rule.head == relation
            && object != head
        {
            let best = by_cluster.entry((object, leader, false)).or_default();
            *best = best.max(rule.confidence);
        }
    }
    let mut row: BTreeMap<EntityId, f32> = BTreeMap::new();
    for ((tail, ..), confidence) in by_cluster {
        let truth = row.entry(tail).or_default();
        *truth = 1.0 - (1.0 - *truth) * (1.0 - confidence);
    }
    row
}
