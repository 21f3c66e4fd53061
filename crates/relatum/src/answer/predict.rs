//! The most likely edges that the graph does not hold.
//!
//! Scoring every head along every relation would take a row for each pair. Most are not needed: few entities
//! stand where a relation leads, and the sum over them is most of a softmax, so a product with them alone
//! bounds each edge from above (see [`AtomTruth::at_most`]). What rules can add to a row at most is bounded by
//! those that can speak there at all. Rows are then scored in falling order of their bounds, until no bound is left
//! that could lift an edge into the list.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use crate::control::Control;
use crate::graph::{EntityId, Graph, Id, RelationId, Triple};
use crate::query::{Direction, Hop};
use crate::search::{AtomTruth, Certainty, Scorer, SearchError, block_of};

/// Which edges are sought.
#[derive(Clone, Debug)]
pub struct Wanted {
    /// Along these relations; along all if empty.
    pub relations: Vec<RelationId>,
    /// With this entity at one end.
    pub about: Option<EntityId>,
    /// At least so true.
    pub least: f32,
    /// No more than so many.
    pub top: usize,
}

/// An edge that the graph does not hold.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PredictedEdge {
    /// The edge.
    pub edge: Triple,
    /// How true it is.
    pub truth: f32,
    /// From which side it was scored: from its head, or from its tail where the edges of a tail are sought.
    pub read: Direction,
}

/// The result of a search for missing edges.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Predicted {
    /// How many edges were found.
    pub found: usize,
    /// How many of them, from the first on, are proven to be the most likely: all, unless the search was stopped.
    pub proven: usize,
    /// [`Certainty::Exact`], or what stopped the search.
    pub certainty: Certainty,
    /// Rows scored.
    pub rows: usize,
    /// Rows that scoring everything would have taken.
    pub rows_of_all: usize,
}

/// How far a search for missing edges is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PredictProgress {
    /// Rows whose best edge was bounded.
    pub bounded: usize,
    /// Rows that there are.
    pub of: usize,
    /// Rows scored.
    pub rows: usize,
    /// Edges found and proven so far.
    pub found: usize,
}

/// Rows that are scored in the first round; each round scores twice as many, so that few are scored needlessly.
const FIRST: usize = 16;

/// Finds the most likely missing edges, best first; `each` gets every one as soon as it is proven to be the
/// next.
///
/// Both ends are of the kinds that stand there in training ([`Sides`](crate::graph::Sides)); if the scorer gives
/// other kinds a weight above 0 ([`Scorer::with_unseen`]), these are searched too.
pub fn predict(
    scorer: &Scorer<'_>,
    graph: &Graph,
    wanted: &Wanted,
    control: &Control,
    each: &mut dyn FnMut(PredictedEdge),
) -> Result<Predicted, SearchError> {
    if !scorer.bounds_edges() {
        return Err(SearchError::NoBounds { calibration: scorer.calibration() });
    }
    let rows = rows_to_bound(scorer, graph, wanted);
    let mut search = Search {
        scorer,
        graph,
        wanted,
        control,
        each,
        open: BinaryHeap::new(),
        found: BinaryHeap::new(),
        given: 0,
        rows: 0,
        bounded: 0,
        rows_of_all: rows.iter().map(|(_, from)| from.len()).sum(),
    };
    let stopped = search.bound(&rows)? || search.score()?;
    let proven = search.given;
    let mut certainty = Certainty::Exact { within: 0.0 };
    if stopped {
        // The best edges so far are shown, though they are not proven.
        certainty = Certainty::Stopped { by: control.limit() };
        search.give_out(f32::NEG_INFINITY);
    }
    let Search { given, rows, rows_of_all, .. } = search;
    Ok(Predicted { found: given, proven, certainty, rows, rows_of_all })
}

