#![no_main]
//! Any text is read by the parser or refused with a diagnostic; what is read survives all stages.

mod common;

use libfuzzer_sys::fuzz_target;
use relatum::query::syntax::{self, Parsed};

fuzz_target!(|source: &str| match syntax::parse_any(source) {
    Ok(Parsed::Query(query)) => common::follow(&query, source),
    Ok(Parsed::Statement(statement)) => common::follow_statement(&statement, source),
    Ok(Parsed::Between(between)) => common::follow_between(&between, source),
    Err(error) => common::show(&error, source),
});
