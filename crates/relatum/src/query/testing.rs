//! Random queries and tiny graphs for the tests of this module and of those that build on it.

use proptest::prelude::*;

use super::formula::{Atom, Formula, Query, Term, Variable, VariableId};
use super::place::Place;
use super::statement::Statement;
use crate::graph::{EntityId, Graph, GraphBuilder, RelationId, Split};
use crate::random::Rng;

/// How many entities and relations the tiny graphs have.
pub(crate) const ENTITIES: u32 = 3;
pub(crate) const RELATIONS: u32 = 2;

/// A graph with these edges; of its names some need quoting, some escaping, some neither.
pub(crate) fn tiny_graph(edges: &[(u32, u32, u32)]) -> Graph {
    let mut builder = GraphBuilder::default();
    let names = ["plain", "with blank \"é\"", "and"];
    for name in names {
        builder.entity(name);
    }
    for name in ["r0", "has (part)"] {
        builder.relation(name);
    }
    for &(h, r, t) in edges {
        builder.add_ids(Split::Train, crate::graph::Triple::new(h, r, t));
    }
    builder.finish().0
}

/// Edges of a random tiny graph.
pub(crate) fn edges() -> impl Strategy<Value = Vec<(u32, u32, u32)>> {
    prop::collection::vec((0..ENTITIES, 0..RELATIONS, 0..ENTITIES), 0..10)
}

/// Any formula over the target and up to three nested binders, in the form that a parser makes.
pub(crate) fn any_query() -> impl Strategy<Value = Query> {
    sketch(4).prop_map(|sketch| {
        let mut variables = vec![variable("A")];
        let mut scope = vec![VariableId(0)];
        let formula = build(&sketch, &mut variables, &mut scope);
        Query { target: VariableId(0), variables, formula }
    })
}

/// Any closed formula with up to four nested binders, in the form that a parser makes.
pub(crate) fn any_statement() -> impl Strategy<Value = Statement> {
    sketch(4).prop_map(|sketch| {
        let (mut variables, mut scope) = (Vec::new(), Vec::new());
        let formula = build(&sketch, &mut variables, &mut scope);
        Statement { variables, formula }
    })
}

/// Questions that pass every check: each variable is in a positive atom, all are connected, an
/// anchor is given; with unions, loops, cycles, and sub-queries that share one or two variables.
pub(crate) fn safe_query() -> impl Strategy<Value = Query> {
    any::<u64>().prop_map(random_query)
}

/// The question of a seed.
pub(crate) fn random_query(seed: u64) -> Query {
    let mut maker = Maker { rng: Rng::new(seed), variables: vec![variable("A")] };
    let target = VariableId(0);
    let own = maker.rng.below(3);
    let mut formula = maker.level(&[target], own, 0);
    if maker.one_in(5) {
        formula = Formula::or([formula, maker.level(&[target], 1, 0)]);
    }
    Query { target, variables: maker.variables, formula }.renumbered()
}

struct Maker {
    rng: Rng,
    variables: Vec<Variable>,
}

impl Maker {
    /// `∃ own. …`, in which every shared variable occurs. At depth 0 this is the question.
    fn level(&mut self, shared: &[VariableId], own: usize, depth: usize) -> Formula {
        let mut known = shared.to_vec();
        let mut parts = Vec::new();
        for _ in 0..own {
            let id = VariableId(self.variables.len() as u32);
            self.variables.push(variable(&format!("V{}", id.0)));
            let other = self.pick(&known);
            parts.push(self.atom(Term::Variable(id), Term::Variable(other)));
            known.push(id);
        }
        if depth > 0 {
            for &id in shared {
                let own = self.pick(&known[shared.len()..]);
                parts.push(self.atom(Term::Variable(own), Term::Variable(id)));
            }
        }
        if depth == 0 || self.one_in(2) {
            parts.push(self.anchored(&known));
        }
        for _ in 0..self.rng.below(3) {
            parts.push(self.literal(&known));
        }
        if self.one_in(3) {
            let one = Formula::and([self.literal(&known), self.literal(&known)]);
            let other = if depth == 0 && self.one_in(3) {
                let shared = self.pick(&known);
                self.level(&[shared], 1, 2)
            } else {
                self.literal(&known)
            };
            parts.push(Formula::or([one, other]));
        }
        if depth < 2 && self.one_in(2 + depth) {
            let first = self.pick(&known);
            let second = self.pick(&known);
            let shared = if first == second { vec![first] } else { vec![first, second] };
            let own = if depth == 0 { 1 + self.rng.below(2) } else { 1 };
            parts.push(self.level(&shared, own, depth + 1).negate());
        }
        self.rng.shuffle(&mut parts);
        Formula::exists(known[shared.len()..].to_vec(), Formula::and(parts))
    }

    fn literal(&mut self, known: &[VariableId]) -> Formula {
        let atom = if self.one_in(2) {
            self.anchored(known)
        } else {
            let (a, b) = (self.pick(known), self.pick(known));
            self.atom(Term::Variable(a), Term::Variable(b))
        };
        if self.one_in(3) { atom.negate() } else { atom }
    }

