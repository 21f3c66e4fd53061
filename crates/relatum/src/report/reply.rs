//! The data of a reply.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::look::shown;

/// The answer to one question, with all that is needed to understand, reproduce and judge it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Reply {
    /// The version of this format; a reader of version 1 can read everything that says 1.
    pub version: u32,
    /// The question as it was asked.
    pub query: String,
    /// The question as it was understood, in the text syntax.
    pub question: String,
    /// What the question asks for.
    pub asked: AskedFor,
    /// The variable whose values are the answers, without `?`; absent for a statement.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<String>,
    /// The shape of the literature, such as `2p`, or `general`.
    pub shape: String,
    /// The search that found the answers: `exact`, `beam`, `continuous` or `lists`.
    pub method: String,
    /// Everything that a score depends on besides the parameters of the model.
    pub settings: Settings,
    /// How sure the answers are.
    pub certainty: Certainty,
    /// Rows scored to find them. A row is one known entity and one relation, with all entities on the other side.
    pub rows: usize,
    /// How far the training of the model had come, where it is not finished.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unfinished_model: Option<String>,
    /// What people should know about how the answers came about.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub remarks: Vec<String>,
    /// How many of the best answers were left out before the first, as `OFFSET` asks.
    #[serde(default)]
    pub offset: usize,
    /// The answers, best first, where entities are sought.
    #[serde(default)]
    pub answers: Vec<Answer>,
    /// The relations, truest first, where they are sought.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub relations: Vec<RelationAnswer>,
    /// How true the statement is, where it is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub judged: Option<Judged>,
}

impl Reply {
    /// The version of the format that this Relatum writes.
    pub const VERSION: u32 = 1;
}

/// What a question asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum AskedFor {
    /// Which entities: `?A : …`, `SELECT`.
    Entities,
    /// Which relations: `?R : R(a, b)`.
    Relations,
    /// Whether it is true: a formula without target, `ASK`.
    Truth,
}

/// The settings that ran.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Settings {
    /// The name of the model.
    pub model: String,
    /// How truth values combine: `godel`, `product` or `lukasiewicz`.
    pub t_norm: String,
    /// How scores become truth values.
    pub calibration: String,
    /// The factor of scores before a softmax.
    pub sharpness: f32,
    /// `c` of the negation `1 − min(1, c·x)`.
    pub negation_scale: f32,
    /// The factor of predictions that lead to an entity of another kind than those seen there in training.
    pub unseen: f32,
    /// Which stored edges count as true: `all`, `train`, `train+valid` or `none`.
    pub known: String,
    /// How many assignments a beam keeps, if the search is a beam.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub k: Option<usize>,
    /// Whether the beam is that of the paper.
    #[serde(default, skip_serializing_if = "is_false")]
    pub paper: bool,
    /// Whether atoms were scored from whichever side took fewer rows.
    #[serde(default, skip_serializing_if = "is_false")]
    pub either_side: bool,
    /// Where the alternatives of a disjunction were joined: `at-the-end` or `in-place`.
    pub union: String,
    /// What spoke for edges that are not stored beside the model: `both`, or `rules` where those spoke alone; none:
    /// the model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub evidence: Option<String>,
    /// The type of question that these settings were tuned for, if they were.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tuned_for: Option<String>,
}

fn asked() -> bool {
    true
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde asks with a reference")]
fn is_true(value: &bool) -> bool {
    *value
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde asks with a reference")]
fn is_false(value: &bool) -> bool {
    !value
}

/// How sure answers are.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum Certainty {
    /// Proven: nothing that was not looked at can change the answers, or their scores by more than `within`.
    Exact {
        /// The largest possible error of a score.
        within: f32,
    },
    /// The best that a beam found.
    Beam {
        /// How many assignments it kept.
        k: usize,
        /// Whether a narrower beam had found the same answers.
        settled: bool,
    },
    /// The entities nearest to where the vectors of continuous optimisation converged.
    Continuous {
        /// Steps taken.
        steps: usize,
        /// Whether they converged before the last step.
        at_rest: bool,
    },
    /// The best before a limit was reached.
    Stopped {
        /// `time`, `rows`, or `asked` if the search was cancelled.
        by: Stop,
    },
}

/// What stopped a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Stop {
    /// The time was up.
    Time,
    /// The limit of rows was reached.
    Rows,
    /// The search was cancelled.
    Asked,
    /// The search would have held more in memory than it may.
    Memory,
}

