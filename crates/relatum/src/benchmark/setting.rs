//! How the queries of a type are answered: everything that a benchmark may fix or a tuner choose.

use std::fmt::{Display, Formatter};
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::logic::{Negation, TNorm};
use crate::model::Calibration;
use crate::plan::Union;
use crate::search::{Evidence, Known, Logic};

/// A way to answer queries, written as one line, which is the same in tables, files and options.
///
/// ```
/// use relatum::benchmark::Setting;
///
/// let setting: Setting = "beam k=64 product sigmoid none".parse()?;
/// assert_eq!(setting.to_string(), "beam k=64 product sigmoid none");
/// let ours: Setting = "exact floor=0.001 k=512".parse()?;
/// assert_eq!(ours.to_string(), "exact floor=0.001 k=512 product softmax-count train");
/// # Ok::<(), relatum::benchmark::SettingError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(into = "String", try_from = "String")]
#[schemars(with = "String")]
pub struct Setting {
    /// The search to use.
    pub search: Search,
    /// How truth values combine.
    pub t_norm: TNorm,
    /// How scores become truth values.
    pub calibration: Calibration,
    /// The factor of scores before a softmax: below 1 the softmax is softer.
    pub sharpness: f32,
    /// The factor of predictions that lead to an entity of another kind than those that stand on that side of
    /// the relation in training: 1 leaves them as they are, 0 makes them count for nothing.
    pub unseen: f32,
    /// Which stored edges are trusted.
    pub known: Known,
    /// `c` of the negation `1 − min(1, c·x)`.
    pub negation: f32,
    /// How the negation of a path is read.
    pub negated: Reading,
    /// Where the alternatives of a disjunction are joined.
    pub union: Union,
    /// What speaks for an edge that is not stored.
    pub evidence: Evidence,
}

/// Two readings of a negated path, `¬∃V. r1(a, V) ∧ r2(V, A)`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Reading {
    /// As it is written, and as the answers of benchmarks are computed: no V leads to A.
    #[default]
    Path,
    /// As some systems score it: there is a V from which the last edge does not lead to A,
    /// `∃V. r1(a, V) ∧ ¬r2(V, A)`.
    Edge,
}

/// The search of a [`Setting`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Search {
    /// Every value of a variable whose message is at least `floor` times the best, at most the `k`
    /// best of them.
    Exact {
        /// The least message that is followed.
        floor: f32,
        /// The most values of a variable.
        k: usize,
    },
    /// The k best assignments.
    Beam {
        /// How many.
        k: usize,
    },
    /// The k best values of each atom by itself, as in the paper.
    Paper {
        /// How many.
        k: usize,
    },
    /// Optimised embeddings of the variables (CQD-CO).
    Continuous {
        /// The weight of N3 on the embeddings.
        reg: f32,
    },
}

/// Why a text cannot be read as a setting.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SettingError {
    /// An unknown word. Write one of those that the message lists.
    #[error(
        "`{found}` is not part of a setting: expected exact, beam, paper or continuous, then any of floor=0.001, k=64, reg=0.05, \
         godel, product, lukasiewicz, a calibration ({}), sharpness=0.8, unseen=0.1, none, train, train+valid, all, negation=3, \
         negated=edge, union=in-place, evidence=both",
        names()
    )]
    Unknown {
        /// The word.
        found: String,
    },
    /// A number outside its range, or no number at all.
    #[error("`{found}`: expected {expected}")]
    Range {
        /// The word.
        found: String,
        /// What the number must be.
        expected: &'static str,
    },
    /// A number that the search does not use: leave it out, or name another search.
    #[error("`{found}` has no meaning for the search `{search}`: {belongs}")]
    Misplaced {
        /// The word.
        found: String,
        /// The search.
        search: &'static str,
        /// Where it belongs.
        belongs: &'static str,
    },
    /// Two words for the same choice: leave one out.
    #[error("`{found}` after `{before}`: a setting has one {what}, so leave one of them out")]
    Twice {
        /// The word.
        found: String,
        /// The one before it.
        before: String,
        /// What both are about.
        what: &'static str,
    },
    /// No word at all.
    #[error("the setting is empty: write one as in `beam k=64 product softmax-count train`")]
    Empty,
}

