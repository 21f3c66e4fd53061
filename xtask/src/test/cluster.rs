//! The cluster, which is a workspace of its own because its dependencies are heavy.

use crate::shell::{self, cargo, root};

pub(super) fn run() -> anyhow::Result<()> {
    let folder = root().join("crates/relatum-cluster");
    shell::run(cargo(&["fmt", "--check"]).current_dir(&folder))?;
    super::licences::run(&folder)?;
    // `cargo clippy` would check all dependencies once more before it comes to ours. As the compiler of the crate
    // itself, clippy looks at what is compiled for the tests anyway, and its findings are errors.
    let mut tests = cargo(&["test", "--locked"]);
    tests.current_dir(&folder).env("RUSTC_WORKSPACE_WRAPPER", "clippy-driver");
    tests.env("CLIPPY_ARGS", "-D__CLIPPY_HACKERY__warnings__CLIPPY_HACKERY__");
    // Its target folder is its own: the two workspaces would take turns in locking one.
    tests.env("CARGO_TARGET_DIR", folder.join("target"));
    shell::run(&mut tests)
}
