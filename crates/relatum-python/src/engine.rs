//! A project, its questions and its names.

use std::path::PathBuf;
use std::sync::mpsc::channel;
use std::time::Instant;

use numpy::{PyArray2, PyArrayMethods};
use pyo3::exceptions::PyIndexError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyString};
use relatum::engine::{Look, Sought};
use relatum::graph::{Dictionary, EntityId, Id, RelationId, Split};
use relatum::query::syntax;
use relatum::report::{self, Direction};

use crate::arguments::{Asking, Count, split};
use crate::errors::{json, raised, wrong};
use crate::model::Model;
use crate::reply::Reply;
use crate::work::{brief, long, short};

/// An open project. `relatum.Engine` and `relatum.Graph` are built on it.
#[pyclass(frozen, module = "relatum._relatum")]
pub(crate) struct Engine {
    pub(crate) engine: relatum::Engine,
}

#[pymethods]
impl Engine {
    #[staticmethod]
    fn open(py: Python<'_>, folder: PathBuf) -> PyResult<Self> {
        brief(py, || relatum::Engine::open(folder)).map(Self::of)
    }

    fn folder(&self) -> PathBuf {
        self.engine.project().dir().to_owned()
    }

    fn copy_to(&self, py: Python<'_>, folder: PathBuf) -> PyResult<Self> {
        long(py, None, |control, _| control, |control| self.engine.copy_to(&folder, control)).map(Self::of)
    }

    #[pyo3(signature = (question, arguments = None))]
    fn ask(&self, py: Python<'_>, question: &str, arguments: Option<&Bound<'_, PyDict>>) -> PyResult<Reply> {
        let asking = Asking::read(arguments)?;
        let work = |control: &_| timed(|| self.engine.ask_within(question, &asking.options, control));
        short(py, |control| asking.within(control), work)
    }

    /// Answers many questions side by side; each result is a reply, or the exception that asking it alone raises.
    #[pyo3(signature = (questions, arguments = None))]
    fn ask_many<'py>(
        &self,
        py: Python<'py>,
        questions: Vec<String>,
        arguments: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyList>> {
        let asking = Asking::read(arguments)?;
        let count = questions.len();
        let replies = long(
            py,
            None,
            |control, _| control,
            |control| {
                let control = &asking.within(control.clone());
                let (sender, waiting) = channel();
                for question in questions {
                    // This cannot fail: the receiver lives until all questions are answered.
                    let _ = sender.send(question);
                }
                drop(sender);
                let mut replies = Vec::with_capacity(count);
                self.engine.ask_many(&waiting, &asking.options, control, |_, reply| replies.push(reply));
                Ok(replies)
            },
        )?;
        let list = PyList::empty(py);
        for reply in replies {
            match reply {
                Ok(reply) => list.append(Bound::new(py, Reply::new(reply, f64::NAN))?)?,
                Err(error) => list.append(raised(py, error).into_value(py))?,
            }
        }
        Ok(list)
    }

    #[pyo3(signature = (question, entity, arguments = None))]
    fn explain(
        &self,
        py: Python<'_>,
        question: &str,
        entity: &str,
        arguments: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Reply> {
        let asking = Asking::read(arguments)?;
        let work = |control: &_| timed(|| self.engine.explain(question, entity, &asking.options, control));
        short(py, |control| asking.within(control), work)
    }

    #[pyo3(signature = (question, arguments = None))]
    fn check(
        &self,
        py: Python<'_>,
        question: &str,
        arguments: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<String> {
        let asking = Asking::read(arguments)?;
        json(&short(py, |control| control, |_| self.engine.check(question, &asking.options))?)
    }

    /// The plan as a tree of text, as JSON and for Graphviz.
    #[pyo3(signature = (question, arguments = None))]
    fn plan(
        &self,
        py: Python<'_>,
        question: &str,
        arguments: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<(String, String, String)> {
        let asking = Asking::read(arguments)?;
        let report = short(
            py,
            |control| control,
            |_| {
                let question = self.engine.question(question, &asking.options)?;
                let plan = self.engine.plan(&question.checked, &asking.options)?;
                Ok(plan.describe(self.engine.graph()))
            },
        )?;
        Ok((report.to_string(), json(&report)?, report.to_dot()))
    }

    /// The most likely edges that the graph does not hold.
    #[pyo3(signature = (relation, about, min_truth, arguments = None))]
    fn predict(
        &self,
        py: Python<'_>,
        relation: Option<String>,
        about: Option<String>,
        min_truth: f32,
        arguments: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<(String, String)> {
        let asking = Asking::read(arguments)?;
        let sought = Sought { relation, about, min_truth };
        let mut edges = Vec::new();
        let found = long(
            py,
            None,
            |control, _| control,
            |control| {
                let control = &asking.within(control.clone());
                self.engine.predict(&sought, &asking.options, control, |edge| edges.push(edge))
            },
        )?;
        Ok((json(&edges)?, json(&found)?))
    }

    fn stats(&self, py: Python<'_>) -> PyResult<String> {
        json(&brief(py, || Ok(self.engine.stats()))?)
    }

    #[pyo3(signature = (name, relation, along, direction, offset, limit))]
    #[allow(clippy::too_many_arguments, reason = "Python hands them over by position, from one place")]
    fn describe(
        &self,
        py: Python<'_>,
        name: &str,
        relation: bool,
        along: Option<String>,
        direction: Option<&str>,
        offset: Count,
        limit: Option<Count>,
    ) -> PyResult<String> {
        let direction = direction.map(read_direction).transpose()?;
        let look = Look { relation, along, direction, offset: offset.0, limit: limit.map(|it| it.0) };
        json(&brief(py, || self.engine.describe(name, &look))?)
    }

    #[pyo3(signature = (text, limit))]
    fn find(&self, py: Python<'_>, text: &str, limit: Option<Count>) -> PyResult<String> {
        json(&brief(py, || Ok(self.engine.find(text, limit.map(|it| it.0))))?)
    }

    fn complete(&self, py: Python<'_>, text: &str) -> PyResult<String> {
        json(&brief(py, || Ok(self.engine.complete(text, text.len())))?)
    }

    fn models(&self, py: Python<'_>) -> PyResult<String> {
        json(&brief(py, || Ok(self.engine.models()))?)
    }

    fn delete_model(&self, py: Python<'_>, name: &str) -> PyResult<()> {
        brief(py, || self.engine.delete(name))
    }

    fn choose_default(&self, py: Python<'_>, name: &str) -> PyResult<()> {
        brief(py, || self.engine.choose_default(name))
    }

    #[pyo3(signature = (name))]
    fn model(&self, py: Python<'_>, name: Option<&str>) -> PyResult<Model> {
        Model::of(self.engine.clone(), brief(py, || self.engine.model(name))?)
    }

    fn reload(&self, py: Python<'_>) -> PyResult<()> {
        brief(py, || self.engine.reload().map(drop))
    }

    fn entity_count(&self) -> usize {
        self.engine.graph().entities.len()
    }

    fn relation_count(&self) -> usize {
        self.engine.graph().relations.len()
    }

    fn edge_counts(&self) -> [usize; 3] {
        Split::ALL.map(|split| self.engine.graph().edges(split).len())
    }

    fn entity_names<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        names(py, &self.engine.graph().entities)
    }

    fn relation_names<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        names(py, &self.engine.graph().relations)
    }

    /// The display labels of all entities that have one, by name.
    fn entity_labels<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        labels(py, &self.engine.graph().entities)
    }

    /// The same for the relations.
    fn relation_labels<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        labels(py, &self.engine.graph().relations)
    }

