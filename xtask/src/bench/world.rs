//! The graphs that benchmarks run on, and figures of this process and machine.

use std::path::{Path, PathBuf};

use relatum::graph::{Graph, GraphBuilder, RelationId, Shares, Split, Triple};
use relatum::import::read::{ReadOptions, Reader, query2box};
use relatum::kernels::{ByteKernel, f32_instructions};
use relatum::random::Rng;

/// A file or folder of the data beside the workspace, if it is there.
pub(super) fn shared(name: &str) -> Option<PathBuf> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/data").join(name);
    path.exists().then_some(path)
}

/// A random graph of about the size and shape of FB15k-237: both directions of every edge, each
/// relation between entities of its own neighbourhood, few tails for a head and many heads for a
/// tail. `scale` multiplies entities and edges.
pub(super) fn generated(scale: f64) -> Graph {
    let entities = (14_505.0 * scale) as usize;
    let edges = (285_000.0 * scale) as usize;
    let mut builder = GraphBuilder::default();
    for entity in 0..entities {
        builder.entity(&format!("e{entity}"));
    }
    for relation in 0..237u32 {
        builder.relation(&format!("r{relation}"));
        builder.relation(&format!("r{relation} reversed"));
        builder.pair(RelationId(2 * relation), RelationId(2 * relation + 1));
    }
    let mut rng = Rng::new(237);
    // Squaring makes small numbers more frequent.
    let mut skewed = |bound: f64| (rng.uniform().powi(2) * bound) as u32;
    let place = |relation: u32, step: u32, at: u32| (relation * step + at) % entities as u32;
    for _ in 0..edges {
        let relation = skewed(237.0);
        let head = place(relation, 6_007, skewed(1_000.0 * scale));
        let tail = place(relation, 4_001, skewed(250.0 * scale));
        let split = if (head + tail) % 20 == 0 { Split::Valid } else { Split::Train };
        builder.add_ids(split, Triple::new(head, 2 * relation, tail));
        builder.add_ids(split, Triple::new(tail, 2 * relation + 1, head));
    }
    builder.finish().0
}

/// A figure of `/proc/self/status` in bytes, such as `VmHWM`, the most memory ever held.
pub(super) fn memory(field: &str) -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with(field))?;
    let kibibytes: u64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(kibibytes * 1024)
}

/// The name of the processor.
pub(crate) fn processor() -> String {
    let text = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let name = text.lines().find_map(|line| line.strip_prefix("model name")?.split_once(':'));
    name.map_or_else(|| std::env::consts::ARCH.to_owned(), |(_, name)| name.trim().to_owned())
}

/// Which kernels run on this machine.
pub(super) fn kernels() -> String {
    let of_bytes = ByteKernel::all().next().map_or("none", ByteKernel::name);
    format!("kernels: f32 and f16 {}, int8 {of_bytes}", f32_instructions())
}

pub(super) fn mebibytes(bytes: u64) -> String {
    format!("{:.0} MiB", bytes as f64 / f64::from(1 << 20))
}

/// FB15k-237 as Query2Box has it, if it is there.
pub(super) fn fb15k_237() -> anyhow::Result<Option<Graph>> {
    let Some(folder) = shared("fb15k-237") else { return Ok(None) };
    Ok(Some(query2box::read(&folder, &|_| {})?.builder.finish().0))
}

/// The Debian packages with a hundredth of the edges held out, if they are there.
pub(super) fn debian() -> anyhow::Result<Option<Graph>> {
    let Some(file) = shared("debian-packages.tsv.gz") else { return Ok(None) };
    let control = relatum::control::Control::default();
    let mut reader = Reader::new(GraphBuilder::default(), ReadOptions::default(), &control);
    reader.read(&file, Split::Train)?;
    let mut builder = reader.into_builder();
    let shares: Shares = "0.99/0.01/0".parse()?;
    builder.split(shares, 0)?;
    Ok(Some(builder.finish().0))
}
