//! Rules: what usually holds together, in words that a person can check.
//!
//! A [`Rule`] says when an edge is likely: `has_genre(X, Comedy) ← stars(X, Eddie Murphy)`, with how often it
//! spoke and how often it was right in the training edges. A [`RuleSet`] holds those of a graph, and
//! [`RuleIndex`] makes a sparse row of truth values of them, where rules that say the same thing count once.
//!
//! Relations here are those of a model, reciprocal ones included ([`Reciprocals`](super::Reciprocals)), so that
//! every rule is read forwards: a body is a walk from X.

mod bound;
mod error;
mod fold;
mod index;
mod overlap;
mod reasons;
mod rule;
mod set;
mod steps;
mod text;
mod walk;

pub use error::{RuleError, RuleProblem};
pub(crate) use fold::strength;
pub(crate) use index::REACH;
pub use index::{RuleIndex, SparseRow};
pub(crate) use overlap::Overlapping;
pub use overlap::{ALL_APART, ALL_ONE, Signature};
pub use reasons::{Grounding, Reason};
pub use rule::{Body, PESSIMISM, Path, Rule};
pub use set::{Overlaps, RuleCard, RuleSet};
pub use steps::Steps;
pub use text::{Parsed, parse, rule_text, write};
pub use walk::Walker;

#[cfg(test)]
pub(crate) mod testing;
#[cfg(test)]
mod tests;
