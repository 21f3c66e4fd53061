//! Rows that were scored before.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::graph::EntityId;
use crate::query::Hop;

/// Truth values that are kept at most: 128 MB.
const ROOM: usize = 32 << 20;

/// Rows by the pair that they were scored for. States of a beam share values, and a wider beam has those
/// of the narrower one, so most rows would be scored many times.
pub(super) struct RowCache {
    rows: FxHashMap<(EntityId, Hop), Arc<[f32]>>,
    most: usize,
}

impl RowCache {
    /// A cache of rows over so many entities.
    pub(super) fn new(entities: usize) -> Self {
        Self { rows: FxHashMap::default(), most: ROOM / entities.max(1) }
    }

    pub(super) fn get(&self, pair: (EntityId, Hop)) -> Option<Arc<[f32]>> {
        self.rows.get(&pair).cloned()
    }

    pub(super) fn holds(&self, pair: (EntityId, Hop)) -> bool {
        self.rows.contains_key(&pair)
    }

    /// Keeps a row while there is room. Earlier rows stay, because they are those of the anchors and of the best
    /// values.
    pub(super) fn keep(&mut self, pair: (EntityId, Hop), row: &Arc<[f32]>) {
        if self.rows.len() < self.most {
            self.rows.insert(pair, Arc::clone(row));
        }
    }
}
