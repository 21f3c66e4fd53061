//! One matrix product for all questions that wait for one at the same moment.
//!
//! A product of a few query vectors with a large table takes as long as reading the table. While one product
//! runs, callers wait; then the first of them computes the rows of all in one product. So sixteen questions
//! that come at the same moment take little longer than one, and a question that comes alone never waits.
//! Requests of many rows have nothing to gain from company, and compute by themselves.

use std::collections::VecDeque;
use std::sync::mpsc::{Sender, channel};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::table::Candidates;
use crate::kernels::{Threads, View, ViewMut, product};

/// Rows that share one product at most: with more, the first caller would wait noticeably for the last.
const MOST_ROWS: usize = 64;

/// Where callers meet who multiply query vectors with the same table.
#[derive(Debug, Default)]
pub(super) struct Together {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// Whether a caller is computing.
    busy: bool,
    waiting: VecDeque<Short>,
}

/// A request of a few rows that waits.
#[derive(Debug)]
struct Short {
    rows: usize,
    queries: Vec<f32>,
    scores: Vec<f32>,
    told: Sender<Told>,
}

/// What the caller of a short request is told at the end of its wait.
#[derive(Debug)]
enum Told {
    /// Somebody else computed its scores.
    Scores(Vec<f32>),
    /// It has the turn, to compute its own scores together with those of others.
    Compute(Vec<Short>),
}

impl Together {
    /// The inner products of all queries with all candidates, one row a query.
    ///
    /// The order of each sum depends on the request alone: other requests change no bit of it.
    pub(super) fn multiply(&self, scores: &mut [f32], queries: &[f32], candidates: Candidates<'_>) {
        let (count, width) = candidates.size();
        if count == 0 || width == 0 {
            return;
        }
        // Threads of a pool work side by side already; a thread that waited here would do no work there.
        let is_in_pool = rayon::current_thread_index().is_some();
        if candidates.are_streamed(queries.len() / width) && !is_in_pool {
            self.short(scores, queries, candidates);
        } else {
            multiply(scores, queries, candidates);
        }
    }

    fn short(&self, scores: &mut [f32], queries: &[f32], candidates: Candidates<'_>) {
        let mut state = self.lock();
        if !state.busy {
            state.busy = true;
            drop(state);
            let _turn = Turn(self);
            candidates.stream(scores, queries);
            return;
        }
        let (told, hear) = channel();
        state.waiting.push_back(Short {
            rows: scores.len() / candidates.size().0,
            queries: queries.to_vec(),
            scores: vec![0.0; scores.len()],
            told,
        });
        drop(state);
        match hear.recv() {
            Ok(Told::Scores(computed)) => scores.copy_from_slice(&computed),
            Ok(Told::Compute(others)) => {
                let _turn = Turn(self);
                for_all(scores, queries, others, candidates);
            }
            // The caller that was to compute these scores panicked.
            Err(_) => candidates.stream(scores, queries),
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The right to compute. It is handed on when it is dropped, also in a panic.
struct Turn<'a>(&'a Together);

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        let mut state = self.0.lock();
        // A caller that waits cannot be gone; if it were, the turn goes to the next one.
        while !state.hand_on() {}
    }
}

impl State {
    /// Gives the turn to the next caller that waits, or ends the work if none does; `false` if that caller is gone.
    fn hand_on(&mut self) -> bool {
        let Some(first) = self.waiting.pop_front() else {
            self.busy = false;
            return true;
        };
        let mut rows = first.rows;
        let mut others = Vec::new();
        while let Some(next) = self.waiting.front()
            && rows + next.rows <= MOST_ROWS
        {
            rows += next.rows;
            others.extend(self.waiting.pop_front());
        }
        first.told.send(Told::Compute(others)).is_ok()
    }
}

impl Candidates<'_> {
    /// Whether so many rows are computed by a stream: the longer the vectors are, the more rows a stream computes
    /// faster than a general product. The bounds were measured by `cargo xtask bench products`. A general product
    /// knows nothing but f32.
    fn are_streamed(self, rows: usize) -> bool {
        match self {
            Self::F32(candidates) => rows <= 24 + candidates.size().1 / 24,
            Self::F16(_) | Self::Int8(_) => true,
        }
    }
}

