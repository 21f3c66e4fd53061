//! The nested form in which the benchmark files write queries.

use crate::graph::{EntityId, RelationId};
use crate::query::formula::{Atom, Formula, Query, Term, Variable, VariableId};
use crate::query::place::Place;
use crate::query::shapes::Shape;

/// A set of entities, described from its anchors: what a nested tuple of the files means.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Structure<E = EntityId, R = RelationId> {
    /// One entity.
    Anchor(E),
    /// The entities reached from a set along relations and complements, in order.
    Path(Box<Self>, Vec<Step<R>>),
    /// The intersection.
    All(Vec<Self>),
    /// The union.
    Any(Vec<Self>),
}

/// A step of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step<R = RelationId> {
    /// Follow a relation from its subject to its object.
    Relation(R),
    /// Take all other entities.
    Not,
}

impl<E, R> Structure<E, R> {
    /// From an anchor along steps.
    pub fn chain(anchor: E, steps: Vec<Step<R>>) -> Self {
        Self::Path(Box::new(Self::Anchor(anchor)), steps)
    }

    /// One more step.
    #[must_use]
    pub fn then(self, step: Step<R>) -> Self {
        match self {
            Self::Path(from, mut steps) => {
                steps.push(step);
                Self::Path(from, steps)
            }
            other => Self::Path(Box::new(other), vec![step]),
        }
    }

    /// Whether it is of a shape, whatever its arguments are and in whatever order its parts stand.
    pub fn has_shape(&self, shape: Shape) -> bool {
        let (anchors, relations) = shape.arity();
        let model = shape.structure(&vec![(); anchors], &vec![(); relations]);
        model.is_some_and(|model| model.outline() == self.outline())
    }

    /// The structure without its arguments, parts sorted.
    fn outline(&self) -> String {
        let parts = |parts: &[Self]| {
            let mut outlines: Vec<String> = parts.iter().map(Self::outline).collect();
            outlines.sort_unstable();
            outlines.join(",")
        };
        match self {
            Self::Anchor(_) => "e".to_owned(),
            Self::All(all) => format!("({})", parts(all)),
            Self::Any(any) => format!("({},u)", parts(any)),
            Self::Path(from, steps) => {
                let step = |step: &Step<R>| if matches!(step, Step::Not) { 'n' } else { 'r' };
                format!("({}{})", from.outline(), steps.iter().map(step).collect::<String>())
            }
        }
    }
}

impl<E: Clone, R: Clone> Structure<E, R> {
    /// The query whose answers are this set; `None` if an anchor stands alone or is negated
    /// before any relation is followed: a formula has no equality to express that.
    pub fn query(&self) -> Option<Query<E, R>> {
        let mut builder = Builder { variables: Vec::new() };
        let target = builder.variable("A".to_owned());
        let (bound, formula) = builder.membership(self, target)?;
        let formula = Formula::exists(bound, formula);
        Some(Query { target, variables: builder.variables, formula }.renumbered())
    }
}

impl Structure {
    /// The nested form of the BetaE files: -1 marks a union, -2 a negation.
    pub fn to_betae(&self) -> String {
        let list = |parts: &[Self]| parts.iter().map(Self::to_betae).collect::<Vec<_>>().join(",");
        match self {
            Self::Anchor(id) => id.0.to_string(),
            Self::Path(from, steps) => format!("[{},[{}]]", from.to_betae(), numbers(steps)),
            Self::All(parts) => format!("[{}]", list(parts)),
            Self::Any(parts) => format!("[{},[-1]]", list(parts)),
        }
    }

    /// The nested form of the Query2Box files, in which a union looks like an intersection;
    /// `None` for what those files cannot express.
    pub fn to_query2box(&self) -> Option<String> {
        let pairs = |parts: &[Self]| {
            let pairs: Option<Vec<String>> = parts.iter().map(Self::query2box_pair).collect();
            Some(pairs?.join(","))
        };
        match self {
            Self::All(parts) | Self::Any(parts) => Some(format!("[{}]", pairs(parts)?)),
            Self::Path(from, steps) => match (from.as_ref(), steps.as_slice()) {
                (Self::Anchor(_), _) => Some(format!("[{}]", self.query2box_pair()?)),
                (Self::All(parts) | Self::Any(parts), [Step::Relation(last)]) => {
                    Some(format!("[{},{}]", pairs(parts)?, last.0))
                }
                _ => None,
            },
            Self::Anchor(_) => None,
        }
    }

