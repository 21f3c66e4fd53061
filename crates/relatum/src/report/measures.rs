//! How good predictions are, with names in place of ids.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::graph::Split;
use crate::model::{LinkMetrics, Ties};

/// Filtered ranking metrics, under the names that papers give them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Metrics {
    /// How many predictions or queries they are the mean of.
    pub count: usize,
    /// The mean of 1 / rank.
    pub mrr: f64,
    /// The share with rank 1.
    #[serde(rename = "hits@1")]
    pub hits_at_1: f64,
    /// The share with a rank of at most 3.
    #[serde(rename = "hits@3")]
    pub hits_at_3: f64,
    /// The share with a rank of at most 10.
    #[serde(rename = "hits@10")]
    pub hits_at_10: f64,
}

impl Metrics {
    /// Hits@1, Hits@3 and Hits@10.
    pub fn hits(&self) -> [f64; 3] {
        [self.hits_at_1, self.hits_at_3, self.hits_at_10]
    }

    /// The mean of several metrics, all with the same weight.
    pub(crate) fn mean<'a>(each: impl Iterator<Item = &'a Self>) -> Self {
        let each: Vec<LinkMetrics> =
            each.map(|it| LinkMetrics { count: it.count, mrr: it.mrr, hits: it.hits() }).collect();
        LinkMetrics::mean(&each).into()
    }
}

impl From<LinkMetrics> for Metrics {
    fn from(metrics: LinkMetrics) -> Self {
        let LinkMetrics { count, mrr, hits: [hits_at_1, hits_at_3, hits_at_10] } = metrics;
        Self { count, mrr, hits_at_1, hits_at_3, hits_at_10 }
    }
}

/// How well a model predicts the edges of a split.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LinkEvaluation {
    /// The name of the model.
    pub model: String,
    /// Its link predictor.
    pub predictor: String,
    /// Factors of an entity.
    pub rank: usize,
    /// What spoke for an edge: `model`, `rules` or `both`. Of rules alone `model` is their name.
    #[serde(default = "by_model")]
    pub evidence: String,
    /// The edges that were predicted.
    pub split: Split,
    /// Which rank an answer gets among candidates with the same score.
    pub ties: Ties,
    /// Over all predictions.
    pub overall: Metrics,
    /// Over predictions of tails.
    pub tails: Metrics,
    /// Over predictions of heads; there are none if the graph holds both directions already.
    pub heads: Metrics,
    /// The mean of each query's answers first, then the mean of the queries (h, r, ?), as complex query answering
    /// reports its 1p queries.
    pub queries: Metrics,
    /// By relation and direction.
    pub relations: Vec<RelationEvaluation>,
    /// How far the training of the model has come, where that is not finished.
    pub unfinished: Option<String>,
}

fn by_model() -> String {
    "model".to_owned()
}

/// How well the edges of one relation are predicted, in one direction.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RelationEvaluation {
    /// The relation, by its name in the graph.
    pub relation: String,
    /// The relation as people read it.
    pub text: String,
    /// Which end was to be found.
    pub predicts: End,
    /// The metrics.
    pub metrics: Metrics,
}

/// An end of an edge.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum End {
    /// The subjects.
    Heads,
    /// The objects.
    Tails,
}
