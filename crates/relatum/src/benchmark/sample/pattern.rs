//! What is to be sampled: a shape of the literature, a skeleton, or a question with holes.

use crate::benchmark::skeleton::Skeleton;
use crate::benchmark::template::{HOLE, Template, TemplateError, is_tuple};
use crate::graph::{EntityId, Graph, RelationId};
use crate::query::{Atom, Formula, Limits, Mistakes, Name, ParsedQuery, Query, QueryError, Syntax, Term};

/// A question with holes, which sampling fills.
///
/// ```
/// use relatum::benchmark::Pattern;
/// use relatum::graph::films;
///
/// let (graph, _) = films().finish();
/// assert_eq!(Pattern::parse("2p", &graph)?.name(), "2p");
/// assert_eq!(Pattern::parse("(('e',('r','r')),('e',('r','r')))", &graph)?.template().roles().len(), 6);
/// // In what genres of films did … appear?
/// let genres = Pattern::parse("?G : exists F. stars(F, _) and has_genre(F, G)", &graph)?;
/// assert_eq!(genres.skeleton(), "?G : exists F. _(F, _) and _(F, G)");
/// # Ok::<(), relatum::benchmark::PatternError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pattern {
    name: String,
    skeleton: String,
    template: Template,
    /// The entities and relations that the question names already, by place.
    fixed: Vec<Option<u32>>,
    /// Whether it is a shape or a skeleton, not a question in words.
    is_shape: bool,
    /// How many atoms the normal form has if no two are the same.
    atoms: usize,
}

/// Why something cannot be sampled.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PatternError {
    /// No shape has this name. Write one that has, a skeleton, or a question with `_` in it.
    #[error("there is no query type {name:?}; there are {}, skeletons as in ('e',('r','r')), and questions as in ?A : exists V. _(_, V) and _(V, A)", known.join(" "))]
    Unknown {
        /// What was written.
        name: String,
        /// The names that there are.
        known: Vec<&'static str>,
    },
    /// A skeleton that cannot be read.
    #[error(transparent)]
    Template(#[from] TemplateError),
    /// A question that cannot be answered, whatever fills its holes.
    #[error("{0}")]
    Mistakes(Mistakes),
    /// Nothing is left to be filled. Write `_` in place of an entity or a relation.
    #[error("the question {0:?} has no hole: write _ in place of an entity or a relation")]
    NoHole(String),
}

impl Pattern {
    /// Reads the name of a shape, a skeleton, or a question in which `_` stands in place of entities
    /// and relations. Other names in it are looked up and stay.
    pub fn parse(text: &str, graph: &Graph) -> Result<Self, PatternError> {
        let text = text.trim();
        if let Some(skeleton) = Skeleton::of_shape(text) {
            return Self::of_skeleton(&skeleton);
        }
        if is_tuple(text) && text.contains("'e'") {
            return Self::of_skeleton(&text.parse().map_err(TemplateError::Skeleton)?);
        }
        if !text.contains(['?', '(', '[', '{']) {
            return Err(PatternError::Unknown { name: text.to_owned(), known: Skeleton::names() });
        }
        Self::of_question(text, graph)
    }

    /// The name of the shape or, if it has none, the question or the skeleton.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What the arguments of its queries mean, as [`QueryGroup`](super::super::QueryGroup) keeps it.
    pub fn skeleton(&self) -> &str {
        &self.skeleton
    }

    /// The question.
    pub fn template(&self) -> &Template {
        &self.template
    }

    /// Whether it is a conjunction, without negation or union: only then does every proof of an answer have an edge
    /// for each atom.
    pub fn is_conjunctive(&self) -> bool {
        conjunctive(&self.template.query().formula)
    }

    pub(super) fn fixed(&self) -> &[Option<u32>] {
        &self.fixed
    }

    pub(super) fn is_shape(&self) -> bool {
        self.is_shape
    }