/// The hops along which edges are sought, each with the entities that it is read from.
fn rows_to_bound(scorer: &Scorer<'_>, graph: &Graph, wanted: &Wanted) -> Vec<(Hop, Vec<EntityId>)> {
    // Of a relation and its inverse, one is enough.
    let says_something_new =
        |relation: &RelationId| graph.inverses.of(*relation).is_none_or(|inverse| *relation <= inverse);
    let relations: Vec<RelationId> = if wanted.relations.is_empty() {
        graph.relations.ids().filter(says_something_new).collect()
    } else {
        wanted.relations.clone()
    };
    let hop = |relation, direction| Hop { relation, direction };
    // The entities that a hop can be read from are those that the reversed hop leads to.
    let from = |hop: Hop| -> Vec<EntityId> {
        if scorer.unseen() > 0.0 {
            graph.entities.ids().collect()
        } else {
            scorer.kind(hop.reversed()).iter().collect()
        }
    };
    let directions = match wanted.about {
        None => &[Direction::Forward][..],
        Some(_) => &[Direction::Forward, Direction::Backward],
    };
    let hops = relations.into_iter().flat_map(|r| directions.iter().map(move |d| hop(r, *d)));
    hops.map(|hop| {
        let mut from = from(hop);
        from.retain(|entity| wanted.about.is_none_or(|about| about == *entity));
        (hop, from)
    })
    .filter(|(_, from)| !from.is_empty())
    .collect()
}

/// A loop of an entity is an edge in both directions; it is read forwards, as it is if no entity is named.
fn is_read_forwards(from: EntityId, hop: Hop, to: EntityId) -> bool {
    from == to && hop.direction == Direction::Backward
}

/// A row that may hold an edge worth listing, with the most that it can be worth.
struct Open {
    bound: f32,
    hop: Hop,
    from: EntityId,
}

struct Search<'a, 's> {
    scorer: &'a Scorer<'s>,
    graph: &'a Graph,
    wanted: &'a Wanted,
    control: &'a Control,
    each: &'a mut dyn FnMut(PredictedEdge),
    open: BinaryHeap<Open>,
    /// Scored edges that were not given out yet, the best at the top.
    found: BinaryHeap<Scored>,
    given: usize,
    rows: usize,
    bounded: usize,
    rows_of_all: usize,
}

impl Search<'_, '_> {
    /// Bounds the best edge of every row; returns whether it was stopped.
    fn bound(&mut self, rows: &[(Hop, Vec<EntityId>)]) -> Result<bool, SearchError> {
        for (hop, from) in rows {
            let at = self.candidates(*hop);
            let block = (4_000_000 / at.len().max(1)).clamp(16, 4096);
            for from in from.chunks(block) {
                if self.control.is_late() {
                    return Ok(true);
                }
                let calibration = self.scorer.calibration();
                let bounds = self.scorer.best_missing(from, *hop, &at);
                for (&from, bound) in from.iter().zip(bounds.ok_or(SearchError::NoBounds { calibration })?) {
                    let bound = bound.max(self.elsewhere());
                    if bound >= self.wanted.least && bound > 0.0 {
                        self.open.push(Open { bound, hop: *hop, from });
                    }
                }
                self.bounded += from.len();
                self.report();
            }
        }
        Ok(false)
    }

    /// The entities to which edges along a hop are bounded one by one.
    fn candidates(&self, hop: Hop) -> Vec<EntityId> {
        if self.scorer.unseen() >= 1.0 {
            self.graph.entities.ids().collect()
        } else {
            self.scorer.kind(hop).iter().collect()
        }
    }

    /// The most that an edge to any other entity is worth.
    fn elsewhere(&self) -> f32 {
        let unseen = self.scorer.unseen();
        if unseen >= 1.0 { 0.0 } else { unseen * self.scorer.ceiling() }
    }

