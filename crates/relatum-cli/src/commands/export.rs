//! `relatum export`: a model for other programs.

use std::io::Write;
use std::path::PathBuf;

use relatum::graph::{Id, RelationId};
use relatum::import::{
    CALIBRATIONS, CARD, ENTITIES, ENTITY_NAMES, RELATION_NAMES, RELATIONS, reciprocal_name, write_npy,
};
use relatum::model::{Card, Model, Reciprocals, StoredModel};
use relatum::project::Project;
use relatum::project::write_model;
use relatum::store::{Staging, write_atomically};

use super::model;
use crate::exit::{Misuse, Stopped};
use crate::{output, signals};

/// Export a model as one .safetensors file, or as a folder of .npy arrays with lists of names
///
/// `relatum import` takes both back as they were.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  relatum export movies/ movies.safetensors
  relatum export movies/ arrays/        entities.npy, relations.npy, entities.json, relations.json, card.json")]
pub(crate) struct Args {
    /// The project folder
    dir: PathBuf,
    /// FILE.safetensors, or a folder to make
    to: PathBuf,
    /// The name of the model [default: default, or what `relatum models --default` chose]
    #[arg(long)]
    name: Option<String>,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    let project = Project::open(&args.dir)?;
    let folder = model::folder(&project, args.name.as_deref())?;
    let StoredModel { model, mut card } = folder.load(&project)?;
    if args.to.exists() {
        return Err(Misuse(format!("{} exists already: choose another name", args.to.display())).into());
    }
    card.unfinished = model::unfinished(&args.dir, &folder, &card);
    let mut out = output::out(false);
    if args.to.extension().is_some_and(|ending| ending == "safetensors") {
        write_model(&args.to, &model, &card)?;
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
    write_folder(args, &project, &model, &card)?;
    let predictor = model.predictor();
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

/// The whole folder or none, whatever happens meanwhile.
fn write_folder(args: &Args, project: &Project, model: &Model, card: &Card) -> anyhow::Result<()> {
    signals::watch()?;
    let staging = Staging::begin(&args.to)?;
    let (dir, graph, predictor) = (staging.path(), project.graph(), model.predictor());
    let mut arrays = vec![
        (ENTITIES, predictor.entity_width(), model.entities()),
        (RELATIONS, predictor.relation_width(), model.relations()),
    ];
    arrays.extend(model.affine().map(|affine| (CALIBRATIONS, 2, affine.values())));
    for (name, width, values) in arrays {
        write_npy(&dir.join(name), width, values)?;
        if signals::stop_requested() {
            return Err(Stopped.into());
        }
    }
    let reciprocals = Reciprocals::of(graph);
    let entities: Vec<&str> = graph.entities.ids().map(|id| graph.entities.name(id)).collect();
    let relations: Vec<String> = (0..reciprocals.len())
        .map(|index| reciprocal_name(graph, &reciprocals, RelationId::from_index(index)))
        .collect();
    for (name, text) in [
        (ENTITY_NAMES, serde_json::to_string(&entities)?),
        (RELATION_NAMES, serde_json::to_string(&relations)?),
        (CARD, serde_json::to_string_pretty(card)?),
    ] {
        write_atomically(&dir.join(name), |file| writeln!(file, "{text}"))?;
    }
    Ok(staging.finish()?)
}
