//! Why an entity is an answer: data, not text.

use super::alternatives::{Listed, UNNOTICED};
use super::witness::{SubQuery, Witness, Witnesses};
use super::{Ask, WITHIN, alternatives};
use crate::graph::{EntityId, Id, Split, Triple};
use crate::plan::{BranchPlan, Plan, TreeNode};
use crate::query::{Atom, Direction, Hop, Term, VariableId};
use crate::search::beam::{Assignment, Beam};
use crate::search::exact::Exact;
use crate::search::{AtomTruth, Logic, SearchError, Why};
use crate::symbolic::Reason;

/// How many other assignments an explanation lists.
pub(super) const ALTERNATIVES: usize = 3;

/// The assignment that makes an entity an answer, with the truth of every atom under it.
///
/// Folding the atoms (negated ones negated) and the sub-queries (1 minus their truth) with the
/// t-norm gives [`score`](Self::score), and joining [`branch_scores`](Self::branch_scores) with the
/// t-conorm gives the score of the answer; see [`Explanation::refold`]. The score of the assignment is
/// also that of its branch, except under continuous optimisation: there the branch was scored at vectors,
/// and the assignment is that of the entities nearest to them.
#[derive(Clone, Debug, PartialEq)]
pub struct Explanation {
    /// The alternative of the normal form that carries the answer.
    pub branch: usize,
    /// The score of the answer in each alternative; a lower bound where the search left it open.
    pub branch_scores: Vec<f32>,
    /// The alternatives whose score the search left open, because it could not change the answer.
    pub branches_open: Vec<bool>,
    /// The score of this assignment.
    pub score: f32,
    /// The value of every variable, the target among them.
    pub assignment: Assignment,
    /// Every atom of the branch.
    pub atoms: Vec<ExplainedAtom>,
    /// Every negated sub-query of the branch.
    pub sub_queries: Vec<SubQuery>,
    /// The next best assignments for the same answer, best first.
    pub alternatives: Vec<Alternative>,
    /// Whether they are proven to be the next best of all, to four digits; else they are the best among
    /// those looked at: of a beam, near the vectors of continuous optimisation, or where a question that
    /// is a tree has too many promising values to try them all.
    pub alternatives_certain: bool,
}

/// An atom with its variables replaced by their values.
#[derive(Clone, Debug, PartialEq)]
pub struct ExplainedAtom {
    /// The edge.
    pub edge: Triple,
    /// Whether the atom is negated in the question.
    pub negated: bool,
    /// How true the edge is.
    pub truth: f32,
    /// What enters the score: the truth itself, or its negation.
    pub value: f32,
    /// From which side it was scored: from the other side a predictor gives another score.
    pub read: Direction,
    /// The split of the trusted graph that holds the edge, which is then exactly 1; `None` if the model
    /// scored it.
    pub known: Option<Split>,
    /// The split that holds the edge, trusted or not; `None` for a prediction.
    pub stored: Option<Split>,
    /// What speaks for an edge that is not trusted, where rules are asked beside the model.
    pub why: Option<Why>,
}

/// Another assignment for the same answer.
#[derive(Clone, Debug, PartialEq)]
pub struct Alternative {
    /// The value of every variable.
    pub assignment: Assignment,
    /// Its score.
    pub score: f32,
}

impl Explanation {
    /// The score of the assignment, from its atoms and sub-queries alone.
    pub fn refold(&self, logic: Logic) -> f32 {
        Self::fold(logic, &self.atoms, &self.sub_queries)
    }

    pub(super) fn fold(logic: Logic, atoms: &[ExplainedAtom], sub_queries: &[SubQuery]) -> f32 {
        let not = |truth: f32| logic.negation.not(truth);
        let atoms = atoms.iter().map(|atom| if atom.negated { not(atom.truth) } else { atom.truth });
        logic.t_norm.all(atoms.chain(sub_queries.iter().map(|nested| 1.0 - nested.truth)))
    }
}

