//! `relatum merge`: merges several models into one.

use std::io::Write;
use std::path::PathBuf;

use relatum::Engine;
use relatum::engine::{MergeOptions, MergedPart};
use relatum::model::{Card, LinkMetrics};

use super::model;
use super::train::use_threads;
use crate::output;

/// Merge models into one whose score is the weighted sum of theirs
///
/// Models that were trained apart (another seed, another rank) make different mistakes: together they mostly rank
/// better than each alone, but the merged model has the sum of their ranks. For complex, distmult and cp.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  relatum train movies/ --model a --seed 1 && relatum train movies/ --model b --seed 2
  relatum merge movies/ a b --model both")]
pub(crate) struct Args {
    /// The project folder
    dir: PathBuf,
    /// The models to merge
    #[arg(required = true, num_args = 2.., value_name = "MODEL")]
    models: Vec<String>,
    /// The name of the merged model [default: default, or what `relatum models --default` chose]
    #[arg(long, value_name = "NAME")]
    model: Option<String>,
    /// A weight for each model; by default all are equal and sum to 1
    #[arg(long, value_delimiter = ',', value_name = "W,…", value_parser = weight)]
    weights: Vec<f32>,
    /// Replace a model of this name
    #[arg(long)]
    replace: bool,
    /// Threads to use [default: all cores]
    #[arg(long, value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: Option<u16>,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    use_threads(args.threads)?;
    let engine = Engine::open(&args.dir)?;
    let merged = engine.merge(&MergeOptions {
        models: args.models.clone(),
        weights: args.weights.clone(),
        model: args.model.clone(),
        replace: args.replace,
    })?;
    let mut table =
        output::table(&["model", "rank", "weight", "valid MRR", "H@1", "H@3", "H@10"], &[1, 2, 3, 4, 5, 6]);
    for MergedPart { name, card, weight, unfinished } in &merged.parts {
        if let Some(position) = unfinished {
            output::say(&format!("warning: {}", model::warning(&args.dir, name, card, position)));
        }
        table.add_row(cells(name, card, &format!("{weight:.3}")));
    }
    table.add_row(cells(&merged.name, &merged.card, ""));
    let mut out = output::out(false);
    write!(out, "{}", output::render(&table))?;
    writeln!(out, "next: relatum link-eval {} --model {}", output::typed(&args.dir), merged.name)?;
    Ok(())
}

fn cells(name: &str, card: &Card, weight: &str) -> Vec<String> {
    let figures =
        |m: &LinkMetrics| [m.mrr, m.hits[0], m.hits[1], m.hits[2]].map(|value| format!("{value:.4}"));
    let figures = card.valid.as_ref().map_or([const { String::new() }; 4], figures);
    [name.to_owned(), card.rank.to_string(), weight.to_owned()].into_iter().chain(figures).collect()
}

fn weight(text: &str) -> Result<f32, String> {
    match text.parse::<f32>() {
        Ok(weight) if weight.is_finite() && weight > 0.0 => Ok(weight),
        _ => Err("a number above 0 is needed".to_owned()),
    }
}
