//! From the raw score of an edge to its truth, without the other scores of its row.

use crate::graph::{EntityId, Members, RelationId, Split};
use crate::model::rules::SparseRow;
use crate::model::{Calibration, FittedRow, RowSummary};
use crate::query::Hop;
use crate::search::evidence::mixed;
use crate::search::truth::Scorer;

/// How a raw score of one row becomes a truth value: what [`Scorer`] does to whole rows, for single edges. It
/// never falls where the score grows, so the last score of a list bounds all that follow.
pub(super) struct RowTruth<'a> {
    curve: Curve,
    /// What rules say about the row, and how much that counts.
    rules: Option<(SparseRow, f32)>,
    /// The entities of the right kind, where others are weighed down; none are if the set is empty.
    kind: Option<&'a Members>,
    unseen: f32,
}

enum Curve {
    /// Rules speak alone.
    Silent,
    Sigmoid {
        a: f32,
        b: f32,
    },
    /// A straight line from the lowest score of the row to its highest.
    Line {
        low: f32,
        width: f32,
    },
    Exponential {
        sharpness: f32,
        log_sum: f64,
        count: f64,
        ceiling: f32,
    },
    /// A curve that was fitted to the shares of a softmax.
    Fitted {
        sharpness: f32,
        log_sum: f64,
        row: FittedRow,
    },
}

/// Whether truth values need a summary of their row.
pub(super) fn needs_summary(scorer: &Scorer<'_>) -> bool {
    let by_row = scorer.calibration.is_softmax() || scorer.calibration == Calibration::MinMax;
    by_row && !speaks_alone(scorer)
}

/// The sharpness of the sum over a row, where one is needed.
pub(super) fn sharpness(scorer: &Scorer<'_>) -> Option<f32> {
    scorer.calibration.is_softmax().then_some(scorer.sharpness)
}

/// Whether rules alone say how true an edge is, so that no score is needed.
pub(super) fn speaks_alone(scorer: &Scorer<'_>) -> bool {
    scorer.rules.is_some_and(|rules| rules.alone)
}

impl<'a> RowTruth<'a> {
    /// `None` if the row needs a summary and has none.
    pub(super) fn new(
        scorer: &Scorer<'a>,
        head: EntityId,
        hop: Hop,
        summary: Option<RowSummary>,
    ) -> Option<Self> {
        let relation = scorer.relation(hop);
        let kind = (scorer.unseen() < 1.0).then(|| scorer.kind(hop));
        let rules = scorer.rules.and_then(|rules| rules.row(head, relation));
        let curve = if speaks_alone(scorer) {
            Curve::Silent
        } else {
            Curve::of(scorer, head, hop, relation, summary)?
        };
        Some(Self { curve, rules, kind, unseen: scorer.unseen() })
    }

    /// How true the predictor alone says an edge of the right kind is.
    pub(super) fn predicted(&self, score: f32) -> f32 {
        match self.curve {
            Curve::Silent => 0.0,
            Curve::Sigmoid { a, b } => 1.0 / (1.0 + (-(score * a + b)).exp()),
            Curve::Line { low, width } => (score - low) / width,
            Curve::Exponential { sharpness, log_sum, count, ceiling } => {
                let share = (f64::from(score * sharpness) - log_sum).exp();
                ((share * count) as f32).min(ceiling)
            }
            Curve::Fitted { sharpness, log_sum, row } => row.of_share(f64::from(score * sharpness) - log_sum),
        }
    }

    /// How true an edge to an entity is that is not trusted.
    pub(super) fn of(&self, to: EntityId, score: f32) -> f32 {
        let predicted = self.predicted(score);
        let truth = match &self.rules {
            Some((row, weight)) => mixed(predicted, said_of(row, to), *weight),
            None => predicted,
        };
        self.weighed(to, truth)
    }

    /// How true an edge of the right kind is of which no rule speaks.
    pub(super) fn unnamed(&self, score: f32) -> f32 {
        let predicted = self.predicted(score);
        self.rules.as_ref().map_or(predicted, |(_, weight)| mixed(predicted, 0.0, *weight))
    }

    /// How true the predictor alone says an edge is.
    pub(super) fn by_predictor(&self, to: EntityId, score: f32) -> f32 {
        self.weighed(to, self.predicted(score))
    }

    /// The entities that rules speak of.
    pub(super) fn rule_tails(&self) -> impl Iterator<Item = EntityId> {
        self.rules.iter().flat_map(|(row, _)| row.iter().map(|&(tail, _)| tail))
    }

    fn weighed(&self, to: EntityId, truth: f32) -> f32 {
        let is_other = self.kind.is_some_and(|kind| !kind.is_empty() && !kind.contains(to));
        if is_other { truth * self.unseen } else { truth }
    }
}

impl Curve {
    fn of(
        scorer: &Scorer<'_>,
        head: EntityId,
        hop: Hop,
        relation: RelationId,
        summary: Option<RowSummary>,
    ) -> Option<Self> {
        Some(match scorer.calibration {
            Calibration::Adaptive => {
                let (a, b) = scorer.model.affine().map_or((1.0, 0.0), |affine| affine.of(relation));
                Self::Sigmoid { a, b }
            }
            Calibration::Sigmoid | Calibration::Raw => Self::Sigmoid { a: 1.0, b: 0.0 },
            Calibration::MinMax => {
                let RowSummary { min, max, .. } = summary?;
                Self::Line { low: min, width: if max > min { max - min } else { 1.0 } }
            }
            Calibration::Fitted => {
                let known = scorer.facts.neighbours(Split::Train, head, hop).len();
                let RowSummary { log_sum, .. } = summary?;
                let row = scorer.model.fitted_row(relation, known);
                Self::Fitted { sharpness: scorer.sharpness, log_sum, row }
            }
            Calibration::Softmax | Calibration::SoftmaxCount => {
                let counted = scorer.calibration == Calibration::SoftmaxCount;
                let known = scorer.facts.neighbours(Split::Train, head, hop).len().max(1);
                let (count, ceiling) =
                    if counted { (known as f64, Calibration::CEILING) } else { (1.0, 1.0) };
                let RowSummary { log_sum, .. } = summary?;
                Self::Exponential { sharpness: scorer.sharpness, log_sum, count, ceiling }
            }
        })
    }
}

/// What a row of rules says of an entity.
fn said_of(row: &[(EntityId, f32)], to: EntityId) -> f32 {
    row.binary_search_by_key(&to, |it| it.0).map_or(0.0, |at| row[at].1)
}
