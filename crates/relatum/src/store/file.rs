//! The one binary container all columns are kept in.
//!
//! ```text
//!  0  magic            "RELATUM\x1a"
//!  8  kind             eight ASCII bytes, padded with zeros: dict, edges, …
//! 16  version          u32
//! 20  sections         u32
//! 24  length           u64, of the whole file
//! 32  checksum         u64, XXH3 of everything from byte 64 on
//! 40  header checksum  u64, XXH3 of bytes 0 to 40
//! 48  zeros
//! 64  section table    (offset u64, length u64) for each section
//!     sections         each begins at a multiple of 64
//! ```
//!
//! All numbers are little-endian, so that a column is used as it lies in the mapped file.

use std::fs::File;
use std::io::{Seek, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use bytemuck::Pod;
use memmap2::Mmap;
use xxhash_rust::xxh3::{Xxh3, xxh3_64};

use super::atomic::{begin_sync, write_atomically};
use super::error::StoreError;
use crate::column::Column;

#[cfg(target_endian = "big")]
compile_error!("project folders are little-endian and used in place; a big-endian machine cannot read them");

const MAGIC: [u8; 8] = *b"RELATUM\x1a";
/// The newest version of the container and of every kind in it.
pub(crate) const VERSION: u32 = 1;
const HEADER: usize = 64;
const ALIGN: usize = 64;
const PIECE: usize = 1 << 20;
/// After so many bytes the disk begins to store them, while the next are being prepared.
const ON_THE_WAY: usize = 8 << 20;

/// What a manifest records of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Seal {
    pub(crate) bytes: u64,
    pub(crate) checksum: u64,
}

/// Writes the sections as one file, whole or not at all.
pub(crate) fn write_sections(path: &Path, kind: &str, sections: &[&[u8]]) -> Result<Seal, StoreError> {
    let mut table = Vec::with_capacity(sections.len() * 2);
    let mut end = (HEADER + sections.len() * 16) as u64;
    for section in sections {
        let start = end.next_multiple_of(ALIGN as u64);
        table.extend([start, section.len() as u64]);
        end = start + section.len() as u64;
    }
    let table: &[u8] = bytemuck::cast_slice(&table);

    let mut seal = Seal { bytes: end, checksum: 0 };
    write_atomically(path, |file| {
        // The header holds the checksum of all that follows it, so it is written last.
        file.write_all(&[0; HEADER])?;
        let mut checksum = Xxh3::new();
        let mut waiting = 0;
        for_each_piece(table, sections, |piece| {
            checksum.update(piece);
            file.write_all(piece)?;
            waiting += piece.len();
            if waiting >= ON_THE_WAY {
                begin_sync(file.get_ref());
                waiting = 0;
            }
            Ok(())
        })?;
        seal.checksum = checksum.digest();
        file.rewind()?;
        file.write_all(&header(kind, sections.len() as u32, seal))
    })?;
    Ok(seal)
}

/// Everything after the header, in order, with the padding that aligns each section, in pieces
/// that stay in cache between summing and writing.
fn for_each_piece(
    table: &[u8],
    sections: &[&[u8]],
    mut piece: impl FnMut(&[u8]) -> std::io::Result<()>,
) -> std::io::Result<()> {
    piece(table)?;
    let mut at = HEADER + table.len();
    for section in sections {
        let start = at.next_multiple_of(ALIGN);
        piece(&[0; ALIGN][..start - at])?;
        section.chunks(PIECE).try_for_each(&mut piece)?;
        at = start + section.len();
    }
    Ok(())
}

fn header(kind: &str, sections: u32, seal: Seal) -> [u8; HEADER] {
    let mut header = [0; HEADER];
    header[..8].copy_from_slice(&MAGIC);
    header[8..16].copy_from_slice(&padded(kind));
    header[16..20].copy_from_slice(&VERSION.to_le_bytes());
    header[20..24].copy_from_slice(&sections.to_le_bytes());
    header[24..32].copy_from_slice(&seal.bytes.to_le_bytes());
    header[32..40].copy_from_slice(&seal.checksum.to_le_bytes());
    let checksum = xxh3_64(&header[..40]);
    header[40..48].copy_from_slice(&checksum.to_le_bytes());
    header
}

fn padded(kind: &str) -> [u8; 8] {
    let mut bytes = [0; 8];
    bytes[..kind.len()].copy_from_slice(kind.as_bytes());
    bytes
}

/// A mapped file whose header has been checked. Only [`verify`](Self::verify) checks its content, so that
/// opening takes the same time for every size.
pub(crate) struct MappedFile {
    path: PathBuf,
    map: Arc<Mmap>,
    sections: Vec<std::ops::Range<usize>>,
    pub(crate) seal: Seal,
}