    fn anchored(&mut self, known: &[VariableId]) -> Formula {
        let anchor = EntityId(self.rng.below(ENTITIES as usize) as u32);
        let id = self.pick(known);
        self.atom(Term::Entity(anchor), Term::Variable(id))
    }

    fn atom(&mut self, a: Term, b: Term) -> Formula {
        let (subject, object) = if self.one_in(2) { (a, b) } else { (b, a) };
        let relation = RelationId(self.rng.below(RELATIONS as usize) as u32);
        Formula::Atom(Atom { relation, subject, object, place: Place::default() })
    }

    fn pick(&mut self, ids: &[VariableId]) -> VariableId {
        ids[self.rng.below(ids.len())]
    }

    fn one_in(&mut self, many: usize) -> bool {
        self.rng.below(many) == 0
    }
}

/// A formula before its variables have ids: arguments below [`ENTITIES`] are entities, others
/// are counted from the innermost variable in scope.
#[derive(Clone, Debug)]
enum Sketch {
    Atom(u32, u32, u32),
    And(Vec<Sketch>),
    Or(Vec<Sketch>),
    Not(Box<Sketch>),
    Exists(Box<Sketch>),
}

fn sketch(depth: u32) -> impl Strategy<Value = Sketch> {
    let argument = 0..ENTITIES + 4;
    let atom = (0..RELATIONS, argument.clone(), argument).prop_map(|(r, s, o)| Sketch::Atom(r, s, o));
    atom.prop_recursive(depth, 12, 3, |inner| {
        prop_oneof![
            3 => prop::collection::vec(inner.clone(), 2..4).prop_map(Sketch::And),
            2 => prop::collection::vec(inner.clone(), 2..3).prop_map(Sketch::Or),
            2 => inner.clone().prop_map(|it| Sketch::Not(Box::new(it))),
            3 => inner.prop_map(|it| Sketch::Exists(Box::new(it))),
        ]
    })
}

fn build(sketch: &Sketch, variables: &mut Vec<Variable>, scope: &mut Vec<VariableId>) -> Formula {
    match sketch {
        Sketch::Atom(relation, subject, object) => {
            let term = |number: u32| match number.checked_sub(ENTITIES) {
                None => Term::Entity(EntityId(number)),
                Some(back) if scope.is_empty() => Term::Entity(EntityId(back % ENTITIES)),
                Some(back) => Term::Variable(scope[scope.len() - 1 - back as usize % scope.len()]),
            };
            Formula::Atom(Atom {
                relation: RelationId(*relation),
                subject: term(*subject),
                object: term(*object),
                place: Place::default(),
            })
        }
        Sketch::And(parts) => {
            Formula::and(parts.iter().map(|part| build(part, variables, scope)).collect::<Vec<_>>())
        }
        Sketch::Or(parts) => {
            Formula::or(parts.iter().map(|part| build(part, variables, scope)).collect::<Vec<_>>())
        }
        Sketch::Not(inner) => build(inner, variables, scope).negate(),
        Sketch::Exists(inner) => {
            // At most three nested binders, so that trying every assignment stays quick.
            if scope.len() > 3 {
                return build(inner, variables, scope);
            }
            let id = VariableId(variables.len() as u32);
            variables.push(variable(&format!("V{}", id.0)));
            scope.push(id);
            let body = build(inner, variables, scope);
            scope.pop();
            Formula::exists(vec![id], body)
        }
    }
}

fn variable(name: &str) -> Variable {
    Variable { name: name.to_owned(), place: Place::default() }
}

/// The answers of a query over known edges alone, by trying every assignment.
pub(crate) fn brute_force(query: &Query, graph: &Graph) -> Vec<EntityId> {
    let mut values = vec![EntityId(0); query.variables.len()];
    let answers = graph.entities.ids().filter(|&id| {
        values[query.target.index()] = id;
        holds(&query.formula, graph, &mut values)
    });
    answers.collect()
}

/// Whether a statement holds over known edges alone, by trying every assignment.
pub(crate) fn holds_at_all(statement: &Statement, graph: &Graph) -> bool {
    holds(&statement.formula, graph, &mut vec![EntityId(0); statement.variables.len()])
}

fn holds(formula: &Formula, graph: &Graph, values: &mut Vec<EntityId>) -> bool {
    match formula {
        Formula::Atom(atom) => {
            let value = |term: Term| match term {
                Term::Entity(id) => id,
                Term::Variable(id) => values[id.index()],
            };
            let (head, tail) = (value(atom.subject), value(atom.object));
            graph.edges(Split::Train).contains(crate::graph::Triple { head, relation: atom.relation, tail })
        }
        Formula::And(parts) => parts.iter().all(|part| holds(part, graph, values)),
        Formula::Or(parts) => parts.iter().any(|part| holds(part, graph, values)),
        Formula::Not(inner) => !holds(inner, graph, values),
        Formula::Exists(variables, body) => some(variables, body, graph, values),
    }
}

fn some(variables: &[VariableId], body: &Formula, graph: &Graph, values: &mut Vec<EntityId>) -> bool {
    match variables {
        [] => holds(body, graph, values),
        [first, rest @ ..] => graph.entities.ids().any(|id| {
            values[first.index()] = id;
            some(rest, body, graph, values)
        }),
    }
}
