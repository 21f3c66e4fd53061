//! Answers with reasons: a plan is searched, the best entities are ranked, and each is explained by
//! the assignment that makes it an answer.

mod alternatives;
mod dot;
mod explanation;
mod relaxed;
mod score;
#[cfg(test)]
mod tests;
mod witness;

pub use explanation::{Alternative, ExplainedAtom, Explanation};
pub use score::score_text;
pub use witness::{SubQuery, Witness};

use crate::graph::{EntityId, Graph, Id};
use crate::model::{Calibration, Model};
use crate::plan::{BranchPlan, Plan};
use crate::search::beam::{Assignment, Beam, Width};
use crate::search::continuous::ContinuousSettings;
use crate::search::exact::{Exact, Goal};
use crate::search::{AtomTruth, Budget, Certainty, Found, Known, Logic, Scorer, SearchError, best};
use crate::symbolic::{World, answers_within, reason};

/// Which search runs the plan.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Method {
    /// Exact where the question is a tree, a beam where it is not.
    #[default]
    Auto,
    /// Exact search.
    Exact,
    /// Beam search.
    Beam,
    /// Continuous optimisation.
    Continuous,
}

impl Method {
    /// The name: `auto`, `exact`, `beam` or `continuous`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Exact => "exact",
            Self::Beam => "beam",
            Self::Continuous => "continuous",
        }
    }
}

/// How to answer.
#[derive(Clone, Copy, Debug)]
pub struct Ask {
    /// Which search.
    pub method: Method,
    /// How wide a beam is.
    pub width: Width,
    /// How continuous optimisation climbs; it takes `calibration` and `known` from here.
    pub continuous: ContinuousSettings,
    /// How truth values combine.
    pub logic: Logic,
    /// How scores become truth values.
    pub calibration: Calibration,
    /// What scores are multiplied by before a softmax.
    pub sharpness: f32,
    /// Which stored edges are trusted.
    pub known: Known,
    /// How many answers.
    pub top: usize,
    /// Leave out answers that follow from stored edges alone.
    pub new_only: bool,
    /// Whether to explain each answer.
    pub explain: bool,
    /// What the search may use up.
    pub budget: Budget,
}

impl Default for Ask {
    fn default() -> Self {
        Self {
            method: Method::Auto,
            width: Width { k: 64, paper: false },
            continuous: ContinuousSettings::default(),
            logic: Logic::default(),
            calibration: Calibration::default(),
            sharpness: 1.0,
            known: Known::ALL,
            top: 10,
            new_only: false,
            explain: false,
            budget: Budget::default(),
        }
    }
}

/// How uncertain a score may stay whose place is certain: less than people are shown.
const WITHIN: f32 = 5e-5;

/// The best answers to a question.
#[derive(Clone, Debug, PartialEq)]
pub struct Answers {
    /// Best first.
    pub answers: Vec<Answer>,
    /// Which search found them; never [`Method::Auto`].
    pub method: Method,
    /// How sure they are.
    pub certainty: Certainty,
    /// Rows scored to find them.
    pub rows: usize,
}

/// One answer.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    /// The entity.
    pub entity: EntityId,
    /// How true it is that it is an answer.
    pub score: f32,
    /// Whether it follows from stored edges alone, without any prediction. None: time was up before
    /// that was clear.
    pub known: Option<bool>,
    /// Why it is an answer, if that was asked for.
    pub explanation: Option<Explanation>,
}

impl Answer {
    /// `known`, `predicted`, or `undetermined` where time was up before it was clear which.
    pub fn standing(&self) -> &'static str {
        match self.known {
            Some(true) => "known",
            Some(false) => "predicted",
            None => "undetermined",
        }
    }
}

/// Answers a planned question with a model of the graph.
pub fn ask(plan: &Plan, model: &Model, graph: &Graph, how: &Ask) -> Result<Answers, SearchError> {
    if how.calibration == Calibration::Adaptive && model.affine().is_none() {
        return Err(SearchError::NotCalibrated);
    }
    let truth = Scorer::new(model, graph, how.calibration, how.known).with_sharpness(how.sharpness);
    // What is stored is no news, whether it is trusted or not.
    let trusted = if how.known == Known::Ignore { Known::ALL } else { how.known };
    // What is known is looked for first, and must leave time to look for what is not.
    let known = Marks(known_answers(plan, graph, trusted, how.budget.halved()));
    if how.method == Method::Continuous {
        return relaxed::answer(plan, model, graph, &truth, &known, how);
    }
    let world = World::of(graph, trusted.splits());
    let by_edges = |entity| reason(&plan.normal_form(), &world, entity, how.budget);
    answer(plan, &truth, &known, &by_edges, how)
}

