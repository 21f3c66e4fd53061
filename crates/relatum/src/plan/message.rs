//! Vectors over all entities, for tree-shaped branches: what exact search computes.
//!
//! A message says for every entity how true it is as the value of a variable, by the atoms on one
//! side of the query tree. Since `max` distributes over every t-norm, the message to the target
//! is the vector of scores.

use rustc_hash::FxHashMap;

use super::PlanOptions;
use super::branch::BranchPlan;
use super::order::Bound;
use super::statistics::Statistics;
use crate::graph::EntityId;
use crate::query::{Branch, Hop, Term, VariableId};

/// A message, by its position in [`Plan::messages`](super::Plan::messages).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MessageId(pub u32);

impl MessageId {
    /// The position in [`Plan::messages`](super::Plan::messages).
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// A group of projections, by its position in [`Plan::scans`](super::Plan::scans).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ScanId(pub u32);

/// A hop, or one minus it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SignedHop {
    /// The hop.
    pub hop: Hop,
    /// Whether its truth is subtracted from 1.
    pub negated: bool,
}

/// One vector over all entities.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Message {
    /// `x ↦ 1`: no condition on the variable.
    All,
    /// `x ↦ φ(anchor, x)`: one row.
    Row {
        /// The known side.
        anchor: EntityId,
        /// The relation, read from the known side.
        hop: Hop,
    },
    /// `x ↦ 1 − m(x)`: of a row, a negated atom; of any other message, a negated sub-query.
    Not(MessageId),
    /// `x ↦ m1(x) ⊤ m2(x) ⊤ …`
    Meet(Vec<MessageId>),
    /// `x ↦ m1(x) ⊥ m2(x) ⊥ …`: alternatives joined in place.
    Join(Vec<MessageId>),
    /// `x ↦ max over y of m(y) ⊤ φ1(y, x) ⊤ φ2(y, x) …`: for each value of y that can matter,
    /// one row a hop. Several hops are several atoms between the same two variables.
    Project {
        /// The message of y.
        source: MessageId,
        /// From y to x.
        hops: Vec<SignedHop>,
        /// The projections with which the rows are shared.
        scan: ScanId,
    },
    /// `x ↦ max over y of φ1(x, y) ⊤ φ2(x, y) … ⊤ m(y)`: the same seen from x, one row a hop for
    /// each value of *x* that the rest of its [`Meet`](Self::Meet) leaves. Cheaper than
    /// [`Project`](Self::Project) where x has few values and y many.
    Look {
        /// From x to y.
        hops: Vec<SignedHop>,
        /// The message of y.
        inner: MessageId,
    },
}

/// Projections along the same hops whose sources do not depend on each other: a row for a value
/// that several of the sources have is scored once. The `up` shape is made of this.
#[derive(Clone, Debug, PartialEq)]
pub struct Scan {
    /// The hops.
    pub hops: Vec<SignedHop>,
    /// The projections.
    pub projections: Vec<MessageId>,
    /// About how many rows are scored.
    pub rows: f64,
}

/// The variables of a tree-shaped branch in the order of its messages. Messages know no variables, because
/// branches share them; from this an explanation finds the variable that a message is about.
#[derive(Clone, Debug, PartialEq)]
pub struct TreeNode {
    /// The variable.
    pub variable: VariableId,
    /// The neighbours further from the target, each with the projection or look that joins it.
    pub children: Vec<(MessageId, TreeNode)>,
}

/// Builds messages, each once.
#[derive(Default)]
pub(super) struct Messages {
    all: Vec<Message>,
    /// About how many rows each takes by itself.
    rows: Vec<f64>,
    known: FxHashMap<Message, MessageId>,
}

pub(super) const NO_SCAN: ScanId = ScanId(u32::MAX);

impl Messages {
    /// The message to the target, if the branch and its sub-queries are trees.
    pub(super) fn tree(
        &mut self,
        branch: &Branch,
        target: VariableId,
        order: &[Bound],
        negated: &[BranchPlan],
    ) -> Option<(MessageId, TreeNode)> {
        if !branch.is_tree() || negated.iter().any(|nested| nested.root.is_none()) {
            return None;
        }
        Some(self.towards(&TreePlan { branch, order, negated }, target, None))
    }

    fn towards(
        &mut self,
        plan: &TreePlan<'_>,
        x: VariableId,
        parent: Option<VariableId>,
    ) -> (MessageId, TreeNode) {
        let mut node = TreeNode { variable: x, children: Vec::new() };
        let mut parts = Vec::new();
        let mut neighbours: Vec<(VariableId, Vec<SignedHop>)> = Vec::new();
        for (signed, from) in plan.hops_to(x) {
            match from {
                Term::Entity(anchor) => {
                    let row = self.add(Message::Row { anchor, hop: signed.hop }, 1.0);
                    parts.push(if signed.negated { self.add(Message::Not(row), 0.0) } else { row });
                }
                Term::Variable(y) if Some(y) != parent => {
                    match neighbours.iter_mut().find(|(other, _)| *other == y) {
                        Some((_, hops)) => hops.push(signed),
                        None => neighbours.push((y, vec![signed])),
                    }
                }
                Term::Variable(_) => {}
            }
        }
        for (index, sub) in plan.branch.negated.iter().enumerate() {
            if let Some(root) = plan.negated[index].root.filter(|_| sub.free() == [x]) {
                parts.push(self.add(Message::Not(root), 0.0));
            }
        }
        for (y, mut hops) in neighbours {
            let (source, child) = self.towards(plan, y, Some(x));
            hops.sort_unstable();
            let many = hops.len() as f64;
            let part = if plan.position(y) < plan.position(x) {
                self.add(Message::Project { source, hops, scan: NO_SCAN }, many * plan.rows_from(y))
            } else {
                let reversed = |signed: SignedHop| SignedHop { hop: signed.hop.reversed(), ..signed };
                let hops = hops.into_iter().map(reversed).collect();
                self.add(Message::Look { hops, inner: source }, many * plan.rows_from(x))
            };
            node.children.push((part, child));
            parts.push(part);
        }
        (self.meet(parts), node)
    }

