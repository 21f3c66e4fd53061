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
    let mut files = Vec::new();
    Project::check(&args.dir, |file| files.push(file.to_owned()))?;
    let mut out = std::io::stdout().lock();
    for file in &files {
        writeln!(out, "  ok  {file}")?;
    }
    writeln!(out, "{}: {} files, all as they were written", args.dir.display(), files.len() + 1)?;
    Ok(())
}
