//! Threads that one piece of work has for itself.

use std::cell::Cell;

use rayon::{ThreadPool, ThreadPoolBuilder};

thread_local! {
    /// Whether this thread runs work that has its pool for itself.
    static OWN: Cell<bool> = const { Cell::new(false) };
}

/// As many threads as the machine has cores, for one piece of work at a time.
///
/// Work outside of any pool computes with the threads of the whole process, and waits there for the work of others.
/// With threads of its own, such as those of a lower priority, it waits for nobody and nobody waits for it.
#[derive(Debug)]
pub struct OwnThreads(ThreadPool);

impl OwnThreads {
    /// Threads of this name, each of which first calls `start`.
    pub fn new(name: &str, start: impl Fn() + Send + Sync + 'static) -> std::io::Result<Self> {
        let name = name.to_owned();
        let pool = ThreadPoolBuilder::new()
            .thread_name(move |number| format!("{name}-{number}"))
            .start_handler(move |_| start());
        pool.build().map(Self).map_err(std::io::Error::other)
    }

    /// Does the work on one of the threads; the others help where it splits.
    pub fn run<T: Send>(&self, work: impl FnOnce() -> T + Send) -> T {
        self.0.install(|| {
            let _own = Own(OWN.replace(true));
            work()
        })
    }
}

/// Whether other threads of this pool, if this is one, are free to help.
pub(crate) fn others_can_help() -> bool {
    rayon::current_thread_index().is_none() || OWN.get()
}

/// What [`OWN`] was before, restored also in a panic.
struct Own(bool);

impl Drop for Own {
    fn drop(&mut self) {
        OWN.set(self.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_work_with_threads_of_its_own_splits_inside_a_pool() {
        assert!(others_can_help(), "outside of any pool");
        let own = OwnThreads::new("own", || {}).unwrap();
        assert!(own.run(others_can_help));
        assert!(!own.0.install(others_can_help), "others may be busy");
        let work = std::panic::AssertUnwindSafe(|| own.run(|| panic!("as a search might")));
        let panic = std::panic::catch_unwind(work);
        assert!(panic.is_err() && !own.0.install(others_can_help));
    }
}
