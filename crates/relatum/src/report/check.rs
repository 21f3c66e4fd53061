//! What is known about a question before it is answered.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::formula::FormulaTree;
use super::reply::AskedFor;
use crate::plan::PlanReport;
use crate::query::{self, Mistakes, Place};

/// A question that was read but not searched: what is wrong with it, how it was understood, and how it would be
/// answered.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Check {
    /// The version of this format; a reader of version 1 can read everything that says 1.
    pub version: u32,
    /// The question as it was asked.
    pub query: String,
    /// Whether it can be answered: nothing in it is a mistake.
    pub answerable: bool,
    /// Mistakes and remarks.
    pub diagnostics: Vec<Diagnostic>,
    /// What the question asks for. This and the following fields are `null` if it has mistakes.
    pub asked: Option<AskedFor>,
    /// The question as it was understood, in the text syntax.
    pub question: Option<String>,
    /// The variable whose values are the answers, without `?`; `null` for a statement.
    pub target: Option<String>,
    /// The shape of the literature, such as `2p`, or `general`; `statement` and `relations` for those.
    pub shape: Option<String>,
    /// A question for entities in disjunctive normal form, in the text syntax.
    pub normal_form: Option<String>,
    /// The same in SPARQL.
    pub sparql: Option<String>,
    /// The same as a nested tuple of the benchmark files, where they can hold it.
    pub tuple: Option<String>,
    /// Whether it is one of the paper's valid queries: anchors as sources, the target as the only sink, no
    /// directed cycle, no negation.
    pub valid: Option<bool>,
    /// How many answers the question itself wants (`LIMIT`).
    pub limit: Option<usize>,
    /// How many of the best answers it wants left out (`OFFSET`).
    pub offset: usize,
    /// How it would be answered, where it asks for entities.
    pub plan: Option<PlanReport>,
    /// The question as a tree, for drawing: there as soon as its grammar is right, even if its names are not.
    #[serde(default)]
    pub formula: Option<FormulaTree>,
}

/// A message about a question, with the places that it is about.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Diagnostic {
    /// How severe it is.
    pub severity: Severity,
    /// What is the matter, in one line.
    pub message: String,
    /// Where: the first is the place of the mistake, the others help to understand it.
    pub labels: Vec<Label>,
    /// What to write instead.
    pub help: Vec<String>,
    /// Changes of the text that could fix it, the likeliest first.
    #[serde(default)]
    pub suggestions: Vec<Suggestion>,
}

/// A change of the text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Suggestion {
    /// What is replaced.
    pub span: Span,
    /// What is written there.
    pub replacement: String,
}

/// How severe a diagnostic is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// The question cannot be answered.
    Error,
    /// The question can be answered; this is for information.
    Note,
}

/// A text under a place of the question.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Label {
    /// What to say there.
    pub text: String,
    /// The place.
    pub span: Span,
}

/// A place of the question: in bytes for programs, in lines and columns for editors.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Span {
    /// Where it begins.
    pub start: Position,
    /// Where it ends: the first byte after it.
    pub end: Position,
}

/// A point of the question.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Position {
    /// Bytes before it, in UTF-8.
    pub byte: usize,
    /// Its line, from 1.
    pub line: usize,
    /// Its column in characters (Unicode code points), from 1.
    pub column: usize,
}

impl Check {
    /// The version of the format that this Relatum writes.
    pub const VERSION: u32 = 1;

    /// A question of which only the text is known.
    pub fn of(query: &str) -> Self {
        Self {
            version: Self::VERSION,
            query: query.to_owned(),
            answerable: true,
            diagnostics: Vec::new(),
            asked: None,
            question: None,
            target: None,
            shape: None,
            normal_form: None,
            sparql: None,
            tuple: None,
            valid: None,
            limit: None,
            offset: 0,
            plan: None,
            formula: None,
        }
    }
}

impl From<&Mistakes> for Vec<Diagnostic> {
    fn from(mistakes: &Mistakes) -> Self {
        let errors = mistakes.errors.iter();
        errors.map(|error| Diagnostic::new(&error.diagnostic(), &mistakes.source)).collect()
    }
}

impl Diagnostic {
    /// A diagnostic about a source text, with its places in bytes, lines and columns.
    pub fn new(diagnostic: &query::Diagnostic, source: &str) -> Self {
        let labels = diagnostic.labels.iter();
        Self {
            severity: match diagnostic.severity {
                query::Severity::Error => Severity::Error,
                query::Severity::Note => Severity::Note,
            },
            message: diagnostic.title.clone(),
            labels: labels
                .map(|label| Label { text: label.text.clone(), span: Span::of(label.place, source) })
                .collect(),
            help: diagnostic.help.clone(),
            suggestions: diagnostic.suggestions.iter().filter_map(|it| Suggestion::of(it, source)).collect(),
        }
    }
}

impl Suggestion {
    /// A change of a source text, written in its language; `None` where that cannot be done.
    fn of(suggestion: &query::Suggestion, source: &str) -> Option<Self> {
        let written = suggestion.replacement.as_str();
        let replacement = match query::Syntax::detect(source) {
            query::Syntax::Sparql => {
                let there = source.get(suggestion.place.range())?;
                let bare = written.trim_matches('"');
                match there.split_once(':') {
                    _ if bare.contains(['\\', '"']) => return None,
                    _ if there.starts_with(['"', '\'']) => format!("\"{bare}\""),
                    Some((prefix @ ("e" | "r"), _)) => format!("{prefix}:{}", query::sparql::encoded(bare)),
                    _ => return None,
                }
            }
            _ => written.to_owned(),
        };
        Some(Self { span: Span::of(suggestion.place, source), replacement })
    }
}

impl Span {
    /// A place of a source text.
    pub fn of(place: Place, source: &str) -> Self {
        let range = place.range();
        Self { start: Position::of(range.start, source), end: Position::of(range.end, source) }
    }
}

impl Position {
    /// The position of a byte. A byte within a character gives the beginning of that character, and one behind the
    /// end gives the end.
    fn of(byte: usize, source: &str) -> Self {
        let byte = source.floor_char_boundary(byte);
        let before = &source[..byte];
        let line_start = before.rfind('\n').map_or(0, |at| at + 1);
        Self {
            byte,
            line: before.matches('\n').count() + 1,
            column: before[line_start..].chars().count() + 1,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_are_counted_in_bytes_lines_and_characters() {
        let source = "?F : genre(F,\n  \"Café\") und";
        let at = |text: &str| {
            let Position { byte, line, column } = Position::of(source.find(text).unwrap(), source);
            (byte, line, column)
        };
        assert_eq!(at("genre"), (5, 1, 6));
        assert_eq!(at("\"Caf"), (16, 2, 3));
        assert_eq!(at("und"), (25, 2, 11), "an é has two bytes and is one character");
        let (within, behind) = (Position::of(21, source), Position::of(999, source));
        assert_eq!((within.byte, within.column), (20, 7));
        assert_eq!(behind.byte, source.len());
    }
}