impl Default for Setting {
    fn default() -> Self {
        Self {
            search: Search::Exact { floor: 0.001, k: 512 },
            t_norm: TNorm::Product,
            calibration: Calibration::SoftmaxCount,
            sharpness: 1.0,
            unseen: 1.0,
            known: Known::TRAIN,
            negation: 1.0,
            negated: Reading::Path,
            union: Union::AtTheEnd,
            evidence: Evidence::Model,
        }
    }
}

impl Setting {
    /// How truth values combine.
    pub fn logic(&self) -> Logic {
        Logic { t_norm: self.t_norm, negation: Negation { scale: self.negation } }
    }
}

impl Display for Setting {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        match self.search {
            Search::Exact { floor, k } => write!(f, "exact floor={floor} k={k}")?,
            Search::Beam { k } => write!(f, "beam k={k}")?,
            Search::Paper { k } => write!(f, "paper k={k}")?,
            Search::Continuous { reg } => write!(f, "continuous reg={reg}")?,
        }
        write!(f, " {} {}", self.t_norm.name(), self.calibration.name())?;
        if self.sharpness.to_bits() != 1f32.to_bits() {
            write!(f, " sharpness={}", self.sharpness)?;
        }
        if self.unseen.to_bits() != 1f32.to_bits() {
            write!(f, " unseen={}", self.unseen)?;
        }
        write!(f, " {}", self.known.name())?;
        if self.negation.to_bits() != 1f32.to_bits() {
            write!(f, " negation={}", self.negation)?;
        }
        if self.negated == Reading::Edge {
            write!(f, " negated=edge")?;
        }
        if self.union == Union::InPlace {
            write!(f, " union=in-place")?;
        }
        if self.evidence != Evidence::Model {
            write!(f, " evidence={}", self.evidence.name())?;
        }
        Ok(())
    }
}

impl FromStr for Setting {
    type Err = SettingError;

    /// Words in any order, each choice at most once; omitted choices are those of the default.
    fn from_str(text: &str) -> Result<Self, SettingError> {
        let mut said: Vec<(&'static str, &str)> = Vec::new();
        for word in text.split_whitespace() {
            let what = subject(word).ok_or_else(|| SettingError::Unknown { found: word.to_owned() })?;
            if let Some((_, before)) = said.iter().find(|(other, _)| *other == what) {
                return Err(SettingError::Twice {
                    found: word.to_owned(),
                    before: (*before).to_owned(),
                    what,
                });
            }
            said.push((what, word));
        }
        if said.is_empty() {
            return Err(SettingError::Empty);
        }
        // The search comes first, because it decides which numbers are allowed.
        said.sort_by_key(|(what, _)| *what != SEARCH);
        let mut setting = Self::default();
        said.into_iter().try_for_each(|(_, word)| setting.put(word))?;
        Ok(setting)
    }
}

impl From<Setting> for String {
    fn from(setting: Setting) -> Self {
        setting.to_string()
    }
}

impl TryFrom<String> for Setting {
    type Error = SettingError;

    fn try_from(text: String) -> Result<Self, SettingError> {
        text.parse()
    }
}

const SEARCH: &str = "search";

/// What a word is about; `None` if it is unknown.
fn subject(word: &str) -> Option<&'static str> {
    if let Some((name, _)) = word.split_once('=') {
        return ["floor", "k", "reg", "sharpness", "unseen", "negation", "negated", "union", "evidence"]
            .into_iter()
            .find(|known| *known == name);
    }
    match word {
        "exact" | "beam" | "paper" | "continuous" => Some(SEARCH),
        _ if TNorm::from_name(word).is_some() => Some("t-norm"),
        _ if Calibration::from_name(word).is_some() => Some("calibration"),
        _ if Known::from_name(word).is_some() => Some("choice of trusted facts"),
        _ => None,
    }
}

