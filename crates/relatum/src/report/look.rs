//! The graph as people look at it: one thing with its edges, names that contain a text, what could be
//! written at a cursor, sizes.

use std::collections::BTreeMap;
use std::fmt::{Display, Formatter};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::grouped;
use super::reply::{Entity, Relation};
use crate::graph::visible;

/// What a name stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// An entity.
    Entity,
    /// A relation.
    Relation,
}

impl Kind {
    /// `entity` or `relation`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Entity => "entity",
            Self::Relation => "relation",
        }
    }
}

/// One entity with its edges in both directions, or one relation with what it connects.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Description {
    /// Whether it is an entity or a relation.
    pub kind: Kind,
    /// Its number in the graph.
    pub id: u32,
    /// The shortest text that a person can read and a question can hold.
    pub text: String,
    /// Its name in the source of the graph.
    pub name: String,
    /// Its display label, if it has one.
    pub label: Option<String>,
    /// How many edges it has, all splits together.
    pub edges: usize,
    /// The edges by relation and direction.
    pub relations: Vec<EdgesOf>,
    /// The most likely edges that the graph does not hold, likeliest first, where they were asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub predicted: Option<Vec<MissingEdge>>,
    /// What spoke for the predicted edges: `model`, `rules` or `both`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub evidence: Option<String>,
}

/// An edge that the graph does not hold.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MissingEdge {
    /// The left argument.
    pub subject: Entity,
    /// The relation.
    pub relation: Relation,
    /// The right argument.
    pub object: Entity,
    /// How true it is.
    pub truth: f32,
    /// From which side the model scored it: `subject` or `object`.
    pub scored_from: String,
}

/// The edges of one relation in one direction, or a page of them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct EdgesOf {
    /// The name of the relation.
    pub relation: String,
    /// The relation as a question can hold it.
    pub relation_text: String,
    /// Whether the edges lead out of the thing that is described or into it; `both` if it is a relation.
    pub direction: Direction,
    /// How many there are.
    pub count: usize,
    /// How many were left out before the first of this page.
    pub offset: usize,
    /// The edges of this page.
    pub edges: Vec<Edge>,
}

/// The direction of edges, seen from the thing that is described.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Direction {
    /// The thing is the head.
    Outgoing,
    /// The thing is the tail.
    Incoming,
    /// The thing is the relation.
    Both,
}

/// A stored edge.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Edge {
    /// The name of the head.
    pub head: String,
    /// Its display label, if it has one.
    pub head_label: Option<String>,
    /// The head as a question can hold it.
    pub head_text: String,
    /// The name of the tail.
    pub tail: String,
    /// Its display label, if it has one.
    pub tail_label: Option<String>,
    /// The tail as a question can hold it.
    pub tail_text: String,
    /// The split that holds the edge: `train`, `valid` or `test`.
    pub split: String,
}

/// The names that contain a text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Found {
    /// The text that was looked for.
    pub text: String,
    /// The entities with the shortest names.
    pub entities: Vec<FoundName>,
    /// How many entities there are.
    pub entities_total: usize,
    /// The relations with the shortest names.
    pub relations: Vec<FoundName>,
    /// How many relations there are.
    pub relations_total: usize,
    /// Whether nothing contains the text: then these are the nearest names.
    #[serde(default)]
    pub nearest: bool,
}

/// A name that was found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FoundName {
    /// Whether it is an entity or a relation.
    pub kind: Kind,
    /// Its number in the graph.
    pub id: u32,
    /// The shortest text that a person can read and that finds it again.
    pub text: String,
    /// How it is written in a question of the text syntax: the text, in quotes where it needs them.
    pub write: String,
    /// Its name in the source of the graph.
    pub name: String,
    /// Its display label, if it has one.
    pub label: Option<String>,
    /// How many edges it has, all splits together.
    pub edges: usize,
}

/// What could be written at a cursor.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Completion {
    /// Where the word that is being written begins, in bytes; a candidate replaces the text from here to `end`.
    pub start: usize,
    /// The cursor, in bytes.
    pub end: usize,
    /// What could stand there.
    pub candidates: Vec<Candidate>,
}

/// One thing that could be written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Candidate {
    /// What it is.
    pub kind: CandidateKind,
    /// What to show in a list.
    pub shown: String,
    /// What to write.
    pub replacement: String,
    /// The display label, where there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// How many edges it has, all splits together; absent for a keyword.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub edges: Option<usize>,
}

/// What a candidate is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum CandidateKind {
    /// An entity.
    Entity,
    /// A relation.
    Relation,
    /// A word of the language.
    Keyword,
}

