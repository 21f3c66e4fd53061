//! One protocol for all long work: whether to stop, which limits hold, and who hears of its progress.
//!
//! A [`Control`] is handed to everything that can take long. The work asks it between steps whether to go
//! on, and tells it what happened; whoever started the work listens with [`Control::on`], and stops it
//! through the [`Cancel`] token, from any thread.
//!
//! ```
//! use relatum::control::{Cancel, Control};
//! use relatum::search::Progress;
//!
//! let cancel = Cancel::default();
//! let impatient = cancel.clone();
//! let control = Control::default()
//!     .with_cancel(cancel)
//!     .on(move |progress: &Progress| if progress.rows > 10_000 { impatient.cancel() });
//! assert!(!control.is_late());
//! ```

mod cancel;
mod memory;
mod own_threads;
mod side_by_side;

use std::any::{Any, TypeId};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

pub use cancel::Cancel;
pub(crate) use memory::available_memory;
pub use own_threads::OwnThreads;
pub(crate) use own_threads::others_can_help;
pub use side_by_side::side_by_side;

/// The shortest time between two reports of progress: fast enough for a display, too seldom to cost time.
const PACE: Duration = Duration::from_millis(50);

/// Bytes of vectors that may always be held: 64 MB.
const ALWAYS: u64 = 1 << 26;

/// The limits of long work, the token that cancels it, and the listeners that hear of its progress.
///
/// Cloning is cheap, and clones share the token and the listeners.
#[derive(Clone, Default)]
pub struct Control {
    rows: Option<usize>,
    memory: Option<u64>,
    until: Option<Instant>,
    cancel: Cancel,
    listeners: Arc<Vec<Listener>>,
    pace: Arc<Pace>,
}

/// Why work ended before it was done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// Its deadline passed.
    Time,
    /// It had scored as many rows as it may.
    Rows,
    /// It was cancelled.
    Asked,
    /// It held as much in memory as it may.
    Memory,
}

type Hear = dyn Fn(&dyn Any) + Send + Sync;

#[derive(Clone)]
struct Listener {
    to: TypeId,
    hear: Arc<Hear>,
}

/// When listeners last heard of progress, in milliseconds since the control was made.
struct Pace {
    start: Instant,
    next: AtomicU64,
}

impl Default for Pace {
    fn default() -> Self {
        Self { start: Instant::now(), next: AtomicU64::new(0) }
    }
}

impl Control {
    /// The same with a limit on the rows that are scored.
    #[must_use]
    pub fn with_rows(self, most: usize) -> Self {
        Self { rows: Some(most), ..self }
    }

    /// The same with a limit in bytes on the vectors over all entities that a search may hold: a question that would
    /// take more is answered from sorted lists, where no method was chosen. By default it is a quarter of the memory
    /// that the machine has available.
    #[must_use]
    pub fn with_memory(self, most: u64) -> Self {
        Self { memory: Some(most), ..self }
    }

    /// The same with a deadline.
    #[must_use]
    pub fn with_deadline(self, until: Instant) -> Self {
        Self { until: Some(until), ..self }
    }

    /// The same with this deadline, unless its own is earlier.
    #[must_use]
    pub fn ending_by(&self, until: Instant) -> Self {
        Self { until: Some(self.until.map_or(until, |own| own.min(until))), ..self.clone() }
    }

    /// The same, stopped by this token.
    #[must_use]
    pub fn with_cancel(self, cancel: Cancel) -> Self {
        Self { cancel, ..self }
    }

    /// The same without limits on rows and time; it can still be cancelled.
    #[must_use]
    pub fn without_limits(&self) -> Self {
        Self { rows: None, until: None, ..self.clone() }
    }

    /// The same without listeners: for work that is part of other work, whose events would be taken for that one's.
    #[must_use]
    pub fn quiet(&self) -> Self {
        Self { listeners: Arc::default(), ..self.clone() }
    }

    /// The same without a limit on rows.
    #[must_use]
    pub fn without_row_limit(&self) -> Self {
        Self { rows: None, ..self.clone() }
    }

