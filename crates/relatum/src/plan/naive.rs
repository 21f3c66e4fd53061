//! Runs plans over known edges alone, as plainly as can be, and counts the rows, so that the tests of
//! the planner compare the rows that a plan really scores, not those that it estimates.

use std::collections::{BTreeMap, BTreeSet};

use super::{BranchPlan, Factor, Message, MessageId, Plan, SignedHop};
use crate::graph::{EntityId, Graph, Id, RelationId, Split, Triple};
use crate::query::{Direction, Hop, Term, VariableId};

/// The answers of a plan and how many rows were scored for them.
pub(super) struct Outcome {
    pub(super) answers: Vec<EntityId>,
    pub(super) rows: usize,
}

/// Exact search: folds the messages; `None` if a branch is not a tree.
pub(super) fn fold(plan: &Plan, graph: &Graph) -> Option<Outcome> {
    let mut folder = Folder { plan, graph, known: BTreeMap::new(), scored: BTreeSet::new(), rows: 0 };
    let mut all = vec![false; graph.entities.len()];
    if !plan.is_tree() {
        return None;
    }
    for root in plan.roots() {
        for (slot, truth) in all.iter_mut().zip(folder.message(root)) {
            *slot |= truth;
        }
    }
    Some(Outcome { answers: trues(&all), rows: folder.rows })
}

struct Folder<'a> {
    plan: &'a Plan,
    graph: &'a Graph,
    known: BTreeMap<MessageId, Vec<bool>>,
    /// Rows of shared scans: which value along which scan.
    scored: BTreeSet<(u32, usize)>,
    rows: usize,
}

impl Folder<'_> {
    fn message(&mut self, id: MessageId) -> Vec<bool> {
        if let Some(known) = self.known.get(&id) {
            return known.clone();
        }
        let everything = vec![true; self.graph.entities.len()];
        let vector = match self.plan.messages[id.index()].clone() {
            Message::All => everything,
            Message::Row { anchor, hop } => {
                self.rows += 1;
                row(self.graph, anchor, hop)
            }
            Message::Not(part) => self.message(part).into_iter().map(|truth| !truth).collect(),
            Message::Meet(parts) => {
                // Looking up comes last: it costs one row for each value that the others leave.
                let (late, early): (Vec<_>, Vec<_>) = parts.into_iter().partition(|part| self.is_look(*part));
                let mut meet = everything;
                for part in early {
                    and(&mut meet, &self.message(part));
                }
                for part in late {
                    self.look(part, &mut meet);
                }
                meet
            }
            Message::Join(parts) => {
                let mut join = vec![false; everything.len()];
                for part in parts {
                    or(&mut join, &self.message(part));
                }
                join
            }
            Message::Project { source, hops, scan } => {
                let mut best = vec![false; everything.len()];
                for y in trues(&self.message(source)) {
                    if self.scored.insert((scan.0, y.index())) {
                        self.rows += hops.len();
                    }
                    or(&mut best, &self.along(&hops, y));
                }
                best
            }
            Message::Look { .. } => unreachable!("looked up where it stands"),
        };
        self.known.insert(id, vector.clone());
        vector
    }

    fn look(&mut self, id: MessageId, meet: &mut [bool]) {
        let Message::Look { hops, inner } = self.plan.messages[id.index()].clone() else { return };
        let inner = self.message(inner);
        for x in trues(meet) {
            self.rows += hops.len();
            let mut row = self.along(&hops, x);
            and(&mut row, &inner);
            meet[x.index()] = row.contains(&true);
        }
    }

    fn is_look(&self, id: MessageId) -> bool {
        matches!(self.plan.messages[id.index()], Message::Look { .. })
    }

    fn along(&self, hops: &[SignedHop], from: EntityId) -> Vec<bool> {
        let mut all = vec![true; self.graph.entities.len()];
        for signed in hops {
            let row = row(self.graph, from, signed.hop);
            all.iter_mut().zip(row).for_each(|(slot, truth)| *slot &= truth != signed.negated);
        }
        all
    }
}

/// Beam search of full width: runs the steps.
pub(super) fn step_through(plan: &Plan, graph: &Graph) -> Outcome {
    let mut rows = 0;
    let mut answers = BTreeSet::new();
    for branch in &plan.branches {
        for state in states(branch, &State::new(), graph, &mut rows) {
            answers.insert(state[&branch.target]);
        }
    }
    Outcome { answers: answers.into_iter().collect(), rows }
}

type State = BTreeMap<VariableId, EntityId>;

fn states(plan: &BranchPlan, inputs: &State, graph: &Graph, rows: &mut usize) -> BTreeSet<State> {
    let mut states = BTreeSet::from([inputs.clone()]);
    for step in &plan.steps {
        let mut scored = BTreeSet::new();
        let mut next = BTreeSet::new();
        for state in &states {
            let mut fits = vec![true; graph.entities.len()];
            for (index, factor) in step.factors.iter().enumerate() {
                match *factor {
                    Factor::Row { from, hop, negated } => {
                        let from = match from {
                            Term::Entity(id) => id,
                            Term::Variable(id) => state[&id],
                        };
                        if scored.insert((index, from)) {
                            *rows += 1;
                        }
                        let row = row(graph, from, hop);
                        fits.iter_mut().zip(row).for_each(|(slot, truth)| *slot &= truth != negated);
                    }
                    Factor::Loop { relation, negated } => {
                        for x in trues(&fits) {
                            *rows += usize::from(scored.insert((index, x)));
                            fits[x.index()] = holds(graph, x, relation, x) != negated;
                        }
                    }
                    Factor::Negated(which) => {
                        let nested = &plan.negated[which];
                        let given = nested.inputs.iter().map(|&id| (id, state[&id])).collect();
                        for found in states_of(nested, &given, graph, rows) {
                            fits[found.index()] = false;
                        }
                    }
                }
            }
            for value in trues(&fits) {
                let mut extended = state.clone();
                extended.insert(step.variable, value);
                extended.retain(|id, _| step.needed.contains(id));
                next.insert(extended);
            }
        }
        states = next;
    }
    states
}

fn states_of(nested: &BranchPlan, given: &State, graph: &Graph, rows: &mut usize) -> Vec<EntityId> {
    states(nested, given, graph, rows).into_iter().map(|state| state[&nested.target]).collect()
}

fn row(graph: &Graph, from: EntityId, hop: Hop) -> Vec<bool> {
    let truth = |to: EntityId| match hop.direction {
        Direction::Forward => holds(graph, from, hop.relation, to),
        Direction::Backward => holds(graph, to, hop.relation, from),
    };
    graph.entities.ids().map(truth).collect()
}

fn holds(graph: &Graph, head: EntityId, relation: RelationId, tail: EntityId) -> bool {
    graph.edges(Split::Train).contains(Triple { head, relation, tail })
}

fn trues(vector: &[bool]) -> Vec<EntityId> {
    (0..vector.len()).filter(|&index| vector[index]).map(EntityId::from_index).collect()
}

fn and(into: &mut [bool], other: &[bool]) {
    into.iter_mut().zip(other).for_each(|(slot, truth)| *slot &= truth);
}

fn or(into: &mut [bool], other: &[bool]) {
    into.iter_mut().zip(other).for_each(|(slot, truth)| *slot |= truth);
}