    fn entity_id(&self, py: Python<'_>, name: &str) -> PyResult<u32> {
        brief(py, || Ok(self.engine.graph().entity(name)?.0))
    }

    fn relation_id(&self, py: Python<'_>, name: &str) -> PyResult<u32> {
        brief(py, || Ok(self.engine.graph().relation(name)?.0))
    }

    fn entity_name(&self, id: Count) -> PyResult<&str> {
        let graph = self.engine.graph();
        check_index(id.0, graph.entities.len(), "entities")?;
        Ok(graph.entities.name(EntityId::from_index(id.0)))
    }

    fn relation_name(&self, id: Count) -> PyResult<&str> {
        let graph = self.engine.graph();
        check_index(id.0, graph.relations.len(), "relations")?;
        Ok(graph.relations.name(RelationId::from_index(id.0)))
    }

    /// The edges of a split as an array of ids: head, relation, tail.
    fn triples<'py>(&self, py: Python<'py>, of: &str) -> PyResult<Bound<'py, PyArray2<u32>>> {
        let edges = self.engine.graph().edges(split(of)?);
        let ids: Vec<u32> = brief(py, || {
            let ids = edges.triples().flat_map(|triple| [triple.head.0, triple.relation.0, triple.tail.0]);
            Ok(ids.collect())
        })?;
        numpy::PyArray1::from_vec(py, ids).reshape([edges.len(), 3])
    }
}

impl Engine {
    pub(crate) fn of(engine: relatum::Engine) -> Self {
        Self { engine }
    }
}

/// A reply with the time that the engine took for it.
fn timed(work: impl FnOnce() -> Result<report::Reply, relatum::Error>) -> Result<Reply, relatum::Error> {
    let start = Instant::now();
    let reply = work()?;
    Ok(Reply::new(reply, start.elapsed().as_secs_f64()))
}

fn names<'py, I: Id>(py: Python<'py>, names: &Dictionary<I>) -> PyResult<Bound<'py, PyList>> {
    PyList::new(py, names.ids().map(|id| names.name(id)).collect::<Vec<_>>())
}

fn labels<'py, I: Id>(py: Python<'py>, names: &Dictionary<I>) -> PyResult<Bound<'py, PyDict>> {
    let labels = PyDict::new(py);
    for id in names.ids() {
        if let Some(label) = names.label(id) {
            labels.set_item(PyString::new(py, names.name(id)), label)?;
        }
    }
    Ok(labels)
}

fn check_index(index: usize, count: usize, what: &str) -> PyResult<()> {
    let wrong = || PyIndexError::new_err(format!("there are {count} {what}, with ids from 0; no {index}"));
    if index < count { Ok(()) } else { Err(wrong()) }
}

fn read_direction(name: &str) -> PyResult<Direction> {
    match name {
        "out" => Ok(Direction::Outgoing),
        "in" => Ok(Direction::Incoming),
        "both" => Ok(Direction::Both),
        _ => Err(wrong(&format!("`direction` must be 'out', 'in' or 'both', not '{name}'"))),
    }
}

/// A name as it is written in a question: bare where that is possible, else in quotes.
#[pyfunction]
pub(crate) fn name_text(name: &str) -> String {
    syntax::name_text(name)
}
