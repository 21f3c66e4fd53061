//! How queries were answered.

use std::fmt::{Display, Formatter};

use serde::{Deserialize, Serialize};

use super::Setting;

/// How the queries of a type were answered: by a search under a setting, or by a baseline, which has no settings.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Way {
    /// By a search.
    Search(Setting),
    /// By the baseline of this name.
    Baseline(String),
}

impl Display for Way {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Search(setting) => setting.fmt(f),
            Self::Baseline(name) => f.write_str(name),
        }
    }
}

impl From<Setting> for Way {
    fn from(setting: Setting) -> Self {
        Self::Search(setting)
    }
}
