//! Virtual environments in the target folder, with the packages that tests and wheels need.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Context;

use crate::shell::{self, root};

/// How the extension is compiled.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Profile {
    /// Quickly compiled, for tests.
    Dev,
    /// Optimised, as it is published.
    Release,
}

/// Where cargo builds.
pub(crate) fn target() -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), PathBuf::from)
}

/// A virtual environment with these packages, made once and again when they change; returns its interpreter.
pub(crate) fn environment(name: &str, requirements: &Path) -> anyhow::Result<PathBuf> {
    let folder = target().join("venv").join(name);
    let python = folder.join("bin/python");
    let wanted = fs::read_to_string(requirements)
        .with_context(|| format!("cannot read {}", requirements.display()))?;
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

/// Builds the extension and installs it, with its Python sources in place, into an environment that has maturin.
pub(crate) fn install(python: &Path, profile: Profile) -> anyhow::Result<()> {
    let environment = python.parent().and_then(Path::parent).unwrap_or(Path::new("."));
    let mut develop = Command::new(python);
    develop.args(["-m", "maturin", "develop", "--quiet"]).current_dir(root()).env("VIRTUAL_ENV", environment);
    if profile == Profile::Release {
        develop.arg("--release");
    }
    shell::run(&mut develop)
}

/// `cargo xtask wheel`: one wheel for every CPython from 3.10 on
pub(crate) fn wheel() -> anyhow::Result<()> {
    let folder = target().join("wheels");
    let python = environment("python", &root().join("crates/relatum-python/tests/requirements.txt"))?;
    let mut build = Command::new(python);
    build.args(["-m", "maturin", "build", "--release", "--out"]).arg(&folder).current_dir(root());
    shell::run(&mut build)?;
    println!("the wheel is in {}", folder.display());
    Ok(())
}

/// `cargo xtask bench python`: a program in Python measures; only the extension is optimised.
pub(crate) fn bench() -> anyhow::Result<()> {
    let tests = root().join("crates/relatum-python/tests");
    let python = environment("python", &tests.join("requirements.txt"))?;
    install(&python, Profile::Release)?;
    shell::run(Command::new(&python).arg(tests.join("cost.py")))
}
