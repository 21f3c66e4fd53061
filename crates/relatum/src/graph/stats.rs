//! Figures of a graph: sizes, degrees, cardinalities.

use std::collections::HashSet;

use super::Graph;
use super::adjacency::{Adjacency, Edges};
use super::ids::{EntityId, Id, RelationId, Split};

/// The figures of a graph. Degrees and cardinalities are those of the training edges.
#[derive(Clone, Debug, PartialEq)]
pub struct Stats {
    /// Entities.
    pub entities: usize,
    /// Relations.
    pub relations: usize,
    /// Edges of train, valid, test.
    pub edges: [usize; 3],
    /// Entities without a training edge.
    pub isolated: usize,
    /// Quantiles of the number of outgoing edges.
    pub out_degree: Quantiles,
    /// Quantiles of the number of incoming edges.
    pub in_degree: Quantiles,
    /// Quantiles of the number of outgoing and incoming edges together.
    pub degree: Quantiles,
    /// The relations, most used first.
    pub by_relation: Vec<RelationStats>,
}

/// A distribution over the entities.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Quantiles {
    /// The mean.
    pub mean: f64,
    /// The values at [`Quantiles::SHARES`].
    pub values: [u64; 7],
}

impl Quantiles {
    /// Minimum, quartiles, tail, maximum.
    pub const SHARES: [f64; 7] = [0.0, 0.25, 0.5, 0.75, 0.9, 0.99, 1.0];

    fn of(mut values: Vec<u64>) -> Self {
        let Some(last) = values.len().checked_sub(1) else {
            return Self::default();
        };
        values.sort_unstable();
        Self {
            mean: values.iter().sum::<u64>() as f64 / values.len() as f64,
            values: Self::SHARES.map(|share| values[(share * last as f64).round() as usize]),
        }
    }
}

/// The figures of one relation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RelationStats {
    /// The relation.
    pub relation: RelationId,
    /// Training edges.
    pub edges: usize,
    /// Distinct heads.
    pub heads: usize,
    /// Distinct tails.
    pub tails: usize,
    /// Its inverse, where the source carries one.
    pub inverse: Option<RelationId>,
}

impl RelationStats {
    /// Mean number of tails that a head has.
    pub fn tails_per_head(&self) -> f64 {
        self.edges as f64 / self.heads.max(1) as f64
    }

    /// Mean number of heads that a tail has.
    pub fn heads_per_tail(&self) -> f64 {
        self.edges as f64 / self.tails.max(1) as f64
    }

    /// `1-1`, `1-N`, `N-1` or `N-N`; a side counts as N from a mean of 1.5 on, as is usual.
    pub fn cardinality(&self) -> &'static str {
        match (self.heads_per_tail() >= 1.5, self.tails_per_head() >= 1.5) {
            (false, false) => "1-1",
            (false, true) => "1-N",
            (true, false) => "N-1",
            (true, true) => "N-N",
        }
    }
}

impl Graph {
    /// Counts everything; reads every training edge once in each direction.
    pub fn stats(&self) -> Stats {
        let train = self.edges(Split::Train);
        let degrees = |adjacency: &Adjacency| -> Vec<u64> {
            self.entities.ids().map(|entity| adjacency.of(entity).len() as u64).collect()
        };
        let (out_degrees, in_degrees) = (degrees(&train.outgoing), degrees(&train.incoming));
        let both: Vec<u64> = out_degrees.iter().zip(&in_degrees).map(|(a, b)| a + b).collect();
        Stats {
            entities: self.entities.len(),
            relations: self.relations.len(),
            edges: Split::ALL.map(|split| self.edges(split).len()),
            isolated: both.iter().filter(|&&degree| degree == 0).count(),
            out_degree: Quantiles::of(out_degrees),
            in_degree: Quantiles::of(in_degrees),
            degree: Quantiles::of(both),
            by_relation: self.relation_stats(train),
        }
    }

    fn relation_stats(&self, train: &Edges) -> Vec<RelationStats> {
        let empty = |relation| RelationStats {
            relation,
            edges: 0,
            heads: 0,
            tails: 0,
            inverse: self.inverses.of(relation),
        };
        let mut stats: Vec<RelationStats> = self.relations.ids().map(empty).collect();
        for (_, relation, arcs) in train.outgoing.groups() {
            if let Some(row) = stats.get_mut(relation.index()) {
                row.edges += arcs.len();
                row.heads += 1;
            }
        }
        for (_, relation, _) in train.incoming.groups() {
            if let Some(row) = stats.get_mut(relation.index()) {
                row.tails += 1;
            }
        }
        stats.sort_by_key(|row| (std::cmp::Reverse(row.edges), row.relation));
        stats
    }

    /// Names in valid or test that no training edge has, so that a model cannot learn anything about them.
    pub fn unseen(&self, split: Split) -> (usize, usize) {
        if self.edges(split).is_empty() {
            return (0, 0);
        }
        let train = self.edges(Split::Train);
        let known =
            |entity: EntityId| !train.outgoing.of(entity).is_empty() || !train.incoming.of(entity).is_empty();
        let trained = train.relation_counts(self.relations.len());
        let mut entities = HashSet::new();
        let mut relations = HashSet::new();
        for triple in self.edges(split).triples() {
            entities.extend([triple.head, triple.tail].into_iter().filter(|&entity| !known(entity)));
            relations.extend(
                Some(triple.relation)
                    .filter(|relation| trained.get(relation.index()).is_none_or(|&count| count == 0)),
            );
        }
        (entities.len(), relations.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::GraphBuilder;

    fn graph() -> Graph {
        let mut builder = GraphBuilder::default();
        for film in ["f1", "f2", "f3"] {
            builder.add(Split::Train, film, "directed_by", "d");
            builder.add(Split::Train, film, "stars", "a");
            builder.add(Split::Train, film, "stars", "b");
        }
        builder.add(Split::Train, "a", "married_to", "b");
        builder.add(Split::Valid, "f1", "reviewed_by", "c");
        builder.finish().0
    }

    #[test]
    fn cardinalities_follow_the_means_of_both_sides() {
        let graph = graph();
        let rows = graph.stats().by_relation;
        let table: Vec<_> = rows
            .iter()
            .map(|row| (graph.relations.name(row.relation), row.edges, row.cardinality()))
            .collect();
        assert_eq!(
            table,
            [
                ("stars", 6, "N-N"),
                ("directed_by", 3, "N-1"),
                ("married_to", 1, "1-1"),
                ("reviewed_by", 0, "1-1")
            ]
        );
    }

    #[test]
    fn degrees_count_training_edges_from_both_ends() {
        let stats = graph().stats();
        assert_eq!((stats.entities, stats.relations, stats.edges, stats.isolated), (7, 4, [10, 1, 0], 1));
        // f1, f2, f3 have 3 edges, d 3, a and b 4, c none.
        assert_eq!(stats.degree.values, [0, 3, 3, 4, 4, 4, 4]);
        assert!((stats.degree.mean - 20.0 / 7.0).abs() < 1e-12);
    }

    #[test]
    fn names_that_training_never_sees_are_counted() {
        assert_eq!(graph().unseen(Split::Valid), (1, 1));
        assert_eq!(graph().unseen(Split::Test), (0, 0));
    }

    #[test]
    fn an_empty_graph_has_figures_too() {
        assert_eq!(Graph::default().stats().degree, Quantiles::default());
    }
}
