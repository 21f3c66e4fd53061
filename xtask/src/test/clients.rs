//! Tests the server with clients that other people wrote: `SPARQLWrapper`, rdflib, mcp, schemathesis.

use std::process::Command;

use crate::python::environment;
use crate::shell::{self, root};

/// Where the tests and what they need are.
const TESTS: &str = "crates/relatum-server/tests/clients";

pub(super) fn run() -> anyhow::Result<()> {
    let relatum = super::command()?;
    let python = environment("clients", &root().join(TESTS).join("requirements.txt"))?;
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
