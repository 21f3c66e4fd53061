#![no_main]
//! Any bytes are read as a pickle or refused, with work and memory in proportion to them; nothing is executed.

use libfuzzer_sys::fuzz_target;
use relatum::import::pickle::{self, Policy};

fuzz_target!(|bytes: &[u8]| {
    for policy in [Policy::Data, Policy::Checkpoint] {
        if let Ok(pickle) = pickle::read(bytes, policy) {
            let _ = pickle.root().repr(200);
        }
    }
});
