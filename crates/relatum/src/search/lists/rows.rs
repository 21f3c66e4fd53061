//! Rows of truth values as lists, and the truth of single edges.

use rustc_hash::{FxHashMap, FxHashSet};

use super::Bounds;
use super::curve::{RowTruth, needs_summary, sharpness, speaks_alone};
use crate::control::{Control, Limit};
use crate::graph::{EntityId, Triple};
use crate::model::{CandidateSource, RowSummary, SortedRow};
use crate::query::Hop;
use crate::search::truth::Scorer;
use crate::search::{AtomTruth, Progress, SearchError};

/// Rows that are asked for at once, between two looks at the limits.
const AT_ONCE: usize = 64;

/// The truest entities of a row.
pub(super) struct Listed {
    /// Entities with their truth, in no particular order.
    pub(super) values: Vec<(EntityId, f32)>,
    /// No other entity is truer.
    pub(super) rest: f32,
}

/// The truth of atoms from a source of candidates, and what was asked of it so far.
pub(super) struct Rows<'a> {
    scorer: &'a Scorer<'a>,
    source: &'a dyn CandidateSource,
    control: Control,
    /// The summaries of rows that were asked for before.
    summaries: FxHashMap<(EntityId, Hop), RowSummary>,
    /// Rows scored.
    pub(super) scored: usize,
    /// The limit that was reached, if one was.
    pub(super) stopped: Option<Limit>,
    /// What the last round proved, for listeners to the progress of the search.
    pub(super) progress: Progress,
}

impl<'a> Rows<'a> {
    pub(super) fn new(scorer: &'a Scorer<'a>, source: &'a dyn CandidateSource, control: &Control) -> Self {
        Self {
            scorer,
            source,
            control: control.clone(),
            summaries: FxHashMap::default(),
            scored: 0,
            stopped: None,
            progress: Progress::default(),
        }
    }

    pub(super) fn entities(&self) -> usize {
        self.source.candidates_of_a_row()
    }

    /// Takes away the limits and returns them: to explain what was found takes a few rows more.
    pub(super) fn without_limits(&mut self) -> Control {
        self.stopped = None;
        let unlimited = self.control.without_limits();
        std::mem::replace(&mut self.control, unlimited)
    }

    /// Puts limits back.
    pub(super) fn limit(&mut self, control: Control, stopped: Option<Limit>) {
        (self.control, self.stopped) = (control, stopped);
    }

    /// Tells listeners how far the search is.
    pub(super) fn report(&self) {
        self.control.report(|| Progress { rows: self.scored, ..self.progress.clone() });
    }

    /// Stops the search if its time is up.
    pub(super) fn is_stopped(&mut self) -> bool {
        if self.stopped.is_none() && self.control.is_late() {
            self.stopped = Some(self.control.limit());
        }
        self.stopped.is_some()
    }

    /// A list of about `depth` entities for each row, one after another; fewer lists if a limit is reached.
    pub(super) fn lists(
        &mut self,
        rows: &[(EntityId, Hop)],
        depth: usize,
    ) -> Result<Vec<Listed>, SearchError> {
        let mut lists = Vec::with_capacity(rows.len());
        let mut left = rows;
        while let Some(block) = self.next_block(&mut left) {
            if speaks_alone(self.scorer) {
                lists.extend(block.iter().filter_map(|&(head, hop)| self.by_rules(head, hop)));
                continue;
            }
            let sorted = self.ask(block, depth)?;
            lists.extend(self.truths_of(block, sorted)?);
        }
        Ok(lists)
    }

    /// The truth of each edge; unknown where a limit was reached.
    pub(super) fn edges(&mut self, edges: &[(EntityId, Hop, EntityId)]) -> Result<Vec<Bounds>, SearchError> {
        self.summarise(edges)?;
        if self.is_stopped() {
            return Ok(edges.iter().map(|&(from, hop, to)| self.known_or_open(from, hop, to)).collect());
        }
        let scores = self.scores(edges)?;
        let mut truths = Vec::with_capacity(edges.len());
        let same_row =
            |a: &(EntityId, Hop, EntityId), b: &(EntityId, Hop, EntityId)| (a.0, a.1) == (b.0, b.1);
        let mut scores = scores.into_iter();
        for row in edges.chunk_by(same_row) {
            let (head, hop, _) = row[0];
            let summary = self.summaries.get(&(head, hop)).copied();
            let curve = RowTruth::new(self.scorer, head, hop, summary);
            for (&(_, _, to), score) in row.iter().zip(scores.by_ref()) {
                truths.push(match &curve {
                    Some(curve) if self.scorer.known(head, hop, to).is_none() => {
                        Bounds::exact(curve.of(to, score))
                    }
                    _ => self.known_or_open(head, hop, to),
                });
            }
        }
        Ok(truths)
    }

    /// How true the predictor alone says an edge is.
    pub(super) fn by_predictor(
        &mut self,
        from: EntityId,
        hop: Hop,
        to: EntityId,
    ) -> Result<f32, SearchError> {
        let edge = [(from, hop, to)];
        self.summarise(&edge)?;
        let score = self.scores(&edge)?;
        let summary = self.summaries.get(&(from, hop)).copied();
        let curve = RowTruth::new(self.scorer, from, hop, summary);
        Ok(curve.zip(score.first()).map_or(0.0, |(curve, &score)| curve.by_predictor(to, score)))
    }