/// Explains the best answers after those that are skipped, each by the branch in which it scores highest or, if a
/// beam missed an answer that stored edges give, by the `reason` that they give.
pub(super) fn explain(
    plan: &Plan,
    truth: &dyn AtomTruth,
    how: &Ask,
    exact: Option<&Exact<'_>>,
    beam: &Beam<'_>,
    top: &[(EntityId, f32)],
    reason: &dyn Fn(EntityId) -> Option<Reason>,
) -> Result<Vec<Option<Explanation>>, SearchError> {
    let answers: Vec<EntityId> = top.iter().map(|&(entity, _)| entity).collect();
    let of_beam = |ranked| Listed { ranked, certain: false };
    let by_beam = |branch| {
        let listed = beam.assignments(branch, &answers, ALTERNATIVES + 1)?;
        Ok(listed.into_iter().map(of_beam).collect())
    };
    let found: Vec<Vec<Listed>> = match exact {
        Some(exact) => alternatives::of_tree(plan, truth, how.logic, &how.control, exact, &answers)?,
        None => (0..plan.branches.len()).map(by_beam).collect::<Result<_, SearchError>>()?,
    };
    let witnesses = Witnesses { truth, logic: how.logic, exact, beam };
    let time = how.explaining();
    let mut explanations = Vec::with_capacity(answers.len());
    for (index, &answer) in answers.iter().enumerate() {
        if !time.includes(how.skip + index) {
            explanations.push(None);
            continue;
        }
        let of_beam = |branch: &[Listed]| branch[index].ranked.first().map_or(0.0, |(_, score)| *score);
        let mut branch_scores = match exact {
            Some(exact) => exact.branch_scores(answer),
            None => found.iter().map(|branch| of_beam(branch)).collect(),
        };
        let branches_open = match exact {
            Some(exact) => exact.branches_open(answer, WITHIN),
            None => vec![false; branch_scores.len()],
        };
        let missed = !branch_scores.iter().any(|score| *score >= 1.0);
        let reason = if missed { reason(answer) } else { None };
        if let Some(reason) = &reason {
            branch_scores[reason.branch] = 1.0;
        }
        let best = (0..branch_scores.len())
            .max_by(|&a, &b| branch_scores[a].total_cmp(&branch_scores[b]).then(b.cmp(&a)));
        let Some(branch) = best else {
            explanations.push(None);
            continue;
        };
        let branch_plan = &plan.branches[branch];
        let listed = &found[branch][index];
        let assignment = match (reason, exact, &branch_plan.tree) {
            (Some(reason), _, _) => Some(reason.assignment),
            (None, Some(exact), Some(tree)) => assignment_of(exact, tree, answer),
            _ => listed.ranked.first().map(|(assignment, _)| assignment.clone()),
        };
        let Some(assignment) = assignment else {
            explanations.push(None);
            continue;
        };
        let same =
            |other: &Assignment| other.iter().all(|&(id, value)| value_of(&assignment, id) == Some(value));
        // A search that was stopped may have missed an assignment better than its best: that one is not a next best.
        let best = branch_scores[branch];
        let missed = |score: f32| exact.is_some() && score > best + UNNOTICED;
        let others = listed.ranked.iter().filter(|(other, score)| !same(other) && !missed(*score));
        let alternatives = others
            .take(ALTERNATIVES)
            .map(|(assignment, score)| Alternative { assignment: assignment.clone(), score: *score })
            .collect();
        let alternatives_certain = listed.certain && !listed.ranked.iter().any(|(_, score)| missed(*score));
        let Witness { score, assignment, atoms, sub_queries } = witnesses.of(branch_plan, assignment)?;
        if branches_open[branch] {
            // The lower bound of the search may be below the score that the atoms give.
            branch_scores[branch] = branch_scores[branch].max(score);
        }
        explanations.push(Some(Explanation {
            branch,
            branch_scores,
            branches_open,
            score,
            assignment,
            atoms,
            sub_queries,
            alternatives,
            alternatives_certain,
        }));
    }
    Ok(explanations)
}

/// Explains an answer by the first of the ways in which trusted edges alone make it one; the other ways of the
/// same alternative are equally good.
pub(super) fn by_facts(
    plan: &Plan,
    truth: &dyn AtomTruth,
    how: &Ask,
    beam: &Beam<'_>,
    reasons: Vec<Reason>,
) -> Result<Option<Explanation>, SearchError> {
    let mut reasons = reasons.into_iter();
    let Some(Reason { branch, assignment }) = reasons.next() else { return Ok(None) };
    let witnesses = Witnesses { truth, logic: how.logic, exact: None, beam };
    let Witness { score, assignment, atoms, sub_queries } =
        witnesses.of(&plan.branches[branch], assignment)?;
    let is_other = |which: usize| which != branch;
    let branches = 0..plan.branches.len();
    let branch_scores = branches.clone().map(|which| if is_other(which) { 0.0 } else { score }).collect();
    let alternatives: Vec<Alternative> = reasons
        .filter(|reason| reason.branch == branch)
        .map(|reason| Alternative { assignment: reason.assignment, score })
        .collect();
    Ok(Some(Explanation {
        branch,
        branch_scores,
        branches_open: branches.map(is_other).collect(),
        score,
        assignment,
        atoms,
        sub_queries,
        // If there are fewer, the next best assignments need predictions, which were not searched.
        alternatives_certain: alternatives.len() == ALTERNATIVES,
        alternatives,
    }))
}