/// An entity with its names.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Entity {
    /// Its number in the graph.
    pub id: u32,
    /// Its name in the source of the graph.
    pub name: String,
    /// Its display label, if it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// The shortest text that a person can read and a question can hold.
    pub text: String,
}

impl Entity {
    /// For a list that a person reads: the text, followed by the label if that is different.
    pub fn shown(&self) -> String {
        shown(&self.text, self.label.as_deref())
    }
}

/// A relation with its names.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Relation {
    /// Its number in the graph.
    pub id: u32,
    /// Its name in the source of the graph.
    pub name: String,
    /// Its display label, if it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// The shortest text that a person can read and a question can hold.
    pub text: String,
}

/// One answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Answer {
    /// The entity.
    #[serde(flatten)]
    pub entity: Entity,
    /// How true it is that it is an answer.
    pub score: f32,
    /// Whether stored edges alone make it an answer; `null` if the time was up before that was clear.
    pub known: Option<bool>,
    /// In how many ways stored edges alone make it an answer, where that was counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ways: Option<Ways>,
    /// Why it is an answer, if that was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub explanation: Option<Explanation>,
}

/// In how many ways something follows from stored edges.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Ways {
    /// How many were counted.
    pub count: usize,
    /// Whether counting stopped there, and there may be more.
    pub more: bool,
}

/// A variable and its value.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Binding {
    /// The variable, without `?`.
    pub variable: String,
    /// Its value.
    pub value: Entity,
}

/// The assignment that makes an entity an answer. Folding the values of its atoms and sub-queries with the
/// t-norm gives `score`; joining `branch_scores` with the t-conorm gives the score of the answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Explanation {
    /// The alternative of the question that carries the answer, from 0.
    pub branch: usize,
    /// The score of the answer in each alternative; a lower bound where the search left it open.
    pub branch_scores: Vec<f32>,
    /// The alternatives whose score the search left open, because it could not change the answer.
    pub branches_open: Vec<bool>,
    /// The score of this assignment.
    pub score: f32,
    /// The value of every variable.
    pub assignment: Vec<Binding>,
    /// Every atom under the assignment.
    pub atoms: Vec<Atom>,
    /// Every negated sub-query under it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sub_queries: Vec<SubQuery>,
    /// The next best assignments for the same answer.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub alternatives: Vec<Alternative>,
    /// Whether those are proven to be the next best.
    pub alternatives_certain: bool,
}

/// An atom with its variables replaced by their values.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Atom {
    /// The relation.
    pub relation: Relation,
    /// The left argument.
    pub subject: Entity,
    /// The variable whose value the left argument is; absent if the question names the entity.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subject_variable: Option<String>,
    /// The right argument.
    pub object: Entity,
    /// The variable whose value the right argument is; absent if the question names the entity.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub object_variable: Option<String>,
    /// Whether the atom is negated in the question.
    pub negated: bool,
    /// How true the edge is.
    pub truth: f32,
    /// What enters the score: the truth, or its negation.
    pub value: f32,
    /// From which side the model scored it: `subject` or `object`.
    pub scored_from: String,
    /// The split of the trusted graph that holds the edge: then its truth is exactly 1.
    pub known: Option<String>,
    /// The split that holds the edge, trusted or not; `null` for a prediction.
    pub stored: Option<String>,
    /// What speaks for an edge that is not trusted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<Why>,
}

