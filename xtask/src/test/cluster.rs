//! The cluster, which is a workspace of its own because its dependencies are heavy.

use crate::shell::{self, cargo, root};

pub(super) fn run() -> anyhow::Result<()> {
    let folder = root().join("crates/relatum-cluster");
    shell::run(cargo(&["fmt", "--check"]).current_dir(&folder))?;
    super::licences::run(&folder)?;
    let mut tests = cargo(&["test", "--locked"]);
    super::linted(tests.current_dir(&folder));
    // Its target folder is its own: the two workspaces would take turns in locking one.
    tests.env("CARGO_TARGET_DIR", folder.join("target"));
    shell::run(&mut tests)
}
