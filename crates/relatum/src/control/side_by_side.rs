//! Work on a stream of items, side by side, with the results in the order of the items.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Mutex;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, TryRecvError, channel, sync_channel};
use std::thread;
use std::time::Duration;

use super::Cancel;

/// How many items may be in work at once, so that a stream of any length takes the same memory.
const WINDOW: usize = 64;

/// Works on items as they come, as many at once as there are threads, and hands the results over in the order
/// of the items. An item is taken only when it is there, so a sender may wait for one result before it sends
/// the next. Ends when the sender is gone and every item is done. A cancellation ends it at once and drops the
/// items that are not done yet.
///
/// # Panics
/// If the work on an item panics, when its turn has come.
pub fn side_by_side<T: Send, R: Send>(
    items: &Receiver<T>,
    cancel: &Cancel,
    work: impl Fn(T) -> R + Sync,
    mut each: impl FnMut(R),
) {
    let (jobs, waiting) = sync_channel::<Job<T, R>>(WINDOW);
    let waiting = Mutex::new(waiting);
    let threads = rayon::current_num_threads();
    // The workers end when the channel is closed, and `jobs` is its only sender.
    thread::scope(|scope| {
        let jobs = jobs;
        for _ in 0..threads {
            scope.spawn(|| alone(|| work_off(&waiting, cancel, &work)));
        }
        let mut pending: VecDeque<Receiver<thread::Result<R>>> = VecDeque::new();
        let mut more = true;
        while (more || !pending.is_empty()) && !cancel.is_cancelled() {
            while more && pending.len() < WINDOW && !cancel.is_cancelled() {
                let item = match items.try_recv() {
                    Err(TryRecvError::Empty) if !pending.is_empty() => break,
                    Err(TryRecvError::Empty) => match items.recv_timeout(Duration::from_millis(50)) {
                        Err(RecvTimeoutError::Timeout) => continue,
                        other => other.ok(),
                    },
                    other => other.ok(),
                };
                let Some(item) = item else {
                    more = false;
                    break;
                };
                let (result, answer) = channel();
                if jobs.send(Job { item, result }).is_ok() {
                    pending.push_back(answer);
                }
            }
            // A cancellation cuts short the items in work, so their results may be incomplete.
            match pending.pop_front().map(|answer| answer.recv()) {
                // Unwinding closes the channel, which ends the workers.
                Some(Ok(Err(panic))) => resume_unwind(panic),
                Some(Ok(Ok(result))) if !cancel.is_cancelled() => each(result),
                _ => (),
            }
        }
    });
}

/// An item, and where its result, or the panic that its work ended in, goes.
struct Job<T, R> {
    item: T,
    result: Sender<thread::Result<R>>,
}

/// Runs in a pool of one thread. In a pool a search does not split its work any further; and in one of several threads,
/// an item that waits for a part of its work would take up other work meanwhile, perhaps the wait for the next item,
/// under which it would then lie for ever.
fn alone(run: impl FnOnce() + Send) {
    match rayon::ThreadPoolBuilder::new().num_threads(1).build() {
        Ok(pool) => pool.install(run),
        Err(_) => run(),
    }
}

/// Works on the items of the channel until it is closed. A panic is the result of its item: a worker that died of it
/// would leave those behind it waiting for ever.
fn work_off<T, R>(waiting: &Mutex<Receiver<Job<T, R>>>, cancel: &Cancel, work: &impl Fn(T) -> R) {
    loop {
        let job = waiting.lock().ok().and_then(|waiting| waiting.recv().ok());
        let Some(Job { item, result }) = job else { return };
        if !cancel.is_cancelled() {
            // The receiver may be gone; then nobody needs the result.
            let _ = result.send(catch_unwind(AssertUnwindSafe(|| work(item))));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_come_in_the_order_of_the_items() {
        let (sender, items) = channel();
        (0..500u64).for_each(|item| sender.send(item).unwrap());
        drop(sender);
        let work = |item: u64| {
            std::thread::sleep(Duration::from_micros((item * 7919) % 50));
            item * 2
        };
        let mut results = Vec::new();
        side_by_side(&items, &Cancel::default(), work, |result| results.push(result));
        assert_eq!(results, (0..500).map(|item| item * 2).collect::<Vec<u64>>());
    }

    #[test]
    fn items_that_split_their_work_never_lie_beneath_the_wait_for_another() {
        use rayon::prelude::*;
        let pool = rayon::ThreadPoolBuilder::new().num_threads(4).build().unwrap();
        // Parts take so long that another thread comes and takes some of them.
        let part = |part: u64| {
            thread::sleep(Duration::from_micros(20));
            part
        };
        let work = |item: u64| item + (0..16).into_par_iter().map(part).sum::<u64>();
        for _ in 0..20 {
            let (sender, items) = channel();
            (0..4).for_each(|item| sender.send(item).unwrap());
            drop(sender);
            let results = pool.install(move || {
                let mut results = Vec::new();
                side_by_side(&items, &Cancel::default(), work, |result| results.push(result));
                results
            });
            assert_eq!(results, [120, 121, 122, 123]);
        }
    }

    #[test]
    fn a_panic_ends_the_work_and_leaves_nobody_waiting() {
        let (sender, items) = channel();
        (0..500u32).for_each(|item| sender.send(item).unwrap());
        let mut results = Vec::new();
        let outcome = catch_unwind(AssertUnwindSafe(|| {
            let work = |item: u32| if item % 100 == 70 { panic!("item {item}") } else { item };
            side_by_side(&items, &Cancel::default(), work, |result| results.push(result));
        }));
        let panic = outcome.unwrap_err();
        assert_eq!(panic.downcast_ref::<String>().unwrap(), "item 70");
        assert_eq!(results, (0..70).collect::<Vec<u32>>(), "what stood before it is there");
        drop(sender);
    }

    #[test]
    fn a_sender_may_wait_for_each_result() {
        let (sender, items) = channel();
        let (answered, results) = channel();
        std::thread::scope(|scope| {
            scope.spawn(move || {
                side_by_side(
                    &items,
                    &Cancel::default(),
                    |item: u32| item + 1,
                    |it| answered.send(it).unwrap(),
                );
            });
            for item in 0..5 {
                sender.send(item).unwrap();
                assert_eq!(results.recv().unwrap(), item + 1);
            }
            drop(sender);
        });
    }

    #[test]
    fn a_cancelled_stream_ends_though_its_sender_lives() {
        let (sender, items) = channel();
        let cancel = Cancel::default();
        (0..100).for_each(|item: u32| sender.send(item).unwrap());
        let mut results = 0;
        side_by_side(
            &items,
            &cancel,
            |item| item,
            |_| {
                results += 1;
                if results == 3 {
                    cancel.cancel();
                }
            },
        );
        assert_eq!(results, 3);
        drop(sender);
    }
}
