//! How many requests does a server answer, how long do they take, and does a heavy one hold up a light one?

mod client;
mod world;

use std::time::{Duration, Instant};

use anyhow::ensure;
use relatum::query::Shape;
use relatum::{Engine, Options};

use client::{Latencies, Load, Server};
use world::World;

/// The nine shapes of the figures.
const SHAPES: [Shape; 9] =
    [Shape::P1, Shape::P2, Shape::P3, Shape::I2, Shape::I3, Shape::Ip, Shape::Pi, Shape::U2, Shape::Up];
const CONNECTIONS: [usize; 3] = [1, 8, 64];
/// Questions of a shape. Replies are not cached, so that every question is answered anew.
const QUESTIONS: usize = 200;

pub(crate) fn run(seconds: f64, soak: f64) -> anyhow::Result<()> {
    println!("this machine: {}", super::world::processor());
    for world in World::all()? {
        measure(&world, Duration::from_secs_f64(seconds), Duration::from_secs_f64(soak))?;
    }
    Ok(())
}

fn measure(world: &World, time: Duration, soak: Duration) -> anyhow::Result<()> {
    let engine = Engine::open(&world.dir)?;
    let (entities, model) = (engine.graph().entities.len(), engine.default_model());
    println!("\n{}, {entities} entities, model `{model}`", world.name);
    let mixed: Vec<String> = mixed(&engine);
    let single = world::questions(engine.graph(), Shape::P1, QUESTIONS);
    let server = Server::start(&world.dir)?;

    println!("\n  nine shapes mixed    requests/s     p50 ms     p99 ms");
    for connections in CONNECTIONS {
        let latencies = Load::new(&server, &mixed, "{}").run(connections, time)?;
        println!("  {connections:>2} connections       {}", latencies.row(time));
    }
    overhead(&server, &engine, &mixed, time)?;
    sharing(&server, &single, time)?;
    isolation(&server, &engine, &single, time)?;
    soaked(&server, &mixed, soak)
}

/// Questions of all shapes in turn.
fn mixed(engine: &Engine) -> Vec<String> {
    let by_shape = SHAPES.map(|shape| world::questions(engine.graph(), shape, QUESTIONS));
    (0..QUESTIONS).flat_map(|at| by_shape.iter().filter_map(move |of| of.get(at).cloned())).collect()
}

/// How much longer a request takes than a call of the engine, at the median: the same questions, in turns.
fn overhead(server: &Server, engine: &Engine, questions: &[String], time: Duration) -> anyhow::Result<()> {
    let mut called = Latencies::default();
    let served = Load::new(server, questions, "{}").one_by_one(time, |at| {
        let began = Instant::now();
        engine.ask(&questions[at], &Options::default())?;
        called.add(began.elapsed());
        Ok(())
    })?;
    let [served_ms, called_ms] = [&served, &called].map(|it| 1e3 * it.quantile(0.5).as_secs_f64());
    println!(
        "\n  overhead at p50: {:.2} ms ({served_ms:.2} ms served, {called_ms:.2} ms called, {} questions); at most 1 ms is wanted",
        served_ms - called_ms,
        served.len(),
    );
    Ok(())
}

/// How much more 64 connections get done than one, of questions of one hop.
fn sharing(server: &Server, single: &[String], time: Duration) -> anyhow::Result<()> {
    // No stored edge is trusted, so that every question scores its row.
    let load = Load::new(server, single, r#"{"known": "none"}"#);
    let [one, many] = [1, 64].map(|connections| load.run(connections, time));
    let (one, many) = (one?, many?);
    let times = many.rate(time) / one.rate(time);
    println!("\n  1p of predictions     requests/s     p50 ms     p99 ms");
    println!("   1 connection        {}", one.row(time));
    println!("  64 connections       {}", many.row(time));
    println!("  {times:.1} times as many with 64 connections; at least 3 are wanted");
    Ok(())
}

/// How long light questions take beside heavy ones.
fn isolation(server: &Server, engine: &Engine, single: &[String], time: Duration) -> anyhow::Result<()> {
    let heavy = world::questions(engine.graph(), Shape::P3, QUESTIONS);
    let light = Load::new(server, single, "{}");
    let unloaded = light.run(1, time)?;
    let exact = Load::new(server, &heavy, r#"{"known": "none"}"#);
    let beam = Load::new(server, &heavy, r#"{"method": "beam", "k": 512, "known": "none"}"#);
    let beside = std::thread::scope(|scope| {
        let others = [scope.spawn(|| exact.run(4, time)), scope.spawn(|| beam.run(4, time))];
        let beside = light.run(1, time);
        let ended: anyhow::Result<Vec<Latencies>> = others
            .into_iter()
            .map(|it| it.join().unwrap_or_else(|_| anyhow::bail!("a client failed")))
            .collect();
        ended.and(beside)
    })?;
    let (p50, p99) = (unloaded.quantile(0.5), beside.quantile(0.99));
    println!(
        "\n  1p beside 3p and beams: p99 {:.2} ms, {:.1} times the p50 of {:.2} ms without them; at most 10 times is wanted",
        p99.as_secs_f64() * 1e3,
        p99.as_secs_f64() / p50.as_secs_f64(),
        p50.as_secs_f64() * 1e3
    );
    Ok(())
}

/// A long time under full load: no errors, and no more memory at the end than soon after the beginning.
fn soaked(server: &Server, questions: &[String], time: Duration) -> anyhow::Result<()> {
    if time.is_zero() {
        return Ok(());
    }
    let load = Load::new(server, questions, "{}");
    let (mut answered, mut memory) = (0, Vec::new());
    for _ in 0..4 {
        answered += load.run(64, time / 4)?.len();
        memory.push(server.memory().map_or("?".to_owned(), |bytes| format!("{:.0}", bytes as f64 / 1e6)));
    }
    println!(
        "\n  64 connections for {:.0} s: {answered} requests without an error; memory {} MB after each quarter of it",
        time.as_secs_f64(),
        memory.join(", ")
    );
    ensure!(answered > 0, "nothing was answered");
    Ok(())
}