impl Setting {
    fn put(&mut self, word: &str) -> Result<(), SettingError> {
        if let Some((name, value)) = word.split_once('=') {
            return self.put_number(word, name, value);
        }
        match word {
            "exact" => self.search = Self::default().search,
            "beam" => self.search = Search::Beam { k: 64 },
            "paper" => self.search = Search::Paper { k: 64 },
            "continuous" => self.search = Search::Continuous { reg: 0.05 },
            _ => match (TNorm::from_name(word), Calibration::from_name(word), Known::from_name(word)) {
                (Some(t_norm), _, _) => self.t_norm = t_norm,
                (_, Some(calibration), _) => self.calibration = calibration,
                (_, _, Some(known)) => self.known = known,
                _ => return Err(SettingError::Unknown { found: word.to_owned() }),
            },
        }
        Ok(())
    }

    fn put_number(&mut self, word: &str, name: &str, value: &str) -> Result<(), SettingError> {
        let found = || word.to_owned();
        let range = |expected| move || SettingError::Range { found: word.to_owned(), expected };
        let number = |most: f32| value.parse::<f32>().ok().filter(|it| (0.0..=most).contains(it));
        let above_zero = |most: f32| number(most).filter(|it| *it > 0.0);
        let misplaced = |search, belongs| SettingError::Misplaced { found: found(), search, belongs };
        match (name, &mut self.search) {
            ("floor", Search::Exact { floor, .. }) => {
                *floor = number(1.0).ok_or_else(range("floor to be a number from 0 to 1"))?;
            }
            ("k", Search::Exact { k, .. } | Search::Beam { k } | Search::Paper { k }) => {
                let whole = value.parse().ok().filter(|k| (1..=MOST_K).contains(k));
                *k = whole.ok_or_else(range("k to be a whole number from 1 to 1000000"))?;
            }
            ("reg", Search::Continuous { reg }) => {
                *reg = number(1000.0).ok_or_else(range("reg to be a number from 0 to 1000"))?;
            }
            ("sharpness", _) => {
                let expected = "sharpness to be a number above 0, at most 100";
                self.sharpness = above_zero(100.0).ok_or_else(range(expected))?;
            }
            ("unseen", _) => {
                self.unseen = number(1.0).ok_or_else(range("unseen to be a number from 0 to 1"))?;
            }
            ("negation", _) => {
                let expected = "negation to be a number above 0, at most 1000";
                self.negation = above_zero(1000.0).ok_or_else(range(expected))?;
            }
            ("negated", _) => {
                self.negated = match value {
                    "path" => Reading::Path,
                    "edge" => Reading::Edge,
                    _ => return Err(range("negated to be path or edge")()),
                };
            }
            ("union", _) => {
                let expected = "union to be in-place or at-the-end";
                self.union = Union::from_name(value).ok_or_else(range(expected))?;
            }
            ("evidence", _) => {
                let expected = "evidence to be model, rules or both";
                self.evidence = Evidence::from_name(value).ok_or_else(range(expected))?;
            }
            ("floor", search) => return Err(misplaced(search.name(), "it belongs to exact")),
            ("k", search) => return Err(misplaced(search.name(), "it belongs to exact, beam and paper")),
            ("reg", search) => return Err(misplaced(search.name(), "it belongs to continuous")),
            _ => return Err(SettingError::Unknown { found: found() }),
        }
        Ok(())
    }
}

/// The largest k: more than the entities of any graph of the literature.
const MOST_K: usize = 1_000_000;

impl Search {
    /// The word for it.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Exact { .. } => "exact",
            Self::Beam { .. } => "beam",
            Self::Paper { .. } => "paper",
            Self::Continuous { .. } => "continuous",
        }
    }
}

