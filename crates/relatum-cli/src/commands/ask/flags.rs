//! The flags that say how to answer; `ask` and `repl` share them.

use std::time::{Duration, Instant};

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use relatum::Options;
use relatum::answer::Method;
use relatum::baseline::Kind;
use relatum::control::Control;
use relatum::engine::{DEFAULT_K, DEFAULT_TOP};
use relatum::logic::TNorm;
use relatum::model::Calibration;
use relatum::query::Syntax;
use relatum::search::{Evidence, Known};

use crate::signals;

/// How to answer.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Flags {
    /// Read the question as SPARQL, whatever it looks like
    #[arg(long)]
    pub(super) sparql: bool,
    /// How to search: auto is exact if the question is a tree, else a beam that widens until its answers
    /// are proven or it takes too long; exact goes on until they are proven; beam keeps the k best assignments;
    /// continuous optimises vectors in place of entities; lists proves the same as exact from sorted lists, without
    /// vectors over all entities, and is what auto takes where these would not fit into memory
    #[arg(long, default_value = "auto", value_parser = methods())]
    method: Method,
    /// How many assignments a beam keeps [default: 64]
    #[arg(long, value_parser = parse_positive, allow_negative_numbers = true)]
    k: Option<usize>,
    /// Let each assignment of a beam keep k values by the truth of the atoms alone, as the paper does
    #[arg(long)]
    pub(super) paper: bool,
    /// Score an atom from whichever side takes fewer rows, not always away from the named entities:
    /// faster on some questions, but a model scores an edge a little differently from its two sides
    #[arg(long, conflicts_with = "paper")]
    pub(super) either_side: bool,
    /// How truth values combine; auto: as `relatum tune` chose for the type of question, else product
    #[arg(long, default_value = AUTO, value_parser = t_norms())]
    t_norm: Auto<TNorm>,
    /// How scores become truth values; auto: as tuned, else softmax-count, and sigmoid for continuous
    /// optimisation; with fitted the truth of an edge is a probability. Fitted and adaptive need `relatum calibrate`
    #[arg(long, default_value = AUTO, value_parser = calibrations())]
    calibration: Auto<Calibration>,
    /// Negate atoms as 1 - min(1, C·truth) (sub-queries as 1 - truth); auto: as tuned, else 1
    #[arg(long, value_name = "C", default_value = AUTO, value_parser = parse_scale, allow_negative_numbers = true)]
    negation_scale: Auto<f32>,
    /// The factor of predictions that lead to an entity of another kind than those that stand on that side of
    /// the relation in training; 1 leaves them as they are, 0 leaves them out; auto: as tuned,
    /// else 0.1, but 1 for continuous optimisation and with --paper
    #[arg(long, value_name = "W", default_value = AUTO, value_parser = parse_weight, allow_negative_numbers = true)]
    unseen: Auto<f32>,
    /// Which stored edges count as true: all, those of train and valid, those of train only, or none; auto: all, but none with
    /// raw scores, which cannot be compared with 1; continuous optimisation trusts only edges from named
    /// entities to the answer
    #[arg(long, default_value = AUTO, value_parser = knowns())]
    known: Auto<Known>,
    /// What speaks for an edge that is not stored: the model, the rules of `relatum rules`, or both together;
    /// auto: both where the project has rules, else the model
    #[arg(long, default_value = AUTO, value_parser = evidences())]
    evidence: Auto<Evidence>,
    /// The name of the rules [default: default]
    #[arg(long, value_name = "NAME")]
    rules: Option<String>,
    /// How many answers; a LIMIT of SPARQL that is smaller takes precedence [default: 10, or the LIMIT]
    #[arg(long, value_parser = parse_positive, allow_negative_numbers = true)]
    top: Option<usize>,
    /// Leave out answers that stored edges alone give
    #[arg(long)]
    pub(super) new_only: bool,
    /// Show why each entity is an answer
    #[arg(long)]
    pub(crate) explain: bool,
    /// Print JSON
    #[arg(long, conflicts_with = "dot")]
    pub(crate) json: bool,
    /// Print the explained answers as a graph for Graphviz
    #[arg(long)]
    pub(super) dot: bool,
    /// The name of the model [default: default, or what `relatum models --default` chose]
    #[arg(long, value_name = "NAME")]
    pub(crate) model: Option<String>,
    /// Stop after so many seconds, with the best answers so far
    #[arg(long, value_name = "SECONDS", value_parser = parse_seconds, allow_negative_numbers = true)]
    timeout: Option<Duration>,
    /// Score no more rows than this, and stop with the best answers so far; the few rows that --explain
    /// needs are not counted
    #[arg(long, value_name = "ROWS", allow_negative_numbers = true)]
    max_rows: Option<usize>,
    /// How many alternatives the normal form of a question may have
    #[arg(long, default_value_t = 64, value_parser = clap::value_parser!(u32).range(1..), allow_negative_numbers = true)]
    max_branches: u32,
}

