//! Bodies of three atoms: found by walks around training edges, judged by a sample of starts.

use std::time::Instant;

use rayon::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet};

use super::short::Links;
use super::{
    LEAST_CONFIDENCE, LEAST_CORRECT, MineSettings, Mined, MiningProgress, MiningStage, Quota, limit,
    main_relations,
};
use crate::control::Control;
use crate::graph::{Arc, EntityId, Id, RelationId};
use crate::model::rules::{Body, PESSIMISM, Path, REACH, Rule, RuleError, Steps, Walker};
use crate::random::Rng;

/// Walks that are drawn for a relation in one round.
const ROUND: u64 = 2_000;
/// Walks that are drawn around one edge.
const AROUND: usize = 8;
/// Arcs of the first entity of a walk that are looked at.
const ARCS: usize = 512;
/// Bodies of a relation that a round judges at most: those that were met most often.
const JUDGED: usize = 250;
/// Starts from which a body is judged.
const STARTS: usize = 400;
/// After so many starts a body that seldom holds is given up.
const FIRST_LOOK: usize = 80;
/// What is found is kept after so many rounds.
const KEPT: u64 = 8;

pub(super) fn mine(
    steps: &Steps,
    settings: &MineSettings,
    quota: Quota,
    mined: &mut Mined,
    control: &Control,
    keep: &mut dyn FnMut(&Mined) -> Result<(), RuleError>,
) -> Result<(), RuleError> {
    let heads: Vec<Head> = main_relations(steps).into_iter().map(|head| Head::of(steps, head)).collect();
    let links = Links::of(steps);
    let starts = Starts::of(steps, settings.seed);
    let a_round = ROUND * heads.len() as u64;
    // The time is that of drawing alone: what comes before is done whatever it takes.
    let ends = settings.time.and_then(|time| Instant::now().checked_add(time));
    let drawing = ends.map_or_else(|| control.clone(), |ends| control.ending_by(ends));
    let wanted = match settings.time {
        Some(_) => settings.paths,
        None => Some(settings.paths.unwrap_or(MineSettings::DEFAULT_PATHS * heads.len() as u64)),
    };
    let is_enough = |paths: u64| wanted.is_some_and(|wanted| paths >= wanted);
    let mut judged: Vec<FxHashSet<Path>> = vec![FxHashSet::default(); heads.len()];
    for rule in &mined.rules {
        if let Body::Path(path) = rule.body
            && path.steps().len() == 3
            && let Ok(at) = heads.binary_search_by_key(&rule.head, |head| head.relation)
        {
            judged[at].insert(path);
        }
    }
    while !is_enough(mined.paths) {
        // A run that is resumed with more walks draws the same rounds.
        let (round, within) = (mined.paths / a_round, mined.paths % a_round);
        let left = wanted.map_or(u64::MAX, |wanted| wanted - mined.paths).min(a_round - within);
        let each = left.div_ceil(heads.len() as u64);
        let work = heads.par_iter().zip(&mut judged).with_max_len(1);
        let found: Vec<Option<Vec<Rule>>> = work
            .map_init(
                || Room { walker: Walker::new(steps.entities()), marks: vec![0; steps.entities()], stamp: 0 },
                |room, (head, judged)| {
                    let stream = round << 24 | u64::from(head.relation.0);
                    let mut rng = Rng::stream(settings.seed ^ within, stream);
                    let bodies = head.draw(steps, &links, &mut rng, each as usize, room);
                    let mut rules = Vec::new();
                    for path in bodies {
                        if drawing.is_late() {
                            return None;
                        }
                        if judged.insert(path) {
                            rules.extend(judge(steps, head.relation, path, &starts, room));
                        }
                    }
                    Some(rules)
                },
            )
            .collect();
        // A round that was cut short is drawn again when the run is resumed.
        let whole = found.iter().all(Option::is_some);
        mined.rules.extend(found.into_iter().flatten().flatten());
        limit(&mut mined.rules, quota.walks);
        if !whole {
            // When the time to draw is up, all is done that was asked for.
            mined.finished = !control.is_late();
            return Ok(());
        }
        mined.paths += left;
        let (done, rules) = (mined.paths, mined.rules.len());
        control.tell(&MiningProgress { stage: MiningStage::Long, done, all: wanted.unwrap_or(0), rules });
        if (round + 1).is_multiple_of(KEPT) {
            keep(mined)?;
        }
        if drawing.is_late() && !is_enough(mined.paths) {
            mined.finished = !control.is_late();
            return Ok(());
        }
    }
    mined.finished = true;
    Ok(())
}