/// The inner products of all queries with all candidates, not shared with other requests.
pub(super) fn multiply(scores: &mut [f32], queries: &[f32], candidates: Candidates<'_>) {
    let (count, width) = candidates.size();
    let rows = queries.len() / width;
    match candidates {
        Candidates::F32(table) if !candidates.are_streamed(rows) => {
            let out = ViewMut::new(scores, rows, count);
            product(out, View::new(queries, rows, width), table.transposed(), Threads::here());
        }
        _ => candidates.stream(scores, queries),
    }
}

/// Computes the scores of the caller's own request and of others in one product.
fn for_all(scores: &mut [f32], queries: &[f32], mut others: Vec<Short>, candidates: Candidates<'_>) {
    let (count, _) = candidates.size();
    let mut together = queries.to_vec();
    let mut rows: Vec<&mut [f32]> = scores.chunks_exact_mut(count).collect();
    for other in &mut others {
        together.extend_from_slice(&other.queries);
        rows.extend(other.scores.chunks_exact_mut(count));
    }
    candidates.stream_apart(rows, &together);
    for other in others {
        // The caller of this request waits for it and cannot be gone.
        let _ = other.told.send(Told::Scores(other.scores));
    }
}

#[cfg(test)]
mod tests {
    use super::super::table::Table;
    use super::*;
    use crate::random::Rng;

    #[test]
    fn company_changes_no_bit_of_a_row() {
        let (count, width) = (700, 40);
        let mut rng = Rng::new(5);
        let mut random = |len: usize| (0..len).map(|_| rng.normal() as f32).collect::<Vec<f32>>();
        let table = random(count * width);
        let table = Table::F32(table.into());
        let candidates = table.candidates(width, 0..width);
        // Short requests of several sizes, and some that share nothing.
        let requests: Vec<Vec<f32>> =
            [1, 1, 2, 1, 5, 300, 1, 20, 1, 140, 1, 3].map(|rows| random(rows * width)).into();
        let alone: Vec<Vec<f32>> = requests
            .iter()
            .map(|queries| {
                let mut scores = vec![0.0; queries.len() / width * count];
                Together::default().multiply(&mut scores, queries, candidates);
                scores
            })
            .collect();
        let together = Together::default();
        std::thread::scope(|scope| {
            for (queries, alone) in requests.iter().zip(&alone) {
                let together = &together;
                scope.spawn(move || {
                    for _ in 0..30 {
                        let mut scores = vec![f32::NAN; alone.len()];
                        together.multiply(&mut scores, queries, candidates);
                        assert_eq!(&scores, alone);
                    }
                });
            }
        });
        let state = together.lock();
        assert!(!state.busy && state.waiting.is_empty(), "the last caller leaves an empty queue");
    }

    #[test]
    fn requests_that_wait_are_taken_in_one_turn() {
        let (told, _hear) = channel();
        let short = |rows| Short { rows, queries: Vec::new(), scores: Vec::new(), told: told.clone() };
        let waiting = [1, 2, MOST_ROWS, 1].map(short).into();
        let mut state = State { busy: true, waiting };
        assert!(state.hand_on());
        assert_eq!(state.waiting.len(), 2, "one and two rows go together, the next would be too much");
        assert!(state.hand_on() && state.hand_on() && state.busy);
        assert!(state.hand_on() && !state.busy, "nobody waits any more");
    }

    #[test]
    fn a_panic_does_not_leave_others_waiting() {
        let together = Together::default();
        let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            together.lock().busy = true;
            let _turn = Turn(&together);
            panic!("in the middle of a product");
        }));
        assert!(result.is_err());
        let mut scores = [0.0];
        let table = Table::F32(vec![3.0].into());
        together.multiply(&mut scores, &[2.0], table.candidates(1, 0..1));
        assert!((scores[0] - 6.0).abs() < 1e-6);
    }
}
