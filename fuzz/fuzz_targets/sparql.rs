#![no_main]
//! Any text is read by the parser or refused with a diagnostic; what is read survives all stages.

mod common;

use libfuzzer_sys::fuzz_target;
use relatum::query::sparql;

fuzz_target!(|source: &str| match sparql::parse(source, &common::GRAPH.prefixes) {
    Ok(select) => common::follow(&select.query, source),
    Err(error) => common::show(&error, source),
});
