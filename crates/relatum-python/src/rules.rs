//! Rules: mined, read, written and shown.

use std::fs::File;
use std::io::BufReader;
use std::path::PathBuf;
use std::time::Duration;

use pyo3::prelude::*;
use relatum::control::Control;
use relatum::engine::{RuleOptions, ShowRules};
use relatum::train::rules::MiningProgress;
use serde::Deserialize;
use serde_json::json;

use crate::engine::Engine;
use crate::errors::{json, options, refused, wrong};
use crate::work::{Told, long, short};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Mine {
    name: Option<String>,
    seconds: Option<f64>,
    paths: Option<u64>,
    seed: Option<u64>,
    max_length: Option<usize>,
    max_memory: Option<usize>,
    resume: bool,
    restart: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Show {
    rules: Option<String>,
    relation: String,
    about: Option<String>,
    top: Option<usize>,
}

#[pymethods]
impl Engine {
    /// Mines rules; what was made, as JSON.
    #[pyo3(signature = (arguments, listener))]
    fn mine_rules(
        &self,
        py: Python<'_>,
        arguments: &str,
        listener: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<String> {
        let given: Mine = options(arguments)?;
        if let Some(length) = given.max_length.filter(|length| !(1..=3).contains(length)) {
            return Err(wrong(&format!("`max_length` must be 1, 2 or 3, not {length}")));
        }
        let never = |seconds: f64| wrong(&format!("`seconds` must be a time in this century, not {seconds}"));
        let time = |it: f64| Duration::try_from_secs_f64(it).map_err(|_| never(it));
        let time = given.seconds.map(time).transpose()?;
        let options = RuleOptions {
            name: given.name,
            seed: given.seed,
            max_length: given.max_length,
            paths: given.paths,
            time,
            memory: given.max_memory.map(|megabytes| megabytes.saturating_mul(1 << 20)),
            resume: given.resume,
            restart: given.restart,
        };
        json(&long(py, listener, mining_events, |control| self.engine.mine_rules(&options, control))?)
    }

    /// Learns how much rules count beside a model; whether there were validation edges to learn it on.
    #[pyo3(signature = (model, rules, listener))]
    fn weigh_rules(
        &self,
        py: Python<'_>,
        model: Option<&str>,
        rules: Option<&str>,
        listener: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<bool> {
        long(py, listener, mining_events, |control| {
            Ok(self.engine.weigh_rules(model, rules, control)?.is_some())
        })
    }

    /// Reads rules in the form that `AnyBURL` writes; what was made, as JSON.
    fn import_rules(
        &self,
        py: Python<'_>,
        path: PathBuf,
        name: Option<&str>,
        replace: bool,
    ) -> PyResult<String> {
        let file = BufReader::new(File::open(&path).map_err(|error| refused(&path, &error))?);
        let made = short(
            py,
            |control| control,
            |control| self.engine.import_rules(file, &path, name, replace, control),
        )?;
        json(&made)
    }

    /// Writes rules in that form; how many there were.
    fn export_rules(&self, py: Python<'_>, path: PathBuf, name: Option<&str>) -> PyResult<usize> {
        // Written at once at the end, so that a failure leaves no half of a file behind.
        let mut text = Vec::new();
        let count = short(py, |control| control, |_| self.engine.export_rules(name, &mut text))?;
        std::fs::write(&path, text).map_err(|error| refused(&path, &error))?;
        Ok(count)
    }

    /// The names of the rules of the project.
    fn rule_names(&self) -> Vec<String> {
        self.engine.rule_names()
    }

    /// The rules that predict a relation, as JSON.
    fn show_rules(&self, py: Python<'_>, arguments: &str) -> PyResult<String> {
        let Show { rules, relation, about, top } = options(arguments)?;
        let show = ShowRules { rules, relation, about, top };
        json(&short(py, |control| control, |_| self.engine.show_rules(&show))?)
    }
}

fn mining_events(control: Control, told: &Told) -> Control {
    told.some(
        control,
        "mining",
        |it: &MiningProgress| json!({ "stage": it.stage, "done": it.done, "all": it.all, "rules": it.rules }),
    )
}
