//! A model: its matrices without a copy, and its raw scores.

use std::borrow::Cow;
use std::path::PathBuf;
use std::sync::Arc;

use numpy::ndarray::ArrayView2;
use numpy::{PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray1, PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::exceptions::{PyIndexError, PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use relatum::engine::{ImportOptions, OpenModel};
use relatum::graph::{EntityId, RelationId};
use relatum::import::{self, Matrix, Names, Tables, reciprocal_name};
use relatum::model::Reciprocals;
use relatum::report::Direction;
use serde_json::json;

use crate::arguments::Count;
use crate::engine::Engine;
use crate::errors::json;
use crate::work::brief;

/// A model that is open.
#[pyclass(frozen, module = "relatum._relatum")]
pub(crate) struct Model {
    engine: relatum::Engine,
    open: Arc<OpenModel>,
}

impl Model {
    #[allow(clippy::unnecessary_wraps, reason = "callers hand the result on as it is")]
    pub(crate) fn of(engine: relatum::Engine, open: Arc<OpenModel>) -> PyResult<Self> {
        Ok(Self { engine, open })
    }
}

#[pymethods]
impl Model {
    fn name(&self) -> &str {
        &self.open.name
    }

    fn card(&self) -> PyResult<String> {
        json(&self.open.card)
    }

    fn unfinished(&self) -> Option<&str> {
        self.open.unfinished.as_deref()
    }

    fn is_calibrated(&self) -> bool {
        self.open.model.affine().is_some()
    }

    fn is_fitted(&self) -> bool {
        self.open.model.fitted().is_some()
    }

    /// One row for each entity: a view of the model's own memory, which must not be written to. A model in reduced
    /// precision has no such memory: then it is a copy.
    fn entities<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyArray2<f32>>> {
        let model = &slf.get().open.model;
        let shape = [model.entity_count(), model.predictor().entity_width()];
        match model.entities() {
            Cow::Borrowed(values) => view(slf, values, shape),
            Cow::Owned(values) => {
                let array = PyArray1::from_vec(slf.py(), values).reshape(shape)?;
                array.getattr("flags")?.setattr("writeable", false)?;
                Ok(array)
            }
        }
    }

    /// The same for the relations, including the reciprocal ones.
    fn relations<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyArray2<f32>>> {
        let model = &slf.get().open.model;
        view(slf, model.relations(), [model.relation_count(), model.predictor().relation_width()])
    }

    /// The raw scores of edges, given by ids.
    fn scores<'py>(
        &self,
        py: Python<'py>,
        heads: PyReadonlyArray1<'py, i64>,
        relations: PyReadonlyArray1<'py, i64>,
        tails: PyReadonlyArray1<'py, i64>,
    ) -> PyResult<Bound<'py, PyArray1<f32>>> {
        if heads.len() != relations.len() || heads.len() != tails.len() {
            let message = "heads, relations and tails must have the same length";
            return Err(PyValueError::new_err(message));
        }
        let (heads, relations, tails) = (heads.as_array(), relations.as_array(), tails.as_array());
        let model = &self.open.model;
        let scores: Result<Vec<f32>, String> = brief(py, || {
            let edges = heads.iter().zip(relations).zip(tails);
            let score = |((&head, &relation), &tail): ((&i64, &i64), &i64)| {
                let head = EntityId(id(head, model.entity_count(), "entity")?);
                let relation = RelationId(id(relation, model.relation_count(), "relation")?);
                let tail = EntityId(id(tail, model.entity_count(), "entity")?);
                Ok(model.score(head, relation, tail))
            };
            Ok(edges.map(score).collect())
        })?;
        scores.map(|scores| PyArray1::from_vec(py, scores)).map_err(PyIndexError::new_err)
    }

    /// The raw scores of every entity as the tail of `relation(entity, ?)`, or as the head of `relation(?, entity)`.
    fn row<'py>(
        &self,
        py: Python<'py>,
        entity: i64,
        relation: i64,
        outgoing: bool,
    ) -> PyResult<Bound<'py, PyArray1<f32>>> {
        let (entity, relation) = self.ids(entity, relation)?;
        let model = &self.open.model;
        let scores = brief(py, || {
            let reciprocals = Reciprocals::of(self.engine.graph());
            let read = if outgoing { relation } else { reciprocals.inverse(relation) };
            let mut scores = vec![0.0; model.entity_count()];
            model.scores(&[(entity, read)], &mut scores);
            Ok(scores)
        })?;
        Ok(PyArray1::from_vec(py, scores))
    }

    /// The best entities at the open end of an edge, as JSON.
    fn candidates(
        &self,
        py: Python<'_>,
        entity: i64,
        relation: i64,
        outgoing: bool,
        top: Count,
        new_only: bool,
    ) -> PyResult<String> {
        let pair = self.ids(entity, relation)?;
        let direction = if outgoing { Direction::Outgoing } else { Direction::Incoming };
        let rows = brief(py, || self.engine.candidates(&self.open, pair, direction, top.0, new_only))?;
        let rows = rows.into_iter().map(|it| {
            json!({
                "entity": it.entity.name,
                "label": it.entity.label,
                "score": it.score,
                "stored": it.stored,
            })
        });
        json(&rows.collect::<Vec<_>>())
    }
}

