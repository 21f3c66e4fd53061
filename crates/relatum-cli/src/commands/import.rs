//! `relatum import`: a model that was trained elsewhere.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::Context;
use relatum::graph::Split;
use relatum::import::{ImportError, Names, adopt, read_tables};
use relatum::model::Card;
use relatum::project::Project;
use relatum::project::{ModelFolder, ModelLock};

use super::model;
use super::train::unfinished;
use crate::exit::Misuse;
use crate::output;

/// Import a model: a kbc or CQD checkpoint (.pt), safetensors, what `relatum export` wrote, or two .npy files
///
/// Nothing in a checkpoint is ever executed. Rows must be in the order of the graph's ids, or be
/// named by lists: a text file with a name a line, or a JSON list. A file or folder that Relatum
/// exported says itself what it is; of other arrays the kind must be named.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  relatum import fb15k-237/ FB15k-237-model-rank-1000-epoch-100.pt
  relatum import movies/ arrays/
  relatum import movies/ entities.npy relations.npy --model distmult --entity-names e.txt --relation-names r.txt")]
pub(crate) struct Args {
    /// The project folder
    dir: PathBuf,
    /// The file, the folder that `relatum export` wrote, or entities.npy and relations.npy
    #[arg(required = true, num_args = 1..=2)]
    files: Vec<PathBuf>,
    /// The name of the model [default: default, or what `relatum models --default` chose]
    #[arg(long)]
    name: Option<String>,
    /// The link predictor the numbers belong to, where the file does not say [default for .pt: complex]
    #[arg(long, value_parser = clap::builder::PossibleValuesParser::new(relatum::model::predictor_names()))]
    model: Option<String>,
    /// What the entity rows are called, in order
    #[arg(long, value_name = "FILE")]
    entity_names: Option<PathBuf>,
    /// What the relation rows are called, in order (a reciprocal relation is NAME⁻¹)
    #[arg(long, value_name = "FILE")]
    relation_names: Option<PathBuf>,
    /// Replace a model of this name
    #[arg(long)]
    replace: bool,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    let project = Project::open(&args.dir)?;
    let folder = model::folder(&project, args.name.as_deref())?;
    let _lock = claim(&project, &folder, args.replace)?;
    let names = Names {
        entities: names(args.entity_names.as_deref())?,
        relations: names(args.relation_names.as_deref())?,
    };
    let tables = read_tables(&args.files)?;
    let earlier = tables.card.clone();
    let guessed = tables.likely.filter(|_| args.model.is_none());
    let model = adopt(&project, tables, &names, args.model.as_deref())?;
    let origin = args.files.iter().map(|file| file.display().to_string()).collect::<Vec<_>>().join(", ");
    let mut card = Card::new(&project.manifest().fingerprint, &model, &format!("imported from {origin}"));
    if let Some(earlier) = earlier {
        (card.training, card.epoch, card.valid, card.curve) =
            (earlier.training, earlier.epoch, earlier.valid, earlier.curve);
        card.unfinished = earlier.unfinished;
    }
    folder.save(&model, &card)?;
    // What an earlier run left is not this model's.
    folder.forget_run()?;
    let mut out = output::out(false);
    let predictor = model.predictor();
    writeln!(
        out,
        "imported {origin} as `{}`: {}, rank {}, {} and {}",
        folder.name(),
        predictor.name(),
        predictor.rank(),
        output::counted(model.entity_count() as u64, "entity"),
        output::counted(model.relation_count() as u64, "relation")
    )?;
    if let Some(kind) = guessed {
        output::say(&format!(
            "note: the file does not say what it is; it was taken as {kind}, which kbc and CQD train; --model names another"
        ));
    }
    let split = if project.graph().edges(Split::Test).is_empty() { "valid" } else { "test" };
    writeln!(out, "next: relatum link-eval {} --name {} --split {split}", args.dir.display(), folder.name())?;
    Ok(())
}

/// The place of a new model, taken; what is there already stays unless it may be replaced.
pub(super) fn claim(project: &Project, folder: &ModelFolder, replace: bool) -> anyhow::Result<ModelLock> {
    let name = folder.name();
    let lock = folder.lock()?;
    if !replace && let Some(run) = unfinished(project, folder) {
        return Err(Misuse(format!(
            "an unfinished run of `{name}` is here, {run}: choose another --name, or --replace it"
        ))
        .into());
    }
    if folder.model_file().exists() && !replace {
        return Err(Misuse(format!(
            "there is a model `{name}` already: choose another --name, or --replace it"
        ))
        .into());
    }
    Ok(lock)
}

fn names(path: Option<&Path>) -> anyhow::Result<Option<Vec<String>>> {
    let Some(path) = path else { return Ok(None) };
    if !path.exists() {
        return Err(ImportError::NotFound(path.to_owned()).into());
    }
    let text = fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
    if path.extension().is_some_and(|ending| ending == "json") {
        let names = serde_json::from_str(&text);
        return names.map(Some).with_context(|| format!("{} is not a JSON list of names", path.display()));
    }
    Ok(Some(text.lines().map(str::to_owned).collect()))
}
