//! The truth of atoms: all that a search needs of a model and a graph.

use rayon::prelude::*;

use super::evidence::RuleEvidence;
use super::facts::Facts;
use super::why::Why;
use crate::graph::{EntityId, Graph, Id, Members, RelationId, Split};
use crate::kernels::{Threads, exp_sum, scale_by};
use crate::model::{Calibration, Model, Reciprocals};
use crate::query::{Direction, Hop};

/// How true atoms are. A search knows nothing else of graphs and models.
pub trait AtomTruth: Sync {
    /// How many entities there are.
    fn entities(&self) -> usize;

    /// Writes one row for each pair: how true it is that the hop leads from the entity to each entity. Pairs
    /// that are asked for together are scored in one product where that can be.
    fn pairs(&self, pairs: &[(EntityId, Hop)], rows: &mut [f32]);

    /// The split of the trusted graph that holds the edge, if one does.
    fn known(&self, from: EntityId, hop: Hop, to: EntityId) -> Option<Split>;

    /// The split that holds the edge, trusted or not.
    fn stored(&self, from: EntityId, hop: Hop, to: EntityId) -> Option<Split>;

    /// Names the entities to which a hop leads by trusted edges: there a row is exactly 1. An implementation may
    /// name only some of them, or none; a search then takes more rows to prove the same answers.
    fn facts(&self, from: EntityId, hop: Hop, each: &mut dyn FnMut(EntityId));

    /// Writes for each entity of `from`, one after another, upper bounds on its row along the hop at each entity
    /// of `at`; these are distinct. Returns `false` and writes nothing if no bound below 1 is known.
    fn at_most(&self, from: &[EntityId], hop: Hop, at: &[EntityId], bounds: &mut [f32]) -> bool;

    /// The most that a row can hold where [`facts`](Self::facts) names no edge.
    fn ceiling(&self) -> f32;

    /// What speaks for an edge that is not trusted and has this truth; `None` where there is nothing to tell beside it.
    fn why(&self, _from: EntityId, _hop: Hop, _to: EntityId, _truth: f32) -> Option<Why> {
        None
    }
}

/// Which edges of the graph count as true.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Known {
    /// The edges of the first so many splits, train first, are exactly 1.
    Trust(usize),
    /// No edges: every truth value comes from the predictor, as in the paper.
    Ignore,
}

impl Known {
    /// The training edges, the only ones that a benchmark may trust.
    pub const TRAIN: Self = Self::Trust(1);
    /// The edges of all splits, the default for people who ask.
    pub const ALL: Self = Self::Trust(3);

    /// Every choice with its name in settings, options and replies.
    const NAMES: [(&'static str, Self); 4] =
        [("none", Self::Ignore), ("train", Self::TRAIN), ("train+valid", Self::Trust(2)), ("all", Self::ALL)];

    /// The name: `all`, `train+valid`, `train` or `none`.
    pub fn name(self) -> &'static str {
        Self::NAMES.iter().find(|(_, known)| *known == self).map_or("none", |(name, _)| name)
    }

    /// The choice of a name. `trust` and `ignore` are old names of `all` and `none`.
    pub fn from_name(name: &str) -> Option<Self> {
        match name {
            "trust" => Some(Self::ALL),
            "ignore" => Some(Self::Ignore),
            name => Self::NAMES.iter().find(|(known, _)| *known == name).map(|(_, known)| *known),
        }
    }

    pub(crate) fn splits(self) -> &'static [Split] {
        match self {
            Self::Trust(count) => &Split::ALL[..count.min(3)],
            Self::Ignore => &[],
        }
    }
}

/// Atoms scored by a link predictor, calibrated, with known facts trusted or not.
pub struct Scorer<'a> {
    pub(super) model: &'a Model,
    pub(super) facts: Facts<'a>,
    reciprocals: Reciprocals,
    pub(super) calibration: Calibration,
    pub(super) sharpness: f32,
    unseen: f32,
    pub(super) rules: Option<RuleEvidence<'a>>,
    graph: &'a Graph,
}

