//! How long does an answer take, how far is that from the matrix products alone, and how does it grow?

mod table;
pub(super) mod world;

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use rayon::prelude::*;
use relatum::answer::{Ask, Method, ask};
use relatum::control::Control;
use relatum::graph::EntityId;
use relatum::model::{Model, Precision};
use relatum::plan::{Plan, Union};
use relatum::query::Shape;
use relatum::random::Rng;
use relatum::search::beam::Width;
use relatum::search::exact::{Exact, Goal};
use relatum::search::{Certainty, Known, Progress, Scorer};

use super::world::{mebibytes, memory};
use table::{Line, Table};
use world::{Counting, World};

/// The nine shapes of the figures.
pub(super) const SHAPES: [Shape; 9] =
    [Shape::P1, Shape::P2, Shape::P3, Shape::I2, Shape::I3, Shape::Ip, Shape::Pi, Shape::U2, Shape::Up];

/// Milliseconds a query that the port of the paper's authors took on [`PORT_MACHINE`], one query at a time,
/// k = 64, every entity ranked, medians, in the order of [`SHAPES`]. The same port took up to 2.7 times as
/// long on an older machine: a ratio is meaningful only if ours was measured on a similar machine.
const PORT: [(usize, [f64; 9]); 2] = [
    (100, [0.70, 7.1, 970.0, 1.27, 1.78, 10.0, 10.2, 1.29, 10.0]),
    (1000, [8.9, 49.0, 2665.0, 17.0, 25.0, 55.0, 55.0, 17.0, 56.0]),
];
const PORT_MACHINE: &str = "2 cores, Zen 4 (AVX-512), quiet";

fn port(rank: usize) -> Option<[f64; 9]> {
    PORT.into_iter().find(|(at, _)| *at == rank).map(|(_, row)| row)
}

pub(crate) fn run(ranks: &[usize], queries: usize, grow: bool) -> anyhow::Result<()> {
    let world = World::of_fb15k_237(queries)?;
    println!(
        "{}, {} entities, {queries} queries a shape, {} threads; ms are one query at a time, best of 3 a query",
        world.name,
        world.graph.entities.len(),
        rayon::current_num_threads()
    );
    println!("this machine: {}; {}", super::world::processor(), super::world::kernels());
    for &rank in ranks {
        let model = world.generated_model(rank);
        let beam = Ask { method: Method::Beam, width: Width { k: 64, paper: false }, ..Ask::default() };
        let title = format!("rank {rank}, generated weights, a beam of k = 64, top 10");
        // Against the port at its rank: 1.8× for single hops, 2.5× for two, 60× for three.
        measure(
            &world,
            &model,
            &beam,
            Union::AtTheEnd,
            &title,
            port(rank),
            [1.8, 2.5, 60.0, 1.8, 1.8, 2.5, 2.5, 1.8, 2.5],
        );
        // As the port answers, except for the number of entities that it ranks.
        let alone = Ask { known: Known::Ignore, ..beam };
        let title = format!(
            "rank {rank}, generated weights, the same beam, no stored edge trusted, unions in place, top 10"
        );
        measure(&world, &model, &alone, Union::InPlace, &title, port(rank), [0.0; 9]);
        let title = format!("rank {rank}, generated weights, the defaults: exact top 10");
        measure(&world, &model, &Ask::default(), Union::AtTheEnd, &title, port(rank), [0.0; 9]);
        rank_all(&world, &model, rank);
        side_by_side(&world, &model, rank);
    }
    match world.reference_model()? {
        Some(model) => {
            let title = "the reference checkpoint (rank 100), the defaults: exact top 10";
            let least = [0.0, 4.0, 4.0, 0.0, 0.0, 4.0, 4.0, 0.0, 4.0];
            measure(&world, &model, &Ask::default(), Union::AtTheEnd, title, port(100), least);
            let new_only = Ask { new_only: true, ..Ask::default() };
            let title = "the reference checkpoint (rank 100), only answers that no stored edge gives";
            measure(&world, &model, &new_only, Union::AtTheEnd, title, port(100), [0.0; 9]);
            side_by_side(&world, &model, 100);
        }
        None => println!("\nskipped the reference checkpoint: it is not beside the workspace"),
    }
    if grow {
        growth(queries);
    }
    Ok(())
}

