//! How to answer: what a caller chooses, what was tuned, and the settings that run.

use schemars::JsonSchema;
use serde::Deserialize;

use super::named::{self, one, perhaps};
use crate::answer::{Ask, Method};
use crate::benchmark::{Reading, Search, Setting};
use crate::control::Control;
use crate::graph::EntityId;
use crate::logic::{Negation, TNorm};
use crate::model::Calibration;
use crate::plan::{PlanOptions, Union};
use crate::query::{Limits, Syntax};
use crate::report;
use crate::search::beam::Width;
use crate::search::{Evidence, Known, Logic};

/// How a question is to be answered. An omitted option means *choose for me*: the setting that was tuned for the
/// type of question and the model or, where nothing was tuned, a default.
///
/// ```
/// use relatum::answer::Method;
/// use relatum::engine::Options;
///
/// let options = Options { method: Method::Continuous, top: Some(3), ..Options::default() };
/// let resolved = options.resolve(Some("2p"), None)?;
/// assert_eq!(resolved.ask.calibration.name(), "sigmoid", "continuous optimisation has no rows");
/// # Ok::<(), relatum::engine::OptionsError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Options {
    /// The language of the question; if omitted, it is recognised by how the question begins.
    #[serde(deserialize_with = "perhaps")]
    #[schemars(schema_with = "named::perhaps_schema::<Syntax>")]
    pub syntax: Option<Syntax>,
    /// The name of the model; if omitted, the project's default.
    pub model: Option<String>,
    /// The search to use.
    #[serde(deserialize_with = "one")]
    #[schemars(schema_with = "named::schema::<Method>")]
    pub method: Method,
    /// How many assignments a beam keeps; where it widens, how many it begins with.
    #[schemars(range(min = 1))]
    pub k: Option<usize>,
    /// Let each assignment of a beam keep k values by the truth of the atoms alone, as the paper does.
    pub paper: bool,
    /// Score an atom from whichever side takes fewer rows, not always away from the named entities.
    pub either_side: bool,
    /// How truth values combine.
    #[serde(deserialize_with = "perhaps")]
    #[schemars(schema_with = "named::perhaps_schema::<TNorm>")]
    pub t_norm: Option<TNorm>,
    /// How scores become truth values.
    #[serde(deserialize_with = "perhaps")]
    #[schemars(schema_with = "named::perhaps_schema::<Calibration>")]
    pub calibration: Option<Calibration>,
    /// The factor of scores before a softmax.
    pub sharpness: Option<f32>,
    /// `c` of the negation `1 − min(1, c·x)` of atoms.
    pub negation_scale: Option<f32>,
    /// The factor, from 0 to 1, of predictions that lead to an entity of another kind than those that stand on that
    /// side of the relation in training.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub unseen: Option<f32>,
    /// Which stored edges count as true.
    #[serde(deserialize_with = "perhaps")]
    #[schemars(schema_with = "named::perhaps_schema::<Known>")]
    pub known: Option<Known>,
    /// Where the alternatives of a disjunction are joined.
    #[serde(deserialize_with = "perhaps")]
    #[schemars(schema_with = "named::perhaps_schema::<Union>")]
    pub union: Option<Union>,
    /// What speaks for an edge that is not stored: the model, rules, or both; none: both where the project has
    /// rules, else the model.
    #[serde(deserialize_with = "perhaps")]
    #[schemars(schema_with = "named::perhaps_schema::<Evidence>")]
    pub evidence: Option<Evidence>,
    /// The name of the rules; none: the default ones.
    pub rules: Option<String>,
    /// How many answers are wanted; a LIMIT of SPARQL that is smaller takes precedence. If omitted, the LIMIT, or 10.
    #[schemars(range(min = 1))]
    pub top: Option<usize>,
    /// Leave out answers that stored edges alone give.
    pub new_only: bool,
    /// Show why each answer is one.
    pub explain: bool,
    /// How many alternatives the normal form of a question may have, by default 64.
    #[schemars(range(min = 1))]
    pub max_branches: Option<usize>,
}

/// How many assignments a beam keeps by default.
pub const DEFAULT_K: usize = 64;
/// How many answers are wanted by default.
pub const DEFAULT_TOP: usize = 10;
/// How much predictions of a wrong kind count by default: so little that a person, for example, does not rank
/// among the packages that another package needs. Measured to cost no accuracy on three graphs.
pub const DEFAULT_UNSEEN: f32 = 0.1;

