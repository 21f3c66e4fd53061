//! Why rules predict an edge: those that speak, strongest first, with the edges that make their bodies true.

use super::index::{REACH, RuleIndex, Scratch};
use super::rule::{Body, Path, Rule};
use super::steps::Steps;
use crate::graph::{EntityId, RelationId};

/// A rule that predicts an edge.
#[derive(Clone, Debug, PartialEq)]
pub struct Reason {
    /// Its place in the set.
    pub place: u32,
    /// The rule.
    pub rule: Rule,
    /// Whether the rule is read against its head: its X is the tail that was asked for.
    pub backwards: bool,
    /// The stored edges that make its body true.
    pub grounding: Grounding,
    /// How many weaker rules say the same thing and do not count beside it.
    pub same: usize,
}

/// Stored edges, each from an entity along a relation of the model to another, in the order of the body.
pub type Grounding = Vec<(EntityId, RelationId, EntityId)>;

impl RuleIndex {
    /// The rules that predict `relation(head, tail)`, one for each cluster, strongest first.
    pub fn reasons(&self, head: EntityId, relation: RelationId, tail: EntityId) -> Vec<Reason> {
        let mut places: Vec<(u32, bool)> = Vec::new();
        let mut scratch = self.take_scratch();
        for (place, path) in self.paths_of(relation) {
            let Scratch { walker, ends, .. } = &mut scratch;
            walker.ends(&self.steps, head, &path, REACH, ends);
            if ends.contains(&tail) {
                let own = self.set.rules()[place as usize].head == relation;
                places.push((place, !own));
            }
        }
        self.give_back(scratch);
        self.forward(head, relation, |place, object| {
            if object == tail {
                places.push((place, false));
            }
        });
        places.extend(
            self.naming(head, relation).filter(|&place| self.fulfils(place, tail)).map(|place| (place, true)),
        );
        let leader = |place: u32| self.set.leaders()[place as usize];
        // A cluster has rules of one head alone, so places are in the order of confidence within it.
        places.sort_unstable_by_key(|&(place, backwards)| (leader(place), backwards, place));
        let mut reasons: Vec<Reason> = Vec::new();
        for same in places.chunk_by(|a, b| (leader(a.0), a.1) == (leader(b.0), b.1)) {
            let (place, backwards) = same[0];
            let rule = self.set.rules()[place as usize];
            let grounding = self.ground(&rule, backwards, head, tail);
            reasons.push(Reason { place, rule, backwards, grounding, same: same.len() - 1 });
        }
        reasons.sort_by(|a, b| b.rule.confidence.total_cmp(&a.rule.confidence).then(a.place.cmp(&b.place)));
        reasons
    }

    /// Whether an entity fulfils the body of a rule with an object.
    fn fulfils(&self, place: u32, candidate: EntityId) -> bool {
        match self.set.rules()[place as usize].body {
            Body::Edge { relation, to, .. } => self.steps.leads(candidate, relation, to),
            Body::Some { relation, .. } => !self.steps.along(candidate, relation).is_empty(),
            Body::Path(_) | Body::Always { .. } => false,
        }
    }

    fn ground(&self, rule: &Rule, backwards: bool, head: EntityId, tail: EntityId) -> Grounding {
        let (x, y) = if backwards { (tail, head) } else { (head, tail) };
        match rule.body {
            Body::Path(path) => ground_path(&self.steps, &path, x, y).unwrap_or_default(),
            Body::Edge { relation, to, .. } => vec![(x, relation, to)],
            Body::Some { relation, .. } => {
                let first = self.steps.along(x, relation).first();
                first.map(|arc| (x, relation, arc.neighbour)).into_iter().collect()
            }
            Body::Always { .. } => Vec::new(),
        }
    }
}

/// The first walk between two entities, by the ids of what it passes through.
fn ground_path(steps: &Steps, path: &Path, x: EntityId, y: EntityId) -> Option<Grounding> {
    match *path.steps() {
        [one] => steps.leads(x, one, y).then(|| vec![(x, one, y)]),
        [one, two] => {
            let firsts = steps.along(x, one).iter().map(|arc| arc.neighbour);
            let a = firsts.into_iter().find(|&a| a != y && steps.leads(a, two, y))?;
            Some(vec![(x, one, a), (a, two, y)])
        }
        [one, two, three] => {
            let inverse = steps.inverse(three);
            // From both ends: what leads to y is looked for among what the first two steps reach.
            let lasts: Vec<EntityId> = steps.along(y, inverse).iter().map(|arc| arc.neighbour).collect();
            for a in steps.along(x, one).iter().map(|arc| arc.neighbour).filter(|&a| a != y) {
                let next = steps.along(a, two).iter().map(|arc| arc.neighbour);
                let between = |b: &EntityId| *b != x && *b != y && lasts.binary_search(b).is_ok();
                if let Some(b) = next.into_iter().find(between) {
                    return Some(vec![(x, one, a), (a, two, b), (b, three, y)]);
                }
            }
            None
        }
        _ => None,
    }
}