    /// Takes as many rows as the limits allow.
    fn next_block<'v, T>(&mut self, left: &mut &'v [T]) -> Option<&'v [T]> {
        if left.is_empty() || self.stopped.is_some() {
            return None;
        }
        self.report();
        let size = self.control.block(self.scored, 1, AT_ONCE).min(left.len());
        if size == 0 {
            self.stopped = Some(self.control.limit());
            return None;
        }
        let (block, rest) = left.split_at(size);
        *left = rest;
        self.scored += size;
        Some(block)
    }

    /// Sorted access, after which the summaries are known.
    fn ask(&mut self, rows: &[(EntityId, Hop)], depth: usize) -> Result<Vec<SortedRow>, SearchError> {
        let asked: Vec<_> = rows.iter().map(|&(head, hop)| (head, self.scorer.relation(hop))).collect();
        let sorted = self.source.best_candidates(&asked, depth, sharpness(self.scorer))?;
        for (&row, sorted) in rows.iter().zip(&sorted) {
            self.summaries.insert(row, sorted.summary);
        }
        Ok(sorted)
    }

    /// Makes sure that the rows of edges have the summaries that their truth needs.
    fn summarise(&mut self, edges: &[(EntityId, Hop, EntityId)]) -> Result<(), SearchError> {
        if !needs_summary(self.scorer) {
            return Ok(());
        }
        let mut missing: Vec<(EntityId, Hop)> = edges.iter().map(|&(from, hop, _)| (from, hop)).collect();
        missing.retain(|row| !self.summaries.contains_key(row));
        missing.sort_unstable();
        missing.dedup();
        let mut left = missing.as_slice();
        while let Some(block) = self.next_block(&mut left) {
            self.ask(block, 1)?;
        }
        Ok(())
    }

    /// Random access; where rules speak alone, nothing is asked.
    fn scores(&self, edges: &[(EntityId, Hop, EntityId)]) -> Result<Vec<f32>, SearchError> {
        if speaks_alone(self.scorer) {
            return Ok(vec![0.0; edges.len()]);
        }
        let triple = |&(head, hop, tail): &(EntityId, Hop, EntityId)| Triple {
            head,
            relation: self.scorer.relation(hop),
            tail,
        };
        let triples: Vec<Triple> = edges.iter().map(triple).collect();
        Ok(self.source.edge_scores(&triples)?)
    }

    /// Lists of scores as lists of truth values. Trusted edges and those that rules speak of are listed however low
    /// their scores are.
    fn truths_of(
        &self,
        rows: &[(EntityId, Hop)],
        sorted: Vec<SortedRow>,
    ) -> Result<Vec<Listed>, SearchError> {
        let mut unscored = Vec::new();
        let mut lists = Vec::with_capacity(rows.len());
        for (&(head, hop), sorted) in rows.iter().zip(sorted) {
            let Some(curve) = RowTruth::new(self.scorer, head, hop, Some(sorted.summary)) else { continue };
            let facts = self.facts(head, hop);
            let complete = sorted.best.len() >= sorted.summary.entities;
            let rest = sorted.best.last().filter(|_| !complete).map(|&(_, last)| curve.unnamed(last));
            let listed: FxHashSet<EntityId> = sorted.best.iter().map(|&(x, _)| x).collect();
            let spoken_of = curve.rule_tails().filter(|x| !listed.contains(x) && !facts.contains(x));
            unscored.extend(spoken_of.map(|to| (head, hop, to)));
            let others = sorted.best.into_iter().filter(|(x, _)| !facts.contains(x));
            let mut values: Vec<(EntityId, f32)> = others.map(|(x, score)| (x, curve.of(x, score))).collect();
            values.extend(facts.iter().map(|&fact| (fact, 1.0)));
            lists.push((Listed { values, rest: rest.unwrap_or(0.0) }, curve));
        }
        let scores = self.scores(&unscored)?;
        let mut spoken_of = unscored.into_iter().zip(scores).peekable();
        for ((list, curve), &row) in lists.iter_mut().zip(rows) {
            while let Some(((_, _, to), score)) =
                spoken_of.next_if(|((head, hop, _), _)| (*head, *hop) == row)
            {
                list.values.push((to, curve.of(to, score)));
            }
        }
        Ok(lists.into_iter().map(|(list, _)| list).collect())
    }

    /// A row of which only rules and trusted edges say anything.
    fn by_rules(&self, head: EntityId, hop: Hop) -> Option<Listed> {
        let curve = RowTruth::new(self.scorer, head, hop, None)?;
        let facts = self.facts(head, hop);
        let others = curve.rule_tails().filter(|x| !facts.contains(x));
        let mut values: Vec<(EntityId, f32)> = others.map(|x| (x, curve.of(x, 0.0))).collect();
        values.extend(facts.iter().map(|&fact| (fact, 1.0)));
        Some(Listed { values, rest: 0.0 })
    }

    fn facts(&self, head: EntityId, hop: Hop) -> FxHashSet<EntityId> {
        let mut facts = FxHashSet::default();
        self.scorer.facts(head, hop, &mut |fact| {
            facts.insert(fact);
        });
        facts
    }

    fn known_or_open(&self, from: EntityId, hop: Hop, to: EntityId) -> Bounds {
        if self.scorer.known(from, hop, to).is_some() { Bounds::exact(1.0) } else { Bounds::OPEN }
    }
}
