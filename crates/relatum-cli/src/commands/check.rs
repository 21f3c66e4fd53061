//! `relatum check`: is the folder whole?

use std::io::Write;
use std::path::PathBuf;

use relatum::model::ModelFolder;
use relatum::store::Project;
use relatum::train::Checkpoint;

use crate::output;

/// Verify every checksum and every reference between the files of a project, and its models
///
/// Of a model the card, the shapes and checksums of the tables, that every value is finite, and
/// that it was made for this graph.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// The project folder
    dir: PathBuf,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    let mut lines = Vec::new();
    let mut line = |file: &str, damaged: bool| {
        lines.push(format!("  {}  {file}", if damaged { "BAD" } else { "ok " }));
    };
    let graph = Project::check(&args.dir, |file, damage| line(file, damage.is_some()));
    let mut first = graph.err().map(anyhow::Error::from);
    // What lies in the graph's files does not matter to a model, unless they cannot be opened at all.
    if let Ok(project) = Project::open(&args.dir) {
        for folder in ModelFolder::all(&project) {
            for (file, damage) in check_model(&project, &folder) {
                line(&file, damage.is_some());
                first = first.or(damage);
            }
        }
    }
    let mut out = output::out(false);
    for line in &lines {
        writeln!(out, "{line}")?;
    }
    if let Some(damage) = first {
        return Err(damage);
    }
    writeln!(out, "{}: {} files, all as they were written", args.dir.display(), lines.len() + 1)?;
    Ok(())
}

/// The files of a model, each with what is wrong with it.
fn check_model(project: &Project, folder: &ModelFolder) -> Vec<(String, Option<anyhow::Error>)> {
    let name = |file: &str| {
        let path = folder.dir().join(file);
        path.strip_prefix(project.dir()).unwrap_or(&path).display().to_string()
    };
    // A model that does not fit is here not a wrong command, as it is where one is to be used.
    let failure = |file: &str, error: String| match name(file) {
        name if error.contains(&name) => anyhow::anyhow!(error),
        name => anyhow::anyhow!("{name}: {error}"),
    };
    let mut found = Vec::new();
    if folder.model_file().exists() {
        let file = "model.safetensors";
        let damage = folder.check(project).err().map(|error| failure(file, error.to_string()));
        found.push((name(file), damage));
    }
    let file = "checkpoint.safetensors";
    match Checkpoint::read(project, folder) {
        Ok(None) => {}
        Ok(Some(_)) => found.push((name(file), None)),
        Err(error) => found.push((name(file), Some(failure(file, error.to_string())))),
    }
    found
}
