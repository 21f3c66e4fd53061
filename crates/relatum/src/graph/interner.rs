//! Gives every distinct text an id, in order of first appearance.
//!
//! An open-addressing table of our own: with a million names every look-up misses the cache, and
//! only a table whose slots we can address lets [`Interner::warm`] start those misses side by side
//! for many look-ups at once. A slot holds a [`Mark`] of its text, so that a look-up needs one
//! line of memory and never the text itself, and the slots lie in large pages (`column::memory`).

use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;
use std::hint::black_box;
use std::sync::LazyLock;

use bytemuck::{Pod, Zeroable};
use xxhash_rust::xxh3::xxh3_128_with_seed;

use super::dictionary::Texts;
use crate::column::memory;

/// What stands for a text: 96 bits of a hash with a secret key.
///
/// Texts with equal marks count as equal. Among n texts some two have equal marks with a chance of
/// n² / 2⁹⁷: for a million names 10⁻¹⁷, far below that of a memory error in the same time. The
/// key is drawn anew by every process, so nobody can write a file whose names collide, and since
/// ids go by first appearance, no result depends on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pod, Zeroable)]
#[repr(transparent)]
pub(crate) struct Mark([u32; 3]);

impl Mark {
    /// The mark of no text yet.
    pub(crate) const NONE: Self = Self([0; 3]);

    pub(crate) fn of(text: &[u8]) -> Self {
        static KEY: LazyLock<u64> = LazyLock::new(|| RandomState::new().hash_one("names"));
        let hash = xxh3_128_with_seed(text, *KEY);
        Self([hash as u32, (hash >> 32) as u32, (hash >> 64) as u32])
    }
}

/// A growing table of texts.
#[derive(Default)]
pub(crate) struct Interner {
    /// The slots: their number is a power of two, at most half of them are taken, and a taken one is
    /// followed by a look at the next.
    slots: Vec<Slot>,
    offsets: Vec<u64>,
    bytes: Vec<u8>,
}

#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
struct Slot {
    mark: Mark,
    /// The id plus one; zero in a free slot.
    taken: u32,
}

impl Interner {
    /// How many look-ups [`warm`](Self::warm) should be given at once.
    pub(crate) const AHEAD: usize = 64;
    /// Ids are 32 bits wide, and one value says that a slot is free.
    pub(crate) const MOST: usize = u32::MAX as usize;

    pub(crate) fn len(&self) -> usize {
        self.offsets.len()
    }

    /// The id of a text with this mark, new or known.
    ///
    /// # Panics
    /// If the text is new and there are [`MOST`](Self::MOST) already.
    pub(crate) fn intern(&mut self, text: &[u8], mark: Mark) -> u32 {
        if self.offsets.len() * 2 >= self.slots.len() {
            self.grow();
        }
        let at = self.probe(mark);
        if self.slots[at].taken == 0 {
            assert!(self.offsets.len() < Self::MOST, "more names than ids of 32 bits can tell apart");
            memory::reserve(&mut self.offsets, 1);
            self.offsets.push(self.bytes.len() as u64);
            memory::reserve(&mut self.bytes, text.len());
            self.bytes.extend_from_slice(text);
            self.slots[at] = Slot { mark, taken: self.offsets.len() as u32 };
        }
        self.slots[at].taken - 1
    }

    /// The id of a text, if it is known.
    pub(crate) fn find(&self, text: &[u8]) -> Option<u32> {
        if self.slots.is_empty() {
            return None;
        }
        self.slots[self.probe(Mark::of(text))].taken.checked_sub(1)
    }

    /// Brings into the cache what the look-ups of these marks will need. The loads do not depend on
    /// each other, so the processor waits for all of them at once.
    pub(crate) fn warm(&self, marks: impl Iterator<Item = Mark>) {
        if self.slots.is_empty() {
            return;
        }
        black_box(marks.fold(0, |sum, mark| sum ^ self.slots[self.home(mark)].taken));
    }

    /// The texts by id. Every text was checked to be UTF-8 by whoever interned it.
    pub(crate) fn into_texts(mut self) -> Texts {
        self.offsets.push(self.bytes.len() as u64);
        Texts::from_parts(self.offsets, self.bytes)
    }

    /// The slot that holds a mark, or the free one where it belongs.
    fn probe(&self, mark: Mark) -> usize {
        let mut at = self.home(mark);
        while self.slots[at].taken != 0 && self.slots[at].mark != mark {
            at = (at + 1) & (self.slots.len() - 1);
        }
        at
    }

    fn home(&self, mark: Mark) -> usize {
        mark.0[0] as usize & (self.slots.len() - 1)
    }

    fn grow(&mut self) {
        let larger = memory::zeroed((self.slots.len() * 2).max(1024));
        let slots = std::mem::replace(&mut self.slots, larger);
        for slot in slots.into_iter().filter(|slot| slot.taken != 0) {
            let at = self.probe(slot.mark);
            self.slots[at] = slot;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn intern(interner: &mut Interner, text: &str) -> u32 {
        interner.intern(text.as_bytes(), Mark::of(text.as_bytes()))
    }

    proptest! {
        #[test]
        fn ids_count_distinct_texts_in_order(texts in prop::collection::vec("[ab]{0,6}", 0..200)) {
            let mut interner = Interner::default();
            let mut seen: Vec<&str> = Vec::new();
            for text in &texts {
                let expected = seen.iter().position(|known| known == text).unwrap_or_else(|| {
                    seen.push(text);
                    seen.len() - 1
                });
                interner.warm([Mark::of(text.as_bytes())].into_iter());
                prop_assert_eq!(intern(&mut interner, text), expected as u32);
            }
            prop_assert_eq!(interner.len(), seen.len());
            let kept = interner.into_texts();
            let kept: Vec<&str> = (0..kept.len()).map(|id| kept.get(id)).collect();
            prop_assert_eq!(kept, seen);
        }

        #[test]
        fn marks_that_differ_in_any_part_are_told_apart(marks in prop::collection::vec([0u32..3, 0u32..3, 0u32..3], 0..100)) {
            let mut interner = Interner::default();
            let mut seen: Vec<Mark> = Vec::new();
            for mark in marks.into_iter().map(Mark) {
                let expected = seen.iter().position(|known| *known == mark).unwrap_or(seen.len());
                seen.extend((expected == seen.len()).then_some(mark));
                prop_assert_eq!(interner.intern(b"", mark), expected as u32);
            }
        }
    }

    #[test]
    fn many_texts_are_found_again_after_growth() {
        let mut interner = Interner::default();
        for number in 0..10_000u32 {
            assert_eq!(intern(&mut interner, &number.to_string()), number);
        }
        assert_eq!(interner.find(b"9999"), Some(9999));
        assert_eq!(interner.find(b"10000"), None);
    }
}
