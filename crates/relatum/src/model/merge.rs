//! Several models merged into one.

use std::sync::OnceLock;

use super::{Model, Table, predictor};

/// Why models cannot be merged.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum MergeError {
    /// There is nothing to merge: name at least two models.
    #[error("at least two models are needed to merge, {0} given")]
    Few(usize),
    /// All parts must be link predictors of one kind.
    #[error("models of one kind are needed to merge: one is a {0}, another a {1}")]
    Kinds(&'static str, &'static str),
    /// A distance is not a sum over factors, so such models cannot be merged.
    #[error("the score of `{0}` is a distance, not a sum over factors; merge complex, distmult or cp models")]
    Distance(&'static str),
    /// All parts must be of one graph.
    #[error(
        "models of one graph are needed to merge: one has {0} entities and {1} relations, another {2} and {3}"
    )]
    Graphs(usize, usize, usize, usize),
}

impl Model {
    /// One model whose score is the weighted sum of the parts' scores, `s = Σ wᵢ · sᵢ`.
    ///
    /// A trilinear score is a sum over factors, so models side by side are a model again: the factors of
    /// all parts, the relations' scaled by the weights. Its rank is the sum of the ranks. Models that
    /// were trained apart make different mistakes, so together they mostly rank better than each of them. Calibrations
    /// of the parts are left behind: they belong to the scores that they were learned for.
    pub fn merge(parts: &[(&Self, f32)]) -> Result<Self, MergeError> {
        let [(first, _), others @ ..] = parts else { return Err(MergeError::Few(0)) };
        if others.is_empty() {
            return Err(MergeError::Few(1));
        }
        let name = first.predictor().name();
        let rank = parts.iter().map(|(part, _)| part.predictor().rank()).sum();
        let predictor = predictor(name, rank).filter(|merged| merged.is_trilinear());
        let predictor = predictor.ok_or(MergeError::Distance(name))?;
        for (other, _) in others {
            if other.predictor().name() != name {
                return Err(MergeError::Kinds(name, other.predictor().name()));
            }
            let counts = |model: &Self| (model.entity_count(), model.relation_count());
            let ((e, r), (other_e, other_r)) = (counts(first), counts(other));
            if (e, r) != (other_e, other_r) {
                return Err(MergeError::Graphs(e, r, other_e, other_r));
            }
        }
        let tables: Vec<_> = parts.iter().map(|(part, _)| part.entities()).collect();
        let entities: Vec<Rows<'_>> =
            parts.iter().zip(&tables).map(|((part, _), table)| Rows::new(part, table, 1.0)).collect();
        let relations: Vec<Rows<'_>> =
            parts.iter().map(|(part, weight)| Rows::new(part, part.relations(), *weight)).collect();
        let entities = side_by_side(&entities, first.entity_count());
        let relations = side_by_side(&relations, first.relation_count());
        Ok(Self {
            predictor,
            entities: Table::F32(entities.into()),
            relations: relations.into(),
            affine: None,
            fitted: None,
            biases: OnceLock::new(),
            together: std::sync::Arc::default(),
        })
    }
}

/// The rows of one part, in blocks of as many values as it has factors (real parts, imaginary parts).
struct Rows<'a> {
    values: &'a [f32],
    rank: usize,
    scale: f32,
}

impl<'a> Rows<'a> {
    fn new(model: &Model, values: &'a [f32], scale: f32) -> Self {
        Self { values, rank: model.predictor().rank(), scale }
    }
}

/// Each row: the first blocks of all parts, then their second blocks.
fn side_by_side(parts: &[Rows<'_>], rows: usize) -> Vec<f32> {
    let mut all = Vec::with_capacity(parts.iter().map(|part| part.values.len()).sum());
    for row in 0..rows {
        let width = |part: &Rows<'_>| part.values.len() / rows;
        let blocks = width(&parts[0]) / parts[0].rank;
        for block in 0..blocks {
            for part in parts {
                let start = row * width(part) + block * part.rank;
                all.extend(part.values[start..start + part.rank].iter().map(|value| value * part.scale));
            }
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::{EntityId, Id, RelationId};
    use crate::random::Rng;

    fn model(name: &str, rank: usize, seed: u64) -> Model {
        let predictor = predictor(name, rank).unwrap();
        let mut rng = Rng::new(seed);
        let mut table = |rows: usize, width: usize| -> Vec<f32> {
            (0..rows * width).map(|_| rng.normal() as f32).collect()
        };
        let entities = table(3, predictor.entity_width());
        let relations = table(2, predictor.relation_width());
        Model::new(predictor, entities, relations).unwrap()
    }

    #[test]
    fn the_score_of_a_merged_model_is_the_weighted_sum_of_its_parts() {
        for name in ["complex", "distmult", "cp"] {
            let (a, b, c) = (model(name, 2, 1), model(name, 3, 2), model(name, 1, 3));
            let merged = Model::merge(&[(&a, 0.5), (&b, 0.25), (&c, 2.0)]).unwrap();
            assert_eq!(merged.predictor().rank(), 6);
            for (h, r, t) in [(0, 0, 1), (1, 1, 2), (2, 0, 2)] {
                let (h, r, t) = (EntityId::from_index(h), RelationId::from_index(r), EntityId::from_index(t));
                let sum = 0.5 * a.score(h, r, t) + 0.25 * b.score(h, r, t) + 2.0 * c.score(h, r, t);
                assert!((merged.score(h, r, t) - sum).abs() < 1e-4, "{name}");
            }
        }
    }

    #[test]
    fn what_does_not_belong_together_is_refused() {
        let complex = model("complex", 2, 1);
        let of = |other: &Model| Model::merge(&[(&complex, 1.0), (other, 1.0)]).unwrap_err();
        assert_eq!(of(&model("distmult", 2, 1)), MergeError::Kinds("complex", "distmult"));
        let smaller = Model::new(predictor("complex", 1).unwrap(), vec![0.0; 4], vec![0.0; 4]).unwrap();
        assert_eq!(of(&smaller), MergeError::Graphs(3, 2, 2, 2));
        let (one, two) = (model("rotate", 2, 1), model("rotate", 2, 2));
        assert_eq!(Model::merge(&[(&one, 1.0), (&two, 1.0)]).unwrap_err(), MergeError::Distance("rotate"));
        assert_eq!(Model::merge(&[(&complex, 1.0)]).unwrap_err(), MergeError::Few(1));
    }
}
