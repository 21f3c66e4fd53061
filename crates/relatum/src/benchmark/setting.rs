//! How the queries of a type are answered: everything that a benchmark may fix or a tuner choose.

use std::fmt::{Display, Formatter};
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::logic::{Negation, TNorm};
use crate::model::Calibration;
use crate::search::{Known, Logic};

/// A way to answer queries, written as one line: what people read in a table is what files hold
/// and what the command line takes.
///
/// ```
/// use relatum::benchmark::Setting;
///
/// let setting: Setting = "beam k=64 product sigmoid ignore".parse()?;
/// assert_eq!(setting.to_string(), "beam k=64 product sigmoid ignore");
/// let ours: Setting = "exact floor=0.001 k=512".parse()?;
/// assert_eq!(ours.to_string(), "exact floor=0.001 k=512 product softmax-count train");
/// # Ok::<(), relatum::benchmark::SettingError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct Setting {
    /// Which search.
    pub search: Search,
    /// How truth values combine.
    pub t_norm: TNorm,
    /// How scores become truth values.
    pub calibration: Calibration,
    /// What scores are multiplied by before a softmax: below 1 it is softer.
    pub sharpness: f32,
    /// Which stored edges are trusted.
    pub known: Known,
    /// `c` of the negation `1 − min(1, c·x)`.
    pub negation: f32,
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

/// A text that is no setting.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{found}` is no part of a setting: expected exact, beam, paper or continuous, then any of floor=0.001, k=64, reg=0.05, \
     godel, product, lukasiewicz, a calibration ({}), sharpness=0.8, ignore, train, train+valid, all, negation=3",
    names()
)]
pub struct SettingError {
    /// The part that says nothing.
    pub found: String,
}

impl Default for Setting {
    fn default() -> Self {
        Self {
            search: Search::Exact { floor: 0.001, k: 512 },
            t_norm: TNorm::Product,
            calibration: Calibration::SoftmaxCount,
            sharpness: 1.0,
            known: Known::TRAIN,
            negation: 1.0,
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
        write!(f, " {}", known_name(self.known))?;
        if self.negation.to_bits() != 1f32.to_bits() {
            write!(f, " negation={}", self.negation)?;
        }
        Ok(())
    }
}

impl FromStr for Setting {
    type Err = SettingError;

    fn from_str(text: &str) -> Result<Self, SettingError> {
        let mut setting = Self::default();
        for word in text.split_whitespace() {
            setting.put(word).ok_or_else(|| SettingError { found: word.to_owned() })?;
        }
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

impl Setting {
    fn put(&mut self, word: &str) -> Option<()> {
        if let Some((name, value)) = word.split_once('=') {
            let number = value.parse::<f32>().ok().filter(|number| number.is_finite() && *number >= 0.0);
            match (name, &mut self.search) {
                ("floor", Search::Exact { floor, .. }) => *floor = number?,
                ("k", Search::Exact { k, .. } | Search::Beam { k } | Search::Paper { k }) => {
                    *k = value.parse().ok().filter(|k| *k > 0)?;
                }
                ("reg", Search::Continuous { reg }) => *reg = number?,
                ("sharpness", _) => self.sharpness = number.filter(|number| *number > 0.0)?,
                ("negation", _) => self.negation = number.filter(|number| *number > 0.0)?,
                _ => return None,
            }
            return Some(());
        }
        match word {
            "exact" => self.search = Self::default().search,
            "beam" => self.search = Search::Beam { k: 64 },
            "paper" => self.search = Search::Paper { k: 64 },
            "continuous" => self.search = Search::Continuous { reg: 0.05 },
            _ => match (TNorm::from_name(word), Calibration::from_name(word), known_of(word)) {
                (Some(t_norm), _, _) => self.t_norm = t_norm,
                (_, Some(calibration), _) => self.calibration = calibration,
                (_, _, Some(known)) => self.known = known,
                _ => return None,
            },
        }
        Some(())
    }
}

const KNOWN: [(&str, Known); 4] = [
    ("ignore", Known::Ignore),
    ("train", Known::TRAIN),
    ("train+valid", Known::Trust(2)),
    ("all", Known::ALL),
];

fn known_name(known: Known) -> &'static str {
    KNOWN.iter().find(|(_, other)| *other == known).map_or("ignore", |(name, _)| name)
}

fn known_of(name: &str) -> Option<Known> {
    KNOWN.iter().find(|(known, _)| *known == name).map(|(_, known)| *known)
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
                    for (_, known) in KNOWN {
                        let setting =
                            Setting { search, t_norm, calibration, known, sharpness: 0.8, negation: 3.0 };
                        assert_eq!(setting.to_string().parse(), Ok(setting));
                    }
                }
            }
        }
    }

    #[test]
    fn what_is_no_setting_is_named() {
        for (text, found) in [
            ("beam k=0", "k=0"),
            ("beem k=4", "beem"),
            ("beam floor=0.1", "floor=0.1"),
            ("product softmaxx", "softmaxx"),
            ("sharpness=NaN", "sharpness=NaN"),
        ] {
            assert_eq!(text.parse::<Setting>(), Err(SettingError { found: found.to_owned() }));
        }
    }
}
