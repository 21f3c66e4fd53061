//! A cache of replies. The same question under the same options and model has the same answer.

use std::collections::HashMap;
use std::io::{ErrorKind, Write};
use std::sync::{Arc, Mutex, PoisonError};

use relatum::Reply;
use relatum::report::Certainty;

/// Replies with more bytes of JSON than this are not kept. A reply with a hundred long explanations takes tens of
/// megabytes, so that a few hundred of them would fill the memory.
const LARGE: usize = 128 << 10;

/// The replies that were used most recently.
pub(crate) struct Cache {
    most: usize,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    replies: HashMap<String, (Arc<Reply>, u64)>,
    clock: u64,
    /// Increased by every clear: a reply that was searched before a clear must not be kept after it.
    generation: u64,
}

/// The generation in which the search of a reply began.
#[derive(Clone, Copy)]
pub(crate) struct Generation(u64);

impl Cache {
    /// A cache of at most so many replies; 0 keeps none.
    pub(crate) fn new(most: usize) -> Self {
        Self { most, state: Mutex::default() }
    }

    /// The reply to a question, or the current generation, to pass to [`keep`](Self::keep) with a new reply.
    pub(crate) fn get(&self, key: &str) -> Result<Arc<Reply>, Generation> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.clock += 1;
        let (clock, generation) = (state.clock, Generation(state.generation));
        let (reply, used) = state.replies.get_mut(key).ok_or(generation)?;
        *used = clock;
        Ok(Arc::clone(reply))
    }

    /// Keeps a reply unless it is large, or its search was stopped by a limit: that one may be better next time.
    pub(crate) fn keep(&self, key: String, reply: &Arc<Reply>, from: Generation) {
        if self.most == 0 || is_stopped(reply) || is_large(reply) {
            return;
        }
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if state.generation != from.0 {
            return;
        }
        if state.replies.len() >= self.most {
            let oldest = state.replies.iter().min_by_key(|(_, (_, used))| *used).map(|(key, _)| key.clone());
            oldest.map(|key| state.replies.remove(&key));
        }
        let clock = state.clock;
        state.replies.insert(key, (Arc::clone(reply), clock));
    }

    /// Drops all replies, because a model has changed.
    pub(crate) fn clear(&self) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.replies.clear();
        state.generation += 1;
    }
}

/// Whether a limit ended the search, or the explanations: then the best answer has one, and others have none.
fn is_stopped(reply: &Reply) -> bool {
    let mut explained = reply.answers.iter().map(|answer| answer.explanation.is_some());
    let in_part = explained.next() == Some(true) && !explained.all(|it| it);
    in_part || matches!(reply.certainty, Certainty::Stopped { .. })
}

/// Whether a reply is longer than [`LARGE`] as JSON.
fn is_large(reply: &Reply) -> bool {
    serde_json::to_writer(Room(LARGE), reply).is_err()
}

/// Takes so many bytes, and no more.
struct Room(usize);

impl Write for Room {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0 = self.0.checked_sub(bytes.len()).ok_or(ErrorKind::StorageFull)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reply(certainty: &str) -> Arc<Reply> {
        let settings = r#"{"model":"m","t_norm":"product","calibration":"softmax","sharpness":1,"negation_scale":1,
                           "unseen":1,"known":"all","union":"at-the-end"}"#;
        let json = format!(
            r#"{{"version":1,"query":"q","question":"q","asked":"entities","shape":"1p","method":"exact",
                "settings":{settings},"certainty":{certainty},"rows":1}}"#
        );
        Arc::new(serde_json::from_str(&json).unwrap())
    }

    #[test]
    fn the_oldest_goes_first_and_nothing_survives_a_change_of_model() {
        let (cache, proven) = (Cache::new(2), reply(r#"{"kind":"exact","within":0}"#));
        let put = |key: &str| {
            if let Err(from) = cache.get(key) {
                cache.keep(key.to_owned(), &proven, from);
            }
        };
        put("a");
        put("b");
        put("a");
        put("c");
        assert!(cache.get("a").is_ok() && cache.get("c").is_ok() && cache.get("b").is_err());
        let before = cache.get("d").err().unwrap();
        cache.clear();
        cache.keep("d".to_owned(), &proven, before);
        assert!(cache.get("d").is_err(), "it was searched with the old model");
        let now = cache.get("e").err().unwrap();
        cache.keep("e".to_owned(), &reply(r#"{"kind":"stopped","by":"time"}"#), now);
        assert!(cache.get("e").is_err(), "a stopped search may find more next time");
        let large = Reply { remarks: vec!["x".repeat(LARGE)], ..Reply::clone(&proven) };
        cache.keep("e".to_owned(), &Arc::new(large), now);
        assert!(cache.get("e").is_err(), "a large reply takes the place of many");
    }
}
