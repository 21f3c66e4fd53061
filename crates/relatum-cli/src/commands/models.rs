//! `relatum models`: which models a project has.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use relatum::benchmark::Family;
use relatum::project::Checkpoint;
use relatum::project::Project;
use relatum::project::Results;
use relatum::project::{Glance, ModelFolder};
use serde_json::{Value, json};

use crate::output;

/// List the models of a project, choose the default one, or delete one
///
/// The default model, marked with *, is the one that every command takes when none is named.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  relatum models movies/
  relatum models movies/ --default big
  relatum models movies/ --delete small")]
pub(crate) struct Args {
    /// The project folder
    dir: PathBuf,
    /// Make this the model that every command takes when none is named
    #[arg(long, value_name = "NAME", conflicts_with = "delete")]
    default: Option<String>,
    /// Delete this model, with its checkpoint, its curve and its results
    #[arg(long, value_name = "NAME")]
    delete: Option<String>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    let project = Project::open(&args.dir)?;
    if let Some(name) = &args.delete {
        ModelFolder::of(&project, name)?.delete()?;
        output::say(&format!("deleted the model `{name}`"));
    }
    if let Some(name) = &args.default {
        ModelFolder::of(&project, name)?.choose()?;
        output::say(&format!("`{name}` is the default model now"));
    }
    let chosen = ModelFolder::default_name(&project);
    let all = ModelFolder::all(&project).into_iter().filter(|folder| !folder.is_trial());
    let rows: Vec<Row> = all.filter_map(|folder| Row::of(&project, &folder)).collect();
    let mut out = output::out(args.json);
    if args.json {
        let models: Vec<Value> = rows.iter().map(Row::json).collect();
        serde_json::to_writer_pretty(&mut out, &json!({ "default": chosen, "models": models }))?;
        writeln!(out)?;
    } else if rows.is_empty() {
        writeln!(out, "{} has no models yet", args.dir.display())?;
        writeln!(out, "next: relatum train {}", output::typed(&args.dir))?;
    } else {
        write!(out, "{}", table(&rows, &chosen))?;
    }
    Ok(())
}

/// A model as far as it can be told without a look at its values.
struct Row {
    name: String,
    /// What it says of itself, or why that cannot be read; none where there is only a checkpoint.
    glance: Option<Result<Glance, String>>,
    /// How far its training has come, where that is not finished.
    unfinished: Option<String>,
    /// How many types of questions have settings that were tuned.
    tuned: usize,
    bytes: u64,
    /// Seconds since it was written.
    age: Option<u64>,
}

impl Row {
    fn of(project: &Project, folder: &ModelFolder) -> Option<Self> {
        let there = folder.model_file().exists();
        let glance = there.then(|| folder.glance().map_err(|error| error.to_string()));
        let unfinished = match &glance {
            Some(Ok(glance)) => Checkpoint::unfinished(folder, &glance.card),
            Some(Err(_)) => None,
            None => Some(Checkpoint::read(project, folder).ok()??.position()),
        };
        let written = fs::metadata(folder.model_file()).and_then(|data| data.modified()).ok();
        let age = written.and_then(|time| SystemTime::now().duration_since(time).ok());
        Some(Self {
            name: folder.name().to_owned(),
            glance,
            unfinished,
            tuned: tuned(project, folder),
            bytes: size(folder.dir()),
            age: age.map(|age| age.as_secs()),
        })
    }

    fn json(&self) -> Value {
        let glance = self.glance.as_ref().and_then(|glance| glance.as_ref().ok());
        let card = glance.map(|glance| &glance.card);
        json!({
            "name": self.name,
            "kind": card.map(|card| &card.model),
            "rank": card.map(|card| card.rank),
            "origin": card.map(|card| &card.origin),
            "epoch": card.map(|card| card.epoch),
            "valid": card.and_then(|card| card.valid),
            "unfinished": self.unfinished,
            "calibrated": glance.is_some_and(|glance| glance.calibrated),
            "tuned_types": self.tuned,
            "bytes": self.bytes,
            "age_seconds": self.age,
            "error": self.glance.as_ref().and_then(|glance| glance.as_ref().err()),
        })
    }
}

