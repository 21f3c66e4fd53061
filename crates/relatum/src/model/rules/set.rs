//! The rules of a graph.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::rule::{Body, Rule, WORDS};
use crate::graph::{EntityId, RelationId};

/// Rules in their order, each with the strongest rule of its cluster.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RuleSet {
    /// The rules, in [`Rule::order`].
    rules: Vec<Rule>,
    /// For each rule the place of the strongest of those that say the same thing: itself, if it is that.
    leaders: Vec<u32>,
}

/// From which share of common predictions on two rules of a relation say the same thing.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Overlaps {
    /// Rules that are walks between two variables.
    pub paths: f32,
    /// Rules that name an object.
    pub constants: f32,
}

impl Default for Overlaps {
    fn default() -> Self {
        Self { paths: 0.3, constants: 0.1 }
    }
}

/// What a file of rules says of itself.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RuleCard {
    /// The version of this card.
    pub version: u32,
    /// Names, ids and training edges of the graph that the rules are about.
    pub fingerprint: String,
    /// What was drawn.
    pub seed: u64,
    /// The longest body.
    pub max_length: usize,
    /// Walks that were drawn to find bodies of three atoms.
    pub paths: u64,
    /// How many were to be drawn, where that was said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wanted: Option<u64>,
    /// The bytes of memory that mining might use, where that was said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory: Option<usize>,
    /// Whether the bodies that are counted exactly are done.
    pub short: bool,
    /// Whether everything that was asked for was done; else mining can be resumed.
    pub finished: bool,
    /// Whether rules came from a file of another program or of a person.
    #[serde(default)]
    pub imported: bool,
    /// From which overlap on rules count once, by relation of the model, where that was learned.
    #[serde(default)]
    pub overlaps: Vec<Overlaps>,
    /// MRR over the validation edges with rules alone that were looked at to learn this, and their number.
    #[serde(default)]
    pub valid: Option<(f64, usize)>,
}

impl RuleCard {
    /// The newest version.
    pub const VERSION: u32 = 1;
}

impl RuleSet {
    /// The rules, put in their order; of equal ones the most confident stays. Each is a cluster of its own.
    pub fn new(mut rules: Vec<Rule>) -> Self {
        rules.sort_unstable_by_key(Rule::order);
        // Equal rules with different confidences are not neighbours.
        let mut seen = rustc_hash::FxHashSet::default();
        rules.retain(|rule| seen.insert((rule.head, rule.body)));
        let leaders = (0..rules.len() as u32).collect();
        Self { rules, leaders }
    }

    /// The same with these clusters; `None` unless every leader is an earlier rule of the same head, or itself.
    pub fn with_leaders(self, leaders: Vec<u32>) -> Option<Self> {
        let fits = |(place, &leader): (usize, &u32)| {
            leader as usize <= place && self.rules[leader as usize].head == self.rules[place].head
        };
        let fit = leaders.len() == self.rules.len() && leaders.iter().enumerate().all(fits);
        fit.then_some(Self { leaders, ..self })
    }

    pub(super) fn with_leaders_unchecked(self, leaders: Vec<u32>) -> Self {
        Self { leaders, ..self }
    }

    /// The rules, by head, the most confident first.
    pub fn rules(&self) -> &[Rule] {
        &self.rules
    }

    /// The place of the strongest rule of each rule's cluster.
    pub fn leaders(&self) -> &[u32] {
        &self.leaders
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.rules.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.rules.is_empty()
    }

    /// The places of the rules with this head.
    pub fn of_head(&self, head: RelationId) -> Range<usize> {
        let from = self.rules.partition_point(|rule| rule.head < head);
        let to = self.rules.partition_point(|rule| rule.head <= head);
        from..to
    }

    /// How many rules have one, two and three atoms between variables, and how many name an object.
    pub fn kinds(&self) -> [usize; 4] {
        let mut kinds = [0; 4];
        for rule in &self.rules {
            kinds[match rule.body {
                Body::Path(path) => path.steps().len() - 1,
                _ => 3,
            }] += 1;
        }
        kinds
    }

    /// Whether a rule speaks of an entity.
    pub fn mentions(rule: &Rule, entity: EntityId) -> bool {
        match rule.body {
            Body::Path(_) => false,
            Body::Edge { object, to, .. } => object == entity || to == entity,
            Body::Some { object, .. } | Body::Always { object } => object == entity,
        }
    }

    /// The rules as numbers for a file.
    pub(crate) fn words(&self) -> Vec<[u32; WORDS]> {
        self.rules.iter().map(|rule| rule.to_words()).collect()
    }

    /// The rules of such numbers; `None` if they are not rules of a graph of this size, in their order.
    pub(crate) fn from_words(
        words: &[[u32; WORDS]],
        leaders: Vec<u32>,
        entities: usize,
        relations: usize,
    ) -> Option<Self> {
        let rules = words.iter().map(|&words| Rule::from_words(words, entities, relations));
        let rules = rules.collect::<Option<Vec<_>>>()?;
        let sorted = rules.is_sorted_by_key(Rule::order);
        sorted.then_some(Self { rules, leaders: Vec::new() })?.with_leaders(leaders)
    }
}