impl<'a> Scorer<'a> {
    /// The model must be one of this graph, and it must have what the calibration needs (see [`Model::lacks`]). If it
    /// has not, [`Calibration::Adaptive`] is the same as [`Calibration::Sigmoid`], and [`Calibration::Fitted`] takes
    /// the curve from which a fit starts.
    pub fn new(model: &'a Model, graph: &'a Graph, calibration: Calibration, known: Known) -> Self {
        Self {
            model,
            facts: Facts::new(graph, known),
            reciprocals: Reciprocals::of(graph),
            calibration,
            sharpness: 1.0,
            unseen: 1.0,
            rules: None,
            graph,
        }
    }

    /// The same with scores multiplied by a number before a softmax: below 1 it is softer, and
    /// candidates below the best get a larger share.
    #[must_use]
    pub fn with_sharpness(self, sharpness: f32) -> Self {
        Self { sharpness, ..self }
    }

    /// The same with predictions multiplied by a weight where the entity that they lead to is not of the kind
    /// that stands on that side of the relation in training ([`Sides`](crate::graph::Sides)): below 1 things
    /// of a wrong kind count less, at 0 not at all.
    #[must_use]
    pub fn with_unseen(self, unseen: f32) -> Self {
        Self { unseen, ..self }
    }

    /// The same with rules beside the predictor, or in its place. Raw scores are no truth values that they could
    /// be joined with: then rules are left out.
    #[must_use]
    pub fn with_rules(self, rules: Option<RuleEvidence<'a>>) -> Self {
        let rules = rules.filter(|_| self.calibration.is_truth());
        Self { rules, ..self }
    }

    /// The rules that speak beside the predictor, or in its place.
    pub fn rules(&self) -> Option<RuleEvidence<'a>> {
        self.rules
    }

    /// How scores become truth values.
    pub fn calibration(&self) -> Calibration {
        self.calibration
    }

    /// The factor of predictions that lead to an entity of another kind.
    pub fn unseen(&self) -> f32 {
        self.unseen
    }

    /// Whether single edges can be bounded without their rows.
    pub fn bounds_edges(&self) -> bool {
        !matches!(self.calibration, Calibration::MinMax | Calibration::Raw)
    }

    /// The entities of the kind to which a hop leads.
    pub(crate) fn kind(&self, hop: Hop) -> &'a Members {
        match hop.direction {
            Direction::Forward => self.graph.sides().object_kind(hop.relation),
            Direction::Backward => self.graph.sides().subject_kind(hop.relation),
        }
    }

    /// What the truth of an edge is multiplied with, because of the kind of entity that it leads to.
    pub(super) fn kind_factor(&self, hop: Hop, to: EntityId) -> f32 {
        if self.unseen >= 1.0 || !self.calibration.is_truth() {
            return 1.0;
        }
        let kind = self.kind(hop);
        if kind.is_empty() || kind.contains(to) { 1.0 } else { self.unseen }
    }

    /// Multiplies the truth of entities that are not of the kind to which the hop leads.
    fn weigh(&self, hop: Hop, row: &mut [f32]) {
        // Raw scores may be negative, and a weight below 1 would raise those.
        if self.unseen >= 1.0 || !self.calibration.is_truth() {
            return;
        }
        let kind = self.kind(hop);
        // A relation without training edges says nothing about kinds.
        if kind.is_empty() {
            return;
        }
        let (mut from, n) = (0, row.len());
        for next in kind.iter().map(Id::index).take_while(|&next| next < n) {
            scale_by(&mut row[from..next], self.unseen);
            from = next + 1;
        }
        scale_by(&mut row[from..], self.unseen);
    }

    /// How true the predictor alone says it is that a hop leads to an entity; 0 where rules are alone.
    pub fn by_predictor(&self, from: EntityId, hop: Hop, to: EntityId) -> f32 {
        if self.rules.is_some_and(|rules| rules.alone) {
            return 0.0;
        }
        let mut row = vec![0.0; self.entities()];
        self.model.scores(&[(from, self.relation(hop))], &mut row);
        self.calibrate(from, hop, &mut row);
        self.weigh(hop, &mut row);
        row.get(to.index()).copied().unwrap_or(0.0)
    }

    /// For each entity of `from` an upper bound on what any missing edge to one of `at` is worth, where no row of
    /// rules is made: theirs takes longer than a bound of the predictor, and only rows near the best are worth it.
    /// Edges to entities that are not of the right kind are not weighed down. `None` if no bound is known.
    pub(crate) fn best_missing(&self, from: &[EntityId], hop: Hop, at: &[EntityId]) -> Option<Vec<f32>> {
        let mut bounds = vec![0.0; from.len() * at.len()];
        if !super::at_most::of_predictor(self, from, hop, at, &mut bounds) {
            return None;
        }
        let best = |(&head, bounds): (&EntityId, &[f32])| {
            let missing = at.iter().zip(bounds).filter(|(x, _)| self.stored(head, hop, **x).is_none());
            let predicted = missing.map(|(_, bound)| *bound).reduce(f32::max)?;
            let Some(rules) = self.rules else { return Some(predicted) };
            // What is mixed is rounded once more.
            Some((rules.at_most(head, self.relation(hop), predicted) * 1.000_001).min(1.0))
        };
        let rows = from.par_iter().zip(bounds.par_chunks_exact(at.len().max(1)));
        let rows = rows.with_min_len(Threads::here().grain());
        Some(rows.map(|row| best(row).unwrap_or(0.0)).collect())
    }

    /// The relation of the model that reads the hop forwards.
    pub fn model_relation(&self, hop: Hop) -> RelationId {
        self.relation(hop)
    }

    /// Turns the scores of a head's row into truth values.
    pub(super) fn calibrate(&self, head: EntityId, hop: Hop, row: &mut [f32]) {
        // Tails are counted in the training graph, whatever is trusted, because the model has seen no other.
        let known_tails = self.facts.neighbours(Split::Train, head, hop).len();
        if self.calibration.is_softmax() && self.sharpness.to_bits() != 1f32.to_bits() {
            scale_by(row, self.sharpness);
        }
        if let (Calibration::Adaptive, Some(affine)) = (self.calibration, self.model.affine()) {
            affine.apply(self.relation(hop), row);
        }
        if self.calibration == Calibration::Fitted {
            let sum = exp_sum(row);
            return self.model.fitted_row(self.relation(hop), known_tails).apply(row, sum);
        }
        self.calibration.apply(row, known_tails);
    }

    /// The relation of the model that reads the hop forwards.
    pub(super) fn relation(&self, hop: Hop) -> RelationId {
        match hop.direction {
            Direction::Forward => hop.relation,
            Direction::Backward => self.reciprocals.inverse(hop.relation),
        }
    }
}

