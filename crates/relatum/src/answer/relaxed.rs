//! Answers by continuous optimisation, explained by the entities nearest to the optimised vectors.

use super::explanation::{ALTERNATIVES, Alternative, Explanation};
use super::witness::{Witness, Witnesses};
use super::{Answer, Answers, Ask, Marks, Method, best_answers, is_wanted};
use crate::graph::{EntityId, Graph};
use crate::model::Model;
use crate::plan::Plan;
use crate::search::beam::{Assignment, Beam};
use crate::search::continuous::{Continuous, ContinuousSettings, Near};
use crate::search::{AtomTruth, Found, SearchError};

pub(super) fn answer(
    plan: &Plan,
    model: &Model,
    graph: &Graph,
    truth: &dyn AtomTruth,
    known: &Marks,
    how: &Ask,
) -> Result<Answers, SearchError> {
    let settings = ContinuousSettings { calibration: how.calibration, known: how.known, ..how.continuous };
    let mut search = Continuous::new(plan, model, graph, how.logic, settings, &how.control)?;
    let Found { scores, certainty, rows } = search.run()?;
    let top = best_answers(&scores, how, |entity| is_wanted(known, how, entity));
    let mut explanations = if how.explain {
        Explainer::new(plan, truth, how, &search)?.all(&top)?
    } else {
        vec![None; top.len()]
    };
    let answers = top.into_iter().zip(explanations.drain(..)).map(|((entity, score), explanation)| Answer {
        entity,
        score,
        known: known.of(entity),
        ways: None,
        explanation,
    });
    Ok(Answers { answers: answers.collect(), method: Method::Continuous, certainty, rows })
}

/// What the explanations of one question share.
struct Explainer<'a> {
    plan: &'a Plan,
    truth: &'a dyn AtomTruth,
    how: &'a Ask,
    search: &'a Continuous<'a>,
    /// Scores negated sub-queries.
    beam: Beam<'a>,
    /// For each branch the entities nearest to its variables.
    nearest: Vec<Vec<Near>>,
}

impl<'a> Explainer<'a> {
    fn new(
        plan: &'a Plan,
        truth: &'a dyn AtomTruth,
        how: &'a Ask,
        search: &'a Continuous<'a>,
    ) -> Result<Self, SearchError> {
        let raw = !how.calibration.is_truth();
        let beam = Beam::new(plan, truth, how.logic, how.width, &how.control, raw)?;
        let nearest = (0..plan.branches.len()).map(|branch| search.nearest(branch, 1 + ALTERNATIVES));
        Ok(Self { plan, truth, how, search, beam, nearest: nearest.collect() })
    }

    fn all(&self, top: &[(EntityId, f32)]) -> Result<Vec<Option<Explanation>>, SearchError> {
        let time = self.how.explaining();
        let explain = |(rank, &(entity, _)): (usize, &(EntityId, f32))| {
            if time.includes(rank) { self.explain(entity) } else { Ok(None) }
        };
        top.iter().enumerate().map(explain).collect()
    }

    /// Explains an answer with every variable as the entity nearest to its vector; each alternative has, for
    /// one variable, another entity near it.
    fn explain(&self, answer: EntityId) -> Result<Option<Explanation>, SearchError> {
        let branch_scores = self.search.branch_scores(answer);
        let by_score = |a: &usize, b: &usize| branch_scores[*a].total_cmp(&branch_scores[*b]).then(b.cmp(a));
        let Some(branch) = (0..branch_scores.len()).max_by(by_score) else { return Ok(None) };
        let nearest = &self.nearest[branch];
        let first = |near: &[(EntityId, f32)]| near.first().map(|&(entity, _)| entity);
        let mut assignment: Assignment =
            nearest.iter().filter_map(|(id, near)| Some((*id, first(near)?))).collect();
        assignment.push((self.plan.target, answer));
        let plan = &self.plan.branches[branch];
        let witnesses = Witnesses { truth: self.truth, logic: self.how.logic, exact: None, beam: &self.beam };
        let mut alternatives = Vec::new();
        for (place, (_, near)) in nearest.iter().enumerate() {
            for &(entity, _) in near.iter().skip(1) {
                let mut other = assignment.clone();
                other[place].1 = entity;
                let Witness { score, assignment, .. } = witnesses.of(plan, other)?;
                alternatives.push(Alternative { assignment, score });
            }
        }
        alternatives
            .sort_by(|a, b| b.score.total_cmp(&a.score).then_with(|| a.assignment.cmp(&b.assignment)));
        alternatives.truncate(ALTERNATIVES);
        let Witness { score, assignment, atoms, sub_queries } = witnesses.of(plan, assignment)?;
        Ok(Some(Explanation {
            branch,
            branches_open: vec![false; branch_scores.len()],
            branch_scores,
            score,
            assignment,
            atoms,
            sub_queries,
            alternatives,
            alternatives_certain: false,
        }))
    }
}
