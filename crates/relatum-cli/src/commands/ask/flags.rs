//! The flags that say how to answer; `ask` and `repl` share them.

use std::time::{Duration, Instant};

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use relatum::answer::{Ask, Method};
use relatum::benchmark::Setting;
use relatum::control::{Cancel, Control};
use relatum::logic::{Negation, TNorm};
use relatum::model::Calibration;
use relatum::query::Limits;
use relatum::search::beam::Width;
use relatum::search::continuous::ContinuousSettings;
use relatum::search::{Known, Logic};

use crate::exit::Misuse;
use crate::signals;

/// How to answer.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Flags {
    /// The question is SPARQL, whatever it looks like
    #[arg(long)]
    pub(super) sparql: bool,
    /// How to search: auto is exact where the question is a tree, else a beam; continuous
    /// optimises vectors in place of entities
    #[arg(long, default_value = "auto", value_parser = ["auto", "exact", "beam", "continuous"])]
    method: String,
    /// How many assignments a beam keeps, where the search is one [default: 64]
    #[arg(long, value_parser = parse_positive, allow_negative_numbers = true)]
    k: Option<usize>,
    /// Let each assignment of a beam keep k values by the atoms' own truth, as the paper does
    #[arg(long)]
    pub(super) paper: bool,
    /// Score an atom from whichever side takes fewer rows, not always away from the named entities:
    /// faster on some questions, but the two sides of a model disagree a little
    #[arg(long, conflicts_with = "paper")]
    pub(super) either_side: bool,
    /// How truth values combine; auto: as `relatum tune` chose for the type of question, else product
    #[arg(long, default_value = AUTO, value_parser = t_norms())]
    t_norm: Auto<TNorm>,
    /// How scores become truth values; auto: as tuned, else softmax-count, and sigmoid for continuous
    /// optimisation; adaptive needs `relatum calibrate`
    #[arg(long, default_value = AUTO, value_parser = calibrations())]
    calibration: Auto<Calibration>,
    /// Negate atoms as 1 - min(1, C·truth) (sub-queries as 1 - truth); auto: as tuned, else 1
    #[arg(long, value_name = "C", default_value = AUTO, value_parser = parse_scale, allow_negative_numbers = true)]
    negation_scale: Auto<f32>,
    /// Multiply predictions by W that lead to an entity which never stands on that side of the relation in
    /// training, so that things of a wrong kind count less; 1 leaves them as they are, 0 leaves them out;
    /// auto: as tuned, else 1
    #[arg(long, value_name = "W", default_value = AUTO, value_parser = parse_weight, allow_negative_numbers = true)]
    unseen: Auto<f32>,
    /// Which stored edges count as true: all, those of train only, or none; auto: all, but none with
    /// raw scores, beside which 1 means nothing; continuous optimisation trusts edges from named entities
    /// to the answer only
    #[arg(long, default_value = AUTO, value_parser = [AUTO, "trust", "train", "ignore"])]
    known: String,
    /// How many answers, no more than a LIMIT of SPARQL [default: 10, or the LIMIT]
    #[arg(long, value_parser = parse_positive, allow_negative_numbers = true)]
    top: Option<usize>,
    /// Leave out what the stored edges already say
    #[arg(long)]
    pub(super) new_only: bool,
    /// Show why each answer is one
    #[arg(long)]
    pub(crate) explain: bool,
    /// Print JSON
    #[arg(long, conflicts_with = "dot")]
    pub(crate) json: bool,
    /// Print the explained answers as a graph for Graphviz
    #[arg(long)]
    pub(super) dot: bool,
    /// The name of the model [default: default, or what `relatum models --default` chose]
    #[arg(long)]
    pub(crate) model: Option<String>,
    /// Stop after so many seconds with what was found
    #[arg(long, value_name = "SECONDS", value_parser = parse_seconds, allow_negative_numbers = true)]
    timeout: Option<Duration>,
    /// Score no more rows than this in search of answers, and stop with what was found; the few that
    /// --explain takes come on top
    #[arg(long, value_name = "ROWS", allow_negative_numbers = true)]
    max_rows: Option<usize>,
    /// How many alternatives the normal form of a question may have
    #[arg(long, default_value_t = 64, value_parser = clap::value_parser!(u32).range(1..), allow_negative_numbers = true)]
    max_branches: u32,
}

/// What a flag is where nobody has chosen.
const AUTO: &str = "auto";

/// A value that was chosen, or none: then what was tuned is taken.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Auto<T>(Option<T>);

impl<T: std::fmt::Display> std::fmt::Display for Auto<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.0 {
            Some(value) => value.fmt(f),
            None => f.write_str(AUTO),
        }
    }
}

impl Flags {
    /// Whether something is left open that tuning may have settled.
    pub(super) fn wants_tuning(&self) -> bool {
        self.method != "continuous" && self.calibration.0.is_none() && self.t_norm.0.is_none()
    }

    /// How to search, as it was said.
    pub(crate) fn method(&self) -> &str {
        &self.method
    }

    /// How many assignments a beam keeps.
    pub(super) fn k(&self) -> usize {
        self.k.unwrap_or(64)
    }

    /// How many answers are wanted of a question with this LIMIT.
    pub(super) fn wanted(&self, limit: Option<usize>) -> usize {
        limit.into_iter().chain(self.top).min().unwrap_or(10)
    }

    /// What a question may grow to.
    pub(super) fn limits(&self) -> Limits {
        Limits { branches: self.max_branches as usize, ..Limits::default() }
    }

