//! A question with numbered places for its entities and relations.

use super::queries::QueryGroup;
use super::skeleton::{Piece, Role, Skeleton, SkeletonError};
use crate::graph::{EntityId, Id, RelationId};
use crate::model::Reciprocals;
use crate::query::shapes::{Step, Structure};
use crate::query::{Atom, Formula, Query, QueryError, Term, syntax};

/// What the queries of a [`QueryGroup`] have in common: a formula whose entities and relations are
/// numbers of places, which the arguments of a query fill.
///
/// It is written as a [`Skeleton`], or, for questions that cannot be written as a nested tuple, as a text in which
/// `_` stands for each place: `?A : exists V. _(_, V) and _(V, A) and _(A, V)`.
///
/// ```
/// use relatum::benchmark::Template;
/// use relatum::graph::films;
/// use relatum::model::Reciprocals;
///
/// let (graph, _) = films().finish();
/// let template: Template = "('e',('r','r'))".parse()?;
/// let query = template.fill(&[0, 1, 2], &Reciprocals::of(&graph)).unwrap();
/// assert_eq!(query.variables.len(), 2);
/// # Ok::<(), relatum::benchmark::TemplateError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Template {
    query: Query<usize, usize>,
    roles: Vec<Role>,
}

/// Why a text cannot be read as a template.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TemplateError {
    /// It begins like a nested tuple, but cannot be read as one.
    #[error(transparent)]
    Skeleton(#[from] SkeletonError),
    /// A nested tuple without a meaning: write a path, or branches that are intersected or united.
    #[error("expected a path ('e',('r',)) or a tuple of such branches, found {0}")]
    Meaningless(String),
    /// It begins like a question, but cannot be read as one.
    #[error("{error} in the template {text:?}")]
    Query {
        /// What is wrong.
        error: QueryError,
        /// The template.
        text: String,
    },
    /// A name where a place should be: write `_` for every entity and relation.
    #[error("expected _ for every entity and relation of a template, found the name {0:?}")]
    Name(String),
}

impl QueryGroup {
    /// What the arguments of the queries mean.
    pub fn template(&self) -> Result<Template, TemplateError> {
        self.skeleton.parse()
    }

    /// The set of entities that the arguments of a query describe, over the numbers of its places; `None` for a
    /// question that is no nested tuple.
    pub fn structure(&self) -> Option<Structure<usize, usize>> {
        is_tuple(&self.skeleton).then(|| self.skeleton.parse::<Skeleton>().ok())?.as_ref().and_then(structure)
    }

    /// What each argument is, in order. This requires less than [`template`](Self::template): a tuple
    /// of a file is kept even if it has no meaning as a query.
    pub fn roles(&self) -> Result<Vec<Role>, TemplateError> {
        if is_tuple(&self.skeleton) {
            return Ok(self.skeleton.parse::<Skeleton>()?.roles());
        }
        Ok(self.template()?.roles)
    }
}

impl Template {
    /// What each argument is, in order.
    pub fn roles(&self) -> &[Role] {
        &self.roles
    }

    /// The formula over the numbers of the places.
    pub fn query(&self) -> &Query<usize, usize> {
        &self.query
    }

    /// The query with these arguments; `None` if they are too few or a relation does not exist.
    ///
    /// A relation is one of the graph or one of its [`Reciprocals`]: `r⁻¹(x, y)` becomes `r(y, x)`,
    /// so the query has relations of the graph only.
    pub fn fill(&self, arguments: &[u32], relations: &Reciprocals) -> Option<Query> {
        let mut complete = arguments.len() == self.roles.len();
        let mut argument = |place: usize| {
            arguments.get(place).copied().unwrap_or_else(|| {
                complete = false;
                0
            })
        };
        let mut known = true;
        let formula = self.query.formula.map(&mut |atom: &Atom<usize, usize>| {
            let mut term = |term: &Term<usize>| match *term {
                Term::Entity(place) => Term::Entity(EntityId(argument(place))),
                Term::Variable(id) => Term::Variable(id),
            };
            let (subject, object) = (term(&atom.subject), term(&atom.object));
            let relation = RelationId(argument(atom.relation));
            if relation.index() >= relations.len() {
                known = false;
            } else if !relations.in_graph(relation) {
                let relation = relations.inverse(relation);
                return Atom { relation, subject: object, object: subject, place: atom.place };
            }
            Atom { relation, subject, object, place: atom.place }
        });
        let query = Query { target: self.query.target, variables: self.query.variables.clone(), formula };
        (complete && known).then_some(query)
    }

    /// The same question with the other reading of negated paths: of `¬∃V. φ ∧ r(V, A)` only the edges
    /// to variables outside the path are negated, `∃V. φ ∧ ¬r(V, A)`.
    #[must_use]
    pub fn with_edges_negated(&self) -> Self {
        let Query { target, variables, .. } = self.query.clone();
        let formula = edges_negated(&self.query.formula);
        Self { query: Query { target, variables, formula }, roles: self.roles.clone() }
    }

