//! From which overlap on two rules say the same thing, learned on validation edges.

use std::sync::Arc;

use rayon::prelude::*;

use super::{MiningStage, Tally, main_relations};
use crate::control::Control;
use crate::graph::{EntityId, Graph, Id, RelationId, Split};
use crate::model::rules::{ALL_APART, ALL_ONE, Overlapping, Overlaps, RuleIndex, RuleSet, Steps, strength};
use crate::model::{Ties, filtered_rank};
use crate::train::evaluate::known_tails;
use crate::train::groups::Groups;

/// The thresholds that are tried, for walks and for rules with constants.
const TRIED: [f32; 6] = [ALL_ONE, 0.05, 0.15, 0.35, 0.65, ALL_APART];
/// Validation questions of a relation that are looked at, in both directions together.
const QUESTIONS: usize = 300;
/// So many questions of all relations count beside a relation's own, so that a few do not decide.
const BESIDE: f64 = 40.0;

/// What was learned.
#[derive(Clone, Debug, PartialEq)]
pub struct Fitted {
    /// The rules, in clusters.
    pub set: RuleSet,
    /// By relation of the model.
    pub overlaps: Vec<Overlaps>,
    /// The filtered MRR of the validation edges that were looked at, and their number; `None` without any.
    pub valid: Option<(f64, usize)>,
    /// Whether everything was looked at; not if somebody asked to stop.
    pub finished: bool,
}

/// Puts rules into clusters, with the thresholds that rank the validation edges of each relation best. Where there
/// are none, or somebody asks to stop, thresholds are those that do well on most graphs.
pub fn fit(graph: &Graph, steps: &Arc<Steps>, set: RuleSet, control: &Control) -> Fitted {
    let index = RuleIndex::new(Arc::clone(steps), set);
    let relations = main_relations(steps);
    let valid = Groups::of(graph, Split::Valid, steps.reciprocals());
    let mut questions: Vec<Vec<(EntityId, RelationId, Vec<EntityId>)>> = vec![Vec::new(); steps.relations()];
    for group in valid.iter() {
        let main = steps.main(group.relation).index();
        questions[main].push((group.head, group.relation, valid.tails(group).to_vec()));
    }
    let tally = Tally::new(MiningStage::Clusters, relations.len(), index.set().len());
    tally.begin(control);
    let measured: Vec<Option<Measured>> = relations
        .par_iter()
        .with_max_len(1)
        .map(|&relation| {
            let all = &questions[relation.index()];
            let step = all.len().div_ceil(QUESTIONS).max(1);
            let asked: Vec<_> = all.iter().step_by(step).collect();
            let measured = measure(graph, &index, relation, &asked, control);
            tally.add(0, control);
            measured
        })
        .collect();
    let mut overlaps = vec![Overlaps::default(); steps.relations()];
    let mut found = None;
    let measured = measured.into_iter().collect::<Option<Vec<Measured>>>();
    let finished = measured.is_some();
    if let Some(measured) = measured {
        let mut total = Measured::default();
        for one in &measured {
            total.add(one, 1.0);
        }
        if total.count > 0.0 {
            let mut reached = 0.0;
            for (&relation, one) in relations.iter().zip(&measured) {
                let mut with_others = *one;
                with_others.add(&total, BESIDE / total.count);
                let best = with_others.best();
                reached += one.sums[best];
                let chosen =
                    Overlaps { paths: TRIED[best / TRIED.len()], constants: TRIED[best % TRIED.len()] };
                overlaps[relation.index()] = chosen;
                overlaps[steps.inverse(relation).index()] = chosen;
            }
            found = Some((reached / total.count, total.count as usize));
        }
    }
    let set = index.into_set().clustered(steps, &overlaps);
    Fitted { set, overlaps, valid: found, finished }
}

/// The sum of 1 / rank under every pair of thresholds, and of how many edges.
#[derive(Clone, Copy)]
struct Measured {
    sums: [f64; TRIED.len() * TRIED.len()],
    count: f64,
}

impl Default for Measured {
    fn default() -> Self {
        Self { sums: [0.0; TRIED.len() * TRIED.len()], count: 0.0 }
    }
}

impl Measured {
    fn add(&mut self, other: &Self, weight: f64) {
        self.sums.iter_mut().zip(&other.sums).for_each(|(sum, other)| *sum += weight * other);
        self.count += weight * other.count;
    }

