//! Matrices in the safetensors format: a length, a JSON header, the values.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Write;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use bytemuck::Pod;
use half::f16;
use memmap2::Mmap;
use safetensors::{Dtype, SafeTensors};
use serde_json::{Map, Value, json};
use xxhash_rust::xxh3::Xxh3;

use super::atomic::write_atomically;
use super::error::StoreError;
use crate::column::Column;

/// The header's field that holds the XXH3 of all values.
pub(crate) const CHECKSUM: &str = "relatum.checksum";

/// A matrix to be written: its name, rows × columns, and values.
pub(crate) type Tensor<'a> = (&'a str, [usize; 2], Values<'a>);

/// The values of a matrix.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Values<'a> {
    F32(&'a [f32]),
    F16(&'a [f16]),
    I8(&'a [i8]),
}

impl<'a> Values<'a> {
    fn bytes(self) -> (&'static str, &'a [u8]) {
        match self {
            Self::F32(values) => ("F32", bytemuck::cast_slice(values)),
            Self::F16(values) => ("F16", bytemuck::cast_slice(values)),
            Self::I8(values) => ("I8", bytemuck::cast_slice(values)),
        }
    }
}

impl<'a> Values<'a> {
    /// The places of values that are not finite numbers.
    pub(crate) fn not_finite(self) -> Box<dyn Iterator<Item = usize> + 'a> {
        match self {
            Self::F32(values) => Box::new((0..values.len()).filter(|&at| !values[at].is_finite())),
            Self::F16(values) => Box::new((0..values.len()).filter(|&at| !values[at].is_finite())),
            Self::I8(_) => Box::new(std::iter::empty()),
        }
    }
}

/// A type of number that a matrix can hold.
pub(crate) trait Element: Pod {
    /// Its name in the header.
    const TYPE: Dtype;
}

impl Element for f32 {
    const TYPE: Dtype = Dtype::F32;
}

impl Element for f16 {
    const TYPE: Dtype = Dtype::F16;
}

impl Element for i8 {
    const TYPE: Dtype = Dtype::I8;
}

/// Writes matrices and texts as one safetensors file, whole or not at all.
pub(crate) fn write_tensors(
    path: &Path,
    texts: &BTreeMap<String, String>,
    tensors: &[Tensor<'_>],
) -> Result<(), StoreError> {
    let mut checksum = Xxh3::new();
    let mut header = Map::new();
    let mut at = 0;
    for (name, shape, values) in tensors {
        let (kind, bytes) = values.bytes();
        checksum.update(bytes);
        let end = at + bytes.len();
        header.insert((*name).to_owned(), json!({"dtype": kind, "shape": shape, "data_offsets": [at, end]}));
        at = end;
    }
    let mut texts = texts.clone();
    texts.insert(CHECKSUM.to_owned(), format!("{:016x}", checksum.digest()));
    header.insert("__metadata__".to_owned(), json!(texts));
    let mut header = Value::Object(header).to_string();
    // Spaces after the header align the values, so that they are used as they lie in the mapped file.
    header.push_str(&" ".repeat(header.len().next_multiple_of(8) - header.len()));
    write_atomically(path, |file| {
        file.write_all(&(header.len() as u64).to_le_bytes())?;
        file.write_all(header.as_bytes())?;
        tensors.iter().try_for_each(|(.., values)| file.write_all(values.bytes().1))
    })
}

/// A safetensors file, mapped.
pub(crate) struct TensorFile {
    path: PathBuf,
    map: Arc<Mmap>,
    /// Where the values begin.
    start: usize,
    texts: BTreeMap<String, String>,
    tensors: BTreeMap<String, (Dtype, Vec<usize>, Range<usize>)>,
}

impl TensorFile {
    /// Maps a file and checks its form, and its values too if the file holds our checksum.
    pub(crate) fn open(path: &Path) -> Result<Self, StoreError> {
        let file = Self::glance(path)?;
        file.verify()?;
        Ok(file)
    }

    /// Reads all values and compares them with our checksum, if the file holds one.
    pub(crate) fn verify(&self) -> Result<(), StoreError> {
        let Some(expected) = self.texts.get(CHECKSUM) else { return Ok(()) };
        let mut checksum = Xxh3::new();
        checksum.update(&self.map[self.start..]);
        if *expected != format!("{:016x}", checksum.digest()) {
            return Err(StoreError::damaged(&self.path, "its values do not match its checksum"));
        }
        Ok(())
    }

    /// Maps a file and reads only its header, for its texts and shapes: this takes the same time for every size.
    pub(crate) fn glance(path: &Path) -> Result<Self, StoreError> {
        let file = File::open(path).map_err(StoreError::io("read", path))?;
        // SAFETY: as for every file of a project, the map is read-only and the file is replaced by
        // renaming, never changed in place.
        #[allow(unsafe_code, reason = "mapping a file is unsafe by nature")]
        let map = unsafe { Mmap::map(&file) }.map_err(StoreError::io("read", path))?;
        let not_ours = |error: safetensors::SafeTensorError| {
            StoreError::damaged(path, format!("it is not a safetensors file ({error})"))
        };
        let (header, metadata) = SafeTensors::read_metadata(&map).map_err(not_ours)?;
        let start = 8 + header;
        let tensors = metadata.tensors().into_iter().map(|(name, info)| {
            let (from, to) = info.data_offsets;
            (name, (info.dtype, info.shape.clone(), start + from..start + to))
        });
        let tensors: BTreeMap<_, _> = tensors.collect();
        let texts: BTreeMap<String, String> =
            metadata.metadata().clone().unwrap_or_default().into_iter().collect();
        if tensors.values().any(|(.., bytes)| bytes.end > map.len()) {
            return Err(StoreError::damaged(path, "it ends before its last values"));
        }
        Ok(Self { path: path.to_owned(), map: Arc::new(map), start, texts, tensors })
    }

    /// A text of the header.
    pub(crate) fn text(&self, name: &str) -> Option<&str> {
        self.texts.get(name).map(String::as_str)
    }

    /// The names and shapes of all matrices.
    pub(crate) fn shapes(&self) -> impl Iterator<Item = (&str, &[usize])> {
        self.tensors.iter().map(|(name, (_, shape, _))| (name.as_str(), shape.as_slice()))
    }

    /// The type of the numbers of a matrix, if there is one of this name.
    pub(crate) fn element(&self, name: &str) -> Option<Dtype> {
        self.tensors.get(name).map(|(dtype, ..)| *dtype)
    }

    /// A matrix, rows × columns.
    pub(crate) fn matrix<T: Element>(&self, name: &str) -> Result<([usize; 2], Column<T>), StoreError> {
        let damaged = |what: String| StoreError::damaged(&self.path, what);
        let Some((dtype, shape, bytes)) = self.tensors.get(name) else {
            let names: Vec<&str> = self.tensors.keys().map(String::as_str).collect();
            return Err(damaged(format!("it has no matrix `{name}`, only {}", names.join(", "))));
        };
        let &[rows, columns] = shape.as_slice() else {
            return Err(damaged(format!("`{name}` has shape {shape:?}, not rows × columns")));
        };
        if *dtype != T::TYPE {
            return Err(damaged(format!("`{name}` holds {dtype:?}, not {:?}", T::TYPE)));
        }
        let column = Column::mapped(&self.map, bytes.clone()).or_else(|| {
            // Other writers do not always align; then the values are copied.
            let values = self.map[bytes.clone()].chunks_exact(size_of::<T>());
            Some(values.map(bytemuck::pod_read_unaligned::<T>).collect::<Vec<_>>().into())
        });
        let column = column.ok_or_else(|| damaged(format!("`{name}` cannot be read")))?;
        Ok(([rows, columns], column))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_and_the_crate_of_the_format_agrees() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.safetensors");
        let texts = BTreeMap::from([("note".to_owned(), "é".to_owned())]);
        write_tensors(
            &path,
            &texts,
            &[
                ("a", [2, 2], Values::F32(&[1.0, 2.0, 3.0, 4.0])),
                ("b", [1, 1], Values::F32(&[5.0])),
                ("c", [1, 3], Values::I8(&[1, -2, 3])),
                ("d", [1, 1], Values::F16(&[f16::ONE])),
            ],
        )
        .unwrap();
        let file = TensorFile::open(&path).unwrap();
        assert_eq!(file.text("note"), Some("é"));
        assert_eq!(&file.matrix::<i8>("c").unwrap().1[..], [1, -2, 3]);
        // Three bytes before it leave this one unaligned: it is copied.
        assert_eq!(&file.matrix::<f16>("d").unwrap().1[..], [f16::ONE]);
        assert!(file.matrix::<i8>("a").is_err(), "f32 is not i8");
        let (shape, values) = file.matrix::<f32>("a").unwrap();
        assert_eq!((shape, &values[..]), ([2, 2], &[1.0, 2.0, 3.0, 4.0][..]));
        let bytes = std::fs::read(&path).unwrap();
        assert_eq!(SafeTensors::deserialize(&bytes).unwrap().tensor("b").unwrap().shape(), [1, 1]);
    }

    #[test]
    fn a_changed_value_a_cut_and_a_foreign_file_are_found() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.safetensors");
        write_tensors(&path, &BTreeMap::new(), &[("a", [1, 2], Values::F32(&[1.0, 2.0]))]).unwrap();
        let whole = std::fs::read(&path).unwrap();
        let mut changed = whole.clone();
        *changed.last_mut().unwrap() ^= 1;
        for bytes in
            [&changed[..], &whole[..whole.len() - 1], &whole[..4], b"hello, I am something else", b""]
        {
            std::fs::write(&path, bytes).unwrap();
            assert!(TensorFile::open(&path).is_err(), "{} bytes", bytes.len());
        }
    }
}
