//! What does a sample of the candidates cost and save on a graph too large for a full softmax?

use std::time::Instant;

use relatum::control::Control;
use relatum::graph::{Graph, GraphBuilder, Split, Triple};
use relatum::model::LinkMetrics;
use relatum::model::Ties;
use relatum::random::Rng;
use relatum::train::{Settings, Trainer, evaluate_some};

use super::train::run_batches;
use super::world::{debian, fb15k_237, generated, mebibytes, memory};

pub(crate) fn run(samples: &[usize], epochs: usize, rank: usize) -> anyhow::Result<()> {
    let small = fb15k_237()?.unwrap_or_else(|| generated(1.0));
    println!("accuracy: {} entities, rank {}, {} epochs", small.entities.len(), rank, epochs);
    println!("  {:>10} {:>12} {:>10} {:>7} {:>7}", "candidates", "s an epoch", "valid MRR", "H@3", "H@10");
    for candidates in std::iter::once(None).chain(samples.iter().copied().map(Some)) {
        let (seconds, metrics) = train(&small, rank, candidates, epochs)?;
        print_row(candidates, seconds, Some(metrics));
    }
    let Some(large) = debian()? else {
        println!("the Debian graph is not there; its speed is not measured");
        return Ok(());
    };
    println!(
        "\nspeed: {} entities, {} edges, rank {}",
        large.entities.len(),
        large.edges(Split::Train).len(),
        rank
    );
    println!("  {:>10} {:>12} {:>10} {:>7} {:>7}", "candidates", "s an epoch", "valid MRR", "H@3", "H@10");
    print_row(None, estimate(&large, rank, None, 12)?, None);
    for &candidates in samples {
        print_row(Some(candidates), estimate(&large, rank, Some(candidates), 100)?, None);
    }
    if let Some(&candidates) = samples.last() {
        let (seconds, metrics) = train(&large, rank, Some(candidates), epochs)?;
        print_row(Some(candidates), seconds, Some(metrics));
    }
    Ok(())
}

/// One epoch on a generated graph of any size, with a sample of the candidates: how much memory, how many triples a
/// second?
pub(crate) fn one_epoch(entities: usize, edges: usize, rank: usize, candidates: usize) -> anyhow::Result<()> {
    const RELATIONS: u32 = 100;
    let mut builder = GraphBuilder::default();
    (0..entities).for_each(|entity| _ = builder.entity(&format!("e{entity}")));
    (0..RELATIONS).for_each(|relation| _ = builder.relation(&format!("r{relation}")));
    let mut rng = Rng::new(5);
    for _ in 0..edges {
        let (head, tail) = (rng.below(entities) as u32, rng.below(entities) as u32);
        builder.add_ids(Split::Train, Triple::new(head, rng.below(RELATIONS as usize) as u32, tail));
    }
    let graph = builder.finish().0;
    let began = Instant::now();
    let mut trainer = Trainer::new(&graph, settings(rank, Some(candidates)))?;
    let before = began.elapsed().as_secs_f64();
    let held = memory("VmRSS").unwrap_or(0);
    let began = Instant::now();
    trainer.run_epoch(&Control::default())?;
    let seconds = began.elapsed().as_secs_f64();
    // Both directions of an edge are learned.
    let triples = 2 * graph.edges(Split::Train).len();
    let parameters = (entities * 2 * rank * size_of::<f32>()) as u64;
    println!(
        "one epoch: {entities} entities, {edges} edges, ComplEx of rank {rank}, {candidates} candidates"
    );
    println!("  {seconds:.0} s, {:.0} triples/s, after {before:.0} s of sorting", triples as f64 / seconds);
    println!(
        "  memory at its most {}; with graph and optimiser {} before the epoch, the vectors alone {}",
        mebibytes(memory("VmHWM").unwrap_or(0)),
        mebibytes(held),
        mebibytes(parameters)
    );
    Ok(())
}

fn print_row(candidates: Option<usize>, seconds: f64, metrics: Option<LinkMetrics>) {
    let candidates = candidates.map_or("all".to_owned(), |n| n.to_string());
    let metrics = metrics
        .map_or_else(String::new, |m| format!("{:>10.4} {:>7.3} {:>7.3}", m.mrr, m.hits[1], m.hits[2]));
    println!("  {candidates:>10} {seconds:>12.1} {metrics}");
}

fn settings(rank: usize, candidates: Option<usize>) -> Settings {
    Settings { rank, candidates, ..Settings::default() }
}

fn train(
    graph: &Graph,
    rank: usize,
    candidates: Option<usize>,
    epochs: usize,
) -> anyhow::Result<(f64, LinkMetrics)> {
    let mut trainer = Trainer::new(graph, settings(rank, candidates))?;
    let began = Instant::now();
    for _ in 0..epochs {
        trainer.run_epoch(&Control::default())?;
    }
    let seconds = began.elapsed().as_secs_f64() / epochs as f64;
    let metrics = trainer
        .with_current_model(|model| evaluate_some(model, graph, Split::Valid, Ties::Mean, 20_000).overall);
    Ok((seconds, metrics))
}

/// Seconds an epoch, from some of its batches.
fn estimate(graph: &Graph, rank: usize, candidates: Option<usize>, batches: usize) -> anyhow::Result<f64> {
    let mut trainer = Trainer::new(graph, settings(rank, candidates))?;
    let all = trainer.batch_rows().len();
    run_batches(&mut trainer, 2)?;
    let began = Instant::now();
    run_batches(&mut trainer, batches)?;
    Ok(began.elapsed().as_secs_f64() / batches.min(all) as f64 * all as f64)
}
