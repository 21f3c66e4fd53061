//! The next best assignments for the answers of an exact search.
//!
//! They are found as the best one is, with lists in place of single values: a t-norm is monotone, so
//! the k best assignments of a node are made of the k best of each child, and of a child only the k
//! values can matter whose own best is highest. Values that a proof left out as too small for the answers
//! may still give an alternative, so the messages are computed once more, without bounds and with more
//! values.

use super::explanation::ALTERNATIVES;
use crate::control::Control;
use crate::graph::{EntityId, Id};
use crate::plan::{BranchPlan, Message, MessageId, Plan, SignedHop, TreeNode};
use crate::search::beam::Assignment;
use crate::search::exact::{Exact, Goal};
use crate::search::{AtomTruth, Certainty, Logic, SearchError, best, block_of, rows};

/// How many values of a variable are tried first; if they prove too little, a whole block of rows is tried.
const TRIED: usize = 64;
/// The best assignment itself comes first.
pub(super) const COUNT: usize = ALTERNATIVES + 1;
/// A difference of scores that no output shows.
pub(super) const UNNOTICED: f32 = 1e-5;

/// Assignments with their scores, best first.
pub(super) type Ranked = Vec<(Assignment, f32)>;

/// The best assignments for one answer.
#[derive(Clone, Default)]
pub(super) struct Listed {
    pub(super) ranked: Ranked,
    /// Whether no assignment that is not listed is better than one that is.
    pub(super) certain: bool,
}

/// The best assignments of every answer in every branch of a tree-shaped plan.
pub(super) fn of_tree(
    plan: &Plan,
    truth: &dyn AtomTruth,
    logic: Logic,
    control: &Control,
    proven: &Exact<'_>,
    answers: &[EntityId],
) -> Result<Vec<Vec<Listed>>, SearchError> {
    let most = block_of(truth.entities()).max(TRIED);
    let mut tried = TRIED;
    loop {
        let next_best = NextBest::new(plan, truth, logic, control, Some(proven), tried)?;
        let of_branch = |branch| next_best.of_branch(branch, answers);
        let listed: Vec<Vec<Listed>> = plan.branches.iter().map(of_branch).collect::<Result<_, _>>()?;
        let certain = listed.iter().flatten().all(|listed| listed.certain);
        if certain || tried >= most || control.is_late() {
            return Ok(listed);
        }
        tried = most;
    }
}

/// Finds the best assignments of tree-shaped branches.
pub(super) struct NextBest<'a> {
    plan: &'a Plan,
    truth: &'a dyn AtomTruth,
    logic: Logic,
    messages: Exact<'a>,
    /// The search that found the answers: the values of its assignments are always tried.
    proven: Option<&'a Exact<'a>>,
    tried: usize,
    /// Whether the time was up before the messages were computed.
    stopped: bool,
}

impl<'a> NextBest<'a> {
    /// Computes every message from the `tried` best values of each variable.
    pub(super) fn new(
        plan: &'a Plan,
        truth: &'a dyn AtomTruth,
        logic: Logic,
        control: &Control,
        proven: Option<&'a Exact<'a>>,
        tried: usize,
    ) -> Result<Self, SearchError> {
        let mut messages = Exact::new(plan, truth, logic, &control.without_row_limit())?;
        let found = messages.run(Goal::Messages { most: tried })?;
        let stopped = matches!(found.certainty, Certainty::Stopped { .. });
        Ok(Self { plan, truth, logic, messages, proven, tried, stopped })
    }

    /// For each answer its best assignments in a branch.
    pub(super) fn of_branch(
        &self,
        branch: &BranchPlan,
        answers: &[EntityId],
    ) -> Result<Vec<Listed>, SearchError> {
        let (Some(root), Some(tree), false) = (branch.root, &branch.tree, self.stopped) else {
            return Ok(vec![Listed::default(); answers.len()]);
        };
        let left_out = self.left_out(root, true);
        let listed = |ranked: Ranked| {
            let last = ranked.get(COUNT - 1).map_or(0.0, |(_, score)| *score);
            Listed { ranked, certain: left_out <= last + UNNOTICED }
        };
        Ok(self.node(tree, root, answers)?.into_iter().map(listed).collect())
    }

    /// The most that an assignment can score that has a value which was not tried.
    fn left_out(&self, message: MessageId, at_target: bool) -> f32 {
        let shape = &self.plan.messages[message.index()];
        let within = at_target && matches!(shape, Message::Meet(_));
        let inner = shape.parts().iter().map(|part| self.left_out(*part, within)).fold(0.0, f32::max);
        match shape {
            // A sub-query that was searched only in part rules out too little, so every score may be too high.
            Message::Not(_) => {
                if inner > UNNOTICED {
                    1.0
                } else {
                    0.0
                }
            }
            // All answers are looked at, also those that were not chosen here.
            Message::Look { .. } if at_target => inner,
            _ => inner.max(self.messages.left_out(message)),
        }
    }

    /// For each value of a variable the best assignments of it and of what is further from the target.
    fn node(
        &self,
        node: &TreeNode,
        message: MessageId,
        values: &[EntityId],
    ) -> Result<Vec<Ranked>, SearchError> {
        let own = self.own(node, message);
        let alone = |&x: &EntityId| {
            let score = self.logic.t_norm.all(own.iter().map(|part| self.messages.value(*part, x)));
            vec![(vec![(node.variable, x)], score)]
        };
        let mut lists: Vec<Ranked> = values.iter().map(alone).collect();
        for (message, child) in &node.children {
            let further = self.edge(*message, child, values)?;
            for (list, further) in lists.iter_mut().zip(further) {
                *list = ranked(list.iter().flat_map(|(near, score)| {
                    further.iter().map(move |(far, other)| {
                        ([near.as_slice(), far].concat(), self.logic.t_norm.and(*score, *other))
                    })
                }));
            }
        }
        Ok(lists)
    }

