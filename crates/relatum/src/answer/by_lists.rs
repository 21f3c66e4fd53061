//! Answers from sorted lists, explained as those of exact search are.

use super::alternatives::{COUNT, Ranked, ranked};
use super::explanation::{ALTERNATIVES, edges_of, read_from, value_of};
use super::known::Marks;
use super::witness::{SubQuery, Witness};
use super::{
    Alternative, Answer, Answers, Ask, ByEdges, ExplainedAtom, Explanation, Method, WITHIN, facts_decide,
    is_wanted, nothing, proven, proven_by_facts,
};
use crate::graph::{EntityId, Graph, Triple};
use crate::model::CandidateSource;
use crate::plan::{BranchPlan, Message, MessageId, Plan, TreeNode};
use crate::query::Direction;
use crate::search::beam::{Assignment, Beam};
use crate::search::lists::{BestListed, Lists, Wanted};
use crate::search::{AtomTruth, Certainty, Scorer, SearchError, exact};

/// Whether sorted lists answer a question: where they were asked for, or where nothing was and there is a source of
/// lists, or the vectors of exact search would take more memory than they may.
pub(super) fn is_chosen(plan: &Plan, graph: &Graph, how: &Ask) -> bool {
    let can = plan.is_tree() && how.calibration.is_truth() && !how.width.paper;
    let fits = || how.control.affords(exact::bytes(plan, graph.entities.len()));
    how.method == Method::Lists || how.method == Method::Auto && can && (how.source.is_some() || !fits())
}

pub(super) fn answer(
    plan: &Plan,
    scorer: &Scorer<'_>,
    source: &dyn CandidateSource,
    known: &Marks,
    by_edges: &ByEdges<'_>,
    how: &Ask,
) -> Result<Answers, SearchError> {
    let mut lists = Lists::new(plan, scorer, source, how.logic, &how.control)?;
    let decided = facts_decide(plan, how);
    if decided && let Some(top) = proven(scorer, known, how) {
        let beam = Beam::new(plan, scorer, how.logic, how.width, &how.control, false)?;
        let proven = proven_by_facts(plan, scorer, known, &top, by_edges, &beam, how)?;
        return Ok(Answers { method: Method::Lists, ..proven });
    }
    let keep = |entity: EntityId| is_wanted(known, how, entity);
    let wanted = match how.only {
        Some(entity) => Wanted::One(entity),
        None => Wanted::Top { count: how.top, keep: &keep },
    };
    let BestListed { answers: mut top, certainty, rows } = lists.run(wanted, WITHIN)?;
    let stopped = matches!(certainty, Certainty::Stopped { .. });
    if decided && stopped && how.only.is_none() && !how.new_only {
        // What trusted edges prove is true whether the search came by or not.
        let first = known.first_by_id(how.top);
        top.retain(|(entity, _)| !first.contains(entity));
        top.splice(..0, first.into_iter().map(|entity| (entity, 1.0)));
        top.truncate(how.top);
    }
    top.retain(|&(entity, score)| keep(entity) && score > nothing(how));
    if decided && !how.new_only && how.only.is_none() {
        known.reorder(&mut top, how.top);
    }
    let mut explainer = Explainer { plan, scorer, how, lists };
    let mut answers = Vec::with_capacity(top.len());
    let time = how.explaining();
    for (rank, (entity, score)) in top.into_iter().enumerate() {
        // Where alternatives are joined in place, no single one of them carries an answer.
        let is_explained = how.explain && plan.joined.is_none() && time.includes(rank);
        let explanation = if is_explained { explainer.explain(entity)? } else { None };
        let folds = |it: &Explanation| how.logic.t_norm.any(it.branch_scores.iter().copied()) >= score - 1e-4;
        answers.push(Answer {
            entity,
            score,
            known: known.of(entity),
            ways: known.ways(entity),
            explanation: explanation.filter(folds),
        });
    }
    Ok(Answers { answers, method: Method::Lists, certainty, rows })
}

/// What the explanations of one question share.
struct Explainer<'a> {
    plan: &'a Plan,
    scorer: &'a Scorer<'a>,
    how: &'a Ask,
    lists: Lists<'a>,
}

