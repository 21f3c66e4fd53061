//! The question which relations hold between two things.

use super::error::QueryError;
use super::formula::Variable;
use super::name::Name;
use super::place::Place;
use crate::graph::EntityId;

/// `?R : R("Alien (1979)", "Ridley Scott")`: which relations hold between two named things?
///
/// The one question whose answers are relations. Before names are looked up it is a [`ParsedBetween`].
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Between<E = EntityId> {
    /// The variable that stands for the relation that is sought.
    pub target: Variable,
    /// The left argument of the relation.
    pub subject: E,
    /// The right argument of the relation.
    pub object: E,
    /// Where the atom stands in the source.
    pub place: Place,
}

/// The question as it was written: names instead of ids.
pub type ParsedBetween = Between<Name>;

/// The mistake of any larger question that has a variable in the place of a relation.
pub(super) fn refused(place: Place) -> QueryError {
    QueryError::Refused {
        construct: "a variable for a relation in this question".to_owned(),
        instead: "which relations hold can be asked of two named things, and of nothing else: \
                  `?R : R(\"one name\", \"another name\")`"
            .to_owned(),
        place: Some(place),
    }
}
