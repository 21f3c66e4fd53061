//! Virtual environments in the target folder, with the packages that tests and wheels need.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Context;

use crate::shell::{self, root};

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

/// Puts the extension that the tests in Rust were built with beside its Python sources, and these on the path of an
/// environment: what `maturin develop` does, which would compile the engine once more, with the features of Python alone.
pub(crate) fn link(python: &Path) -> anyhow::Result<()> {
    let sources = root().join("crates/relatum-python/python");
    let name = if cfg!(target_os = "macos") { "lib_relatum.dylib" } else { "lib_relatum.so" };
    let built = target().join("debug").join(name);
    let extension = sources.join("relatum/_relatum.abi3.so");
    // A new file in its place: a process that has the old one mapped keeps it.
    let _ = fs::remove_file(&extension);
    fs::copy(&built, &extension).with_context(|| format!("cannot copy {}", built.display()))?;
    let site = "import sysconfig; print(sysconfig.get_path('purelib'), end='')";
    let site = Command::new(python).args(["-c", site]).output()?.stdout;
    let site = PathBuf::from(String::from_utf8(site)?);
    fs::write(site.join("relatum.pth"), format!("{}\n", sources.display()))
        .with_context(|| format!("cannot write into {}", site.display()))
}

/// Builds the extension with optimisation and installs it, with its Python sources in place, into an environment that
/// has maturin.
fn install_optimised(python: &Path) -> anyhow::Result<()> {
    let environment = python.parent().and_then(Path::parent).unwrap_or(Path::new("."));
    let mut develop = Command::new(python);
    develop.args(["-m", "maturin", "develop", "--quiet", "--release"]);
    shell::run(develop.current_dir(root()).env("VIRTUAL_ENV", environment))
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
    install_optimised(&python)?;
    shell::run(Command::new(&python).arg(tests.join("cost.py")))
}