impl Explainer<'_> {
    /// Explains an answer by the alternative in which it scores highest.
    fn explain(&mut self, answer: EntityId) -> Result<Option<Explanation>, SearchError> {
        let plan = self.plan;
        let (mut branch_scores, mut branches_open) = (Vec::new(), Vec::new());
        for root in plan.branches.iter().filter_map(|branch| branch.root) {
            let bounds = self.lists.value(root, answer)?;
            branch_scores.push(bounds.low);
            branches_open.push(bounds.high > bounds.low + WITHIN);
        }
        let by_score = |a: &usize, b: &usize| branch_scores[*a].total_cmp(&branch_scores[*b]).then(b.cmp(a));
        let Some(branch) = (0..branch_scores.len()).max_by(by_score) else { return Ok(None) };
        let branch_plan = &plan.branches[branch];
        let (Some(tree), Some(root)) = (&branch_plan.tree, branch_plan.root) else { return Ok(None) };
        let Some(assignment) = self.lists.assignment(tree, answer)? else { return Ok(None) };
        let (listed, alternatives_certain) = self.next_best(tree, root, answer)?;
        let same =
            |other: &Assignment| other.iter().all(|&(id, value)| value_of(&assignment, id) == Some(value));
        let others = listed.into_iter().filter(|(other, _)| !same(other)).take(ALTERNATIVES);
        let alternatives = others.map(|(assignment, score)| Alternative { assignment, score }).collect();
        let Witness { score, assignment, atoms, sub_queries } = self.witness(branch_plan, assignment)?;
        if branches_open[branch] {
            branch_scores[branch] = branch_scores[branch].max(score);
        }
        Ok(Some(Explanation {
            branch,
            branch_scores,
            branches_open,
            score,
            assignment,
            atoms,
            sub_queries,
            alternatives,
            alternatives_certain,
        }))
    }

    /// A branch under an assignment: the truth of its atoms and sub-queries, folded.
    fn witness(&mut self, branch: &BranchPlan, assignment: Assignment) -> Result<Witness, SearchError> {
        let edges: Vec<(Triple, Direction, bool)> = edges_of(branch, &assignment).collect();
        let atoms: Vec<ExplainedAtom> = edges
            .into_iter()
            .map(|(edge, read, negated)| self.atom(edge, read, negated))
            .collect::<Result<_, _>>()?;
        let mut sub_queries = Vec::with_capacity(branch.negated.len());
        for nested in &branch.negated {
            sub_queries.push(self.sub_query(nested, &assignment)?);
        }
        let score = Explanation::fold(self.how.logic, &atoms, &sub_queries);
        Ok(Witness { score, assignment, atoms, sub_queries })
    }

    fn atom(&mut self, edge: Triple, read: Direction, negated: bool) -> Result<ExplainedAtom, SearchError> {
        let (from, hop, to) = read_from(edge, read);
        let (known, stored) = (self.scorer.known(from, hop, to), self.scorer.stored(from, hop, to));
        let (truth, why) = match known {
            Some(_) => (1.0, None),
            None => (self.lists.edge(from, hop, to)?, self.lists.why(from, hop, to)?),
        };
        let value = if negated { self.how.logic.negation.not(truth) } else { truth };
        Ok(ExplainedAtom { edge, negated, truth, value, read, known, stored, why })
    }

    /// A negated sub-query with the values that make it truest.
    fn sub_query(&mut self, nested: &BranchPlan, outer: &Assignment) -> Result<SubQuery, SearchError> {
        let (Some(root), Some(tree), Some(target)) =
            (nested.root, &nested.tree, value_of(outer, nested.target))
        else {
            return Ok(SubQuery { truth: 1.0, value: 0.0, witness: None });
        };
        let truth = self.lists.value(root, target)?.high;
        let found = self.lists.assignment(tree, target)?;
        let witness = found.map(|assignment| self.witness(nested, assignment)).transpose()?;
        Ok(SubQuery { truth, value: 1.0 - truth, witness: witness.filter(|witness| witness.score > 0.0) })
    }

    /// The best assignments of a variable's value and of what is further from the target, and whether no other is
    /// better. The best of a node are made of the best of each child.
    fn next_best(
        &mut self,
        node: &TreeNode,
        message: MessageId,
        value: EntityId,
    ) -> Result<(Ranked, bool), SearchError> {
        let t_norm = self.how.logic.t_norm;
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
        let mut score = 1.0;
        for part in own {
            score = t_norm.and(score, self.lists.value(part, value)?.low);
        }
        let (mut list, mut certain): (Ranked, bool) = (vec![(vec![(node.variable, value)], score)], true);
        for (edge, child) in &node.children {
            let ways = self.lists.ways(*edge, value, COUNT)?;
            certain &= ways.certain;
            let mut further: Ranked = Vec::new();
            for (other, truth) in ways.best {
                let Some(far) = ways.far else { continue };
                let (assignments, sure) = self.next_best(child, far, other)?;
                certain &= sure;
                further.extend(assignments.into_iter().map(|(it, score)| (it, t_norm.and(score, truth))));
            }
            let further = ranked(further.into_iter());
            list = ranked(list.iter().flat_map(|(near, score)| {
                further
                    .iter()
                    .map(move |(far, other)| ([near.as_slice(), far].concat(), t_norm.and(*score, *other)))
            }));
        }
        Ok((list, certain))
    }
}

#[cfg(test)]
mod tests;
