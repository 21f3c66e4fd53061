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
mod fitted;
mod merge;
mod metrics;
mod predictor;
mod reciprocals;
mod root;
mod rotate;
pub mod rules;
mod source;
mod table;
mod together;
mod transe;

use std::borrow::Cow;
use std::sync::{Arc, OnceLock};

use crate::column::Column;
use crate::graph::{EntityId, Graph, Id, RelationId};
use crate::kernels::{dot, to_bytes};
use crate::random::Rng;

pub use affine::Affine;
pub use calibration::Calibration;
pub(crate) use card::VERSION as CARD_VERSION;
pub use card::{Card, CurvePoint, ModelError, StoredModel};
pub use fitted::{Fitted, FittedRow};
pub use merge::MergeError;
pub(crate) use metrics::filtered_rank;
pub use metrics::{LinkMetrics, Ties};
pub use predictor::{Layout, LinkPredictor};
pub use reciprocals::Reciprocals;
pub use source::{BLOCK, CandidateBlock, CandidateSource, PartialRow, RowSummary, SortedRow, SourceError};
use table::Candidates;
pub use table::Precision;
pub(crate) use table::Table;
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
    entities: Table,
    relations: Column<f32>,
    /// For the adaptive calibration, if it was trained.
    affine: Option<Arc<Affine>>,
    /// For the fitted calibration, if it was fitted.
    fitted: Option<Arc<Fitted>>,
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
        Self::of_tables(predictor, Table::F32(entities.into()), relations.into())
    }

    /// The same of a table of any precision.
    pub(crate) fn of_tables(
        predictor: Arc<dyn LinkPredictor>,
        entities: Table,
        relations: Column<f32>,
    ) -> Option<Self> {
        let width = predictor.relation_width();
        let whole =
            entities.is_whole(predictor.entity_width()) && width > 0 && relations.len().is_multiple_of(width);
        whole.then(|| Self {
            predictor,
            entities,
            relations,
            affine: None,
            fitted: None,
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
        Self {
            predictor,
            entities: Table::F32(entities.into()),
            relations: relations.into(),
            affine: None,
            fitted: None,
            biases: OnceLock::new(),
            together: Arc::default(),
        }
    }

    /// The same model with its entities in another precision, calibration included: a model of its own, whose scores
    /// are defined by what it stores. `None` if a value does not fit the precision: it is no number, or too large.
    pub fn rounded(&self, to: Precision) -> Option<Self> {
        let width = self.predictor.entity_width();
        let entities = Table::rounded(&self.entities(), width, to)?;
        let (biases, together) = (OnceLock::new(), Arc::default());
        Some(Self { entities, biases, together, ..self.clone() })
    }

    /// The precision in which entities are stored.
    pub fn precision(&self) -> Precision {
        self.entities.precision()
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

    /// The same model with fitted curves for [`Calibration::Fitted`]; `None` if there are not as many curves as
    /// relations.
    pub fn with_fitted(self, fitted: Fitted) -> Option<Self> {
        (fitted.len() == self.relation_count()).then(|| Self { fitted: Some(Arc::new(fitted)), ..self })
    }

    /// The curves for [`Calibration::Fitted`], if they were fitted.
    pub fn fitted(&self) -> Option<&Fitted> {
        self.fitted.as_deref()
    }

    /// The curve of a row under [`Calibration::Fitted`], whose head has so many tails in training: the one from which
    /// a fit starts if nothing was fitted.
    pub fn fitted_row(&self, relation: RelationId, known_tails: usize) -> FittedRow {
        let fitted = self.fitted().map(|fitted| fitted.row(relation, known_tails));
        fitted.unwrap_or_else(|| FittedRow::unfitted(known_tails))
    }

    /// Whether a calibration needs numbers that were not learned for this model yet.
    pub fn lacks(&self, calibration: Calibration) -> bool {
        match calibration {
            Calibration::Adaptive => self.affine.is_none(),
            Calibration::Fitted => self.fitted.is_none(),
            _ => false,
        }
    }

    /// The tables of entities and relations.
    pub(crate) fn into_tables(self) -> (Vec<f32>, Vec<f32>) {
        let entities = match self.entities {
            Table::F32(values) => values.into_vec(),
            table => {
                let width = self.predictor.entity_width();
                table.rows(0..table.len() / width, width).into_owned()
            }
        };
        (entities, self.relations.into_vec())
    }

    /// The table of entities as it is stored.
    pub(crate) fn table(&self) -> &Table {
        &self.entities
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

    /// All entity rows: those that are stored if they are stored as f32, else a copy in f32.
    pub fn entities(&self) -> Cow<'_, [f32]> {
        self.entities.rows(0..self.entity_count(), self.predictor.entity_width())
    }

    /// All relation rows.
    pub fn relations(&self) -> &[f32] {
        &self.relations
    }

    /// The parameters of an entity.
    ///
    /// # Panics
    /// If the model has no such entity.
    pub fn entity(&self, id: EntityId) -> Cow<'_, [f32]> {
        self.entities.rows(id.index()..id.index() + 1, self.predictor.entity_width())
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
    fn candidates(&self) -> Candidates<'_> {
        self.entities.candidates(self.predictor.entity_width(), self.predictor.tail())
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
        if let Table::F32(_) = self.entities {
            let row = self.entity(tail);
            let tail = &row[self.predictor.tail()];
            let score = dot(query, tail) + self.predictor.bias(tail) + self.predictor.offset(query);
            return self.predictor.shaped(score);
        }
        let mut score = [0.0];
        self.score_some(query, &[tail], &mut score);
        score[0]
    }

    /// The biases `b_t` of all entities, if the predictor has any.
    pub fn biases(&self) -> Option<&[f32]> {
        let bias = |row: usize| {
            let row = self.entities.rows(row..row + 1, self.predictor.entity_width());
            self.predictor.bias(&row[self.predictor.tail()])
        };
        let all = || (0..self.entity_count()).map(bias).collect();
        self.biases.get_or_init(|| self.predictor.has_bias().then(all)).as_deref()
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
            self.predictor.query(&self.entity(head), self.relation(relation), row);
        }
        rows
    }

    /// The scores of some entities as the tail of each query, one row a query.
    ///
    /// # Panics
    /// If `scores` has not one place for each query and tail.
    pub fn scores_at(&self, queries: &[(EntityId, RelationId)], tails: &[EntityId], scores: &mut [f32]) {
        assert_eq!(scores.len(), queries.len() * tails.len(), "one score for each query and tail");
        self.score_some(&self.queries(queries), tails, scores);
    }

    /// The scores of some entities for ready-made query vectors.
    fn score_some(&self, queries: &[f32], tails: &[EntityId], scores: &mut [f32]) {
        if tails.is_empty() {
            return;
        }
        let width = self.predictor.entity_width();
        let some = self.entities.gathered(tails.iter().map(|tail| tail.index()), width);
        together::multiply(scores, queries, some.candidates(width, self.predictor.tail()));
        if let Some(biases) = self.biases() {
            let biases: Vec<f32> = tails.iter().map(|tail| biases[tail.index()]).collect();
            self.add_biases(scores, queries, &biases);
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
            let offset = self.predictor.offset(&self.as_multiplied(query));
            for (score, bias) in row.iter_mut().zip(biases) {
                *score = self.predictor.shaped(*score + bias + offset);
            }
        }
    }
}

impl Model {
    /// The query as products see it: rounded, if entities have 8 bits. A distance measured from another point than
    /// the product's could be negative.
    fn as_multiplied<'q>(&self, query: &'q [f32]) -> Cow<'q, [f32]> {
        if self.precision() != Precision::Int8 {
            return Cow::Borrowed(query);
        }
        let mut bytes = vec![0; query.len()];
        let scale = to_bytes(query, &mut bytes);
        bytes.into_iter().map(|byte| scale * f32::from(byte)).collect()
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
