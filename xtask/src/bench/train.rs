//! How near is training to the machine's peak?

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use relatum::control::{Cancel, Control};
use relatum::graph::Graph;
use relatum::train::{BatchReport, Floor, Settings, Trainer};

use super::world::{self, generated, mebibytes, memory};

/// Seconds an epoch of FB15k-237 takes in the kbc code, by rank, and on which machine that was measured.
const KBC: [(usize, f64, &str); 2] = [
    (100, 170.0, "2 cores, Zen 4 (AVX-512), quiet"),
    (1000, 1063.0, "another machine of 2 cores, on which rank 100 took 193 s"),
];

pub(crate) fn run(
    ranks: &[usize],
    batch_size: usize,
    batches: Option<usize>,
    grow: bool,
) -> anyhow::Result<()> {
    let (name, graph) = match world::fb15k_237()? {
        Some(graph) => ("FB15k-237", graph),
        None => ("a generated graph of the size of FB15k-237", generated(1.0)),
    };
    println!("{name}, batches of {batch_size} triples, {} threads", rayon::current_num_threads());
    for &rank in ranks {
        let settings = Settings { rank, batch_size, ..Settings::default() };
        let measured = measure(&graph, settings, batches)?;
        println!(
            "\nrank {rank}: {} rows of {} triples in {} batches",
            measured.rows, measured.triples, measured.batches
        );
        measured.print(rank, name == "FB15k-237");
    }
    if grow {
        growth(batch_size)?;
    }
    Ok(())
}

struct Measured {
    rows: usize,
    triples: usize,
    batches: usize,
    /// The share of the epoch that was run.
    share: f64,
    floor: Duration,
    whole: Duration,
    flops: f64,
    memory: Option<(u64, u64)>,
}

impl Measured {
    fn print(&self, rank: usize, is_fb15k_237: bool) {
        let seconds = |time: Duration| time.as_secs_f64() / self.share;
        let (floor, whole) = (seconds(self.floor), seconds(self.whole));
        let note = if self.share < 1.0 {
            format!(" (from {:.0}% of it)", 100.0 * self.share)
        } else {
            String::new()
        };
        println!(
            "  three products alone   {floor:8.2} s an epoch{note}, {:.0} GFLOP/s",
            self.flops / floor / 1e9
        );
        println!(
            "  training               {whole:8.2} s an epoch{note}, {:.0} triples/s",
            self.triples as f64 / whole
        );
        println!("  training / floor       {:8.3}", whole / floor);
        if let Some((_, kbc, machine)) = KBC.into_iter().find(|(at, ..)| *at == rank && is_fb15k_237) {
            println!(
                "  kbc (PyTorch)          {kbc:8.2} s an epoch, measured on {machine}: {:.1}× as long as ours here",
                kbc / whole
            );
        }
        if let Some((held, sum)) = self.memory {
            println!(
                "  memory                 {} at most; parameters + optimiser state + gradient + one batch of scores: {}",
                mebibytes(held),
                mebibytes(sum)
            );
        }
    }
}

fn measure(graph: &Graph, settings: Settings, limit: Option<usize>) -> anyhow::Result<Measured> {
    const TURN: usize = 8;
    let before = memory("VmRSS");
    let mut trainer = Trainer::new(graph, settings)?;
    let shapes = trainer.batch_rows();
    let count = limit.unwrap_or(shapes.len()).min(shapes.len());
    run_batches(&mut trainer, 3)?;
    // Measured before the floor's own matrices are made; the graph was in memory before.
    let held = memory("VmHWM").zip(before).map(|(peak, before)| peak.saturating_sub(before));
    let memory = held.map(|held| (held, trainer.memory().total() as u64));
    let width = (trainer.flops(1) / 6.0) as usize / trainer.entity_count();
    let most = shapes.iter().copied().max().unwrap_or(1);
    let mut products = Floor::new(most, trainer.entity_count(), width);
    products.time(most);
    let (mut floor, mut whole) = (Duration::ZERO, Duration::ZERO);
    let mut done = 3;
    let end = (3 + count).min(shapes.len());
    while done < end {
        let turn = TURN.min(end - done);
        floor += shapes[done..done + turn].iter().map(|&rows| products.time(rows)).sum::<Duration>();
        let began = Instant::now();
        run_batches(&mut trainer, turn)?;
        whole += began.elapsed();
        done += turn;
    }
    let measured: usize = shapes[3..end].iter().sum();
    Ok(Measured {
        rows: trainer.rows(),
        triples: trainer.triples(),
        batches: shapes.len(),
        share: measured as f64 / trainer.rows() as f64,
        floor,
        whole,
        flops: trainer.product_flops(),
        memory,
    })
}

/// Trains on the next batches of the epoch under way, so many of them or the rest.
pub(super) fn run_batches(trainer: &mut Trainer, count: usize) -> anyhow::Result<()> {
    let (left, cancel) = (AtomicUsize::new(count), Cancel::default());
    let enough = cancel.clone();
    let control = Control::default().with_cancel(cancel).on(move |_: &BatchReport| {
        if left.fetch_sub(1, Ordering::Relaxed) == 1 {
            enough.cancel();
        }
    });
    trainer.run_epoch(&control)?;
    Ok(())
}

/// Time an epoch ∝ rows × entities × rank.
fn growth(batch_size: usize) -> anyhow::Result<()> {
    println!("\nhow an epoch grows, on generated graphs");
    println!(
        "  {:>9} {:>9} {:>5} {:>11} {:>28}",
        "rows", "entities", "rank", "s an epoch", "ps a row × entity × rank"
    );
    for (scale, rank) in [(0.5, 50), (1.0, 100), (2.0, 200)] {
        let graph = generated(scale);
        let settings = Settings { rank, batch_size, ..Settings::default() };
        let measured = measure(&graph, settings, Some(120))?;
        let seconds = measured.whole.as_secs_f64() / measured.share;
        let work = measured.rows as f64 * graph.entities.len() as f64 * rank as f64;
        println!(
            "  {:>9} {:>9} {rank:>5} {seconds:>11.1} {:>28.1}",
            measured.rows,
            graph.entities.len(),
            seconds / work * 1e12
        );
    }
    Ok(())
}
