//! `relatum models`: which models a project has.

use std::io::Write;
use std::path::PathBuf;

use relatum::Engine;
use relatum::engine::{BaselineSummary, Models};
use relatum::model::LinkMetrics;

use crate::output;

/// List the models of a project, choose the default one, or delete one
///
/// The default model, marked with *, is the one that commands use if none is named.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  relatum models movies/
  relatum models movies/ --default big
  relatum models movies/ --delete small")]
pub(crate) struct Args {
    /// The project folder
    dir: PathBuf,
    /// Make this the default model, which commands use if none is named
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
    let engine = Engine::open(&args.dir)?;
    if let Some(name) = &args.delete {
        // A model and a baseline may have the same name; the model comes first, because it is asked by name.
        if engine.baselines().iter().any(|it| it.name == *name)
            && !engine.models().models.iter().any(|it| it.name == *name)
        {
            engine.delete_baseline(name)?;
            output::say(&format!("deleted the baseline `{name}`"));
        } else {
            engine.delete(name)?;
            output::say(&format!("deleted the model `{name}`"));
        }
    }
    if let Some(name) = &args.default {
        engine.choose_default(name)?;
        output::say(&format!("`{name}` is the default model now"));
    }
    let listed = Listed { models: engine.models(), baselines: engine.baselines() };
    let mut out = output::out(args.json);
    if args.json {
        serde_json::to_writer_pretty(&mut out, &listed)?;
        writeln!(out)?;
    } else if listed.models.models.is_empty() && listed.baselines.is_empty() {
        writeln!(out, "{} has no models yet", args.dir.display())?;
        writeln!(out, "next: relatum train {}", output::typed(&args.dir))?;
    } else {
        if !listed.models.models.is_empty() {
            write!(out, "{}", table(&listed.models))?;
        }
        if !listed.baselines.is_empty() {
            write!(out, "{}", baselines(&listed.baselines))?;
        }
    }
    Ok(())
}

/// Everything that a project has been trained to.
#[derive(serde::Serialize)]
struct Listed {
    #[serde(flatten)]
    models: Models,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    baselines: Vec<BaselineSummary>,
}

/// Baselines rank the answers of benchmark queries; nothing is asked of them, so none is the default.
fn baselines(all: &[BaselineSummary]) -> String {
    let header = ["baseline", "kind", "dimension", "valid MRR", "H@3", "state", "size"];
    let mut table = output::table(&header, &[2, 3, 4, 6]);
    for row in all {
        let valid = |of: fn(&LinkMetrics) -> f64| {
            row.valid.as_ref().map_or("–".to_owned(), |valid| format!("{:.4}", of(valid)))
        };
        let state = match (&row.error, &row.unfinished) {
            (Some(_), _) => "damaged: see relatum check".to_owned(),
            (_, Some(position)) => format!("unfinished, {position}"),
            _ => "finished".to_owned(),
        };
        table.add_row([
            row.name.clone(),
            row.kind.clone().unwrap_or_else(|| "?".to_owned()),
            row.dimension.map_or("?".to_owned(), |dimension| dimension.to_string()),
            valid(|valid| valid.mrr),
            valid(|valid| valid.hits[1]),
            state,
            sized(row.bytes),
        ]);
    }
    output::render(&table)
}

fn table(models: &Models) -> String {
    let header =
        ["model", "predictor", "rank", "valid MRR", "H@10", "state", "calibrated", "tuned", "size", "age"];
    let mut table = output::table(&header, &[2, 3, 4, 8, 9]);
    for row in &models.models {
        let mark = if row.name == models.default { "*" } else { "" };
        let mut cells = vec![format!("{}{mark}", row.name)];
        let state = row.unfinished.as_ref().map(|position| format!("unfinished, {position}"));
        let calibrated = match (row.fitted, row.calibrated) {
            (true, true) => "fitted, adaptive",
            (true, false) => "fitted",
            (false, true) => "adaptive",
            (false, false) => "no",
        };
        if row.error.is_some() {
            cells.extend(["?", "?", "?", "?", "damaged: see relatum check", "?"].map(str::to_owned));
        } else if let (Some(kind), Some(rank)) = (&row.predictor, row.rank) {
            let valid =
                |figure: Option<f64>| figure.map_or("–".to_owned(), |figure| format!("{figure:.4}"));
            let reduced = row.precision.filter(|precision| !precision.is_full());
            let kind = reduced.map_or(kind.clone(), |precision| format!("{kind}, {}", precision.name()));
            cells.extend([kind, rank.to_string()]);
            cells.push(valid(row.valid.map(|valid| valid.mrr)));
            cells.push(valid(row.valid.map(|valid| valid.hits[2])));
            cells.push(state.unwrap_or_else(|| "finished".to_owned()));
            cells.push(calibrated.to_owned());
        } else {
            cells.extend(["–", "–", "–", "–"].map(str::to_owned));
            cells.extend([state.unwrap_or_default(), calibrated.to_owned()]);
        }
        cells.push(if row.tuned_types == 0 {
            "no".to_owned()
        } else {
            output::counted(row.tuned_types as u64, "type")
        });
        cells.extend([sized(row.bytes), row.age_seconds.map_or("–".to_owned(), aged)]);
        table.add_row(cells);
    }
    output::render(&table)
}

/// 1234567 → `1.2 MB`.
pub(super) fn sized(bytes: u64) -> String {
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
