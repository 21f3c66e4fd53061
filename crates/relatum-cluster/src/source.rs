//! The cluster as a source of candidates.

use std::collections::VecDeque;
use std::sync::mpsc::{self, Sender};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use relatum::Engine;
use relatum::engine::OpenModel;
use relatum::graph::{EntityId, RelationId, Triple};
use relatum::model::{CandidateSource, SortedRow, SourceError};
use tokio::runtime::Runtime;

use crate::ClusterError;
use crate::rounds::{RoundError, Rounds};

/// Candidates that the lists of a round may hold together, so that no task returns more than some megabytes.
const LISTED: usize = 1 << 18;
/// Rows of a round.
const ROWS: usize = 4096;
/// How long the first request of a round waits for others: little beside the round itself.
const LINGER: Duration = Duration::from_millis(10);

/// Sorted lists from the cluster, single edges from the model's own file, which is mapped: a question reads the few
/// pages of it that hold its entities.
///
/// Questions that ask at the same moment share a round.
pub struct ClusterSource {
    model: Arc<OpenModel>,
    desk: Arc<Desk>,
}

#[derive(Default)]
struct Desk {
    waiting: Mutex<Waiting>,
    changed: Condvar,
    totals: Mutex<Totals>,
}

#[derive(Default)]
struct Waiting {
    requests: VecDeque<Request>,
    closed: bool,
    /// Why no more rounds are run.
    failed: Option<SourceError>,
}

/// What all rounds so far took.
#[derive(Clone, Copy, Debug, Default)]
pub struct Totals {
    /// Rounds.
    pub rounds: usize,
    /// Rows that they scored.
    pub rows: usize,
    /// Bytes of the states that went from task to task.
    pub bytes: u64,
}

struct Request {
    queries: Vec<f32>,
    rows: usize,
    count: usize,
    sharpness: Option<f32>,
    reply: Sender<Result<Vec<SortedRow>, SourceError>>,
}

impl ClusterSource {
    /// A source for a model whose shards the rounds score. The runtime runs them until the source is dropped.
    pub fn new(engine: &Engine, rounds: Rounds, runtime: Runtime) -> Result<Self, ClusterError> {
        let model = engine.model(Some(&rounds.manifest.model.name))?;
        let desk = Arc::new(Desk::default());
        let theirs = Arc::clone(&desk);
        std::thread::spawn(move || {
            while let Some(requests) = theirs.next_round() {
                theirs.serve(&runtime, &rounds, requests);
            }
            runtime.shutdown_background();
        });
        Ok(Self { model, desk })
    }

    /// What all rounds so far took.
    pub fn totals(&self) -> Totals {
        *self.desk.totals.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Why no more rounds are run, if the cluster has failed.
    pub fn failure(&self) -> Option<SourceError> {
        self.desk.lock().failed.clone()
    }
}

impl Drop for ClusterSource {
    fn drop(&mut self) {
        self.desk.lock().closed = true;
        self.desk.changed.notify_all();
    }
}

impl CandidateSource for ClusterSource {
    fn candidates_of_a_row(&self) -> usize {
        self.model.model.entity_count()
    }

    fn best_candidates(
        &self,
        rows: &[(EntityId, RelationId)],
        count: usize,
        sharpness: Option<f32>,
    ) -> Result<Vec<SortedRow>, SourceError> {
        let at_once = (LISTED / count.max(1)).clamp(1, ROWS);
        let mut replies = Vec::new();
        for rows in rows.chunks(at_once) {
            let queries = self.model.model.query_vectors(rows)?;
            let (reply, answer) = mpsc::channel();
            self.desk.ask(Request { queries, rows: rows.len(), count, sharpness, reply })?;
            replies.push(answer);
        }
        let mut sorted = Vec::with_capacity(rows.len());
        for answer in replies {
            let gone = |_| SourceError::Unreachable("the thread that runs rounds has ended".to_owned());
            sorted.extend(answer.recv().map_err(gone)??);
        }
        Ok(sorted)
    }

