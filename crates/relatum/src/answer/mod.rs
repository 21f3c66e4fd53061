//! Answers with reasons: a plan is searched, the best entities are ranked, and each is explained by
//! the assignment that makes it an answer.

mod alternatives;
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

pub use crate::symbolic::Ways;
pub use explanation::{Alternative, ExplainedAtom, Explanation};
pub use known::known_answers;
pub use predict::{PredictProgress, Predicted, PredictedEdge, Wanted, predict};
pub use relations::{RankedRelation, relations_between};
pub use score::score_text;
pub use statement::{ClauseReason, JudgedAlternative, JudgedClause, Judgement, judge};
pub use witness::{SubQuery, Witness};

use crate::control::Control;
use crate::graph::{EntityId, Graph, Id};
use crate::logic::TNorm;
use crate::model::{Calibration, Model};
use crate::plan::Plan;
use crate::search::beam::{Beam, Effort, Widened, Width};
use crate::search::continuous::ContinuousSettings;
use crate::search::exact::{Exact, Goal};
use crate::search::{AtomTruth, Certainty, Found, Known, Logic, Scorer, SearchError, best};
use crate::symbolic::{Reason, World, reasons};
use known::Marks;

/// Which search runs the plan.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Method {
    /// Exact where the question is a tree; where it is not, a beam that widens until its answers are
    /// proven or the effort is too large.
    #[default]
    Auto,
    /// Exact search: the same, whatever the effort.
    Exact,
    /// Beam search.
    Beam,
    /// Continuous optimisation.
    Continuous,
}

impl Method {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Auto, Self::Exact, Self::Beam, Self::Continuous];

    /// What a name says.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|method| method.name() == name)
    }

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
#[derive(Clone, Debug)]
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
    /// What predictions are multiplied by that lead to an entity which never stands on that side of the
    /// relation in training: 1 leaves them as they are, 0 leaves them out.
    pub unseen: f32,
    /// Which stored edges are trusted.
    pub known: Known,
    /// How many answers.
    pub top: usize,
    /// Leave out answers that follow from stored edges alone.
    pub new_only: bool,
    /// Ask about this entity alone: whether, and why, it is an answer.
    pub only: Option<EntityId>,
    /// Whether to explain each answer.
    pub explain: bool,
    /// What the search may use up, who stops it, and who hears how far it is.
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
            top: 10,
            new_only: false,
            only: None,
            explain: false,
            control: Control::default(),
        }
    }
}

impl Ask {
    /// The truth of atoms by a model, as these settings want it.
    pub fn scorer<'a>(&self, model: &'a Model, graph: &'a Graph) -> Result<Scorer<'a>, SearchError> {
        if self.calibration == Calibration::Adaptive && model.affine().is_none() {
            return Err(SearchError::NotCalibrated);
        }
        let scorer = Scorer::new(model, graph, self.calibration, self.known);
        Ok(scorer.with_sharpness(self.sharpness).with_unseen(self.unseen))
    }
}

/// How uncertain a score may stay whose place is certain: less than people are shown.
const WITHIN: f32 = 5e-5;
/// What subtracting truth values in single precision may leave of nothing.
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
    /// Whether it follows from stored edges alone, without any prediction. None: time was up before
    /// that was clear.
    pub known: Option<bool>,
    /// In how many ways stored edges alone make it an answer, where they do and that was counted.
    pub ways: Option<Ways>,
    /// Why it is an answer, if that was asked for.
    pub explanation: Option<Explanation>,
}

/// Answers a planned question with a model of the graph.
pub fn ask(plan: &Plan, model: &Model, graph: &Graph, how: &Ask) -> Result<Answers, SearchError> {
    let truth = how.scorer(model, graph)?;
    // Stored answers are marked known even where their edges are not trusted.
    let trusted = if how.known == Known::Ignore { Known::ALL } else { how.known };
    // What is known is looked for first, and must leave time to look for what is not.
    let mut known = Marks::new(known_answers(plan, graph, trusted, &how.control.halved()));
    if how.method == Method::Continuous {
        return relaxed::answer(plan, model, graph, &truth, &known, how);
    }
    let world = World::of(graph, trusted.splits());
    let normal_form = plan.normal_form();
    if facts_decide(plan, how) && !how.new_only && how.only.is_none() {
        known.count_ways(&normal_form, &world);
    }
    let by_edges = |entity, most| reasons(&normal_form, &world, entity, most, &how.control);
    answer(plan, &truth, &known, &by_edges, how)
}

/// Gives at most so many ways in which stored edges alone make an entity an answer.
type ByEdges<'a> = dyn Fn(EntityId, usize) -> Vec<Reason> + 'a;

/// How a plan is searched.
#[derive(Clone, Copy)]
enum Strategy {
    /// By messages, which needs a tree; each projection looks at no more than `most` values.
    Messages { most: Option<usize> },
    /// By a beam as wide as it is asked to be.
    Beam,
    /// By a beam that widens until its answers are proven.
    Widening(Effort),
}

impl Strategy {
    fn choose(plan: &Plan, how: &Ask) -> Result<Self, SearchError> {
        let raw = !how.calibration.is_truth();
        Ok(match how.method {
            Method::Exact if raw => return Err(SearchError::RawScores),
            Method::Exact | Method::Auto if plan.is_tree() && !raw => Self::Messages { most: None },
            Method::Exact => Self::Widening(Effort::All),
            Method::Auto if raw || how.width.paper => Self::Beam,
            Method::Auto => Self::Widening(Effort::Some),
            // On a tree the best values of each variable are at least as good as a beam of assignments, and
            // a bound spares most of their rows.
            Method::Beam if plan.is_tree() && !raw && !how.width.paper => {
                Self::Messages { most: Some(how.width.k) }
            }
            Method::Beam | Method::Continuous => Self::Beam,
        })
    }
}