/// Options that contradict each other, or a number outside its range.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum OptionsError {
    /// An option that the chosen search does not have: leave it out, or choose another search.
    #[error("`{option}` belongs to {belongs}, and the search `{}` has none: leave one of the two out", method.name())]
    Wasted {
        /// The option.
        option: &'static str,
        /// What it belongs to.
        belongs: &'static str,
        /// The search.
        method: Method,
    },
    /// Trusted edges are exactly 1, which cannot be compared with raw scores.
    #[error(
        "trusted edges are exactly 1, which cannot be compared with raw scores: trust no edges, or take a \
         calibration that gives truth values"
    )]
    RawTrusted,
    /// Raw scores are not in [0, 1], where the Łukasiewicz t-norm has its meaning.
    #[error(
        "raw scores are not in [0, 1], and max(0, x + y − 1) of them means nothing: take the product or Gödel \
         t-norm, as the published figures do, or a calibration that gives truth values"
    )]
    RawLukasiewicz,
    /// Rules give truth values, which raw scores are not.
    #[error(
        "rules give truth values, which cannot be joined with raw scores: let the model alone speak, or take a \
         calibration that gives truth values"
    )]
    RawRules,
    /// The paper's beam reads every atom away from the named entities.
    #[error(
        "the beam of the paper reads atoms away from the named entities: it cannot choose the cheaper side"
    )]
    PaperEitherSide,
    /// Sharpness belongs to a softmax.
    #[error(
        "sharpness multiplies scores before a softmax, and `{calibration}` has none: leave one of the two out"
    )]
    SharpnessWithoutSoftmax {
        /// The calibration.
        calibration: Calibration,
    },
    /// A number outside its range.
    #[error("`{option}` must be {expected}, but is {found}")]
    Range {
        /// The option.
        option: &'static str,
        /// What it may be.
        expected: &'static str,
        /// What it is.
        found: String,
    },
}

impl OptionsError {
    /// The fields of [`Options`] that it is about, so that a door can name its own words for them.
    pub fn concerns(&self) -> Vec<&'static str> {
        match self {
            Self::Wasted { option, .. } => vec![option, "method"],
            Self::RawTrusted => vec!["calibration", "known"],
            Self::RawLukasiewicz => vec!["calibration", "t_norm"],
            Self::RawRules => vec!["calibration", "evidence"],
            Self::PaperEitherSide => vec!["paper", "either_side"],
            Self::SharpnessWithoutSoftmax { .. } => vec!["calibration", "sharpness"],
            Self::Range { option, .. } => vec![option],
        }
    }
}

/// The settings that run, with every choice made.
#[derive(Clone, Debug)]
pub struct Resolved {
    /// How a question is answered.
    pub ask: Ask,
    /// How it is planned.
    pub plan: PlanOptions,
    /// What speaks for an edge that is not stored.
    pub evidence: Evidence,
    /// The type of question that the settings were tuned for, if they were.
    pub tuned_for: Option<String>,
}

impl Options {
    /// The language of a question: what was chosen, or what it looks like.
    pub fn syntax_of(&self, text: &str) -> Syntax {
        self.syntax.unwrap_or_else(|| Syntax::detect(text))
    }

    /// What a question may grow to.
    pub fn limits(&self) -> Limits {
        let default = Limits::default();
        Limits { branches: self.max_branches.unwrap_or(default.branches), ..default }
    }

    /// How many answers are wanted of a question with this LIMIT.
    pub fn wanted(&self, limit: Option<usize>) -> usize {
        limit.into_iter().chain(self.top).min().unwrap_or(DEFAULT_TOP)
    }

    /// The settings that run, for a question of this shape and the setting that was tuned for it.
    ///
    /// A tuned setting is used whole or not at all, because its parts were chosen together: it is used only if none
    /// of them is chosen here. Two parts are adapted. Where a benchmark trusts training edges, asking trusts all
    /// stored edges. And the floor that bounds the search of a benchmark is dropped, because here exact search
    /// proves its answers.
    pub fn resolve(&self, shape: Option<&str>, tuned: Option<&Setting>) -> Result<Resolved, OptionsError> {
        self.refuse()?;
        let tuned = tuned.filter(|setting| self.leaves_open() && is_for_asking(setting));
        let as_in_the_paper = self.paper || self.method == Method::Continuous;
        let chosen = Setting {
            unseen: if as_in_the_paper { 1.0 } else { DEFAULT_UNSEEN },
            calibration: match self.method {
                Method::Continuous => Calibration::Sigmoid,
                _ => Calibration::default(),
            },
            ..Setting::default()
        };
        let Setting { t_norm, calibration, sharpness, unseen, known, negation, union, .. } =
            tuned.copied().unwrap_or(Setting { known: Known::ALL, ..chosen });
        // Whether there are rules is not known to what was tuned.
        let evidence = self.evidence.unwrap_or_default();
        let calibration = self.calibration.unwrap_or(calibration);
        let known = self.known.unwrap_or(match known {
            Known::Trust(_) if calibration.is_truth() => Known::ALL,
            _ => Known::Ignore,
        });
        let k = self.k.unwrap_or(DEFAULT_K);
        let ask = Ask {
            method: if self.paper { Method::Beam } else { self.method },
            width: Width { k, paper: self.paper },
            logic: Logic {
                t_norm: self.t_norm.unwrap_or(t_norm),
                negation: Negation { scale: self.negation_scale.unwrap_or(negation) },
            },
            calibration,
            sharpness: self.sharpness.unwrap_or(sharpness),
            unseen: self.unseen.unwrap_or(unseen),
            known,
            new_only: self.new_only,
            explain: self.explain,
            ..Ask::default()
        };
        let union = self.union.unwrap_or(union);
        let plan = PlanOptions { beam: k, either_side: self.either_side, union };
        Ok(Resolved { ask, plan, evidence, tuned_for: tuned.and(shape).map(str::to_owned) })
    }

