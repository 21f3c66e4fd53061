//! Sample queries with hard answers, choose settings on validation queries, and measure on test queries.

mod shared;

use relatum::control::Control;
use relatum::engine::{BenchmarkOptions, SampleOptions};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = tempfile::tempdir()?;
    let engine = shared::project(folder.path())?;
    let types = ["1p", "2p", "2i"].map(str::to_owned).to_vec();
    let sampling = SampleOptions { types: types.clone(), count: Some(10), ..SampleOptions::default() };
    engine.sample(&sampling, &Control::default())?;
    let measuring = BenchmarkOptions { types, tune_on: Some(10), ..BenchmarkOptions::default() };
    let report = engine.benchmark(&measuring, &Control::default())?;
    for row in &report.rows {
        println!("{}", serde_json::to_string(row)?);
    }
    Ok(())
}
