//! How long does a query take by type: Query2Box and GQE, which embed it, against CQD-Beam and our exact search?
//!
//! The figure of the paper's appendix B, all methods in one run. A baseline takes one distance to every entity for each
//! alternative, whatever the shape; a search scores rows for the values of variables.

use std::path::Path;
use std::time::{Duration, Instant};

use relatum::Engine;
use relatum::answer::{Ask, Method, ask};
use relatum::baseline::{Baseline, Kind, Program, QueryEncoder};
use relatum::benchmark::QuerySet;
use relatum::graph::Graph;
use relatum::model::{Calibration, Model};
use relatum::plan::Union;
use relatum::search::Known;
use relatum::search::beam::Width;

use super::answer::SHAPES;
use super::answer::world::World;

/// Answers that every method gives.
const TOP: usize = 10;

pub(crate) fn run(
    ranks: &[usize],
    queries: usize,
    project: Option<(&Path, Option<&str>)>,
) -> anyhow::Result<()> {
    let world = World::of_fb15k_237(queries)?;
    println!(
        "{}, {} entities, {queries} queries a shape, {} threads",
        world.name,
        world.graph.entities.len(),
        rayon::current_num_threads()
    );
    println!("this machine: {}", super::world::processor());
    println!(
        "milliseconds a query, one at a time, the {TOP} best answers: median over queries of the best of 3\n"
    );
    let names: Vec<&str> = SHAPES.iter().map(|shape| shape.name()).collect();
    println!("| | {} |\n|{}", names.join(" | "), " --- |".repeat(names.len() + 1));
    for kind in [Kind::Query2Box, Kind::Gqe] {
        let (name, times) = embedding_times(&world, kind);
        print_row(&name, &times);
    }
    let mut models: Vec<(String, Model)> = Vec::new();
    if let Some((dir, name)) = project {
        let engine = Engine::open(dir)?;
        let open = engine.model(name)?;
        anyhow::ensure!(
            open.model.entity_count() == world.graph.entities.len(),
            "{} has {} entities, the queries are of a graph with {}",
            dir.display(),
            open.model.entity_count(),
            world.graph.entities.len()
        );
        models.push((format!("rank {}, trained", open.card.rank), open.model.clone()));
    } else {
        let generated =
            |&rank: &usize| (format!("rank {rank}, generated weights"), world.generated_model(rank));
        models.extend(ranks.iter().map(generated));
    }
    for (title, model) in &models {
        for (name, times) in search_times(&world, model) {
            print_row(&format!("{name} ({title})"), &times);
        }
    }
    Ok(())
}

/// The time of a validation query by shape, one at a time: Query2Box against CQD-Beam and exact search with a model.
pub(crate) fn times(
    graph: &Graph,
    valid: Option<QuerySet>,
    queries: usize,
    model: &Model,
) -> anyhow::Result<Vec<(String, [Duration; 9])>> {
    anyhow::ensure!(
        SHAPES.iter().all(|shape| valid.as_ref().is_some_and(|set| set.group(shape.name()).is_some())),
        "there are no validation queries of some of the nine types, so there is nothing to time"
    );
    let world = World::of(graph.clone(), valid, queries);
    let mut rows = vec![embedding_times(&world, Kind::Query2Box)];
    rows.extend(search_times(&world, model));
    Ok(rows)
}

/// A baseline by shape. The time does not depend on the values of its vectors, so these are random.
fn embedding_times(world: &World, kind: Kind) -> (String, [Duration; 9]) {
    let model = Baseline::random(kind, &world.graph, kind.published_dimension(), 24.0, 1);
    let times = SHAPES.map(|shape| {
        let (program, arguments) = world.arguments(shape, model.relation_count());
        median(arguments.iter().map(|query| best_of_three(|| embedded(&model, &program, query))).collect())
    });
    (format!("{}, d = {}", kind.name(), model.dimension()), times)
}

/// CQD-Beam and exact search by shape.
fn search_times(world: &World, model: &Model) -> Vec<(String, [Duration; 9])> {
    let beam = Ask {
        method: Method::Beam,
        width: Width { k: 64, paper: true },
        calibration: Calibration::Sigmoid,
        known: Known::Ignore,
        top: TOP,
        ..Ask::default()
    };
    let best = Ask { top: TOP, ..Ask::default() };
    let row = |(name, how): (&str, &Ask)| {
        let times = SHAPES.map(|shape| {
            let plans = world.plans(shape, Union::AtTheEnd);
            let time = |plan| best_of_three(|| drop(ask(plan, model, &world.graph, how)));
            median(plans.iter().map(time).collect())
        });
        (name.to_owned(), times)
    };
    [("CQD-Beam, k = 64", &beam), ("best: exact", &best)].map(row).into()
}

/// The best answers of a baseline.
fn embedded(model: &Baseline, program: &Program, query: &[u32]) {
    let scores = model.answer(program, &[query]);
    let mut order: Vec<u32> = (0..).take(scores.len()).collect();
    let place = TOP.min(order.len()).saturating_sub(1);
    let by_score = |a: &u32, b: &u32| scores[*b as usize].total_cmp(&scores[*a as usize]).then(a.cmp(b));
    if !order.is_empty() {
        order.select_nth_unstable_by(place, by_score);
    }
    std::hint::black_box(&order);
}

fn best_of_three(work: impl Fn()) -> Duration {
    let once = || {
        let began = Instant::now();
        work();
        began.elapsed()
    };
    (0..3).map(|_| once()).min().unwrap_or_default()
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times.get(times.len() / 2).copied().unwrap_or_default()
}

fn print_row(name: &str, times: &[Duration]) {
    let cells: Vec<String> = times.iter().map(|time| format!("{:.2}", 1e3 * time.as_secs_f64())).collect();
    println!("| {name} | {} |", cells.join(" | "));
}
