//! Upper bounds on the truth of single edges, without scoring the rows that would give it exactly.
//!
//! A softmax divides by the sum over all entities. A sum over some of them is smaller, so
//! `c · e^s / Σ some e^s` is an upper bound of the truth. The bound is tight if these entities
//! hold most of the sum: the tails that the head has in the training graph, those that many heads
//! have, and the entities that are asked about. A fitted curve grows with the share, so its value at such a bound is
//! a bound too.

use rayon::prelude::*;
use rustc_hash::FxHashMap;

use super::evidence::RuleEvidence;
use super::truth::Scorer;
use crate::graph::{EntityId, RelationId, Split};
use crate::kernels::{Threads, exp_row, exp_sum, scale_by};
use crate::model::Calibration;
use crate::query::Hop;

/// How many popular tails every head's sum includes.
const POPULAR: usize = 128;
/// How many of a head's own tails its sum includes.
const OWN: usize = 24;
/// Heads whose scores are held at once.
const BLOCK: usize = 512;
/// Heads whose rules are asked at most: of more, rows in falling order of their messages are proof sooner.
const RULE_ROWS: usize = 512;
/// Sums in another order differ in their last digits.
const SLACK: f32 = 1.001;

/// See [`AtomTruth::at_most`](super::AtomTruth::at_most).
pub(super) fn at_most(
    scorer: &Scorer<'_>,
    from: &[EntityId],
    hop: Hop,
    at: &[EntityId],
    bounds: &mut [f32],
) -> bool {
    if scorer.rules.is_some() && from.len() > RULE_ROWS {
        return false;
    }
    bound(scorer, scorer.rules, from, hop, at, bounds)
}

/// The same of what the predictor alone says; all 0 where rules are alone.
pub(super) fn of_predictor(
    scorer: &Scorer<'_>,
    from: &[EntityId],
    hop: Hop,
    at: &[EntityId],
    bounds: &mut [f32],
) -> bool {
    if scorer.rules.is_some_and(|rules| rules.alone) {
        bounds.fill(0.0);
        return true;
    }
    bound(scorer, None, from, hop, at, bounds)
}

fn bound(
    scorer: &Scorer<'_>,
    rules: Option<RuleEvidence<'_>>,
    from: &[EntityId],
    hop: Hop,
    at: &[EntityId],
    bounds: &mut [f32],
) -> bool {
    let summed = match scorer.calibration {
        Calibration::Softmax | Calibration::SoftmaxCount | Calibration::Fitted => true,
        Calibration::Sigmoid | Calibration::Adaptive => false,
        Calibration::MinMax | Calibration::Raw => return false,
    };
    // The row of a rule takes long enough to be worth a task of its own.
    let grain = if rules.is_some() { 1 } else { Threads::here().grain() };
    if rules.is_some_and(|rules| rules.alone) {
        bounds.fill(0.0);
        let places: FxHashMap<EntityId, usize> = at.iter().copied().zip(0..).collect();
        let rows = bounds.par_chunks_exact_mut(at.len().max(1)).zip(from).with_min_len(grain);
        rows.for_each(|(bounds, &head)| mix(scorer, rules, head, hop, &places, bounds));
        return true;
    }
    let mut tails = at.to_vec();
    if summed {
        tails.extend(popular(scorer, from, hop, at));
    }
    let relation = scorer.relation(hop);
    let places: FxHashMap<EntityId, usize> = tails.iter().copied().zip(0..).collect();
    let mut scores = Vec::new();
    for (heads, bounds) in from.chunks(BLOCK).zip(bounds.chunks_mut(BLOCK * at.len().max(1))) {
        let queries: Vec<(EntityId, RelationId)> = heads.iter().map(|&head| (head, relation)).collect();
        scores.resize(heads.len() * tails.len(), 0.0);
        scorer.model.scores_at(&queries, &tails, &mut scores);
        let rows = scores.par_chunks_exact_mut(tails.len()).zip(heads);
        let rows = rows.zip(bounds.par_chunks_exact_mut(at.len())).with_min_len(grain);
        rows.for_each(|((row, &head), bounds)| {
            if summed {
                bound_by_sum(scorer, head, hop, row, &places);
            } else {
                scorer.calibrate(head, hop, row);
            }
            for (bound, value) in bounds.iter_mut().zip(row) {
                *bound = (*value * SLACK).min(1.0);
            }
            mix(scorer, rules, head, hop, &places, bounds);
        });
    }
    true
}

/// Mixes the bounds of a head's predictions with what rules say, and makes trusted edges 1. What rules say is not
/// bounded but exact, and a mixture does not fall where a prediction grows, so a bound stays one.
fn mix(
    scorer: &Scorer<'_>,
    rules: Option<RuleEvidence<'_>>,
    head: EntityId,
    hop: Hop,
    places: &FxHashMap<EntityId, usize>,
    bounds: &mut [f32],
) {
    if let Some((sparse, weight)) = rules.and_then(|rules| rules.row(head, scorer.relation(hop))) {
        scale_by(bounds, 1.0 - weight);
        for (tail, truth) in sparse.iter() {
            if let Some(bound) = places.get(tail).and_then(|&place| bounds.get_mut(place)) {
                *bound = (*bound + weight * truth).min(1.0);
            }
        }
    }
    scorer.facts.facts(head, hop, &mut |tail| {
        if let Some(bound) = places.get(&tail).and_then(|&place| bounds.get_mut(place)) {
            *bound = 1.0;
        }
    });
}

