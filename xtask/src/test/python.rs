//! Tests the engine in Python: in its own virtual environment, tested with pytest, type-checked with mypy.

use std::path::Path;
use std::process::Command;

use crate::python;
use crate::shell::{self, root};

/// Where the tests and what they need are.
const CRATE: &str = "crates/relatum-python";

pub(super) fn run(peers: bool) -> anyhow::Result<()> {
    let folder = root().join(CRATE);
    let python = python::environment("python", &folder.join("tests/requirements.txt"))?;
    super::command()?;
    python::link(&python)?;
    pytest(&python, &["tests"])?;
    pytest(&python, &["python", "--doctest-modules"])?;
    // The package, and a program that uses every public name of it as its readers would.
    let typed = ["python/relatum", "tests/typed_program.py"].map(|path| folder.join(path));
    shell::run(Command::new(&python).args(["-m", "mypy", "--strict"]).args(typed).current_dir(root()))?;
    // Whether the stubs of the compiled part say what is there.
    let mut stubs = Command::new(&python);
    stubs.args(["-m", "mypy.stubtest", "--ignore-disjoint-bases", "relatum._relatum"]).current_dir(root());
    shell::run(&mut stubs)?;
    // What a registry would get: every file that a build from source needs is there.
    let sources = tempfile::tempdir()?;
    let mut sdist = Command::new(&python);
    sdist.args(["-m", "maturin", "sdist", "--out"]).arg(sources.path()).current_dir(root());
    shell::run(&mut sdist)?;
    if peers {
        let python = python::environment("peers", &folder.join("tests/peers/requirements.txt"))?;
        python::link(&python)?;
        pytest(&python, &["tests/peers"])?;
    }
    Ok(())
}

fn pytest(python: &Path, what: &[&str]) -> anyhow::Result<()> {
    let mut command = Command::new(python);
    command
        // A test that hangs says where, instead of keeping everybody waiting.
        .args(["-m", "pytest", "-q", "-p", "no:cacheprovider", "--timeout", "600"])
        .args(what)
        .current_dir(root().join(CRATE))
        .env("RELATUM", python::target().join("debug/relatum"))
        .env("PYTHONDONTWRITEBYTECODE", "1");
    shell::run(&mut command)
}
