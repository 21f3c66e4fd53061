//! `relatum check`: is the folder whole?

use std::io::Write;
use std::path::PathBuf;

use relatum::store::Project;

/// Verify every checksum and every reference between the files of a project
#[derive(clap::Args)]
pub(crate) struct Args {
    /// The project folder
    dir: PathBuf,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    let mut lines = Vec::new();
    let outcome = Project::check(&args.dir, |file, damage| {
        lines.push(format!("  {}  {file}", if damage.is_some() { "BAD" } else { "ok " }));
    });
    let mut out = std::io::stdout().lock();
    for line in &lines {
        writeln!(out, "{line}")?;
    }
    outcome?;
    writeln!(out, "{}: {} files, all as they were written", args.dir.display(), lines.len() + 1)?;
    Ok(())
}
