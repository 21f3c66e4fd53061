//! The best of many scores.

use std::cmp::Ordering;

use crate::graph::{EntityId, Id};

/// The `count` entities with the highest scores, best first; ties break by id, so that threads
/// cannot change a result. Entities for which `keep` is false are left out.
pub fn best(scores: &[f32], count: usize, keep: impl Fn(EntityId) -> bool) -> Vec<(EntityId, f32)> {
    if count == 0 {
        return Vec::new();
    }
    // The list is kept short: whenever it has grown to a multiple of `count`, only the best stay, and only better
    // scores than the worst of them are added. Among equal scores the first stay, which have the smaller ids.
    let mut top: Vec<(EntityId, f32)> = Vec::new();
    let most = count.saturating_mul(4).saturating_add(256);
    let mut bar = None;
    for (index, &score) in scores.iter().enumerate() {
        if bar.is_some_and(|bar: f32| score.total_cmp(&bar).is_le()) || !keep(EntityId::from_index(index)) {
            continue;
        }
        top.push((EntityId::from_index(index), score));
        if top.len() >= most {
            top.select_nth_unstable_by(count - 1, better);
            top.truncate(count);
            bar = top.last().map(|&(_, score)| score);
        }
    }
    top.sort_unstable_by(better);
    top.truncate(count);
    top
}

/// Higher scores first, then smaller ids.
#[allow(clippy::trivially_copy_pass_by_ref, reason = "sorting hands out references")]
pub(crate) fn better(a: &(EntityId, f32), b: &(EntityId, f32)) -> Ordering {
    b.1.total_cmp(&a.1).then(a.0.cmp(&b.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    proptest::proptest! {
        #[test]
        fn the_best_are_those_of_a_full_sort(
            scores in proptest::collection::vec(0u8..40, 0..2000), count in 0usize..60
        ) {
            let scores: Vec<f32> = scores.into_iter().map(f32::from).collect();
            let keep = |id: EntityId| id.0 % 3 != 1;
            let ids = (0..scores.len()).map(EntityId::from_index).filter(|&id| keep(id));
            let mut all: Vec<(EntityId, f32)> = ids.map(|id| (id, scores[id.index()])).collect();
            all.sort_by(better);
            all.truncate(count);
            proptest::prop_assert_eq!(best(&scores, count, keep), all);
        }
    }

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
