//! How much memory does a question need on a graph of millions of entities, and how long does it take?

use std::io::Write;
use std::path::Path;
use std::process::Stdio;
use std::thread::sleep;
use std::time::{Duration, Instant};

use anyhow::{Context, ensure};
use relatum::Engine;
use relatum::control::Control;
use relatum::graph::{GraphBuilder, Split, Triple};
use relatum::model::{Card, Model, Precision, predictor};
use relatum::project::{ModelFolder, Project};
use relatum::random::Rng;
use serde_json::Value;

use super::child::relatum;
use super::world::processor;

/// Anonymous memory: what a process holds beyond the files that it has mapped.
const ANONYMOUS: &str = "RssAnon:";
const RELATIONS: u32 = 16;
/// Weights of this size leave the best of ten million candidates a share of some hundredths.
const SCALE: f32 = 0.75;

const QUESTIONS: [(&str, &str); 5] = [
    ("1p", "?A : r1(e17, A)"),
    ("2p", "?A : exists V. r1(e17, V) and r2(V, A)"),
    ("2i", "?A : r1(e17, A) and r2(e4711, A)"),
    ("ip", "?A : exists V. r1(e17, V) and r2(e4711, V) and r3(V, A)"),
    ("2u", "?A : r1(e17, A) or r2(e4711, A)"),
];

pub(crate) fn run(entities: usize, rank: usize) -> anyhow::Result<()> {
    let home = tempfile::tempdir()?;
    let dir = home.path().join("large");
    let began = Instant::now();
    make(&dir, entities, rank)?;
    let file = dir.join("models/default/model.safetensors").metadata()?.len();
    println!(
        "{entities} entities, rank {rank}, int8: a model of {:.0} MB, made in {:.0} s ({})",
        file as f64 / 1e6,
        began.elapsed().as_secs_f64(),
        processor()
    );
    println!("one process for each question; memory is what it holds beyond mapped files");
    println!(
        "  {:>5} {:>8} {:>10} {:>12} {:>8}  certainty",
        "shape", "method", "seconds", "memory", "answers"
    );
    for (shape, question) in QUESTIONS {
        for method in ["lists", "exact"] {
            let (seconds, memory, reply) = ask(&dir, question, method)?;
            let answers = reply["answers"].as_array().map_or(0, Vec::len);
            println!(
                "  {shape:>5} {method:>8} {seconds:>10.2} {:>9.0} MB {answers:>8}  {}",
                memory as f64 / 1e6,
                reply["certainty"]["kind"].as_str().unwrap_or("?")
            );
        }
    }
    Ok(())
}

/// A project with a generated graph and a model of random weights.
pub(super) fn make(dir: &Path, entities: usize, rank: usize) -> anyhow::Result<()> {
    Engine::create_of(dir, triples(entities), None, "generated", &Control::default())?;
    let project = Project::open(dir)?;
    let shape = predictor("complex", rank).context("a predictor")?;
    let model = Model::random(shape, project.graph(), SCALE, 7).rounded(Precision::Int8);
    let model = model.context("weights that fit 8 bits")?;
    let card = Card::new(&project.manifest().fingerprint, &model, "generated");
    ModelFolder::of(&project, ModelFolder::DEFAULT)?.save(&model, &card)?;
    Ok(())
}

fn triples(entities: usize) -> GraphBuilder {
    let mut builder = GraphBuilder::default();
    for entity in 0..entities {
        builder.entity(&format!("e{entity}"));
    }
    for relation in 0..RELATIONS {
        builder.relation(&format!("r{relation}"));
    }
    let mut rng = Rng::new(18);
    for _ in 0..entities {
        let (head, tail) = (rng.below(entities) as u32, rng.below(entities) as u32);
        let relation = rng.below(RELATIONS as usize) as u32;
        builder.add_ids(Split::Train, Triple::new(head, relation, tail));
    }
    builder
}

/// Seconds, the most anonymous memory, and the reply.
fn ask(dir: &Path, question: &str, method: &str) -> anyhow::Result<(f64, u64, Value)> {
    let began = Instant::now();
    let mut command = relatum();
    command.arg("ask").arg(dir).arg(question).args(["--method", method, "--known", "none", "--json"]);
    let mut child = command.stdout(Stdio::piped()).spawn().context("cannot start relatum")?;
    let status_file = format!("/proc/{}/status", child.id());
    let mut peak = 0;
    while child.try_wait()?.is_none() {
        peak = peak.max(anonymous(&status_file).unwrap_or(0));
        sleep(Duration::from_millis(1));
    }
    let seconds = began.elapsed().as_secs_f64();
    let output = child.wait_with_output()?;
    std::io::stderr().write_all(&output.stderr)?;
    ensure!(output.status.success(), "{command:?} ended with {}", output.status);
    Ok((seconds, peak, serde_json::from_slice(&output.stdout)?))
}

fn anonymous(status_file: &str) -> Option<u64> {
    let text = std::fs::read_to_string(status_file).ok()?;
    let line = text.lines().find(|line| line.starts_with(ANONYMOUS))?;
    Some(line.split_whitespace().nth(1)?.parse::<u64>().ok()? * 1024)
}
