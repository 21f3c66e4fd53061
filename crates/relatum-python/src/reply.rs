//! A reply as an object of Python.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use relatum::report;

use crate::errors::{json, wrong};
use crate::work::brief;

/// The reply to one question, converted only when Python needs it.
#[pyclass(frozen, module = "relatum._relatum")]
pub(crate) struct Reply {
    reply: report::Reply,
    seconds: f64,
}

impl Reply {
    /// A reply, and how long the engine itself took.
    pub(crate) fn new(reply: report::Reply, seconds: f64) -> Self {
        Self { reply, seconds }
    }
}

#[pymethods]
impl Reply {
    /// Reads what `to_json` wrote.
    #[staticmethod]
    fn from_json(text: &str) -> PyResult<Self> {
        let reply = serde_json::from_str(text);
        reply
            .map(|reply| Self { reply, seconds: f64::NAN })
            .map_err(|error| wrong(&format!("this is not the JSON of a reply: {error}")))
    }

    /// The JSON that the command line prints for this reply.
    fn to_json(&self) -> PyResult<String> {
        let text = serde_json::to_string_pretty(&self.reply);
        text.map_err(|error| PyValueError::new_err(error.to_string()))
    }

    /// The same data on one line.
    fn compact(&self) -> PyResult<String> {
        json(&self.reply)
    }

    /// The text that the command line prints.
    fn text(&self, py: Python<'_>) -> PyResult<String> {
        brief(py, || Ok(self.reply.to_string()))
    }

    /// The explained answers as a graph for Graphviz.
    fn to_dot(&self, py: Python<'_>) -> PyResult<String> {
        brief(py, || Ok(self.reply.to_dot()))
    }

    /// How long the engine itself took to answer, without the time of Python; NaN for a reply that was read from JSON.
    #[getter]
    fn seconds(&self) -> f64 {
        self.seconds
    }

    fn __len__(&self) -> usize {
        match self.reply.asked {
            report::AskedFor::Relations => self.reply.relations.len(),
            _ => self.reply.answers.len(),
        }
    }
}
