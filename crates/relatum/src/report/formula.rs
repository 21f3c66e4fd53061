//! A question as a tree, to be drawn.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::check::Span;

/// A part of a question. Names are written as the text syntax needs them, with quotes where necessary.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum FormulaTree {
    /// All parts hold.
    And {
        /// The parts, at least two.
        parts: Vec<FormulaTree>,
    },
    /// At least one part holds.
    Or {
        /// The parts, at least two.
        parts: Vec<FormulaTree>,
    },
    /// The part does not hold.
    Not {
        /// The part.
        part: Box<FormulaTree>,
    },
    /// There are values of the variables for which the part holds.
    Exists {
        /// The variables, without `?`.
        variables: Vec<String>,
        /// The part.
        part: Box<FormulaTree>,
    },
    /// `relation(subject, object)`
    Atom(Box<FormulaAtom>),
}

/// `relation(subject, object)`
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct FormulaAtom {
    /// The name of the relation in the source of the graph or, if the graph has no such relation, as it was written.
    pub relation: String,
    /// The relation as it must be written.
    pub relation_text: String,
    /// The left argument.
    pub subject: FormulaTerm,
    /// The right argument.
    pub object: FormulaTerm,
    /// Where it stands in the question.
    pub span: Span,
}

/// One side of an atom.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FormulaTerm {
    /// Whether it is a thing that is known or one that is sought.
    pub kind: TermKind,
    /// As it must be written.
    pub text: String,
    /// The display label of an entity, if it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// Where it stands in the question, where that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub span: Option<Span>,
}

/// What one side of an atom is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum TermKind {
    /// A thing that is sought.
    Variable,
    /// A thing that is known.
    Entity,
}
