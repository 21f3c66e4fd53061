//! Many queries answered side by side, and the ranks of their hard answers.

use std::collections::BTreeSet;
use std::time::Instant;

use rayon::prelude::*;
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

use super::{BenchmarkError, QueryGroup, Reading, Role, Search, Setting, Template};
use crate::control::Control;
use crate::graph::{EntityId, Graph, Split};
use crate::model::{LinkMetrics, Model, Reciprocals, Ties, filtered_rank};
use crate::plan::{BranchPlan, Plan, PlanOptions};
use crate::query::{Hop, Limits, Term};
use crate::search::beam::Width;
use crate::search::continuous::{Continuous, ContinuousSettings};
use crate::search::{
    Aim, AtomTruth, Evidence, RuleEvidence, Scorer, SearchError, Searcher, SharedRules, Strategy,
};

/// Answers benchmark queries with one model.
pub struct Evaluator<'a> {
    model: &'a Model,
    graph: &'a Graph,
    reciprocals: Reciprocals,
    rules: Option<SharedRules>,
}

/// How far the queries of a type are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueriesDone {
    /// How many are answered.
    pub done: usize,
    /// Of how many.
    pub all: usize,
}

/// The ranks of the hard answers of queries of one type.
#[derive(Clone, Debug, PartialEq)]
pub struct Ranked {
    /// For each query, the filtered rank of each of its hard answers, in their order.
    pub ranks: Vec<Vec<f64>>,
    /// Rows scored for all of them.
    pub rows: usize,
    /// Seconds that answering took.
    pub seconds: f64,
}

impl Ranked {
    /// The metrics as the literature takes them: the mean over the hard answers of a query, then
    /// the mean over queries.
    pub fn metrics(&self) -> LinkMetrics {
        let each: Vec<LinkMetrics> =
            self.ranks.iter().map(|ranks| LinkMetrics::of(ranks.iter().copied())).collect();
        LinkMetrics::mean(&each)
    }
}

/// The hard answers that need the same number of predicted links.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct ByMissing {
    /// How many atoms the training graph lacks, at least, on the way to such an answer.
    pub links: u8,
    /// How many such pairs of query and answer there are.
    pub pairs: usize,
    /// Their metrics: the mean over those of a query, then over queries.
    pub metrics: LinkMetrics,
}

impl Ranked {
    /// The ranks by how many links each hard answer lacks; `missing` has a row for each query.
    pub fn by_missing(&self, missing: &[Vec<Option<u8>>]) -> Vec<ByMissing> {
        let numbers: BTreeSet<u8> = missing.iter().flatten().copied().flatten().collect();
        let of_number = |links: u8| {
            let mut pairs = 0;
            let mut each = Vec::new();
            for (ranks, missing) in self.ranks.iter().zip(missing) {
                let with = ranks.iter().zip(missing).filter(|(_, number)| **number == Some(links));
                let metrics = LinkMetrics::of(with.map(|(rank, _)| *rank));
                pairs += metrics.count;
                if metrics.count > 0 {
                    each.push(metrics);
                }
            }
            ByMissing { links, pairs, metrics: LinkMetrics::mean(&each) }
        };
        numbers.into_iter().map(of_number).collect()
    }
}

impl<'a> Evaluator<'a> {
    /// The model must be one of the graph.
    pub fn new(model: &'a Model, graph: &'a Graph) -> Self {
        Self { model, graph, reciprocals: Reciprocals::of(graph), rules: None }
    }

    /// The same with rules, for settings that take them for evidence.
    #[must_use]
    pub fn with_rules(self, rules: Option<SharedRules>) -> Self {
        Self { rules, ..self }
    }

