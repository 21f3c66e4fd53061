//! What does a round of a cluster cost, and from which size does a cluster pay?
//!
//! One scheduler and some executors run on this machine alone and share its cores, so more executors are not more
//! machines: what is measured is what a round adds to the work itself. The local engine scores the same rows in the
//! same run, and every bit of the two is compared.

use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread::{available_parallelism, sleep};
use std::time::{Duration, Instant};

use anyhow::{Context, ensure};
use serde_json::Value;

use super::lists::make;
use super::world::processor;
use crate::shell::root;

pub(crate) fn run(
    millions: &[usize],
    executors: &[usize],
    rows: &[usize],
    rank: usize,
    rounds: usize,
) -> anyhow::Result<()> {
    let cores = available_parallelism()?.get();
    println!("rank {rank}, int8, lists of 128; all executors share the {cores} cores of {}", processor());
    for &size in millions {
        let home = tempfile::tempdir()?;
        let (dir, shards) = (home.path().join("large"), home.path().join("shards"));
        make(&dir, size * 1_000_000, rank)?;
        let began = Instant::now();
        let count = (4 * cores).to_string();
        let mut shard = command(&["shard"]);
        shard.arg(&dir).arg("--to").arg(&shards).args(["--shards", &count]);
        ensure!(shard.output()?.status.success(), "{shard:?} failed");
        println!(
            "\n{size} million entities, {count} shards written in {:.1} s",
            began.elapsed().as_secs_f64()
        );
        println!(
            "  {:>9} {:>6} {:>7} {:>10} {:>10} {:>12} {:>10} {:>8}",
            "executors", "rows", "rounds", "seconds", "rows/s", "bytes moved", "local s", "bits"
        );
        for &executors in executors {
            measure(home.path(), &dir, executors, cores, rows, rounds)?;
        }
    }
    Ok(())
}

/// One scheduler with so many executors, and rounds of every size.
fn measure(
    home: &Path,
    dir: &Path,
    executors: usize,
    cores: usize,
    rows: &[usize],
    rounds: usize,
) -> anyhow::Result<()> {
    let address = format!("127.0.0.1:{}", free_port()?);
    let _scheduler = Process::start(command(&["scheduler", "--listen", &address, "--log", "error"]))?;
    let until = Instant::now() + Duration::from_secs(30);
    while TcpStream::connect(&address).is_err() {
        ensure!(Instant::now() < until, "the scheduler does not start");
        sleep(Duration::from_millis(50));
    }
    let mut running = Vec::new();
    for index in 0..executors {
        // The cores are shared out; an executor has at least one.
        let own = (cores / executors).max(1).to_string();
        let mut executor = command(&["executor", "--scheduler", &address, "--cores", &own, "--log", "error"]);
        executor.args(["--port", &free_port()?.to_string(), "--grpc-port", &free_port()?.to_string()]);
        executor.arg("--work-dir").arg(home.join(format!("work-{index}"))).env("RAYON_NUM_THREADS", &own);
        running.push(Process::start(executor)?);
    }
    sleep(Duration::from_secs(2));
    let list = rows.iter().map(ToString::to_string).collect::<Vec<_>>().join(",");
    let mut measure = command(&["measure", &address]);
    measure.arg(dir).args(["--rows", &list, "--rounds", &rounds.to_string()]);
    let output = measure.stderr(Stdio::inherit()).output().context("cannot start the client")?;
    ensure!(output.status.success(), "{measure:?} ended with {}", output.status);
    for line in String::from_utf8(output.stdout)?.lines() {
        let line: Value = serde_json::from_str(line)?;
        ensure!(line["executors"] == executors, "{} of {executors} executors came", line["executors"]);
        let number = |name: &str| line[name].as_f64().unwrap_or(f64::NAN);
        println!(
            "  {executors:>9} {:>6} {:>7} {:>10.3} {:>10.1} {:>12} {:>10.3} {:>8}",
            line["rows"].to_string(),
            line["rounds"].to_string(),
            number("seconds"),
            number("rows_per_second"),
            line["state_bytes"].to_string(),
            number("local_seconds"),
            if line["bit_equal"] == true { "equal" } else { "DIFFER" }
        );
    }
    Ok(())
}

fn command(arguments: &[&str]) -> Command {
    let mut command = Command::new(root().join("crates/relatum-cluster/target/release/relatum-cluster"));
    command.args(arguments);
    command
}

/// A process that ends with the measurement.
struct Process(Child);

impl Process {
    fn start(mut command: Command) -> anyhow::Result<Self> {
        Ok(Self(command.spawn().with_context(|| format!("cannot start {command:?}"))?))
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn free_port() -> anyhow::Result<u16> {
    Ok(TcpListener::bind("127.0.0.1:0")?.local_addr()?.port())
}
