//! Benchmark queries as they are stored: columns of numbers, easily mapped from a file.

use std::ops::Range;

use xxhash_rust::xxh3::Xxh3;

use crate::column::Column;
use crate::graph::EntityId;

/// The benchmark queries of one split, valid or test.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct QuerySet {
    /// One group for each shape, in the order of the literature's tables.
    pub groups: Vec<QueryGroup>,
}

impl QuerySet {
    /// The group of a shape, `2p`, if there are such queries.
    pub fn group(&self, shape: &str) -> Option<&QueryGroup> {
        self.groups.iter().find(|group| group.shape == shape)
    }

    /// The number of queries of all shapes.
    pub fn len(&self) -> usize {
        self.groups.iter().map(QueryGroup::len).sum()
    }

    /// Whether there is no query.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// The queries of one shape, with their answers.
///
/// A query's *easy* answers follow from the edges that a system may look at (train for valid,
/// train and valid for test); its *hard* answers need at least one edge that it may not look at, so
/// only they say how well a system completes the graph.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct QueryGroup {
    /// The name of the shape, `2p`; for a shape that the literature does not name, the skeleton.
    pub shape: String,
    /// The nested tuple of the BetaE files with `e`, `r`, `n`, `u` for its numbers, in the
    /// canonical form that [`Skeleton`](super::Skeleton) writes: `('e',('r','r'))`. A question that is
    /// no nested tuple is a text with `_` for its numbers; a [`Template`](super::Template) reads both.
    pub skeleton: String,
    /// How many numbers a query has.
    pub arity: usize,
    /// `arity` numbers for each query: ids of entities and relations in the order in which they
    /// stand in the nested tuple, the markers `n` and `u` left out. A relation may also be one of the
    /// [`Reciprocals`](crate::model::Reciprocals): a relation of the graph that has no inverse there,
    /// read backwards. [`Template::fill`](super::Template::fill) resolves it.
    pub arguments: Column<u32>,
    /// The easy answers of each query.
    pub easy: Lists,
    /// The hard answers of each query.
    pub hard: Lists,
}

impl QueryGroup {
    /// The number of queries.
    pub fn len(&self) -> usize {
        self.arguments.len().checked_div(self.arity).unwrap_or(0)
    }

    /// Whether there is no query.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The arguments of a query; empty outside the group.
    pub fn query(&self, index: usize) -> &[u32] {
        let start = index.saturating_mul(self.arity);
        self.arguments.get(start..start.saturating_add(self.arity)).unwrap_or_default()
    }

    /// The easy answers of a query, ascending; none outside the group.
    pub fn easy(&self, index: usize) -> &[EntityId] {
        self.easy.row(index)
    }

    /// The hard answers of a query, ascending; none outside the group.
    pub fn hard(&self, index: usize) -> &[EntityId] {
        self.hard.row(index)
    }

    /// Identifies the queries and their answers, because figures of other queries must not be taken for
    /// figures of these.
    pub fn fingerprint(&self) -> String {
        let mut hash = Xxh3::new();
        hash.update(self.skeleton.as_bytes());
        hash.update(bytemuck::cast_slice(&self.arguments));
        for lists in [&self.easy, &self.hard] {
            hash.update(bytemuck::cast_slice(&lists.offsets));
            hash.update(bytemuck::cast_slice(&lists.items));
        }
        format!("{:016x}", hash.digest())
    }
}

/// Compressed rows of entities: row i is `items[offsets[i]..offsets[i + 1]]`, ascending.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Lists {
    /// Where each row begins, and where the last one ends.
    pub offsets: Column<u64>,
    /// The entities of all rows.
    pub items: Column<EntityId>,
}

impl Lists {
    /// The number of rows.
    pub fn len(&self) -> usize {
        self.offsets.len().saturating_sub(1)
    }

    /// Whether there is no row.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// One row; empty outside the lists.
    pub fn row(&self, index: usize) -> &[EntityId] {
        match (self.offsets.get(index), self.offsets.get(index.saturating_add(1))) {
            // `get`: in a damaged file an offset may point anywhere; `relatum check` says so.
            (Some(&from), Some(&to)) => self.items.get(from as usize..to as usize).unwrap_or_default(),
            _ => &[],
        }
    }

