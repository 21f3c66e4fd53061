//! What does a sample of the candidates cost and save on a graph too large for a full softmax?

use std::time::Instant;

use relatum::control::Control;
use relatum::graph::{Graph, Split};
use relatum::model::LinkMetrics;
use relatum::model::Ties;
use relatum::train::{Settings, Trainer, evaluate_some};

use super::train::run_batches;
use super::world::{debian, fb15k_237, generated};

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