impl Model {
    fn ids(&self, entity: i64, relation: i64) -> PyResult<(EntityId, RelationId)> {
        let (entities, relations) = (self.open.model.entity_count(), self.engine.graph().relations.len());
        let entity = id(entity, entities, "entity").map_err(PyIndexError::new_err)?;
        let relation = id(relation, relations, "relation").map_err(PyIndexError::new_err)?;
        Ok((EntityId(entity), RelationId(relation)))
    }
}

fn id(found: i64, count: usize, what: &str) -> Result<u32, String> {
    let id = u32::try_from(found).ok().filter(|&id| (id as usize) < count);
    id.ok_or_else(|| format!("there is no {what} {found}: ids go from 0 to {}", count.saturating_sub(1)))
}

/// A read-only array over a model's memory. The array keeps the model object alive, and the model its memory.
fn view<'py>(
    model: &Bound<'py, Model>,
    values: &[f32],
    [rows, columns]: [usize; 2],
) -> PyResult<Bound<'py, PyArray2<f32>>> {
    let values = ArrayView2::from_shape((rows, columns), values)
        .map_err(|error| PyRuntimeError::new_err(error.to_string()))?;
    #[allow(unsafe_code, reason = "NumPy has no other way to read memory that is not its own")]
    // SAFETY: the values are those of the `OpenModel` that `model` holds in an `Arc` and never changes; `model` becomes
    // the base of the array, so they outlive it. The array is made read-only before anyone else sees it, because
    // the memory may be mapped from a file that cannot be written to.
    let array = unsafe { PyArray2::borrow_from_array(&values, model.clone().into_any()) };
    array.getattr("flags")?.setattr("writeable", false)?;
    Ok(array)
}

type Array = Py<PyArray2<f32>>;

/// The matrices of a file that another program wrote, and the kind of link predictor, if the file names it.
#[pyfunction]
pub(crate) fn read_tables(py: Python<'_>, files: Vec<PathBuf>) -> PyResult<(Array, Array, Option<String>)> {
    let tables = brief(py, || Ok(import::read_tables(&files)?))?;
    let kind = tables.model.clone().or_else(|| tables.likely.map(str::to_owned));
    let array = |matrix: Matrix| -> PyResult<Array> {
        let array = PyArray1::from_vec(py, matrix.values).reshape([matrix.rows, matrix.columns])?;
        Ok(array.unbind())
    };
    Ok((array(tables.entities)?, array(tables.relations)?, kind))
}

#[pymethods]
impl Engine {
    /// The names of the relation rows of every model of this graph: the graph's relations, then `NAME⁻¹` for those
    /// that have no inverse in the graph.
    fn relation_rows(&self) -> Vec<String> {
        let graph = self.engine.graph();
        let reciprocals = Reciprocals::of(graph);
        let ids = (0..reciprocals.len() as u32).map(RelationId);
        ids.map(|id| reciprocal_name(graph, &reciprocals, id)).collect()
    }

    /// Imports matrices. Rows are matched by their names; without names, they must be in the order of the graph.
    #[pyo3(signature = (entities, relations, entity_names, relation_names, predictor, name, replace, origin))]
    #[allow(clippy::too_many_arguments, reason = "Python hands them over by position, from one place")]
    fn import_arrays(
        &self,
        py: Python<'_>,
        entities: PyReadonlyArray2<'_, f32>,
        relations: PyReadonlyArray2<'_, f32>,
        entity_names: Option<Vec<String>>,
        relation_names: Option<Vec<String>>,
        predictor: String,
        name: Option<String>,
        replace: bool,
        origin: &str,
    ) -> PyResult<String> {
        let matrix = |array: &PyReadonlyArray2<'_, f32>| {
            let view = array.as_array();
            Matrix { rows: view.nrows(), columns: view.ncols(), values: view.iter().copied().collect() }
        };
        let tables = Tables {
            names: Names { entities: entity_names, relations: relation_names },
            ..Tables::bare(matrix(&entities), matrix(&relations))
        };
        let options =
            ImportOptions { model: name, predictor: Some(predictor), replace, ..ImportOptions::default() };
        json(&brief(py, || self.engine.import_tables(tables, &options, origin))?)
    }
}
