//! Choosing how to answer each type of query, on validation queries only.

#[cfg(test)]
mod tests;
mod traits;

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::race::{Answer, Lead, Pace, Race};
use super::{BenchmarkError, Evaluator, QueryGroup, Reading, Search, Setting};
use crate::control::Control;
use crate::logic::TNorm;
use crate::model::{Calibration, LinkMetrics};
use crate::plan::Union;
use crate::search::{Evidence, Known};
use traits::Traits;

/// A family of settings to choose from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Family {
    /// CQD-Beam as in the paper: the Gödel and product t-norms, k from 4 to 256 for each atom, sigmoids,
    /// min-max normalisation or raw scores, no trusted facts.
    PaperBeam,
    /// CQD-CO as in the paper: the Gödel and product t-norms, sigmoids or raw scores.
    #[serde(rename = "paper-co")]
    PaperContinuous,
    /// Ours: exact search, calibrated, with the training edges trusted.
    #[default]
    Best,
    /// The same with rules beside the model, where they help a type.
    BestRules,
}

/// What was chosen for each type of query, and what else was tried.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Tuned {
    /// By type.
    pub types: BTreeMap<String, Choice>,
}

/// What was chosen for one type.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Choice {
    /// The best of all.
    pub setting: Setting,
    /// Everything that was tried, in order, with its metrics on the validation queries.
    pub trials: Vec<Trial>,
    /// The [fingerprint](QueryGroup::fingerprint) of the queries that it was chosen on.
    #[serde(default)]
    pub fingerprint: String,
    /// Whether it was chosen on as many queries as were needed to tell settings apart, instead of a given number.
    /// Then trials have different numbers of queries.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub adaptive: bool,
    /// By how much it is ahead of the best of the others; `None` if there was nothing to choose, if nothing was found
    /// or if it was chosen by an earlier version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lead: Option<Lead>,
}

impl Choice {
    /// On how many queries it was chosen; `None` if there was nothing to choose, as for 1p, for which
    /// every setting gives the same order.
    pub fn queries(&self) -> Option<usize> {
        self.trial().or(self.trials.first()).map(|trial| trial.metrics.count)
    }

    /// The trial of the chosen setting: of several, that with the most queries.
    pub fn trial(&self) -> Option<&Trial> {
        let chosen = self.trials.iter().filter(|trial| trial.setting == self.setting);
        chosen.reduce(|best, trial| if trial.metrics.count > best.metrics.count { trial } else { best })
    }

    /// Whether settings were tried and none ranked any answer among the first three: then it is the default.
    pub fn is_by_default(&self) -> bool {
        !self.trials.is_empty() && nothing_found(&self.trials)
    }

    /// Whether it was chosen on as many queries as are wanted.
    pub fn is_good_for(&self, wanted: usize) -> bool {
        self.queries().is_none_or(|queries| queries >= wanted)
    }

    /// Whether it was chosen on as many queries as are needed, or on many, if there are so many of them.
    pub fn is_enough(&self, there: usize) -> bool {
        /// What earlier versions chose on.
        const MANY: usize = 500;
        self.adaptive || self.is_good_for(there.min(MANY))
    }
}

/// One setting on the validation queries.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Trial {
    /// The setting.
    pub setting: Setting,
    /// Its metrics.
    pub metrics: LinkMetrics,
    /// The standard error of its Hits@3 over queries; `None` if it was tried by an earlier version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub standard_error: Option<f64>,
}

impl Family {
    /// All families.
    pub const ALL: [Self; 4] = [Self::PaperBeam, Self::PaperContinuous, Self::Best, Self::BestRules];