    /// Every flag with its value as text, in the order of the help: `on` and `off` for a switch,
    /// `none` where nothing is given.
    pub(crate) fn pairs(&self) -> Vec<(&'static str, String)> {
        let switch = |on: bool| if on { "on" } else { "off" }.to_owned();
        let none = || "none".to_owned();
        vec![
            ("sparql", switch(self.sparql)),
            ("method", self.method.clone()),
            ("k", self.k().to_string()),
            ("paper", switch(self.paper)),
            ("either-side", switch(self.either_side)),
            ("t-norm", self.t_norm.to_string()),
            ("calibration", self.calibration.to_string()),
            ("negation-scale", self.negation_scale.to_string()),
            ("unseen", self.unseen.to_string()),
            ("known", self.known.clone()),
            ("top", self.wanted(None).to_string()),
            ("new-only", switch(self.new_only)),
            ("explain", switch(self.explain)),
            ("json", switch(self.json)),
            ("dot", switch(self.dot)),
            ("model", self.model.clone().unwrap_or_default()),
            ("timeout", self.timeout.map_or_else(none, |timeout| timeout.as_secs_f64().to_string())),
            ("max-rows", self.max_rows.map_or_else(none, |rows| rows.to_string())),
            ("max-branches", self.max_branches.to_string()),
        ]
    }

    /// A flag of which the method takes no notice, and what it belongs to.
    pub(crate) fn wasted(&self) -> Option<(&'static str, &'static str)> {
        if self.either_side && self.method == "continuous" {
            return Some(("either-side", "the searches among entities"));
        }
        let given = [("k", self.k.is_some()), ("paper", self.paper)];
        let takes_no_beam = matches!(self.method.as_str(), "exact" | "continuous");
        given.into_iter().find(|(_, given)| *given && takes_no_beam).map(|(flag, _)| (flag, "a beam"))
    }

    /// Combinations that would give numbers without meaning, and flags that the method passes over.
    pub(crate) fn refuse_nonsense(&self) -> Result<(), Misuse> {
        if let Some((flag, what)) = self.wasted() {
            return Err(Misuse(format!(
                "--{flag} belongs to {what}, and --method {} takes none: leave one of the two out, or take \
                 --method beam or auto",
                self.method
            )));
        }
        if self.calibration.0 == Some(Calibration::Raw) && matches!(self.known.as_str(), "trust" | "train") {
            return Err(Misuse(format!(
                "--known {} makes stored edges 1, which is neither much nor little among raw scores: leave it out, \
                 or take a calibration that gives truth values",
                self.known
            )));
        }
        if self.calibration.0 == Some(Calibration::Raw) && self.t_norm.0 == Some(TNorm::Lukasiewicz) {
            return Err(Misuse(
                "raw scores are not in [0, 1], and max(0, x + y − 1) of them means nothing: take --t-norm product \
                 or godel, as the published figures do, or a calibration that gives truth values"
                    .to_owned(),
            ));
        }
        Ok(())
    }

    /// What to know about the scores that these settings give.
    pub(super) fn caveat(&self) -> Option<String> {
        (self.calibration.0 == Some(Calibration::Raw)).then(|| {
            format!(
                "raw scores are no truth values: the {} of them ranks as the published code does, but says nothing by its size",
                if self.t_norm.0 == Some(TNorm::Godel) { "smallest" } else { "product" }
            )
        })
    }

    /// What the answer may use up, from now on.
    fn control(&self) -> Control {
        let control = Control::default().with_cancel(Cancel::when(signals::stop_requested));
        let control = match self.max_rows {
            Some(rows) => control.with_rows(rows),
            None => control,
        };
        match self.timeout {
            Some(timeout) => control.with_deadline(Instant::now() + timeout),
            None => control,
        }
    }

    /// What the engine is told, with `top` answers wanted and what was tuned for such a question. The
    /// time for the answer begins now.
    pub(super) fn resolve(&self, top: usize, tuned: Option<&Setting>) -> Ask {
        let tuned = tuned.filter(|_| self.wants_tuning()).copied();
        let plain = Setting {
            calibration: if self.method == "continuous" {
                Calibration::Sigmoid
            } else {
                Calibration::default()
            },
            ..Setting::default()
        };
        let Setting { t_norm, calibration, sharpness, negation, unseen, .. } = tuned.unwrap_or(plain);
        let scale = self.negation_scale.0.unwrap_or(negation);
        Ask {
            method: match self.method.as_str() {
                "exact" => Method::Exact,
                "beam" => Method::Beam,
                "continuous" => Method::Continuous,
                _ if self.paper => Method::Beam,
                _ => Method::Auto,
            },
            width: Width { k: self.k(), paper: self.paper },
            continuous: ContinuousSettings::default(),
            logic: Logic { t_norm: self.t_norm.0.unwrap_or(t_norm), negation: Negation { scale } },
            calibration: self.calibration.0.unwrap_or(calibration),
            sharpness,
            unseen: self.unseen.0.unwrap_or(unseen),
            known: match self.known.as_str() {
                "ignore" => Known::Ignore,
                "train" => Known::TRAIN,
                AUTO if self.calibration.0 == Some(Calibration::Raw) => Known::Ignore,
                _ => Known::ALL,
            },
            top,
            new_only: self.new_only,
            explain: self.explain || self.dot,
            control: self.control(),
        }
    }
}

fn parse_positive(text: &str) -> Result<usize, String> {
    text.parse()
        .ok()
        .filter(|&count| count > 0)
        .ok_or_else(|| "expected a whole number, at least 1".to_owned())
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

fn parse_seconds(text: &str) -> Result<Duration, String> {
    // Thirty years: an instant far beyond cannot be expressed, and nobody waits for it either.
    const MOST: f64 = 1e9;
    let seconds = text.parse().ok().filter(|seconds| (0.0..=MOST).contains(seconds));
    seconds
        .map(Duration::from_secs_f64)
        .ok_or_else(|| format!("expected a number of seconds, from 0 to {MOST}"))
}
