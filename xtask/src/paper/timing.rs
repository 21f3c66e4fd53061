//! Milliseconds a query by type, all methods in one run: the figure of the paper's appendix B.

use std::collections::BTreeMap;

use relatum::Engine;
use relatum::benchmark::PUBLISHED_TYPES;
use serde::{Deserialize, Serialize};

use crate::bench::baselines;

/// What was measured, and where.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Timing {
    /// The rank of the link predictor.
    pub(super) rank: usize,
    /// Queries of each type, at most.
    pub(super) queries: usize,
    pub(super) machine: String,
    pub(super) threads: usize,
    pub(super) rows: Vec<TimingRow>,
}

/// One method.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct TimingRow {
    pub(super) method: String,
    /// The median over queries of the best of three, by type.
    pub(super) milliseconds: BTreeMap<String, f64>,
}

/// Times validation queries with a trained model, one at a time.
pub(super) fn measure(engine: &Engine, model: &str, queries: usize) -> anyhow::Result<Timing> {
    let open = engine.model(Some(model))?;
    let valid = engine.queries().valid.clone();
    let timed = baselines::times(engine.graph(), valid, queries, &open.model)?;
    let row = |(method, times): (String, [std::time::Duration; 9])| TimingRow {
        method,
        milliseconds: PUBLISHED_TYPES
            .iter()
            .zip(times)
            .map(|(shape, time)| ((*shape).to_owned(), 1e3 * time.as_secs_f64()))
            .collect(),
    };
    Ok(Timing {
        rank: open.card.rank,
        queries,
        machine: crate::bench::processor(),
        threads: rayon::current_num_threads(),
        rows: timed.into_iter().map(row).collect(),
    })
}
