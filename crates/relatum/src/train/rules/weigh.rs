//! How much the rules of each relation count beside a model, learned on validation edges.

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::{MiningProgress, MiningStage};
use crate::control::Control;
use crate::graph::{EntityId, Graph, Id, RelationId, Split};
use crate::model::rules::RuleIndex;
use crate::model::{Calibration, Model, Ties, filtered_rank};
use crate::query::{Direction, Hop};
use crate::search::{AtomTruth, Known, Scorer, joined};
use crate::train::evaluate::known_tails;
use crate::train::groups::Groups;

/// The weights that are tried.
const TRIED: [f32; 9] = [0.0, 0.03, 0.06, 0.12, 0.2, 0.35, 0.55, 0.8, 1.0];
/// Validation questions of a relation in one direction that are looked at.
const QUESTIONS: usize = 200;
/// So many edges of all relations count beside a relation's own, so that a few do not decide.
const BESIDE: f64 = 40.0;
/// Rows that are scored at once.
const BLOCK: usize = 64;

/// The weight of the rules of each relation beside a model: `1 − (1 − φ)(1 − w ρ)`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RuleWeights {
    /// By relation of the model.
    pub weights: Vec<f32>,
    /// The filtered MRR of the validation edges that were looked at: by the model alone, and with rules.
    pub mrr: [f64; 2],
    /// How many edges that were.
    pub edges: usize,
}

impl RuleWeights {
    /// The weight of every relation where nothing was learned.
    pub const DEFAULT: f32 = 0.3;

    /// The same weight for all relations.
    pub fn uniform(relations: usize) -> Self {
        Self { weights: vec![Self::DEFAULT; relations], mrr: [0.0; 2], edges: 0 }
    }
}

/// Learns the weights for a model, with scores calibrated as people ask by default. `None` if it was asked to stop,
/// or there are no validation edges.
pub fn weigh(graph: &Graph, model: &Model, rules: &RuleIndex, control: &Control) -> Option<RuleWeights> {
    let reciprocals = rules.steps().reciprocals();
    let scorer = Scorer::new(model, graph, Calibration::default(), Known::Ignore);
    let valid = Groups::of(graph, Split::Valid, reciprocals);
    let mut of_relation: Vec<Vec<(EntityId, &[EntityId])>> = vec![Vec::new(); reciprocals.len()];
    for group in valid.iter() {
        of_relation[group.relation.index()].push((group.head, valid.tails(group)));
    }
    let n = model.entity_count();
    let mut sums = vec![([0.0f64; TRIED.len()], 0.0f64); reciprocals.len()];
    let all = of_relation.len() as u64;
    for (relation, questions) in of_relation.iter().enumerate() {
        let id = RelationId::from_index(relation);
        let hop = if reciprocals.in_graph(id) {
            Hop { relation: id, direction: Direction::Forward }
        } else {
            Hop { relation: reciprocals.inverse(id), direction: Direction::Backward }
        };
        let step = questions.len().div_ceil(QUESTIONS).max(1);
        let asked: Vec<&(EntityId, &[EntityId])> = questions.iter().step_by(step).collect();
        for block in asked.chunks(BLOCK) {
            if control.is_late() {
                return None;
            }
            let pairs: Vec<(EntityId, Hop)> = block.iter().map(|(head, _)| (*head, hop)).collect();
            let mut rows = vec![0.0; pairs.len() * n];
            scorer.pairs(&pairs, &mut rows);
            let ranked: Vec<([f64; TRIED.len()], f64)> = rows
                .par_chunks_exact(n)
                .zip(block)
                .map(|(row, (head, tails))| {
                    let known = known_tails(graph, reciprocals, *head, id);
                    let sparse = rules.row(*head, id);
                    let mut both = row.to_vec();
                    let sums = TRIED.map(|weight| {
                        for &(tail, truth) in sparse.iter() {
                            both[tail.index()] = joined(row[tail.index()], weight * truth);
                        }
                        let rank = |&tail| filtered_rank(&both, tail, &known, Ties::Mean);
                        tails.iter().map(|tail| 1.0 / rank(tail)).sum::<f64>()
                    });
                    (sums, tails.len() as f64)
                })
                .collect();
            for (reached, count) in ranked {
                sums[relation].0.iter_mut().zip(reached).for_each(|(sum, reached)| *sum += reached);
                sums[relation].1 += count;
            }
        }
        let done = relation as u64 + 1;
        control.report(|| MiningProgress {
            stage: MiningStage::Clusters,
            done,
            all,
            rules: rules.set().len(),
        });
    }
    chosen(&sums)
}

fn chosen(sums: &[([f64; TRIED.len()], f64)]) -> Option<RuleWeights> {
    let mut total = [0.0; TRIED.len()];
    let mut edges = 0.0;
    for (reached, count) in sums {
        total.iter_mut().zip(reached).for_each(|(total, reached)| *total += reached);
        edges += count;
    }
    if edges <= 0.0 {
        return None;
    }
    let mut with_rules = 0.0;
    let weights = sums.iter().map(|(reached, _)| {
        let value = |at: usize| reached[at] + BESIDE / edges * total[at];
        let best =
            (0..TRIED.len()).max_by(|&a, &b| value(a).total_cmp(&value(b)).then(b.cmp(&a))).unwrap_or(0);
        with_rules += reached[best];
        TRIED[best]
    });
    let weights = weights.collect();
    Some(RuleWeights { weights, mrr: [total[0] / edges, with_rules / edges], edges: edges as usize })
}