/// One table: every shape, one query at a time.
fn measure(
    world: &World,
    model: &Model,
    how: &Ask,
    union: Union,
    title: &str,
    port: Option<[f64; 9]>,
    least: [f64; 9],
) {
    let mut table = Table::new(title);
    let held = Memory::start();
    for (index, &shape) in SHAPES.iter().enumerate() {
        let plans = world.plans(shape, union);
        let mut line = Line::new(shape.name());
        line.port = port.map(|row| row[index]);
        line.least = least[index];
        for plan in &plans {
            line.add(one(world, model, plan, how));
        }
        table.add(line);
    }
    table.print();
    held.print(world, model);
}

/// When a listener heard of which answers.
type Seen = (Duration, BTreeSet<EntityId>);

/// What one query took.
struct Sample {
    took: Duration,
    /// After which time a listener had seen the very answers that were proven in the end.
    shown: Duration,
    floor: Duration,
    rows: usize,
    /// Rows that a search without a bound would have scored.
    unbounded: usize,
    exact: bool,
}

fn one(world: &World, model: &Model, plan: &Plan, how: &Ask) -> Sample {
    let (mut took, mut shown) = (Duration::MAX, Duration::MAX);
    let mut answers = None;
    for _ in 0..3 {
        let began = Instant::now();
        let seen: Arc<Mutex<Vec<Seen>>> = Arc::default();
        let events = Arc::clone(&seen);
        let control = how.control.clone().on(move |progress: &Progress| {
            let best = progress.best.iter().map(|&(entity, _)| entity).collect();
            events.lock().expect("no listener panics").push((began.elapsed(), best));
        });
        let found = ask(plan, model, &world.graph, &Ask { control, ..how.clone() });
        let all = began.elapsed();
        took = took.min(all);
        answers = found.ok();
        let last: BTreeSet<EntityId> =
            answers.iter().flat_map(|it| &it.answers).map(|answer| answer.entity).collect();
        let seen = seen.lock().expect("no listener panics");
        let stood = seen.iter().rev().take_while(|(_, best)| *best == last).last();
        shown = shown.min(stood.map_or(all, |(at, _)| *at));
    }
    let (rows, exact) =
        answers.map_or((0, false), |it| (it.rows, matches!(it.certainty, Certainty::Exact { .. })));
    // The same search once more, only to see how its rows are grouped into products.
    let scorer = Scorer::new(model, &world.graph, how.calibration, how.known);
    let counting = Counting::new(&scorer);
    let keep = world.keep(plan, how);
    if let Ok(mut search) = Exact::new(plan, &counting, how.logic, &Control::default()) {
        let most = (how.method == Method::Beam).then_some(how.width.k);
        let goal = Goal::Top { count: how.top, keep: &|entity| keep[entity.0 as usize], within: 5e-5, most };
        let _ = search.run(goal);
    }
    let floor = products(model, &counting.batches());
    Sample {
        took,
        shown,
        floor,
        rows,
        unbounded: world::rows_without_bound(plan, world.graph.entities.len()),
        exact,
    }
}

/// The matrix products of so many rows each, alone: the best of three.
fn products(model: &Model, batches: &[usize]) -> Duration {
    let most = batches.iter().copied().max().unwrap_or(0);
    let width = model.predictor().tail().len();
    let queries = vec![0.01f32; most * width];
    let mut scores = vec![0.0f32; most * model.entity_count()];
    let mut best = Duration::MAX;
    for _ in 0..3 {
        let began = Instant::now();
        for &rows in batches {
            model.score_rows(&queries[..rows * width], &mut scores[..rows * model.entity_count()]);
        }
        best = best.min(began.elapsed());
    }
    best
}

