//! The threads that search, and the queues in front of them.
//!
//! Searches run on threads of their own, never on those that serve connections. There are more of them than
//! cores, because questions that are answered at the same moment share matrix products, and one that waits for
//! a shared product does not compute. Every piece of work begins as light: it reads and plans its question. If
//! the plan is expensive, the rest is heavy work, and waits for one of the few threads that do only that. Each of
//! these computes with a pool of threads of its own, so that a light question never waits for the product of a
//! heavy one; and where the system allows it, those threads have a lower priority, so that who serves a connection
//! or a light question gets a core as soon as it needs one.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread;
use std::time::Instant;

use relatum::control::OwnThreads;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, oneshot};

/// Work that a thread takes.
type Job = Box<dyn FnOnce() + Send>;

/// What is left to do once a question was read and planned.
pub(crate) enum Planned<T> {
    /// Nothing: it was done at once.
    Done(T),
    /// A search that takes many rows.
    Heavy(Box<dyn FnOnce() -> T + Send>),
}

/// Why work was not done.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub(crate) enum Undone {
    /// All threads are busy and the queue is full.
    #[error("all searches are busy and the queue is full")]
    Full {
        /// After how many seconds there will likely be a place.
        seconds: u16,
    },
    /// The work panicked, or the server ends.
    #[error("the search was ended by a fault of the server")]
    Lost,
}

/// How many pieces of work there are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Load {
    pub(crate) waiting: usize,
    pub(crate) running: usize,
}

/// The threads and their queue. Threads end when this is dropped and their work is done.
pub(crate) struct Searches {
    shared: Arc<Shared>,
    /// One permit for each piece of light work that runs or may wait, and the same for heavy work: heavy questions
    /// that wait in their queue leave the other one free.
    light: Arc<Semaphore>,
    heavy: Arc<Semaphore>,
}

struct Shared {
    state: Mutex<State>,
    light_came: Condvar,
    heavy_came: Condvar,
}

#[derive(Default)]
struct State {
    light: VecDeque<Job>,
    heavy: VecDeque<Job>,
    running: usize,
    ended: bool,
    /// How long the last pieces of light and of heavy work took.
    paces: [Pace; 2],
}

/// How long work takes of late, for those who ask when to come again.
#[derive(Clone, Copy, Debug, Default)]
struct Pace {
    /// Seconds, the latest counting most.
    seconds: f64,
}

/// What is said at most of when to come again: by then much may have changed.
const LONGEST_WAIT: f64 = 60.0;

impl Pace {
    fn note(&mut self, seconds: f64) {
        self.seconds += (seconds - self.seconds) / 8.0;
    }

    /// In how many seconds a thread will likely have finished what it does: then the queue has a place.
    fn wait(self) -> u16 {
        self.seconds.ceil().clamp(1.0, LONGEST_WAIT) as u16
    }
}

impl Searches {
    /// So many threads, with so many places in each queue.
    pub(crate) fn new(threads: usize, queue: usize) -> std::io::Result<Self> {
        let threads = threads.max(2);
        let shared = Arc::new(Shared {
            state: Mutex::default(),
            light_came: Condvar::new(),
            heavy_came: Condvar::new(),
        });
        let cores = thread::available_parallelism().map_or(2, usize::from);
        let heavy = (threads / 4).clamp(1, cores.clamp(2, MOST_HEAVY));
        for number in 0..heavy {
            let name = format!("heavy-{number}");
            let (shared, own) = (Arc::clone(&shared), OwnThreads::new(&name, step_back)?);
            let work = move || shared.work_off(true, |job| own.run(job));
            thread::Builder::new().name(name).spawn(work)?;
        }
        for number in heavy..threads {
            let shared = Arc::clone(&shared);
            let work = move || shared.work_off(false, |job| job());
            thread::Builder::new().name(format!("light-{number}")).spawn(work)?;
        }
        let places = |threads: usize| Arc::new(Semaphore::new(threads + queue));
        Ok(Self { shared, light: places(threads - heavy), heavy: places(heavy) })
    }

    /// Does a piece of work, or refuses it at once where no place is free.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> Planned<T> + Send + 'static,
    ) -> Result<T, Undone> {
        let free = |places: &Arc<Semaphore>, heavy: bool| {
            let place = Arc::clone(places).try_acquire_owned();
            place.map_err(|_| Undone::Full { seconds: self.shared.lock().pace(heavy).wait() })
        };
        match self.on_thread(false, free(&self.light, false)?, work).await? {
            Planned::Done(value) => Ok(value),
            Planned::Heavy(rest) => self.on_thread(true, free(&self.heavy, true)?, rest).await,
        }
    }

    /// The same, but waits for a place: for clients that send many questions and read the replies in turn.
    pub(crate) async fn run_patiently<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> Planned<T> + Send + 'static,
    ) -> Result<T, Undone> {
        let place = Arc::clone(&self.light).acquire_owned().await.map_err(|_| Undone::Lost)?;
        match self.on_thread(false, place, work).await? {
            Planned::Done(value) => Ok(value),
            Planned::Heavy(rest) => {
                let place = Arc::clone(&self.heavy).acquire_owned().await.map_err(|_| Undone::Lost)?;
                self.on_thread(true, place, rest).await
            }
        }
    }

    async fn on_thread<T: Send + 'static>(
        &self,
        heavy: bool,
        place: OwnedSemaphorePermit,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, Undone> {
        let (result, done) = oneshot::channel();
        let job = move || {
            let value = work();
            drop(place);
            let _ = result.send(value);
        };
        self.shared.push(Box::new(job), heavy);
        done.await.map_err(|_| Undone::Lost)
    }

    /// How much there is to do.
    pub(crate) fn load(&self) -> Load {
        let state = self.shared.lock();
        Load { waiting: state.light.len() + state.heavy.len(), running: state.running }
    }
}

