//! Mining: the rules that the training edges bear out.
//!
//! Bodies of one and two atoms, and those with constants, are all looked at and counted exactly. Bodies of three
//! are too many for that: walks around training edges find those that are worth it, and a sample of starts
//! says how often they are right. What is drawn depends on the seed and on how many walks were drawn before,
//! so a run that was stopped and resumed finds what one that was not finds.

mod constants;
mod fit;
mod long;
mod short;
#[cfg(test)]
mod tests;
mod weigh;

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use crate::control::Control;
use crate::graph::{Id, RelationId};
use crate::model::rules::{Body, Rule, RuleError, RuleSet, Steps};

pub use fit::{Fitted, fit};
pub use weigh::{RuleWeights, weigh};

/// How to mine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MineSettings {
    /// What is drawn.
    pub seed: u64,
    /// The most atoms of a body, from 1 to 3.
    pub max_length: usize,
    /// Walks to draw for bodies of three atoms; `None`: until the time is up, or [`DEFAULT_PATHS`](Self::DEFAULT_PATHS)
    /// for each relation where there is no end in time.
    pub paths: Option<u64>,
    /// How long to draw walks for bodies of three atoms, from when the shorter ones are counted.
    pub time: Option<Duration>,
    /// Bytes of memory for the training edges as mining needs them and the rules that are held, not for the graph and
    /// what the learning of clusters takes.
    pub memory: usize,
}

impl MineSettings {
    /// Walks for each relation where nobody says how many.
    pub const DEFAULT_PATHS: u64 = 8_000;
    /// Bytes of memory where nobody says how many.
    pub const DEFAULT_MEMORY: usize = 2 << 30;
}

impl Default for MineSettings {
    fn default() -> Self {
        Self { seed: 0, max_length: 3, paths: None, time: None, memory: Self::DEFAULT_MEMORY }
    }
}

/// The least number of correct predictions of a rule.
pub(super) const LEAST_CORRECT: u32 = 2;
/// The same of a rule with constants, of which there are many more.
pub(super) const LEAST_CORRECT_NAMED: u32 = 3;
/// The least confidence of a rule between variables.
pub(super) const LEAST_CONFIDENCE: f32 = 0.005;
/// The least confidence of a rule with constants.
pub(super) const LEAST_CONFIDENCE_NAMED: f32 = 0.02;
/// The most rules between variables that a relation keeps.
const PATHS_OF_HEAD: usize = 1_000;
/// What a rule takes while it is mined, sorted, clustered and written.
const BYTES_OF_RULE: usize = 160;
/// The most rules with constants, whatever the memory.
const MOST_NAMED: usize = 6_000_000;
/// Mining is refused where there is not room for so many rules.
const FEWEST: usize = 100_000;

/// An event: how far mining is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MiningProgress {
    /// What is done.
    pub stage: MiningStage,
    /// How much of it.
    pub done: u64,
    /// Of how much; 0 where only time ends it.
    pub all: u64,
    /// Rules found so far.
    pub rules: usize,
}

/// The parts of mining, in their order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum MiningStage {
    /// Rules with constants; the heads are counted.
    Constants,
    /// Bodies of one or two atoms; their first relations are counted.
    Short,
    /// Bodies of three atoms; walks are counted.
    Long,
    /// Which rules say the same thing, learned on validation edges; relations are counted.
    Clusters,
}

/// What was found so far, and where to go on.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Mined {
    /// The rules.
    pub rules: Vec<Rule>,
    /// Walks that were drawn; 0 also where the exact part is not done.
    pub paths: u64,
    /// Whether the exact part is done.
    pub short: bool,
    /// Whether all is done that was asked for.
    pub finished: bool,
}