impl AtomTruth for Scorer<'_> {
    fn entities(&self) -> usize {
        self.model.entity_count()
    }

    fn pairs(&self, pairs: &[(EntityId, Hop)], rows: &mut [f32]) {
        let alone = self.rules.is_some_and(|rules| rules.alone);
        if alone {
            rows.fill(0.0);
        } else {
            let queries: Vec<(EntityId, RelationId)> =
                pairs.iter().map(|&(head, hop)| (head, self.relation(hop))).collect();
            self.model.scores(&queries, rows);
        }
        // Walks take longer than the passes over a row, so that fewer of them are worth a thread.
        let grain = if self.rules.is_some() { 1 } else { Threads::here().grain() };
        let rows = rows.par_chunks_exact_mut(self.entities()).zip(pairs);
        rows.with_min_len(grain).for_each(|(row, &(head, hop))| {
            if !alone {
                self.calibrate(head, hop, row);
            }
            if let Some(rules) = self.rules {
                rules.mix(head, self.relation(hop), row);
            }
            self.weigh(hop, row);
            self.facts.mark(head, hop, row);
        });
    }

    fn known(&self, from: EntityId, hop: Hop, to: EntityId) -> Option<Split> {
        self.facts.known(from, hop, to)
    }

    fn stored(&self, from: EntityId, hop: Hop, to: EntityId) -> Option<Split> {
        self.facts.stored(from, hop, to)
    }

    fn facts(&self, from: EntityId, hop: Hop, each: &mut dyn FnMut(EntityId)) {
        self.facts.facts(from, hop, each);
    }

    fn at_most(&self, from: &[EntityId], hop: Hop, at: &[EntityId], bounds: &mut [f32]) -> bool {
        super::at_most::at_most(self, from, hop, at, bounds)
    }

    fn why(&self, from: EntityId, hop: Hop, to: EntityId, truth: f32) -> Option<Why> {
        self.why_edge(from, hop, to, truth)
    }

    fn ceiling(&self) -> f32 {
        match self.calibration {
            Calibration::SoftmaxCount | Calibration::Fitted => Calibration::CEILING,
            _ => 1.0,
        }
    }
}
