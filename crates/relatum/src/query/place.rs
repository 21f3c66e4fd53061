//! Where in its source text a part of a query stands.

use std::cmp::Ordering;
use std::hash::{Hash, Hasher};
use std::ops::Range;

/// A range of bytes of the source text.
///
/// Every place equals every other: two queries are equal when they say the same,
/// wherever they say it.
#[derive(Clone, Copy, Debug, Default)]
pub struct Place {
    start: u32,
    end: u32,
}

impl Place {
    /// The place of a range of bytes.
    pub fn new(range: Range<usize>) -> Self {
        Self { start: range.start as u32, end: range.end.max(range.start) as u32 }
    }

    /// The bytes of the source text.
    pub fn range(self) -> Range<usize> {
        self.start as usize..self.end as usize
    }

    /// The smallest place that holds both.
    #[must_use]
    pub fn to(self, other: Self) -> Self {
        Self { start: self.start.min(other.start), end: self.end.max(other.end) }
    }
}

impl PartialEq for Place {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for Place {}

impl PartialOrd for Place {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Place {
    fn cmp(&self, _: &Self) -> Ordering {
        Ordering::Equal
    }
}

impl Hash for Place {
    fn hash<H: Hasher>(&self, _: &mut H) {}
}
