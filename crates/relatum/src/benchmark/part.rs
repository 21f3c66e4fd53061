//! Which queries of a group take part.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// All queries of a group, or one of two halves that share none: what is chosen on one half can be
/// judged on the other.
///
/// ```
/// use relatum::benchmark::Part;
///
/// assert_eq!(Part::All.choose(10, Some(3)), [0, 3, 6]);
/// assert_eq!(Part::Even.choose(5, None), [0, 2, 4]);
/// assert_eq!(Part::Odd.choose(5, None), [1, 3]);
/// assert_eq!(Part::All.spread(6), [0, 4, 2, 1, 5, 3]);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum Part {
    /// All queries.
    #[default]
    #[serde(rename = "all")]
    All,
    /// The first, the third and so on.
    #[serde(rename = "even half")]
    Even,
    /// The second, the fourth and so on.
    #[serde(rename = "odd half")]
    Odd,
}

impl Part {
    /// The name in tables and files.
    pub fn name(self) -> &'static str {
        match self {
            Self::All => "all",
            Self::Even => "even half",
            Self::Odd => "odd half",
        }
    }

    /// How many queries the part has of a group of this size.
    pub fn size(self, queries: usize) -> usize {
        match self {
            Self::All => queries,
            Self::Even => queries.div_ceil(2),
            Self::Odd => queries / 2,
        }
    }

    /// The indices of all of them in an order in which every beginning is spread over the whole: that of the bits of
    /// their numbers, read backwards.
    pub fn spread(self, queries: usize) -> Vec<usize> {
        let all = self.choose(queries, None);
        let bits = all.len().next_power_of_two().trailing_zeros();
        let backwards = |number: usize| number.reverse_bits().checked_shr(usize::BITS - bits).unwrap_or(0);
        (0..1usize << bits).filter_map(|number| all.get(backwards(number)).copied()).collect()
    }

    /// The indices of at most `limit` of them, evenly spread.
    pub fn choose(self, queries: usize, limit: Option<usize>) -> Vec<usize> {
        let size = self.size(queries);
        let count = limit.map_or(size, |limit| limit.min(size));
        let spread = (0..count).map(|index| index * size / count);
        match self {
            Self::All => spread.collect(),
            Self::Even => spread.map(|index| 2 * index).collect(),
            Self::Odd => spread.map(|index| 2 * index + 1).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        #[test]
        fn halves_share_no_query_and_miss_none(queries in 0usize..50, limit in prop::option::of(0usize..60)) {
            let of = |part: Part, limit| part.choose(queries, limit).into_iter().collect::<BTreeSet<usize>>();
            prop_assert!(of(Part::Even, limit).is_disjoint(&of(Part::Odd, limit)));
            prop_assert_eq!(&of(Part::Even, None) | &of(Part::Odd, None), (0..queries).collect());
            for part in [Part::All, Part::Even, Part::Odd] {
                let chosen = of(part, limit);
                prop_assert_eq!(chosen.len(), limit.map_or(part.size(queries), |limit| limit.min(part.size(queries))));
                prop_assert!(chosen.is_subset(&of(part, None)));
                let spread = part.spread(queries);
                prop_assert_eq!(spread.len(), part.size(queries));
                prop_assert_eq!(spread.iter().copied().collect::<BTreeSet<usize>>(), of(part, None));
            }
        }
    }
}