    /// The rules as a setting takes them for evidence.
    fn evidence(&self, setting: &Setting) -> Result<Option<RuleEvidence<'_>>, BenchmarkError> {
        if setting.evidence == Evidence::Model {
            return Ok(None);
        }
        let rules = self.rules.as_ref().ok_or(BenchmarkError::NoRules)?;
        Ok(Some(RuleEvidence { alone: setting.evidence == Evidence::Rules, ..rules.evidence() }))
    }

    /// Answers the chosen queries of a group; tells `control` of [`QueriesDone`].
    pub fn run(
        &self,
        group: &QueryGroup,
        chosen: &[usize],
        setting: &Setting,
        control: &Control,
    ) -> Result<Ranked, BenchmarkError> {
        if self.model.lacks(setting.calibration) {
            return Err(SearchError::NotCalibrated { calibration: setting.calibration }.into());
        }
        let began = Instant::now();
        let template = match setting.negated {
            Reading::Path => group.template()?,
            Reading::Edge => group.template()?.with_edges_negated(),
        };
        let n = self.graph.entities.len();
        let scorer = Scorer::new(self.model, self.graph, setting.calibration, setting.known)
            .with_unseen(setting.unseen)
            .with_sharpness(setting.sharpness)
            .with_rules(self.evidence(setting)?);
        let mut outcome = Ranked { ranks: Vec::with_capacity(chosen.len()), rows: 0, seconds: 0.0 };
        // As many queries as fill one product with the rows of their anchors, at most 128 MB; and not so
        // many that cancelling would have to wait long.
        let together = (32_000_000 / n.max(1) / template.roles().len().max(1)).clamp(1, 1024);
        let together = if template.query().variables.len() > 1 { together.min(64) } else { together };
        for chunk in chosen.chunks(together) {
            let plans: Vec<Plan> = chunk
                .par_iter()
                .map(|&index| self.plan(&template, group.query(index), setting))
                .collect::<Result<_, _>>()?;
            let truth = Anchored::new(&scorer, &plans);
            let found: Vec<(Vec<f64>, usize)> = plans
                .par_iter()
                .zip(chunk)
                .map(|(plan, &index)| {
                    let (scores, rows) = self.answer(plan, &truth, setting)?;
                    Ok((ranks(&scores, group, index), rows))
                })
                .collect::<Result<_, BenchmarkError>>()?;
            for (ranks, rows) in found {
                outcome.ranks.push(ranks);
                outcome.rows += rows;
            }
            control.report(|| QueriesDone { done: outcome.ranks.len(), all: chosen.len() });
            if control.is_late() {
                return Err(BenchmarkError::Stopped);
            }
        }
        outcome.seconds = began.elapsed().as_secs_f64();
        Ok(outcome)
    }

    /// The score of every entity, and the rows that it took.
    fn answer(
        &self,
        plan: &Plan,
        truth: &dyn AtomTruth,
        setting: &Setting,
    ) -> Result<(Vec<f32>, usize), BenchmarkError> {
        let (logic, control) = (setting.logic(), &Control::default());
        let raw = !setting.calibration.is_truth();
        let search = |width: Width, strategy: Strategy, floor: f32| {
            Searcher::new(plan, truth, logic, width, control, raw)?.run(strategy, Aim::All { floor })
        };
        let found = match setting.search {
            Search::Exact { floor, k } => {
                search(Width { k, paper: false }, Strategy::best_values(plan, k, raw), floor)?
            }
            Search::Beam { k } => search(Width { k, paper: false }, Strategy::Beam, 0.0)?,
            Search::Paper { k } => search(Width { k, paper: true }, Strategy::Beam, 0.0)?,
            Search::Continuous { reg } => {
                let Setting { calibration, known, .. } = *setting;
                let settings = ContinuousSettings {
                    calibration,
                    known,
                    regularization: reg,
                    ..ContinuousSettings::default()
                };
                Continuous::new(plan, self.model, self.graph, logic, settings, control)?.run()?
            }
        };
        Ok((found.scores, found.rows))
    }

    fn plan(
        &self,
        template: &Template,
        arguments: &[u32],
        setting: &Setting,
    ) -> Result<Plan, BenchmarkError> {
        let damaged =
            || BenchmarkError::Query(format!("{arguments:?} are not arguments of a query of this graph"));
        let mut entities = template.roles().iter().zip(arguments).filter(|(role, _)| **role == Role::Entity);
        if entities.any(|(_, &id)| id as usize >= self.graph.entities.len()) {
            return Err(damaged());
        }
        let query = template.fill(arguments, &self.reciprocals).ok_or_else(damaged)?;
        let checked = query.check(Limits::default()).map_err(|errors| {
            let texts: Vec<String> = errors.iter().map(ToString::to_string).collect();
            BenchmarkError::Query(texts.join("; "))
        })?;
        let beam = match setting.search {
            Search::Exact { k, .. } | Search::Beam { k } | Search::Paper { k } => k,
            Search::Continuous { .. } => 1,
        };
        Ok(Plan::new(
            &checked,
            self.graph,
            PlanOptions { beam, union: setting.union, ..PlanOptions::default() },
        ))
    }
}

