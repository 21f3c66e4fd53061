//! `cargo xtask demo-graph`: makes the graph of films that `relatum demo` carries inside it.
//!
//! In the order of the data: [`source`] fetches the films, [`names`] writes every name as a person
//! would, [`selection`] keeps the well-known and well-connected part, [`holdout`] hides true facts in it.

mod holdout;
mod names;
mod selection;
mod source;

use std::path::Path;

use anyhow::{Context, Result, bail, ensure};

/// The highest level of zstd, because the file is written once and read many times.
const COMPRESSION: i32 = 22;

/// Makes the file, or with `only_check` fails if the committed one is not what this makes.
pub(crate) fn run(only_check: bool) -> Result<()> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates/relatum/data/films.tsv.zst");
    let facts = selection::core(&source::films()?)?;
    let text = table(&holdout::split(facts))?;
    let made = zstd::encode_all(text.as_bytes(), COMPRESSION)?;
    if only_check {
        check(&path, &text, &made)?;
        println!("films.tsv.zst is what this command makes");
    } else {
        std::fs::write(&path, &made).with_context(|| format!("cannot write {}", path.display()))?;
        println!("films.tsv.zst: {} triples in {} bytes", text.lines().count(), made.len());
    }
    Ok(())
}

/// One fact about a film, by its names.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Fact {
    film: String,
    relation: &'static str,
    object: String,
}

/// The lines `film, relation, object, split`, sorted.
fn table(facts: &[(Fact, &'static str)]) -> Result<String> {
    let mut lines = Vec::with_capacity(facts.len());
    for (Fact { film, relation, object }, split) in facts {
        let line = format!("{film}\t{relation}\t{object}\t{split}\n");
        ensure!(line.matches(['\t', '\n', '\r']).count() == 4, "a name with a tab or line break: {line:?}");
        lines.push(line);
    }
    lines.sort_unstable();
    Ok(lines.concat())
}

fn check(path: &Path, text: &str, made: &[u8]) -> Result<()> {
    let committed = std::fs::read(path).with_context(|| format!("cannot read {}", path.display()))?;
    if committed == made {
        return Ok(());
    }
    let decoded = zstd::decode_all(committed.as_slice()).context("films.tsv.zst is damaged")?;
    if decoded == text.as_bytes() {
        bail!("films.tsv.zst holds the right facts, but another zstd wrote it: run `cargo xtask demo-graph`");
    }
    bail!(
        "films.tsv.zst is not what this command makes: run `cargo xtask demo-graph` and look at the change"
    );
}
