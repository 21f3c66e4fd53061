//! Link predictors: how likely is it that `relation(head, tail)` is true?
//!
//! Every one of them has the same shape, `s(h, r, t) = ⟨q(h, r), e_t⟩ + b_t`, and that shape is all
//! that training, search and optimisation know of it: see [`LinkPredictor`].

mod affine;
mod calibration;
mod card;
mod complex;
mod cp;
mod distmult;
mod merge;
mod metrics;
mod predictor;
mod reciprocals;
mod root;
mod rotate;
pub mod rules;
mod source;
mod together;
mod transe;

use std::sync::{Arc, OnceLock};

use crate::column::Column;
use crate::graph::{EntityId, Graph, Id, RelationId};
use crate::kernels::{View, dot};
use crate::random::Rng;

pub use affine::Affine;
pub use calibration::Calibration;
pub(crate) use card::VERSION as CARD_VERSION;
pub use card::{Card, CurvePoint, ModelError, StoredModel};
pub use merge::MergeError;
pub(crate) use metrics::filtered_rank;
pub use metrics::{LinkMetrics, Ties};
pub use predictor::{Layout, LinkPredictor};
pub use reciprocals::Reciprocals;
pub use source::{CandidateSource, RowSummary, SortedRow, SourceError};
use together::Together;

type Constructor = fn(usize) -> Arc<dyn LinkPredictor>;

/// Every link predictor there is. A new one is a file of its own and a line here.
const PREDICTORS: [Constructor; 5] = [
    |rank| Arc::new(complex::ComplEx { rank }),
    |rank| Arc::new(distmult::DistMult { rank }),
    |rank| Arc::new(cp::Cp { rank }),
    |rank| Arc::new(rotate::RotatE { rank }),
    |rank| Arc::new(transe::TransE { rank }),
];

/// Predictors whose distance is not squared, as in other programs: for models that are imported.
const ROOTS: [(&str, &str); 2] = [("rotate-norm", "rotate"), ("transe-norm", "transe")];

/// The link predictor of a name, such as `complex`; `None` if there is none. `rotate-norm` and `transe-norm` are
/// those of imported models whose score is the distance and not its square.
pub fn predictor(name: &str, rank: usize) -> Option<Arc<dyn LinkPredictor>> {
    if let Some((name, squared)) = ROOTS.into_iter().find(|(root, _)| *root == name) {
        return predictor(squared, rank).map(|squared| Arc::new(root::Root { name, squared }) as _);
    }
    PREDICTORS.iter().map(|make| make(rank)).find(|predictor| predictor.name() == name)
}

/// The names of the link predictors that can be trained.
pub fn predictor_names() -> impl Iterator<Item = &'static str> {
    PREDICTORS.iter().map(|make| make(1).name())
}

/// A link predictor with its parameters: one row for each entity and one for each relation,
/// reciprocal relations included.
#[derive(Clone, Debug)]
pub struct Model {
    predictor: Arc<dyn LinkPredictor>,
    entities: Column<f32>,
    relations: Column<f32>,
    /// For the adaptive calibration, if it was trained.
    affine: Option<Arc<Affine>>,
    /// Computed when first asked for.
    biases: OnceLock<Option<Vec<f32>>>,
    /// Where questions that are asked at the same moment share a product.
    together: Arc<Together>,
}

impl Model {
    /// A model of given parameters, or `None` if a table is not a whole number of rows.
    pub fn new(
        predictor: Arc<dyn LinkPredictor>,
        entities: impl Into<Column<f32>>,
        relations: impl Into<Column<f32>>,
    ) -> Option<Self> {
        let (entities, relations) = (entities.into(), relations.into());
        let whole = |len: usize, width: usize| width > 0 && len.is_multiple_of(width);
        (whole(entities.len(), predictor.entity_width())
            && whole(relations.len(), predictor.relation_width()))
        .then_some(Self {
            predictor,
            entities,
            relations,
            affine: None,
            biases: OnceLock::new(),
            together: Arc::default(),
        })
    }

    /// An untrained model: N(0, 1) · `scale`, phases uniform on the circle.
    pub fn random(predictor: Arc<dyn LinkPredictor>, graph: &Graph, scale: f32, seed: u64) -> Self {
        let relations = Reciprocals::of(graph).len();
        let entities = initial(
            predictor.entity_layout(),
            graph.entities.len() * predictor.entity_width(),
            scale,
            seed,
            1,
        );
        let relations =
            initial(predictor.relation_layout(), relations * predictor.relation_width(), scale, seed, 2);
        let (entities, relations) = (entities.into(), relations.into());
        Self {
            predictor,
            entities,
            relations,
            affine: None,
            biases: OnceLock::new(),
            together: Arc::default(),
        }
    }

    /// The same model with trained maps for [`Calibration::Adaptive`]; `None` if there are not as many
    /// maps as relations.
    pub fn with_affine(self, affine: Affine) -> Option<Self> {
        (affine.len() == self.relation_count()).then(|| Self { affine: Some(Arc::new(affine)), ..self })
    }

    /// The maps for [`Calibration::Adaptive`], if the model was calibrated.
    pub fn affine(&self) -> Option<&Affine> {
        self.affine.as_deref()
    }

    /// The tables of entities and relations.
    pub(crate) fn into_tables(self) -> (Vec<f32>, Vec<f32>) {
        (self.entities.into_vec(), self.relations.into_vec())
    }

    /// The shape of the model.
    pub fn predictor(&self) -> &Arc<dyn LinkPredictor> {
        &self.predictor
    }

    /// The number of entities.
    pub fn entity_count(&self) -> usize {
        self.entities.len() / self.predictor.entity_width()
    }

    /// The number of relations, reciprocal ones included.
    pub fn relation_count(&self) -> usize {
        self.relations.len() / self.predictor.relation_width()
    }

