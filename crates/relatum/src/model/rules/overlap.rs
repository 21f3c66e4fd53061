//! Which rules say the same thing: their predictions overlap.

use rustc_hash::FxHashMap;

use super::index::REACH;
use super::rule::{Body, Rule};
use super::set::{Overlaps, RuleSet};
use super::steps::Steps;
use super::walk::Walker;
use crate::graph::{EntityId, Id, RelationId};
use crate::random::Rng;

/// The threshold from which on all rules of a candidate say the same: the strongest alone counts.
pub const ALL_ONE: f32 = 0.0;
/// The threshold beyond which no two rules say the same: all add up.
pub const ALL_APART: f32 = 2.0;

/// Rules are compared with so many of the strongest clusters.
const COMPARED: usize = 256;
/// Heads from which the walks of a relation are compared.
const STARTS: usize = 256;
const BUCKETS: usize = 64;

/// What is left of a set when its overlap with others is all that matters: the least hash in each of 64 parts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Signature {
    least: [u16; BUCKETS],
}

const EMPTY: u16 = u16::MAX;

impl Default for Signature {
    fn default() -> Self {
        Self { least: [EMPTY; BUCKETS] }
    }
}

impl Signature {
    /// Puts an element into the set.
    pub fn add(&mut self, element: u64) {
        let hash = Rng::new(element).next_u64();
        let least = &mut self.least[(hash % BUCKETS as u64) as usize];
        // The largest value means that the part is empty.
        *least = (*least).min(((hash >> 40) as u16).min(EMPTY - 1));
    }

    /// About which share of all their elements two sets have in common (Jaccard).
    pub fn overlap(&self, other: &Self) -> f32 {
        let (mut same, mut filled) = (0u16, 0u16);
        for (a, b) in self.least.iter().zip(&other.least) {
            let any = a & b != EMPTY;
            filled += u16::from(any);
            same += u16::from(any && a == b);
        }
        if filled == 0 { 0.0 } else { f32::from(same) / f32::from(filled) }
    }
}

/// What is needed to find the clusters of a relation's rules for any threshold.
pub(crate) struct Overlapping {
    /// Walks: the places of the rules, strongest first, with what they predict.
    paths: Vec<(u32, Signature)>,
    /// Rules with an object: for each object likewise; those that speak of nearly everything first.
    objects: Vec<Vec<(u32, Option<Signature>)>>,
}

impl Overlapping {
    /// Of the rules of one head.
    pub(crate) fn new(steps: &Steps, set: &RuleSet, head: RelationId) -> Self {
        let places = set.of_head(head);
        let mut of_body: FxHashMap<(RelationId, EntityId), Signature> = FxHashMap::default();
        let mut objects: FxHashMap<EntityId, Vec<(u32, Option<Signature>)>> = FxHashMap::default();
        let mut walks = Vec::new();
        for place in places {
            let rule = &set.rules()[place];
            let Some(object) = rule.body.object() else {
                walks.push(place as u32);
                continue;
            };
            let signature = match rule.body {
                Body::Edge { relation, to, .. } => {
                    let signature = of_body.entry((relation, to));
                    Some(signature.or_insert_with(|| of_group(steps, relation, to)).clone())
                }
                _ => None,
            };
            objects.entry(object).or_default().push((place as u32, signature));
        }
        let mut objects: Vec<(EntityId, Vec<_>)> = objects.into_iter().collect();
        objects.sort_unstable_by_key(|(object, _)| *object);
        let objects = objects.into_iter().map(|(_, rules)| rules).collect();
        Self { paths: of_paths(steps, set.rules(), head, &walks), objects }
    }

