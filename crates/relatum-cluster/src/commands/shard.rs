//! `relatum-cluster shard`: the vectors of a model as files for a cluster.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::Context;
use relatum::report::grouped;
use relatum_cluster::ClusterError;
use relatum_cluster::layout::Vectors;
use relatum_cluster::manifest::{Manifest, ModelIdentity};
use relatum_cluster::place::Place;
use relatum_cluster::shard::{clean, split};

use super::{opened, runtime};
use crate::exit::{Misuse, say};

/// Write the vectors of a model as shards
///
/// Each shard is a Parquet file with ids, names and vectors; `shards.json` beside them lists them with checksums. The
/// place is a folder that scheduler, executors and client all reach under the same name, or an object store
/// (`s3://bucket/folder` with the feature `cloud`). Where they are is noted in the project, for `ask`.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// The project folder
    dir: PathBuf,
    /// The name of the model [default: the project's]
    #[arg(long)]
    model: Option<String>,
    /// The folder or address of the shards
    #[arg(long, value_name = "FOLDER")]
    to: String,
    /// How many shards, and so how many tasks a round has: at least as many as there are cores in all
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = parse_shards)]
    shards: usize,
    /// How vectors are stored: as bytes, which are read fast, or as lists of numbers, which other programs understand
    #[arg(long, value_enum, default_value = "bytes")]
    vectors: Form,
    /// Replace the shards that are there
    #[arg(long)]
    replace: bool,
}

#[derive(Clone, Copy, clap::ValueEnum)]
enum Form {
    Bytes,
    Lists,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    let engine = opened(&args.dir)?;
    let place = Place::open(&args.to)?;
    let vectors = match args.vectors {
        Form::Bytes => Vectors::Bytes,
        Form::Lists => Vectors::Lists,
    };
    let began = Instant::now();
    let manifest = runtime()?.block_on(async {
        // What is wrong with the model is said before anything is removed or written.
        ModelIdentity::of(&engine, args.model.as_deref())?;
        if let Some(there) = Manifest::find(&place).await?
            && !args.replace
        {
            return Err(ClusterError::Exists { place: place.shown(""), model: there.model.name });
        }
        let progress =
            |done, all| say(&format!("{} of {} entities written", grouped(done as u64), grouped(all as u64)));
        tokio::select! {
            made = split(&engine, args.model.as_deref(), &place, args.shards, vectors, progress) => made,
            _ = tokio::signal::ctrl_c() => {
                clean(&place, args.shards).await?;
                Err(ClusterError::Stopped)
            }
        }
    })?;
    let noted =
        std::path::absolute(&args.to).map_or_else(|_| args.to.clone(), |path| path.display().to_string());
    let noted = if args.to.contains("://") { args.to.clone() } else { noted };
    if let Err(error) = note(engine.project().dir(), &manifest.model.name, &noted) {
        say(&format!("warning: {error:#}; the shards are whole: name their place to `ask` with --shards"));
    }
    let bytes: u64 = manifest.shards.iter().map(|shard| shard.bytes).sum();
    let (made, model) = (manifest.shards.len(), &manifest.model);
    println!(
        "{made} shards of the model `{}` ({} entities, {}, {:.1} MB) at {} in {:.1} s",
        model.name,
        grouped(model.entities as u64),
        model.precision.name(),
        bytes as f64 / 1e6,
        place.shown(""),
        began.elapsed().as_secs_f64()
    );
    if made < args.shards {
        println!("that is as many as there are blocks of 4,096 entities, not {}", args.shards);
    }
    Ok(())
}

fn parse_shards(text: &str) -> Result<usize, String> {
    text.parse()
        .ok()
        .filter(|count| (1..=100_000).contains(count))
        .ok_or_else(|| "expected a number from 1 to 100000".to_owned())
}

/// Where the shards of a model were last written.
pub(super) fn noted(project: &Path, model: &str) -> Option<String> {
    let text = std::fs::read_to_string(file(project, model)).ok()?;
    Some(text.trim_end_matches('\n').to_owned()).filter(|text| !text.is_empty())
}

fn note(project: &Path, model: &str, place: &str) -> anyhow::Result<()> {
    let file = file(project, model);
    let folder = file.parent().ok_or_else(|| Misuse("a project is a folder".to_owned()))?;
    let failed = || format!("cannot write {}", file.display());
    std::fs::create_dir_all(folder).with_context(failed)?;
    // Another process may read it at this moment.
    let partial = file.with_extension("partial");
    let mut out = std::fs::File::create(&partial).with_context(failed)?;
    writeln!(out, "{place}").and_then(|()| out.sync_all()).with_context(failed)?;
    std::fs::rename(&partial, &file).with_context(failed)
}

/// Models are folders, so their names are names of files too.
fn file(project: &Path, model: &str) -> PathBuf {
    project.join("cluster").join(format!("{model}.shards"))
}