/// A relation with its training edges, from which walks are drawn.
struct Head {
    relation: RelationId,
    /// How many edges there are up to and with each start.
    sums: Vec<usize>,
}

/// What a thread needs.
struct Room {
    walker: Walker,
    marks: Vec<u32>,
    stamp: u32,
}

impl Head {
    fn of(steps: &Steps, relation: RelationId) -> Self {
        let mut sum = 0;
        let count = |&x: &EntityId| {
            sum += steps.along(x, relation).len();
            sum
        };
        let sums = steps.starts(relation).iter().map(count).collect();
        Self { relation, sums }
    }

    fn edge(&self, steps: &Steps, rng: &mut Rng) -> (EntityId, EntityId) {
        let at = rng.below(self.sums.last().copied().unwrap_or(0));
        let start = self.sums.partition_point(|&sum| sum <= at);
        let x = steps.starts(self.relation)[start];
        let arcs = steps.along(x, self.relation);
        (x, arcs[self.sums[start] - 1 - at].neighbour)
    }

    /// The bodies of three atoms that the most of so many walks around training edges go along.
    fn draw(&self, steps: &Steps, links: &Links, rng: &mut Rng, walks: usize, room: &mut Room) -> Vec<Path> {
        let mut met: FxHashMap<Path, u32> = FxHashMap::default();
        for _ in 0..walks.div_ceil(AROUND) {
            let (x, y) = self.edge(steps, rng);
            room.stamp += 1;
            for &(b, _) in links.from(y) {
                room.marks[b.index()] = room.stamp;
            }
            let from_x = steps.from(x);
            for _ in 0..AROUND {
                let first = from_x[rng.below(from_x.len())];
                let a = first.neighbour;
                if a == y {
                    continue;
                }
                for second in some(steps.from(a), rng) {
                    let b = second.neighbour;
                    if b == x || b == y || room.marks[b.index()] != room.stamp {
                        continue;
                    }
                    for &(_, back) in links.between(y, b) {
                        let body = [first.relation, second.relation, steps.inverse(back)];
                        if let Some(path) = Path::new(&body) {
                            *met.entry(path).or_default() += 1;
                        }
                    }
                }
            }
        }
        let mut met: Vec<(Path, u32)> = met.into_iter().filter(|(_, times)| *times > 1).collect();
        met.sort_unstable_by_key(|&(path, times)| (std::cmp::Reverse(times), path));
        met.into_iter().take(JUDGED).map(|(path, _)| path).collect()
    }
}

/// All arcs, or where they are too many some in a row, from anywhere on.
fn some<'a>(arcs: &'a [Arc], rng: &mut Rng) -> impl Iterator<Item = &'a Arc> {
    let from = if arcs.len() > ARCS { rng.below(arcs.len()) } else { 0 };
    arcs[from..].iter().chain(&arcs[..from]).take(ARCS)
}

/// For each relation some of the entities from which it leads.
struct Starts {
    of: Vec<Vec<EntityId>>,
}

impl Starts {
    fn of(steps: &Steps, seed: u64) -> Self {
        let draw = |relation: usize| {
            let mut starts = steps.starts(RelationId::from_index(relation)).to_vec();
            Rng::stream(seed, 1 << 40 | relation as u64).shuffle(&mut starts);
            starts.truncate(STARTS);
            starts
        };
        Self { of: (0..steps.relations()).map(draw).collect() }
    }
}

