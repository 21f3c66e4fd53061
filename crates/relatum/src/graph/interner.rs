//! Gives every distinct text an id, in order of first appearance.

use foldhash::fast::FixedState;
use hashbrown::HashTable;
use std::hash::BuildHasher;

use super::dictionary::Texts;

/// A growing table of texts.
#[derive(Default)]
pub(super) struct Interner {
    table: HashTable<Entry>,
    offsets: Vec<u64>,
    bytes: Vec<u8>,
}

/// Half of the hash stands beside the id, so that a probe rarely has to look at the text.
struct Entry {
    hash: u32,
    id: u32,
}

impl Interner {
    pub(super) fn len(&self) -> usize {
        self.offsets.len()
    }

    pub(super) fn hash(text: &[u8]) -> u32 {
        (FixedState::with_seed(0).hash_one(text) >> 32) as u32
    }

    pub(super) fn intern(&mut self, text: &[u8], hash: u32) -> u32 {
        let entry = self.table.entry(
            spread(hash),
            |entry| entry.hash == hash && text_at(&self.offsets, &self.bytes, entry.id) == text,
            |entry| spread(entry.hash),
        );
        match entry {
            hashbrown::hash_table::Entry::Occupied(known) => known.get().id,
            hashbrown::hash_table::Entry::Vacant(place) => {
                let id = self.offsets.len() as u32;
                place.insert(Entry { hash, id });
                self.offsets.push(self.bytes.len() as u64);
                self.bytes.extend_from_slice(text);
                id
            }
        }
    }

    pub(super) fn find(&self, text: &[u8]) -> Option<u32> {
        let hash = Self::hash(text);
        let same =
            |entry: &Entry| entry.hash == hash && text_at(&self.offsets, &self.bytes, entry.id) == text;
        self.table.find(spread(hash), same).map(|entry| entry.id)
    }

    /// The texts by id. Every text was checked to be UTF-8 by whoever interned it.
    pub(super) fn into_texts(mut self) -> Texts {
        self.offsets.push(self.bytes.len() as u64);
        Texts::from_parts(self.offsets, self.bytes)
    }
}

fn text_at<'a>(offsets: &[u64], bytes: &'a [u8], id: u32) -> &'a [u8] {
    let from = offsets[id as usize] as usize;
    let to = offsets.get(id as usize + 1).map_or(bytes.len(), |&to| to as usize);
    &bytes[from..to]
}

/// The table takes its bucket from the low bits of a hash and its tag from the high ones.
fn spread(hash: u32) -> u64 {
    u64::from(hash).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}