    /// The template of a question, every name a place; and the names in the order of the places.
    pub(super) fn abstracted<N: Clone>(query: &Query<N, N>) -> (Self, Vec<N>) {
        let mut names = Vec::new();
        let mut roles = Vec::new();
        let mut place = |name: &N, role| {
            names.push(name.clone());
            roles.push(role);
            names.len() - 1
        };
        let formula = query.formula.map(&mut |atom: &Atom<N, N>| {
            // In the order in which an atom is written: relation(subject, object).
            let relation = place(&atom.relation, Role::Relation);
            let mut term = |term: &Term<N>| match term {
                Term::Entity(name) => Term::Entity(place(name, Role::Entity)),
                Term::Variable(id) => Term::Variable(*id),
            };
            let (subject, object) = (term(&atom.subject), term(&atom.object));
            Atom { relation, subject, object, place: atom.place }
        });
        let query = Query { target: query.target, variables: query.variables.clone(), formula };
        (Self { query, roles }, names)
    }

    /// The template as a text with `_` for every place.
    pub(super) fn text(&self) -> String {
        let hole = || crate::query::Name::text(HOLE);
        let formula = self.query.formula.map(&mut |atom: &Atom<usize, usize>| {
            let term = |term: &Term<usize>| match term {
                Term::Entity(_) => Term::Entity(hole()),
                Term::Variable(id) => Term::Variable(*id),
            };
            Atom {
                relation: hole(),
                subject: term(&atom.subject),
                object: term(&atom.object),
                place: atom.place,
            }
        });
        let query = Query { target: self.query.target, variables: self.query.variables.clone(), formula };
        query.to_string()
    }
}

fn edges_negated<E: Clone, R: Clone>(formula: &Formula<E, R>) -> Formula<E, R> {
    let each = |parts: &[Formula<E, R>]| parts.iter().map(edges_negated).collect::<Vec<_>>();
    match formula {
        Formula::Atom(atom) => Formula::Atom(atom.clone()),
        Formula::And(parts) => Formula::and(each(parts)),
        Formula::Or(parts) => Formula::or(each(parts)),
        Formula::Exists(bound, inner) => Formula::exists(bound.clone(), edges_negated(inner)),
        Formula::Not(inner) => match &**inner {
            Formula::Exists(bound, path) => {
                let parts = match &**path {
                    Formula::And(parts) => parts.clone(),
                    other => vec![other.clone()],
                };
                let leads_out = |part: &Formula<E, R>| {
                    let mut out = false;
                    part.for_each_atom(&mut |atom| out |= atom.variables().any(|id| !bound.contains(&id)));
                    out
                };
                // If the path is a single edge, negating that edge would leave its variable unbound.
                if parts.iter().all(leads_out) {
                    return formula.clone();
                }
                let of = |part: Formula<E, R>| if leads_out(&part) { part.negate() } else { part };
                Formula::exists(bound.clone(), Formula::and(parts.into_iter().map(of)))
            }
            _ => formula.clone(),
        },
    }
}

pub(super) fn is_tuple(text: &str) -> bool {
    text.trim_start().starts_with('(')
}

/// What stands for a place in a text.
pub(super) const HOLE: &str = "_";

impl std::str::FromStr for Template {
    type Err = TemplateError;

    fn from_str(text: &str) -> Result<Self, TemplateError> {
        if is_tuple(text) {
            return Self::try_from(&text.parse::<Skeleton>()?);
        }
        let query =
            syntax::parse(text).map_err(|error| TemplateError::Query { error, text: text.to_owned() })?;
        let (template, names) = Self::abstracted(&query);
        match names.into_iter().find(|name| name.text != HOLE) {
            Some(name) => Err(TemplateError::Name(name.text)),
            None => Ok(template),
        }
    }
}

impl TryFrom<&Skeleton> for Template {
    type Error = TemplateError;

    fn try_from(skeleton: &Skeleton) -> Result<Self, TemplateError> {
        let meaningless = || TemplateError::Meaningless(skeleton.to_string());
        let structure = structure(skeleton).ok_or_else(meaningless)?;
        let query = structure.query().ok_or_else(meaningless)?;
        Ok(Self { query, roles: skeleton.roles() })
    }
}

/// A bracket with its content, or a letter; entities and relations with the number of their place.
enum Node {
    Letter(Piece, usize),
    List(Vec<Node>),
}

fn structure(skeleton: &Skeleton) -> Option<Structure<usize, usize>> {
    let mut open: Vec<Vec<Node>> = vec![Vec::new()];
    let mut places = 0;
    for &piece in skeleton.pieces() {
        let node = match piece {
            Piece::Open => {
                open.push(Vec::new());
                continue;
            }
            Piece::Close => Node::List(open.pop()?),
            letter => {
                let place = places;
                places += usize::from(matches!(letter, Piece::Entity | Piece::Relation));
                Node::Letter(letter, place)
            }
        };
        open.last_mut()?.push(node);
    }
    match open.pop()?.as_slice() {
        [whole] => set(whole),
        _ => None,
    }
}

