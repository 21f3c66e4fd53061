//! How long work will take: operations by a simple model, at rates that were measured on this machine.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};

use relatum::store::write_atomically;
use relatum::train::{Floor, Settings};
use serde::{Deserialize, Serialize};

use super::args::Name;

/// Operations that training a baseline takes: what its recommended number of epochs is chosen for.
pub(super) const BASELINE: f64 = 4e14;
/// Mining rules is not made of products: what these would do in the seven minutes that it takes on FB15k-237.
const RULES: f64 = 4e13;
/// Questions of each shape that are timed.
pub(super) const TIMED: usize = 60;

/// What the plan says about its figures.
pub(super) const MODEL: &str = "an epoch: 3 products of (head, relation) pairs × candidates × vector; a query: rows × entities × vector, \
     where a variable takes 32 (CQD-Beam) or 128 (best) rows; choosing settings: 8 to 14 trials";

/// The size of a dataset.
#[derive(Clone, Copy, Debug)]
pub(super) struct Size {
    entities: f64,
    /// Pairs of head and relation with training edges.
    pairs: f64,
    /// Test queries of type 1p, and of every other type.
    queries: [usize; 2],
}

impl Name {
    fn size(self) -> Size {
        match self {
            Self::Fb15k => Size { entities: 14_951.0, pairs: 273_710.0, queries: [67_016, 8_000] },
            Self::Fb15k237 => Size { entities: 14_505.0, pairs: 149_689.0, queries: [22_812, 5_000] },
            Self::Nell995 => Size { entities: 63_361.0, pairs: 107_982.0, queries: [17_034, 4_000] },
        }
    }
}

/// Operations of an epoch.
pub(super) fn epoch(dataset: Name, settings: &Settings) -> f64 {
    let Size { entities, pairs, .. } = dataset.size();
    let columns = settings.candidates.map_or(entities, |n| entities.min(n as f64));
    6.0 * pairs * columns * width(&settings.predictor, settings.rank)
}

/// Operations of mining the rules of a dataset.
pub(super) fn rules(dataset: Name) -> f64 {
    RULES * dataset.size().pairs / Name::Fb15k237.size().pairs
}

/// Operations of choosing a setting for a type and of answering its queries.
pub(super) fn cell(
    dataset: Name,
    (predictor, rank): (&str, usize),
    method: &str,
    shape: &str,
    (limit, tune_on): (Option<usize>, usize),
) -> f64 {
    let Size { entities, queries, .. } = dataset.size();
    let there = queries[usize::from(shape != "1p")];
    let queries = limit.map_or(there, |limit| limit.min(there));
    let trials = match method {
        _ if shape == "1p" => 0,
        "paper-beam" => 11,
        "paper-co" => 8,
        "best" => 13,
        "best-rules" => 14,
        _ => 0,
    };
    let asked = (queries + trials * tune_on) as f64;
    asked * rows(method, shape, entities) * 2.0 * entities * width(predictor, rank)
}

/// Operations of timing all shapes, three times each, with two methods.
pub(super) fn timing(dataset: Name, rank: usize) -> f64 {
    let shapes = relatum::benchmark::PUBLISHED_TYPES;
    let of = |method| {
        shapes
            .map(|shape| cell(dataset, ("complex", rank), method, shape, (Some(TIMED), 0)))
            .iter()
            .sum::<f64>()
    };
    3.0 * (of("paper-beam") + of("best"))
}

/// Rows that a query takes.
fn rows(method: &str, shape: &str, entities: f64) -> f64 {
    let k = match method {
        "paper-beam" => 32.0,
        "best" | "best-rules" => 128.0,
        // 300 steps of some 15 products of vectors for each atom, then one row.
        "paper-co" => return 1.0 + 4_500.0 * atoms(shape) / entities,
        _ => return if shape == "2u" || shape == "up" { 2.0 } else { 1.0 },
    };
    match shape {
        "2p" | "ip" | "pi" => k + 1.0,
        // The paper's beam follows k values of every value; ours joins those that agree.
        "3p" if method == "paper-beam" => 1.0 + k + k * k,
        "3p" | "up" => 1.0 + 2.0 * k,
        _ => atoms(shape),
    }
}

fn atoms(shape: &str) -> f64 {
    match shape {
        "1p" => 1.0,
        "2p" | "2i" | "2u" => 2.0,
        _ => 3.0,
    }
}

/// Numbers of a vector.
fn width(predictor: &str, rank: usize) -> f64 {
    if predictor == "complex" { 2.0 * rank as f64 } else { rank as f64 }
}

/// How fast this machine did what, in operations of the model above; kept in the work folder.
#[derive(Debug)]
pub(super) struct Rates {
    file: PathBuf,
    measured: BTreeMap<String, Rate>,
    /// Operations a second of products of this machine.
    pub(super) products: f64,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
struct Rate {
    operations: f64,
    seconds: f64,
}

impl Rates {
    /// The rates of a work folder, and that of products, measured now. Rates that cannot be read are measured again.
    pub(super) fn of(work: &Path) -> Self {
        let file = work.join("rates.json");
        let text = std::fs::read_to_string(&file).unwrap_or_default();
        let measured = serde_json::from_str(&text).unwrap_or_default();
        Self { file, measured, products: Floor::new(256, 8_192, 400).rate(256) }
    }

    /// Seconds that work of a kind will take.
    pub(super) fn seconds(&self, kind: &str, operations: f64) -> f64 {
        let usable = |rate: &&Rate| rate.operations > 0.0 && rate.seconds > 0.0;
        let own = self.measured.get(kind).filter(usable).map(|rate| rate.operations / rate.seconds);
        operations / own.unwrap_or(self.products).max(1.0)
    }

    /// Whether work of a kind was measured here.
    pub(super) fn knows(&self, kind: &str) -> bool {
        self.measured.contains_key(kind)
    }

    /// Notes that work of a kind took so long.
    pub(super) fn note(&mut self, kind: &str, operations: f64, seconds: f64) -> anyhow::Result<()> {
        let rate = self.measured.entry(kind.to_owned()).or_default();
        rate.operations += operations;
        rate.seconds += seconds;
        let text = serde_json::to_string_pretty(&self.measured)? + "\n";
        Ok(write_atomically(&self.file, |out| out.write_all(text.as_bytes()))?)
    }
}

/// A time in words.
pub(super) fn in_words(seconds: f64) -> String {
    let minutes = (seconds / 60.0).round() as u64;
    match minutes {
        0 => format!("{:.0} s", seconds.max(1.0)),
        1..60 => format!("{minutes} min"),
        _ => format!("{} h {:02} min", minutes / 60, minutes % 60),
    }
}
