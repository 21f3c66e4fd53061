//! Arrays that live in memory or in a mapped file, without their users knowing which, and memory for large ones.

pub(crate) mod memory;

use std::ops::{Deref, Range};
use std::sync::Arc;

use bytemuck::Pod;
use memmap2::Mmap;

/// A read-only array of plain values: a `Vec`, or a part of a memory-mapped file.
#[derive(Clone)]
pub struct Column<T: Pod> {
    place: Place<T>,
}

#[derive(Clone)]
enum Place<T: Pod> {
    Owned(Vec<T>),
    Mapped { map: Arc<Mmap>, bytes: Range<usize> },
}

impl<T: Pod> Column<T> {
    /// A column over a byte range of a mapped file, or `None` if the range is outside the map,
    /// misaligned for `T`, or not a whole number of values.
    pub(crate) fn mapped(map: &Arc<Mmap>, bytes: Range<usize>) -> Option<Self> {
        bytemuck::try_cast_slice::<u8, T>(map.get(bytes.clone())?).ok()?;
        let map = Arc::clone(map);
        Some(Self { place: Place::Mapped { map, bytes } })
    }
}

impl<T: Pod> Column<T> {
    /// The values as a `Vec`: taken over if they are in memory, copied if they are in a file.
    pub fn into_vec(self) -> Vec<T> {
        match self.place {
            Place::Owned(values) => values,
            Place::Mapped { .. } => self.to_vec(),
        }
    }
}

impl<T: Pod> From<Vec<T>> for Column<T> {
    fn from(values: Vec<T>) -> Self {
        Self { place: Place::Owned(values) }
    }
}

impl<T: Pod> Default for Column<T> {
    fn default() -> Self {
        Vec::new().into()
    }
}

impl<T: Pod> Deref for Column<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        match &self.place {
            Place::Owned(values) => values,
            // `mapped` has already made this cast once; it cannot fail now.
            Place::Mapped { map, bytes } => bytemuck::cast_slice(&map[bytes.clone()]),
        }
    }
}

impl<T: Pod + std::fmt::Debug> std::fmt::Debug for Column<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

impl<T: Pod + PartialEq> PartialEq for Column<T> {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}
