//! A token that stops work.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Stops the work that it was handed to. Clones are the same token.
#[derive(Clone, Default)]
pub struct Cancel {
    cancelled: Arc<AtomicBool>,
    /// A second condition that cancels: somebody else may know that the work is no longer wanted.
    also: Option<Arc<dyn Fn() -> bool + Send + Sync>>,
}

impl Cancel {
    /// A token that is also cancelled while a function says so, such as one that looks at a signal.
    pub fn when(cancelled: impl Fn() -> bool + Send + Sync + 'static) -> Self {
        Self { also: Some(Arc::new(cancelled)), ..Self::default() }
    }

    /// Asks the work to stop, with what it has so far.
    pub fn cancel(&self) {
        self.cancelled.store(true, Ordering::Relaxed);
    }

    /// Whether the work was asked to stop.
    pub fn is_cancelled(&self) -> bool {
        self.cancelled.load(Ordering::Relaxed) || self.also.as_ref().is_some_and(|also| also())
    }
}

impl std::fmt::Debug for Cancel {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Cancel").field(&self.is_cancelled()).finish()
    }
}
