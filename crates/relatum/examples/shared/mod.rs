//! A small project that the examples ask: people, the cities they live in, the countries of those.

#![allow(dead_code, reason = "each example uses its own part of this")]

use std::path::Path;

use relatum::control::Control;
use relatum::engine::{Sources, TrainOptions};
use relatum::graph::{Shares, Split};
use relatum::train::GivenSettings;
use relatum::{Engine, Error};

/// Makes the project in a folder and trains a small model on it.
pub(crate) fn project(dir: &Path) -> Result<Engine, Box<dyn std::error::Error>> {
    let table = dir.join("people.tsv");
    std::fs::write(&table, triples())?;
    let sources = Sources {
        files: vec![(Split::Train, table)],
        hold_out: Some("0.8/0.1/0.1".parse::<Shares>()?),
        ..Sources::default()
    };
    let (engine, _) = Engine::create(&dir.join("people"), &sources, &Control::default())?;
    train(&engine)?;
    Ok(engine)
}

/// A model of rank 8, which takes a moment.
pub(crate) fn train(engine: &Engine) -> Result<(), Error> {
    let settings = GivenSettings { rank: Some(8), epochs: Some(30), ..GivenSettings::default() };
    engine.train(&TrainOptions { settings, ..TrainOptions::default() }, &Control::default())?;
    Ok(())
}

/// Sixty people in twelve cities of three countries, who know their neighbours.
fn triples() -> String {
    let mut lines = String::new();
    for person in 0..60 {
        let (city, friend) = (person % 12, (person + 12) % 60);
        lines += &format!("person{person}\tlives_in\tcity{city}\n");
        lines += &format!("person{person}\tknows\tperson{friend}\n");
        lines += &format!("person{person}\tspeaks\tlanguage{}\n", city % 3);
    }
    for city in 0..12 {
        lines += &format!("city{city}\tlies_in\tcountry{}\n", city % 3);
    }
    lines
}
