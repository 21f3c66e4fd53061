//! Names → ids of a graph, and back.

use super::between::{Between, ParsedBetween};
use super::error::QueryError;
use super::formula::{Atom, Formula, ParsedQuery, Query, Term};
use super::name::{Name, NameKind};
use super::place::Place;
use super::statement::{ParsedStatement, Statement};
use crate::graph::{EntityId, Graph, Id, NameError, RelationId};

impl ParsedQuery {
    /// Looks every name up. Of the names that are not found the first twenty are reported.
    pub fn resolve(&self, graph: &Graph) -> Result<Query, Vec<QueryError>> {
        let formula = resolved(&self.formula, graph)?;
        Ok(Query { target: self.target, variables: self.variables.clone(), formula })
    }
}

impl ParsedStatement {
    /// Looks every name up. Of the names that are not found the first twenty are reported.
    pub fn resolve(&self, graph: &Graph) -> Result<Statement, Vec<QueryError>> {
        let formula = resolved(&self.formula, graph).map_err(|mut errors| {
            for error in &mut errors {
                if let QueryError::Name { in_a_statement, .. } = error {
                    *in_a_statement = true;
                }
            }
            errors
        })?;
        Ok(Statement { variables: self.variables.clone(), formula })
    }
}

impl ParsedBetween {
    /// Looks both names up. If neither is found, both are reported.
    pub fn resolve(&self, graph: &Graph) -> Result<Between, Vec<QueryError>> {
        let mut errors = Vec::new();
        let subject = entity(graph, &self.subject, &mut errors);
        let object = entity(graph, &self.object, &mut errors);
        if errors.is_empty() {
            Ok(Between { target: self.target.clone(), subject, object, place: self.place })
        } else {
            Err(errors)
        }
    }
}

impl Query {
    /// The query with names that a person can read and that mean the same ids.
    pub fn named(&self, graph: &Graph) -> ParsedQuery {
        let formula = named(&self.formula, graph);
        ParsedQuery { target: self.target, variables: self.variables.clone(), formula }
    }
}

impl Statement {
    /// The statement with names that a person can read and that mean the same ids.
    pub fn named(&self, graph: &Graph) -> ParsedStatement {
        ParsedStatement { variables: self.variables.clone(), formula: named(&self.formula, graph) }
    }
}

impl Between {
    /// The question with names that a person can read and that mean the same ids.
    pub fn named(&self, graph: &Graph) -> ParsedBetween {
        let name = |id| Name::text(graph.entities.readable(id, &graph.prefixes));
        let (subject, object) = (name(self.subject), name(self.object));
        ParsedBetween { target: self.target.clone(), subject, object, place: self.place }
    }
}

fn resolved(formula: &Formula<Name, Name>, graph: &Graph) -> Result<Formula, Vec<QueryError>> {
    let mut errors = Vec::new();
    let formula = formula.map(&mut |atom| Atom {
        relation: relation(graph, &atom.relation, &mut errors),
        subject: term(graph, &atom.subject, &mut errors),
        object: term(graph, &atom.object, &mut errors),
        place: atom.place,
    });
    if errors.is_empty() { Ok(formula) } else { Err(errors) }
}

fn named(formula: &Formula, graph: &Graph) -> Formula<Name, Name> {
    let term = |term: &Term| match *term {
        Term::Entity(id) => Term::Entity(Name::text(graph.entities.readable(id, &graph.prefixes))),
        Term::Variable(id) => Term::Variable(id),
    };
    formula.map(&mut |atom| Atom {
        relation: Name::text(graph.relations.readable(atom.relation, &graph.prefixes)),
        subject: term(&atom.subject),
        object: term(&atom.object),
        place: atom.place,
    })
}

fn term(graph: &Graph, term: &Term<Name>, errors: &mut Vec<QueryError>) -> Term {
    match term {
        Term::Variable(id) => Term::Variable(*id),
        Term::Entity(name) => Term::Entity(entity(graph, name, errors)),
    }
}

/// How many names that are not found are reported: for each of them every name of the graph is compared, which a
/// question with thousands of them would turn into minutes on a large graph.
const REPORTED: usize = 20;

fn entity(graph: &Graph, name: &Name, errors: &mut Vec<QueryError>) -> EntityId {
    if errors.len() >= REPORTED {
        return EntityId(0);
    }
    look_up(graph, name, graph.entities.len(), |text| graph.entity(text)).unwrap_or_else(|error| {
        errors.push(not_found(name, error));
        EntityId(0)
    })
}

fn relation(graph: &Graph, name: &Name, errors: &mut Vec<QueryError>) -> RelationId {
    if errors.len() >= REPORTED {
        return RelationId(0);
    }
    look_up(graph, name, graph.relations.len(), |text| graph.relation(text)).unwrap_or_else(|error| {
        errors.push(not_found(name, error));
        RelationId(0)
    })
}

fn look_up<I: Id>(
    graph: &Graph,
    name: &Name,
    count: usize,
    find: impl Fn(&str) -> Result<I, NameError>,
) -> Result<I, NameError> {
    match name.kind {
        NameKind::Text => find(&name.text).or_else(|error| near_expanded(name, graph, &find, error)),
        NameKind::Iri => find(&format!("<{}>", name.text)),
        NameKind::Number => match name.text.parse::<usize>() {
            Ok(index) if index < count => Ok(I::from_index(index)),
            _ => Err(NameError::Unknown {
                kind: I::KIND,
                text: format!("#{}", name.text),
                nearest: Vec::new(),
            }),
        },
    }
}

/// For a prefixed name without anything near it: what is near the IRI that it stands for.
fn near_expanded<I: Id>(
    name: &Name,
    graph: &Graph,
    find: impl Fn(&str) -> Result<I, NameError>,
    error: NameError,
) -> Result<I, NameError> {
    let NameError::Unknown { kind, text, nearest: _ } = &error else { return Err(error) };
    let Some(iri) = graph.prefixes.expand(&name.text) else { return Err(error) };
    match find(&format!("<{iri}>")) {
        Err(NameError::Unknown { nearest, .. }) => {
            Err(NameError::Unknown { kind, text: text.clone(), nearest })
        }
        found => found,
    }
}

fn not_found(name: &Name, error: NameError) -> QueryError {
    let like_a_variable = name.kind == NameKind::Text
        && name.text.len() <= 3
        && name.text.starts_with(|c: char| c.is_ascii_uppercase());
    let place: Place = name.place;
    QueryError::Name { error, like_a_variable, in_a_statement: false, place }
}
