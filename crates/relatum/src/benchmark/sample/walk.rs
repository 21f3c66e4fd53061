//! The walk back from an answer to the anchors.

use super::pattern::Pattern;
use crate::benchmark::skeleton::Role;
use crate::graph::{Arc, Edges, EntityId, Graph, Inverses, RelationId};
use crate::model::Reciprocals;
use crate::query::{Atom, Formula, Term};
use crate::random::Rng;

/// Fills the holes of a pattern from the edges of a graph.
pub(super) struct Walk<'a> {
    edges: &'a Edges,
    inverses: &'a Inverses,
    relations: &'a Reciprocals,
    /// Whether a relation may be read from either side: yes in shapes, which leave the direction open;
    /// no in a question in words, which fixes it.
    both_ways: bool,
    target: usize,
    /// The entities that the target can be, by its own atoms alone.
    starts: Vec<EntityId>,
    parts: Vec<Part>,
    /// How many negated parts there are.
    negations: usize,
    /// Variables first, then one node for each place; those of relations are not used.
    nodes: usize,
    variables: usize,
    roles: &'a [Role],
    fixed: &'a [Option<u32>],
    meetings: Vec<Meeting>,
}

/// Two atoms, one behind the other on a way to the target, and the variable in which they meet.
struct Meeting {
    parts: [usize; 2],
    at: usize,
}

/// An atom: the place of its relation, and the nodes of subject and object.
#[derive(Clone, Copy)]
struct Part {
    /// Which atom of the text it is.
    index: usize,
    relation: usize,
    ends: [usize; 2],
    /// Which negated part it belongs to, if it is to be false.
    negation: Option<usize>,
}

/// The state of a walk: a value for each node, an id for each place of a relation.
#[derive(Clone)]
struct Filling {
    nodes: Vec<Option<EntityId>>,
    relations: Vec<Option<u32>>,
}

impl<'a> Walk<'a> {
    pub(super) fn new(
        pattern: &'a Pattern,
        graph: &'a Graph,
        edges: &'a Edges,
        relations: &'a Reciprocals,
    ) -> Self {
        let query = pattern.template().query();
        let variables = query.variables.len();
        let mut collector = Collector { variables, parts: Vec::new(), negations: 0 };
        collector.collect(&query.formula, false, None);
        let meetings = meetings(&collector.parts, query.target.index(), variables, pattern.fixed());
        Self {
            edges,
            inverses: &graph.inverses,
            relations,
            both_ways: pattern.is_shape(),
            target: query.target.index(),
            starts: starts(&collector.parts, query.target.index(), edges, graph, pattern.fixed()),
            parts: collector.parts,
            negations: collector.negations,
            nodes: variables + pattern.fixed().len(),
            variables,
            roles: pattern.template().roles(),
            fixed: pattern.fixed(),
            meetings,
        }
    }

    /// The arguments that a random walk finds.
    pub(super) fn run(&self, rng: &mut Rng) -> Option<Vec<u32>> {
        let mut filling = Filling { nodes: vec![None; self.nodes], relations: self.fixed.to_vec() };
        for (place, id) in self.fixed.iter().enumerate() {
            if let (Some(id), Role::Entity) = (id, self.roles[place]) {
                filling.nodes[self.variables + place] = Some(EntityId(*id));
            }
        }
        let positive: Vec<Part> = self.parts.iter().filter(|part| part.negation.is_none()).copied().collect();
        // If an anchor is given, it is the better start, because few answers lead to it.
        let anchored = |part: &Part| part.ends.iter().any(|&end| filling.nodes[end].is_some());
        if !positive.iter().any(anchored) {
            filling.nodes[self.target] = Some(*pick(&self.starts, rng)?);
        }
        self.fill(positive.clone(), &mut filling, rng)?;
        for negation in 0..self.negations {
            self.negate(negation, &positive, &mut filling, rng)?;
        }
        let argument = |place: usize| match self.roles[place] {
            Role::Relation => filling.relations[place],
            Role::Entity => filling.nodes[self.variables + place].map(|id| id.0),
        };
        (0..self.roles.len()).map(argument).collect()
    }

    /// Finds an edge for each of the parts, each from a node that has a value by then.
    fn fill(&self, mut parts: Vec<Part>, filling: &mut Filling, rng: &mut Rng) -> Option<()> {
        while !parts.is_empty() {
            let known = |part: &Part| part.ends.iter().filter(|&&end| filling.nodes[end].is_some()).count();
            // Atoms with values on both sides are checked first; otherwise the order is that of the text.
            let next = parts.iter().position(|part| known(part) == 2);
            let next = next.or_else(|| parts.iter().position(|part| known(part) == 1))?;
            self.fill_part(parts.remove(next), filling, rng)?;
        }
        Some(())
    }