/// The value of a flag that leaves the choice to the engine.
pub(crate) const AUTO: &str = "auto";

/// A value that was chosen; with `None` the engine chooses.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Auto<T>(pub(crate) Option<T>);

impl<T: std::fmt::Display> std::fmt::Display for Auto<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.0 {
            Some(value) => value.fmt(f),
            None => f.write_str(AUTO),
        }
    }
}

impl Flags {
    /// The options for the engine.
    pub(crate) fn options(&self) -> Options {
        Options {
            syntax: self.sparql.then_some(Syntax::Sparql),
            model: self.model.clone(),
            method: self.method,
            k: self.k,
            paper: self.paper,
            either_side: self.either_side,
            t_norm: self.t_norm.0,
            calibration: self.calibration.0,
            sharpness: None,
            negation_scale: self.negation_scale.0,
            unseen: self.unseen.0,
            known: self.known.0,
            union: None,
            evidence: self.evidence.0,
            rules: self.rules.clone(),
            top: self.top,
            new_only: self.new_only,
            explain: self.explain || self.dot,
            max_branches: Some(self.max_branches as usize),
        }
    }

    /// The limits of the search, counted from now.
    pub(crate) fn control(&self) -> Control {
        let control = signals::control();
        let control = match self.max_rows {
            Some(rows) => control.with_rows(rows),
            None => control,
        };
        match self.timeout {
            Some(timeout) => control.with_deadline(Instant::now() + timeout),
            None => control,
        }
    }

    /// Every flag with its value as text, in the order of the help: `on` and `off` for a switch,
    /// `none` where no value is given.
    pub(crate) fn pairs(&self) -> Vec<(&'static str, String)> {
        let switch = |on: bool| if on { "on" } else { "off" }.to_owned();
        let none = || "none".to_owned();
        vec![
            ("sparql", switch(self.sparql)),
            ("method", self.method.name().to_owned()),
            ("k", self.k.unwrap_or(DEFAULT_K).to_string()),
            ("paper", switch(self.paper)),
            ("either-side", switch(self.either_side)),
            ("t-norm", self.t_norm.to_string()),
            ("calibration", self.calibration.to_string()),
            ("negation-scale", self.negation_scale.to_string()),
            ("unseen", self.unseen.to_string()),
            ("known", self.known.0.map_or(AUTO, Known::name).to_owned()),
            ("evidence", self.evidence.0.map_or(AUTO, Evidence::name).to_owned()),
            ("rules", self.rules.clone().unwrap_or_else(none)),
            ("top", self.top.unwrap_or(DEFAULT_TOP).to_string()),
            ("new-only", switch(self.new_only)),
            ("explain", switch(self.explain)),
            ("json", switch(self.json)),
            ("dot", switch(self.dot)),
            ("model", self.model.clone().unwrap_or_else(none)),
            ("timeout", self.timeout.map_or_else(none, |timeout| timeout.as_secs_f64().to_string())),
            ("max-rows", self.max_rows.map_or_else(none, |rows| rows.to_string())),
            ("max-branches", self.max_branches.to_string()),
        ]
    }
}