/// Of every entity, whether stored edges alone make it an answer; none where that is not clear.
struct Marks(Option<Vec<bool>>);

impl Marks {
    fn of(&self, entity: EntityId) -> Option<bool> {
        self.0.as_ref().map(|known| known[entity.index()])
    }

    /// Whether an entity may be shown where only news is wanted: what is not clear may be news.
    fn may_be_new(&self, entity: EntityId) -> bool {
        self.of(entity) != Some(true)
    }
}

/// Gives for an answer the alternative and the values by which stored edges alone make it one.
type ByEdges<'a> = dyn Fn(EntityId) -> Option<(usize, Assignment)> + 'a;

fn answer(
    plan: &Plan,
    truth: &dyn AtomTruth,
    known: &Marks,
    by_edges: &ByEdges<'_>,
    how: &Ask,
) -> Result<Answers, SearchError> {
    let raw = !how.calibration.is_truth();
    let beam = Beam::new(plan, truth, how.logic, how.width, how.budget, raw)?;
    // On a tree the best values of each variable are at least as good as a beam of assignments, and
    // a bound spares most of their rows.
    let (exactly, most) = match how.method {
        Method::Auto => (plan.is_tree() && !raw, None),
        Method::Exact if raw => return Err(SearchError::RawScores),
        Method::Exact => (true, None),
        Method::Beam => (plan.is_tree() && !raw && !how.width.paper, Some(how.width.k)),
        Method::Continuous => (false, None),
    };
    let keep = |entity: EntityId| !how.new_only || known.may_be_new(entity);
    let mut exact = if exactly { Some(Exact::new(plan, truth, how.logic, how.budget)?) } else { None };
    let found = match &mut exact {
        Some(exact) => exact.run(Goal::Top { count: how.top, keep: &keep, within: WITHIN, most })?,
        None => beam.run()?,
    };
    let Found { mut scores, certainty, rows } = found;
    // Every condition that trusted edges meet is exactly 1, whether a beam came by or not; but what the
    // paper describes is what its beam came by.
    let by_facts = (exact.is_none() || most.is_some())
        && !raw
        && !how.width.paper
        && how.known != Known::Ignore
        && !plan.branches.iter().any(negates);
    if by_facts {
        let known = scores.iter_mut().zip(known.0.iter().flatten()).filter(|(_, known)| **known);
        known.for_each(|(score, _)| *score = 1.0);
    }
    // A truth value of 0 is no answer; raw scores have no such floor.
    let counts = |entity: EntityId| keep(entity) && (raw || scores[entity.index()] > 0.0);
    let top: Vec<(EntityId, f32)> =
        best(&scores, how.top, counts).into_iter().filter(|(_, score)| score.is_finite()).collect();
    // Where alternatives are joined in place, no single one of them carries an answer.
    let in_place = exact.is_some() && plan.joined.is_some();
    let explanations = if how.explain && !in_place {
        let reason = |entity| by_edges(entity).filter(|_| by_facts && known.of(entity) == Some(true));
        explanation::explain(plan, truth, how, exact.as_ref(), &beam, &top, &reason)?
    } else {
        Vec::new()
    };
    // What a beam never came by has no assignment to show.
    let folds = |explanation: &Explanation, score: f32| {
        exact.is_some()
            || raw
            || how.logic.t_norm.any(explanation.branch_scores.iter().copied()) >= score - 1e-4
    };
    let mut explanations = explanations.into_iter();
    let answers = top
        .into_iter()
        .map(|(entity, score)| Answer {
            entity,
            score,
            known: known.of(entity),
            explanation: explanations.next().flatten().filter(|it| folds(it, score)),
        })
        .collect();
    let method = match how.method {
        Method::Auto if exact.is_some() => Method::Exact,
        Method::Auto => Method::Beam,
        method => method,
    };
    Ok(Answers { answers, method, certainty, rows })
}

fn negates(branch: &BranchPlan) -> bool {
    !branch.branch.negative.is_empty() || !branch.branch.negated.is_empty()
}

/// For every entity, whether the stored edges that count as known alone make it an answer. None: the
/// time of the budget was up before that was clear.
pub fn known_answers(plan: &Plan, graph: &Graph, known: Known, budget: Budget) -> Option<Vec<bool>> {
    let mut is_known = vec![false; graph.entities.len()];
    for answer in answers_within(&plan.normal_form(), &World::of(graph, known.splits()), budget)? {
        is_known[answer.index()] = true;
    }
    Some(is_known)
}
