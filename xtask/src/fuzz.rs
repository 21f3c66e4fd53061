//! Feeds the parsers of queries with what nobody would write, guided by coverage.
//!
//! The targets are libFuzzer's, in `fuzz/`. They are built on stable: the coverage pass of LLVM is
//! asked for by name, and no sanitizer is needed for code without `unsafe`.

use std::path::Path;
use std::process::Command;

use anyhow::{Context, bail, ensure};

/// Fuzzes the parsers of queries; the corpus in `fuzz/corpus` is begun with and added to.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Seconds for all targets together.
    #[arg(long, default_value_t = 60)]
    seconds: u64,
    /// Only these targets.
    #[arg(long, value_parser = TARGETS, num_args = 1..)]
    target: Vec<String>,
    /// Leave out of the corpus what adds no coverage, instead of fuzzing.
    #[arg(long)]
    minimise: bool,
}

const TARGETS: [&str; 3] = ["text", "sparql", "tuple"];

/// What `cargo fuzz` passes, without a sanitizer.
const FLAGS: &str = "--cfg fuzzing -Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 \
     -Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table \
     -Cllvm-args=-sanitizer-coverage-trace-compares -Ccodegen-units=1";

pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().context("the workspace")?;
    let fuzz = root.join("fuzz");
    let target_dir = root.join("target/fuzz");
    let triple = host()?;
    let build = Command::new("cargo")
        .args(["build", "--release", "--target", &triple, "--manifest-path"])
        .arg(fuzz.join("Cargo.toml"))
        .arg("--target-dir")
        .arg(&target_dir)
        .env("RUSTFLAGS", FLAGS)
        .status()?;
    ensure!(build.success(), "the fuzz targets do not build");
    let chosen: Vec<&str> = match args.target.as_slice() {
        [] => TARGETS.to_vec(),
        some => some.iter().map(String::as_str).collect(),
    };
    let seconds = (args.seconds / chosen.len() as u64).max(1);
    for name in chosen {
        let binary = target_dir.join(&triple).join("release").join(name);
        let corpus = fuzz.join("corpus").join(name);
        std::fs::create_dir_all(&corpus)?;
        if args.minimise {
            minimise(&binary, &corpus)?;
            continue;
        }
        println!("{name}: {seconds} s");
        let artifacts = fuzz.join("artifacts").join(name);
        std::fs::create_dir_all(&artifacts)?;
        // A dictionary of the words of all three languages gets the fuzzer past the first token.
        let run = Command::new(&binary)
            .arg(&corpus)
            .arg(format!("-max_total_time={seconds}"))
            .arg(format!("-artifact_prefix={}/", artifacts.display()))
            .arg(format!("-dict={}", fuzz.join("words.dict").display()))
            .args([
                "-max_len=400",
                "-timeout=10",
                "-rss_limit_mb=1024",
                "-print_final_stats=1",
                "-verbosity=0",
            ])
            .status()?;
        if !run.success() {
            bail!("{name} failed; what it was fed is in {}", artifacts.display());
        }
    }
    Ok(())
}

fn minimise(binary: &Path, corpus: &Path) -> anyhow::Result<()> {
    let smaller = corpus.with_extension("minimised");
    std::fs::create_dir_all(&smaller)?;
    let merge = Command::new(binary).args(["-merge=1", "-max_len=400"]).arg(&smaller).arg(corpus).status()?;
    ensure!(merge.success(), "the corpus cannot be minimised");
    std::fs::remove_dir_all(corpus)?;
    std::fs::rename(&smaller, corpus)?;
    Ok(())
}

/// The triple of this machine: with one given, build scripts and macros stay without coverage.
fn host() -> anyhow::Result<String> {
    let output = Command::new("rustc").arg("-vV").output()?;
    let text = String::from_utf8(output.stdout)?;
    let host = text.lines().find_map(|line| line.strip_prefix("host: ")).context("rustc names no host")?;
    Ok(host.to_owned())
}