    fn query2box_pair(&self) -> Option<String> {
        match self {
            Self::Path(from, steps) if !steps.contains(&Step::Not) => match from.as_ref() {
                Self::Anchor(id) => Some(format!("[{},[{}]]", id.0, numbers(steps))),
                _ => None,
            },
            _ => None,
        }
    }
}

fn numbers(steps: &[Step]) -> String {
    let number = |step: &Step| match step {
        Step::Relation(id) => id.0.to_string(),
        Step::Not => "-2".to_owned(),
    };
    steps.iter().map(number).collect::<Vec<_>>().join(",")
}

/// A formula with the variables that are to be quantified around it.
type Quantified<F> = (Vec<VariableId>, F);

struct Builder {
    variables: Vec<Variable>,
}

impl Builder {
    fn variable(&mut self, name: String) -> VariableId {
        let id = VariableId(self.variables.len() as u32);
        self.variables.push(Variable { name, place: Place::default() });
        id
    }

    fn fresh(&mut self) -> VariableId {
        const NAMES: [&str; 6] = ["V", "U", "W", "X", "Y", "Z"];
        let number = self.variables.len() - 1;
        let name = NAMES.get(number).map_or_else(|| format!("V{}", number + 1), |&name| name.to_owned());
        self.variable(name)
    }

    /// "x is in the set", with the variables that are to be quantified around it.
    fn membership<E: Clone, R: Clone>(
        &mut self,
        set: &Structure<E, R>,
        x: VariableId,
    ) -> Option<Quantified<Formula<E, R>>> {
        match set {
            Structure::Anchor(_) => None,
            Structure::All(parts) => self.parts(parts, x).map(|(bound, parts)| (bound, Formula::and(parts))),
            Structure::Any(parts) => self.parts(parts, x).map(|(bound, parts)| (bound, Formula::or(parts))),
            Structure::Path(from, steps) => self.path(from, steps, x),
        }
    }

    fn parts<E: Clone, R: Clone>(
        &mut self,
        parts: &[Structure<E, R>],
        x: VariableId,
    ) -> Option<Quantified<Vec<Formula<E, R>>>> {
        let mut bound = Vec::new();
        let mut formulas = Vec::new();
        for part in parts {
            let (more, formula) = self.membership(part, x)?;
            bound.extend(more);
            formulas.push(formula);
        }
        (!formulas.is_empty()).then_some((bound, formulas))
    }

    fn path<E: Clone, R: Clone>(
        &mut self,
        from: &Structure<E, R>,
        steps: &[Step<R>],
        x: VariableId,
    ) -> Option<Quantified<Formula<E, R>>> {
        let mut relations = steps.iter().filter(|step| matches!(step, Step::Relation(_))).count();
        let mut bound = Vec::new();
        let mut so_far: Vec<Formula<E, R>> = Vec::new();
        let mut at = match from {
            Structure::Anchor(anchor) => Term::Entity(anchor.clone()),
            set => {
                let start = if relations == 0 { x } else { self.fresh() };
                let (more, formula) = self.membership(set, start)?;
                bound.extend(more);
                so_far.push(formula);
                Term::Variable(start)
            }
        };
        for step in steps {
            match step {
                Step::Relation(relation) => {
                    relations -= 1;
                    let next = if relations == 0 { x } else { self.fresh() };
                    bound.extend(at.variable());
                    let subject = std::mem::replace(&mut at, Term::Variable(next));
                    let object = Term::Variable(next);
                    let atom = Atom { relation: relation.clone(), subject, object, place: Place::default() };
                    so_far.push(Formula::Atom(atom));
                }
                Step::Not => {
                    if so_far.is_empty() {
                        return None;
                    }
                    let inner = Formula::and(std::mem::take(&mut so_far));
                    so_far.push(Formula::exists(std::mem::take(&mut bound), inner).negate());
                }
            }
        }
        (!so_far.is_empty()).then(|| (bound, Formula::and(so_far)))
    }
}