    /// The name in tables and files.
    pub fn name(self) -> &'static str {
        match self {
            Self::PaperBeam => "paper-beam",
            Self::PaperContinuous => "paper-co",
            Self::Best => "best",
            Self::BestRules => "best-rules",
        }
    }

    /// Where a search for the best setting begins.
    fn start(self) -> Setting {
        let paper = Setting {
            search: Search::Paper { k: 16 },
            calibration: Calibration::Sigmoid,
            known: Known::Ignore,
            ..Setting::default()
        };
        let best = Setting { search: Search::Exact { floor: 0.01, k: 128 }, ..Setting::default() };
        match self {
            Self::PaperBeam => paper,
            Self::PaperContinuous => Setting { search: Search::Continuous { reg: 0.05 }, ..paper },
            Self::Best => best,
            Self::BestRules => Setting { evidence: Evidence::Both, ..best },
        }
    }

    /// What may be changed, one axis after another; each list holds the alternatives to the current choice.
    fn axes(self, shape: &Traits) -> Vec<Vec<Change>> {
        let product_of_raw = |setting: &mut Setting| {
            (setting.t_norm, setting.calibration) = (TNorm::Product, Calibration::Raw);
        };
        let mut axes: Vec<Vec<Change>> = Vec::new();
        match self {
            Self::PaperBeam | Self::PaperContinuous => {
                if shape.joins {
                    let mut logic: Vec<Change> = vec![Box::new(|setting| setting.t_norm = TNorm::Godel)];
                    if !shape.unites && !shape.negates {
                        logic.push(Box::new(product_of_raw));
                    }
                    if self == Self::PaperBeam {
                        for t_norm in [TNorm::Product, TNorm::Godel] {
                            let of_row = (t_norm, Calibration::MinMax);
                            logic.push(change(move |s| (s.t_norm, s.calibration) = of_row));
                        }
                    }
                    axes.push(logic);
                }
                if self == Self::PaperContinuous && shape.variables > 0 {
                    let weights = [0.005, 0.01, 0.1, 0.5, 2.0];
                    axes.push(
                        weights.map(|reg| change(move |s| s.search = Search::Continuous { reg })).into(),
                    );
                }
                if self == Self::PaperBeam && shape.variables > 0 {
                    // k values of each atom are k² assignments of two variables, k³ of three.
                    let most = match shape.variables {
                        1 => 256,
                        2 => 64,
                        _ => 8,
                    };
                    let widths = [4, 8, 32, 64, 128, 256].into_iter().filter(|k| *k <= most);
                    axes.push(widths.map(|k| change(move |s| s.search = Search::Paper { k })).collect());
                }
            }
            Self::Best | Self::BestRules => {
                if shape.joins {
                    let softer = [0.6, 0.7, 0.8, 0.9, 1.15];
                    axes.push(softer.map(|tau| change(move |s| s.sharpness = tau)).into());
                    axes.push(vec![
                        change(|s| s.calibration = Calibration::Softmax),
                        change(|s| (s.calibration, s.sharpness) = (Calibration::Sigmoid, 1.0)),
                    ]);
                    axes.push(vec![change(|s| s.t_norm = TNorm::Godel)]);
                    axes.push(vec![change(|s| s.known = Known::Ignore)]);
                }
                axes.push([0.1, 0.0].map(|unseen| change(move |s| s.unseen = unseen)).into());
                if shape.negates {
                    axes.push([2.0, 3.0, 6.0, 12.0].map(|c| change(move |s| s.negation = c)).into());
                }
                if shape.negates_paths {
                    axes.push(vec![change(|s| s.negated = Reading::Edge)]);
                }
                if shape.unites && shape.variables > 0 {
                    axes.push(vec![change(|s| s.union = Union::InPlace)]);
                }
                if shape.variables > 0 {
                    let exact = |floor, k| change(move |s| s.search = Search::Exact { floor, k });
                    axes.push(vec![exact(0.001, 512)]);
                }
                if self == Self::BestRules {
                    // Rules help most types, not all.
                    axes.push(vec![change(|s| s.evidence = Evidence::Model)]);
                }
            }
        }
        axes
    }
}

/// How far the choice of a setting is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TrialsDone {
    /// How many settings were tried.
    pub done: usize,
    /// How many there are to try, at most.
    pub all: usize,
}

impl Evaluator<'_> {
    /// Chooses a setting for a type by Hits@3 on these of its (validation) queries, and by MRR where that is
    /// equal. One axis of the family is tried after another, and the best setting is kept each time. Another
    /// search is taken only if it is better by a thousandth; in our own family, another logic or calibration
    /// only if the gain exceeds its standard error, so that few queries do not mislead. Listeners hear
    /// [`TrialsDone`].
    pub fn tune(
        &self,
        family: Family,
        group: &QueryGroup,
        chosen: &[usize],
        control: &Control,
    ) -> Result<Choice, BenchmarkError> {
        choose(family, group, chosen, Pace::exactly(chosen.len()), control, self.answering(group, control))
    }

    /// The same on as many queries as are needed: on the first of these at first, and on twice as many, as the
    /// [`Pace`] says, as long as several settings of an axis are within two standard errors of its best. Every
    /// beginning of the list must be a fair sample, as [`Part::spread`](super::Part::spread) makes it.
    pub fn tune_adaptively(
        &self,
        family: Family,
        group: &QueryGroup,
        order: &[usize],
        control: &Control,
    ) -> Result<Choice, BenchmarkError> {
        let answer = self.answering(group, control);
        Ok(Choice { adaptive: true, ..choose(family, group, order, Pace::ADAPTIVE, control, answer)? })
    }

    fn answering<'a>(&'a self, group: &'a QueryGroup, control: &'a Control) -> Box<Answer<'a>> {
        Box::new(move |setting, queries| {
            let outcome = self.run(group, queries, setting, control)?;
            Ok(outcome.ranks.iter().map(|ranks| LinkMetrics::of(ranks.iter().copied())).collect())
        })
    }
}

