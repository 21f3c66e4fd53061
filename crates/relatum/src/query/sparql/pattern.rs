//! Graph patterns → formulas.

use rustc_hash::{FxHashMap, FxHashSet};
use spargebra::algebra::{Expression, GraphPattern};
use spargebra::term::{GroundTerm, NamedNodePattern, TermPattern, TriplePattern};

use super::locate::Locator;
use super::names::name_of_iri;
use super::refuse;
use crate::query::between::{self, ParsedBetween};
use crate::query::error::QueryError;
use crate::query::formula::{Atom, Formula, Term, Variable, VariableId};
use crate::query::name::Name;
use crate::query::place::Place;

pub(super) type Parsed = Formula<Name, Name>;

/// What the variables of a pattern stand for: variables of the query or, by VALUES, an entity.
#[derive(Clone, Default)]
pub(super) struct Scope {
    terms: FxHashMap<String, Term<Name>>,
    /// Variables that an enclosing EXISTS gives a value to, visible at any depth of its pattern.
    given: FxHashSet<String>,
}

pub(super) struct Translator<'a> {
    pub(super) locator: Locator<'a>,
    pub(super) variables: Vec<Variable>,
}

impl Translator<'_> {
    pub(super) fn variable(&mut self, name: &str, place: Place) -> VariableId {
        let id = VariableId(self.variables.len() as u32);
        self.variables.push(Variable { name: name.to_owned(), place });
        id
    }

    /// `a ?r b` where the predicate is the variable that is selected, alone and between two names. In any
    /// larger pattern a predicate is refused.
    pub(super) fn between(
        &mut self,
        pattern: &GraphPattern,
        target: &str,
    ) -> Result<Option<ParsedBetween>, QueryError> {
        let GraphPattern::Bgp { patterns } = pattern else { return Ok(None) };
        let is_target = |triple: &TriplePattern| matches!(&triple.predicate, NamedNodePattern::Variable(it) if it.as_str() == target);
        if !patterns.iter().any(is_target) {
            return Ok(None);
        }
        let place = self.locator.variable(target);
        let [TriplePattern { subject, object, .. }] = patterns.as_slice() else {
            return Err(between::refused(place));
        };
        match (self.named(subject), self.named(object)) {
            (Some(subject), Some(object)) => {
                let target = Variable { name: target.to_owned(), place };
                Ok(Some(ParsedBetween { target, subject, object, place }))
            }
            _ => Err(between::refused(place)),
        }
    }

    /// The name that a term of a pattern stands for; `None` for a variable or a blank node.
    fn named(&mut self, term: &TermPattern) -> Option<Name> {
        match term {
            TermPattern::NamedNode(node) => Some(self.name(node.as_str())),
            TermPattern::Literal(literal) => Some(self.literal(literal)),
            TermPattern::Variable(_) | TermPattern::BlankNode(_) => None,
        }
    }

    /// A variable that the query does not name: a blank node or the middle of a path.
    pub(super) fn fresh(&mut self) -> VariableId {
        let name = format!("_{}", self.variables.len());
        self.variable(&name, Place::default())
    }

    /// The pattern with its own variables quantified; `None` if it is empty.
    pub(super) fn quantified(
        &mut self,
        pattern: &GraphPattern,
        outer: &Scope,
    ) -> Result<Option<Parsed>, QueryError> {
        let mut scope = outer.clone();
        let mut own = Vec::new();
        self.values(pattern, &mut scope)?;
        for name in names(pattern).into_iter().filter(|name| !outer.terms.contains_key(name)) {
            if is_entity(&scope, &name) {
                continue;
            }
            let id = if name.starts_with("_:") {
                self.fresh()
            } else {
                let place = self.locator.variable(&name);
                self.variable(&name, place)
            };
            own.push(id);
            scope.terms.insert(name, Term::Variable(id));
        }
        let mut parts = Vec::new();
        self.conjuncts(pattern, &scope, &mut parts)?;
        Ok((!parts.is_empty()).then(|| Formula::exists(own, Formula::and(parts))))
    }

    fn conjuncts(
        &mut self,
        pattern: &GraphPattern,
        scope: &Scope,
        parts: &mut Vec<Parsed>,
    ) -> Result<(), QueryError> {
        match pattern {
            GraphPattern::Bgp { patterns } => {
                for triple in patterns {
                    let NamedNodePattern::NamedNode(relation) = &triple.predicate else {
                        let place = match &triple.predicate {
                            NamedNodePattern::Variable(variable) => self.locator.variable(variable.as_str()),
                            NamedNodePattern::NamedNode(_) => Place::default(),
                        };
                        let instead = "name the relation; several are written as r:a | r:b. Which relations \
                                       hold between two names is asked by SELECT ?r { e:a ?r e:b }";
                        return Err(refuse::refused("a variable as predicate here", instead, Some(place)));
                    };
                    if relation.as_ref() == oxrdf::vocab::rdf::FIRST {
                        let instead = "write a triple for each of its members";
                        return Err(refuse::refused(
                            "a collection `( )`",
                            instead,
                            self.locator.sign(&["("]),
                        ));
                    }
                    let subject = self.term(&triple.subject, scope);
                    let object = self.term(&triple.object, scope);
                    parts.push(self.atom(subject, relation.as_str(), object));
                }
            }
            GraphPattern::Path { subject, path, object } => {
                let subject = self.term(subject, scope);
                let object = self.term(object, scope);
                parts.push(self.path(subject, path, object)?);
            }
            GraphPattern::Join { .. } => {
                for side in join_spine(pattern) {
                    self.conjuncts(side, scope, parts)?;
                }
            }
            GraphPattern::Union { .. } => {
                let mut options = Vec::new();
                for side in union_spine(pattern) {
                    let mut inner = Vec::new();
                    self.conjuncts(side, scope, &mut inner)?;
                    if inner.is_empty() {
                        let place = self.locator.word(&["UNION"]);
                        return Err(refuse::refused("an empty alternative of UNION", "leave it out", place));
                    }
                    options.push(Formula::and(inner));
                }
                parts.push(Formula::or(options));
            }
            GraphPattern::Filter { expr, inner } => {
                self.conjuncts(inner, scope, parts)?;
                let visible = visible(inner, scope);
                parts.push(self.filter(expr, &visible)?);
            }
            GraphPattern::Minus { left, right } => {
                self.conjuncts(left, scope, parts)?;
                let ours: FxHashSet<String> = names(left).into_iter().collect();
                if !names(right).iter().any(|name| ours.contains(name)) {
                    let place = self.locator.word(&["MINUS"]);
                    let instead = "it takes nothing away: share a variable, or leave it out";
                    return Err(refuse::refused(
                        "MINUS that shares no variable with what stands before it",
                        instead,
                        place,
                    ));
                }
                let visible = visible(left, scope);
                let body = self.quantified(right, &visible)?;
                parts.extend(body.map(Formula::negate));
            }
            // Read before, where the scope was made.
            GraphPattern::Values { variables, .. }
                if variables.iter().all(|it| is_entity(scope, it.as_str())) => {}
            other => return Err(refuse::pattern(other, &self.locator)),
        }
        Ok(())
    }

    fn filter(&mut self, expression: &Expression, scope: &Scope) -> Result<Parsed, QueryError> {
        match expression {
            Expression::Exists(pattern) => match self.quantified(pattern, scope)? {
                Some(formula) => Ok(formula),
                None => {
                    Err(refuse::refused("an empty EXISTS", "leave it out", self.locator.word(&["EXISTS"])))
                }
            },
            Expression::Not(inner) => Ok(self.filter(inner, scope)?.negate()),
            Expression::And(a, b) => Ok(Formula::and([self.filter(a, scope)?, self.filter(b, scope)?])),
            Expression::Or(a, b) => Ok(Formula::or([self.filter(a, scope)?, self.filter(b, scope)?])),
            other => Err(refuse::expression(other, &self.locator)),
        }
    }

    /// Gives the variable of every VALUES of a group its one name.
    fn values(&mut self, pattern: &GraphPattern, scope: &mut Scope) -> Result<(), QueryError> {
        match pattern {
            GraphPattern::Join { .. } => {
                join_spine(pattern).into_iter().try_for_each(|side| self.values(side, scope))
            }
            GraphPattern::Filter { inner, .. } => self.values(inner, scope),
            GraphPattern::Minus { left, .. } => self.values(left, scope),
            GraphPattern::Values { variables, bindings } => {
                let place = self.locator.word(&["VALUES"]);
                let ([variable], [row]) = (variables.as_slice(), bindings.as_slice()) else {
                    let instead =
                        "give one variable one name; write several names as alternatives with UNION";
                    return Err(refuse::refused("VALUES with several variables or rows", instead, place));
                };
                let name = match row.first() {
                    Some(Some(GroundTerm::NamedNode(node))) => self.name(node.as_str()),
                    Some(Some(GroundTerm::Literal(literal))) => self.literal(literal),
                    _ => {
                        return Err(refuse::refused(
                            "UNDEF",
                            "give the variable a name",
                            self.locator.word(&["UNDEF"]),
                        ));
                    }
                };
                if scope.terms.contains_key(variable.as_str()) {
                    let instead = "VALUES gives an anchor its name; use another variable";
                    return Err(refuse::refused("VALUES for a variable that is sought", instead, place));
                }
                scope.terms.insert(variable.as_str().to_owned(), Term::Entity(name));
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn term(&mut self, term: &TermPattern, scope: &Scope) -> Term<Name> {
        let key = match term {
            TermPattern::Variable(variable) => variable.as_str().to_owned(),
            TermPattern::BlankNode(node) => format!("_:{}", node.as_str()),
            TermPattern::NamedNode(node) => return Term::Entity(self.name(node.as_str())),
            TermPattern::Literal(literal) => return Term::Entity(self.literal(literal)),
        };
        // The scope holds every variable of the pattern, so the default is never used.
        scope.terms.get(&key).cloned().unwrap_or(Term::Variable(VariableId(0)))
    }

    pub(super) fn atom(&mut self, subject: Term<Name>, relation: &str, object: Term<Name>) -> Parsed {
        let relation = self.name(relation);
        let place = relation.place;
        Formula::Atom(Atom { relation, subject, object, place })
    }

    fn name(&mut self, iri: &str) -> Name {
        name_of_iri(iri).at(self.locator.iri(iri))
    }

    /// A plain string is a name; any other literal has the name that RDF writes for it.
    fn literal(&mut self, literal: &spargebra::term::Literal) -> Name {
        let place = self.locator.literal(literal.value());
        let plain = literal.language().is_none() && literal.datatype() == oxrdf::vocab::xsd::STRING;
        Name::text(if plain { literal.value().to_owned() } else { literal.to_string() }).at(place)
    }
}

impl Scope {
    pub(super) fn of_target(name: &str, id: VariableId) -> Self {
        let mut scope = Self::default();
        scope.terms.insert(name.to_owned(), Term::Variable(id));
        scope
    }
}

/// What the pattern of a filter or of MINUS sees of the pattern that it filters.
fn visible(pattern: &GraphPattern, scope: &Scope) -> Scope {
    let mut given: FxHashSet<String> = names(pattern).into_iter().collect();
    given.extend(scope.given.iter().cloned());
    let terms = scope.terms.iter().filter(|(name, _)| given.contains(*name));
    Scope { terms: terms.map(|(name, term)| (name.clone(), term.clone())).collect(), given }
}

fn is_entity(scope: &Scope, name: &str) -> bool {
    matches!(scope.terms.get(name), Some(Term::Entity(_)))
}

/// The variables and blank nodes that a pattern binds, in order of appearance.
fn names(pattern: &GraphPattern) -> Vec<String> {
    let mut seen = FxHashSet::default();
    let mut names = Vec::new();
    let mut stack = vec![pattern];
    let mut see = |term: &TermPattern| {
        let name = match term {
            TermPattern::Variable(variable) => variable.as_str().to_owned(),
            TermPattern::BlankNode(node) => format!("_:{}", node.as_str()),
            _ => return,
        };
        if seen.insert(name.clone()) {
            names.push(name);
        }
    };
    while let Some(pattern) = stack.pop() {
        match pattern {
            GraphPattern::Bgp { patterns } => {
                for triple in patterns {
                    see(&triple.subject);
                    see(&triple.object);
                }
            }
            GraphPattern::Path { subject, object, .. } => {
                see(subject);
                see(object);
            }
            GraphPattern::Join { left, right } | GraphPattern::Union { left, right } => {
                stack.extend([&**right, &**left]);
            }
            GraphPattern::Filter { inner, .. } => stack.push(inner),
            GraphPattern::Minus { left, .. } => stack.push(left),
            // All others are refused when they are translated.
            _ => {}
        }
    }
    names
}

fn join_spine(pattern: &GraphPattern) -> Vec<&GraphPattern> {
    spine(pattern, |it| if let GraphPattern::Join { left, right } = it { Some((left, right)) } else { None })
}

fn union_spine(pattern: &GraphPattern) -> Vec<&GraphPattern> {
    spine(pattern, |it| if let GraphPattern::Union { left, right } = it { Some((left, right)) } else { None })
}

/// The operands of a chain of one operator. Its tree is as deep as the chain is long, so this is a loop and not
/// a recursion.
fn spine(
    pattern: &GraphPattern,
    split: impl Fn(&GraphPattern) -> Option<(&GraphPattern, &GraphPattern)>,
) -> Vec<&GraphPattern> {
    let mut parts = Vec::new();
    let mut stack = vec![pattern];
    while let Some(at) = stack.pop() {
        match split(at) {
            Some((left, right)) => stack.extend([right, left]),
            None => parts.push(at),
        }
    }
    parts
}
