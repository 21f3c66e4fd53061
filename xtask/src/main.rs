//! What a developer or CI runs.

fn main() {}
