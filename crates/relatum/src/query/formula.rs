//! The question itself: `?A : ∃ V1…Vm. φ`, φ built of atoms with ∧ ∨ ¬.

use super::name::Name;
use super::place::Place;
use crate::graph::{EntityId, RelationId};

/// A variable of a query, by its position in [`Query::variables`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct VariableId(pub u32);

impl VariableId {
    /// The position in [`Query::variables`].
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// What a variable is called and where it was introduced.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Variable {
    /// Its name, without `?`.
    pub name: String,
    /// Where it was introduced.
    pub place: Place,
}

/// One side of an atom: an entity (an *anchor*) or a variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Term<E = EntityId> {
    /// A thing that is known.
    Entity(E),
    /// A thing that is sought.
    Variable(VariableId),
}

impl<E> Term<E> {
    /// The variable, if it is one.
    pub fn variable(&self) -> Option<VariableId> {
        match self {
            Self::Entity(_) => None,
            Self::Variable(id) => Some(*id),
        }
    }
}

/// `relation(subject, object)`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Atom<E = EntityId, R = RelationId> {
    /// The predicate.
    pub relation: R,
    /// Its left argument.
    pub subject: Term<E>,
    /// Its right argument.
    pub object: Term<E>,
    /// Where it stands in the source.
    pub place: Place,
}

impl<E, R> Atom<E, R> {
    /// The variables of both sides, left first; the same one twice in `p(X, X)`.
    pub fn variables(&self) -> impl Iterator<Item = VariableId> + use<E, R> {
        [self.subject.variable(), self.object.variable()].into_iter().flatten()
    }
}

/// A formula over atoms. The functions [`and`](Self::and), [`or`](Self::or) and
/// [`exists`](Self::exists) keep it flat, so that equal formulas are written in one way.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Formula<E = EntityId, R = RelationId> {
    /// `p(x, y)`
    Atom(Atom<E, R>),
    /// `φ ∧ ψ ∧ …`, at least two
    And(Vec<Self>),
    /// `φ ∨ ψ ∨ …`, at least two
    Or(Vec<Self>),
    /// `¬φ`
    Not(Box<Self>),
    /// `∃ V, U. φ`, at least one variable
    Exists(Vec<VariableId>, Box<Self>),
}

impl<E, R> Formula<E, R> {
    /// The conjunction; of one part, that part.
    pub fn and(parts: impl IntoIterator<Item = Self>) -> Self {
        let mut flat = Vec::new();
        for part in parts {
            match part {
                Self::And(inner) => flat.extend(inner),
                other => flat.push(other),
            }
        }
        if flat.len() == 1 { flat.remove(0) } else { Self::And(flat) }
    }

    /// The disjunction; of one part, that part.
    pub fn or(parts: impl IntoIterator<Item = Self>) -> Self {
        let mut flat = Vec::new();
        for part in parts {
            match part {
                Self::Or(inner) => flat.extend(inner),
                other => flat.push(other),
            }
        }
        if flat.len() == 1 { flat.remove(0) } else { Self::Or(flat) }
    }

    /// The negation.
    #[must_use]
    pub fn negate(self) -> Self {
        Self::Not(Box::new(self))
    }

    /// The quantified formula; `∃V.∃U.φ` is `∃V,U.φ`.
    #[must_use]
    pub fn exists(mut variables: Vec<VariableId>, body: Self) -> Self {
        match body {
            body if variables.is_empty() => body,
            Self::Exists(inner, body) => {
                variables.extend(inner);
                Self::Exists(variables, body)
            }
            body => Self::Exists(variables, Box::new(body)),
        }
    }

    /// Calls `visit` on every atom, in the order of the text.
    pub fn for_each_atom<'a>(&'a self, visit: &mut impl FnMut(&'a Atom<E, R>)) {
        match self {
            Self::Atom(atom) => visit(atom),
            Self::And(parts) | Self::Or(parts) => parts.iter().for_each(|part| part.for_each_atom(visit)),
            Self::Not(inner) | Self::Exists(_, inner) => inner.for_each_atom(visit),
        }
    }

