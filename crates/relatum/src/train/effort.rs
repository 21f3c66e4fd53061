//! What training costs, counted in operations and not in seconds: the same on every machine and every day.

use super::groups::Groups;
use super::trainer::LONGEST_GROUP;
use super::{Settings, sampled};
use crate::graph::{Graph, Split};
use crate::model::{self, Reciprocals};

/// The sizes of a graph that the cost of training depends on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Effort {
    /// (head, relation) rows of an epoch.
    rows: usize,
    /// Directed triples of an epoch.
    triples: usize,
    entities: usize,
    relations: usize,
    /// (head, relation) pairs of the validation edges.
    pairs: usize,
}

/// A score costs as much as so many factors more: its exponential, and its way to memory and back.
const SCORE: f64 = 16.0;

impl Effort {
    /// The sizes of this graph.
    pub fn of(graph: &Graph) -> Self {
        let reciprocals = Reciprocals::of(graph);
        let groups = Groups::from_triples(reciprocals.directed(graph, Split::Train), LONGEST_GROUP);
        let (_, pairs) = sampled(graph, Split::Valid, usize::MAX);
        let (entities, relations) = (graph.entities.len(), reciprocals.len());
        Self { rows: groups.len(), triples: groups.triples(), entities, relations, pairs }
    }

    /// Operations of one epoch: the three matrix products of every batch, and those of the relation loss.
    pub fn epoch(&self, settings: &Settings) -> f64 {
        let own = settings.batch_size;
        let columns = settings.candidates.map_or(self.entities, |n| n.saturating_add(own).min(self.entities));
        let mut scores = self.rows as f64 * columns as f64;
        if settings.relation_loss > 0.0 {
            scores += self.triples as f64 * self.relations as f64;
        }
        6.0 * scores * (width(settings) + SCORE)
    }

    /// Operations of a validation that ranks at most so many (head, relation) pairs.
    pub fn validation(&self, settings: &Settings, most: usize) -> f64 {
        2.0 * self.pairs.min(most) as f64 * self.entities as f64 * (width(settings) + SCORE)
    }
}

/// Values of an entity that enter a score.
fn width(settings: &Settings) -> f64 {
    model::predictor(&settings.predictor, settings.rank)
        .map_or(settings.rank, |predictor| predictor.tail().len()) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_grows_with_rank_candidates_and_the_relation_loss_alone() {
        let effort = Effort { rows: 1000, triples: 3000, entities: 500, relations: 10, pairs: 90 };
        let base = Settings { rank: 8, batch_size: 10, candidates: Some(100), ..Settings::default() };
        let work = effort.epoch(&base);
        assert!((work - 6.0 * 1000.0 * 110.0 * (16.0 + SCORE)).abs() < 1e-6);
        assert!(effort.epoch(&Settings { rank: 9, ..base.clone() }) > work);
        assert!(effort.epoch(&Settings { candidates: None, ..base.clone() }) > work);
        assert!(effort.epoch(&Settings { relation_loss: 1.0, ..base.clone() }) > work);
        assert!(
            (effort.epoch(&Settings { regularizer_weight: 9.0, seed: 7, ..base.clone() }) - work).abs()
                < 1e-6
        );
        assert!(effort.validation(&base, 10) < effort.validation(&base, 1000));
    }
}
