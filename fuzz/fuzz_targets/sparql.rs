#![no_main]
//! Any text is read by the parser or refused with a diagnostic; what is read survives all stages.

mod common;

use libfuzzer_sys::fuzz_target;
use relatum::query::sparql;
use relatum::query::syntax::Parsed;

fuzz_target!(|source: &str| match sparql::parse_any(source, &common::GRAPH.prefixes) {
    Ok(request) => match request.parsed {
        Parsed::Query(query) => common::follow(&query, source),
        Parsed::Statement(statement) => common::follow_statement(&statement, source),
        Parsed::Between(between) => common::follow_between(&between, source),
    },
    Err(error) => common::show(&error, source),
});