    /// Scores rows in falling order of their bounds, and gives out edges that no remaining bound exceeds; returns
    /// whether it was stopped.
    fn score(&mut self) -> Result<bool, SearchError> {
        let n = self.scorer.entities();
        let (mut values, mut most) = (Vec::new(), FIRST);
        loop {
            let highest = self.open.peek().map_or(f32::NEG_INFINITY, |open| open.bound);
            self.give_out(highest);
            if self.given >= self.wanted.top || self.open.is_empty() {
                return Ok(false);
            }
            let size = self.control.block(self.rows, 1, most.min(block_of(n)));
            if size == 0 {
                return Ok(true);
            }
            most = most.saturating_mul(2);
            let block: Vec<Open> = std::iter::from_fn(|| self.open.pop()).take(size).collect();
            let pairs: Vec<(EntityId, Hop)> = block.iter().map(|open| (open.from, open.hop)).collect();
            values.resize(pairs.len() * n, 0.0);
            self.scorer.pairs(&pairs, &mut values);
            self.rows += pairs.len();
            for (&(from, hop), row) in pairs.iter().zip(values.chunks_exact(n)) {
                self.collect(from, hop, row)?;
            }
            self.report();
        }
    }

    /// Takes the edges of a row that are worth listing.
    fn collect(&mut self, from: EntityId, hop: Hop, row: &[f32]) -> Result<(), SearchError> {
        for (x, &truth) in row.iter().enumerate() {
            if truth.is_nan() {
                return Err(SearchError::NotANumber);
            }
            if truth < self.wanted.least || truth <= 0.0 {
                continue;
            }
            let to = EntityId::from_index(x);
            if self.scorer.stored(from, hop, to).is_some() || is_read_forwards(from, hop, to) {
                continue;
            }
            let edge = hop.edge(from, to);
            self.found.push(Scored(PredictedEdge { edge, truth, read: hop.direction }));
        }
        // More than twice as many as are wanted will never be given out.
        let wanted = self.wanted.top - self.given;
        if self.found.len() > wanted.saturating_mul(2).saturating_add(4096) {
            let mut best = std::mem::take(&mut self.found).into_sorted_vec();
            best.reverse();
            best.truncate(wanted);
            self.found = best.into();
        }
        Ok(())
    }

    /// Gives out the edges that are better than any remaining bound. An edge that equals a bound waits, because
    /// of equal edges the one with the smaller ids comes first.
    fn give_out(&mut self, highest: f32) {
        while self.given < self.wanted.top && self.found.peek().is_some_and(|best| best.0.truth > highest) {
            if let Some(Scored(edge)) = self.found.pop() {
                (self.each)(edge);
                self.given += 1;
            }
        }
    }

    fn report(&self) {
        self.control.report(|| PredictProgress {
            bounded: self.bounded,
            of: self.rows_of_all,
            rows: self.rows,
            found: self.given,
        });
    }
}