/// How many types of questions `relatum tune` has chosen settings for.
fn tuned(project: &Project, folder: &ModelFolder) -> usize {
    if !folder.dir().join("benchmark.json").exists() {
        return 0;
    }
    // They are of this model only if its values are the same still.
    let results =
        folder.load(project).ok().and_then(|stored| Results::find(folder.dir(), &stored.model).ok()?);
    results.and_then(|results| Some(results.tuned(Family::Best)?.types.len())).unwrap_or(0)
}

/// Bytes of all files in a folder.
fn size(dir: &Path) -> u64 {
    let entries = fs::read_dir(dir).into_iter().flatten().flatten();
    let of = |entry: fs::DirEntry| match entry.metadata() {
        Ok(data) if data.is_dir() => size(&entry.path()),
        Ok(data) => data.len(),
        Err(_) => 0,
    };
    entries.map(of).sum()
}

fn table(rows: &[Row], chosen: &str) -> String {
    let header =
        ["model", "kind", "rank", "valid MRR", "H@10", "state", "calibrated", "tuned", "size", "age"];
    let mut table = output::table(&header, &[2, 3, 4, 8, 9]);
    for row in rows {
        let mark = if row.name == chosen { "*" } else { "" };
        let mut cells = vec![format!("{}{mark}", row.name)];
        let state = row.unfinished.as_ref().map(|position| format!("unfinished, {position}"));
        match &row.glance {
            Some(Ok(Glance { card, calibrated })) => {
                let valid =
                    |figure: Option<f64>| figure.map_or("–".to_owned(), |figure| format!("{figure:.4}"));
                cells.extend([card.model.clone(), card.rank.to_string()]);
                cells.push(valid(card.valid.map(|valid| valid.mrr)));
                cells.push(valid(card.valid.map(|valid| valid.hits[2])));
                cells.push(state.unwrap_or_else(|| "finished".to_owned()));
                cells.push(if *calibrated { "yes" } else { "no" }.to_owned());
            }
            Some(Err(_)) => {
                cells.extend(["?", "?", "?", "?", "damaged: see relatum check", "?"].map(str::to_owned));
            }
            None => {
                cells.extend(["–", "–", "–", "–"].map(str::to_owned));
                cells.extend([state.unwrap_or_default(), "no".to_owned()]);
            }
        }
        cells.push(if row.tuned == 0 { "no".to_owned() } else { output::counted(row.tuned as u64, "type") });
        cells.extend([sized(row.bytes), row.age.map_or("–".to_owned(), aged)]);
        table.add_row(cells);
    }
    output::render(&table)
}

/// 1234567 → `1.2 MB`.
fn sized(bytes: u64) -> String {
    let mut size = bytes as f64;
    for unit in ["B", "kB", "MB", "GB"] {
        if size < 1000.0 {
            return if unit == "B" { format!("{bytes} B") } else { format!("{size:.1} {unit}") };
        }
        size /= 1000.0;
    }
    format!("{size:.1} TB")
}

/// The age in its largest unit.
fn aged(seconds: u64) -> String {
    let units = [(86_400, "day"), (3600, "hour"), (60, "minute")];
    let unit = units.into_iter().find(|(length, _)| seconds >= *length);
    unit.map_or("now".to_owned(), |(length, noun)| output::counted(seconds / length, noun))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_and_ages_are_for_people() {
        assert_eq!(
            [0, 999, 1000, 1_234_567, 5_000_000_000].map(sized),
            ["0 B", "999 B", "1.0 kB", "1.2 MB", "5.0 GB"]
        );
        assert_eq!([0, 59, 60, 7200, 172_800].map(aged), ["now", "now", "1 minute", "2 hours", "2 days"]);
    }
}