    /// One message for several conditions.
    pub(super) fn meet(&mut self, mut parts: Vec<MessageId>) -> MessageId {
        // Equal messages of different variables are different conditions: each counts.
        parts.sort_unstable();
        match parts.as_slice() {
            [] => self.add(Message::All, 0.0),
            [one] if !matches!(self.all[one.index()], Message::Look { .. }) => *one,
            _ => self.add(Message::Meet(parts), 0.0),
        }
    }

    pub(super) fn message(&self, id: MessageId) -> &Message {
        &self.all[id.index()]
    }

    /// About how many rows a message takes by itself.
    pub(super) fn rows_of(&self, id: MessageId) -> f64 {
        self.rows[id.index()]
    }

    pub(super) fn add(&mut self, message: Message, rows: f64) -> MessageId {
        if let Some(&id) = self.known.get(&message) {
            return id;
        }
        let id = MessageId(self.all.len() as u32);
        self.known.insert(message.clone(), id);
        self.all.push(message);
        self.rows.push(rows);
        id
    }

    /// Groups the projections into scans and counts the rows. Messages that are used only by branches
    /// that turned out not to be trees do not count: they are never computed.
    pub(super) fn finish(
        mut self,
        roots: &[MessageId],
        statistics: Statistics<'_>,
        options: PlanOptions,
    ) -> (Vec<Message>, Vec<Scan>, f64) {
        let depths = depths(&self.all, roots);
        let mut scans: Vec<Scan> = Vec::new();
        let mut groups: FxHashMap<(usize, Vec<SignedHop>), usize> = FxHashMap::default();
        let mut rows = 0.0;
        for (index, message) in self.all.iter_mut().enumerate() {
            let Some(depth) = depths[index] else { continue };
            let Message::Project { hops, scan, .. } = message else {
                rows += self.rows[index];
                continue;
            };
            let at = *groups.entry((depth, hops.clone())).or_insert_with(|| {
                scans.push(Scan { hops: hops.clone(), projections: Vec::new(), rows: 0.0 });
                scans.len() - 1
            });
            *scan = ScanId(at as u32);
            scans[at].projections.push(MessageId(index as u32));
            // One beam is taken from the values of all sources together, as from those of one source.
            let a_beam = options.beam as f64 * hops.len() as f64;
            let most =
                if self.rows[index] > a_beam { statistics.entities() * hops.len() as f64 } else { a_beam };
            scans[at].rows = (scans[at].rows + self.rows[index]).min(most.max(scans[at].rows));
        }
        rows += scans.iter().map(|scan| scan.rows).sum::<f64>();
        (self.all, scans, rows)
    }
}

/// The longest way from a root to each message, `None` where no root needs it. Of two messages at the same depth
/// neither needs the other.
pub(crate) fn depths(messages: &[Message], roots: &[MessageId]) -> Vec<Option<usize>> {
    let mut depths: Vec<Option<usize>> = vec![None; messages.len()];
    for root in roots {
        depths[root.index()] = Some(0);
    }
    // The parts of a message stand before it.
    for index in (0..messages.len()).rev() {
        let Some(above) = depths[index] else { continue };
        for part in messages[index].parts() {
            let slot = &mut depths[part.index()];
            *slot = Some(slot.map_or(above + 1, |known| known.max(above + 1)));
        }
    }
    depths
}

impl Message {
    /// The messages that this one is made of.
    pub fn parts(&self) -> &[MessageId] {
        match self {
            Self::All | Self::Row { .. } => &[],
            Self::Not(part) => std::slice::from_ref(part),
            Self::Meet(parts) | Self::Join(parts) => parts,
            Self::Project { source, .. } => std::slice::from_ref(source),
            Self::Look { inner, .. } => std::slice::from_ref(inner),
        }
    }
}

struct TreePlan<'a> {
    branch: &'a Branch,
    order: &'a [Bound],
    negated: &'a [BranchPlan],
}

impl TreePlan<'_> {
    /// Every atom that has the variable, read towards it, with its other side.
    fn hops_to(&self, x: VariableId) -> impl Iterator<Item = (SignedHop, Term)> {
        self.branch.signed_atoms().filter_map(move |(atom, negated)| {
            let (hop, from) = atom.towards(x)?;
            Some((SignedHop { hop, negated }, from))
        })
    }

    fn position(&self, id: VariableId) -> Option<usize> {
        self.order.iter().position(|bound| bound.variable == id)
    }

    fn rows_from(&self, id: VariableId) -> f64 {
        self.order.iter().find(|bound| bound.variable == id).map_or(0.0, |bound| bound.rows_from)
    }
}
