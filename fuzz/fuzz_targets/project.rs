#![no_main]
//! A project with a changed file is opened, looked at and checked without a panic, whatever was changed.
//!
//! The input is a list of changes: each names a file, a place in it and a new byte.

#[path = "common/scratch.rs"]
mod scratch;

use std::path::PathBuf;
use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use relatum::Engine;
use relatum::control::Control;
use relatum::engine::{Look, Sources};
use relatum::graph::{Id, Split};
use relatum::project::Project;

/// The files of a whole project, and what they hold.
static WHOLE: LazyLock<Vec<(PathBuf, Vec<u8>)>> = LazyLock::new(|| {
    let table = "a\tp\tb\nb\tq\tc\nc\tp\ta\na\tq\tc\ntwo words\tp\tb\n";
    let sources = Sources {
        files: vec![(Split::Train, scratch::put("g.tsv", table.as_bytes()))],
        ..Sources::default()
    };
    let dir = scratch::path("project");
    Engine::create(&dir, &sources, &Control::default()).expect("a project");
    let graph = std::fs::read_dir(dir.join("graph")).expect("its graph").flatten().map(|entry| entry.path());
    let mut files: Vec<PathBuf> = graph.chain([dir.join("relatum.json")]).collect();
    files.sort();
    files.into_iter().map(|file| (file.clone(), std::fs::read(file).expect("a file of it"))).collect()
});

fuzz_target!(|changes: &[u8]| {
    let mut files = WHOLE.clone();
    for change in changes.chunks_exact(4) {
        let count = files.len();
        let (_, bytes) = &mut files[change[0] as usize % count];
        let place = usize::from(u16::from_le_bytes([change[1], change[2]])) % bytes.len();
        bytes[place] = change[3];
    }
    for (path, bytes) in &files {
        std::fs::write(path, bytes).expect("a file of the project");
    }
    let dir = scratch::path("project");
    let _ = Project::check(&dir, |_, _| {});
    if let Ok(engine) = Engine::open(&dir) {
        let _ = engine.stats();
        let graph = engine.graph();
        for entity in graph.entities.ids().take(8) {
            let _ = (graph.entity_shown(entity), entity.index());
        }
        let _ = engine.describe("a", &Look::default());
        let _ = engine.find("w", None);
    }
});
