//! The best of many scores.

use std::cmp::Ordering;

use crate::graph::{EntityId, Id};

/// The `count` entities with the highest scores, best first; ties break by id, so that threads
/// cannot change a result. Entities for which `keep` is false are left out.
pub fn best(scores: &[f32], count: usize, keep: impl Fn(EntityId) -> bool) -> Vec<(EntityId, f32)> {
    let mut all: Vec<(EntityId, f32)> = scores
        .iter()
        .enumerate()
        .filter(|&(index, _)| keep(EntityId::from_index(index)))
        .map(|(index, &score)| (EntityId::from_index(index), score))
        .collect();
    if count == 0 {
        return Vec::new();
    }
    if count < all.len() {
        all.select_nth_unstable_by(count - 1, better);
        all.truncate(count);
    }
    all.sort_unstable_by(better);
    all
}

/// Higher scores first, then smaller ids.
#[allow(clippy::trivially_copy_pass_by_ref, reason = "sorting hands out references")]
pub(crate) fn better(a: &(EntityId, f32), b: &(EntityId, f32)) -> Ordering {
    b.1.total_cmp(&a.1).then(a.0.cmp(&b.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ties_break_by_id() {
        let scores = [0.5, 0.0, 0.9, 0.5, 0.1];
        let ids = |count| best(&scores, count, |_| true).iter().map(|(id, _)| id.0).collect::<Vec<_>>();
        assert_eq!(ids(2), [2, 0]);
        assert_eq!(ids(9), [2, 0, 3, 4, 1]);
        assert!(ids(0).is_empty());
        assert_eq!(best(&scores, 1, |id| id.0 != 2)[0].0, EntityId(0));
    }
}