/// The sizes of the graph. Degrees and cardinalities are those of the training edges.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct GraphStats {
    /// How many entities there are.
    pub entities: usize,
    /// How many relations there are.
    pub relations: usize,
    /// How many edges each split has.
    pub edges: EdgeCounts,
    /// How many entities have no training edge.
    pub entities_without_train_edge: usize,
    /// How many training edges an entity has.
    pub degree: Spread,
    /// How many of them lead out of it.
    pub out_degree: Spread,
    /// How many lead into it.
    pub in_degree: Spread,
    /// How many benchmark queries of each type there are.
    pub queries: QueryCounts,
    /// Identifies names, ids and training edges.
    pub fingerprint: String,
    /// Where the graph came from.
    pub sources: Vec<SourceFile>,
    /// The relations, most used first.
    pub by_relation: Vec<RelationStats>,
}

/// How many edges each split has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct EdgeCounts {
    /// For training.
    pub train: usize,
    /// For validation.
    pub valid: usize,
    /// For the test.
    pub test: usize,
}

/// How many benchmark queries of each type there are; `null` for a split without queries.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct QueryCounts {
    /// For validation.
    pub valid: Option<BTreeMap<String, usize>>,
    /// For the test.
    pub test: Option<BTreeMap<String, usize>>,
}

/// How a number is spread over the entities.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Spread {
    /// The mean.
    pub mean: f64,
    /// The smallest.
    pub min: u64,
    /// A quarter has at most this.
    pub q25: u64,
    /// Half has at most this.
    pub median: u64,
    /// Three quarters have at most this.
    pub q75: u64,
    /// 90% have at most this.
    pub q90: u64,
    /// 99% have at most this.
    pub q99: u64,
    /// The largest.
    pub max: u64,
}

/// A file or folder that the graph was read from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SourceFile {
    /// Its name as it was given.
    pub name: String,
    /// How it was read: `TSV`, `Turtle`, …
    pub format: String,
    /// The split that its triples went to, if they all went to one.
    pub split: Option<String>,
    /// How many triples it gave.
    pub triples: u64,
}

/// The figures of one relation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RelationStats {
    /// Its name in the source of the graph.
    pub name: String,
    /// Its display label, if it has one.
    pub label: Option<String>,
    /// The shortest text that a person can read and a question can hold.
    pub text: String,
    /// Training edges.
    pub edges: usize,
    /// Distinct heads.
    pub heads: usize,
    /// Distinct tails.
    pub tails: usize,
    /// How many tails a head has on average.
    pub tails_per_head: f64,
    /// How many heads a tail has on average.
    pub heads_per_tail: f64,
    /// `1-1`, `1-N`, `N-1` or `N-N`.
    pub cardinality: String,
    /// The name of its inverse, where the source carries one.
    pub inverse: Option<String>,
    /// The inverse as a question can hold it.
    pub inverse_text: Option<String>,
}

impl Spread {
    /// The values without the mean, in their order.
    pub fn values(&self) -> [u64; 7] {
        [self.min, self.q25, self.median, self.q75, self.q90, self.q99, self.max]
    }
}

impl Display for Description {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.to_text(""))
    }
}

impl Description {
    /// The description for people. Where edges are left out, `rest` says how to see them.
    pub fn to_text(&self, rest: &str) -> String {
        let name = if self.name == self.text { String::new() } else { format!(" <{}>", visible(&self.name)) };
        let plural = if self.edges == 1 { "" } else { "s" };
        let mut text = format!(
            "{}{name}: {}, {} edge{plural}\n",
            visible(&self.text),
            self.kind.name(),
            grouped(self.edges)
        );
        for section in &self.relations {
            text += &section.text(rest);
        }
        text
    }
}

impl EdgesOf {
    fn text(&self, rest: &str) -> String {
        let relation = visible(&self.relation_text);
        let heading = match self.direction {
            Direction::Outgoing => format!("{relation} →"),
            Direction::Incoming => format!("← {relation}"),
            Direction::Both => relation.into_owned(),
        };
        let mut text = format!("\n  {heading}  ({})\n", grouped(self.count));
        for edge in &self.edges {
            let held_out = if edge.split == "train" { String::new() } else { format!("  [{}]", edge.split) };
            text += &format!("    {}{held_out}\n", edge.text(self.direction));
        }
        let left = self.count.saturating_sub(self.offset + self.edges.len());
        if left > 0 {
            text += &format!("    … and {} more{rest}\n", grouped(left));
        }
        text
    }
}

impl Edge {
    fn text(&self, direction: Direction) -> String {
        let head = || shown(&self.head_text, self.head_label.as_deref());
        let tail = || shown(&self.tail_text, self.tail_label.as_deref());
        match direction {
            Direction::Outgoing => tail(),
            Direction::Incoming => head(),
            Direction::Both => format!("{} → {}", head(), tail()),
        }
    }
}

/// For a list that a person reads: the text, followed by the label if that is different.
pub(super) fn shown(text: &str, label: Option<&str>) -> String {
    match label {
        Some(label) if label != text => visible(&format!("{text} ({label})")).into_owned(),
        _ => visible(text).into_owned(),
    }
}