    fn fill_part(&self, part: Part, filling: &mut Filling, rng: &mut Rng) -> Option<()> {
        let [subject, object] = part.ends.map(|end| filling.nodes[end]);
        let (at, backwards) = match (subject, object) {
            (Some(at), _) => (at, false),
            (None, at) => (at?, true),
        };
        let to = if backwards { subject } else { object };
        let mut runs = self.runs(at, backwards, filling.relations[part.relation]);
        runs.retain(|&(relation, _)| !self.undoes(part, relation, filling));
        if let Some(to) = to {
            runs.retain(|(_, arcs)| arcs.binary_search_by_key(&to, |arc| arc.neighbour).is_ok());
        }
        let &(relation, arcs) = pick(&runs, rng)?;
        filling.relations[part.relation] = Some(relation);
        if to.is_none() {
            let neighbour = pick(arcs, rng)?.neighbour;
            filling.nodes[part.ends[usize::from(!backwards)]] = Some(neighbour);
        }
        Some(())
    }

    /// The edges of an entity by relation, each relation as the argument of a query: those in which the
    /// entity is the subject (the object, if `backwards`), and others read through a reciprocal relation.
    fn runs(&self, at: EntityId, backwards: bool, relation: Option<u32>) -> Vec<(u32, &[Arc])> {
        let (along, against) = if backwards {
            (&self.edges.incoming, &self.edges.outgoing)
        } else {
            (&self.edges.outgoing, &self.edges.incoming)
        };
        if let Some(relation) = relation {
            return vec![(relation, along.along(at, RelationId(relation)))];
        }
        let mut runs: Vec<(u32, &[Arc])> =
            by_relation(along.of(at)).map(|(relation, arcs)| (relation.0, arcs)).collect();
        if self.both_ways {
            let turned = by_relation(against.of(at)).filter(|&(it, _)| self.inverses.of(it).is_none());
            runs.extend(turned.map(|(relation, arcs)| (self.relations.inverse(relation).0, arcs)));
        }
        runs
    }

    /// Whether a relation would only undo the atom before or after this one: `r` after `r⁻¹` says little,
    /// because the start is always among its results.
    fn undoes(&self, part: Part, relation: u32, filling: &Filling) -> bool {
        let leaving = |part: &Part, relation: u32, at: usize| {
            let relation = RelationId(relation);
            if part.ends[0] == at { relation } else { self.relations.inverse(relation) }
        };
        self.meetings.iter().any(|&Meeting { parts: [one, other], at }| {
            let neighbour = match part.index {
                index if index == one => &self.parts[other],
                index if index == other => &self.parts[one],
                _ => return false,
            };
            let there = filling.relations[neighbour.relation];
            there.is_some_and(|there| leaving(neighbour, there, at) == leaving(&part, relation, at))
        })
    }

    /// Fills a negated part from an assignment that the positive atoms allow: one of its variables gets
    /// another value that an atom allows too, and the negation then removes that value.
    fn negate(&self, negation: usize, positive: &[Part], filling: &mut Filling, rng: &mut Rng) -> Option<()> {
        let parts: Vec<Part> =
            self.parts.iter().filter(|it| it.negation == Some(negation)).copied().collect();
        let given = |part: &Part| {
            let ends = part.ends.iter().all(|&end| end < self.variables || filling.nodes[end].is_some());
            ends && filling.relations[part.relation].is_some()
        };
        if parts.iter().all(given) {
            return Some(());
        }
        let mut shared: Vec<usize> = parts.iter().flat_map(|part| part.ends).collect();
        shared.retain(|&end| end < self.variables && filling.nodes[end].is_some());
        shared.sort_unstable();
        shared.dedup();
        let &slipped = pick(&shared, rng)?;
        let mut elsewhere = filling.clone();
        elsewhere.nodes[slipped] = Some(self.other_value(slipped, positive, filling, rng)?);
        // Values that its own variables had in another negated part have no meaning here.
        self.fill(parts, &mut elsewhere, rng)?;
        elsewhere.nodes[..self.variables].clone_from_slice(&filling.nodes[..self.variables]);
        *filling = elsewhere;
        Some(())
    }

    /// Another value for a variable that one of its atoms would allow.
    fn other_value(
        &self,
        node: usize,
        positive: &[Part],
        filling: &Filling,
        rng: &mut Rng,
    ) -> Option<EntityId> {
        let touching: Vec<&Part> = positive
            .iter()
            .filter(|part| part.ends.contains(&node) && part.ends[0] != part.ends[1])
            .collect();
        let part = pick(&touching, rng)?;
        let is_subject = part.ends[0] == node;
        let from = filling.nodes[part.ends[usize::from(is_subject)]]?;
        let relation = RelationId(filling.relations[part.relation]?);
        // A reciprocal relation is a relation of the graph with its ends exchanged.
        let (relation, backwards) = if self.relations.in_graph(relation) {
            (relation, is_subject)
        } else {
            (self.relations.inverse(relation), !is_subject)
        };
        let adjacency = if backwards { &self.edges.incoming } else { &self.edges.outgoing };
        let arcs = adjacency.along(from, relation);
        let now = filling.nodes[node]?;
        let others: Vec<EntityId> = arcs.iter().map(|arc| arc.neighbour).filter(|&id| id != now).collect();
        pick(&others, rng).copied()
    }
}

