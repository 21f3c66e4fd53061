//! How well a model predicts edges that it has not seen.

use rayon::prelude::*;

use super::{Engine, Error, OpenModel, WorkflowError};
use crate::benchmark::BenchmarkError;
use crate::control::Control;
use crate::graph::{EntityId, Id, RelationId, Split};
use crate::model::{Calibration, Reciprocals, Ties};
use crate::report::{End, LinkEvaluation, RelationEvaluation};
use crate::search::{AtomTruth, Evidence, Known, Scorer, SharedRules};
use crate::train::{LinkReport, RelationMetrics, evaluate_rows, evaluate_watched};

/// Which model to measure, on which edges.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LinkEvalOptions {
    /// The name of the model; if omitted, the project's default.
    pub model: Option<String>,
    /// The edges to predict; if omitted, test, or valid where there are no test edges.
    pub split: Option<Split>,
    /// Which rank an answer gets among candidates with the same score.
    pub ties: Ties,
    /// At most so many (head, relation) pairs, evenly spread over the split; none: all.
    pub pairs: Option<usize>,
    /// What speaks for an edge. Rules alone need no model.
    pub evidence: Evidence,
    /// The name of the rules; none: the default ones.
    pub rules: Option<String>,
}

impl LinkEvalOptions {
    fn most(&self) -> usize {
        self.pairs.unwrap_or(usize::MAX)
    }
}

impl Engine {
    /// Predicts every edge of a split from both its ends among all entities, except other true answers, and
    /// reports the ranks, in all and by relation.
    ///
    /// Listeners hear [`PairsRanked`](crate::train::PairsRanked).
    pub fn link_eval(&self, options: &LinkEvalOptions, control: &Control) -> Result<LinkEvaluation, Error> {
        let graph = self.graph();
        let default = if graph.edges(Split::Test).is_empty() { Split::Valid } else { Split::Test };
        let split = options.split.unwrap_or(default);
        if graph.edges(split).is_empty() {
            let dir = self.project().dir().to_owned();
            return Err(BenchmarkError::NoEdges { dir, split }.into());
        }
        let measured = match options.evidence {
            Evidence::Model => self.eval_model(options, split, control)?,
            Evidence::Rules => self.eval_rules(options, split, control)?,
            Evidence::Both => self.eval_both(options, split, control)?,
        };
        let Measured { model, predictor, rank, unfinished, report } = measured;
        if report.overflowed > 0 {
            return Err(BenchmarkError::Overflow { model, rows: report.overflowed }.into());
        }
        let of_relation = |row: RelationMetrics| RelationEvaluation {
            relation: graph.relations.name(row.relation).to_owned(),
            text: graph.relation_text(row.relation),
            predicts: if row.backwards { End::Heads } else { End::Tails },
            metrics: row.metrics.into(),
        };
        Ok(LinkEvaluation {
            model,
            predictor,
            rank,
            evidence: options.evidence.name().to_owned(),
            split,
            ties: options.ties,
            overall: report.overall.into(),
            tails: report.tails.into(),
            heads: report.heads.into(),
            queries: report.queries.into(),
            relations: report.relations.into_iter().map(of_relation).collect(),
            unfinished,
        })
    }

    fn eval_model(
        &self,
        options: &LinkEvalOptions,
        split: Split,
        control: &Control,
    ) -> Result<Measured, Error> {
        let open = self.model(options.model.as_deref())?;
        let report =
            evaluate_watched(&open.model, self.graph(), split, options.ties, options.most(), control);
        Measured::of(&open, report)
    }

    fn eval_rules(
        &self,
        options: &LinkEvalOptions,
        split: Split,
        control: &Control,
    ) -> Result<Measured, Error> {
        let rules = self.rules(options.rules.as_deref())?;
        let n = self.graph().entities.len();
        let scores = |pairs: &[(EntityId, RelationId)], rows: &mut [f32]| {
            rows.par_chunks_exact_mut(n).zip(pairs).for_each(|(row, &(head, relation))| {
                row.fill(0.0);
                for (tail, strength) in rules.index.strengths(head, relation) {
                    row[tail.index()] = strength;
                }
            });
        };
        let report = evaluate_rows(&scores, self.graph(), split, options.ties, options.most(), control);
        Ok(Measured {
            model: rules.name.clone(),
            predictor: "rules".to_owned(),
            rank: 0,
            unfinished: None,
            report: report.ok_or(WorkflowError::Stopped)?,
        })
    }

    fn eval_both(
        &self,
        options: &LinkEvalOptions,
        split: Split,
        control: &Control,
    ) -> Result<Measured, Error> {
        let open = self.model(options.model.as_deref())?;
        let shared = self.evidence(Evidence::Both, &open, options.rules.as_deref())?;
        let graph = self.graph();
        let scorer = Scorer::new(&open.model, graph, Calibration::default(), Known::Ignore)
            .with_rules(shared.as_ref().map(SharedRules::evidence));
        let reciprocals = Reciprocals::of(graph);
        let scores = |pairs: &[(EntityId, RelationId)], rows: &mut [f32]| {
            let pairs: Vec<_> =
                pairs.iter().map(|&(head, relation)| (head, reciprocals.hop(relation))).collect();
            scorer.pairs(&pairs, rows);
        };
        let report = evaluate_rows(&scores, graph, split, options.ties, options.most(), control);
        Measured::of(&open, report)
    }
}

/// A report, and what was measured.
struct Measured {
    model: String,
    predictor: String,
    rank: usize,
    unfinished: Option<String>,
    report: LinkReport,
}

impl Measured {
    /// Of a model; an error if it was stopped.
    fn of(open: &OpenModel, report: Option<LinkReport>) -> Result<Self, Error> {
        Ok(Self {
            model: open.name.clone(),
            predictor: open.card.predictor.clone(),
            rank: open.card.rank,
            unfinished: open.unfinished.clone(),
            report: report.ok_or(WorkflowError::Stopped)?,
        })
    }
}
