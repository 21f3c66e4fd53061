//! `relatum-cluster check`: whether shards are whole.

use relatum::report::grouped;
use relatum_cluster::manifest::Manifest;
use relatum_cluster::place::Place;

use super::runtime;

/// Read all shards and compare them with their checksums
#[derive(clap::Args)]
pub(crate) struct Args {
    /// The folder or address of the shards
    place: String,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    let place = Place::open(&args.place)?;
    let manifest = runtime()?.block_on(async {
        let manifest = Manifest::open(&place).await?;
        manifest.verify(&place).await.map(|()| manifest)
    })?;
    let (shards, entities) = (manifest.shards.len(), grouped(manifest.model.entities as u64));
    println!("{shards} shards of the model `{}` are whole: {entities} entities", manifest.model.name);
    Ok(())
}
