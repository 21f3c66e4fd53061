//! Where a walk along relations ends.

use rustc_hash::FxHashMap;

use super::rule::Path;
use super::steps::Steps;
use crate::graph::{EntityId, Id, RelationId};

/// Walks from one entity after another, with room that is used again.
///
/// On a walk no entity comes twice. A walk of two steps remembers for each end two of the entities that it
/// came through, so that a third step knows whether there is a way that does not pass through its own end.
#[derive(Debug)]
pub struct Walker {
    /// What was seen in the walk that runs: `stamps[entity] == stamp`.
    stamps: Vec<u32>,
    stamp: u32,
    from: EntityId,
    /// The ends of two steps from `from`; `None` where they are too many.
    two: FxHashMap<[RelationId; 2], Option<Vec<Two>>>,
    places: Vec<u32>,
}

/// The end of a walk of two steps, and one or two entities that it came through.
#[derive(Clone, Copy, Debug)]
struct Two {
    end: EntityId,
    through: [EntityId; 2],
}

impl Walker {
    /// A walker who stands nowhere yet.
    pub fn new(entities: usize) -> Self {
        Self {
            stamps: vec![0; entities],
            stamp: 0,
            from: EntityId(u32::MAX),
            two: FxHashMap::default(),
            places: vec![0; entities],
        }
    }

    /// The different ends of a walk, in no particular order but always the same. Returns false and no end
    /// where more than `most` arcs would have to be looked at for one of the steps.
    pub fn ends(
        &mut self,
        steps: &Steps,
        from: EntityId,
        path: &Path,
        most: usize,
        ends: &mut Vec<EntityId>,
    ) -> bool {
        ends.clear();
        let whole = self.walk(steps, from, path, most, ends);
        if !whole {
            ends.clear();
        }
        whole
    }

    /// Forgets where it stood, because the steps have changed.
    pub fn forget(&mut self) {
        self.from = EntityId(u32::MAX);
        self.two.clear();
    }

    fn walk(
        &mut self,
        steps: &Steps,
        from: EntityId,
        path: &Path,
        most: usize,
        ends: &mut Vec<EntityId>,
    ) -> bool {
        if from != self.from {
            self.from = from;
            self.two.clear();
        }
        match *path.steps() {
            [one] => {
                let arcs = steps.along(from, one);
                ends.extend(arcs.iter().map(|arc| arc.neighbour));
                arcs.len() <= most
            }
            [one, two] => {
                let found = self.two_steps(steps, [one, two], most);
                ends.extend(found.into_iter().flatten().map(|two| two.end));
                found.is_some()
            }
            [one, two, three] => {
                self.two_steps(steps, [one, two], most).is_some()
                    && self.third(steps, [one, two], three, most, ends)
            }
            _ => true,
        }
    }

    /// The ends of two steps, found once for each place to stand; `None` where they are too many.
    fn two_steps(&mut self, steps: &Steps, key: [RelationId; 2], most: usize) -> Option<&[Two]> {
        if !self.two.contains_key(&key) {
            let found = self.find_two_steps(steps, key, most);
            self.two.insert(key, found);
        }
        self.two.get(&key)?.as_deref()
    }

    fn find_two_steps(&mut self, steps: &Steps, key: [RelationId; 2], most: usize) -> Option<Vec<Two>> {
        let stamp = self.next_stamp();
        let mut found: Vec<Two> = Vec::new();
        let mut looked_at = 0;
        for first in steps.along(self.from, key[0]) {
            let arcs = steps.along(first.neighbour, key[1]);
            looked_at += arcs.len();
            if looked_at > most {
                return None;
            }
            for arc in arcs {
                let end = arc.neighbour;
                if end == self.from {
                    continue;
                }
                if self.stamps[end.index()] == stamp {
                    let known = &mut found[self.places[end.index()] as usize];
                    if known.through[0] == known.through[1] {
                        known.through[1] = first.neighbour;
                    }
                } else {
                    self.stamps[end.index()] = stamp;
                    self.places[end.index()] = found.len() as u32;
                    found.push(Two { end, through: [first.neighbour; 2] });
                }
            }
        }
        Some(found)
    }

    fn third(
        &mut self,
        steps: &Steps,
        key: [RelationId; 2],
        three: RelationId,
        most: usize,
        ends: &mut Vec<EntityId>,
    ) -> bool {
        let stamp = self.next_stamp();
        let mut looked_at = 0;
        for two in self.two.get(&key).and_then(Option::as_ref).into_iter().flatten() {
            let arcs = steps.along(two.end, three);
            looked_at += arcs.len();
            if looked_at > most {
                return false;
            }
            for arc in arcs {
                let end = arc.neighbour;
                let passed = two.through == [end; 2];
                if end != self.from && !passed && self.stamps[end.index()] != stamp {
                    self.stamps[end.index()] = stamp;
                    ends.push(end);
                }
            }
        }
        true
    }

    fn next_stamp(&mut self) -> u32 {
        if self.stamp == u32::MAX {
            self.stamps.fill(0);
            self.stamp = 0;
        }
        self.stamp += 1;
        self.stamp
    }
}