fn choose(
    family: Family,
    group: &QueryGroup,
    order: &[usize],
    pace: Pace,
    control: &Control,
    answer: Box<Answer<'_>>,
) -> Result<Choice, BenchmarkError> {
    let traits = Traits::of(group)?;
    let axes = family.axes(&traits);
    let mut start = family.start();
    // With a single atom every calibration keeps the order; but softmax-count has a ceiling, at which
    // the best answers would tie.
    if !traits.joins && start.calibration == Calibration::SoftmaxCount {
        start.calibration = Calibration::Softmax;
    }
    let (all, fingerprint) = (1 + axes.iter().map(Vec::len).sum::<usize>(), group.fingerprint());
    if axes.is_empty() {
        return Ok(Choice { setting: start, trials: Vec::new(), fingerprint, adaptive: false, lead: None });
    }
    let mut race = Race::new(order, pace, answer);
    let mut done = 0;
    let mut enter = |race: &mut Race<'_>, setting: Setting| {
        control.tell(&TrialsDone { done, all });
        done += 1;
        race.enter(setting)
    };
    let plain = enter(&mut race, start)?;
    let mut best = plain;
    let count = axes.len();
    for (index, axis) in axes.into_iter().enumerate() {
        let start = race.setting(best);
        let mut others = Vec::with_capacity(axis.len());
        for change in axis {
            let mut setting = start;
            change(&mut setting);
            others.push(enter(&mut race, setting)?);
        }
        let (others, queries) = race.tell_apart(best, others, count - index)?;
        for other in others {
            let [score, new] = [best, other].map(|run| race.metrics(run, queries));
            let margin = margin(family, &race, (best, other), queries);
            if (new.hits[1], new.mrr) > (score.hits[1] + margin, score.mrr) {
                best = other;
            }
        }
    }
    let trial = |(setting, metrics, error): (Setting, LinkMetrics, f64)| Trial {
        setting,
        metrics,
        standard_error: Some(error),
    };
    let trials: Vec<Trial> = race.results().map(trial).collect();
    let nothing = nothing_found(&trials);
    let best = if nothing { plain } else { best };
    let lead = if nothing { None } else { race.lead(best) };
    Ok(Choice { setting: race.setting(best), trials, fingerprint, adaptive: false, lead })
}

/// By how much Hits@3 must rise to leave a setting for another.
fn margin(family: Family, race: &Race<'_>, (best, other): (usize, usize), queries: usize) -> f64 {
    let (now, new) = (race.setting(best), race.setting(other));
    if new.search != now.search {
        // A deeper search takes many times as long, so it must be clearly better.
        WORTH_IT
    } else if matches!(family, Family::PaperBeam | Family::PaperContinuous) || new.is_like(&now) {
        0.0
    } else {
        race.error_between(other, best, queries)
    }
}

/// Whether no trial ranked any answer among the first three: then the lower ranks mean too little to choose
/// by, and the default stays.
fn nothing_found(trials: &[Trial]) -> bool {
    trials.iter().all(|trial| trial.metrics.hits[1] <= 0.0)
}

/// By how much Hits@3 must rise for a deeper search.
const WORTH_IT: f64 = 0.001;

impl Setting {
    /// Whether another setting differs in nothing but sharpness.
    fn is_like(&self, other: &Self) -> bool {
        Self { sharpness: other.sharpness, ..*self } == *other
    }
}

type Change = Box<dyn Fn(&mut Setting)>;

fn change(f: impl Fn(&mut Setting) + 'static) -> Change {
    Box::new(f)
}