impl PartialEq for Open {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Open {}

impl PartialOrd for Open {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Open {
    fn cmp(&self, other: &Self) -> Ordering {
        let by_id = (other.hop, other.from).cmp(&(self.hop, self.from));
        self.bound.total_cmp(&other.bound).then(by_id)
    }
}

/// An edge ordered by its truth, then by smaller ids.
struct Scored(PredictedEdge);

impl PartialEq for Scored {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Scored {}

impl PartialOrd for Scored {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Scored {
    fn cmp(&self, other: &Self) -> Ordering {
        let key = |edge: &Triple| (edge.relation, edge.head, edge.tail);
        self.0.truth.total_cmp(&other.0.truth).then_with(|| key(&other.0.edge).cmp(&key(&self.0.edge)))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::graph::{GraphBuilder, Split};
    use crate::model::rules::{Body, Path, Rule, RuleIndex, RuleSet, Steps};
    use crate::model::{Calibration, Model, predictor};
    use crate::random::Rng;
    use crate::search::{Known, RuleEvidence};

    fn graph() -> Graph {
        let mut rng = Rng::new(11);
        let mut builder = GraphBuilder::default();
        for id in 0..60 {
            builder.entity(&format!("e{id}"));
        }
        for id in 0..3 {
            builder.relation(&format!("r{id}"));
        }
        for _ in 0..200 {
            let (relation, split) = (rng.below(3) as u32, Split::ALL[rng.below(3)]);
            // Each relation leads to some entities only.
            let tail = 20 * relation + rng.below(15) as u32;
            builder.add_ids(split, Triple::new(rng.below(60) as u32, relation, tail));
        }
        builder.finish().0
    }

    /// Every edge that is in no split, scored one row after another.
    fn by_brute_force(scorer: &Scorer<'_>, graph: &Graph, wanted: &Wanted) -> Vec<(Triple, f32)> {
        let mut all = Vec::new();
        for (hop, from) in rows_to_bound(scorer, graph, wanted) {
            for from in from {
                let mut row = vec![0.0; graph.entities.len()];
                scorer.pairs(&[(from, hop)], &mut row);
                for (x, truth) in row.into_iter().enumerate() {
                    let to = EntityId::from_index(x);
                    let edge = hop.edge(from, to);
                    let stored = Split::ALL.iter().any(|&split| graph.edges(split).contains(edge));
                    if !stored && truth >= wanted.least && truth > 0.0 {
                        all.push((edge, truth));
                    }
                }
            }
        }
        // A loop of the entity that is asked about comes in both directions; the first is the forward one.
        let mut met = std::collections::HashSet::new();
        all.retain(|(edge, _)| met.insert((edge.relation, edge.head, edge.tail)));
        let key = |edge: &Triple| (edge.relation, edge.head, edge.tail);
        all.sort_by(|a, b| b.1.total_cmp(&a.1).then_with(|| key(&a.0).cmp(&key(&b.0))));
        all.truncate(wanted.top);
        all
    }

    #[test]
    fn the_most_likely_missing_edges_are_those_of_scoring_everything() {
        let graph = graph();
        let model = Model::random(predictor("complex", 6).unwrap(), &graph, 0.9, 3);
        let everything = Wanted { relations: Vec::new(), about: None, least: 0.0, top: 25 };
        for calibration in
            [Calibration::SoftmaxCount, Calibration::Fitted, Calibration::Softmax, Calibration::Sigmoid]
        {
            for unseen in [0.0, 0.2, 1.0] {
                let scorer = Scorer::new(&model, &graph, calibration, Known::ALL).with_unseen(unseen);
                for wanted in [
                    everything.clone(),
                    Wanted { relations: vec![RelationId(1)], ..everything.clone() },
                    Wanted { about: Some(EntityId(22)), ..everything.clone() },
                    Wanted { about: Some(EntityId(22)), top: usize::MAX, ..everything.clone() },
                    Wanted { least: 0.3, top: usize::MAX, ..everything.clone() },
                ] {
                    let mut found = Vec::new();
                    let outcome = predict(&scorer, &graph, &wanted, &Control::default(), &mut |edge| {
                        found.push((edge.edge, edge.truth));
                    });
                    let outcome = outcome.unwrap();
                    assert_eq!(outcome.certainty, Certainty::Exact { within: 0.0 });
                    assert_eq!(outcome.found, found.len());
                    let expected = by_brute_force(&scorer, &graph, &wanted);
                    assert_eq!(found.len(), expected.len(), "{calibration} {unseen} {wanted:?}");
                    for ((edge, truth), (expected, by_itself)) in found.iter().zip(&expected) {
                        // A product of many rows rounds differently from a product of one.
                        assert!((truth - by_itself).abs() < 1e-5, "{calibration} {unseen} {wanted:?}");
                        assert_eq!(edge, expected, "{calibration} {unseen} {wanted:?}");
                    }
                }
            }
        }
    }

    #[test]
    fn with_rules_too_they_are_those_of_scoring_everything() {
        let graph = graph();
        let model = Model::random(predictor("complex", 6).unwrap(), &graph, 0.9, 3);
        let mut rng = Rng::new(4);
        let mut relation = || RelationId(rng.below(6) as u32);
        let mut rules = Vec::new();
        for place in 0..60u32 {
            let path = Path::new(&[relation(), relation()][..=(place as usize % 2)]).unwrap();
            rules.push(Rule::counted(relation(), Body::Path(path), 100, place));
            let named = Body::Edge { object: EntityId(place), relation: relation(), to: EntityId(place / 2) };
            rules.push(Rule::counted(relation(), named, 100, 60 - place));
        }
        let steps = Arc::new(Steps::of(&graph));
        let index = RuleIndex::new(Arc::clone(&steps), RuleSet::new(rules));
        let mut telling = 0;
        for (head, relation) in (0..60).flat_map(|head| (0..6).map(move |r| (EntityId(head), RelationId(r))))
        {
            let most = index.at_most(head, relation);
            assert!(
                index.row(head, relation).iter().all(|(_, truth)| *truth <= most),
                "{head:?} {relation:?}"
            );
            telling += usize::from(most < 0.5);
        }
        assert!(telling > 30, "some heads fulfil few rules: {telling}");
        let everything = Wanted { relations: Vec::new(), about: None, least: 0.0, top: 25 };
        for (alone, weight) in [(false, 0.3), (false, 1.0), (true, 1.0)] {
            let evidence = RuleEvidence { rules: &index, weights: &[weight; 6], alone };
            let scorer = Scorer::new(&model, &graph, Calibration::SoftmaxCount, Known::ALL);
            let scorer = scorer.with_unseen(0.0).with_rules(Some(evidence));
            for wanted in [
                everything.clone(),
                Wanted { about: Some(EntityId(22)), ..everything.clone() },
                Wanted { least: 0.3, top: usize::MAX, ..everything.clone() },
                Wanted { top: 3, ..everything.clone() },
            ] {
                let mut found = Vec::new();
                let outcome = predict(&scorer, &graph, &wanted, &Control::default(), &mut |edge| {
                    found.push((edge.edge, edge.truth));
                });
                outcome.unwrap();
                let expected = by_brute_force(&scorer, &graph, &wanted);
                assert_eq!(found.len(), expected.len(), "{alone} {weight} {wanted:?}");
                for ((edge, truth), (expected, by_itself)) in found.iter().zip(&expected) {
                    assert!((truth - by_itself).abs() < 1e-5, "{alone} {weight} {wanted:?}");
                    assert_eq!(edge, expected, "{alone} {weight} {wanted:?}");
                }
            }
        }
    }

    #[test]
    fn bounds_save_rows_even_with_an_untrained_model() {
        let graph = graph();
        let model = Model::random(predictor("complex", 6).unwrap(), &graph, 0.9, 3);
        let scorer = Scorer::new(&model, &graph, Calibration::SoftmaxCount, Known::ALL).with_unseen(0.0);
        let wanted = Wanted { relations: Vec::new(), about: None, least: 0.6, top: 3 };
        let outcome = predict(&scorer, &graph, &wanted, &Control::default(), &mut |_| {}).unwrap();
        assert!(outcome.rows * 3 < outcome.rows_of_all * 2, "{outcome:?}");
    }

    #[test]
    fn a_limit_ends_the_search_with_what_is_proven() {
        let graph = graph();
        let model = Model::random(predictor("complex", 6).unwrap(), &graph, 0.9, 3);
        let scorer = Scorer::new(&model, &graph, Calibration::SoftmaxCount, Known::ALL);
        let wanted = Wanted { relations: Vec::new(), about: None, least: 0.0, top: usize::MAX };
        let run = |control: Control| {
            let mut found = Vec::new();
            let outcome = predict(&scorer, &graph, &wanted, &control, &mut |edge| found.push(edge)).unwrap();
            (outcome, found)
        };
        let (outcome, some) = run(Control::default().with_rows(7));
        assert!(outcome.rows <= 7 && matches!(outcome.certainty, Certainty::Stopped { .. }));
        let (_, all) = run(Control::default());
        assert_eq!(some[..outcome.proven], all[..outcome.proven], "proven edges stay the best");
        assert!(outcome.found > outcome.proven, "unproven edges are shown too");
        let raw = Scorer::new(&model, &graph, Calibration::Raw, Known::Ignore);
        let refused = predict(&raw, &graph, &wanted, &Control::default(), &mut |_| {});
        assert_eq!(refused, Err(SearchError::NoBounds { calibration: Calibration::Raw }));
    }
}
