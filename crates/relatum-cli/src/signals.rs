//! Ctrl-C: the first asks the work to stop and clean up, the second ends it at once.

use std::sync::atomic::{AtomicBool, Ordering};

static STOP: AtomicBool = AtomicBool::new(false);

/// From now on Ctrl-C and `kill` ask instead of ending the process.
pub(crate) fn watch() -> anyhow::Result<()> {
    ctrlc::set_handler(|| {
        if STOP.swap(true, Ordering::Relaxed) {
            std::process::exit(130);
        }
    })?;
    Ok(())
}

/// Whether a stop was asked for.
pub(crate) fn stop_requested() -> bool {
    STOP.load(Ordering::Relaxed)
}
