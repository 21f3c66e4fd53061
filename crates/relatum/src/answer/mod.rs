//! Answers with reasons: a plan is searched, the best entities are ranked, and each is explained by
//! the assignment that makes it an answer.

mod alternatives;
mod by_lists;
mod explanation;
mod known;
mod predict;
mod relations;
mod relaxed;
mod score;
mod statement;
#[cfg(test)]
mod tests;
mod witness;

use std::fmt;
use std::sync::Arc;

pub use crate::symbolic::Ways;
pub use explanation::{Alternative, ExplainedAtom, Explanation};
pub use known::known_answers;
pub use predict::{PredictProgress, Predicted, PredictedEdge, Wanted, predict};
pub use relations::{RankedRelation, relations_between};
pub use score::score_text;
pub use statement::{ClauseReason, JudgedAlternative, JudgedClause, Judgement, judge};
pub use witness::{SubQuery, Witness};

use std::time::Duration;

use crate::control::Control;
use crate::graph::{EntityId, Graph, Id};
use crate::logic::TNorm;
use crate::model::{Calibration, CandidateSource, Model};
use crate::plan::Plan;
use crate::search::beam::{Beam, Effort, Width};
use crate::search::continuous::ContinuousSettings;
use crate::search::{
    Aim, AtomTruth, Certainty, Found, Known, Logic, Scorer, SearchError, Searcher, SharedRules, Strategy,
    best,
};
use crate::symbolic::{Reason, World, reasons};
use known::Marks;

/// Which search runs the plan.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Method {
    /// Exact where the question is a tree; where it is not, a beam that widens until its answers are
    /// proven or the effort is too large.
    #[default]
    Auto,
    /// As `Auto`, but until the proof is found, however long that takes.
    Exact,
    /// Beam search.
    Beam,
    /// Continuous optimisation.
    Continuous,
    /// Exact search by sorted lists of candidates, which holds no vector over all entities; the question must be a
    /// tree. `Auto` takes it where the vectors of `Exact` would not fit.
    Lists,
}

impl Method {
    /// Every method.
    pub const ALL: [Self; 5] = [Self::Auto, Self::Exact, Self::Beam, Self::Continuous, Self::Lists];

    /// The method of a name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|method| method.name() == name)
    }

    /// The name: `auto`, `exact`, `beam`, `continuous` or `lists`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Exact => "exact",
            Self::Beam => "beam",
            Self::Continuous => "continuous",
            Self::Lists => "lists",
        }
    }
}

/// A source of candidates that many questions share.
#[derive(Clone)]
pub struct SharedSource(pub Arc<dyn CandidateSource>);

impl fmt::Debug for SharedSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SharedSource of {} candidates", self.0.candidates_of_a_row())
    }
}

/// How to answer.
#[derive(Clone, Debug)]
pub struct Ask {
    /// The search to use.
    pub method: Method,
    /// How wide a beam is.
    pub width: Width,
    /// How continuous optimisation climbs; it takes `calibration` and `known` from here.
    pub continuous: ContinuousSettings,
    /// How truth values combine.
    pub logic: Logic,
    /// How scores become truth values.
    pub calibration: Calibration,
    /// The factor of scores before a softmax.
    pub sharpness: f32,
    /// The factor of predictions that lead to an entity of another kind than those that stand on that side of
    /// the relation in training: 1 leaves them as they are, 0 makes them count for nothing.
    pub unseen: f32,
    /// Which stored edges are trusted.
    pub known: Known,
    /// Rules beside the model, or in its place; none: the model alone.
    pub rules: Option<SharedRules>,
    /// Where sorted lists come from; none: the table of the model. Given one, lists answer unless another method
    /// was asked for.
    pub source: Option<SharedSource>,
    /// How many answers.
    pub top: usize,
    /// Leave out answers that follow from stored edges alone.
    pub new_only: bool,
    /// Ask about this entity alone: whether, and why, it is an answer.
    pub only: Option<EntityId>,
    /// Whether to explain each answer.
    pub explain: bool,
    /// How many of the best answers need no explanation, because whoever asks leaves them out.
    pub skip: usize,
    /// The limits of the search, the token that cancels it, and the listeners that hear of its progress.
    pub control: Control,
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
            unseen: 1.0,
            known: Known::ALL,
            rules: None,
            source: None,
            top: 10,
            new_only: false,
            only: None,
            explain: false,
            skip: 0,
            control: Control::default(),
        }
    }
}

impl Ask {
    /// The truth of atoms by a model, under these settings.
    pub fn scorer<'a>(&'a self, model: &'a Model, graph: &'a Graph) -> Result<Scorer<'a>, SearchError> {
        if model.lacks(self.calibration) {
            return Err(SearchError::NotCalibrated { calibration: self.calibration });
        }
        let scorer = Scorer::new(model, graph, self.calibration, self.known);
        let rules = self.rules.as_ref().map(SharedRules::evidence);
        Ok(scorer.with_sharpness(self.sharpness).with_unseen(self.unseen).with_rules(rules))
    }

    /// The time that explanations have, from now on.
    fn explaining(&self) -> Explaining {
        Explaining { control: self.control.with_at_least(TO_EXPLAIN), skip: self.skip }
    }
}

