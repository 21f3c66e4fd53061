//! Rules with names in place of ids.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Some of the rules of a graph, the most confident first.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RuleList {
    /// The name of the rules.
    pub name: String,
    /// The relation that they predict, by its name in the graph.
    pub relation: String,
    /// The entity that they speak of, where one was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub about: Option<String>,
    /// How many such rules there are.
    pub found: usize,
    /// The first of them.
    pub rules: Vec<ShownRule>,
}

/// A rule in words, with how often it is right.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ShownRule {
    /// Such as `has_genre(X, Comedy) ← stars(X, Eddie Murphy)`.
    pub rule: String,
    /// How far it is to be believed.
    pub confidence: f32,
    /// How many different edges it predicts in the training graph; an estimate where there is an error.
    pub predicted: u32,
    /// How many of them are there.
    pub correct: u32,
    /// The standard error of the share that is correct, where it was estimated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<f32>,
    /// The strongest rule that says the same thing; rules with the same number count once.
    pub cluster: u32,
    /// Stored edges that it predicts.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub examples: Vec<String>,
    /// Edges that it predicts and that are not stored in any split: mistakes, or news.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub against: Vec<String>,
}

impl RuleList {
    /// The rules as comma-separated values, with a header.
    pub fn to_csv(&self) -> String {
        let mut text = "rule,confidence,error,predicted,correct,cluster,examples,against\n".to_owned();
        for rule in &self.rules {
            let error = rule.error.map(|error| error.to_string()).unwrap_or_default();
            let ShownRule { confidence, predicted, correct, cluster, .. } = rule;
            let fields = [
                rule.rule.clone(),
                confidence.to_string(),
                error,
                predicted.to_string(),
                correct.to_string(),
                cluster.to_string(),
                rule.examples.join("; "),
                rule.against.join("; "),
            ];
            text += &fields.map(|field| csv_field(&field)).join(",");
            text.push('\n');
        }
        text
    }
}

fn csv_field(text: &str) -> String {
    if text.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.to_owned()
    }
}
