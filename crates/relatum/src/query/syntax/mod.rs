//! The text syntax: `?D : exists P. interacts(D, P) and (assoc(P, t1) or assoc(P, t2))`.
//!
//! ```text
//! asked    = ["?"] variable ":" formula
//!          | "?" variable ":" variable "(" name "," name ")"
//!          | formula
//! formula  = conjunct { ("or" | "∨" | "|") conjunct }
//! conjunct = factor { ("and" | "∧" | "&" | ",") factor }
//! factor   = ("not" | "¬" | "!") factor
//!          | ("exists" | "∃") variable { [","] variable } "." formula
//!          | "(" formula ")"
//!          | name "(" term "," term ")"
//! term     = "?" variable | name
//! name     = word | "quoted" | 'quoted' | <IRI> | prefix:word | #id
//! ```
//!
//! With a target it is a question; without, a statement that is true or not; with a target in the place of
//! a relation, the question which relations hold between two names.
//!
//! The target and the names after `exists` are the variables; every other name is one of the
//! graph. A quoted name is never a variable. `#` begins a comment unless a digit follows.

mod lexer;
mod parser;
mod print;
#[cfg(test)]
mod tests;

pub use parser::{Parsed, argument_places, opens_a_formula, parse, parse_any};
pub use print::name_text;
pub(crate) use print::{Around, Part};

/// How deep parentheses, negations and quantifiers may be nested.
pub const MAX_DEPTH: usize = 128;

/// How long a query may be, in bytes.
pub const MAX_BYTES: usize = 1 << 20;