/// Makes a row of scores a row of bounds.
fn bound_by_sum(
    scorer: &Scorer<'_>,
    head: EntityId,
    hop: Hop,
    row: &mut [f32],
    listed: &FxHashMap<EntityId, usize>,
) {
    let neighbours = || scorer.facts.neighbours(Split::Train, head, hop);
    let known = neighbours().len();
    scale_by(row, scorer.sharpness);
    let fitted = scorer.calibration == Calibration::Fitted;
    let (largest, mut sum) = if fitted { exp_sum(row) } else { exp_row(row, None) };
    let query = scorer.model.query(head, scorer.relation(hop));
    for tail in neighbours().filter(|tail| !listed.contains_key(tail)).take(OWN) {
        sum += (scorer.model.score_of(&query, tail) * scorer.sharpness - largest).exp();
    }
    if fitted {
        return scorer.model.fitted_row(scorer.relation(hop), known).apply(row, (largest, sum));
    }
    let counted = scorer.calibration == Calibration::SoftmaxCount;
    scale_by(row, if counted { known.max(1) as f32 / sum } else { 1.0 / sum });
}

/// The tails that most heads have in the training graph, except those that are asked about.
fn popular(scorer: &Scorer<'_>, from: &[EntityId], hop: Hop, at: &[EntityId]) -> Vec<EntityId> {
    let mut times: FxHashMap<EntityId, usize> = FxHashMap::default();
    for &head in from {
        for tail in scorer.facts.neighbours(Split::Train, head, hop).take(OWN) {
            *times.entry(tail).or_default() += 1;
        }
    }
    for x in at {
        times.remove(x);
    }
    let mut tails: Vec<(EntityId, usize)> = times.into_iter().filter(|(_, times)| *times > 1).collect();
    tails.sort_unstable_by_key(|&(tail, times)| (std::cmp::Reverse(times), tail));
    tails.into_iter().take(POPULAR).map(|(tail, _)| tail).collect()
}

#[cfg(test)]
mod tests {
    use super::super::{AtomTruth, Known};
    use super::*;
    use crate::graph::{Graph, GraphBuilder, Id, Triple};
    use crate::model::{Affine, Fitted, Model, predictor};
    use crate::query::Direction;
    use crate::random::Rng;

    fn graph(rng: &mut Rng) -> Graph {
        let mut builder = GraphBuilder::default();
        for entity in 0..300 {
            builder.entity(&format!("e{entity}"));
        }
        for relation in 0..2 {
            builder.relation(&format!("r{relation}"));
        }
        for _ in 0..2500 {
            // Some tails are popular, some heads have many.
            let most = 1 + rng.below(300);
            let (head, tail) = (rng.below(300), rng.below(most));
            builder.add_ids(Split::Train, Triple::new(head as u32, rng.below(2) as u32, tail as u32));
        }
        builder.finish().0
    }

    #[test]
    fn no_edge_is_truer_than_its_bound_and_most_bounds_say_something() {
        let mut rng = Rng::new(5);
        let graph = graph(&mut rng);
        for name in ["complex", "transe"] {
            let model = Model::random(predictor(name, 6).unwrap(), &graph, 0.7, 3);
            let maps: Vec<[f32; 2]> = (0..model.relation_count()).map(|r| [0.5 + r as f32, -0.3]).collect();
            let curves: Vec<[f32; 3]> =
                (0..model.relation_count()).map(|r| [0.7 + 0.5 * r as f32, 0.8, -0.3]).collect();
            let model = model.with_affine(Affine::new(&maps).unwrap()).unwrap();
            let model = model.with_fitted(Fitted::new(&curves).unwrap()).unwrap();
            for calibration in Calibration::ALL {
                for known in [Known::Ignore, Known::TRAIN] {
                    let scorer = Scorer::new(&model, &graph, calibration, known).with_sharpness(0.8);
                    let from: Vec<EntityId> = (0..300).step_by(3).map(EntityId::from_index).collect();
                    let at: Vec<EntityId> = (0..300).step_by(29).map(EntityId::from_index).collect();
                    for direction in [Direction::Forward, Direction::Backward] {
                        let hop = Hop { relation: RelationId(1), direction };
                        let mut bounds = vec![f32::NAN; from.len() * at.len()];
                        if !scorer.at_most(&from, hop, &at, &mut bounds) {
                            assert!(matches!(calibration, Calibration::MinMax | Calibration::Raw));
                            continue;
                        }
                        let mut rows = vec![0.0; from.len() * 300];
                        let pairs: Vec<(EntityId, Hop)> = from.iter().map(|&it| (it, hop)).collect();
                        scorer.pairs(&pairs, &mut rows);
                        let mut telling = 0;
                        for (row, bounds) in rows.chunks_exact(300).zip(bounds.chunks_exact(at.len())) {
                            for (x, &bound) in at.iter().zip(bounds) {
                                assert!(row[x.index()] <= bound, "{name} {calibration} {bound}");
                                telling += usize::from(bound < 0.9);
                            }
                        }
                        assert!(telling > bounds.len() / 3, "{name} {calibration}: {telling}");
                    }
                }
            }
        }
    }
}