    /// The best pair; of equal ones the first.
    fn best(&self) -> usize {
        (0..self.sums.len())
            .max_by(|&a, &b| self.sums[a].total_cmp(&self.sums[b]).then(b.cmp(&a)))
            .unwrap_or(0)
    }
}

/// `None` if it was asked to stop.
fn measure(
    graph: &Graph,
    index: &RuleIndex,
    relation: RelationId,
    questions: &[&(EntityId, RelationId, Vec<EntityId>)],
    control: &Control,
) -> Option<Measured> {
    let mut measured = Measured::default();
    if questions.is_empty() {
        return Some(measured);
    }
    let (steps, set) = (index.steps(), index.set());
    let n = steps.entities();
    let inverse = steps.inverse(relation);
    let places = [set.of_head(relation), set.of_head(inverse)];
    let mut clusters = Clusters::new(&places);
    let mut overlapping = vec![Overlapping::new(steps, set, relation)];
    if inverse != relation {
        overlapping.push(Overlapping::new(steps, set, inverse));
    }
    for (at, &threshold) in TRIED.iter().enumerate() {
        for overlapping in &overlapping {
            clusters.put(at, overlapping.paths(threshold));
            clusters.put(at, overlapping.constants(threshold));
        }
    }
    let mut rows = [0, 1].map(|_| vec![vec![0.0f32; n]; TRIED.len()]);
    let mut both = vec![0.0f32; n];
    for (head, relation, tails) in questions {
        if control.is_late() {
            return None;
        }
        let known = known_tails(graph, steps.reciprocals(), *head, *relation);
        let hits = index.hits(*head, *relation);
        for (rows, hits) in rows.iter_mut().zip(&hits) {
            clusters.fold(set, hits, rows);
        }
        for (at, sum) in measured.sums.iter_mut().enumerate() {
            let (walked, named) = (&rows[0][at / TRIED.len()], &rows[1][at % TRIED.len()]);
            both.iter_mut().zip(walked.iter().zip(named)).for_each(|(both, (a, b))| *both = a + b);
            *sum +=
                tails.iter().map(|&tail| 1.0 / filtered_rank(&both, tail, &known, Ties::Mean)).sum::<f64>();
        }
        measured.count += tails.len() as f64;
        for (rows, hits) in rows.iter_mut().zip(&hits) {
            for row in rows {
                for (candidate, _) in hits {
                    row[candidate.index()] = 0.0;
                }
            }
        }
    }
    Some(measured)
}

/// The clusters of a relation's rules under every threshold.
struct Clusters {
    places: [std::ops::Range<usize>; 2],
    /// For each threshold the leader of each rule, in the numbering of this relation.
    leaders: Vec<Vec<u32>>,
    /// When each cluster spoke last.
    spoke: Vec<Vec<u32>>,
    now: u32,
}

impl Clusters {
    fn new(places: &[std::ops::Range<usize>; 2]) -> Self {
        let len = places[0].len() + places[1].len();
        let own: Vec<u32> = (0..len as u32).collect();
        Self {
            places: places.clone(),
            leaders: vec![own; TRIED.len()],
            spoke: vec![vec![0; len]; TRIED.len()],
            now: 0,
        }
    }

    fn number(&self, place: u32) -> usize {
        let [first, second] = &self.places;
        let place = place as usize;
        if first.contains(&place) { place - first.start } else { first.len() + place - second.start }
    }

    fn put(&mut self, threshold: usize, found: Vec<(u32, u32)>) {
        for (place, leader) in found {
            let (place, leader) = (self.number(place), self.number(leader));
            self.leaders[threshold][place] = leader as u32;
        }
    }

    /// Adds up the strongest of each cluster, candidate by candidate, under every threshold.
    fn fold(&mut self, set: &RuleSet, hits: &[(EntityId, u32)], rows: &mut [Vec<f32>]) {
        for of_candidate in hits.chunk_by(|a, b| a.0 == b.0) {
            self.now += 1;
            let candidate = of_candidate[0].0.index();
            for &(_, place) in of_candidate {
                let strength = strength(set.rules()[place as usize].confidence);
                let number = self.number(place);
                for ((leaders, spoke), row) in self.leaders.iter().zip(&mut self.spoke).zip(rows.iter_mut()) {
                    let last = &mut spoke[leaders[number] as usize];
                    if *last != self.now {
                        *last = self.now;
                        row[candidate] += strength;
                    }
                }
            }
        }
    }
}
