//! `cargo xtask test`: everything that must hold before a change lands.

use std::process::Command;

use anyhow::Context;

use crate::shell::{self, cargo, root};

pub(crate) fn run() -> anyhow::Result<()> {
    install_components()?;
    step("format", &mut cargo(&["fmt", "--all", "--check"]))?;
    step(
        "lints",
        &mut cargo(&["clippy", "--workspace", "--all-targets", "--all-features", "--", "-D", "warnings"]),
    )?;
    step(
        "documentation",
        cargo(&["doc", "--package", "relatum", "--no-deps"]).env("RUSTDOCFLAGS", "-D warnings"),
    )?;
    step("tests", &mut cargo(&["test", "--workspace"]))
}

fn step(name: &str, command: &mut Command) -> anyhow::Result<()> {
    println!("\n── {name}");
    shell::run(command).with_context(|| format!("the step '{name}' failed"))
}

/// `rustfmt` and `clippy` come with rustup, but a minimal toolchain leaves them out.
fn install_components() -> anyhow::Result<()> {
    for (component, tool) in [("rustfmt", "cargo-fmt"), ("clippy", "cargo-clippy")] {
        let there = Command::new(tool).arg("--version").current_dir(root()).output();
        if !there.is_ok_and(|output| output.status.success()) {
            shell::run(Command::new("rustup").args(["component", "add", component]))?;
        }
    }
    Ok(())
}
