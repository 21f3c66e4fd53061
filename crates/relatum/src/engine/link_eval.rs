//! How well a model predicts edges that it has not seen.

use super::{Engine, Error};
use crate::benchmark::BenchmarkError;
use crate::control::Control;
use crate::graph::Split;
use crate::model::Ties;
use crate::report::{End, LinkEvaluation, RelationEvaluation};
use crate::train::{RelationMetrics, evaluate_watched};

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
}

impl Engine {
    /// Predicts every edge of a split from both its ends among all entities, except other true answers, and
    /// reports the ranks, in all and by relation.
    ///
    /// Listeners hear [`PairsRanked`](crate::train::PairsRanked).
    pub fn link_eval(&self, options: &LinkEvalOptions, control: &Control) -> Result<LinkEvaluation, Error> {
        let open = self.model(options.model.as_deref())?;
        let graph = self.graph();
        let default = if graph.edges(Split::Test).is_empty() { Split::Valid } else { Split::Test };
        let split = options.split.unwrap_or(default);
        if graph.edges(split).is_empty() {
            let dir = self.project().dir().to_owned();
            return Err(BenchmarkError::NoEdges { dir, split }.into());
        }
        let report = evaluate_watched(
            &open.model,
            graph,
            split,
            options.ties,
            options.pairs.unwrap_or(usize::MAX),
            control,
        );
        let report = report.ok_or(super::WorkflowError::Stopped)?;
        if report.overflowed > 0 {
            let model = open.name.clone();
            return Err(BenchmarkError::Overflow { model, rows: report.overflowed }.into());
        }
        let of_relation = |row: RelationMetrics| RelationEvaluation {
            relation: graph.relations.name(row.relation).to_owned(),
            text: graph.relation_text(row.relation),
            predicts: if row.backwards { End::Heads } else { End::Tails },
            metrics: row.metrics.into(),
        };
        Ok(LinkEvaluation {
            model: open.name.clone(),
            predictor: open.card.predictor.clone(),
            rank: open.card.rank,
            split,
            ties: options.ties,
            overall: report.overall.into(),
            tails: report.tails.into(),
            heads: report.heads.into(),
            queries: report.queries.into(),
            relations: report.relations.into_iter().map(of_relation).collect(),
            unfinished: open.unfinished.clone(),
        })
    }
}
