//! The truth of atoms: the one thing that a search asks of a model and a graph.

use rayon::prelude::*;

use crate::graph::{EntityId, Graph, Id, RelationId, Split, Triple};
use crate::model::{Calibration, Model, Reciprocals};
use crate::query::{Direction, Hop};

/// How true atoms are. A search knows nothing else of graphs and models.
pub trait AtomTruth: Sync {
    /// How many entities there are.
    fn entities(&self) -> usize;

    /// Writes one row for each entity of `from`: how true it is that the hop leads from it to
    /// each entity.
    fn rows(&self, from: &[EntityId], hop: Hop, rows: &mut [f32]);

    /// The split of the trusted graph that holds the edge, if one does.
    fn known(&self, from: EntityId, hop: Hop, to: EntityId) -> Option<Split>;
}

/// Which edges of the graph count as true.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Known {
    /// Those of the first so many splits, train first, are exactly 1.
    Trust(usize),
    /// None: the predictor alone speaks, as in the paper.
    Ignore,
}

impl Known {
    /// The training graph is trusted, as benchmarks must.
    pub const TRAIN: Self = Self::Trust(1);
    /// Every edge there is, for people who just ask.
    pub const ALL: Self = Self::Trust(3);

    fn splits(self) -> &'static [Split] {
        match self {
            Self::Trust(count) => &Split::ALL[..count.min(3)],
            Self::Ignore => &[],
        }
    }
}

/// Atoms scored by a link predictor, calibrated, with known facts trusted or not.
pub struct Scorer<'a> {
    model: &'a Model,
    graph: &'a Graph,
    reciprocals: Reciprocals,
    calibration: Calibration,
    known: Known,
}

impl<'a> Scorer<'a> {
    /// The model must be one of this graph.
    pub fn new(model: &'a Model, graph: &'a Graph, calibration: Calibration, known: Known) -> Self {
        Self { model, graph, reciprocals: Reciprocals::of(graph), calibration, known }
    }

    /// The relation of the model that reads the hop forwards.
    fn relation(&self, hop: Hop) -> RelationId {
        match hop.direction {
            Direction::Forward => hop.relation,
            Direction::Backward => self.reciprocals.inverse(hop.relation),
        }
    }

    /// The entities that a hop leads to in a split.
    fn neighbours(&self, split: Split, from: EntityId, hop: Hop) -> impl ExactSizeIterator<Item = EntityId> {
        let edges = self.graph.edges(split);
        let adjacency = match hop.direction {
            Direction::Forward => &edges.outgoing,
            Direction::Backward => &edges.incoming,
        };
        adjacency.along(from, hop.relation).iter().map(|arc| arc.neighbour)
    }
}

impl AtomTruth for Scorer<'_> {
    fn entities(&self) -> usize {
        self.model.entity_count()
    }

    fn rows(&self, from: &[EntityId], hop: Hop, rows: &mut [f32]) {
        let relation = self.relation(hop);
        let queries: Vec<(EntityId, RelationId)> = from.iter().map(|&head| (head, relation)).collect();
        self.model.scores(&queries, rows);
        rows.par_chunks_exact_mut(self.entities()).zip(from).for_each(|(row, &head)| {
            let known_tails = self.neighbours(Split::Train, head, hop).len();
            self.calibration.apply(row, known_tails);
            for &split in self.known.splits() {
                for tail in self.neighbours(split, head, hop) {
                    row[tail.index()] = 1.0;
                }
            }
        });
    }

    fn known(&self, from: EntityId, hop: Hop, to: EntityId) -> Option<Split> {
        let (head, tail) = match hop.direction {
            Direction::Forward => (from, to),
            Direction::Backward => (to, from),
        };
        let triple = Triple { head, relation: hop.relation, tail };
        self.known.splits().iter().copied().find(|&split| self.graph.edges(split).contains(triple))
    }
}