/// A beam that ranks every entity, as a benchmark does, so no row is saved.
fn rank_all(world: &World, model: &Model, rank: usize) {
    let mut table = Table::new(&format!("rank {rank}, generated weights, k = 64, every entity ranked"));
    for (index, &shape) in SHAPES.iter().enumerate() {
        let mut line = Line::new(shape.name());
        line.port = port(rank).map(|row| row[index]);
        for plan in world.plans(shape, Union::AtTheEnd).iter().take(12) {
            let how = Ask::default();
            let scorer = Scorer::new(model, &world.graph, how.calibration, how.known);
            let counting = Counting::new(&scorer);
            let mut took = Duration::MAX;
            let mut rows = 0;
            for _ in 0..3 {
                counting.clear();
                let began = Instant::now();
                let search = Exact::new(plan, &counting, how.logic, &Control::default());
                let found = search.and_then(|mut it| it.run(Goal::All { floor: 0.0, most: Some(64) }));
                took = took.min(began.elapsed());
                rows = found.map_or(0, |found| found.rows);
            }
            let floor = products(model, &counting.batches());
            line.add(Sample { took, shown: took, floor, rows, unbounded: rows, exact: false });
        }
        table.add(line);
    }
    table.print();
}

/// Many queries, one to a thread.
fn side_by_side(world: &World, model: &Model, rank: usize) {
    let all: Vec<Plan> = SHAPES.iter().flat_map(|&shape| world.plans(shape, Union::AtTheEnd)).collect();
    let mut rng = Rng::new(5);
    let batch: Vec<&Plan> = (0..1000).map(|_| &all[rng.below(all.len())]).collect();
    let run = |how: Ask| {
        let began = Instant::now();
        let rows: usize =
            batch.par_iter().map(|plan| ask(plan, model, &world.graph, &how).map_or(0, |it| it.rows)).sum();
        (began.elapsed().as_secs_f64(), rows)
    };
    let (seconds, rows) = run(Ask::default());
    println!(
        "  1,000 queries of all shapes side by side, defaults, rank {rank}: {seconds:.2} s, {seconds:.2} ms a query, {rows} rows"
    );
}

/// Peak memory above what was held before.
struct Memory {
    before: Option<u64>,
}

impl Memory {
    fn start() -> Self {
        // Resets the kernel's high-water mark.
        let _ = std::fs::write("/proc/self/clear_refs", "5");
        Self { before: memory("VmRSS") }
    }

    fn print(&self, world: &World, model: &Model) {
        let Some((peak, before)) = memory("VmHWM").zip(self.before) else { return };
        let embeddings = 4 * (model.entities().len() + model.relations().len()) as u64;
        println!(
            "  memory: {} above the {} of embeddings and the graph of {} entities",
            mebibytes(peak.saturating_sub(before)),
            mebibytes(embeddings),
            world.graph.entities.len()
        );
    }
}

/// Time and memory from 15 thousand to 1.5 million entities.
fn growth(queries: usize) {
    println!("\nhow an answer grows: rank 100, generated graph and weights, defaults");
    println!(
        "  {:>9} {:>9} {:>5} {:>10} {:>10} {:>8} {:>12}",
        "entities", "precision", "shape", "median ms", "p95 ms", "rows", "peak above"
    );
    for scale in [1.0, 10.0, 100.0] {
        let world = World::generated(scale, queries.min(if scale > 5.0 { 6 } else { 20 }));
        let model = world.generated_model(100);
        grown(&world, &model, Shape::P1);
        for precision in [Precision::F16, Precision::Int8] {
            match model.rounded(precision) {
                Some(model) => grown(&world, &model, Shape::P1),
                None => println!("  the weights do not fit {}", precision.name()),
            }
        }
        for shape in [Shape::P2, Shape::P3, Shape::Up] {
            grown(&world, &model, shape);
        }
    }
}

/// One line of the table of growth.
fn grown(world: &World, model: &Model, shape: Shape) {
    let held = Memory::start();
    let mut line = Line::new(shape.name());
    for plan in world.plans(shape, Union::AtTheEnd) {
        let began = Instant::now();
        let rows = ask(&plan, model, &world.graph, &Ask::default()).map_or(0, |it| it.rows);
        let took = began.elapsed();
        line.add(Sample { took, shown: took, floor: took, rows, unbounded: rows, exact: true });
    }
    let above = memory("VmHWM").zip(held.before).map_or(0, |(peak, before)| peak.saturating_sub(before));
    println!(
        "  {:>9} {:>9} {:>5} {:>10.2} {:>10.2} {:>8} {:>12}",
        world.graph.entities.len(),
        model.precision().name(),
        shape.name(),
        line.median(),
        line.p95(),
        line.rows(),
        mebibytes(above)
    );
}