    /// The same formula over other atoms.
    pub(crate) fn map<E2, R2>(&self, atom: &mut impl FnMut(&Atom<E, R>) -> Atom<E2, R2>) -> Formula<E2, R2> {
        match self {
            Self::Atom(it) => Formula::Atom(atom(it)),
            Self::And(parts) => Formula::And(parts.iter().map(|part| part.map(atom)).collect()),
            Self::Or(parts) => Formula::Or(parts.iter().map(|part| part.map(atom)).collect()),
            Self::Not(inner) => Formula::Not(Box::new(inner.map(atom))),
            Self::Exists(variables, inner) => Formula::Exists(variables.clone(), Box::new(inner.map(atom))),
        }
    }
}

/// A question: for which values of the target is the formula true?
///
/// Every binder introduces a [`VariableId`] of its own, so no variable is ever captured.
/// The parameters are what stands for entities and relations: ids of a graph, or, before
/// names are looked up, [`Name`]s (see [`ParsedQuery`]).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Query<E = EntityId, R = RelationId> {
    /// The variable whose values are the answers.
    pub target: VariableId,
    /// All variables; a [`VariableId`] is a position here.
    pub variables: Vec<Variable>,
    /// The condition.
    pub formula: Formula<E, R>,
}

/// A query as it was written: names instead of ids.
pub type ParsedQuery = Query<Name, Name>;

impl<E, R> Query<E, R> {
    /// The name of a variable, without `?`.
    pub fn variable_name(&self, id: VariableId) -> &str {
        self.variables.get(id.index()).map_or("", |variable| variable.name.as_str())
    }
}

impl<E: Clone, R: Clone> Query<E, R> {
    /// The same query with its variables numbered as a parser would: the target first, then
    /// in the order in which they are introduced. Variables that nothing introduces are left out.
    #[must_use]
    pub fn renumbered(&self) -> Self {
        let (variables, formula) = in_order(&self.variables, &self.formula, &[self.target]);
        Self { target: VariableId(0), variables, formula }
    }
}

/// A formula and its variables in the order in which they are introduced, behind those that are free.
pub(super) fn in_order<E: Clone, R: Clone>(
    variables: &[Variable],
    formula: &Formula<E, R>,
    free: &[VariableId],
) -> (Vec<Variable>, Formula<E, R>) {
    let mut order = free.to_vec();
    introduced(formula, &mut order);
    let mut new = vec![VariableId(0); variables.len()];
    for (index, id) in order.iter().enumerate() {
        new[id.index()] = VariableId(index as u32);
    }
    let variables = order.iter().map(|id| variables[id.index()].clone()).collect();
    (variables, renumber(formula, &new))
}

fn introduced<E, R>(formula: &Formula<E, R>, order: &mut Vec<VariableId>) {
    match formula {
        Formula::Atom(_) => {}
        Formula::And(parts) | Formula::Or(parts) => parts.iter().for_each(|part| introduced(part, order)),
        Formula::Not(inner) => introduced(inner, order),
        Formula::Exists(variables, body) => {
            order.extend(variables.iter().filter(|id| !order.contains(id)).copied().collect::<Vec<_>>());
            introduced(body, order);
        }
    }
}

fn renumber<E: Clone, R: Clone>(formula: &Formula<E, R>, new: &[VariableId]) -> Formula<E, R> {
    let parts = |parts: &[Formula<E, R>]| parts.iter().map(|part| renumber(part, new)).collect();
    let term = |term: &Term<E>| match term {
        Term::Variable(id) => Term::Variable(new[id.index()]),
        entity @ Term::Entity(_) => entity.clone(),
    };
    match formula {
        Formula::Atom(atom) => {
            Formula::Atom(Atom { subject: term(&atom.subject), object: term(&atom.object), ..atom.clone() })
        }
        Formula::And(inner) => Formula::And(parts(inner)),
        Formula::Or(inner) => Formula::Or(parts(inner)),
        Formula::Not(inner) => renumber(inner, new).negate(),
        Formula::Exists(variables, body) => {
            let variables = variables.iter().map(|id| new[id.index()]).collect();
            Formula::Exists(variables, Box::new(renumber(body, new)))
        }
    }
}