    /// Whether every choice that a tuned setting makes is left open.
    fn leaves_open(&self) -> bool {
        let Self { t_norm, calibration, sharpness, negation_scale, unseen, known, union, .. } = self;
        matches!(self.method, Method::Auto | Method::Exact | Method::Lists)
            && !self.paper
            && self.k.is_none()
            && (t_norm.is_none() && calibration.is_none() && sharpness.is_none() && negation_scale.is_none())
            && (unseen.is_none() && known.is_none() && union.is_none())
    }

    /// Refuses options that contradict each other, and numbers outside their range.
    fn refuse(&self) -> Result<(), OptionsError> {
        let wasted = |option, belongs| OptionsError::Wasted { option, belongs, method: self.method };
        let no_beam = matches!(self.method, Method::Exact | Method::Continuous | Method::Lists);
        if self.k.is_some() && no_beam {
            return Err(wasted("k", "a beam"));
        }
        if self.paper && no_beam {
            return Err(wasted("paper", "a beam"));
        }
        if self.either_side && self.method == Method::Continuous {
            return Err(wasted("either_side", "the searches among entities"));
        }
        if self.paper && self.either_side {
            return Err(OptionsError::PaperEitherSide);
        }
        let with_rules = matches!(self.evidence, Some(Evidence::Rules | Evidence::Both));
        if with_rules && self.method == Method::Continuous {
            return Err(wasted("evidence", "the searches among entities"));
        }
        if self.calibration == Some(Calibration::Raw) {
            if with_rules {
                return Err(OptionsError::RawRules);
            }
            if matches!(self.known, Some(Known::Trust(_))) {
                return Err(OptionsError::RawTrusted);
            }
            if self.t_norm == Some(TNorm::Lukasiewicz) {
                return Err(OptionsError::RawLukasiewicz);
            }
        }
        if let (Some(_), Some(calibration)) = (self.sharpness, self.calibration)
            && !calibration.is_softmax()
        {
            return Err(OptionsError::SharpnessWithoutSoftmax { calibration });
        }
        at_least_one(&[("k", self.k), ("top", self.top), ("max_branches", self.max_branches)])?;
        let above_zero = |value: f32| value > 0.0 && value.is_finite();
        let range = |option, expected, value: Option<f32>, good: &dyn Fn(f32) -> bool| match value {
            Some(value) if !good(value) => {
                Err(OptionsError::Range { option, expected, found: value.to_string() })
            }
            _ => Ok(()),
        };
        range("sharpness", "a number above 0", self.sharpness, &above_zero)?;
        range("negation_scale", "a number above 0", self.negation_scale, &above_zero)?;
        range("unseen", "a number from 0 to 1", self.unseen, &|value| (0.0..=1.0).contains(&value))
    }
}

