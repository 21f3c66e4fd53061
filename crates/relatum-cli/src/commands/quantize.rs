//! `relatum quantize`: stores a model in fewer bits.

use std::io::Write;
use std::path::PathBuf;

use relatum::Engine;
use relatum::engine::QuantizeOptions;
use relatum::model::{Card, LinkMetrics, Precision};

use super::model;
use super::models::sized;
use super::train::use_threads;
use crate::output;

/// Store a model in fewer bits: smaller, faster, a model of its own
///
/// int8 keeps a byte for each number and a scale for each entity, and rounds every query vector to 8 bits as well: a
/// quarter of the memory, and scores with the same bits on every machine. f16 keeps half of the bits. Answers are
/// proven as for any other model, because its scores are those of the numbers that it stores. The file is mapped when
/// it is used, not read.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  relatum quantize movies/ --to int8
  relatum quantize movies/ --model big --to f16 --as small
  relatum ask movies/ '…' --model default-int8")]
pub(crate) struct Args {
    /// The project folder
    dir: PathBuf,
    /// The model [default: default, or what `relatum models --default` chose]
    #[arg(long, value_name = "NAME")]
    model: Option<String>,
    /// How numbers are stored
    #[arg(long, value_name = "int8|f16", value_parser = precision)]
    to: Precision,
    /// The name of the new model [default: that of the model, then - and the precision]
    #[arg(long = "as", value_name = "NEW")]
    name: Option<String>,
    /// Replace a model of this name
    #[arg(long)]
    replace: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// Threads to use [default: all cores]
    #[arg(long, value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: Option<u16>,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    use_threads(args.threads)?;
    let engine = Engine::open(&args.dir)?;
    let options = QuantizeOptions {
        model: args.model.clone(),
        to: args.to,
        name: args.name.clone(),
        replace: args.replace,
    };
    let made = engine.quantize(&options)?;
    if let Some(position) = &made.unfinished {
        output::say(&format!(
            "warning: {}",
            model::warning(&args.dir, &made.from, &made.from_card, position)
        ));
    }
    let mut out = output::out(args.json);
    if args.json {
        writeln!(out, "{}", serde_json::to_string(&made)?)?;
        return Ok(());
    }
    let mut table =
        output::table(&["model", "numbers", "size", "valid MRR", "H@1", "H@3", "H@10"], &[2, 3, 4, 5, 6]);
    table.add_row(cells(&made.from, &made.from_card, made.bytes[0]));
    table.add_row(cells(&made.name, &made.card, made.bytes[1]));
    write!(out, "{}", output::render(&table))?;
    writeln!(out, "next: relatum ask {} '…' --model {}", output::typed(&args.dir), made.name)?;
    Ok(())
}

fn cells(name: &str, card: &Card, bytes: u64) -> Vec<String> {
    let figures =
        |m: &LinkMetrics| [m.mrr, m.hits[0], m.hits[1], m.hits[2]].map(|value| format!("{value:.4}"));
    let figures = card.valid.as_ref().map_or([const { String::new() }; 4], figures);
    [name.to_owned(), card.precision.name().to_owned(), sized(bytes)].into_iter().chain(figures).collect()
}

fn precision(text: &str) -> Result<Precision, String> {
    match Precision::from_name(text) {
        Some(precision) if !precision.is_full() => Ok(precision),
        Some(_) => Err("models are trained in f32 already; int8 and f16 are smaller".to_owned()),
        None => Err("int8 (a quarter of the memory) or f16 (half of it) is needed".to_owned()),
    }
}
