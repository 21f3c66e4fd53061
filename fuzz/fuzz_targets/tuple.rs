#![no_main]
//! Any text is read by the parser or refused with a diagnostic; what is read survives all stages.

mod common;

use libfuzzer_sys::fuzz_target;
use relatum::query::shapes;

fuzz_target!(|source: &str| match shapes::parse(source) {
    Ok(query) => common::follow(&query, source),
    Err(error) => common::show(&error, source),
});
