//! `relatum._relatum`: the engine for Python.
//!
//! This module reads arguments, calls [`relatum::Engine`] and returns results: data as the same JSON that the command
//! line and the server give, matrices as `NumPy` arrays. What Python users expect around it (data classes, frames, a
//! query builder, pictures) is written in Python, in `python/relatum`.

#![allow(clippy::needless_pass_by_value, reason = "what Python hands over is extracted as owned values")]

mod arguments;
mod builder;
mod engine;
mod errors;
mod measuring;
mod model;
mod reply;
mod rules;
mod training;
mod work;

use pyo3::prelude::*;

/// The compiled part of `relatum`.
#[pymodule]
fn _relatum(module: &Bound<'_, PyModule>) -> PyResult<()> {
    work::imported();
    module.add_class::<engine::Engine>()?;
    module.add_class::<reply::Reply>()?;
    module.add_class::<builder::GraphBuilder>()?;
    module.add_class::<model::Model>()?;
    module.add_function(wrap_pyfunction!(builder::films, module)?)?;
    module.add_function(wrap_pyfunction!(engine::name_text, module)?)?;
    module.add_function(wrap_pyfunction!(model::read_tables, module)?)?;
    module.add("__version__", env!("CARGO_PKG_VERSION"))
}
