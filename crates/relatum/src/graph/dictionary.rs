//! Names ↔ ids, with display labels, found without reading the whole table.

use std::cmp::Ordering;
use std::marker::PhantomData;

use rayon::prelude::*;

use super::ids::Id;
use crate::column::Column;

/// Texts by position, in one block of bytes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Texts {
    pub(crate) offsets: Column<u64>,
    pub(crate) bytes: Column<u8>,
}

impl Texts {
    /// Takes over offsets (one more than texts, the first 0) and the bytes they cut.
    pub(crate) fn from_parts(offsets: Vec<u64>, bytes: Vec<u8>) -> Self {
        Self { offsets: offsets.into(), bytes: bytes.into() }
    }

    /// The number of texts.
    pub fn len(&self) -> usize {
        self.offsets.len().saturating_sub(1)
    }

    /// Whether there is no text.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The bytes of a text; empty outside the table.
    pub(crate) fn bytes_at(&self, index: usize) -> &[u8] {
        match (self.offsets.get(index), self.offsets.get(index + 1)) {
            // `get`: in a damaged file an offset may point anywhere; `relatum check` says so.
            (Some(&from), Some(&to)) => self.bytes.get(from as usize..to as usize).unwrap_or(&[]),
            _ => &[],
        }
    }

    /// A text; empty outside the table or where a damaged file holds no UTF-8.
    pub fn get(&self, index: usize) -> &str {
        std::str::from_utf8(self.bytes_at(index)).unwrap_or_default()
    }
}

impl<'a> FromIterator<&'a str> for Texts {
    fn from_iter<I: IntoIterator<Item = &'a str>>(texts: I) -> Self {
        let mut offsets = vec![0];
        let mut bytes = Vec::new();
        for text in texts {
            bytes.extend_from_slice(text.as_bytes());
            offsets.push(bytes.len() as u64);
        }
        Self::from_parts(offsets, bytes)
    }
}

/// The names of all entities, or of all relations.
///
/// A *name* is what the source calls a thing (an IRI, a Freebase id, a word); it is unique.
/// A *label* is what a person calls it; it may be missing or shared.
/// Sorted orders of both are kept beside them, so that a look-up is a binary search in a
/// mapped file and opening a dictionary of a million names costs nothing.
#[derive(Clone, Debug, PartialEq)]
pub struct Dictionary<I: Id> {
    pub(crate) names: Texts,
    /// All ids by name.
    pub(crate) by_name: Column<I>,
    /// One label for each id, empty where there is none.
    pub(crate) labels: Texts,
    /// The ids that have a label, by label, then id.
    pub(crate) by_label: Column<I>,
}

impl<I: Id> Default for Dictionary<I> {
    fn default() -> Self {
        Self::new(Texts::default(), Texts::default())
    }
}

impl<I: Id> Dictionary<I> {
    /// Builds the sorted orders. `labels` has one text for each name, or none at all.
    pub fn new(names: Texts, labels: Texts) -> Self {
        let by_name = sorted(&names, PhantomData, |_| true);
        let by_label = sorted(&labels, PhantomData, |label| !label.is_empty());
        Self { names, by_name, labels, by_label }
    }

    /// The number of ids.
    pub fn len(&self) -> usize {
        self.names.len()
    }

    /// Whether there is no id.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Every id, ascending.
    pub fn ids(&self) -> impl ExactSizeIterator<Item = I> + use<I> {
        (0..self.len()).map(I::from_index)
    }

    /// The name an id has in its source.
    pub fn name(&self, id: I) -> &str {
        self.names.get(id.index())
    }

    /// The display label, if the source or a label file gave one.
    pub fn label(&self, id: I) -> Option<&str> {
        Some(self.labels.get(id.index())).filter(|label| !label.is_empty())
    }

    /// What to show a person: the label, or else the name.
    pub fn display(&self, id: I) -> &str {
        self.label(id).unwrap_or_else(|| self.name(id))
    }

    /// Whether any id has a label.
    pub fn has_labels(&self) -> bool {
        !self.by_label.is_empty()
    }

    /// The id of a name.
    pub fn by_name(&self, name: &str) -> Option<I> {
        equal_run(&self.by_name, &self.names, name).first().copied()
    }

    /// Every id with this label, ascending.
    pub fn by_label(&self, label: &str) -> &[I] {
        equal_run(&self.by_label, &self.labels, label)
    }
}

fn equal_run<'a, I: Id>(order: &'a [I], texts: &Texts, wanted: &str) -> &'a [I] {
    let compare = |id: &I| texts.bytes_at(id.index()).cmp(wanted.as_bytes());
    let from = order.partition_point(|id| compare(id) == Ordering::Less);
    let len = order[from..].partition_point(|id| compare(id) == Ordering::Equal);
    let run = &order[from..from + len];
    // In a damaged file an id may be of no text; an empty text would be equal to it.
    if run.iter().all(|id| id.index() < texts.len()) { run } else { &[] }
}

/// Ids of the texts to keep, by text, then id.
fn sorted<I: Id>(texts: &Texts, _kind: PhantomData<I>, keep: impl Fn(&[u8]) -> bool) -> Column<I> {
    // The first bytes as a number decide most comparisons without touching the text.
    let mut keyed: Vec<(u128, I)> = (0..texts.len())
        .filter(|&index| keep(texts.bytes_at(index)))
        .map(|index| (first_bytes(texts.bytes_at(index)), I::from_index(index)))
        .collect();
    keyed.par_sort_unstable_by(|a, b| {
        let by_text = || texts.bytes_at(a.1.index()).cmp(texts.bytes_at(b.1.index()));
        a.0.cmp(&b.0).then_with(by_text).then(a.1.cmp(&b.1))
    });
    keyed.into_iter().map(|(_, id)| id).collect::<Vec<_>>().into()
}

fn first_bytes(text: &[u8]) -> u128 {
    let mut key = [0; 16];
    let len = text.len().min(16);
    key[..len].copy_from_slice(&text[..len]);
    u128::from_be_bytes(key)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::EntityId;
    use proptest::prelude::*;

    #[test]
    fn an_id_outside_a_damaged_table_has_no_name() {
        let names: Texts = ["a", "b"].into_iter().collect();
        let by_name = vec![EntityId(42_752), EntityId(1)].into();
        let dictionary = Dictionary { names, by_name, labels: Texts::default(), by_label: Vec::new().into() };
        assert_eq!((dictionary.by_name(""), dictionary.by_name("b")), (None, Some(EntityId(1))));
    }

    #[test]
    fn a_shared_label_gives_every_id_that_has_it() {
        let names = ["q1", "q2", "q3"].into_iter().collect();
        let labels = ["Paris", "", "Paris"].into_iter().collect();
        let dictionary: Dictionary<EntityId> = Dictionary::new(names, labels);
        assert_eq!(dictionary.by_label("Paris"), [EntityId(0), EntityId(2)]);
        assert_eq!(dictionary.label(EntityId(1)), None);
        assert_eq!(dictionary.display(EntityId(1)), "q2");
    }

    proptest! {
        #[test]
        fn every_name_is_found_and_no_other(names in prop::collection::btree_set("[a-cé\u{0}]{0,12}", 0..40), other in "[a-c]{0,12}") {
            let texts: Texts = names.iter().rev().map(String::as_str).collect();
            let dictionary: Dictionary<EntityId> = Dictionary::new(texts, Texts::default());
            for id in dictionary.ids() {
                prop_assert_eq!(dictionary.by_name(dictionary.name(id)), Some(id));
            }
            prop_assert_eq!(dictionary.by_name(&other).is_some(), names.contains(&other));
        }
    }
}
