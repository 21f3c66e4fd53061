//! Choosing how to answer each type of query, on validation queries only.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{BenchmarkError, Evaluator, QueryGroup, Reading, Search, Setting};
use crate::control::Control;
use crate::logic::TNorm;
use crate::model::{Calibration, LinkMetrics};
use crate::plan::Union;
use crate::query::Formula;
use crate::search::{Evidence, Known};

/// A family of settings: what may be chosen from.
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
    /// The same with rules beside the model.
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
    /// Everything that was tried, in order, with how it did on how many validation queries.
    pub trials: Vec<Trial>,
    /// The [fingerprint](QueryGroup::fingerprint) of the queries that it was chosen on.
    #[serde(default)]
    pub fingerprint: String,
}

impl Choice {
    /// On how many queries it was chosen; none where there was nothing to choose, as for 1p, in which
    /// every setting gives the same order.
    pub fn queries(&self) -> Option<usize> {
        self.trials.first().map(|trial| trial.metrics.count)
    }

    /// Whether settings were tried, and none found an answer among the first three: then it is the default.
    pub fn is_by_default(&self) -> bool {
        !self.trials.is_empty() && nothing_found(&self.trials)
    }

    /// Whether it was chosen on as many queries as are wanted.
    pub fn is_good_for(&self, wanted: usize) -> bool {
        self.queries().is_none_or(|queries| queries >= wanted)
    }
}

/// One setting on the validation queries.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Trial {
    /// The setting.
    pub setting: Setting,
    /// How it did.
    pub metrics: LinkMetrics,
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

    /// What may be changed, one thing after another; each list holds alternatives to what is there.
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
    /// Chooses a setting for a type by Hits@3 on some of its (validation) queries, MRR where that is
    /// the same: one axis of the family after another, each time the best kept; another search
    /// only where it is better by a thousandth, in our own family another logic or calibration only where the
    /// gain is more than its standard error, so that few queries do not mislead. Tells `control` of
    /// [`TrialsDone`].
    pub fn tune(
        &self,
        family: Family,
        group: &QueryGroup,
        chosen: &[usize],
        control: &Control,
    ) -> Result<Choice, BenchmarkError> {
        let traits = Traits::of(group)?;
        let axes = family.axes(&traits);
        let all = 1 + axes.iter().map(Vec::len).sum::<usize>();
        let mut trials: Vec<Trial> = Vec::new();
        let mut attempt = |setting: Setting| {
            control.tell(&TrialsDone { done: trials.len(), all });
            let outcome = self.run(group, chosen, &setting, control)?;
            let metrics = outcome.metrics();
            trials.push(Trial { setting, metrics });
            let hits = |ranks: &Vec<f64>| LinkMetrics::of(ranks.iter().copied()).hits[1];
            Ok::<_, BenchmarkError>((metrics, outcome.ranks.iter().map(hits).collect::<Vec<f64>>()))
        };
        let mut best = family.start();
        // Of one atom every calibration keeps the order; but softmax-count has a ceiling, below which the
        // best would tie.
        if !traits.joins && best.calibration == Calibration::SoftmaxCount {
            best.calibration = Calibration::Softmax;
        }
        let plain = best;
        if axes.is_empty() {
            return Ok(Choice { setting: best, trials, fingerprint: group.fingerprint() });
        }
        let (mut score, mut hits) = attempt(best)?;
        for axis in axes {
            let start = best;
            for change in axis {
                let mut setting = start;
                change(&mut setting);
                let (metrics, new_hits) = attempt(setting)?;
                let margin = if setting.search != best.search {
                    // A deeper search takes many times as long, so it has to earn it.
                    WORTH_IT
                } else if matches!(family, Family::PaperBeam | Family::PaperContinuous)
                    || setting.is_like(&best)
                {
                    0.0
                } else {
                    standard_error(&new_hits, &hits)
                };
                if (metrics.hits[1], metrics.mrr) > (score.hits[1] + margin, score.mrr) {
                    (best, score, hits) = (setting, metrics, new_hits);
                }
            }
        }
        if nothing_found(&trials) {
            best = plain;
        }
        Ok(Choice { setting: best, trials, fingerprint: group.fingerprint() })
    }
}

/// Whether no trial found any answer among the first three: then the ranks far below, by which one could
/// still be chosen, say nothing, and the default stays.
fn nothing_found(trials: &[Trial]) -> bool {
    trials.iter().all(|trial| trial.metrics.hits[1] <= 0.0)
}

/// By how much Hits@3 must rise for a deeper search.
const WORTH_IT: f64 = 0.001;

/// The standard error of the mean difference of two figures of the same queries.
fn standard_error(new: &[f64], old: &[f64]) -> f64 {
    let n = new.len().min(old.len()).max(2) as f64;
    let differences = || new.iter().zip(old).map(|(new, old)| new - old);
    let mean = differences().sum::<f64>() / n;
    let variance = differences().map(|it| (it - mean).powi(2)).sum::<f64>() / (n - 1.0);
    (variance / n).sqrt()
}

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

/// What a type of query has that a setting can matter for.
struct Traits {
    /// Existential variables.
    variables: usize,
    /// Whether there is more than one atom.
    joins: bool,
    unites: bool,
    negates: bool,
    negates_paths: bool,
}

impl Traits {
    fn of(group: &QueryGroup) -> Result<Self, BenchmarkError> {
        let template = group.template()?;
        let query = template.query();
        let mut traits = Self {
            variables: query.variables.len().saturating_sub(1),
            joins: false,
            unites: false,
            negates: false,
            negates_paths: template.with_edges_negated() != template,
        };
        let mut atoms = 0;
        query.formula.for_each_atom(&mut |_| atoms += 1);
        traits.joins = atoms > 1;
        traits.note(&query.formula);
        Ok(traits)
    }

    fn note_all<E, R>(&mut self, parts: &[Formula<E, R>]) {
        for part in parts {
            self.note(part);
        }
    }

    fn note<E, R>(&mut self, formula: &Formula<E, R>) {
        match formula {
            Formula::Atom(_) => {}
            Formula::And(parts) => self.note_all(parts),
            Formula::Or(parts) => {
                self.unites = true;
                self.note_all(parts);
            }
            Formula::Not(part) => {
                self.negates = true;
                self.note(part);
            }
            Formula::Exists(_, part) => self.note(part),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_standard_error_is_that_of_paired_differences() {
        let apart = standard_error(&[1.0, 0.0, 1.0, 0.0], &[0.0; 4]);
        assert!((apart - (1.0 / 12.0f64).sqrt()).abs() < 1e-12, "{apart}");
        // What both have in common does not count, nor does a gain that every query has.
        assert!(standard_error(&[1.0, 0.5, 1.0], &[0.5, 0.0, 0.5]) < 1e-12);
        assert!(standard_error(&[], &[]) < 1e-12);
    }
}