impl MappedFile {
    pub(crate) fn open(path: &Path, kind: &str) -> Result<Self, StoreError> {
        let file = File::open(path).map_err(StoreError::io("read", path))?;
        // SAFETY: the map is read-only and private to this process; every file is written under
        // another name and renamed, never changed in place. Truncating a project's files by hand
        // while it is open breaks the contract of the folder, as with any mapped database.
        #[allow(unsafe_code)]
        let map = unsafe { Mmap::map(&file) }.map_err(StoreError::io("read", path))?;
        let foreign = |bytes: &[u8]| StoreError::Foreign {
            path: path.to_owned(),
            expected: kind.to_owned(),
            found: format!("{:?}", String::from_utf8_lossy(&bytes[..bytes.len().min(16)])),
        };
        let damaged = |what: &str| StoreError::damaged(path, what);
        let Some(header) = map.get(..HEADER) else {
            return Err(if map.starts_with(&MAGIC) {
                damaged("it ends within its header")
            } else {
                foreign(&map)
            });
        };
        if header[..8] != MAGIC {
            return Err(foreign(header));
        }
        if u64_at(header, 40) != xxh3_64(&header[..40]) {
            return Err(damaged("the checksum of its header does not match"));
        }
        if header[8..16] != padded(kind) {
            return Err(foreign(header));
        }
        if header[48..] != [0; 16] {
            return Err(damaged("its header has data where only zeros belong"));
        }
        let version = u32_at(header, 16);
        if version > VERSION {
            return Err(StoreError::Newer { path: path.to_owned(), found: version, known: VERSION });
        }
        let seal = Seal { bytes: u64_at(header, 24), checksum: u64_at(header, 32) };
        if seal.bytes != map.len() as u64 {
            return Err(damaged(&format!("it has {} bytes and should have {}", map.len(), seal.bytes)));
        }
        let table_end = HEADER + u32_at(header, 20) as usize * 16;
        let table = map.get(HEADER..table_end).ok_or_else(|| damaged("its section table is cut off"))?;
        let sections = table.chunks_exact(16).map(|entry| {
            let start = usize::try_from(u64_at(entry, 0)).ok()?;
            let end = start.checked_add(usize::try_from(u64_at(entry, 8)).ok()?)?;
            (end <= map.len()).then_some(start..end)
        });
        let sections = sections.collect::<Option<Vec<_>>>();
        let sections = sections.ok_or_else(|| damaged("a section lies outside the file"))?;
        Ok(Self { path: path.to_owned(), map: Arc::new(map), sections, seal })
    }

    /// A section as a column, used in place.
    pub(crate) fn column<T: Pod>(&self, section: usize) -> Result<Column<T>, StoreError> {
        let range = self.sections.get(section).cloned();
        let column = range.and_then(|range| Column::mapped(&self.map, range));
        column.ok_or_else(|| {
            StoreError::damaged(&self.path, format!("section {section} is missing or misaligned"))
        })
    }

    pub(crate) fn sections(&self) -> usize {
        self.sections.len()
    }

    /// Reads the whole file and compares its checksum.
    pub(crate) fn verify(&self) -> Result<(), StoreError> {
        if xxh3_64(&self.map[HEADER..]) == self.seal.checksum {
            return Ok(());
        }
        Err(StoreError::damaged(&self.path, "its content does not match its checksum"))
    }
}

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    bytemuck::pod_read_unaligned(&bytes[at..at + 4])
}

fn u64_at(bytes: &[u8], at: usize) -> u64 {
    bytemuck::pod_read_unaligned(&bytes[at..at + 8])
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn sections_come_back_as_they_were(sections in prop::collection::vec(prop::collection::vec(any::<u64>(), 0..30), 0..5)) {
            let dir = tempfile::tempdir().unwrap();
            let path = dir.path().join("file");
            let bytes: Vec<&[u8]> = sections.iter().map(|section| bytemuck::cast_slice(section)).collect();
            write_sections(&path, "test", &bytes).unwrap();
            let file = MappedFile::open(&path, "test").unwrap();
            file.verify().unwrap();
            prop_assert_eq!(file.sections(), sections.len());
            for (index, section) in sections.iter().enumerate() {
                prop_assert_eq!(&*file.column::<u64>(index).unwrap(), section.as_slice());
            }
        }

        #[test]
        fn any_changed_byte_is_noticed(at in 0usize..256, change in 1u8..) {
            let dir = tempfile::tempdir().unwrap();
            let path = dir.path().join("file");
            write_sections(&path, "test", &[&[7; 100], &[9; 28]]).unwrap();
            let mut bytes = std::fs::read(&path).unwrap();
            let at = at % bytes.len();
            bytes[at] ^= change;
            std::fs::write(&path, bytes).unwrap();
            prop_assert!(MappedFile::open(&path, "test").and_then(|file| file.verify()).is_err());
        }

        #[test]
        fn a_cut_file_is_refused(len in 0usize..292) {
            let dir = tempfile::tempdir().unwrap();
            let path = dir.path().join("file");
            write_sections(&path, "test", &[&[7; 100], &[9; 100]]).unwrap();
            let bytes = std::fs::read(&path).unwrap();
            prop_assume!(len < bytes.len());
            std::fs::write(&path, &bytes[..len]).unwrap();
            prop_assert!(MappedFile::open(&path, "test").is_err());
        }
    }

    #[test]
    fn another_kind_and_a_newer_version_are_refused_by_name() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("file");
        write_sections(&path, "dict", &[]).unwrap();
        assert!(matches!(MappedFile::open(&path, "edges"), Err(StoreError::Foreign { .. })));
        let mut bytes = std::fs::read(&path).unwrap();
        bytes[16] = 9;
        let checksum = xxh3_64(&bytes[..40]);
        bytes[40..48].copy_from_slice(&checksum.to_le_bytes());
        std::fs::write(&path, bytes).unwrap();
        assert!(matches!(MappedFile::open(&path, "dict"), Err(StoreError::Newer { found: 9, .. })));
    }
}
