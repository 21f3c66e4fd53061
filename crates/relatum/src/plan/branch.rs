//! The plan of one conjunctive branch.

use super::PlanOptions;
use super::message::{MessageId, Messages, TreeNode};
use super::order::{Bound, Ordering};
use super::statistics::Statistics;
use crate::graph::RelationId;
use crate::query::{Branch, Hop, Term, VariableId};

/// How one branch, or one negated sub-query, is answered.
#[derive(Clone, Debug, PartialEq)]
pub struct BranchPlan {
    /// The branch: its atoms are what continuous optimisation works on.
    pub branch: Branch,
    /// The variable that the branch is a condition on: the target of the query, or for a negated
    /// sub-query the last variable of the branch around it to be bound.
    pub target: VariableId,
    /// Variables that have values already when the branch runs; only sub-queries that share several
    /// variables with the branch around them have any.
    pub inputs: Vec<VariableId>,
    /// The variables in the order in which they get their values.
    pub steps: Vec<Step>,
    /// The message to the target, if the branch is a tree; else only a beam can run it.
    pub root: Option<MessageId>,
    /// The variables along the messages, if the branch is a tree.
    pub tree: Option<TreeNode>,
    /// A plan for each of [`Branch::negated`], in the same order.
    pub negated: Vec<BranchPlan>,
    /// About how many rows are scored, if no row is shared.
    pub rows: f64,
}

/// Gives one variable its values.
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    /// The variable.
    pub variable: VariableId,
    /// Everything that is known about it by now, in the order in which to apply it: sub-queries
    /// come last, because they need only be asked about values that the others leave. All
    /// factors are combined by the t-norm, and only then the best are taken. Without factors the values
    /// are every entity, or in a sub-query every value that it is asked about.
    pub factors: Vec<Factor>,
    /// About how many values fit.
    pub candidates: f64,
    /// About how many rows the factors score.
    pub rows: f64,
    /// How many states to keep; `None` after the last step, where no atom ranks the values yet, and for a
    /// target of which every value is to be ranked.
    pub beam: Option<usize>,
    /// The variables that a later step or the answer still needs: states that agree on them are
    /// merged, the best kept.
    pub needed: Vec<VariableId>,
    /// The variables that are eliminated here: maximised over and never looked at again.
    pub eliminated: Vec<VariableId>,
    /// An earlier branch and step that leave the same states, up to the names of variables.
    pub same_as: Option<(usize, usize)>,
}

/// A condition on the variable of a step.
#[derive(Clone, Debug, PartialEq)]
pub enum Factor {
    /// The row `φ(from, ·)`, or 1 minus it. `from` is an anchor or a variable bound before.
    Row {
        /// The known side.
        from: Term,
        /// The relation, read from the known side.
        hop: Hop,
        /// Whether the atom is negated.
        negated: bool,
    },
    /// `φ(x, x)`: one row for each value, of which one entry is used.
    Loop {
        /// The relation.
        relation: RelationId,
        /// Whether the atom is negated.
        negated: bool,
    },
    /// 1 minus the best score of a sub-query, by its position in [`BranchPlan::negated`].
    Negated(usize),
}

/// What a negated sub-query gets from the branch around it.
#[derive(Clone, Copy, Default)]
pub(super) struct Outside<'a> {
    /// Variables that have values already.
    pub(super) inputs: &'a [Bound],
    /// The values of its target that are asked about.
    pub(super) asked: Option<Bound>,
}

