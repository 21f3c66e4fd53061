//! `relatum export`: a model for other programs.

use std::io::Write;
use std::path::PathBuf;

use relatum::Engine;

use super::model;
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
    #[arg(long, value_name = "NAME")]
    model: Option<String>,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    let engine = Engine::open(&args.dir)?;
    let exported = engine.export(args.model.as_deref(), &args.to, &signals::watched_control()?)?;
    if let Some(position) = &exported.unfinished {
        let card = &engine.model(Some(&exported.name))?.card;
        let warning = model::warning(&args.dir, &exported.name, card, position);
        output::say(&format!("warning: {warning}"));
    }
    let to = args.to.display();
    let mut out = output::out(false);
    match exported.arrays {
        None => writeln!(out, "wrote {to}: matrices `entities` and `relations`, the card in the header")?,
        Some([[entities, width], [relations, relation_width]]) => writeln!(
            out,
            "wrote {to}: entities.npy {entities} × {width}, relations.npy {relations} × {relation_width}, \
             their names and the card"
        )?,
    }
    Ok(())
}