/// Mines the rules of a graph, from the beginning or on from what an earlier run found. When it is asked to stop
/// it gives what it has. `keep` is called now and then with all that was found.
pub fn mine(
    steps: &Steps,
    settings: &MineSettings,
    begun: Option<Mined>,
    control: &Control,
    keep: &mut dyn FnMut(&Mined) -> Result<(), RuleError>,
) -> Result<Mined, RuleError> {
    if steps.arcs() == 0 {
        return Err(RuleError::NoEdges);
    }
    let quota = Quota::of(steps, settings)?;
    let mut mined = begun.unwrap_or_default();
    if !mined.short {
        mined = Mined::default();
        let (named, whole) = constants::mine(steps, quota.named, control);
        mined.rules = named;
        let found = mined.rules.len();
        let (short, also_whole) = short::mine(steps, settings.max_length, quota.walks, found, control);
        mined.rules.extend(short);
        mined.short = whole && also_whole;
        if !mined.short {
            return Ok(mined);
        }
        if settings.max_length >= 3 {
            keep(&mined)?;
        }
    }
    if settings.max_length < 3 {
        mined.finished = true;
        return Ok(mined);
    }
    long::mine(steps, settings, quota, &mut mined, control, keep)?;
    Ok(mined)
}

/// Counts what the threads of a stage have done, and tells how far it is.
struct Tally {
    stage: MiningStage,
    all: u64,
    done: AtomicUsize,
    rules: AtomicUsize,
}

impl Tally {
    /// Of a stage of so many parts, before which so many rules were found.
    fn new(stage: MiningStage, all: usize, rules: usize) -> Self {
        Self { stage, all: all as u64, done: AtomicUsize::new(0), rules: AtomicUsize::new(rules) }
    }

    /// Tells that this part begins, however short ago something else was told.
    fn begin(&self, control: &Control) {
        let rules = self.rules.load(Ordering::Relaxed);
        control.tell(&MiningProgress { stage: self.stage, done: 0, all: self.all, rules });
    }

    /// One more part is done, in which so many rules were found.
    fn add(&self, found: usize, control: &Control) {
        let rules = self.rules.fetch_add(found, Ordering::Relaxed) + found;
        let done = self.done.fetch_add(1, Ordering::Relaxed) as u64 + 1;
        control.report(|| MiningProgress { stage: self.stage, done, all: self.all, rules });
    }
}

/// How many rules there is room for.
#[derive(Clone, Copy, Debug)]
struct Quota {
    /// Rules with constants, of all relations together.
    named: usize,
    /// Walks, of each relation.
    walks: usize,
}

impl Quota {
    fn of(steps: &Steps, settings: &MineSettings) -> Result<Self, RuleError> {
        // Steps, their groups and links; marks and counters of every thread. Counted for eight of them, whatever the
        // machine: how many rules are kept must not depend on it.
        let fixed = steps.arcs() * 40 + 8 * (steps.entities() * 24 + steps.arcs() * 4);
        let least = fixed + FEWEST.max(4 * steps.relations()) * BYTES_OF_RULE;
        if settings.memory < least {
            let mega = |bytes: usize| bytes.div_ceil(1 << 20);
            return Err(RuleError::Memory { needed: mega(least), given: mega(settings.memory) });
        }
        let all = (settings.memory - fixed) / BYTES_OF_RULE;
        let heads = main_relations(steps).len().max(1);
        // Walks say more than rules with constants, but there are never so many of them that these have no room.
        let walks = (all / 2 / heads).min(PATHS_OF_HEAD);
        Ok(Self { named: (all - walks * heads).min(MOST_NAMED), walks })
    }
}

/// Keeps so many walks of each relation, the most confident.
fn limit(rules: &mut Vec<Rule>, of_head: usize) {
    rules.sort_unstable_by_key(Rule::order);
    let (mut head, mut walks) = (None, 0);
    rules.retain(|rule| {
        if head != Some(rule.head) {
            (head, walks) = (Some(rule.head), 0);
        }
        let is_walk = matches!(rule.body, Body::Path(_));
        walks += usize::from(is_walk);
        !is_walk || walks <= of_head
    });
}

/// The relations under which walks are kept.
fn main_relations(steps: &Steps) -> Vec<RelationId> {
    let all = (0..steps.relations()).map(RelationId::from_index);
    all.filter(|&relation| steps.main(relation) == relation && !steps.starts(relation).is_empty()).collect()
}

impl Mined {
    /// The rules as a set.
    pub fn set(&self) -> RuleSet {
        RuleSet::new(self.rules.clone())
    }
}
