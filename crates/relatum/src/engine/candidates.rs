//! The best entities at one end of an edge, by a model's own scores.

use super::{Engine, Error, OpenModel};
use crate::graph::{EntityId, RelationId, Split, Triple};
use crate::model::Reciprocals;
use crate::report::{self, Direction, Entity};
use crate::search::best;

/// An entity at the open end of an edge.
#[derive(Clone, Debug, PartialEq)]
pub struct ScoredEntity {
    /// The entity.
    pub entity: Entity,
    /// The raw score of the edge, before any calibration.
    pub score: f32,
    /// The split that holds the edge; `None` for a prediction.
    pub stored: Option<Split>,
}

impl Engine {
    /// The entities that a model scores best at the open end of an edge: tails of `relation(entity, ?)` where the
    /// direction is outgoing, else heads of `relation(?, entity)`. With `new_only`, those of stored edges are
    /// left out. Scores are not calibrated and no edge is trusted; [`ask`](Self::ask) does both.
    pub fn candidates(
        &self,
        model: &OpenModel,
        (entity, relation): (EntityId, RelationId),
        direction: Direction,
        top: usize,
        new_only: bool,
    ) -> Result<Vec<ScoredEntity>, Error> {
        let graph = self.graph();
        let outgoing = direction == Direction::Outgoing;
        let read = if outgoing { relation } else { Reciprocals::of(graph).inverse(relation) };
        let mut scores = vec![0.0; model.model.entity_count()];
        model.model.scores(&[(entity, read)], &mut scores);
        let stored = |other: EntityId| {
            let (head, tail) = if outgoing { (entity, other) } else { (other, entity) };
            let edge = Triple { head, relation, tail };
            Split::ALL.into_iter().find(|&split| graph.edges(split).contains(edge))
        };
        let ranked = best(&scores, top, |other| !new_only || stored(other).is_none());
        let of = |(id, score)| ScoredEntity { entity: report::entity(graph, id), score, stored: stored(id) };
        Ok(ranked.into_iter().map(of).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::control::Control;
    use crate::engine::TrainOptions;
    use crate::engine::testing::films;
    use crate::train::GivenSettings;

    #[test]
    fn the_best_tails_and_heads_have_the_scores_of_their_edges() {
        let (_dir, engine) = films();
        let settings = GivenSettings { rank: Some(4), epochs: Some(3), ..GivenSettings::default() };
        let options = TrainOptions { settings, ..TrainOptions::default() };
        engine.train(&options, &Control::default()).unwrap();
        let (model, graph) = (engine.model(None).unwrap(), engine.graph());
        let (film, stars) = (graph.entity("Hitch").unwrap(), graph.relation("stars").unwrap());
        let smith = graph.entity("Will Smith").unwrap();
        let tails = engine.candidates(&model, (film, stars), Direction::Outgoing, 99, false).unwrap();
        assert_eq!(tails.len(), graph.entities.len());
        assert!(tails.windows(2).all(|two| two[0].score >= two[1].score));
        let of_smith = tails.iter().find(|it| it.entity.id == smith.0).unwrap();
        assert!((of_smith.score - model.model.score(film, stars, smith)).abs() < 1e-5);
        assert_eq!(of_smith.stored, Some(Split::Train));
        let heads = engine.candidates(&model, (smith, stars), Direction::Incoming, 99, true).unwrap();
        assert!(heads.iter().all(|it| it.stored.is_none() && it.entity.id != film.0));
        let back = Reciprocals::of(graph).inverse(stars);
        let first = EntityId(heads[0].entity.id);
        assert!((heads[0].score - model.model.score(smith, back, first)).abs() < 1e-5);
    }
}