    fn edge_scores(&self, edges: &[Triple]) -> Result<Vec<f32>, SourceError> {
        self.model.model.edge_scores(edges)
    }
}

impl Desk {
    fn lock(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn ask(&self, request: Request) -> Result<(), SourceError> {
        let mut waiting = self.lock();
        if let Some(error) = &waiting.failed {
            return Err(error.clone());
        }
        waiting.requests.push_back(request);
        self.changed.notify_all();
        Ok(())
    }

    /// The requests of the next round: the oldest one, and all that fit to it; `None` when nobody asks any more.
    fn next_round(&self) -> Option<Vec<Request>> {
        let mut waiting = self.lock();
        while waiting.requests.is_empty() {
            if waiting.closed {
                return None;
            }
            waiting = self.changed.wait(waiting).unwrap_or_else(PoisonError::into_inner);
        }
        drop(waiting);
        std::thread::sleep(LINGER);
        let mut waiting = self.lock();
        let mut round = vec![waiting.requests.pop_front()?];
        let (mut rows, mut count) = (round[0].rows, round[0].count);
        let mut left = VecDeque::new();
        while let Some(request) = waiting.requests.pop_front() {
            let (more, deeper) = (rows + request.rows, count.max(request.count));
            let same = request.sharpness.map(f32::to_bits) == round[0].sharpness.map(f32::to_bits);
            if same && more <= ROWS && more * deeper <= LISTED {
                (rows, count) = (more, deeper);
                round.push(request);
            } else {
                left.push_back(request);
            }
        }
        waiting.requests = left;
        Some(round)
    }

    fn serve(&self, runtime: &Runtime, rounds: &Rounds, requests: Vec<Request>) {
        let count = requests.iter().map(|request| request.count).max().unwrap_or(0);
        let rows: usize = requests.iter().map(|request| request.rows).sum();
        let queries = requests.iter().flat_map(|request| request.queries.iter().copied()).collect();
        let sharpness = requests.first().and_then(|request| request.sharpness);
        let outcome = runtime.block_on(rounds.run(queries, rows, count, sharpness));
        match outcome {
            Ok((sorted, cost)) => {
                let mut totals = self.totals.lock().unwrap_or_else(PoisonError::into_inner);
                *totals = Totals {
                    rounds: totals.rounds + 1,
                    rows: totals.rows + rows,
                    bytes: totals.bytes + cost.bytes,
                };
                drop(totals);
                let mut sorted = sorted.into_iter();
                for request in requests {
                    let mut own: Vec<SortedRow> = sorted.by_ref().take(request.rows).collect();
                    // The best few of a longer list are those of a shorter one.
                    for row in &mut own {
                        row.best.truncate(request.count);
                    }
                    let _ = request.reply.send(Ok(own));
                }
            }
            Err(error) => {
                let error = match error {
                    RoundError::Data(error) => error,
                    RoundError::Cluster(error) => SourceError::Unreachable(error.to_string()),
                };
                // Whoever asks next would wait as long and hear the same.
                let mut waiting = self.lock();
                waiting.failed = Some(error.clone());
                for request in requests.into_iter().chain(waiting.requests.drain(..)) {
                    let _ = request.reply.send(Err(error.clone()));
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(rows: usize, count: usize, sharpness: Option<f32>) -> Request {
        // Nobody waits for the reply: what is tested is who shares a round.
        Request { queries: vec![0.0; rows], rows, count, sharpness, reply: mpsc::channel().0 }
    }

    #[test]
    fn requests_that_fit_together_share_a_round_and_none_is_forgotten() {
        let desk = Desk::default();
        let asked = [
            request(1, 128, Some(1.0)),
            request(64, 512, Some(1.0)),
            request(1, 128, Some(2.0)),
            // With so deep a list, the rows that are there already would have too many candidates.
            request(1, LISTED, Some(1.0)),
            request(3, 1, None),
            request(2, 1, Some(1.0)),
        ];
        for request in asked {
            desk.ask(request).unwrap();
        }
        let mut rounds = Vec::new();
        while !desk.lock().requests.is_empty() {
            let round = desk.next_round().unwrap();
            rounds.push(round.iter().map(|request| (request.rows, request.count)).collect::<Vec<_>>());
        }
        let expected: [&[(usize, usize)]; 4] =
            [&[(1, 128), (64, 512), (2, 1)], &[(1, 128)], &[(1, LISTED)], &[(3, 1)]];
        assert_eq!(rounds, expected);
        desk.lock().closed = true;
        assert!(desk.next_round().is_none());
    }

    #[test]
    fn after_a_failure_nobody_waits_again() {
        let desk = Desk::default();
        let failure = SourceError::Unreachable("gone".to_owned());
        desk.lock().failed = Some(failure.clone());
        assert_eq!(desk.ask(request(1, 1, None)), Err(failure));
    }
}