/// Refuses a 0 for options that must be at least 1.
pub(super) fn at_least_one(options: &[(&'static str, Option<usize>)]) -> Result<(), OptionsError> {
    match options.iter().find(|(_, value)| *value == Some(0)) {
        Some(&(option, _)) => {
            Err(OptionsError::Range { option, expected: "at least 1", found: "0".to_owned() })
        }
        None => Ok(()),
    }
}

/// Whether a tuned setting can be used for asking. Reading a negated path as a negated edge would ask another
/// question, and settings tuned for the methods of the paper are for comparison only.
fn is_for_asking(setting: &Setting) -> bool {
    matches!(setting.search, Search::Exact { .. }) && setting.negated == Reading::Path
}

impl Resolved {
    /// The same for so many answers, or for one entity alone.
    pub(super) fn asking_for(&self, top: usize, only: Option<EntityId>, control: &Control) -> Ask {
        Ask { top, only, control: control.clone(), ..self.ask.clone() }
    }

    /// The settings as a reply carries them.
    pub(super) fn report(&self, model: &str, method: Method) -> report::Settings {
        let Ask { width, logic, calibration, sharpness, unseen, known, .. } = &self.ask;
        report::Settings {
            model: model.to_owned(),
            t_norm: logic.t_norm.name().to_owned(),
            calibration: calibration.name().to_owned(),
            sharpness: *sharpness,
            negation_scale: logic.negation.scale,
            unseen: *unseen,
            known: known.name().to_owned(),
            k: (method == Method::Beam).then_some(width.k),
            paper: width.paper,
            either_side: self.plan.either_side,
            union: self.plan.union.name().to_owned(),
            evidence: (self.evidence != Evidence::Model).then(|| self.evidence.name().to_owned()),
            tuned_for: self.tuned_for.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn resolved(options: &Options, tuned: &str) -> Resolved {
        options.resolve(Some("2i"), Some(&tuned.parse().unwrap())).unwrap()
    }

    #[test]
    fn a_tuned_setting_is_used_whole_or_not_at_all() {
        let tuned = "exact k=512 godel softmax sharpness=0.7 unseen=0.1 none union=in-place";
        let Resolved { ask, plan, tuned_for, .. } = resolved(&Options::default(), tuned);
        assert_eq!((ask.logic.t_norm, ask.calibration), (TNorm::Godel, Calibration::Softmax));
        assert_eq!(
            (ask.sharpness, ask.unseen, ask.known, plan.union),
            (0.7, 0.1, Known::Ignore, Union::InPlace)
        );
        assert_eq!(tuned_for.as_deref(), Some("2i"));
        let product = Options { t_norm: Some(TNorm::Product), ..Options::default() };
        let Resolved { ask, plan, tuned_for, .. } = resolved(&product, tuned);
        assert_eq!((ask.calibration, ask.sharpness), (Calibration::SoftmaxCount, 1.0));
        assert_eq!((ask.known, plan.union, tuned_for), (Known::ALL, Union::AtTheEnd, None));
        assert_eq!(
            resolved(&Options::default(), "exact product train").ask.known,
            Known::ALL,
            "trusting training edges becomes trusting all stored edges"
        );
        assert_eq!(resolved(&Options::default(), "exact product train negated=edge").tuned_for, None);
        assert_eq!(resolved(&Options::default(), "paper k=8 product sigmoid none").tuned_for, None);
    }

    #[test]
    fn defaults_fit_what_was_chosen() {
        let of = |options: Options| options.resolve(None, None).unwrap().ask;
        let continuous = of(Options { method: Method::Continuous, ..Options::default() });
        assert_eq!(continuous.calibration, Calibration::Sigmoid);
        let raw = of(Options { calibration: Some(Calibration::Raw), ..Options::default() });
        assert_eq!(raw.known, Known::Ignore, "1 means nothing beside raw scores");
        let paper = of(Options { paper: true, ..Options::default() });
        assert_eq!((paper.method, paper.unseen), (Method::Beam, 1.0));
        assert!((of(Options::default()).unseen - DEFAULT_UNSEEN).abs() < 1e-6);
    }

    #[test]
    fn contradictions_are_refused() {
        let default = Options::default;
        let raw = || Options { calibration: Some(Calibration::Raw), ..default() };
        let wrong = [
            Options { k: Some(8), method: Method::Exact, ..default() },
            Options { k: Some(8), method: Method::Continuous, ..default() },
            Options { paper: true, method: Method::Exact, ..default() },
            Options { k: Some(8), method: Method::Lists, ..default() },
            Options { paper: true, method: Method::Lists, ..default() },
            Options { either_side: true, method: Method::Continuous, ..default() },
            Options { paper: true, either_side: true, ..default() },
            Options { known: Some(Known::ALL), ..raw() },
            Options { t_norm: Some(TNorm::Lukasiewicz), ..raw() },
            Options { sharpness: Some(0.5), ..raw() },
            Options { k: Some(0), ..default() },
            Options { top: Some(0), ..default() },
            Options { unseen: Some(1.5), ..default() },
            Options { unseen: Some(f32::NAN), ..default() },
            Options { negation_scale: Some(0.0), ..default() },
            Options { sharpness: Some(f32::INFINITY), ..default() },
        ];
        for options in wrong {
            assert!(options.resolve(None, None).is_err(), "{options:?}");
        }
    }
}
