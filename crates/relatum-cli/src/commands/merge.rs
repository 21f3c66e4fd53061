//! `relatum merge`: several models as one.

use std::io::Write;
use std::path::PathBuf;

use relatum::graph::Split;
use relatum::model::{Card, LinkMetrics, Model, StoredModel, Ties};
use relatum::project::ModelFolder;
use relatum::project::Project;
use relatum::train::evaluate;

use super::import::claim;
use super::model;
use super::train::use_threads;
use crate::exit::Misuse;
use crate::output;

/// Merge models into one whose score is the weighted sum of theirs
///
/// Models that were trained apart (another seed, another rank) err apart: together they mostly rank better
/// than each alone, at the price of the sum of their ranks. For complex, distmult and cp.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  relatum train movies/ --name a --seed 1 && relatum train movies/ --name b --seed 2
  relatum merge movies/ a b --name both")]
pub(crate) struct Args {
    /// The project folder
    dir: PathBuf,
    /// The models to merge
    #[arg(required = true, num_args = 2.., value_name = "MODEL")]
    models: Vec<String>,
    /// The name of the merged model [default: default, or what `relatum models --default` chose]
    #[arg(long)]
    name: Option<String>,
    /// A weight for each model; all the same by default, and 1 together
    #[arg(long, value_delimiter = ',', value_name = "W,…", value_parser = weight)]
    weights: Vec<f32>,
    /// Replace a model of this name
    #[arg(long)]
    replace: bool,
    /// Threads to use [default: all cores]
    #[arg(long, value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: Option<u16>,
}

/// Beyond this, scores would soon be infinite.
const MOST: f32 = 1000.0;

pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    use_threads(args.threads)?;
    let count = args.models.len();
    if let Some(weight) = args.weights.iter().find(|weight| **weight > MOST) {
        return Err(Misuse(format!("a weight of at most {MOST} is needed, {weight:e} given")).into());
    }
    if !args.weights.is_empty() && args.weights.len() != count {
        let given = args.weights.len();
        return Err(Misuse(format!("one weight a model is needed: {count} models, {given} weights")).into());
    }
    if let Some(name) =
        args.models.iter().enumerate().find_map(|(at, name)| args.models[..at].contains(name).then_some(name))
    {
        let message = format!(
            "`{name}` is named twice: a model merged with itself is itself; give it a greater weight"
        );
        return Err(Misuse(message).into());
    }
    let project = Project::open(&args.dir)?;
    let folder = model::folder(&project, args.name.as_deref())?;
    let merged_name = folder.name();
    if args.models.iter().any(|name| name == merged_name) {
        return Err(
            Misuse(format!("`{merged_name}` cannot be merged into itself: choose another --name")).into()
        );
    }
    let mut parts: Vec<StoredModel> = Vec::new();
    let mut unfinished = Vec::new();
    for name in &args.models {
        let folder = ModelFolder::of(&project, name)?;
        let part = folder.load(&project)?;
        unfinished.extend(model::unfinished(&args.dir, &folder, &part.card).map(|it| format!("{name} {it}")));
        parts.push(part);
    }
    let weights =
        if args.weights.is_empty() { vec![1.0 / count as f32; count] } else { args.weights.clone() };
    let pairs: Vec<(&Model, f32)> = parts.iter().map(|part| &part.model).zip(weights).collect();
    let model = Model::merge(&pairs).map_err(|error| Misuse(error.to_string()))?;
    let _lock = claim(&project, &folder, args.replace)?;
    let mut card = Card::new(
        &project.manifest().fingerprint,
        &model,
        &format!("merged from {}", args.models.join(", ")),
    );
    if !project.graph().edges(Split::Valid).is_empty() {
        card.valid = Some(evaluate(&model, project.graph(), Split::Valid, Ties::Mean).overall);
    }
    card.unfinished = (!unfinished.is_empty()).then(|| unfinished.join(", "));
    folder.save(&model, &card)?;
    folder.forget_run()?;
    let mut table =
        output::table(&["model", "rank", "weight", "valid MRR", "H@1", "H@3", "H@10"], &[1, 2, 3, 4, 5, 6]);
    for ((name, part), (_, weight)) in args.models.iter().zip(&parts).zip(&pairs) {
        table.add_row(cells(name, &part.card, &format!("{weight:.3}")));
    }
    table.add_row(cells(merged_name, &card, ""));
    let mut out = output::out(false);
    write!(out, "{}", output::render(&table))?;
    writeln!(out, "next: relatum link-eval {} --name {merged_name}", output::typed(&args.dir))?;
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
