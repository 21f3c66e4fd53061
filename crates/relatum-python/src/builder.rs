//! Makes graphs from Python's own data, and from files.

use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use numpy::PyReadonlyArray2;
use pyo3::exceptions::{PyRuntimeError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};
use relatum::control::Control;
use relatum::engine::{Made, Making, Sources};
use relatum::graph::{self, EntityId, RelationId, Shares, Split, Triple};
use relatum::import::read::{Format, Header, ReadOptions};
use serde::Deserialize;
use serde_json::json;

use crate::arguments::split;
use crate::engine::Engine;
use crate::errors::{bad_data, options, wrong};
use crate::work::long;

/// Collects triples until a project is made from them.
#[pyclass(frozen, module = "relatum._relatum")]
pub(crate) struct GraphBuilder {
    builder: Mutex<Option<graph::GraphBuilder>>,
}

/// After how many triples Python is asked for signals.
const CHUNK: usize = 1 << 16;

#[pymethods]
impl GraphBuilder {
    #[new]
    fn new() -> Self {
        Self::of(graph::GraphBuilder::default())
    }

    /// Adds triples of names, from anything that can be iterated over.
    fn add(&self, py: Python<'_>, of: &str, triples: &Bound<'_, PyAny>) -> PyResult<()> {
        let split = split(of)?;
        for (row, triple) in triples.try_iter()?.enumerate() {
            let triple = triple?;
            if row % CHUNK == CHUNK - 1 {
                py.check_signals()?;
            }
            // A str of three letters would pass for a sequence of three names.
            if triple.is_instance_of::<PyString>() {
                return Err(not_a_triple(row, &triple));
            }
            let fields: Vec<Bound<'_, PyAny>> = triple.extract().map_err(|_| not_a_triple(row, &triple))?;
            let [head, relation, tail] = &fields[..] else { return Err(not_a_triple(row, &triple)) };
            let [head, relation, tail] = [name(row, head)?, name(row, relation)?, name(row, tail)?];
            self.with(|builder| builder.add(split, head, relation, tail))?;
        }
        Ok(())
    }

    /// Gives the first entities and relations these names, in this order, so that ids can be added.
    fn add_names(&self, entities: Vec<String>, relations: Vec<String>) -> PyResult<()> {
        self.with(|builder| {
            for entity in &entities {
                builder.entity(entity);
            }
            for relation in &relations {
                builder.relation(relation);
            }
            let unique = builder.entities() == entities.len() && builder.relations() == relations.len();
            let message = "names must be distinct, and added before anything else";
            if unique { Ok(()) } else { Err(bad_data(message)) }
        })?
    }

    /// Adds triples of ids: rows of head, relation, tail.
    fn add_ids(&self, py: Python<'_>, of: &str, triples: PyReadonlyArray2<'_, i64>) -> PyResult<()> {
        let split = split(of)?;
        let array = triples.as_array();
        if array.ncols() != 3 {
            let message =
                format!("expected rows of head, relation and tail; found {} columns", array.ncols());
            return Err(bad_data(&message));
        }
        py.detach(|| {
            self.with(|builder| {
                let (entities, relations) = (builder.entities(), builder.relations());
                for (row, ids) in array.rows().into_iter().enumerate() {
                    let id = |column: usize, count: usize, what| {
                        let found = ids[column];
                        u32::try_from(found).ok().filter(|&id| (id as usize) < count).ok_or_else(|| {
                            let message = format!(
                                "row {row} has the {what} {found}, but there are {count}, counted from 0"
                            );
                            bad_data(&message)
                        })
                    };
                    let triple = Triple {
                        head: EntityId(id(0, entities, "head")?),
                        relation: RelationId(id(1, relations, "relation")?),
                        tail: EntityId(id(2, entities, "tail")?),
                    };
                    builder.add_ids(split, triple);
                }
                Ok(())
            })?
        })
    }

    /// Gives entities and relations their display labels, by name; an unknown name is an error.
    fn add_labels(&self, entities: &Bound<'_, PyDict>, relations: &Bound<'_, PyDict>) -> PyResult<()> {
        let unknown = |kind: &str, name: &str| {
            bad_data(&format!("a label is given to {name:?}, but the graph has no such {kind}"))
        };
        for (name, label) in entities {
            let (name, label) = (text(&name)?, text(&label)?);
            let given = |builder: &mut graph::GraphBuilder| {
                builder.find_entity(name).map(|id| builder.label_entity(id, label))
            };
            self.with(given)?.ok_or_else(|| unknown("entity", name))?;
        }
        for (name, label) in relations {
            let (name, label) = (text(&name)?, text(&label)?);
            let given = |builder: &mut graph::GraphBuilder| {
                builder.find_relation(name).map(|id| builder.label_relation(id, label))
            };
            self.with(given)?.ok_or_else(|| unknown("relation", name))?;
        }
        Ok(())
    }

    /// Makes a project from the triples; the builder is empty afterwards.
    #[pyo3(signature = (folder, hold_out, seed, source))]
    fn finish(
        &self,
        py: Python<'_>,
        folder: PathBuf,
        hold_out: Option<&str>,
        seed: u64,
        source: &str,
    ) -> PyResult<(Engine, String)> {
        let hold_out = hold_out.map(shares).transpose()?.map(|shares| (shares, seed));
        let taken = self.builder.lock().unwrap_or_else(PoisonError::into_inner).take();
        let builder = taken.ok_or_else(used_up)?;
        let work =
            |control: &Control| relatum::Engine::create_of(&folder, builder, hold_out, source, control);
        let (engine, made) = long(py, None, |control, _| control, work)?;
        Ok((Engine::of(engine), report(&made)))
    }
}

