//! Turns errors of the engine into exceptions of `relatum.errors`.

use std::io;
use std::path::Path;

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use relatum::graph::NameError;
use relatum::import::ImportError;
use relatum::import::read::ReadError;
use relatum::model::ModelError;
use relatum::query::{Mistakes, QueryError, Style};
use relatum::report::Diagnostic;
use relatum::store::StoreError;
use relatum::{Error, Fault};

/// The exception for an error of the engine.
pub(crate) fn raised(py: Python<'_>, error: Error) -> PyErr {
    let made = match &error {
        Error::Question(mistakes) => query_error(py, mistakes),
        Error::Name(name) => unknown_name(py, name),
        Error::NothingNamed { name, entities, relations, .. } => {
            let nearest: Vec<&String> = entities.iter().chain(relations).collect();
            make(py, "UnknownNameError", (error.to_string(), name, nearest))
        }
        other => make(py, class(other), (other.to_string(),)),
    };
    made.unwrap_or_else(|error| error)
}

/// The class of an exception that has a message and nothing else.
fn class(error: &Error) -> &'static str {
    match error {
        Error::Options(_) => "OptionsError",
        Error::Store(StoreError::NotAProject { .. })
        | Error::Read(ReadError::NotFound { .. })
        | Error::Import(ImportError::NotFound(_) | ImportError::Model(ModelError::Missing { .. }))
        | Error::Model(ModelError::Missing { .. }) => "NotFoundError",
        other => match other.fault() {
            Fault::Caller => "MisuseError",
            Fault::Data => "DataError",
            Fault::Machine => "MachineError",
        },
    }
}

fn query_error(py: Python<'_>, mistakes: &Mistakes) -> PyResult<PyErr> {
    let shown: Vec<String> =
        mistakes.errors.iter().map(|it| it.diagnostic().render(&mistakes.source, Style::Plain)).collect();
    let suggestions: Vec<String> = mistakes.errors.iter().flat_map(suggestions).collect();
    let diagnostics = json(&Vec::<Diagnostic>::from(mistakes))?;
    make(py, "QueryError", (shown.join("\n"), &mistakes.source, diagnostics, suggestions))
}

/// The names that could have been meant.
fn suggestions(error: &QueryError) -> Vec<String> {
    match error {
        QueryError::Name { error: NameError::Unknown { nearest, .. }, .. } => nearest.clone(),
        QueryError::Name { error: NameError::Ambiguous { candidates, .. }, .. } => candidates.clone(),
        _ => Vec::new(),
    }
}

fn unknown_name(py: Python<'_>, error: &NameError) -> PyResult<PyErr> {
    let (text, nearest) = match error {
        NameError::Unknown { text, nearest, .. } => (text, nearest),
        NameError::Ambiguous { text, candidates, .. } => (text, candidates),
        other => return make(py, "MisuseError", (other.to_string(),)),
    };
    make(py, "UnknownNameError", (error.to_string(), text, nearest))
}

/// An exception of a class of `relatum.errors`.
fn make<'py>(py: Python<'py>, class: &str, arguments: impl pyo3::call::PyCallArgs<'py>) -> PyResult<PyErr> {
    static ERRORS: PyOnceLock<Py<PyModule>> = PyOnceLock::new();
    let module = ERRORS.get_or_try_init(py, || py.import("relatum.errors").map(Bound::unbind))?;
    Ok(PyErr::from_value(module.bind(py).getattr(class)?.call1(arguments)?))
}

/// The exception for an argument of the wrong value.
pub(crate) fn wrong(message: &str) -> PyErr {
    plain("OptionsError", message)
}

/// The exception for triples, names or labels that are not what they should be.
pub(crate) fn bad_data(message: &str) -> PyErr {
    plain("DataError", message)
}

/// The exception for a file that the machine refused.
pub(crate) fn refused(path: &Path, error: &io::Error) -> PyErr {
    let class = if error.kind() == io::ErrorKind::NotFound { "NotFoundError" } else { "MachineError" };
    plain(class, &format!("{}: {error}", path.display()))
}

fn plain(class: &str, message: &str) -> PyErr {
    Python::attach(|py| make(py, class, (message,)).unwrap_or_else(|error| error))
}

/// Data as JSON, the same that the command line and the server give.
pub(crate) fn json(data: &impl serde::Serialize) -> PyResult<String> {
    serde_json::to_string(data).map_err(|error| PyValueError::new_err(error.to_string()))
}

/// Reads options that Python passes as JSON: a wrong type raises a `TypeError`, a wrong value or an unknown option
/// an `OptionsError`.
pub(crate) fn options<T: serde::de::DeserializeOwned>(text: &str) -> PyResult<T> {
    serde_json::from_str(text).map_err(|error| {
        let whole = error.to_string();
        // The position in the JSON means nothing to the caller of a function.
        let message = whole.split(" at line ").next().unwrap_or(&whole).to_owned();
        if message.contains("invalid type") { PyTypeError::new_err(message) } else { wrong(&message) }
    })
}