/// The best assignment that gives the variable of a node a value, if one does.
pub(super) fn assignment_of(exact: &Exact<'_>, node: &TreeNode, value: EntityId) -> Option<Assignment> {
    let mut values = Vec::new();
    assign(exact, node, value, &mut values).then_some(values)
}

/// Follows the messages from the target outwards; `false` if one of them never got a value.
fn assign(exact: &Exact<'_>, node: &TreeNode, value: EntityId, values: &mut Assignment) -> bool {
    values.push((node.variable, value));
    node.children.iter().all(|(message, child)| {
        exact.via(*message, value).is_some_and(|next| assign(exact, child, next, values))
    })
}

pub(super) fn value_of(assignment: &Assignment, id: VariableId) -> Option<EntityId> {
    assignment.iter().find(|(variable, _)| *variable == id).map(|&(_, value)| value)
}

/// The truth of every atom, scored from the side from which the plan scores it.
pub(super) fn atoms(
    plan: &BranchPlan,
    truth: &dyn AtomTruth,
    logic: Logic,
    assignment: &Assignment,
) -> Vec<ExplainedAtom> {
    let mut row = Vec::new();
    let explained = |(edge, read, negated)| explained_edge(edge, read, negated, truth, logic, &mut row);
    edges_of(plan, assignment).map(explained).collect()
}

/// The edges that the atoms of a branch stand for under an assignment, from which side each is scored, and
/// whether its atom is negated.
pub(super) fn edges_of(
    plan: &BranchPlan,
    assignment: &Assignment,
) -> impl Iterator<Item = (Triple, Direction, bool)> {
    plan.branch.signed_atoms().filter_map(move |(atom, negated)| {
        let value = |term: Term| match term {
            Term::Entity(id) => Some(id),
            Term::Variable(id) => value_of(assignment, id),
        };
        let edge = Triple { head: value(atom.subject)?, relation: atom.relation, tail: value(atom.object)? };
        Some((edge, direction(plan, atom), negated))
    })
}

/// An edge as a hop from the side from which it is read.
pub(super) fn read_from(edge: Triple, read: Direction) -> (EntityId, Hop, EntityId) {
    let hop = Hop { relation: edge.relation, direction: read };
    match read {
        Direction::Forward => (edge.head, hop, edge.tail),
        Direction::Backward => (edge.tail, hop, edge.head),
    }
}

/// The truth of an edge, read from one of its sides; `row` is a buffer for one row.
pub(super) fn explained_edge(
    edge: Triple,
    read: Direction,
    negated: bool,
    truth: &dyn AtomTruth,
    logic: Logic,
    row: &mut Vec<f32>,
) -> ExplainedAtom {
    let (from, hop, to) = read_from(edge, read);
    let (known, stored) = (truth.known(from, hop, to), truth.stored(from, hop, to));
    // A trusted edge is exactly 1, so no row is needed.
    let mut value = 1.0;
    if known.is_none() {
        row.resize(truth.entities(), 0.0);
        truth.pairs(&[(from, hop)], row);
        value = row[to.index()];
    }
    let why = if known.is_none() { truth.why(from, hop, to, value) } else { None };
    let counts = if negated { logic.negation.not(value) } else { value };
    ExplainedAtom { edge, negated, truth: value, value: counts, read, known, stored, why }
}

/// Atoms are read from the side that is known first: an anchor, or the variable that gets its value earlier.
fn direction(plan: &BranchPlan, atom: &Atom) -> Direction {
    let position = |term: Term| {
        let id = term.variable()?;
        plan.steps.iter().position(|step| step.variable == id)
    };
    if position(atom.subject) <= position(atom.object) { Direction::Forward } else { Direction::Backward }
}
