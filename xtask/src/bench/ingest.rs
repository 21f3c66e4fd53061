//! How much time and memory does reading a graph take?
//!
//! The floor is the work that no reader can avoid: reading the same bytes, splitting them into lines
//! and fields, and hashing each field, with nothing kept, on one thread.

use std::fs::{self, File};
use std::hash::BuildHasher;
use std::hint::black_box;
use std::io::{BufWriter, Read, Write};
use std::path::{Path, PathBuf};
use std::time::Instant;

use foldhash::fast::FixedState;
use relatum::random::Rng;

use super::child::{Cost, measure, relatum};
use crate::shell::root;

pub(super) fn run(triples: usize, rounds: usize) -> anyhow::Result<()> {
    let work = root().join("target/bench/ingest");
    fs::create_dir_all(&work)?;
    let generated = work.join(format!("generated-{triples}.tsv"));
    if !generated.exists() {
        println!("generating {} …", generated.display());
        generate(&generated, triples)?;
    }
    compare("generated", &generated, &generated, &work, rounds)?;

    let debian = root().join("../shared/data/debian-packages.tsv.gz");
    if debian.exists() {
        // The floor has no decompressor, so it reads the decompressed file.
        let plain = work.join("debian-packages.tsv");
        decompress(&debian, &plain)?;
        compare("debian-packages, gzip", &debian, &plain, &work, rounds)?;
    } else {
        println!("skipped debian-packages: {} is not there", debian.display());
    }
    Ok(())
}

fn compare(name: &str, source: &Path, plain: &Path, work: &Path, rounds: usize) -> anyhow::Result<()> {
    let bytes = fs::metadata(plain)?.len();
    let project = work.join("project");
    let mut floors = Vec::new();
    let mut costs: Vec<Cost> = Vec::new();
    for _ in 0..rounds.max(1) {
        remove(&project)?;
        floors.push(floor(plain)?);
        costs.push(measure(relatum().arg("init").arg(&project).arg(source))?);
    }
    let best = |values: &[f64]| values.iter().copied().fold(f64::INFINITY, f64::min);
    let floor = best(&floors);
    let seconds = best(&costs.iter().map(|cost| cost.seconds).collect::<Vec<_>>());
    let peak = costs.iter().map(|cost| cost.peak_mb).fold(0.0, f64::max);
    let megabytes = bytes as f64 / 1e6;
    println!("\n{name}: {megabytes:.0} MB of TSV, best of {rounds}");
    println!("  floor (read, split, hash)  {floor:6.2} s  {:6.0} MB/s", megabytes / floor);
    println!(
        "  relatum init               {seconds:6.2} s  {:6.0} MB/s  peak {peak:.0} MB",
        megabytes / seconds
    );
    println!("  ratio                      {:6.2}", seconds / floor);
    describe(&project)?;
    remove(&project)
}

/// Opening the finished folder and describing one entity, as a process of its own.
fn describe(project: &Path) -> anyhow::Result<()> {
    let mut opened: Vec<f64> = Vec::new();
    for _ in 0..20 {
        opened.push(measure(relatum().args(["describe"]).arg(project).arg("#4711"))?.seconds * 1e3);
    }
    let first = opened.remove(0);
    opened.sort_by(f64::total_cmp);
    println!(
        "  relatum describe           first {first:.1} ms, then median {:.1} ms, worst {:.1} ms",
        opened[opened.len() / 2],
        opened[opened.len() - 1]
    );
    Ok(())
}

fn floor(path: &Path) -> anyhow::Result<f64> {
    let start = Instant::now();
    let mut file = File::open(path)?;
    let hasher = FixedState::with_seed(0);
    let mut buffer = vec![0; 1 << 20];
    let mut kept = 0;
    let mut sum = 0u64;
    loop {
        let read = file.read(&mut buffer[kept..])?;
        let filled = kept + read;
        let mut from = 0;
        while let Some(length) = memchr::memchr(b'\n', &buffer[from..filled]) {
            let line = &buffer[from..from + length];
            let mut field = 0;
            for tab in memchr::memchr_iter(b'\t', line).chain([line.len()]) {
                sum ^= hasher.hash_one(&line[field..tab]);
                field = tab + 1;
            }
            from += length + 1;
        }
        buffer.copy_within(from..filled, 0);
        kept = filled - from;
        if read == 0 {
            break;
        }
    }
    black_box(sum);
    Ok(start.elapsed().as_secs_f64())
}

/// Entities with names as people and places have them, a tenth as many as triples, at most a million;
/// 500 relations; degrees that fall off as a power.
fn generate(path: &Path, triples: usize) -> anyhow::Result<()> {
    const SYLLABLES: [&str; 24] = [
        "an", "ber", "cor", "dal", "el", "fen", "gar", "hol", "is", "jor", "kel", "lin", "mar", "nor", "os",
        "pel", "quin", "ros", "sten", "tor", "ul", "ven", "wil", "zan",
    ];
    let mut rng = Rng::new(1);
    let entities = (triples / 10).clamp(100, 1_000_000);
    let word = |rng: &mut Rng| {
        let mut word = String::new();
        for _ in 0..2 + rng.below(2) {
            word += SYLLABLES[rng.below(SYLLABLES.len())];
        }
        word[..1].to_uppercase() + &word[1..]
    };
    let names: Vec<String> =
        (0..entities).map(|id| format!("{} {} ({id})", word(&mut rng), word(&mut rng))).collect();
    let relations: Vec<String> =
        (0..500).map(|id| format!("{}_of_{id}", word(&mut rng).to_lowercase())).collect();
    let skewed =
        |rng: &mut Rng, count: usize, power: f64| (rng.uniform().powf(power) * count as f64) as usize;
    let partial = path.with_extension("partial");
    let mut out = BufWriter::with_capacity(1 << 20, File::create(&partial)?);
    for index in 0..triples {
        // Every entity is a head at least once; hubs are spread over the whole range of ids.
        let head = if index < entities { index } else { skewed(&mut rng, entities, 2.0) };
        let tail = skewed(&mut rng, entities, 3.0);
        let relation = skewed(&mut rng, relations.len(), 2.0);
        let spread = |id: usize| id * 7919 % entities;
        writeln!(out, "{}\t{}\t{}", names[spread(head)], relations[relation], names[spread(tail)])?;
    }
    out.flush()?;
    fs::rename(partial, path)?;
    Ok(())
}

fn decompress(from: &Path, to: &Path) -> anyhow::Result<()> {
    let output =
        std::process::Command::new("gzip").args(["-dc"]).arg(from).stdout(File::create(to)?).status()?;
    anyhow::ensure!(output.success(), "gzip -dc {} failed", from.display());
    Ok(())
}

fn remove(project: &PathBuf) -> anyhow::Result<()> {
    if project.exists() {
        fs::remove_dir_all(project)?;
    }
    Ok(())
}
