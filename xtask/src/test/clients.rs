//! The server as clients see it that other people wrote: SPARQLWrapper, rdflib, mcp, schemathesis.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Context;

use crate::shell::{self, cargo, root};

/// Where the tests and what they need are.
const TESTS: &str = "crates/relatum-server/tests/clients";

pub(super) fn run() -> anyhow::Result<()> {
    shell::run(&mut cargo(&["build", "--package", "relatum-cli"]))?;
    let relatum = target().join("debug/relatum");
    let python = environment(&root().join(TESTS).join("requirements.txt"))?;
    let folder = tempfile::tempdir()?;
    let project = folder.path().join("films");
    shell::run(Command::new(&relatum).arg("demo").arg(&project).stdout(std::process::Stdio::null()))?;
    shell::run(
        Command::new(python)
            .args(["-m", "pytest", "-q", "-p", "no:cacheprovider", TESTS])
            .current_dir(root())
            .env("RELATUM", &relatum)
            .env("RELATUM_PROJECT", &project)
            .env("PYTHONDONTWRITEBYTECODE", "1"),
    )
}

/// The target folder of cargo.
pub(super) fn target() -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), PathBuf::from)
}

/// A Python of our own with these packages, made once and again when they change; gives its interpreter.
fn environment(requirements: &Path) -> anyhow::Result<PathBuf> {
    let folder = target().join("venv");
    let python = folder.join("bin/python");
    let wanted = fs::read_to_string(requirements)?;
    let stamp = folder.join("installed.txt");
    if fs::read_to_string(&stamp).is_ok_and(|installed| installed == wanted) {
        return Ok(python);
    }
    shell::run(Command::new("python3").args(["-m", "venv"]).arg(&folder))
        .context("Python 3.10 or newer with its module venv is needed (Debian: apt install python3-venv)")?;
    let mut install = Command::new(&python);
    install.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "-r"]).arg(requirements);
    shell::run(&mut install)?;
    fs::write(stamp, wanted)?;
    Ok(python)
}