    /// The parts of a variable's message that involve no variable beyond it.
    fn own(&self, node: &TreeNode, message: MessageId) -> Vec<MessageId> {
        let mut own = match &self.plan.messages[message.index()] {
            Message::Meet(parts) => parts.clone(),
            _ => vec![message],
        };
        for (child, _) in &node.children {
            // The same message may stand twice, for two variables: each removes one of them.
            if let Some(at) = own.iter().position(|part| part == child) {
                own.remove(at);
            }
        }
        own
    }

    /// For each value of a variable the best assignments on the far side of an edge, the edge included.
    fn edge(
        &self,
        message: MessageId,
        child: &TreeNode,
        values: &[EntityId],
    ) -> Result<Vec<Ranked>, SearchError> {
        let (source, chosen) = match &self.plan.messages[message.index()] {
            Message::Project { source, hops, .. } => (*source, self.towards(message, *source, hops, values)?),
            Message::Look { inner, hops } => (*inner, self.away(*inner, hops, values)?),
            _ => return Ok(vec![Ranked::new(); values.len()]),
        };
        let mut far: Vec<EntityId> = chosen.iter().flatten().map(|&(y, _)| y).collect();
        far.sort_unstable();
        far.dedup();
        let lists = self.node(child, source, &far)?;
        let of_value = |chosen: Vec<(EntityId, f32)>| {
            let lists =
                chosen.iter().filter_map(|&(y, edge)| Some((edge, &lists[far.binary_search(&y).ok()?])));
            ranked(lists.flat_map(|(edge, list)| {
                list.iter().map(move |(far, score)| (far.clone(), self.logic.t_norm.and(*score, edge)))
            }))
        };
        Ok(chosen.into_iter().map(of_value).collect())
    }

    /// For each value x the values y with the best `m(y) ⊤ φ(y, x)`, each with φ: one row for each y.
    fn towards(
        &self,
        along: MessageId,
        source: MessageId,
        hops: &[SignedHop],
        values: &[EntityId],
    ) -> Result<Vec<Vec<(EntityId, f32)>>, SearchError> {
        let n = self.truth.entities();
        let message = self.messages.values(source);
        let mut tried = best(message, self.tried, |y| message[y.index()] > 0.0);
        if let Some(proven) = self.proven {
            let mut others: Vec<EntityId> = values.iter().filter_map(|&x| proven.via(along, x)).collect();
            others.retain(|y| !tried.iter().any(|(other, _)| other == y));
            others.sort_unstable();
            others.dedup();
            tried.extend(others.into_iter().map(|y| (y, message[y.index()].max(proven.value(source, y)))));
        }
        let mut joint: Vec<Vec<f32>> = vec![Vec::with_capacity(tried.len()); values.len()];
        let mut edges = joint.clone();
        let mut buffers = Default::default();
        for block in tried.chunks(block_of(n)) {
            let from: Vec<EntityId> = block.iter().map(|&(y, _)| y).collect();
            rows::of(self.truth, self.logic, &from, hops, &mut buffers)?;
            for (&(_, value), row) in block.iter().zip(buffers.0.chunks_exact(n)) {
                for (place, x) in values.iter().enumerate() {
                    edges[place].push(row[x.index()]);
                    joint[place].push(self.logic.t_norm.and(value, row[x.index()]));
                }
            }
        }
        // Values are given by their positions in the list of values tried.
        let of_value = |(joint, edges): (&Vec<f32>, &Vec<f32>)| {
            let places = best(joint, COUNT, |at| joint[at.index()] > 0.0);
            places.into_iter().map(|(at, _)| (tried[at.index()].0, edges[at.index()])).collect()
        };
        Ok(joint.iter().zip(&edges).map(of_value).collect())
    }

    /// The same with rows scored from x: `φ(x, y) ⊤ m(y)`.
    fn away(
        &self,
        inner: MessageId,
        hops: &[SignedHop],
        values: &[EntityId],
    ) -> Result<Vec<Vec<(EntityId, f32)>>, SearchError> {
        let n = self.truth.entities();
        let inner = self.messages.values(inner);
        let mut chosen = Vec::with_capacity(values.len());
        let mut buffers = Default::default();
        for block in values.chunks(block_of(n)) {
            rows::of(self.truth, self.logic, block, hops, &mut buffers)?;
            for row in buffers.0.chunks_exact(n) {
                let joint: Vec<f32> =
                    row.iter().zip(inner).map(|(&a, &b)| self.logic.t_norm.and(a, b)).collect();
                let best = best(&joint, COUNT, |y| joint[y.index()] > 0.0);
                chosen.push(best.into_iter().map(|(y, _)| (y, row[y.index()])).collect());
            }
        }
        Ok(chosen)
    }
}

/// The best of some assignments; those with a truth of 0 are left out.
pub(super) fn ranked(all: impl Iterator<Item = (Assignment, f32)>) -> Ranked {
    let mut all: Ranked = all.filter(|(_, score)| *score > 0.0).collect();
    all.sort_by(|a, b| b.1.total_cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    all.truncate(COUNT);
    all
}