fn answer(
    plan: &Plan,
    truth: &dyn AtomTruth,
    known: &Marks,
    by_edges: &ByEdges<'_>,
    how: &Ask,
) -> Result<Answers, SearchError> {
    let strategy = Strategy::choose(plan, how)?;
    let raw = !how.calibration.is_truth();
    let mut beam = Beam::new(plan, truth, how.logic, how.width, &how.control, raw)?;
    let facts_decide = facts_decide(plan, how);
    let by_messages = matches!(strategy, Strategy::Messages { .. });
    if facts_decide && !by_messages && !how.new_only && truth.ceiling() < 1.0 {
        // Whatever needs a prediction is worth less than what trusted edges prove.
        let proven = match how.only {
            Some(entity) => (known.of(entity) == Some(true)).then(|| vec![entity]),
            None => known.first(how.top),
        };
        if let Some(top) = proven {
            return proven_by_facts(plan, truth, known, &top, by_edges, &beam, how);
        }
    }
    let keep = |entity: EntityId| is_wanted(known, how, entity);
    let mut exact = None;
    let found = match strategy {
        Strategy::Messages { most } => {
            let search = exact.insert(Exact::new(plan, truth, how.logic, &how.control)?);
            search.run(Goal::Top { count: how.top, keep: &keep, within: WITHIN, most })?
        }
        Strategy::Beam => beam.run()?,
        Strategy::Widening(effort) => {
            beam.widen(&Widened { count: how.top, keep: &keep, within: WITHIN, effort })?
        }
    };
    let Found { mut scores, certainty, rows } = found;
    // A search by messages without a limit has followed every trusted edge itself.
    let by_facts = facts_decide && !matches!(strategy, Strategy::Messages { most: None });
    if facts_decide {
        known.mark(&mut scores);
    }
    let mut top = best_answers(&scores, how, keep);
    if facts_decide && !how.new_only && how.only.is_none() {
        known.reorder(&mut top, how.top);
    }
    // Where alternatives are joined in place, no single one of them carries an answer.
    let in_place = exact.is_some() && plan.joined.is_some();
    let explanations = if how.explain && !in_place {
        let reason = |entity| {
            let is_known = by_facts && known.of(entity) == Some(true);
            if is_known { by_edges(entity, 1).pop() } else { None }
        };
        explanation::explain(plan, truth, how, exact.as_ref(), &beam, &top, &reason)?
    } else {
        Vec::new()
    };
    // An answer that a beam never reached has no assignment to show.
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
            ways: known.ways(entity),
            explanation: explanations.next().flatten().filter(|it| folds(it, score)),
        })
        .collect();
    let method = match (how.method, certainty) {
        (Method::Auto, _) if by_messages => Method::Exact,
        (Method::Auto, Certainty::Exact { .. }) => Method::Exact,
        (Method::Auto, _) => Method::Beam,
        (method, _) => method,
    };
    Ok(Answers { answers, method, certainty, rows })
}

/// Whether every answer that trusted edges alone give is exactly 1, even if a beam never reached it. Not
/// under a negation, which predictions weaken; and in paper mode only what the beam reached counts.
fn facts_decide(plan: &Plan, how: &Ask) -> bool {
    how.calibration.is_truth()
        && !how.width.paper
        && how.known != Known::Ignore
        && !plan.negates()
}

/// Answers that trusted edges alone prove, where they fill all places.
fn proven_by_facts(
    plan: &Plan,
    truth: &dyn AtomTruth,
    known: &Marks,
    top: &[EntityId],
    by_edges: &ByEdges<'_>,
    beam: &Beam<'_>,
    how: &Ask,
) -> Result<Answers, SearchError> {
    let explain = |&entity: &EntityId| {
        let explanation = if how.explain {
            let reasons = by_edges(entity, explanation::ALTERNATIVES + 1);
            explanation::by_facts(plan, truth, how, beam, reasons)?
        } else {
            None
        };
        Ok(Answer { entity, score: 1.0, known: Some(true), ways: known.ways(entity), explanation })
    };
    let answers = top.iter().map(explain).collect::<Result<_, SearchError>>()?;
    let method = if how.method == Method::Auto { Method::Exact } else { how.method };
    Ok(Answers { answers, method, certainty: Certainty::Exact { within: 0.0 }, rows: 0 })
}

/// Whether an entity is asked about.
fn is_wanted(known: &Marks, how: &Ask, entity: EntityId) -> bool {
    how.only.is_none_or(|only| only == entity) && (!how.new_only || known.may_be_new(entity))
}

/// The best of all entities that count as answers.
fn best_answers(scores: &[f32], how: &Ask, keep: impl Fn(EntityId) -> bool) -> Vec<(EntityId, f32)> {
    // Łukasiewicz subtracts: of x and not x it leaves the rounding of x.
    let rounding = if how.logic.t_norm == TNorm::Lukasiewicz { ROUNDING } else { 0.0 };
    // A truth value of 0 is no answer; raw scores have no such floor.
    let raw = !how.calibration.is_truth();
    let counts = |entity: EntityId| keep(entity) && (raw || scores[entity.index()] > rounding);
    best(scores, how.top, counts).into_iter().filter(|(_, score)| score.is_finite()).collect()
}
