//! The rooms of the engine depend one way: each uses only those above it.

mod source;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use source::{files, shipped};

/// The rooms in the order of dependency; those of one line are independent of each other.
const ROOMS: [&[&str]; 16] = [
    &["random", "column", "control"],
    &["store", "logic"],
    &["kernels"],
    &["graph"],
    &["query", "svg"],
    &["model"],
    &["plan", "symbolic"],
    &["search"],
    &["answer"],
    &["report", "train"],
    &["benchmark"],
    &["baseline"],
    &["project"],
    &["import"],
    &["export"],
    &["engine"],
];

#[test]
fn rooms_use_only_those_above_them() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut places: BTreeMap<&str, usize> = BTreeMap::new();
    for (place, rooms) in ROOMS.iter().enumerate() {
        for room in *rooms {
            places.insert(room, place);
        }
    }
    let mut back_edges = Vec::new();
    for file in files(&source) {
        let inside = file.strip_prefix(&source).unwrap().to_string_lossy().replace('\\', "/");
        let room = inside.split(['/', '.']).next().unwrap().to_owned();
        if room == "lib" {
            continue;
        }
        let place =
            *places.get(room.as_str()).unwrap_or_else(|| panic!("{inside} is in no room of the list"));
        for used in rooms_used(&shipped(&fs::read_to_string(&file).unwrap())) {
            let above = places.get(used.as_str()).is_some_and(|other| *other < place);
            if used != room && places.contains_key(used.as_str()) && !above {
                back_edges.push(format!("src/{inside} uses src/{used}"));
            }
        }
    }
    assert!(back_edges.is_empty(), "rooms that use one below or beside them:\n{}", back_edges.join("\n"));
}

/// Every `crate::room` that a text names.
fn rooms_used(text: &str) -> Vec<String> {
    let names = text.split("crate::").skip(1);
    let word = |rest: &str| rest.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect::<String>();
    let mut rooms: Vec<String> = names.map(word).collect();
    rooms.sort();
    rooms.dedup();
    rooms
}
