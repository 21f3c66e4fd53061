//! Rules as lines of text, in the form that `AnyBURL` reads and writes.
//!
//! ```text
//! 301 ⇥ 212 ⇥ 0.69 ⇥ has_genre(X,Comedy) <= stars(X,Eddie Murphy)
//! ```
//!
//! Predicted, correct, confidence and rule, separated by tabs (⇥). A single capital letter is a variable, all else
//! is a name of the graph; one that holds a bracket, a comma or a quotation mark, or looks like a variable, stands in
//! quotation marks.

use std::fmt::Write;
use std::io::BufRead;

use super::error::{RuleError, RuleProblem};
use super::rule::{Body, Rule};
use crate::graph::{Graph, RelationId};
use crate::model::Reciprocals;

mod read;

/// The rules of a text, and how many lines hold rules of forms that are not known here, with the first of these.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Parsed {
    /// The rules, as they stand.
    pub rules: Vec<Rule>,
    /// Lines with rules of another form, such as `h(X, c) <= a(X, A), b(A, d)`.
    pub passed_over: usize,
    /// The number of the first such line, and what stands there.
    pub first: Option<(usize, String)>,
}

/// Reads rules, one a line; empty lines and those that begin with `#` are none. A byte-order mark, which some editors
/// write, is passed over.
pub fn parse(source: impl BufRead, graph: &Graph) -> Result<Parsed, RuleError> {
    let reciprocals = Reciprocals::of(graph);
    let mut parsed = Parsed::default();
    for (index, bytes) in source.split(b'\n').enumerate() {
        let bytes = bytes?;
        let line = match str::from_utf8(&bytes) {
            Ok(line) if index == 0 => line.trim_start_matches('\u{feff}').trim_end_matches('\r'),
            Ok(line) => line.trim_end_matches('\r'),
            Err(error) => {
                let (good, bad) = bytes.split_at(error.valid_up_to());
                let column = String::from_utf8_lossy(good).chars().count() + 1;
                let problem = RuleProblem::Utf8(bad.first().copied().unwrap_or_default());
                return Err(RuleError::Line { line: index + 1, column, problem });
            }
        };
        if line.trim().is_empty() || line.trim_start().starts_with('#') {
            continue;
        }
        match read::line(line, graph, &reciprocals) {
            Ok(Some(rule)) => parsed.rules.push(rule),
            Ok(None) => {
                parsed.passed_over += 1;
                parsed.first.get_or_insert_with(|| (index + 1, line.to_owned()));
            }
            Err((at, problem)) => {
                let column = line[..at.min(line.len())].chars().count() + 1;
                return Err(RuleError::Line { line: index + 1, column, problem });
            }
        }
    }
    Ok(parsed)
}

/// The line of a rule.
pub fn write(rule: &Rule, graph: &Graph, reciprocals: &Reciprocals) -> String {
    let Rule { predicted, correct, confidence, .. } = rule;
    let names = Names { graph, reciprocals, text: |name| quoted(&name) };
    format!("{predicted}\t{correct}\t{confidence}\t{}", names.rule(rule, " <= ", ","))
}

/// A rule for people: `has_genre(X, Comedy) ← stars(X, Eddie Murphy)`. A name that looks like a variable is quoted.
pub fn rule_text(rule: &Rule, graph: &Graph, reciprocals: &Reciprocals) -> String {
    let names =
        Names { graph, reciprocals, text: |name| if is_variable(&name) { quoted(&name) } else { name } };
    names.rule(rule, " ← ", ", ")
}

struct Names<'a, F: Fn(String) -> String> {
    graph: &'a Graph,
    reciprocals: &'a Reciprocals,
    text: F,
}

impl<F: Fn(String) -> String> Names<'_, F> {
    fn rule(&self, rule: &Rule, arrow: &str, comma: &str) -> String {
        let entity = |id| (self.text)(self.graph.entity_text(id));
        let atom = |relation, x: &str, y: &str| self.atom(relation, x, y, comma);
        let (head, body) = match rule.body {
            Body::Path(path) => {
                let steps = path.steps();
                let variable = |at: usize| match at {
                    0 => "X",
                    at if at == steps.len() => "Y",
                    1 => "A",
                    _ => "B",
                };
                let mut body = String::new();
                for (at, &step) in steps.iter().enumerate() {
                    let separator = if at == 0 { "" } else { ", " };
                    let _ = write!(body, "{separator}{}", atom(step, variable(at), variable(at + 1)));
                }
                (atom(rule.head, "X", "Y"), body)
            }
            Body::Edge { object, relation, to } => {
                (atom(rule.head, "X", &entity(object)), atom(relation, "X", &entity(to)))
            }
            Body::Some { object, relation } => {
                (atom(rule.head, "X", &entity(object)), atom(relation, "X", "A"))
            }
            Body::Always { object } => (atom(rule.head, "X", &entity(object)), String::new()),
        };
        format!("{head}{arrow}{body}").trim_end().to_owned()
    }

    /// The atom in a relation of the graph.
    fn atom(&self, relation: RelationId, x: &str, y: &str, comma: &str) -> String {
        let (relation, x, y) = if self.reciprocals.in_graph(relation) {
            (relation, x, y)
        } else {
            (self.reciprocals.inverse(relation), y, x)
        };
        let name = (self.text)(self.graph.relation_text(relation));
        format!("{name}({x}{comma}{y})")
    }
}

/// A name, in quotation marks where it could be read as something else.
fn quoted(name: &str) -> String {
    let plain = !name.is_empty()
        && !is_variable(name)
        && name.trim() == name
        && !name.contains(['(', ')', ',', '"', '\\', '\t'])
        && !name.contains("<=");
    if plain {
        return name.to_owned();
    }
    format!("\"{}\"", name.replace('\\', "\\\\").replace('"', "\\\"").replace('\t', "\\t"))
}

fn is_variable(name: &str) -> bool {
    let mut letters = name.chars();
    letters.next().is_some_and(|letter| letter.is_ascii_uppercase()) && letters.next().is_none()
}