fn names() -> String {
    Calibration::ALL.map(Calibration::name).join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_setting_is_read_as_it_is_written() {
        let searches = [
            Search::Exact { floor: 2e-4, k: 100 },
            Search::Beam { k: 1 },
            Search::Paper { k: 8 },
            Search::Continuous { reg: 0.01 },
        ];
        for search in searches {
            for t_norm in TNorm::ALL {
                for calibration in Calibration::ALL {
                    for known in [Known::Ignore, Known::TRAIN, Known::Trust(2), Known::ALL] {
                        for negated in [Reading::Path, Reading::Edge] {
                            let (sharpness, unseen, negation, union) = (0.8, 0.1, 3.0, Union::InPlace);
                            let setting = Setting {
                                search,
                                t_norm,
                                calibration,
                                sharpness,
                                unseen,
                                known,
                                negation,
                                negated,
                                union,
                                evidence: Evidence::Both,
                            };
                            assert_eq!(setting.to_string().parse(), Ok(setting));
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn words_come_in_any_order() {
        let setting: Setting = "k=4 godel beam".parse().unwrap();
        assert_eq!(setting.to_string(), "beam k=4 godel softmax-count train");
    }

    #[test]
    fn a_wrong_setting_is_refused_with_what_was_expected() {
        let message = |text: &str| text.parse::<Setting>().unwrap_err().to_string();
        assert!(message("beem k=4").starts_with("`beem` is not part of a setting: expected exact, beam"));
        assert!(message("product softmaxx").starts_with("`softmaxx` is not part"));
        insta::assert_snapshot!(message("beam k=0"), @"`k=0`: expected k to be a whole number from 1 to 1000000");
        insta::assert_snapshot!(message("beam k=1000001"), @"`k=1000001`: expected k to be a whole number from 1 to 1000000");
        insta::assert_snapshot!(message("beam k="), @"`k=`: expected k to be a whole number from 1 to 1000000");
        insta::assert_snapshot!(message("exact floor=1.5"), @"`floor=1.5`: expected floor to be a number from 0 to 1");
        insta::assert_snapshot!(message("exact floor=-0.1"), @"`floor=-0.1`: expected floor to be a number from 0 to 1");
        insta::assert_snapshot!(message("sharpness=0"), @"`sharpness=0`: expected sharpness to be a number above 0, at most 100");
        insta::assert_snapshot!(message("sharpness=NaN"), @"`sharpness=NaN`: expected sharpness to be a number above 0, at most 100");
        insta::assert_snapshot!(message("sharpness=1e30"), @"`sharpness=1e30`: expected sharpness to be a number above 0, at most 100");
        insta::assert_snapshot!(message("negation=inf"), @"`negation=inf`: expected negation to be a number above 0, at most 1000");
        insta::assert_snapshot!(message("negated=atom"), @"`negated=atom`: expected negated to be path or edge");
        insta::assert_snapshot!(message("continuous reg=-1"), @"`reg=-1`: expected reg to be a number from 0 to 1000");
        insta::assert_snapshot!(message("beam floor=0.1"), @"`floor=0.1` has no meaning for the search `beam`: it belongs to exact");
        insta::assert_snapshot!(message("k=4 continuous"), @"`k=4` has no meaning for the search `continuous`: it belongs to exact, beam and paper");
        insta::assert_snapshot!(message("reg=0.1"), @"`reg=0.1` has no meaning for the search `exact`: it belongs to continuous");
        insta::assert_snapshot!(message("beam k=4 k=8"), @"`k=8` after `k=4`: a setting has one k, so leave one of them out");
        insta::assert_snapshot!(message("beam exact"), @"`exact` after `beam`: a setting has one search, so leave one of them out");
        insta::assert_snapshot!(message("godel product"), @"`product` after `godel`: a setting has one t-norm, so leave one of them out");
        insta::assert_snapshot!(message("train all"), @"`all` after `train`: a setting has one choice of trusted facts, so leave one of them out");
        insta::assert_snapshot!(message("  "), @"the setting is empty: write one as in `beam k=64 product softmax-count train`");
    }
}