pub(super) fn plan(
    branch: &Branch,
    target: VariableId,
    outside: Outside<'_>,
    statistics: Statistics<'_>,
    options: PlanOptions,
    messages: &mut Messages,
) -> BranchPlan {
    let Outside { inputs, asked } = outside;
    let order = Ordering { branch, target, inputs, asked, statistics, options }.best();
    let known: Vec<Bound> = inputs.iter().chain(&order).copied().collect();
    let position = |id: VariableId| known.iter().position(|bound| bound.variable == id);
    let mut steps: Vec<Step> = order
        .iter()
        .enumerate()
        .map(|(index, bound)| atoms(branch, bound, &known[..inputs.len() + index]))
        .collect();
    let mut negated = Vec::with_capacity(branch.negated.len());
    for (which, sub) in branch.negated.iter().enumerate() {
        let free = sub.free();
        // The sub-query runs when the last of the variables that it shares gets its values.
        let last = free.iter().filter_map(|&id| position(id)).max();
        let Some((at, step)) = last.and_then(|at| Some((at, steps.get_mut(at.checked_sub(inputs.len())?)?)))
        else {
            // No step can ask it: the checks refuse such a question.
            let target = sub.bound.first().copied().unwrap_or(target);
            negated.push(self::plan(&sub.branch, target, Outside::default(), statistics, options, messages));
            continue;
        };
        let shared: Vec<Bound> =
            known[..at].iter().filter(|bound| free.contains(&bound.variable)).copied().collect();
        let given: Vec<Bound> = shared.iter().map(|bound| bound.given()).collect();
        let outside = Outside { inputs: &given, asked: Some(known[at]) };
        let nested = self::plan(&sub.branch, known[at].variable, outside, statistics, options, messages);
        step.rows += nested.rows * runs(&shared, options);
        step.factors.push(Factor::Negated(which));
        negated.push(nested);
    }
    let inputs_named: Vec<VariableId> = inputs.iter().map(|input| input.variable).collect();
    needs(&mut steps, branch, target, &inputs_named, &order, options);
    let rows = steps.iter().map(|step| step.rows).sum();
    let root = if inputs.is_empty() { messages.tree(branch, target, &order, &negated) } else { None };
    let (root, tree) = root.unzip();
    BranchPlan { branch: branch.clone(), target, inputs: inputs_named, steps, root, tree, negated, rows }
}

/// How often a sub-query runs: once for each combination of its inputs that a beam holds.
fn runs(given: &[Bound], options: PlanOptions) -> f64 {
    let all: f64 = given.iter().map(|bound| bound.rows_from).product();
    if given.is_empty() { 1.0 } else { all.min(options.beam as f64).max(1.0) }
}

/// The atoms between a variable and what is known, each read towards the variable.
fn atoms(branch: &Branch, bound: &Bound, known: &[Bound]) -> Step {
    let mut factors = Vec::new();
    let mut rows = 0.0;
    for (atom, negated) in branch.signed_atoms() {
        let Some((hop, from)) = atom.towards(bound.variable) else { continue };
        if from == Term::Variable(bound.variable) {
            rows += bound.rows_from;
            factors.push(Factor::Loop { relation: atom.relation, negated });
            continue;
        }
        rows += match from {
            Term::Entity(_) => 1.0,
            Term::Variable(id) => match known.iter().find(|other| other.variable == id) {
                Some(other) => other.rows_from,
                None => continue,
            },
        };
        factors.push(Factor::Row { from, hop, negated });
    }
    Step {
        variable: bound.variable,
        factors,
        candidates: bound.candidates,
        rows,
        beam: None,
        needed: Vec::new(),
        eliminated: Vec::new(),
        same_as: None,
    }
}

/// Finds for each step which variables are needed later, which are eliminated, and where a beam is taken.
fn needs(
    steps: &mut [Step],
    branch: &Branch,
    target: VariableId,
    inputs: &[VariableId],
    order: &[Bound],
    options: PlanOptions,
) {
    let mut known: Vec<VariableId> = inputs.to_vec();
    for index in 0..steps.len() {
        known.push(steps[index].variable);
        let later = |id: VariableId| {
            id == target
                || inputs.contains(&id)
                || steps[index + 1..]
                    .iter()
                    .any(|step| step.factors.iter().any(|factor| uses(factor, branch, id)))
        };
        let (needed, eliminated) = known.iter().copied().partition(|&id| later(id));
        let last = index + 1 == steps.len();
        let step = &mut steps[index];
        step.beam = (!last && !order[index].whole).then_some(options.beam);
        step.needed = needed;
        step.eliminated = eliminated;
        known.clone_from(&step.needed);
    }
}

fn uses(factor: &Factor, branch: &Branch, id: VariableId) -> bool {
    match factor {
        Factor::Row { from, .. } => from.variable() == Some(id),
        Factor::Loop { .. } => false,
        Factor::Negated(which) => branch.negated[*which].free().contains(&id),
    }
}
