//! Ctrl-C: the first asks the work to stop and clean up, the second ends it at once.

use std::sync::atomic::{AtomicBool, Ordering};

use relatum::control::{Cancel, Control};

static STOP: AtomicBool = AtomicBool::new(false);
static IDLE: AtomicBool = AtomicBool::new(false);

/// From now on Ctrl-C and `kill` ask instead of ending the process.
pub(crate) fn watch() -> anyhow::Result<()> {
    ctrlc::set_handler(|| {
        if STOP.swap(true, Ordering::Relaxed) || IDLE.load(Ordering::Relaxed) {
            std::process::exit(130);
        }
    })?;
    Ok(())
}

/// A control for work that Ctrl-C and `kill` ask to stop, from now on.
pub(crate) fn watched_control() -> anyhow::Result<Control> {
    watch()?;
    Ok(control())
}

/// A control for work that Ctrl-C stops where it is [watched](watch).
pub(crate) fn control() -> Control {
    Control::default().with_cancel(Cancel::when(stop_requested))
}

/// Whether the user asked to stop.
pub(crate) fn stop_requested() -> bool {
    STOP.load(Ordering::Relaxed)
}

/// Forgets earlier requests to stop while the prompt waits for a person. There is no work to stop then, so
/// `kill` ends the process.
pub(crate) fn while_idle<T>(wait: impl FnOnce() -> T) -> T {
    STOP.store(false, Ordering::Relaxed);
    IDLE.store(true, Ordering::Relaxed);
    let result = wait();
    IDLE.store(false, Ordering::Relaxed);
    result
}