fn pick<'v, T>(values: &'v [T], rng: &mut Rng) -> Option<&'v T> {
    values.get(rng.below(values.len()))
}

/// Arcs in order of their relations, cut where the relation changes.
fn by_relation(arcs: &[Arc]) -> impl Iterator<Item = (RelationId, &[Arc])> {
    let mut rest = arcs;
    std::iter::from_fn(move || {
        let relation = rest.first()?.relation;
        let (run, more) = rest.split_at(rest.partition_point(|arc| arc.relation <= relation));
        rest = more;
        Some((relation, run))
    })
}

/// The entities that have an edge, and one along each relation that the question names at its target.
fn starts(
    parts: &[Part],
    target: usize,
    edges: &Edges,
    graph: &Graph,
    fixed: &[Option<u32>],
) -> Vec<EntityId> {
    let has_edge = |id: EntityId| !edges.incoming.of(id).is_empty() || !edges.outgoing.of(id).is_empty();
    let fits = |id: EntityId, part: &Part| match fixed[part.relation].map(RelationId) {
        Some(relation) if part.ends[0] == target => !edges.outgoing.along(id, relation).is_empty(),
        Some(relation) if part.ends[1] == target => !edges.incoming.along(id, relation).is_empty(),
        _ => true,
    };
    let positive = || parts.iter().filter(|part| part.negation.is_none());
    graph.entities.ids().filter(|&id| has_edge(id) && positive().all(|part| fits(id, part))).collect()
}

struct Collector {
    variables: usize,
    parts: Vec<Part>,
    negations: usize,
}

impl Collector {
    /// The atoms of a formula in the order of the text. Those of a union are filled like those of an
    /// intersection, as the published generators do: every branch leads to the answer.
    fn collect(&mut self, formula: &Formula<usize, usize>, negated: bool, negation: Option<usize>) {
        match formula {
            Formula::Atom(atom) => self.atom(atom, negation.filter(|_| negated)),
            Formula::And(parts) | Formula::Or(parts) => {
                for part in parts {
                    self.collect(part, negated, negation);
                }
            }
            Formula::Exists(_, body) => self.collect(body, negated, negation),
            Formula::Not(inner) => {
                let negation = negation.unwrap_or_else(|| {
                    self.negations += 1;
                    self.negations - 1
                });
                self.collect(inner, !negated, Some(negation));
            }
        }
    }

    fn atom(&mut self, atom: &Atom<usize, usize>, negation: Option<usize>) {
        let node = |term: Term<usize>| match term {
            Term::Variable(id) => id.index(),
            Term::Entity(place) => self.variables + place,
        };
        let ends = [node(atom.subject), node(atom.object)];
        self.parts.push(Part { index: self.parts.len(), relation: atom.relation, ends, negation });
    }
}

/// For every bound variable, the atoms that lead from it towards the target, paired with those that lead
/// to it; only where a relation is drawn, because a relation that a person names must stay.
fn meetings(parts: &[Part], target: usize, variables: usize, fixed: &[Option<u32>]) -> Vec<Meeting> {
    let other = |part: &Part, node: usize| {
        let [subject, object] = part.ends;
        if subject == node {
            Some(object)
        } else if object == node {
            Some(subject)
        } else {
            None
        }
    };
    // How many atoms are between a variable and the target.
    let mut distance: Vec<Option<usize>> = vec![None; variables];
    distance[target] = Some(0);
    let mut reached = vec![target];
    let mut next = 0;
    while let Some(&at) = reached.get(next) {
        next += 1;
        for neighbour in parts.iter().filter_map(|part| other(part, at)) {
            if neighbour < variables && distance[neighbour].is_none() {
                distance[neighbour] = distance[at].map(|it| it + 1);
                reached.push(neighbour);
            }
        }
    }
    let mut meetings = Vec::new();
    for at in (0..variables).filter(|&at| at != target) {
        let nearer =
            |part: &Part| other(part, at).is_some_and(|it| it < variables && distance[it] < distance[at]);
        for (out, _) in parts.iter().enumerate().filter(|(_, part)| nearer(part)) {
            for (into, part) in parts.iter().enumerate() {
                let drawn = fixed[parts[out].relation].is_none() || fixed[part.relation].is_none();
                if other(part, at).is_some() && !nearer(part) && drawn {
                    meetings.push(Meeting { parts: [out, into], at });
                }
            }
        }
    }
    meetings
}