/// What speaks for an edge: its truth is the sum of what predictor and rules add to it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Why {
    /// What the predictor adds: how true it says the edge is, times what it counts beside the rules.
    pub predictor: f32,
    /// What the rules add: how true they say it is, times what they count beside the predictor.
    pub rules: f32,
    /// The rules that speak for it, strongest first; no more than a few.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reasons: Vec<RuleReason>,
    /// How many other rules speak for it, those left out that say the same as one of them.
    #[serde(default)]
    pub more: usize,
    /// Whether rules were asked at all.
    #[serde(default = "asked", skip_serializing_if = "is_true")]
    pub rules_asked: bool,
    /// Where rules add nothing: the entities most similar to the one that the edge was read from, of those that have such
    /// an edge to the same entity.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub similar: Vec<Entity>,
}

/// A rule that speaks for an edge.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RuleReason {
    /// The rule, such as `has_genre(X, Comedy) ← stars(X, Eddie Murphy)`.
    pub rule: String,
    /// How far it is to be believed.
    pub confidence: f32,
    /// How many different edges it predicts in the training graph.
    pub predicted: u32,
    /// How many of them are there.
    pub correct: u32,
    /// The standard error of the share that is correct, where the counts are estimates.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<f32>,
    /// How many weaker rules say the same thing and do not count beside it.
    #[serde(default)]
    pub same: usize,
    /// The stored edges that make its body true.
    pub because: Vec<StoredEdge>,
}

/// An edge of the training graph.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StoredEdge {
    /// The relation.
    pub relation: Relation,
    /// The left argument.
    pub subject: Entity,
    /// The right argument.
    pub object: Entity,
}

/// A negated sub-query under the assignment of the question around it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SubQuery {
    /// The sub-query.
    pub text: String,
    /// The variables that it shares with the question around it.
    pub shares: Vec<String>,
    /// Its own variables.
    pub own: Vec<String>,
    /// How true it is at its best.
    pub truth: f32,
    /// What enters the score: 1 − truth.
    pub value: f32,
    /// The values that make it truest, if any make it true at all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub witness: Option<Witness>,
}

/// The values that make a negated sub-query truest.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Witness {
    /// How true the sub-query is with these values.
    pub score: f32,
    /// The values.
    pub assignment: Vec<Binding>,
    /// Its atoms.
    pub atoms: Vec<Atom>,
    /// The sub-queries that are negated in it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sub_queries: Vec<SubQuery>,
}

/// Another assignment for the same answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Alternative {
    /// The value of every variable.
    pub assignment: Vec<Binding>,
    /// Its score.
    pub score: f32,
}

/// A relation between two things.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RelationAnswer {
    /// The relation.
    #[serde(flatten)]
    pub relation: Relation,
    /// How true it is that it holds.
    pub score: f32,
    /// The split of the trusted graph that holds the edge.
    pub known: Option<String>,
    /// The split that holds the edge, trusted or not.
    pub stored: Option<String>,
    /// What speaks for an edge that is not trusted, where an explanation or rules are asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<Why>,
}

/// How true a statement is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Judged {
    /// Its truth: the t-conorm over the alternatives of the t-norm over the clauses of each.
    pub truth: f32,
    /// Whether it follows from stored edges alone; `null` if the time was up before that was clear.
    pub known: Option<bool>,
    /// The clauses of each alternative of its normal form.
    pub alternatives: Vec<Vec<Clause>>,
}

/// A part of a statement that shares no variable with the other parts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Clause {
    /// Its truth, which enters the truth of the statement.
    pub value: f32,
    /// Whether it follows from stored edges alone.
    pub known: Option<bool>,
    /// The edge, if the clause is a single atom or its negation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub atom: Option<Atom>,
    /// If the clause says that something exists: the question for it, with its best answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exists: Option<Existence>,
    /// If the clause says that nothing exists: the clauses that must not hold together.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub none_exists: Vec<Clause>,
}

/// Something that the statement says exists.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Existence {
    /// The question for it, in the text syntax.
    pub question: String,
    /// Its best answer.
    pub best: Option<Answer>,
}
