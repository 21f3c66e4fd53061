//! Fuzzes every reader of foreign input, guided by coverage.
//!
//! The targets are libFuzzer's, in `fuzz/`. They are built on stable: the coverage pass of LLVM is
//! asked for by name, and no sanitizer is needed for code without `unsafe`. The corpus is one file
//! a target, one JSON string a line, so that it can be read and kept under version control; where a
//! target takes bytes, each character of the string stands for the byte of its number.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, bail, ensure};

/// Fuzzes the parsers of queries and the readers of files, beginning with the corpus in fuzz/corpus.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Seconds for all targets together.
    #[arg(long, default_value_t = 60)]
    seconds: u64,
    /// Only this target.
    #[arg(long, value_parser = TARGETS)]
    target: Vec<String>,
    /// Keep new inputs in fuzz/corpus, without those that cover nothing new.
    #[arg(long)]
    keep: bool,
}

/// The targets whose input is text: the parsers of queries.
const OF_TEXT: [&str; 3] = ["text", "sparql", "tuple"];
const TARGETS: [&str; 9] =
    ["text", "sparql", "tuple", "pickle", "torch", "safetensors", "delimited", "rdf", "project"];
/// The longest inputs: that of a question, and that of a small file.
const LONGEST_TEXT: usize = 400;
const LONGEST_FILE: usize = 4096;

/// The flags that `cargo fuzz` passes, without a sanitizer.
const FLAGS: &str = "--cfg fuzzing -Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 \
     -Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table \
     -Cllvm-args=-sanitizer-coverage-trace-compares -Ccodegen-units=1";

pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().context("the workspace")?;
    let binaries = build(root)?;
    let chosen: Vec<&str> = match args.target.as_slice() {
        [] => TARGETS.to_vec(),
        some => some.iter().map(String::as_str).collect(),
    };
    let seconds = (args.seconds / chosen.len() as u64).max(1);
    for name in chosen {
        let kept = root.join("fuzz/corpus").join(name).with_extension("jsonl");
        let target =
            Target { name, binary: binaries.join(name), work: root.join("target/fuzz/corpus").join(name) };
        target.unpack(&kept)?;
        println!("{name}: {seconds} s");
        target.fuzz(seconds, root)?;
        if args.keep {
            println!("{name}: {} inputs kept", target.pack(&kept)?);
        }
    }
    Ok(())
}

/// Builds the targets and returns their folder.
fn build(root: &Path) -> anyhow::Result<PathBuf> {
    // If a target triple is given, build scripts and macros are built without coverage.
    let version = Command::new("rustc").arg("-vV").output()?;
    let version = String::from_utf8(version.stdout)?;
    let host = version.lines().find_map(|line| line.strip_prefix("host: ")).context("rustc names no host")?;
    let target_dir = root.join("target/fuzz");
    let status = Command::new("cargo")
        .args(["build", "--release", "--target", host, "--manifest-path"])
        .arg(root.join("fuzz/Cargo.toml"))
        .arg("--target-dir")
        .arg(&target_dir)
        .env("RUSTFLAGS", FLAGS)
        .status()?;
    ensure!(status.success(), "the fuzz targets do not build");
    Ok(target_dir.join(host).join("release"))
}

struct Target<'a> {
    name: &'a str,
    binary: PathBuf,
    /// The corpus as libFuzzer wants it, one file an input.
    work: PathBuf,
}

impl Target<'_> {
    fn unpack(&self, kept: &Path) -> anyhow::Result<()> {
        fs::create_dir_all(&self.work)?;
        let lines = fs::read_to_string(kept).with_context(|| kept.display().to_string())?;
        for (index, line) in lines.lines().enumerate() {
            let place = || format!("{}:{}", kept.display(), index + 1);
            let input: String = serde_json::from_str(line).with_context(place)?;
            let bytes = if self.is_of_text() { Some(input.into_bytes()) } else { to_bytes(&input) };
            let bytes = bytes.with_context(|| format!("{}: a character above 255 is not a byte", place()))?;
            fs::write(self.work.join(format!("kept-{index}")), bytes)?;
        }
        Ok(())
    }

    fn is_of_text(&self) -> bool {
        OF_TEXT.contains(&self.name)
    }

    fn longest(&self) -> String {
        format!("-max_len={}", if self.is_of_text() { LONGEST_TEXT } else { LONGEST_FILE })
    }

    fn fuzz(&self, seconds: u64, root: &Path) -> anyhow::Result<()> {
        let artifacts = root.join("target/fuzz/artifacts").join(self.name);
        fs::create_dir_all(&artifacts)?;
        let status = Command::new(&self.binary)
            .arg(&self.work)
            .arg(format!("-max_total_time={seconds}"))
            .arg(format!("-artifact_prefix={}/", artifacts.display()))
            .arg(format!("-dict={}", root.join("fuzz/words.dict").display()))
            .arg(self.longest())
            .args(["-timeout=10", "-rss_limit_mb=1024", "-print_final_stats=1", "-verbosity=0"])
            .status()?;
        if !status.success() {
            bail!("{} failed; its input is in {}", self.name, artifacts.display());
        }
        Ok(())
    }

    /// Writes the inputs that are worth keeping into one file and returns how many they are.
    fn pack(&self, kept: &Path) -> anyhow::Result<usize> {
        let smaller = self.work.with_extension("smaller");
        let _ = fs::remove_dir_all(&smaller);
        fs::create_dir_all(&smaller)?;
        let merge = ["-merge=1", "-verbosity=0"];
        let status = Command::new(&self.binary)
            .args(merge)
            .arg(self.longest())
            .arg(&smaller)
            .arg(&self.work)
            .status()?;
        ensure!(status.success(), "the corpus of {} cannot be made smaller", self.name);
        let mut inputs = BTreeSet::new();
        for entry in fs::read_dir(&smaller)? {
            let bytes = fs::read(entry?.path())?;
            if !self.is_of_text() {
                inputs.insert(bytes.into_iter().map(char::from).collect());
            } else if let Ok(text) = String::from_utf8(bytes) {
                // Other bytes are refused before they reach a parser.
                inputs.insert(text);
            }
        }
        let lines: Result<Vec<String>, _> = inputs.iter().map(serde_json::to_string).collect();
        fs::write(kept, lines?.join("\n") + "\n")?;
        Ok(inputs.len())
    }
}

/// The bytes that the characters of a text stand for.
fn to_bytes(text: &str) -> Option<Vec<u8>> {
    text.chars().map(|c| u8::try_from(u32::from(c)).ok()).collect()
}