impl Drop for Searches {
    fn drop(&mut self) {
        self.shared.lock().ended = true;
        self.shared.light_came.notify_all();
        self.shared.heavy_came.notify_all();
    }
}

impl Shared {
    fn lock(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn push(&self, job: Job, heavy: bool) {
        self.lock().queue(heavy).push_back(job);
        self.came(heavy).notify_one();
    }

    fn came(&self, heavy: bool) -> &Condvar {
        if heavy { &self.heavy_came } else { &self.light_came }
    }

    /// What a thread does all its life; `run` says where it does it.
    fn work_off(&self, heavy: bool, run: impl Fn(Job)) {
        let mut state = self.lock();
        loop {
            let Some(job) = state.queue(heavy).pop_front() else {
                if state.ended {
                    return;
                }
                state = self.came(heavy).wait(state).unwrap_or_else(PoisonError::into_inner);
                continue;
            };
            state.running += 1;
            drop(state);
            let began = Instant::now();
            // A panic in one search fails that request alone; its sender is dropped with it.
            let _ = catch_unwind(AssertUnwindSafe(|| run(job)));
            state = self.lock();
            state.running -= 1;
            state.pace(heavy).note(began.elapsed().as_secs_f64());
        }
    }
}

impl State {
    fn pace(&mut self, heavy: bool) -> &mut Pace {
        &mut self.paces[usize::from(heavy)]
    }

    fn queue(&mut self, heavy: bool) -> &mut VecDeque<Job> {
        if heavy { &mut self.heavy } else { &mut self.light }
    }
}

/// Heavy searches at a time at most, and no more than there are cores: each of them can use all cores, and keeps
/// the memory that it once needed.
const MOST_HEAVY: usize = 4;

/// Lets the threads that serve connections and light questions go first, at once: a lower nice value alone would
/// let this thread end its slice of time before.
fn step_back() {
    // Only Linux has such a policy. A system that refuses it serves heavy questions like light ones.
    #[cfg(target_os = "linux")]
    {
        use thread_priority::unix::{
            NormalThreadSchedulePolicy, ThreadSchedulePolicy, set_thread_priority_and_policy,
            thread_native_id,
        };
        let policy = ThreadSchedulePolicy::Normal(NormalThreadSchedulePolicy::Idle);
        let _ =
            set_thread_priority_and_policy(thread_native_id(), thread_priority::ThreadPriority::Min, policy);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    fn heavy<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Planned<T> {
        Planned::Heavy(Box::new(work))
    }

    #[tokio::test]
    async fn heavy_work_leaves_threads_to_light_work() {
        let searches = Arc::new(Searches::new(4, 64).unwrap());
        let (release, gate) = mpsc::channel::<()>();
        let gate = Arc::new(Mutex::new(gate));
        let blocked: Vec<_> = (0..16)
            .map(|_| {
                let (searches, gate) = (Arc::clone(&searches), Arc::clone(&gate));
                let wait = move || heavy(move || gate.lock().unwrap().recv().unwrap_or(()));
                tokio::spawn(async move { searches.run(wait).await })
            })
            .collect();
        for number in 0..100 {
            assert_eq!(searches.run(move || Planned::Done(number)).await, Ok(number));
        }
        // Beyond their own queue, heavy questions are refused; light ones still find a place.
        while searches.heavy.available_permits() > 0 {
            let more = Arc::clone(&searches);
            tokio::spawn(async move { more.run(|| heavy(|| ())).await });
            tokio::task::yield_now().await;
        }
        assert_eq!(searches.run(|| heavy(|| ())).await, Err(Undone::Full { seconds: 1 }));
        assert_eq!(searches.run(|| Planned::Done(1)).await, Ok(1));
        drop(release);
        for task in blocked {
            assert_eq!(task.await.unwrap(), Ok(()));
        }
    }

    #[test]
    fn who_is_refused_hears_how_long_work_takes_of_late() {
        let mut pace = Pace::default();
        assert_eq!(pace.wait(), 1);
        for _ in 0..100 {
            pace.note(7.5);
        }
        assert_eq!(pace.wait(), 8);
        for _ in 0..100 {
            pace.note(1e6);
        }
        assert_eq!(pace.wait(), 60);
    }

    #[tokio::test]
    async fn beyond_the_queue_work_is_refused_and_a_panic_is_the_requests_own() {
        let searches = Arc::new(Searches::new(3, 1).unwrap());
        let (release, gate) = mpsc::channel::<()>();
        let gate = Arc::new(Mutex::new(gate));
        let mut blocked = Vec::new();
        for _ in 0..3 {
            let (searches, gate) = (Arc::clone(&searches), Arc::clone(&gate));
            let wait = move || Planned::Done(gate.lock().unwrap().recv().is_err());
            blocked.push(tokio::spawn(async move { searches.run(wait).await }));
        }
        while searches.light.available_permits() > 0 {
            tokio::task::yield_now().await;
        }
        assert_eq!(searches.run(|| Planned::Done(1)).await, Err(Undone::Full { seconds: 1 }));
        drop(release);
        for task in blocked {
            assert_eq!(task.await.unwrap(), Ok(true));
        }
        assert_eq!(searches.run(|| -> Planned<()> { panic!("as a search might") }).await, Err(Undone::Lost));
        assert_eq!(searches.run_patiently(|| Planned::Done(2)).await, Ok(2), "the thread lives");
    }
}
