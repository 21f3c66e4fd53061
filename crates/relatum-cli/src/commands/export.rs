//! `relatum export`: a model for other programs.

use std::fs;
use std::io::Write;
use std::path::PathBuf;

use anyhow::Context;
use relatum::graph::{Id, RelationId};
use relatum::import::{reciprocal_name, write_npy};
use relatum::model::{ModelFolder, Reciprocals};
use relatum::store::{Project, write_atomically};

use crate::exit::Misuse;
use crate::output;

/// Export a model as one .safetensors file, or as a folder of .npy arrays with lists of names
#[derive(clap::Args)]
#[command(after_help = "Examples:
  relatum export movies/ movies.safetensors
  relatum export movies/ arrays/        entities.npy, relations.npy, entities.json, relations.json, card.json")]
pub(crate) struct Args {
    /// The project folder
    dir: PathBuf,
    /// FILE.safetensors, or a folder to make
    to: PathBuf,
    /// The name of the model
    #[arg(long, default_value = ModelFolder::DEFAULT)]
    name: String,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    let project = Project::open(&args.dir)?;
    let folder = ModelFolder::of(&project, &args.name)?;
    let stored = folder.load(&project)?;
    if args.to.exists() {
        return Err(Misuse(format!("{} exists already: choose another name", args.to.display())).into());
    }
    let mut out = output::out(false);
    if args.to.extension().is_some_and(|ending| ending == "safetensors") {
        let bytes = fs::read(folder.model_file()).context("cannot read the model")?;
        write_atomically(&args.to, |file| file.write_all(&bytes))?;
        writeln!(
            out,
            "wrote {}: matrices `entities` and `relations`, the card in the header",
            args.to.display()
        )?;
        return Ok(());
    }
    if let Some(ending) = args.to.extension() {
        return Err(Misuse(format!(
            "cannot write .{}: give a FILE.safetensors, or a folder for .npy files",
            ending.to_string_lossy()
        ))
        .into());
    }
    fs::create_dir_all(&args.to).with_context(|| format!("cannot create {}", args.to.display()))?;
    let (model, graph) = (&stored.model, project.graph());
    let predictor = model.predictor();
    write_npy(&args.to.join("entities.npy"), predictor.entity_width(), model.entities())?;
    write_npy(&args.to.join("relations.npy"), predictor.relation_width(), model.relations())?;
    let reciprocals = Reciprocals::of(graph);
    let entities: Vec<&str> = graph.entities.ids().map(|id| graph.entities.name(id)).collect();
    let relations: Vec<String> = (0..reciprocals.len())
        .map(|index| reciprocal_name(graph, &reciprocals, RelationId::from_index(index)))
        .collect();
    for (name, text) in [
        ("entities.json", serde_json::to_string(&entities)?),
        ("relations.json", serde_json::to_string(&relations)?),
        ("card.json", serde_json::to_string_pretty(&stored.card)?),
    ] {
        write_atomically(&args.to.join(name), |file| writeln!(file, "{text}"))?;
    }
    writeln!(
        out,
        "wrote {}: entities.npy {} × {}, relations.npy {} × {}, their names and the card",
        args.to.display(),
        model.entity_count(),
        predictor.entity_width(),
        model.relation_count(),
        predictor.relation_width()
    )?;
    Ok(())
}