    /// The same with a listener for events of one type. Every module has event types of its own, such as
    /// [`search::Progress`](crate::search::Progress).
    #[must_use]
    pub fn on<E: 'static>(self, hear: impl Fn(&E) + Send + Sync + 'static) -> Self {
        let hear = move |event: &dyn Any| {
            if let Some(event) = event.downcast_ref::<E>() {
                hear(event);
            }
        };
        let mut listeners = self.listeners.as_ref().clone();
        listeners.push(Listener { to: TypeId::of::<E>(), hear: Arc::new(hear) });
        Self { listeners: Arc::new(listeners), ..self }
    }

    /// Tells an event to all listeners of its type.
    pub fn tell<E: 'static>(&self, event: &E) {
        for listener in self.listeners.iter().filter(|listener| listener.to == TypeId::of::<E>()) {
            (listener.hear)(event);
        }
    }

    /// Tells the listeners how far the work is, but not more often than a display can follow: the event is
    /// made only when it is due and somebody listens.
    pub fn report<E: 'static>(&self, event: impl FnOnce() -> E) {
        let listens = self.listeners.iter().any(|listener| listener.to == TypeId::of::<E>());
        if !listens {
            return;
        }
        let now = self.pace.start.elapsed().as_millis() as u64;
        let next = self.pace.next.load(Ordering::Relaxed);
        if now >= next {
            self.pace.next.store(now + PACE.as_millis() as u64, Ordering::Relaxed);
            self.tell(&event());
        }
    }

    /// The token that stops the work.
    pub fn cancel_token(&self) -> &Cancel {
        &self.cancel
    }

    /// Whether the deadline has passed or the work was cancelled.
    pub fn is_late(&self) -> bool {
        self.is_past_deadline() || self.cancel.is_cancelled()
    }

    /// Whether rows or time are limited.
    pub fn has_limits(&self) -> bool {
        self.rows.is_some() || self.until.is_some()
    }

    /// Whether the deadline has passed.
    pub fn is_past_deadline(&self) -> bool {
        self.until.is_some_and(|until| Instant::now() >= until)
    }

    /// The same with half of the time that is left.
    #[must_use]
    pub fn halved(&self) -> Self {
        let now = Instant::now();
        let half = |until: Instant| now + until.saturating_duration_since(now) / 2;
        Self { until: self.until.map(half), ..self.clone() }
    }

    /// The same with at least so much time left.
    #[must_use]
    pub fn with_at_least(&self, time: Duration) -> Self {
        let least = Instant::now() + time;
        Self { until: self.until.map(|until| until.max(least)), ..self.clone() }
    }

    /// Which limit ended work that was stopped.
    pub fn limit(&self) -> Limit {
        if self.cancel.is_cancelled() {
            Limit::Asked
        } else if self.is_late() {
            Limit::Time
        } else {
            Limit::Rows
        }
    }

    /// Whether vectors of so many bytes may be held.
    pub(crate) fn affords(&self, bytes: u64) -> bool {
        match self.memory {
            Some(most) => bytes <= most,
            // To ask the system takes longer than some questions.
            None => bytes <= ALWAYS || available_memory().is_none_or(|available| bytes <= available / 4),
        }
    }

    /// How many values to take at once, each worth `cost` rows: at most `block`, and no more than are
    /// left once `rows` are scored; 0 if a limit is reached.
    pub(crate) fn block(&self, rows: usize, cost: usize, block: usize) -> usize {
        if self.is_late() { 0 } else { block.min(self.left(rows).checked_div(cost).unwrap_or(block)) }
    }

    /// How many rows may still be scored once `rows` are.
    pub(crate) fn left(&self, rows: usize) -> usize {
        self.rows.map_or(usize::MAX, |most| most.saturating_sub(rows))
    }
}

impl std::fmt::Debug for Control {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Control")
            .field("rows", &self.rows)
            .field("until", &self.until)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;

    #[test]
    fn listeners_hear_the_events_of_their_type_and_no_others() {
        let heard = Arc::new(Mutex::new(Vec::new()));
        let (numbers, words) = (Arc::clone(&heard), Arc::clone(&heard));
        let control = Control::default()
            .on(move |number: &u32| numbers.lock().unwrap().push(number.to_string()))
            .on(move |word: &&'static str| words.lock().unwrap().push((*word).to_owned()));
        control.tell(&7u32);
        control.tell(&7u64);
        control.clone().tell(&"seven");
        assert_eq!(*heard.lock().unwrap(), ["7", "seven"]);
    }

    #[test]
    fn progress_is_made_only_when_it_is_due_and_somebody_listens() {
        Control::default().report(|| -> u32 { panic!("nobody listens") });
        let times = Arc::new(AtomicU64::new(0));
        let heard = Arc::clone(&times);
        let control = Control::default().on(move |_: &u32| {
            heard.fetch_add(1, Ordering::Relaxed);
        });
        (0..10_000u32).for_each(|number| control.report(|| number));
        let heard = times.load(Ordering::Relaxed);
        assert!((1..10_000).contains(&heard), "{heard}");
    }

    #[test]
    fn limits_are_named_by_what_ended_the_work() {
        assert_eq!(Control::default().with_rows(3).limit(), Limit::Rows);
        assert_eq!(Control::default().with_rows(3).block(2, 1, 9), 1);
        let late = Control::default().with_deadline(Instant::now());
        assert!(late.is_late() && late.limit() == Limit::Time && late.block(0, 1, 9) == 0);
        assert!(!late.without_limits().is_late());
        let hour = Instant::now() + Duration::from_hours(1);
        assert!(late.ending_by(hour).is_late(), "its own end comes first");
        assert!(!Control::default().ending_by(hour).is_late());
        assert!(Control::default().with_deadline(hour).ending_by(Instant::now()).is_late());
        let control = Control::default();
        control.cancel_token().clone().cancel();
        assert!(control.is_late() && control.limit() == Limit::Asked);
        assert!(control.without_limits().is_late());
    }
}
