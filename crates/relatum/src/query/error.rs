//! Everything that can be wrong with a query.

use super::place::Place;
use crate::graph::NameError;

/// A mistake in a query. [`diagnostic`](Self::diagnostic) shows where it is and what to write instead.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum QueryError {
    /// The text does not follow the grammar. Write what was expected at the place shown.
    #[error("expected {expected}, found {found}")]
    Syntax {
        /// What could have stood there.
        expected: String,
        /// What stands there.
        found: String,
        /// What to write instead, where that can be said.
        help: Option<String>,
        /// Where.
        place: Place,
    },
    /// Parentheses, negations or quantifiers are nested too deeply. Remove parentheses that change nothing.
    #[error("the formula is nested more than {limit} deep")]
    TooDeep {
        /// How deep it may be.
        limit: usize,
        /// The parenthesis that is one too deep.
        place: Place,
    },
    /// The query is larger than any engine could answer. Ask several smaller questions.
    #[error("the query has {count} {what}, more than the {limit} that are allowed")]
    TooLarge {
        /// `atoms`, `bytes` or `tokens`.
        what: &'static str,
        /// How many there are.
        count: usize,
        /// How many there may be.
        limit: usize,
    },
    /// A variable is introduced inside the scope of another of the same name. Choose another name.
    #[error("the variable {name} is introduced twice")]
    IntroducedTwice {
        /// Its name.
        name: String,
        /// The first time.
        first: Place,
        /// The second time.
        place: Place,
    },
    /// `?X` stands in an atom, but nothing introduces X. Write `exists X.` in front.
    #[error("the variable ?{name} is never introduced")]
    NeverIntroduced {
        /// Its name.
        name: String,
        /// Where it is used.
        place: Place,
    },
    /// `exists X.` introduces X, but no atom uses it. Remove it or use it.
    #[error("the variable {name} is never bound: no atom uses it")]
    NeverBound {
        /// Its name.
        name: String,
        /// Where it is introduced.
        place: Place,
    },
    /// The target is in no atom. Use it in at least one.
    #[error("the target ?{name} is in no atom")]
    TargetMissing {
        /// Its name.
        name: String,
        /// Where it is introduced.
        place: Place,
    },
    /// One alternative of a disjunction does not restrict the target, so every entity would be an answer of it.
    #[error("an alternative of the question does not mention the target ?{name}")]
    TargetMissingInBranch {
        /// Its name.
        name: String,
        /// The atoms of that alternative.
        place: Place,
    },
    /// A formula without target where things are to be found. Begin with what is sought, `?X : …`.
    #[error("this is a statement, true or not: it has no target to be found")]
    NoTarget {
        /// The statement.
        place: Place,
    },
    /// A question for relations where things are to be found. Name the relation.
    #[error("this asks for relations, not for things")]
    SeeksRelations {
        /// The atom whose relation is sought.
        place: Place,
    },
    /// A name is not in the graph, or stands for several things.
    #[error("{error}")]
    Name {
        /// What the graph says.
        error: NameError,
        /// Whether it could have been meant as a variable.
        like_a_variable: bool,
        /// Whether nothing is sought so far, so that it could have been meant as the target.
        in_a_statement: bool,
        /// Where.
        place: Place,
    },
    /// A variable occurs only under negation. Add an atom without `not` that says what it can be.
    #[error("the variable {name} is unsafe: it occurs only under negation")]
    Unsafe {
        /// Its name.
        name: String,
        /// The negated atom.
        place: Place,
    },
    /// A part of the query shares no variable with the part that has the target. Connect it or leave it out.
    #[error("a part of the question is not connected with the target ?{target}")]
    Disconnected {
        /// The name of the target.
        target: String,
        /// The variables of that part.
        variables: Vec<String>,
        /// An atom of that part.
        place: Place,
    },
    /// An atom has no variable, so it does not help to find anything. Leave it out.
    #[error("this atom has no variable: it is a statement, not a condition on an answer")]
    Ground {
        /// The atom.
        place: Place,
    },
    /// The disjunctive normal form is too large. Ask the alternatives one by one, or raise the limit.
    #[error("the question has {} alternatives in normal form, more than the {limit} that are allowed", at_least(*count, *exact))]
    TooManyBranches {
        /// How many there are.
        count: usize,
        /// Whether they were all counted.
        exact: bool,
        /// How many there may be.
        limit: usize,
    },
    /// The text is not SPARQL.
    #[error("this is not SPARQL: {message}")]
    Sparql {
        /// What the parser says.
        message: String,
        /// Where.
        place: Place,
    },
    /// SPARQL that has no meaning as a logical question here. Each is refused by its name.
    #[error("{construct} is not supported")]
    Refused {
        /// The name of the construct.
        construct: String,
        /// What to write instead.
        instead: String,
        /// Where it stands, if it was found.
        place: Option<Place>,
    },
}

fn at_least(count: usize, exact: bool) -> String {
    if exact { count.to_string() } else { format!("at least {count}") }
}
