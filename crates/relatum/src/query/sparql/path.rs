//! Property paths → formulas.

use spargebra::algebra::PropertyPathExpression;

use super::pattern::{Parsed, Translator};
use super::refuse;
use crate::query::error::QueryError;
use crate::query::formula::{Formula, Term};
use crate::query::name::Name;

impl Translator<'_> {
    /// `subject path object`
    pub(super) fn path(
        &mut self,
        subject: Term<Name>,
        path: &PropertyPathExpression,
        object: Term<Name>,
    ) -> Result<Parsed, QueryError> {
        match path {
            PropertyPathExpression::NamedNode(relation) => Ok(self.atom(subject, relation.as_str(), object)),
            PropertyPathExpression::Reverse(inner) => self.path(object, inner, subject),
            PropertyPathExpression::Sequence(..) => {
                let steps = spine(path, |path| match path {
                    PropertyPathExpression::Sequence(left, right) => Some((left, right)),
                    _ => None,
                });
                let mut between = Vec::new();
                let mut parts = Vec::new();
                let mut from = subject;
                for (index, step) in steps.iter().enumerate() {
                    let to = if index + 1 == steps.len() {
                        object.clone()
                    } else {
                        let id = self.fresh();
                        between.push(id);
                        Term::Variable(id)
                    };
                    parts.push(self.path(std::mem::replace(&mut from, to.clone()), step, to)?);
                }
                Ok(Formula::exists(between, Formula::and(parts)))
            }
            PropertyPathExpression::Alternative(..) => {
                let options = spine(path, |path| match path {
                    PropertyPathExpression::Alternative(left, right) => Some((left, right)),
                    _ => None,
                });
                let parts: Result<Vec<_>, _> =
                    options.iter().map(|option| self.path(subject.clone(), option, object.clone())).collect();
                Ok(Formula::or(parts?))
            }
            _ => Err(refuse::path(path, &self.locator)),
        }
    }
}

/// The operands of a chain of one operator. Its tree is as deep as the chain is long, so this is a loop and not
/// a recursion.
fn spine<T>(mut at: &T, split: impl Fn(&T) -> Option<(&Box<T>, &Box<T>)>) -> Vec<&T> {
    let mut parts = Vec::new();
    while let Some((left, right)) = split(at) {
        parts.push(right.as_ref());
        at = left;
    }
    parts.push(at);
    parts.reverse();
    parts
}