/// How long answers may be explained after the time of the search is over.
const TO_EXPLAIN: Duration = Duration::from_secs(1);

/// Says which answers are explained: the best one always, the others while there is time. Hundreds of answers to a
/// question of hundreds of atoms take longer to explain than to find.
struct Explaining {
    control: Control,
    skip: usize,
}

impl Explaining {
    /// Whether the answer of this rank is explained; the best one has rank 0.
    fn includes(&self, rank: usize) -> bool {
        rank == self.skip || (rank > self.skip && !self.control.is_late())
    }
}

/// How uncertain the score of an answer may stay once its place is certain: less than the digits shown.
const WITHIN: f32 = 5e-5;
/// What rounding in single precision may leave where the difference of two truth values should be 0.
const ROUNDING: f32 = 1e-6;

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
    /// Whether it follows from stored edges alone, without any prediction; `None` if the time was up
    /// before that was clear.
    pub known: Option<bool>,
    /// In how many ways stored edges alone make it an answer, where they do and that was counted.
    pub ways: Option<Ways>,
    /// Why it is an answer, if that was asked for and there was time to say it.
    pub explanation: Option<Explanation>,
}

/// Answers a planned question with a model of the graph.
pub fn ask(plan: &Plan, model: &Model, graph: &Graph, how: &Ask) -> Result<Answers, SearchError> {
    let truth = how.scorer(model, graph)?;
    // Stored answers are marked known even where their edges are not trusted.
    let trusted = if how.known == Known::Ignore { Known::ALL } else { how.known };
    let world = World::of(graph, trusted.splits());
    let normal_form = plan.normal_form();
    // Known answers are sought first, with half of the time, so that the other half is left for predictions.
    let half = how.control.halved();
    let ways_count = facts_decide(plan, how) && !how.new_only && how.only.is_none();
    let known = if ways_count && how.method != Method::Continuous {
        Marks::with_ways(&normal_form, &world, how.top, &half)
    } else {
        Marks::new(known_answers(plan, graph, trusted, &half))
    };
    if how.method == Method::Continuous {
        return relaxed::answer(plan, model, graph, &truth, &known, how);
    }
    let by_edges = |entity, most| reasons(&normal_form, &world, entity, most, &how.control);
    if by_lists::is_chosen(plan, graph, how) {
        let source = how.source.as_ref().map_or(model as &dyn CandidateSource, |source| &*source.0);
        return by_lists::answer(plan, &truth, source, &known, &by_edges, how);
    }
    answer(plan, &truth, &known, &by_edges, how)
}

/// Gives at most so many ways in which stored edges alone make an entity an answer.
type ByEdges<'a> = dyn Fn(EntityId, usize) -> Vec<Reason> + 'a;

/// The search for a plan, by the chosen method.
fn choose(plan: &Plan, how: &Ask) -> Result<Strategy, SearchError> {
    let raw = !how.calibration.is_truth();
    Ok(match how.method {
        Method::Exact if raw => return Err(SearchError::RawScores),
        Method::Exact | Method::Auto if plan.is_tree() && !raw => Strategy::Messages { most: None },
        Method::Exact => Strategy::Widening(Effort::All),
        Method::Auto if raw || how.width.paper => Strategy::Beam,
        Method::Auto => Strategy::Widening(Effort::Some),
        Method::Beam if !how.width.paper => Strategy::best_values(plan, how.width.k, raw),
        // These two do not run plans by a strategy.
        Method::Beam | Method::Continuous | Method::Lists => Strategy::Beam,
    })
}

/// Searches, corrects the scores by what trusted edges prove, ranks and explains.
fn answer(
    plan: &Plan,
    truth: &dyn AtomTruth,
    known: &Marks,
    by_edges: &ByEdges<'_>,
    how: &Ask,
) -> Result<Answers, SearchError> {
    let strategy = choose(plan, how)?;
    let raw = !how.calibration.is_truth();
    let mut search = Searcher::new(plan, truth, how.logic, how.width, &how.control, raw)?;
    let decided = facts_decide(plan, how);
    let by_messages = matches!(strategy, Strategy::Messages { .. });
    if decided
        && !by_messages
        && let Some(top) = proven(truth, known, how)
    {
        return proven_by_facts(plan, truth, known, &top, by_edges, &search.beam, how);
    }
    let keep = |entity: EntityId| is_wanted(known, how, entity);
    let found = search.run(strategy, Aim::Top { count: how.top, keep: &keep, within: WITHIN })?;
    let Found { mut scores, certainty, rows } = found;
    if decided {
        known.mark(&mut scores);
    }
    let mut top = best_answers(&scores, how, keep);
    if decided && !how.new_only && how.only.is_none() {
        known.reorder(&mut top, how.top);
    }
    let explanations = if how.explain {
        // A search by messages without a limit has followed every trusted edge itself.
        let missed = decided && strategy != Strategy::Messages { most: None };
        let reason = |entity| {
            let by_facts = missed && known.of(entity) == Some(true);
            if by_facts { by_edges(entity, 1).pop() } else { None }
        };
        explained(plan, truth, how, &search, &top, &reason)?
    } else {
        vec![None; top.len()]
    };
    let answers = top.into_iter().zip(explanations).map(|((entity, score), explanation)| Answer {
        entity,
        score,
        known: known.of(entity),
        ways: known.ways(entity),
        explanation,
    });
    let method = match (how.method, strategy, certainty) {
        (Method::Auto, Strategy::Messages { .. }, _) | (Method::Auto, _, Certainty::Exact { .. }) => {
            Method::Exact
        }
        (Method::Auto, ..) => Method::Beam,
        (method, ..) => method,
    };
    Ok(Answers { answers: answers.collect(), method, certainty, rows })
}