    /// The place of the strongest rule of the cluster of each walk.
    pub(crate) fn paths(&self, threshold: f32) -> Vec<(u32, u32)> {
        let mut leaders: Vec<&(u32, Signature)> = Vec::new();
        let of = |rule: &'_ (u32, Signature), leaders: &[&(u32, Signature)]| {
            let same = |leader: &&&(u32, Signature)| says_same(threshold, &leader.1, &rule.1);
            leaders.iter().take(COMPARED).find(same).map(|leader| leader.0)
        };
        let mut found = Vec::with_capacity(self.paths.len());
        for rule in &self.paths {
            let leader = of(rule, &leaders);
            if leader.is_none() {
                leaders.push(rule);
            }
            found.push((rule.0, leader.unwrap_or(rule.0)));
        }
        found
    }

    /// The place of the strongest rule of the cluster of each rule with an object.
    pub(crate) fn constants(&self, threshold: f32) -> Vec<(u32, u32)> {
        let mut found = Vec::new();
        for rules in &self.objects {
            let mut leaders: Vec<(u32, &Signature)> = Vec::new();
            // What speaks of nearly everything says the same as all else that does.
            let mut broad: Option<u32> = None;
            let first = rules.first().map_or(0, |rule| rule.0);
            for (place, signature) in rules {
                let leader = match signature {
                    _ if threshold <= ALL_ONE => first,
                    None => *broad.get_or_insert(*place),
                    Some(signature) => {
                        let same = |leader: &&(u32, &Signature)| says_same(threshold, leader.1, signature);
                        if let Some(leader) = leaders.iter().take(COMPARED).find(same) {
                            leader.0
                        } else {
                            leaders.push((*place, signature));
                            *place
                        }
                    }
                };
                found.push((*place, leader));
            }
        }
        found
    }
}

fn says_same(threshold: f32, a: &Signature, b: &Signature) -> bool {
    threshold <= ALL_ONE || (threshold <= 1.0 && a.overlap(b) >= threshold)
}

fn of_group(steps: &Steps, relation: RelationId, to: EntityId) -> Signature {
    let mut signature = Signature::default();
    for arc in steps.along(to, steps.inverse(relation)) {
        signature.add(u64::from(arc.neighbour.0));
    }
    signature
}

/// What walks predict for some of the heads of their relation, the same for all of them.
fn of_paths(steps: &Steps, rules: &[Rule], head: RelationId, places: &[u32]) -> Vec<(u32, Signature)> {
    let mut starts = steps.starts(head).to_vec();
    Rng::stream(u64::from(head.0), 77).shuffle(&mut starts);
    starts.truncate(STARTS);
    let mut signatures: Vec<(u32, Signature)> =
        places.iter().map(|&place| (place, Signature::default())).collect();
    let (mut walker, mut ends) = (Walker::new(steps.entities()), Vec::new());
    for &from in &starts {
        for (place, signature) in &mut signatures {
            let Body::Path(path) = rules[*place as usize].body else { continue };
            walker.ends(steps, from, &path, REACH / 4, &mut ends);
            for end in &ends {
                signature.add(u64::from(from.0) << 32 | u64::from(end.0));
            }
        }
    }
    signatures
}

impl RuleSet {
    /// The same rules in clusters: those of a relation whose predictions overlap by more than its threshold count
    /// once. `overlaps` are by relation of the model; where there are fewer, the rest has the default.
    #[must_use]
    pub fn clustered(self, steps: &Steps, overlaps: &[Overlaps]) -> Self {
        use rayon::prelude::*;
        let heads: Vec<RelationId> = (0..steps.relations()).map(RelationId::from_index).collect();
        let of_head = |&head: &RelationId| {
            let Overlaps { paths, constants } = overlaps.get(head.index()).copied().unwrap_or_default();
            let overlapping = Overlapping::new(steps, &self, head);
            let mut found = overlapping.paths(paths);
            found.extend(overlapping.constants(constants));
            found
        };
        let found: Vec<Vec<(u32, u32)>> = heads.par_iter().map(of_head).collect();
        let mut leaders: Vec<u32> = (0..self.len() as u32).collect();
        for (place, leader) in found.into_iter().flatten() {
            leaders[place as usize] = leader;
        }
        self.with_leaders_unchecked(leaders)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_overlap_of_signatures_is_about_that_of_the_sets() {
        let of = |range: std::ops::Range<u64>| {
            let mut signature = Signature::default();
            range.for_each(|element| signature.add(element));
            signature
        };
        assert!((of(0..300).overlap(&of(0..300)) - 1.0).abs() < 1e-6);
        assert!(of(0..300).overlap(&of(1000..1300)) < 0.05);
        let half = of(0..300).overlap(&of(100..400));
        assert!((half - 0.5).abs() < 0.2, "{half}");
        assert!(Signature::default().overlap(&Signature::default()) <= 0.0);
    }
}
