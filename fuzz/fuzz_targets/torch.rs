#![no_main]
//! Any bytes are read as a PyTorch checkpoint or refused: as a whole file, and as the pickle of an archive that
//! holds some numbers.

#[path = "common/scratch.rs"]
mod scratch;

use std::io::{Cursor, Write};

use libfuzzer_sys::fuzz_target;
use relatum::import::read_tables;
use zip::write::SimpleFileOptions;

fuzz_target!(|bytes: &[u8]| {
    let _ = read_tables(&[scratch::put("whole.pt", bytes)]);
    let mut archive = zip::ZipWriter::new(Cursor::new(Vec::new()));
    let options = SimpleFileOptions::default().compression_method(zip::CompressionMethod::Stored);
    for (name, content) in [("archive/data.pkl", bytes), ("archive/data/0", &[0; 64])] {
        archive.start_file(name, options).expect("a file in an archive");
        archive.write_all(content).expect("a file in an archive");
    }
    let archive = archive.finish().expect("an archive").into_inner();
    let _ = read_tables(&[scratch::put("archive.pt", &archive)]);
});
