//! `relatum-cluster measure`: what a round costs, and whether it gives what one machine gives.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use relatum::graph::{EntityId, RelationId};
use relatum::model::{CandidateSource, SortedRow};
use relatum::random::Rng;
use relatum_cluster::health;
use relatum_cluster::rounds::Rounds;
use serde_json::json;

use super::{opened, runtime, shards_of};

/// Measure rounds of random rows, and compare them with the same on this machine
///
/// Prints one line of JSON for each size of batch. Scores and sums are compared bit by bit.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// The scheduler, host:port
    scheduler: String,
    /// The project folder
    dir: PathBuf,
    /// Rows of a round, in turn
    #[arg(long, value_delimiter = ',', default_value = "1,64,1000")]
    rows: Vec<usize>,
    /// How often each is measured, if that takes no longer than --seconds; the median is told
    #[arg(long, default_value_t = 5)]
    rounds: usize,
    /// Seconds after which a size is not measured once more
    #[arg(long, default_value_t = 30.0)]
    seconds: f64,
    /// Candidates of each row
    #[arg(long, default_value_t = 128)]
    count: usize,
    /// The name of the model [default: the project's]
    #[arg(long)]
    model: Option<String>,
    /// The place of the shards [default: where `relatum-cluster shard` wrote them]
    #[arg(long, value_name = "FOLDER")]
    shards: Option<String>,
    /// Give up when the scheduler has had no executors for so long
    #[arg(long, default_value_t = 30, value_name = "SECONDS")]
    wait: u64,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    let engine = opened(&args.dir)?;
    let address = health::checked_address(&args.scheduler)?;
    let threads = runtime()?;
    let rounds = threads.block_on(async {
        let (place, manifest) = shards_of(&engine, args.model.as_deref(), args.shards.as_deref()).await?;
        Ok::<_, anyhow::Error>(
            Rounds::connect(&address, &place, manifest, Duration::from_secs(args.wait)).await?,
        )
    })?;
    let open = engine.model(Some(&rounds.manifest.model.name))?;
    let model = &open.model;
    let mut rng = Rng::new(11);
    let mut differ = false;
    for &size in &args.rows {
        let mut draw = |most: usize| rng.below(most) as u32;
        let rows: Vec<(EntityId, RelationId)> = (0..size)
            .map(|_| (EntityId(draw(model.entity_count())), RelationId(draw(model.relation_count()))))
            .collect();
        let queries = model.query_vectors(&rows)?;
        let (mut remote, mut local) = (Vec::new(), Vec::new());
        let (mut same, mut tasks, mut bytes) = (true, 0, 0);
        let begun = Instant::now();
        for round in 0..=args.rounds.max(1) {
            if !remote.is_empty() && begun.elapsed().as_secs_f64() > args.seconds {
                break;
            }
            let (sorted, cost) =
                threads.block_on(rounds.run(queries.clone(), size, args.count, Some(1.0)))?;
            let began = Instant::now();
            let expected = model.best_candidates(&rows, args.count, Some(1.0))?;
            let seconds = began.elapsed().as_secs_f64();
            same &= equal(&sorted, &expected);
            (tasks, bytes) = (cost.tasks, cost.bytes);
            // The first round of each size finds caches cold; it counts only where it is so long that this is nothing.
            if round > 0 || cost.seconds > 0.2 * args.seconds {
                remote.push(cost.seconds);
                local.push(seconds);
            }
        }
        let rounds_counted = remote.len();
        let (remote, local) = (median(&mut remote), median(&mut local));
        let line = json!({
            "entities": model.entity_count(),
            "executors": health::executors(&address)?,
            "rows": size,
            "rounds": rounds_counted,
            "seconds": remote,
            "rows_per_second": size as f64 / remote,
            "state_bytes": bytes,
            "tasks": tasks,
            "local_seconds": local,
            "bit_equal": same,
        });
        println!("{line}");
        differ |= !same;
    }
    anyhow::ensure!(!differ, "the cluster and this machine disagree: are the shards made of this model?");
    Ok(())
}

fn equal(a: &[SortedRow], b: &[SortedRow]) -> bool {
    let bits = |row: &SortedRow| {
        let best: Vec<(u32, u32)> = row.best.iter().map(|(id, score)| (id.0, score.to_bits())).collect();
        let summary = row.summary;
        (best, summary.entities, summary.max.to_bits(), summary.min.to_bits(), summary.log_sum.to_bits())
    };
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| bits(a) == bits(b))
}

fn median(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(0.0)
}
