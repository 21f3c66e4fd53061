//! `relatum import`: a model that was trained elsewhere.

use std::io::Write;
use std::path::PathBuf;

use relatum::Engine;
use relatum::engine::{ImportOptions, Imported};
use relatum::graph::Split;

use crate::output;

/// Import a model: a kbc or CQD checkpoint (.pt), safetensors, what `relatum export` wrote, or two .npy files
///
/// Nothing in a checkpoint is ever executed. Rows must be in the order of the graph's ids, or be
/// named by lists: a text file with a name a line, or a JSON list. A file or folder that Relatum
/// exported names its link predictor; for other arrays it must be named.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  relatum import fb15k-237/ FB15k-237-model-rank-1000-epoch-100.pt
  relatum import movies/ arrays/
  relatum import movies/ entities.npy relations.npy --predictor distmult --entity-names e.txt --relation-names r.txt")]
pub(crate) struct Args {
    /// The project folder
    dir: PathBuf,
    /// The file, the folder that `relatum export` wrote, or entities.npy and relations.npy
    #[arg(required = true, num_args = 1..=2)]
    files: Vec<PathBuf>,
    /// The name of the model [default: default, or what `relatum models --default` chose]
    #[arg(long, value_name = "NAME")]
    model: Option<String>,
    /// The link predictor the numbers belong to, where the file does not say [default for .pt: complex]
    #[arg(long, value_parser = clap::builder::PossibleValuesParser::new(relatum::model::predictor_names()))]
    predictor: Option<String>,
    /// A file with the names of the entity rows, in order
    #[arg(long, value_name = "FILE")]
    entity_names: Option<PathBuf>,
    /// A file with the names of the relation rows, in order (a reciprocal relation is NAME⁻¹)
    #[arg(long, value_name = "FILE")]
    relation_names: Option<PathBuf>,
    /// Replace a model of this name
    #[arg(long)]
    replace: bool,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    let engine = Engine::open(&args.dir)?;
    let imported = engine.import(&ImportOptions {
        files: args.files.clone(),
        model: args.model.clone(),
        predictor: args.predictor.clone(),
        entity_names: args.entity_names.clone(),
        relation_names: args.relation_names.clone(),
        replace: args.replace,
    })?;
    let Imported { name, origin, card, entities, relations, guessed } = imported;
    let mut out = output::out(false);
    writeln!(
        out,
        "imported {origin} as `{name}`: {}, rank {}, {} and {}",
        card.predictor,
        card.rank,
        output::counted(entities as u64, "entity"),
        output::counted(relations as u64, "relation")
    )?;
    if let Some(kind) = guessed {
        output::say(&format!(
            "note: the file does not say what it is; it was taken as {kind}, which kbc and CQD train; --predictor names another"
        ));
    }
    let split = if engine.graph().edges(Split::Test).is_empty() { "valid" } else { "test" };
    writeln!(out, "next: relatum link-eval {} --model {name} --split {split}", args.dir.display())?;
    Ok(())
}
