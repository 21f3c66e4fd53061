//! How much the rules of each relation count beside a model, learned on validation edges.

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::{MiningProgress, MiningStage};
use crate::control::Control;
use crate::graph::{EntityId, Graph, Id, RelationId, Split};
use crate::model::rules::RuleIndex;
use crate::model::{Calibration, Model, Ties, filtered_rank};
use crate::query::{Direction, Hop};
use crate::search::{AtomTruth, Known, Scorer, mix_row};
use crate::train::evaluate::known_tails;
use crate::train::groups::Groups;

/// The weights that are tried: each is half of the one two places further on.
const TRIED: [f32; 12] = [0.0, 0.031, 0.044, 0.062, 0.088, 0.124, 0.176, 0.248, 0.352, 0.496, 0.704, 0.992];
/// How many places half a weight is before it. The weight that ranks single edges best is too large where truth
/// values are multiplied, because there their size counts as well as their order: half of it serves both.
const HALF: usize = 2;
/// Validation questions of a relation in one direction that are looked at.
const QUESTIONS: usize = 200;
/// So many edges of all relations count beside a relation's own, so that a few do not decide.
const BESIDE: f64 = 40.0;
/// Rows that are scored at once.
const BLOCK: usize = 64;

/// The weight of the rules of each relation beside a model: `(1 − w) φ + w ρ`, half of the one with which single
/// edges are ranked best.
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
    /// The weight of every relation where nothing was learned: there are no validation edges, or rules say nothing of
    /// them.
    pub const DEFAULT: f32 = 0.2;

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
    let mut measured = vec![Measured::default(); reciprocals.len()];
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
            let ranked: Vec<Measured> = rows
                .par_chunks_exact(n)
                .zip(block)
                .map(|(row, (head, tails))| {
                    let known = known_tails(graph, reciprocals, *head, id);
                    let sparse = rules.row(*head, id);
                    let mut both = vec![0.0; n];
                    let sums = TRIED.map(|weight| {
                        both.copy_from_slice(row);
                        mix_row(&sparse, weight, &mut both);
                        let rank = |&tail| filtered_rank(&both, tail, &known, Ties::Mean);
                        tails.iter().map(|tail| 1.0 / rank(tail)).sum::<f64>()
                    });
                    Measured { sums, edges: tails.len() as f64, spoke: !sparse.is_empty() }
                })
                .collect();
            for row in &ranked {
                measured[relation].add(row);
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
    chosen(&measured)
}

/// The validation edges of a relation, or of a part of it.
#[derive(Clone, Copy, Default)]
struct Measured {
    /// The sum of 1 / rank with every weight.
    sums: [f64; TRIED.len()],
    /// How many edges.
    edges: f64,
    /// Whether a rule said anything of them.
    spoke: bool,
}

impl Measured {
    fn add(&mut self, other: &Self) {
        self.sums.iter_mut().zip(other.sums).for_each(|(sum, other)| *sum += other);
        self.edges += other.edges;
        self.spoke |= other.spoke;
    }
}

fn chosen(measured: &[Measured]) -> Option<RuleWeights> {
    let mut total = Measured::default();
    for one in measured {
        total.add(one);
    }
    let edges = total.edges;
    if edges <= 0.0 {
        return None;
    }
    let mut with_rules = 0.0;
    let weights = measured.iter().map(|one| {
        if !one.spoke {
            // Nothing speaks against the rules of this relation, and no weight of theirs changes a rank.
            with_rules += one.sums[0];
            return RuleWeights::DEFAULT;
        }
        let value = |at: usize| one.sums[at] + BESIDE / edges * total.sums[at];
        let best =
            (0..TRIED.len()).max_by(|&a, &b| value(a).total_cmp(&value(b)).then(b.cmp(&a))).unwrap_or(0);
        let chosen = best.saturating_sub(HALF);
        with_rules += one.sums[chosen];
        TRIED[chosen]
    });
    let weights = weights.collect();
    Some(RuleWeights { weights, mrr: [total.sums[0] / edges, with_rules / edges], edges: edges as usize })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_that_no_validation_edge_hears_of_keep_the_default_weight() {
        let silent = Measured { sums: [5.0; TRIED.len()], edges: 10.0, spoke: false };
        let mut sums = [4.0; TRIED.len()];
        sums[0] = 9.0;
        let harmful = Measured { sums, edges: 10.0, spoke: true };
        let RuleWeights { weights, mrr, edges } = chosen(&[silent, harmful]).unwrap();
        assert!((weights[0] - RuleWeights::DEFAULT).abs() < 1e-6 && weights[1] <= 0.0, "{weights:?}");
        assert!((mrr[0] - 0.7).abs() < 1e-9 && (mrr[1] - 0.7).abs() < 1e-9 && edges == 20, "{mrr:?}");
        assert_eq!(chosen(&[Measured::default()]), None);
    }
}
