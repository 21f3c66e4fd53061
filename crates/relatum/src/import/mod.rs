//! What other programs wrote: pickles now; checkpoints and arrays stand on the same machine.

pub mod pickle;