/// The filtered rank of each hard answer of a query among all entities.
pub(crate) fn ranks(scores: &[f32], group: &QueryGroup, index: usize) -> Vec<f64> {
    let hard = group.hard(index);
    let mut answers = [group.easy(index), hard].concat();
    answers.sort_unstable();
    answers.dedup();
    hard.iter().map(|&answer| filtered_rank(scores, answer, &answers, Ties::Mean)).collect()
}

/// Truth with the rows of all anchors of some plans ready: scored in one product, which is many
/// times faster than one row at a time.
struct Anchored<'a> {
    truth: &'a Scorer<'a>,
    places: FxHashMap<(EntityId, Hop), usize>,
    rows: Vec<f32>,
}

impl<'a> Anchored<'a> {
    fn new(truth: &'a Scorer<'a>, plans: &[Plan]) -> Self {
        let mut places = FxHashMap::default();
        let mut pairs = Vec::new();
        let mut note = |pair: (EntityId, Hop)| {
            places.entry(pair).or_insert_with(|| {
                pairs.push(pair);
                pairs.len() - 1
            });
        };
        for plan in plans {
            for branch in &plan.branches {
                for_each_anchor(branch, &mut note);
            }
        }
        let mut rows = vec![0.0; pairs.len() * truth.entities()];
        truth.pairs(&pairs, &mut rows);
        Self { truth, places, rows }
    }
}

impl AtomTruth for Anchored<'_> {
    fn entities(&self) -> usize {
        self.truth.entities()
    }

    fn pairs(&self, pairs: &[(EntityId, Hop)], rows: &mut [f32]) {
        let n = self.entities();
        let places: Option<Vec<usize>> = pairs.iter().map(|pair| self.places.get(pair).copied()).collect();
        let Some(places) = places else { return self.truth.pairs(pairs, rows) };
        for (place, row) in places.into_iter().zip(rows.chunks_exact_mut(n)) {
            row.copy_from_slice(&self.rows[place * n..][..n]);
        }
    }

    fn known(&self, from: EntityId, hop: Hop, to: EntityId) -> Option<Split> {
        self.truth.known(from, hop, to)
    }

    fn stored(&self, from: EntityId, hop: Hop, to: EntityId) -> Option<Split> {
        self.truth.stored(from, hop, to)
    }

    // Every entity is ranked, in one pass, so neither facts nor bounds would save a row.

    fn facts(&self, _: EntityId, _: Hop, _: &mut dyn FnMut(EntityId)) {}

    fn at_most(&self, _: &[EntityId], _: Hop, _: &[EntityId], _: &mut [f32]) -> bool {
        false
    }

    fn ceiling(&self) -> f32 {
        1.0
    }
}

/// Every anchor of a branch with the hop that leads away from it.
fn for_each_anchor(plan: &BranchPlan, visit: &mut impl FnMut((EntityId, Hop))) {
    for (atom, _) in plan.branch.signed_atoms() {
        for x in atom.variables() {
            if let Some((hop, Term::Entity(anchor))) = atom.towards(x) {
                visit((anchor, hop));
            }
        }
    }
    for nested in &plan.negated {
        for_each_anchor(nested, visit);
    }
}

#[cfg(test)]
mod tests;
