#![no_main]
//! Any bytes are read as safetensors or refused; the header is put in front of a few numbers, so that what it
//! says of their places is reached too.

#[path = "common/scratch.rs"]
mod scratch;

use libfuzzer_sys::fuzz_target;
use relatum::import::read_tables;

fuzz_target!(|header: &[u8]| {
    let _ = read_tables(&[scratch::put("whole.safetensors", header)]);
    let mut file = (header.len() as u64).to_le_bytes().to_vec();
    file.extend_from_slice(header);
    file.extend_from_slice(&[0; 64]);
    let _ = read_tables(&[scratch::put("made.safetensors", &file)]);
});