    /// Every row in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &[EntityId]> {
        (0..self.len()).map(|index| self.row(index))
    }

    /// The rows that ranges cut out of a block of items, in the order of the ranges; each is
    /// sorted and without repeats.
    pub(crate) fn gather(block: &[EntityId], ranges: &[Range<usize>]) -> Self {
        let mut offsets = Vec::with_capacity(ranges.len() + 1);
        offsets.push(0);
        let mut items: Vec<EntityId> = Vec::with_capacity(ranges.iter().map(ExactSizeIterator::len).sum());
        for range in ranges {
            let start = items.len();
            items.extend_from_slice(&block[range.clone()]);
            items[start..].sort_unstable();
            let mut kept = start;
            for at in start..items.len() {
                if kept == start || items[kept - 1] != items[at] {
                    items[kept] = items[at];
                    kept += 1;
                }
            }
            items.truncate(kept);
            offsets.push(kept as u64);
        }
        Self { offsets: offsets.into(), items: items.into() }
    }
}

/// Lists of rows as they come; each is sorted and without repeats.
impl<R: AsRef<[EntityId]>> FromIterator<R> for Lists {
    fn from_iter<I: IntoIterator<Item = R>>(rows: I) -> Self {
        let mut block = Vec::new();
        let mut ranges = Vec::new();
        for row in rows {
            let start = block.len();
            block.extend_from_slice(row.as_ref());
            ranges.push(start..block.len());
        }
        Self::gather(&block, &ranges)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        #[test]
        fn a_row_is_the_set_of_what_was_given(
            rows in prop::collection::vec(prop::collection::vec(0u32..20, 0..12), 0..8)
        ) {
            let given: Vec<Vec<EntityId>> = rows.iter().map(|row| row.iter().map(|&id| EntityId(id)).collect()).collect();
            let lists: Lists = given.iter().collect();
            prop_assert_eq!(lists.len(), rows.len());
            for (index, row) in given.iter().enumerate() {
                let set: BTreeSet<EntityId> = row.iter().copied().collect();
                prop_assert_eq!(lists.row(index), set.into_iter().collect::<Vec<_>>());
            }
            prop_assert!(lists.row(rows.len()).is_empty() && lists.row(usize::MAX).is_empty());
        }
    }

    #[test]
    fn a_query_is_its_arguments_and_its_answers() {
        let group = QueryGroup {
            shape: "1p".to_owned(),
            skeleton: "('e',('r',))".to_owned(),
            arity: 2,
            arguments: vec![5, 0, 7, 1].into(),
            easy: [vec![], vec![EntityId(3)]].into_iter().collect(),
            hard: [vec![EntityId(9), EntityId(2)], vec![EntityId(4)]].into_iter().collect(),
        };
        assert_eq!((group.len(), group.query(1)), (2, &[7, 1][..]));
        assert_eq!((group.easy(1), group.hard(0)), (&[EntityId(3)][..], &[EntityId(2), EntityId(9)][..]));
        assert!(group.query(2).is_empty() && group.hard(2).is_empty());
        let set = QuerySet { groups: vec![group] };
        assert_eq!((set.len(), set.group("1p").map(QueryGroup::len), set.group("2p")), (2, Some(2), None));
    }

    #[test]
    fn other_queries_and_other_answers_have_another_fingerprint() {
        let group = |arguments: Vec<u32>, easy: u32, hard: u32| QueryGroup {
            arity: 2,
            arguments: arguments.into(),
            easy: [[EntityId(easy)]].iter().collect(),
            hard: [[EntityId(hard)]].iter().collect(),
            ..QueryGroup::default()
        };
        let first = group(vec![5, 0], 1, 2).fingerprint();
        assert_eq!(first, group(vec![5, 0], 1, 2).fingerprint());
        for other in [group(vec![5, 1], 1, 2), group(vec![5, 0], 2, 2), group(vec![5, 0], 2, 1)] {
            assert_ne!(first, other.fingerprint());
        }
    }

    #[test]
    fn a_damaged_group_has_no_queries_instead_of_a_panic() {
        let group = QueryGroup {
            arguments: vec![1].into(),
            easy: Lists { offsets: vec![0, 9].into(), items: Column::default() },
            ..QueryGroup::default()
        };
        assert_eq!((group.len(), group.query(0), group.easy(0)), (0, &[][..], &[][..]));
    }
}