impl GraphBuilder {
    fn of(builder: graph::GraphBuilder) -> Self {
        Self { builder: Mutex::new(Some(builder)) }
    }

    fn with<T>(&self, work: impl FnOnce(&mut graph::GraphBuilder) -> T) -> PyResult<T> {
        let mut builder = self.builder.lock().unwrap_or_else(PoisonError::into_inner);
        builder.as_mut().map(work).ok_or_else(used_up)
    }
}

fn used_up() -> PyErr {
    PyRuntimeError::new_err("a graph was made from this builder already: take a new one")
}

fn shares(text: &str) -> PyResult<Shares> {
    text.parse().map_err(|error: graph::SplitError| wrong(&format!("`hold_out`: {error}")))
}

fn text<'a>(value: &'a Bound<'_, PyAny>) -> PyResult<&'a str> {
    let text = value.cast::<PyString>();
    text.map_err(|_| PyTypeError::new_err(format!("names and labels must be str, not {}", kind(value))))?
        .to_str()
}

/// A name of a triple.
fn name<'a>(row: usize, value: &'a Bound<'_, PyAny>) -> PyResult<&'a str> {
    let wrong = || PyTypeError::new_err(format!("names must be str, but row {row} holds a {}", kind(value)));
    let name = value.cast::<PyString>().map_err(|_| wrong())?.to_str()?;
    if name.is_empty() {
        return Err(bad_data(&format!("names must not be empty, but one of row {row} is")));
    }
    Ok(name)
}

fn kind(value: &Bound<'_, PyAny>) -> String {
    value.get_type().name().map_or_else(|_| "?".to_owned(), |name| name.to_string())
}

fn not_a_triple(row: usize, found: &Bound<'_, PyAny>) -> PyErr {
    let message =
        format!("expected (head, relation, tail) as row {row}, not {}", shortened(&found.to_string()));
    if found.try_iter().is_ok() { bad_data(&message) } else { PyTypeError::new_err(message) }
}

fn shortened(text: &str) -> String {
    match text.char_indices().nth(80) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// The embedded graph of films.
#[pyfunction]
pub(crate) fn films() -> GraphBuilder {
    GraphBuilder::of(graph::films())
}

/// How files of triples are read.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, default)]
#[derive(Default)]
struct Reading {
    labels: Vec<PathBuf>,
    hold_out: Option<String>,
    seed: u64,
    format: Option<String>,
    columns: Option<String>,
    header: Option<bool>,
    literals: bool,
    graph: Option<String>,
    skip_bad_lines: bool,
}

impl Reading {
    fn sources(self, files: Vec<(Split, PathBuf)>) -> PyResult<Sources> {
        let format = |name: &str| {
            let names: Vec<&str> = Format::NAMES.iter().map(|(name, _)| *name).collect();
            let expected = || format!("`format` must be one of {}, not '{name}'", names.join(", "));
            Format::by_name(name).ok_or_else(|| wrong(&expected()))
        };
        let columns =
            |text: &str| text.parse().map_err(|error: String| wrong(&format!("`columns`: {error}")));
        Ok(Sources {
            files,
            labels: self.labels,
            hold_out: self.hold_out.as_deref().map(shares).transpose()?,
            seed: self.seed,
            reading: ReadOptions {
                format: self.format.as_deref().map(format).transpose()?,
                columns: self.columns.as_deref().map(columns).transpose()?,
                header: match self.header {
                    None => Header::Auto,
                    Some(true) => Header::Present,
                    Some(false) => Header::Absent,
                },
                literals: self.literals,
                graph: self.graph,
                skip_bad_lines: self.skip_bad_lines,
            },
        })
    }
}

#[pymethods]
impl Engine {
    /// Makes a project from files, or from one folder.
    #[staticmethod]
    #[pyo3(signature = (folder, files, reading, listener))]
    fn create(
        py: Python<'_>,
        folder: PathBuf,
        files: Vec<(String, PathBuf)>,
        reading: &str,
        listener: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<(Self, String)> {
        let files = files.into_iter().map(|(of, path)| Ok((split(&of)?, path)));
        let sources = options::<Reading>(reading)?.sources(files.collect::<PyResult<_>>()?)?;
        let (engine, made) = long(
            py,
            listener,
            |control, told| told.every(control, "making", |making: &Making| json!(format!("{making:?}"))),
            |control| relatum::Engine::create(&folder, &sources, control),
        )?;
        Ok((Self::of(engine), report(&made)))
    }
}

/// The report on a graph that was made: what was left out, and other counts.
fn report(made: &Made) -> String {
    let files = made.files.iter().map(|file| {
        json!({
            "file": file.file,
            "format": file.format,
            "triples": file.triples,
            "bad_lines": file.bad_lines,
            "literals": file.literals,
            "labels": file.labels,
        })
    });
    json!({
        "triples": made.triples,
        "repeated": made.built.repeated + made.split.map_or(0, |split| split.repeated),
        "leaked": made.built.leaked,
        "short": made.split.map_or(0, |split| split.short),
        "files": files.collect::<Vec<_>>(),
    })
    .to_string()
}