    /// All entity rows.
    pub fn entities(&self) -> &[f32] {
        &self.entities
    }

    /// All relation rows.
    pub fn relations(&self) -> &[f32] {
        &self.relations
    }

    /// The parameters of an entity.
    ///
    /// # Panics
    /// If the model has no such entity.
    pub fn entity(&self, id: EntityId) -> &[f32] {
        let width = self.predictor.entity_width();
        &self.entities[id.index() * width..][..width]
    }

    /// The parameters of a relation.
    ///
    /// # Panics
    /// If the model has no such relation.
    pub fn relation(&self, id: RelationId) -> &[f32] {
        let width = self.predictor.relation_width();
        &self.relations[id.index() * width..][..width]
    }

    /// The candidate vectors `e_t`, one a row.
    pub fn candidates(&self) -> View<'_> {
        let predictor = &self.predictor;
        View::new(&self.entities, self.entity_count(), predictor.entity_width()).columns(predictor.tail())
    }

    /// `q(h, r)`.
    pub fn query(&self, head: EntityId, relation: RelationId) -> Vec<f32> {
        self.queries(&[(head, relation)])
    }

    /// `s(h, r, t)`.
    pub fn score(&self, head: EntityId, relation: RelationId, tail: EntityId) -> f32 {
        self.score_of(&self.query(head, relation), tail)
    }

    /// The score of a tail for a ready-made query vector.
    pub(crate) fn score_of(&self, query: &[f32], tail: EntityId) -> f32 {
        let tail = &self.entity(tail)[self.predictor.tail()];
        self.predictor.shaped(dot(query, tail) + self.predictor.bias(tail) + self.predictor.offset(query))
    }

    /// The biases `b_t` of all entities, if the predictor has any.
    pub fn biases(&self) -> Option<&[f32]> {
        self.biases.get_or_init(|| biases(&*self.predictor, &self.entities)).as_deref()
    }

    /// The scores of every entity as the tail of each query, one row a query.
    ///
    /// # Panics
    /// If `scores` has not one place for each query and entity.
    pub fn scores(&self, queries: &[(EntityId, RelationId)], scores: &mut [f32]) {
        self.score_rows(&self.queries(queries), scores);
    }

    /// `q(h, r)` of each pair, one after another.
    fn queries(&self, pairs: &[(EntityId, RelationId)]) -> Vec<f32> {
        let width = self.predictor.tail().len();
        let mut rows = vec![0.0; pairs.len() * width];
        for (&(head, relation), row) in pairs.iter().zip(rows.chunks_exact_mut(width)) {
            self.predictor.query(self.entity(head), self.relation(relation), row);
        }
        rows
    }

    /// The scores of some entities as the tail of each query, one row a query.
    ///
    /// # Panics
    /// If `scores` has not one place for each query and tail.
    pub fn scores_at(&self, queries: &[(EntityId, RelationId)], tails: &[EntityId], scores: &mut [f32]) {
        let predictor = &self.predictor;
        let width = predictor.tail().len();
        assert_eq!(scores.len(), queries.len() * tails.len(), "one score for each query and tail");
        if tails.is_empty() {
            return;
        }
        let mut vectors = Vec::with_capacity(tails.len() * width);
        for &tail in tails {
            vectors.extend_from_slice(&self.entity(tail)[predictor.tail()]);
        }
        let rows = self.queries(queries);
        together::multiply(scores, &rows, View::new(&vectors, tails.len(), width));
        if let Some(biases) = self.biases() {
            let biases: Vec<f32> = tails.iter().map(|tail| biases[tail.index()]).collect();
            self.add_biases(scores, &rows, &biases);
        }
    }

    /// The scores of every entity for ready-made query vectors, one after another in `queries`.
    ///
    /// # Panics
    /// If `scores` has not one place for each query and entity.
    pub fn score_rows(&self, queries: &[f32], scores: &mut [f32]) {
        let (width, n) = (self.predictor.tail().len(), self.entity_count());
        let rows = queries.len() / width;
        assert_eq!(scores.len(), rows * n, "one score for each of {rows} queries and {n} entities");
        self.together.multiply(scores, queries, self.candidates());
        if let Some(biases) = self.biases() {
            self.add_biases(scores, queries, biases);
        }
    }

    /// Adds the biases of the tails and the offset of the query to each row of scores, and applies
    /// [`shaped`](LinkPredictor::shaped) to the sums.
    fn add_biases(&self, scores: &mut [f32], queries: &[f32], biases: &[f32]) {
        let queries = queries.chunks_exact(self.predictor.tail().len());
        for (row, query) in scores.chunks_exact_mut(biases.len()).zip(queries) {
            let offset = self.predictor.offset(query);
            for (score, bias) in row.iter_mut().zip(biases) {
                *score = self.predictor.shaped(*score + bias + offset);
            }
        }
    }
}

/// The biases of a table of entity rows, if the predictor has any.
pub(crate) fn biases(predictor: &dyn LinkPredictor, entities: &[f32]) -> Option<Vec<f32>> {
    let tail = predictor.tail();
    predictor.has_bias().then(|| {
        entities
            .chunks_exact(predictor.entity_width())
            .map(|row| predictor.bias(&row[tail.clone()]))
            .collect()
    })
}

fn initial(layout: Layout, len: usize, scale: f32, seed: u64, part: u64) -> Vec<f32> {
    let mut rng = Rng::stream(seed, part);
    let mut draw = || match layout {
        Layout::Real | Layout::Complex => rng.normal() as f32 * scale,
        Layout::Phase => ((2.0 * rng.uniform() - 1.0) * std::f64::consts::PI) as f32,
    };
    (0..len).map(|_| draw()).collect()
}

#[cfg(test)]
mod tests;
