//! Which relations hold between two things.

use crate::control::{Control, Limit};
use crate::graph::{EntityId, Graph, Id, RelationId, Split};
use crate::query::{Direction, Hop};
use crate::search::{AtomTruth, SearchError, block_of};

/// A relation between two things.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RankedRelation {
    /// The relation.
    pub relation: RelationId,
    /// How true it is that it holds.
    pub truth: f32,
    /// The split of the trusted graph that holds the edge.
    pub known: Option<Split>,
    /// The split that holds the edge, trusted or not.
    pub stored: Option<Split>,
}

/// The relations between two things, the truest first, and what stopped the search if something did.
///
/// Each is one row, read from the subject: `φ_r(subject, object)`.
pub fn relations_between(
    truth: &dyn AtomTruth,
    graph: &Graph,
    (subject, object): (EntityId, EntityId),
    control: &Control,
) -> Result<(Vec<RankedRelation>, Option<Limit>), SearchError> {
    let n = truth.entities();
    let all: Vec<(EntityId, Hop)> = graph
        .relations
        .ids()
        .map(|relation| (subject, Hop { relation, direction: Direction::Forward }))
        .collect();
    let (mut ranked, mut rows, mut left) = (Vec::new(), Vec::new(), all.as_slice());
    while !left.is_empty() {
        let size = control.block(ranked.len(), 1, block_of(n)).min(left.len());
        if size == 0 {
            break;
        }
        let (block, rest) = left.split_at(size);
        left = rest;
        rows.resize(block.len() * n, 0.0);
        truth.pairs(block, &mut rows);
        for (&(_, hop), row) in block.iter().zip(rows.chunks_exact(n)) {
            let value = row[object.index()];
            if value.is_nan() {
                return Err(SearchError::NotANumber);
            }
            ranked.push(RankedRelation {
                relation: hop.relation,
                truth: value,
                known: truth.known(subject, hop, object),
                stored: truth.stored(subject, hop, object),
            });
        }
    }
    ranked.sort_by(|a, b| b.truth.total_cmp(&a.truth).then(a.relation.cmp(&b.relation)));
    Ok((ranked, (!left.is_empty()).then(|| control.limit())))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::GraphBuilder;
    use crate::model::{Calibration, Model, predictor};
    use crate::search::{Known, Scorer};

    #[test]
    fn stored_relations_come_first_and_every_truth_is_that_of_its_row() {
        let mut builder = GraphBuilder::default();
        for (head, relation, tail) in
            [("Alien", "stars", "Weaver"), ("Alien", "genre", "Horror"), ("Alien", "made_by", "Scott")]
        {
            builder.add(Split::Train, head, relation, tail);
        }
        let (graph, _) = builder.finish();
        let model = Model::random(predictor("complex", 4).unwrap(), &graph, 0.5, 1);
        let scorer = Scorer::new(&model, &graph, Calibration::SoftmaxCount, Known::ALL);
        let pair = (graph.entity("Alien").unwrap(), graph.entity("Scott").unwrap());
        let (ranked, stopped) = relations_between(&scorer, &graph, pair, &Control::default()).unwrap();
        assert_eq!((ranked.len(), stopped), (3, None));
        assert_eq!(graph.relation_text(ranked[0].relation), "made_by");
        assert_eq!((ranked[0].truth, ranked[0].known), (1.0, Some(Split::Train)));
        assert!(ranked.windows(2).all(|pair| pair[0].truth >= pair[1].truth));
        for it in &ranked {
            let mut row = vec![0.0; graph.entities.len()];
            let hop = Hop { relation: it.relation, direction: Direction::Forward };
            scorer.pairs(&[(pair.0, hop)], &mut row);
            assert!((it.truth - row[pair.1.index()]).abs() < 1e-6);
        }
        let (some, stopped) =
            relations_between(&scorer, &graph, pair, &Control::default().with_rows(1)).unwrap();
        assert_eq!((some.len(), stopped), (1, Some(Limit::Rows)));
    }
}