pub(crate) fn parse_positive(text: &str) -> Result<usize, String> {
    text.parse()
        .ok()
        .filter(|&count| count > 0)
        .ok_or_else(|| "expected a whole number, at least 1".to_owned())
}

fn methods() -> impl TypedValueParser<Value = Method> {
    // Baselines are hidden values, so that they are refused with a reason.
    let baselines = Kind::ALL.map(|kind| PossibleValue::new(kind.name()).hide(true));
    let names = Method::ALL.map(|method| PossibleValue::new(method.name()));
    PossibleValuesParser::new(names.into_iter().chain(baselines))
        .try_map(|name| Method::from_name(&name).ok_or_else(|| Kind::refusal(&name).unwrap_or_default()))
}

fn t_norms() -> impl TypedValueParser<Value = Auto<TNorm>> {
    let names = TNorm::ALL.map(|t_norm| match t_norm {
        TNorm::Godel => PossibleValue::new(t_norm.name()).aliases(["gödel", "min"]),
        TNorm::Product => PossibleValue::new(t_norm.name()).alias("prod"),
        TNorm::Lukasiewicz => PossibleValue::new(t_norm.name()).alias("łukasiewicz"),
    });
    PossibleValuesParser::new([PossibleValue::new(AUTO)].into_iter().chain(names))
        .map(|name| Auto(TNorm::from_name(&name)))
}

fn calibrations() -> impl TypedValueParser<Value = Auto<Calibration>> {
    PossibleValuesParser::new([AUTO].into_iter().chain(Calibration::ALL.map(Calibration::name)))
        .map(|name| Auto(Calibration::from_name(&name)))
}

/// `trust` and `ignore` are old names of `all` and `none`.
fn knowns() -> impl TypedValueParser<Value = Auto<Known>> {
    let values = [
        PossibleValue::new(AUTO),
        PossibleValue::new("all").alias("trust"),
        PossibleValue::new("train+valid"),
        PossibleValue::new("train"),
        PossibleValue::new("none").alias("ignore"),
    ];
    PossibleValuesParser::new(values).map(|name| Auto(Known::from_name(&name)))
}

pub(crate) fn evidences() -> impl TypedValueParser<Value = Auto<Evidence>> {
    PossibleValuesParser::new([AUTO].into_iter().chain(Evidence::ALL.map(Evidence::name)))
        .map(|name| Auto(Evidence::from_name(&name)))
}

fn parse_scale(text: &str) -> Result<Auto<f32>, String> {
    if text == AUTO {
        return Ok(Auto(None));
    }
    let scale = text.parse().ok().filter(|scale: &f32| scale.is_finite() && *scale > 0.0);
    scale.map(|scale| Auto(Some(scale))).ok_or_else(|| "expected a number above 0, or auto".to_owned())
}

fn parse_weight(text: &str) -> Result<Auto<f32>, String> {
    if text == AUTO {
        return Ok(Auto(None));
    }
    let weight = text.parse().ok().filter(|weight| (0.0..=1.0).contains(weight));
    weight.map(|weight| Auto(Some(weight))).ok_or_else(|| "expected a number from 0 to 1, or auto".to_owned())
}

pub(crate) fn parse_seconds(text: &str) -> Result<Duration, String> {
    // Thirty years: an instant far beyond that cannot be expressed, and nobody would wait for it.
    const MOST: f64 = 1e9;
    let seconds = text.parse().ok().filter(|seconds| (0.0..=MOST).contains(seconds));
    seconds
        .map(Duration::from_secs_f64)
        .ok_or_else(|| format!("expected a number of seconds, from 0 to {MOST}"))
}