/// The answers that trusted edges alone prove to be the best, if there are as many as are wanted: answers that
/// need a prediction score less. A search by messages finds the same by itself.
fn proven(truth: &dyn AtomTruth, known: &Marks, how: &Ask) -> Option<Vec<EntityId>> {
    if how.new_only || truth.ceiling() >= 1.0 {
        return None;
    }
    match how.only {
        Some(entity) => (known.of(entity) == Some(true)).then(|| vec![entity]),
        None => known.first(how.top),
    }
}

/// One explanation for each answer, by the search that found it, or by the `reason` that stored edges give.
fn explained(
    plan: &Plan,
    truth: &dyn AtomTruth,
    how: &Ask,
    search: &Searcher<'_>,
    top: &[(EntityId, f32)],
    reason: &dyn Fn(EntityId) -> Option<Reason>,
) -> Result<Vec<Option<Explanation>>, SearchError> {
    let exact = search.exact.as_ref();
    // Where alternatives are joined in place, no single one of them carries an answer.
    if exact.is_some() && plan.joined.is_some() {
        return Ok(vec![None; top.len()]);
    }
    let skipped = how.skip.min(top.len());
    let mut explanations = vec![None; skipped];
    explanations.extend(explanation::explain(
        plan,
        truth,
        how,
        exact,
        &search.beam,
        &top[skipped..],
        reason,
    )?);
    // An answer that a beam never reached has no assignment to show.
    let folds = |explanation: &Explanation, score: f32| {
        exact.is_some()
            || !how.calibration.is_truth()
            || how.logic.t_norm.any(explanation.branch_scores.iter().copied()) >= score - 1e-4
    };
    let with_scores = explanations.into_iter().zip(top);
    Ok(with_scores.map(|(it, (_, score))| it.filter(|it| folds(it, *score))).collect())
}

/// Whether every answer that trusted edges alone give is exactly 1, even if a beam never reached it. Not
/// under a negation, which predictions weaken; and in paper mode only what the beam reached counts.
fn facts_decide(plan: &Plan, how: &Ask) -> bool {
    how.calibration.is_truth() && !how.width.paper && how.known != Known::Ignore && !plan.negates()
}

/// The answers that trusted edges alone prove, if there are as many as are wanted.
fn proven_by_facts(
    plan: &Plan,
    truth: &dyn AtomTruth,
    known: &Marks,
    top: &[EntityId],
    by_edges: &ByEdges<'_>,
    beam: &Beam<'_>,
    how: &Ask,
) -> Result<Answers, SearchError> {
    let time = how.explaining();
    let explain = |(rank, &entity): (usize, &EntityId)| {
        let explanation = if how.explain && time.includes(rank) {
            let reasons = by_edges(entity, explanation::ALTERNATIVES + 1);
            explanation::by_facts(plan, truth, how, beam, reasons)?
        } else {
            None
        };
        Ok(Answer { entity, score: 1.0, known: Some(true), ways: known.ways(entity), explanation })
    };
    let answers = top.iter().enumerate().map(explain).collect::<Result<_, SearchError>>()?;
    let method = if how.method == Method::Auto { Method::Exact } else { how.method };
    Ok(Answers { answers, method, certainty: Certainty::Exact { within: 0.0 }, rows: 0 })
}

/// Whether an entity is asked about.
fn is_wanted(known: &Marks, how: &Ask, entity: EntityId) -> bool {
    how.only.is_none_or(|only| only == entity) && (!how.new_only || known.may_be_new(entity))
}

/// What a score must exceed: an entity with a truth value of 0 is not an answer.
fn nothing(how: &Ask) -> f32 {
    // Łukasiewicz adds and subtracts: of `x and not x` the rounding error of x may remain.
    if how.logic.t_norm == TNorm::Lukasiewicz { ROUNDING } else { 0.0 }
}

/// The best of all entities that count as answers.
fn best_answers(scores: &[f32], how: &Ask, keep: impl Fn(EntityId) -> bool) -> Vec<(EntityId, f32)> {
    let rounding = nothing(how);
    // An entity with a truth value of 0 is not an answer; raw scores have no such floor.
    let raw = !how.calibration.is_truth();
    let counts = |entity: EntityId| keep(entity) && (raw || scores[entity.index()] > rounding);
    best(scores, how.top, counts).into_iter().filter(|(_, score)| score.is_finite()).collect()
}
