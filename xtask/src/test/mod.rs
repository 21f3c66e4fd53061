//! `cargo xtask test`: everything that must hold before a change lands, one step after the other.

mod python;

use std::process::Command;

use anyhow::Context;
use clap::ValueEnum;

use crate::shell::{self, cargo, root};

/// Install what the tests need and run them all
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Run these steps only
    #[arg(value_enum)]
    steps: Vec<Step>,
    /// Compare with other programs too: installs `PyKEEN` with its `PyTorch` (some gigabytes) and runs it
    #[arg(long)]
    peers: bool,
}

/// A step; those of other languages need more than Rust, and install it.
#[derive(Clone, Copy, PartialEq, ValueEnum)]
enum Step {
    /// The format of the code
    Format,
    /// The lints
    Lints,
    /// The documentation of the engine
    Documentation,
    /// The tests in Rust
    Tests,
    /// The engine in Python: its tests, its examples, its types
    Python,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    let steps = if args.steps.is_empty() { Step::value_variants() } else { &args.steps };
    install_components()?;
    for &step in steps {
        let name = step.to_possible_value().map_or_else(String::new, |it| it.get_name().to_owned());
        println!("\n── {name}");
        step.run(args).with_context(|| format!("the step '{name}' failed"))?;
    }
    Ok(())
}

impl Step {
    fn run(self, args: &Args) -> anyhow::Result<()> {
        let clippy = ["clippy", "--workspace", "--all-targets", "--all-features", "--", "-D", "warnings"];
        match self {
            Self::Format => shell::run(&mut cargo(&["fmt", "--all", "--check"])),
            Self::Lints => shell::run(&mut cargo(&clippy)),
            Self::Documentation => {
                let mut doc = cargo(&["doc", "--package", "relatum", "--no-deps"]);
                shell::run(doc.env("RUSTDOCFLAGS", "-D warnings"))
            }
            Self::Tests => shell::run(&mut cargo(&["test", "--workspace"])),
            Self::Python => python::run(args.peers),
        }
    }
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
