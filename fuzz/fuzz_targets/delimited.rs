#![no_main]
//! Any bytes are read as a table, or refused with the place of the mistake; what is read makes a graph.

#[path = "common/scratch.rs"]
mod scratch;

use libfuzzer_sys::fuzz_target;
use relatum::control::Control;
use relatum::graph::{GraphBuilder, Split};
use relatum::import::read::{ReadOptions, Reader};

fuzz_target!(|bytes: &[u8]| {
    for name in ["x.tsv", "x.csv"] {
        let path = scratch::put(name, bytes);
        for skip_bad_lines in [false, true] {
            let options = ReadOptions { skip_bad_lines, ..ReadOptions::default() };
            let control = Control::default();
            let mut reader = Reader::new(GraphBuilder::default(), options, &control);
            if let Err(error) = reader.read(&path, Split::Train) {
                let _ = error.to_string();
            }
            let (graph, _) = reader.into_builder().finish();
            assert!(graph.edges(Split::Train).triples().all(|t| t.head.0 < graph.entities.len() as u32));
        }
    }
});