/// The set of entities that a nested tuple describes.
fn set(node: &Node) -> Option<Structure<usize, usize>> {
    let items = match node {
        Node::Letter(Piece::Entity, place) => return Some(Structure::Anchor(*place)),
        Node::Letter(..) => return None,
        Node::List(items) => items.as_slice(),
    };
    let sets = |parts: &[Node]| parts.iter().map(set).collect::<Option<Vec<_>>>();
    let is_letter = |item: &Node| matches!(item, Node::Letter(..));
    match items {
        [] => None,
        [one] => set(one),
        [parts @ .., Node::List(mark)] if matches!(mark[..], [Node::Letter(Piece::Union, _)]) => {
            sets(parts).map(Structure::Any)
        }
        [from, Node::List(steps)] if steps.iter().all(is_letter) => {
            steps.iter().try_fold(set(from)?, |so_far, step| match step {
                Node::Letter(Piece::Relation, place) => Some(so_far.then(Step::Relation(*place))),
                Node::Letter(Piece::Negation, _) => Some(so_far.then(Step::Not)),
                _ => None,
            })
        }
        parts => sets(parts).map(Structure::All),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::{GraphBuilder, Split};
    use crate::query::Shape;

    #[test]
    fn every_shape_of_the_literature_is_filled_as_its_formula_says() {
        let mut builder = GraphBuilder::default();
        for id in 0..9 {
            builder.add(Split::Train, &format!("e{id}"), &format!("r{id}"), "e0");
        }
        let relations = Reciprocals::of(&builder.finish().0);
        for shape in Shape::ALL {
            let template = Template::try_from(&Skeleton::of_shape(shape.name()).unwrap()).unwrap();
            let arguments: Vec<u32> = (0..template.roles().len() as u32).collect();
            let of = |role| {
                arguments.iter().zip(template.roles()).filter(move |(_, r)| **r == role).map(|(id, _)| *id)
            };
            let anchors: Vec<EntityId> = of(Role::Entity).map(EntityId).collect();
            let hops: Vec<RelationId> = of(Role::Relation).map(RelationId).collect();
            let expected = shape.structure(&anchors, &hops).and_then(|it| it.query()).unwrap();
            assert_eq!(template.fill(&arguments, &relations), Some(expected), "{shape}");
            assert_eq!(template.fill(&arguments[1..], &relations), None);
            assert_eq!(template.text().parse::<Template>().unwrap().text(), template.text());
        }
    }

    #[test]
    fn a_relation_behind_those_of_the_graph_is_read_backwards() {
        let mut builder = GraphBuilder::default();
        builder.add(Split::Train, "a", "r", "b");
        builder.add(Split::Train, "a", "s", "b");
        let (graph, _) = builder.finish();
        let template: Template = "('e',('r',))".parse().unwrap();
        let shown = |relation| {
            let query = template.fill(&[1, relation], &Reciprocals::of(&graph));
            query.map(|query| query.named(&graph).to_string())
        };
        assert_eq!(shown(1).unwrap(), "?A : s(b, A)");
        assert_eq!(shown(3).unwrap(), "?A : s(A, b)");
        assert_eq!(shown(4), None);
    }

    #[test]
    fn a_negated_path_has_a_second_reading() {
        let other = |text: &str| text.parse::<Template>().unwrap().with_edges_negated().text();
        insta::assert_snapshot!(other("(('e',('r','r','n')),('e',('r',)))"), @"?A : (exists V. _(_, V) and not _(V, A)) and _(_, A)");
        insta::assert_snapshot!(other("?A : _(_, A) and not exists V, U. _(_, V) and _(V, U) and _(U, A)"), @"?A : _(_, A) and (exists V, U. _(_, V) and _(V, U) and not _(U, A))");
        // Nothing to read otherwise: no negated path, or one that is a single edge.
        for same in ["(('e',('r',)),('e',('r','n')))", "?A : _(_, A) and not exists V. _(V, A)"] {
            assert_eq!(other(same), same.parse::<Template>().unwrap().text());
        }
    }

    #[test]
    fn a_wrong_template_is_refused() {
        let message = |text: &str| text.parse::<Template>().unwrap_err().to_string();
        insta::assert_snapshot!(message("('e',)"), @"expected a path ('e',('r',)) or a tuple of such branches, found ('e',)");
        insta::assert_snapshot!(message("('r',('e',))"), @"expected a path ('e',('r',)) or a tuple of such branches, found ('r',('e',))");
        insta::assert_snapshot!(message("?A : stars(_, A)"), @r#"expected _ for every entity and relation of a template, found the name "stars""#);
        insta::assert_snapshot!(message("?A : _(_, A"), @r#"expected `)` after the arguments, found the end of the query in the template "?A : _(_, A""#);
    }
}