    pub(super) fn atoms(&self) -> usize {
        self.atoms
    }

    fn of_skeleton(skeleton: &Skeleton) -> Result<Self, PatternError> {
        let text = skeleton.to_string();
        let template = Template::try_from(skeleton)?;
        let atoms = check(&template).map_err(|errors| mistakes(&text, errors))?;
        let fixed = vec![None; template.roles().len()];
        Ok(Self { name: skeleton.shape(), skeleton: text, template, fixed, is_shape: true, atoms })
    }

    fn of_question(text: &str, graph: &Graph) -> Result<Self, PatternError> {
        let request = Syntax::detect(text).parse(text, &graph.prefixes);
        let parsed = request.and_then(|request| request.parsed.into_query());
        let parsed = parsed.map_err(|error| mistakes(text, vec![error]))?;
        let (template, names) = Template::abstracted(&parsed);
        if names.iter().all(|name| name.text != HOLE) {
            return Err(PatternError::NoHole(text.to_owned()));
        }
        let resolved = without_holes(&parsed).resolve(graph).map_err(|errors| mistakes(text, errors))?;
        let ids = ids(&resolved.formula).into_iter().zip(&names);
        let fixed = ids.map(|(id, name)| (name.text != HOLE).then_some(id)).collect();
        let atoms = check(&template).map_err(|errors| mistakes(text, errors))?;
        let (name, skeleton) = (parsed.to_string(), template.text());
        Ok(Self { name, skeleton, template, fixed, is_shape: false, atoms })
    }
}

fn conjunctive<E, R>(formula: &Formula<E, R>) -> bool {
    match formula {
        Formula::Atom(_) => true,
        Formula::And(parts) => parts.iter().all(conjunctive),
        Formula::Exists(_, body) => conjunctive(body),
        Formula::Or(_) | Formula::Not(_) => false,
    }
}

fn mistakes(source: &str, errors: Vec<QueryError>) -> PatternError {
    PatternError::Mistakes(Mistakes { source: source.to_owned(), errors })
}

/// Checks the question with a different name in each place, and counts its atoms.
fn check(template: &Template) -> Result<usize, Vec<QueryError>> {
    let query = template.query();
    let formula = query.formula.map(&mut |atom: &Atom<usize, usize>| {
        let term = |term: &Term<usize>| match *term {
            Term::Entity(place) => Term::Entity(EntityId(place as u32)),
            Term::Variable(id) => Term::Variable(id),
        };
        let relation = RelationId(atom.relation as u32);
        Atom { relation, subject: term(&atom.subject), object: term(&atom.object), place: atom.place }
    });
    let query = Query { target: query.target, variables: query.variables.clone(), formula };
    let checked = query.check(Limits::default())?;
    Ok(checked.normal_form.branches.iter().map(crate::query::Branch::atoms).sum())
}

/// The question with its holes filled by something that every graph has.
fn without_holes(query: &ParsedQuery) -> ParsedQuery {
    let name = |name: &Name| if name.text == HOLE { Name::number(0).at(name.place) } else { name.clone() };
    let term = |term: &Term<Name>| match term {
        Term::Entity(entity) => Term::Entity(name(entity)),
        Term::Variable(id) => Term::Variable(*id),
    };
    let formula = query.formula.map(&mut |atom: &Atom<Name, Name>| Atom {
        relation: name(&atom.relation),
        subject: term(&atom.subject),
        object: term(&atom.object),
        place: atom.place,
    });
    Query { target: query.target, variables: query.variables.clone(), formula }
}

/// The ids of a formula in the order of the places of a template.
fn ids(formula: &Formula) -> Vec<u32> {
    let mut ids = Vec::new();
    formula.for_each_atom(&mut |atom| {
        ids.push(atom.relation.0);
        for term in [atom.subject, atom.object] {
            if let Term::Entity(id) = term {
                ids.push(id.0);
            }
        }
    });
    ids
}
