//! `relatum check`: verifies that a project folder is whole.

use std::io::Write;
use std::path::PathBuf;

use relatum::project::{
    BaselineCheckpoint, BaselineFolder, Checkpoint, ModelFolder, Project, Results, RuleFolder, SearchRecord,
    check_weights,
};

use crate::output;

/// Verify every checksum and every reference between the files of a project, and its models
///
/// Of a model it verifies the cards, the shapes and checksums of the tables, that every value is finite,
/// and that it was made for this graph; also the checkpoint of its training, the search for its settings, and the results of `tune`
/// and `benchmark`; the same of baselines; and the rules. Pictures and curves are not verified, because no command reads them.
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
    let mut first = None;
    let mut models_unread = false;
    match graph {
        // Models and checkpoints are checked against the graph, which is impossible if it is damaged.
        Err(damage) => {
            models_unread = Project::open(&args.dir).is_ok_and(|it| !ModelFolder::all(&it).is_empty());
            first = Some(anyhow::Error::from(damage));
        }
        Ok(project) => {
            match ModelFolder::check_default(&project) {
                Ok(false) => {}
                Ok(true) => line("models/.default", false),
                Err(error) => {
                    line("models/.default", true);
                    first = Some(anyhow::anyhow!("models/.default: {error}"));
                }
            }
            for folder in ModelFolder::all(&project) {
                for (file, damage) in check_model(&project, &folder) {
                    line(&file, damage.is_some());
                    first = first.or(damage);
                }
            }
            for folder in BaselineFolder::all(&project) {
                for (file, damage) in check_baseline(&project, &folder) {
                    line(&file, damage.is_some());
                    first = first.or(damage);
                }
            }
            for name in RuleFolder::list(&project) {
                let read = RuleFolder::of(&project, &name).and_then(|folder| folder.load(&project));
                let file = format!("rules/{name}.rules");
                line(&file, read.is_err());
                first = first.or(read.err().map(|error| anyhow::anyhow!("{file}: {error}")));
            }
        }
    }
    let mut out = output::out(false);
    for line in &lines {
        writeln!(out, "{line}")?;
    }
    if models_unread {
        writeln!(out, "  --   models: not read, because the graph that they belong to is damaged")?;
    }
    if let Some(damage) = first {
        return Err(damage);
    }
    writeln!(out, "{}: {} files, all as they were written", args.dir.display(), lines.len() + 1)?;
    Ok(())
}

/// The files of a baseline that commands read, each with what is wrong with it.
fn check_baseline(project: &Project, folder: &BaselineFolder) -> Vec<(String, Option<anyhow::Error>)> {
    let results = Results::check(folder.dir()).map_err(|error| error.to_string());
    let checks = [
        ("model.safetensors", folder.check(project).map_err(|error| error.to_string())),
        (
            "checkpoint.safetensors",
            BaselineCheckpoint::check(project, folder).map_err(|error| error.to_string()),
        ),
        ("benchmark.json", results),
    ];
    let found = checks.into_iter().filter_map(|(file, outcome)| {
        let name = format!("baselines/{}/{file}", folder.name());
        match outcome {
            Ok(there) => there.then_some((name, None)),
            Err(error) => Some((name.clone(), Some(anyhow::anyhow!("{name}: {error}")))),
        }
    });
    found.collect()
}

/// The files of a model that commands read, each with what is wrong with it.
fn check_model(project: &Project, folder: &ModelFolder) -> Vec<(String, Option<anyhow::Error>)> {
    let mut found = Vec::new();
    let mut checked = |file: &str, outcome: Result<bool, String>| {
        let path = folder.dir().join(file);
        let name = path.strip_prefix(project.dir()).unwrap_or(&path).display().to_string();
        match outcome {
            Ok(false) => {}
            Ok(true) => found.push((name, None)),
            // Here a model that does not fit the graph is a finding, not misuse of the command.
            Err(error) if error.contains(&name) => found.push((name, Some(anyhow::anyhow!(error)))),
            Err(error) => found.push((name.clone(), Some(anyhow::anyhow!("{name}: {error}")))),
        }
    };
    let there = folder.model_file().exists();
    let has_card = folder.dir().join("card.json").exists();
    let model = match (there, has_card) {
        (true, _) => folder.check(project).map(|()| true).map_err(|error| error.to_string()),
        (false, true) => {
            Err("it is missing, though its card is there: restore it, or train it anew".to_owned())
        }
        // A run that was stopped before its first model has only a checkpoint.
        (false, false) => Ok(false),
    };
    checked("model.safetensors", model);
    let card = match (there, has_card) {
        (true, false) => Err("it is missing beside its model: restore it from a copy".to_owned()),
        _ => folder.check_card().map_err(|error| error.to_string()),
    };
    checked("card.json", card);
    let checkpoint = Checkpoint::check(project, folder);
    checked("checkpoint.safetensors", checkpoint.map_err(|error| error.to_string()));
    checked("search.json", SearchRecord::check(folder).map_err(|error| error.to_string()));
    checked("benchmark.json", Results::check(folder.dir()).map_err(|error| error.to_string()));
    for (file, outcome) in check_weights(folder) {
        checked(&file, outcome.map(|()| true).map_err(|error| error.to_string()));
    }
    found
}
