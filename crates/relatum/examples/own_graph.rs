//! From a table of triples to the most likely edges that it lacks.

use relatum::Engine;
use relatum::control::Control;
use relatum::engine::{Sources, TrainOptions};
use relatum::graph::Split;
use relatum::project::EpochRecord;
use relatum::train::GivenSettings;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = tempfile::tempdir()?;
    let table = folder.path().join("food.csv");
    std::fs::write(
        &table,
        "head,relation,tail\nAnna,likes,pizza\nBert,likes,pizza\nAnna,likes,pasta\nBert,likes,salad\n\
         Carla,likes,pizza\nCarla,likes,pasta\npizza,is,Italian\npasta,is,Italian\n",
    )?;
    let sources = Sources { files: vec![(Split::Train, table)], ..Sources::default() };
    let (engine, made) = Engine::create(&folder.path().join("food"), &sources, &Control::default())?;
    println!("{} entities in {} file", engine.graph().entities.len(), made.files.len());

    // Whoever listens to a control hears how far the work is; a cancel token would stop it.
    let control = Control::default().on(|epoch: &EpochRecord| {
        if epoch.epoch.is_multiple_of(10) {
            println!("epoch {}: loss {:.3}", epoch.epoch, epoch.loss);
        }
    });
    let settings = GivenSettings { rank: Some(4), epochs: Some(30), ..GivenSettings::default() };
    engine.train(&TrainOptions { settings, ..TrainOptions::default() }, &control)?;
    println!("{}", engine.ask("?X : likes(Bert, X)", &relatum::Options::default())?);
    Ok(())
}
