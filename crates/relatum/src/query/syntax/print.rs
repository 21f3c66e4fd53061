//! A query → its canonical text.

use std::fmt::{Display, Formatter, Result, Write};

use super::lexer::{is_bare_name, is_variable_name};
use crate::graph::visible::{is_invisible, push_escape};
use crate::query::between::ParsedBetween;
use crate::query::formula::{Formula, Query, Term, VariableId};
use crate::query::name::{Name, NameKind};
use crate::query::statement::ParsedStatement;

/// The canonical text: it parses back to the same query.
impl Display for Query<Name, Name> {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        let mut printer = Printer { names: vec![None; self.variables.len()], query: self };
        let target = printer.enter(self.target);
        write!(f, "?{target} : ")?;
        printer.formula(f, &self.formula, Around::Nothing)
    }
}

/// The canonical text: it parses back to the same statement.
impl Display for ParsedStatement {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        // A printer needs the variables and the formula; a statement has no target to enter.
        let query =
            Query { target: VariableId(0), variables: self.variables.clone(), formula: self.formula.clone() };
        let text = Part { query: &query, free: &[], around: Around::Nothing }.to_string();
        let first = first_relation(&self.formula);
        match text.strip_prefix(first) {
            // `x:r(x, a)` would be the question for x.
            Some(rest) if first.contains(':') => write!(f, "{}{rest}", quoted(first)),
            _ => f.write_str(&text),
        }
    }
}

impl Display for ParsedBetween {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        let target = if is_variable_name(&self.target.name) { self.target.name.as_str() } else { "R" };
        let argument = |name: &Name| match written(name) {
            // A bare name that is the target's would be read as the target.
            text if text == target => quoted(&name.text),
            text => text,
        };
        write!(f, "?{target} : {target}({}, {})", argument(&self.subject), argument(&self.object))
    }
}

/// The relation of the first atom, as far as it is written without quotes or brackets.
fn first_relation(formula: &Formula<Name, Name>) -> &str {
    let mut first = None;
    formula.for_each_atom(&mut |atom| {
        first.get_or_insert(&atom.relation);
    });
    first.filter(|name| name.kind == NameKind::Text).map_or("", |name| &name.text)
}

/// A part of a query, with the parentheses that it needs there; variables that are free in it are written
/// like those that it binds.
pub(crate) struct Part<'a> {
    pub(crate) query: &'a Query<Name, Name>,
    /// The variables that are bound around it.
    pub(crate) free: &'a [VariableId],
    /// What it stands in.
    pub(crate) around: Around,
}

impl Display for Part<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        let mut printer = Printer { names: vec![None; self.query.variables.len()], query: self.query };
        for &id in self.free {
            printer.enter(id);
        }
        printer.formula(f, &self.query.formula, self.around)
    }
}

/// What a formula stands in, which decides whether it needs parentheses.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Around {
    Nothing,
    Or,
    And,
    Not,
}

struct Printer<'a> {
    query: &'a Query<Name, Name>,
    /// What each variable in scope is called: its name, or that with a number where it would clash.
    names: Vec<Option<String>>,
}

impl Printer<'_> {
    fn formula(&mut self, f: &mut Formatter<'_>, formula: &Formula<Name, Name>, around: Around) -> Result {
        let parentheses = match formula {
            Formula::Atom(_) | Formula::Not(_) => false,
            Formula::And(_) => around == Around::Not || around == Around::And,
            Formula::Or(_) | Formula::Exists(..) => around != Around::Nothing,
        };
        if parentheses {
            f.write_char('(')?;
        }
        match formula {
            Formula::Atom(atom) => {
                write!(f, "{}(", self.name(&atom.relation))?;
                write!(f, "{}, {})", self.term(&atom.subject), self.term(&atom.object))?;
            }
            Formula::And(parts) => self.join(f, parts, " and ", Around::And)?,
            Formula::Or(parts) => self.join(f, parts, " or ", Around::Or)?,
            Formula::Not(inner) => {
                f.write_str("not ")?;
                self.formula(f, inner, Around::Not)?;
            }
            Formula::Exists(variables, body) => {
                let names: Vec<String> = variables.iter().map(|&id| self.enter(id)).collect();
                write!(f, "exists {}. ", names.join(", "))?;
                self.formula(f, body, Around::Nothing)?;
                for id in variables {
                    self.names[id.index()] = None;
                }
            }
        }
        if parentheses {
            f.write_char(')')?;
        }
        Ok(())
    }

    fn join(
        &mut self,
        f: &mut Formatter<'_>,
        parts: &[Formula<Name, Name>],
        word: &str,
        around: Around,
    ) -> Result {
        for (index, part) in parts.iter().enumerate() {
            if index > 0 {
                f.write_str(word)?;
            }
            self.formula(f, part, around)?;
        }
        Ok(())
    }

    /// Brings a variable into scope and says what it is called there.
    fn enter(&mut self, id: VariableId) -> String {
        let wanted = self.query.variable_name(id);
        let wanted = if is_variable_name(wanted) { wanted } else { "X" };
        let taken = |name: &str| self.names.iter().flatten().any(|other| other == name);
        let mut name = wanted.to_owned();
        let mut number = 2;
        while taken(&name) {
            name = format!("{wanted}_{number}");
            number += 1;
        }
        if let Some(slot) = self.names.get_mut(id.index()) {
            *slot = Some(name.clone());
        }
        name
    }

    fn term(&self, term: &Term<Name>) -> String {
        match term {
            Term::Entity(name) => self.name(name),
            Term::Variable(id) => match self.names.get(id.index()) {
                Some(Some(name)) => name.clone(),
                // The variable is free in the formula; no parser makes such a formula.
                _ => format!("?{}", self.query.variable_name(*id)),
            },
        }
    }

    fn name(&self, name: &Name) -> String {
        let variable = self.names.iter().flatten().any(|other| *other == name.text);
        if variable && name.kind == NameKind::Text { quoted(&name.text) } else { written(name) }
    }
}

/// A name as it was written.
fn written(name: &Name) -> String {
    match name.kind {
        NameKind::Iri => format!("<{}>", name.text),
        NameKind::Number => format!("#{}", name.text),
        NameKind::Text => name_text(&name.text),
    }
}

/// A name as it can be written in a query: bare where that is possible, else quoted.
pub fn name_text(text: &str) -> String {
    if is_bare_name(text) { text.to_owned() } else { quoted(text) }
}

fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => quoted.extend(['\\', c]),
            c if is_invisible(c) => push_escape(&mut quoted, c),
            c => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}