/// How often a body is right, from a sample of its starts; `None` if it is not worth keeping.
fn judge(steps: &Steps, head: RelationId, path: Path, starts: &Starts, room: &mut Room) -> Option<Rule> {
    let first = path.steps()[0];
    let sample = &starts.of[first.index()];
    let all = steps.starts(first).len();
    let mut ends = Vec::new();
    let mut seen: Vec<(f64, f64)> = Vec::with_capacity(sample.len());
    let (mut predicted, mut correct) = (0.0, 0.0);
    for (looked_at, &x) in sample.iter().enumerate() {
        room.walker.ends(steps, x, &path, REACH, &mut ends);
        let right = ends.iter().filter(|&&y| steps.leads(x, head, y)).count() as f64;
        let here = ends.len() as f64;
        predicted += here;
        correct += right;
        seen.push((here, right));
        let hopeless = (correct + 3.0) / (predicted + 1.0) < f64::from(LEAST_CONFIDENCE) * 2.0;
        if looked_at >= FIRST_LOOK && hopeless {
            return None;
        }
    }
    let scale = all as f64 / sample.len().max(1) as f64;
    let (all_predicted, all_correct) = ((predicted * scale).round(), (correct * scale).round());
    let confidence = (all_correct / (all_predicted + PESSIMISM)) as f32;
    if all_correct < f64::from(LEAST_CORRECT) || confidence < LEAST_CONFIDENCE {
        return None;
    }
    Some(Rule {
        head,
        body: Body::Path(path),
        predicted: all_predicted.min(f64::from(u32::MAX)) as u32,
        correct: all_correct.min(f64::from(u32::MAX)) as u32,
        confidence,
        error: standard_error(&seen, all) as f32,
    })
}

/// The standard error of a ratio of two sums over a sample without replacement. The ratio is taken as if there were one
/// more prediction that is right and one that is wrong: a sample in which all are right leaves an error too.
fn standard_error(sample: &[(f64, f64)], all: usize) -> f64 {
    let n = sample.len() as f64;
    let predicted: f64 = sample.iter().map(|it| it.0).sum();
    let correct: f64 = sample.iter().map(|it| it.1).sum();
    if sample.len() < 2 || predicted <= 0.0 || sample.len() >= all {
        return 0.0;
    }
    let ratio = (correct + 1.0) / (predicted + 2.0);
    let squares: f64 = sample.iter().map(|(here, right)| (right - ratio * here).powi(2)).sum();
    let left_out = 1.0 - n / all as f64;
    (left_out * squares / (n - 1.0) / n).sqrt() / (predicted / n)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_stated_error_is_that_of_repeated_samples() {
        let mut rng = Rng::new(4);
        let all: Vec<(f64, f64)> = (0..2000)
            .map(|_| {
                let here = 1 + rng.below(9);
                let right = (0..here).filter(|_| rng.below(4) == 0).count();
                (here as f64, right as f64)
            })
            .collect();
        let mut drawn = all.clone();
        let (mut ratios, mut stated) = (Vec::new(), 0.0);
        for _ in 0..300 {
            rng.shuffle(&mut drawn);
            let sample = &drawn[..200];
            let sum = |of: fn(&(f64, f64)) -> f64| sample.iter().map(of).sum::<f64>();
            ratios.push(sum(|it| it.1) / sum(|it| it.0));
            stated += standard_error(sample, all.len()) / 300.0;
        }
        let mean = ratios.iter().sum::<f64>() / 300.0;
        let spread = (ratios.iter().map(|ratio| (ratio - mean).powi(2)).sum::<f64>() / 299.0).sqrt();
        assert!((spread / stated - 1.0).abs() < 0.15, "{spread} {stated}");
        assert!(standard_error(&all, all.len()) <= 0.0, "all of them leave no error");
        let right = [(3.0, 3.0); 400];
        assert!(standard_error(&right, 401) > 0.0, "the one that was not looked at may be wrong");
    }
}
