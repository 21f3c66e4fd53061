//! From what a person writes to a checked question in normal form.
//!
//! The stages, each usable alone, with a public type between two of them:
//!
//! ```text
//! text ─ syntax::parse ──┐
//! SPARQL ─ sparql::parse ┼→ ParsedQuery ─ resolve → Query ─ check → Checked { NormalForm, … } ─→ plan
//! tuples ─ shapes::parse ┘   (names)              (ids)
//! ```
//!
//! A [`Statement`] (no target: is it true?) and the question which relations hold [`Between`] two things
//! go the same way; [`Asked`] is any of the three.
//!
//! [`read`] and [`read_any`] run them all and keep the source beside the mistakes, so that they can be shown
//! with a caret.

mod between;
pub mod check;
mod cursor;
pub mod diagnostics;
mod error;
mod formula;
mod hop;
mod name;
pub mod normal_form;
mod place;
mod read;
mod resolve;
pub mod shapes;
pub mod sparql;
mod statement;
pub mod syntax;
#[cfg(test)]
pub(crate) mod testing;

pub use between::{Between, ParsedBetween};
pub use check::{Checked, Note, Validity};
pub use cursor::{Cursor, KEYWORDS, is_unfinished};
pub use diagnostics::{Diagnostic, Severity, Style, Suggestion};
pub use error::QueryError;
pub use formula::{Atom, Formula, ParsedQuery, Query, Term, Variable, VariableId};
pub use hop::{Direction, Hop};
pub use name::{Name, NameKind};
pub use normal_form::{Branch, Limits, Negated, NormalForm};
pub use place::Place;
pub use read::{Asked, Mistakes, Question, Syntax, read, read_any};
pub use shapes::Shape;
pub use statement::{CheckedStatement, Clause, ParsedStatement, Statement};
