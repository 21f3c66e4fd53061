//! Plans how a question in normal form is answered: in which order variables are eliminated,
//! from which side each atom is scored, where a beam is taken, what is merged.
//!
//! The unit of cost is a *row*: one known entity, one relation, all entities scored on the
//! other side. One order of the variables serves every engine:
//!
//! - **beam** search runs [`BranchPlan::steps`]: each step gives one more variable its values,
//!   by all atoms between it and what is known already;
//! - **exact** search folds [`Plan::messages`], if the branch is a tree: vectors over all
//!   entities, shared by structure within and between branches;
//! - **continuous** optimisation reads the atoms of [`BranchPlan::branch`].

mod branch;
mod describe;
pub(crate) mod dot;
mod message;
#[cfg(test)]
mod naive;
mod order;
mod render;
mod share;
mod statistics;
#[cfg(test)]
mod tests;
mod union;

pub use branch::{BranchPlan, Factor, Step};
pub use describe::{
    AtomReport, BranchReport, FactorReport, MessageReport, PlanReport, StepReport, TermReport,
};
pub use message::{Message, MessageId, Scan, ScanId, SignedHop, TreeNode};
use statistics::Statistics;

use crate::graph::Graph;
use crate::query::{Checked, NormalForm, Shape, Variable, VariableId};

/// What a plan is made for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlanOptions {
    /// How many values of a variable a beam keeps, and the most that an exact search is
    /// expected to look at.
    pub beam: usize,
    /// Whether an atom may be scored from the side of the target where that takes fewer rows. A predictor
    /// gives an edge another score from its other end, so the answers of a question would depend on costs:
    /// by default an atom is scored from the target's side only if there is no named entity on the other.
    pub either_side: bool,
    /// Where the alternatives of a disjunction are joined.
    pub union: Union,
}

/// Where the alternatives of a disjunction are joined by the t-conorm.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Union {
    /// At the end, each scored as a question of its own: the disjunctive normal form of the paper.
    #[default]
    AtTheEnd,
    /// In place, before the next projection, as soon as the rest of the alternatives is the same, as later systems
    /// do. Alternatives that are not trees are still joined at the end. Answers of an exact search get no
    /// explanation: no single alternative carries them.
    InPlace,
}

impl Union {
    /// The name in options and files.
    pub fn name(self) -> &'static str {
        match self {
            Self::AtTheEnd => "at-the-end",
            Self::InPlace => "in-place",
        }
    }

    /// The union of a name.
    pub fn from_name(name: &str) -> Option<Self> {
        [Self::AtTheEnd, Self::InPlace].into_iter().find(|union| union.name() == name)
    }
}

impl Default for PlanOptions {
    fn default() -> Self {
        Self { beam: 64, either_side: false, union: Union::AtTheEnd }
    }
}

/// How a question is to be answered.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// The variable whose values are the answers.
    pub target: VariableId,
    /// The names of all variables.
    pub variables: Vec<Variable>,
    /// The shape of the literature; `None` is shown as `general`.
    pub shape: Option<Shape>,
    /// What the plan was made for.
    pub options: PlanOptions,
    /// Everything that is computed for tree-shaped branches, each once, parts before wholes.
    pub messages: Vec<Message>,
    /// Rows that several projections share.
    pub scans: Vec<Scan>,
    /// One plan for each alternative; their scores are joined by the t-conorm.
    pub branches: Vec<BranchPlan>,
    /// The message to the target in which all alternatives are joined in place, where that is wanted
    /// and possible.
    pub joined: Option<MessageId>,
    /// About how many rows will be scored.
    pub rows: f64,
}

impl Plan {
    /// Plans a checked query for a graph; costs are estimated from its numbers of edges.
    pub fn new(checked: &Checked, graph: &Graph, options: PlanOptions) -> Self {
        let plan = Self::of_normal_form(&checked.normal_form, graph, options);
        Self { shape: checked.shape, ..plan }
    }

    /// Plans a normal form. A query that [`check`](crate::query::Query::check) would refuse gets a plan
    /// too, but perhaps not one that makes sense.
    pub fn of_normal_form(normal_form: &NormalForm, graph: &Graph, options: PlanOptions) -> Self {
        let statistics = Statistics::of(graph);
        let target = normal_form.target;
        let mut messages = message::Messages::default();
        let mut branches: Vec<BranchPlan> = normal_form
            .branches
            .iter()
            .map(|branch| {
                branch::plan(branch, target, branch::Outside::default(), statistics, options, &mut messages)
            })
            .collect();
        share::mark_common_steps(&mut branches);
        let general: f64 =
            branches.iter().filter(|branch| branch.root.is_none()).map(|branch| branch.rows).sum();
        let mut roots: Vec<MessageId> = branches.iter().filter_map(|branch| branch.root).collect();
        let in_place = options.union == Union::InPlace && branches.len() > 1 && roots.len() == branches.len();
        let joined = in_place.then(|| messages.join(&roots));
        if let Some(joined) = joined {
            roots = vec![joined];
        }
        let (messages, scans, rows) = messages.finish(&roots, statistics, options);
        Self {
            target,
            variables: normal_form.variables.clone(),
            shape: None,
            options,
            messages,
            scans,
            branches,
            joined,
            rows: rows + general,
        }
    }

    /// The normal form that is planned.
    pub fn normal_form(&self) -> NormalForm {
        let branches = self.branches.iter().map(|branch| branch.branch.clone()).collect();
        NormalForm { target: self.target, variables: self.variables.clone(), branches }
    }

    /// The name of a variable, without `?`.
    pub fn variable_name(&self, id: VariableId) -> &str {
        self.variables.get(id.index()).map_or("", |variable| variable.name.as_str())
    }

    /// The messages to the target whose values, joined by the t-conorm, are the scores.
    pub fn roots(&self) -> Vec<MessageId> {
        match self.joined {
            Some(joined) => vec![joined],
            None => self.branches.iter().filter_map(|branch| branch.root).collect(),
        }
    }

    /// The longest way from a root to each message, `None` where none needs it.
    pub(crate) fn depths(&self) -> Vec<Option<usize>> {
        message::depths(&self.messages, &self.roots())
    }

    /// Whether any branch negates anything.
    pub fn negates(&self) -> bool {
        self.branches.iter().any(|branch| branch.branch.negates())
    }

    /// Whether exact search can run the whole plan.
    pub fn is_tree(&self) -> bool {
        self.branches.iter().all(|branch| branch.root.is_some())
    }
}
