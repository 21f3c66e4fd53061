//! What a type of query is made of.

use crate::benchmark::{BenchmarkError, QueryGroup};
use crate::query::Formula;

/// The properties of a type of query that decide which settings matter.
pub(super) struct Traits {
    /// Existential variables.
    pub(super) variables: usize,
    /// Whether there is more than one atom.
    pub(super) joins: bool,
    pub(super) unites: bool,
    pub(super) negates: bool,
    pub(super) negates_paths: bool,
}

impl Traits {
    pub(super) fn of(group: &QueryGroup) -> Result<Self, BenchmarkError> {
        let template = group.template()?;
        let query = template.query();
        let mut traits = Self {
            variables: query.variables.len().saturating_sub(1),
            joins: false,
            unites: false,
            negates: false,
            negates_paths: template.with_edges_negated() != template,
        };
        let mut atoms = 0;
        query.formula.for_each_atom(&mut |_| atoms += 1);
        traits.joins = atoms > 1;
        traits.note(&query.formula);
        Ok(traits)
    }

    fn note_all<E, R>(&mut self, parts: &[Formula<E, R>]) {
        for part in parts {
            self.note(part);
        }
    }

    fn note<E, R>(&mut self, formula: &Formula<E, R>) {
        match formula {
            Formula::Atom(_) => {}
            Formula::And(parts) => self.note_all(parts),
            Formula::Or(parts) => {
                self.unites = true;
                self.note_all(parts);
            }
            Formula::Not(part) => {
                self.negates = true;
                self.note(part);
            }
            Formula::Exists(_, part) => self.note(part),
        }
    }
}
