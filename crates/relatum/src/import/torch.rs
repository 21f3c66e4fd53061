//! Checkpoints that PyTorch saved: zip files since 1.6, pickles one after another before.

use std::collections::{BTreeMap, HashSet};
use std::fs;
use std::io::{Cursor, Read};
use std::path::Path;

use super::ImportError;
use super::pickle::{Item, Kind, Pickle, Policy, Storage, Tensor, read_one};
use super::tables::{Matrix, Tables};

/// Reads the embeddings of a kbc or CQD checkpoint; everything else in it is skipped.
pub(super) fn read(path: &Path) -> Result<Tables, ImportError> {
    let bytes = fs::read(path).map_err(ImportError::io("read", path))?;
    let checkpoint = if bytes.starts_with(b"PK") {
        Checkpoint::zipped(path, &bytes)?
    } else {
        Checkpoint::legacy(path, &bytes)?
    };
    let root = checkpoint.pickle.root();
    let state =
        ["model_state_dict", "state_dict", "model"].into_iter().find_map(|key| root.get(key)).unwrap_or(root);
    let matrix = |name: &str| state.get(name).map(|item| checkpoint.matrix(path, name, item)).transpose();
    if let (Some(entities), Some(relations)) =
        (matrix("embeddings.0.weight")?, matrix("embeddings.1.weight")?)
    {
        return Ok(Tables { likely: Some("complex"), ..Tables::bare(entities, relations) });
    }
    if let (Some(heads), Some(relations), Some(tails)) =
        (matrix("lhs.weight")?, matrix("rel.weight")?, matrix("rhs.weight")?)
        && (heads.rows, heads.columns) == (tails.rows, tails.columns)
    {
        let entities = side_by_side(&heads, &tails);
        return Ok(Tables { model: Some("cp".to_owned()), ..Tables::bare(entities, relations) });
    }
    let expected =
        "`model_state_dict` with `embeddings.0.weight` and `embeddings.1.weight` (or lhs, rel and rhs)";
    let found = match state.as_dict() {
        Some(entries) => {
            let keys: Vec<&str> = entries.filter_map(|(key, _)| key.as_str()).take(SHOWN).collect();
            format!("the names {}", keys.join(", "))
        }
        None => "no names at all".to_owned(),
    };
    Err(ImportError::unexpected(path, expected, found))
}

fn side_by_side(left: &Matrix, right: &Matrix) -> Matrix {
    let rows = left.values.chunks(left.columns.max(1)).zip(right.values.chunks(right.columns.max(1)));
    let values = rows.flat_map(|(a, b)| a.iter().chain(b).copied()).collect();
    Matrix { rows: left.rows, columns: left.columns + right.columns, values }
}

/// A pickle and the numbers it refers to.
struct Checkpoint {
    pickle: Pickle,
    storages: BTreeMap<String, Vec<u8>>,
}

impl Checkpoint {
    fn zipped(path: &Path, bytes: &[u8]) -> Result<Self, ImportError> {
        let broken = |error: zip::result::ZipError| {
            ImportError::unexpected(path, "a PyTorch zip file", error.to_string())
        };
        let mut archive = zip::ZipArchive::new(Cursor::new(bytes)).map_err(broken)?;
        let names: Vec<String> =
            archive.file_names().filter_map(|name| Some(name.ok()?.into_owned())).collect();
        let Some(folder) = names.iter().find_map(|name| name.strip_suffix("data.pkl")) else {
            let found = names.iter().take(SHOWN).cloned().collect::<Vec<_>>().join(", ");
            return Err(ImportError::unexpected(path, "a zip file with data.pkl in it", found));
        };
        let names: HashSet<&str> = names.iter().map(String::as_str).collect();
        let mut left = UNPACKED * bytes.len() as u64;
        let mut content = |name: &str, most: u64| -> Result<Vec<u8>, ImportError> {
            let entry = archive.by_name(name).map_err(broken)?;
            let mut content = Vec::new();
            // The size in the header is not trusted, because a damaged one may claim any size. And no more
            // is read than is needed: a few bytes can unpack to any amount, and entries may overlap.
            let read = entry.take(most.min(left + 1)).read_to_end(&mut content);
            let read = read.map_err(ImportError::io("read", path))? as u64;
            left = left.checked_sub(read).ok_or_else(|| {
                let expected = format!("a zip file that unpacks to at most {UNPACKED} times its size");
                ImportError::unexpected(
                    path,
                    expected,
                    "more (no PyTorch writes this: do not trust the file)",
                )
            })?;
            Ok(content)
        };
        if names.contains(format!("{folder}byteorder").as_str()) {
            let order = content(&format!("{folder}byteorder"), 16)?;
            if order != b"little" {
                let found = String::from_utf8_lossy(&order).into_owned();
                return Err(ImportError::unexpected(path, "little-endian numbers", found));
            }
        }
        let pickle = parse(path, &content(&format!("{folder}data.pkl"), u64::MAX)?)?.0;
        let mut storages = BTreeMap::new();
        for (key, Wanted { bytes, .. }) in wanted(&pickle) {
            let name = format!("{folder}data/{key}");
            if names.contains(name.as_str()) {
                storages.insert(key, content(&name, bytes)?);
            }
        }
        Ok(Self { pickle, storages })
    }

    /// Magic number, version, system, the object, the keys of the storages, then the storages.
    fn legacy(path: &Path, bytes: &[u8]) -> Result<Self, ImportError> {
        const MAGIC: i128 = 0x1950_a86a_20f9_469c_fc6c;
        let not_torch = |found: &str| ImportError::unexpected(path, "a PyTorch checkpoint", found);
        let (magic, used) = parse(path, bytes)?;
        if magic.root().as_wide_int() != Some(MAGIC) {
            return Err(not_torch(&format!("a pickle of {}", magic.root().repr(60))));
        }
        let mut rest = &bytes[used..];
        for _ in ["version", "system"] {
            rest = &rest[parse(path, rest)?.1..];
        }
        let (pickle, used) = parse(path, rest)?;
        rest = &rest[used..];
        let (keys, used) = parse(path, rest)?;
        rest = &rest[used..];
        let wanted = wanted(&pickle);
        let mut storages = BTreeMap::new();
        for key in keys.root().as_list().into_iter().flatten() {
            let key = key.as_str().ok_or_else(|| not_torch("a storage without a name"))?;
            let width = wanted.get(key).map_or(4, |storage| storage.width);
            let (len, numbers) = rest.split_at_checked(8).ok_or_else(|| not_torch("the end of the file"))?;
            let len = u64::from_le_bytes(len.try_into().unwrap_or_default());
            let len = usize::try_from(len).ok().and_then(|len| len.checked_mul(width));
            let split = len.and_then(|len| numbers.split_at_checked(len));
            let (numbers, after) =
                split.ok_or_else(|| not_torch("the end of the file within the numbers"))?;
            storages.insert(key.to_owned(), numbers.to_vec());
            rest = after;
        }
        Ok(Self { pickle, storages })
    }

    fn matrix(&self, path: &Path, name: &str, item: Item<'_>) -> Result<Matrix, ImportError> {
        let wrong = |expected: &str, found: String| {
            ImportError::unexpected(path, format!("{name}: {expected}"), found)
        };
        let tensor = item.as_tensor().ok_or_else(|| wrong("a tensor", item.repr(80)))?;
        let (&[rows, columns], &[row_stride, column_stride]) = (&tensor.shape[..], &tensor.strides[..])
        else {
            return Err(wrong("rows × columns", format!("shape {:?}", tensor.shape)));
        };
        let missing = || wrong("its numbers in the file", format!("no storage `{}`", tensor.storage.key));
        let bytes = self.storages.get(tensor.storage.key).ok_or_else(missing)?;
        let numbers = numbers(&tensor.storage, bytes)
            .ok_or_else(|| wrong("float32 or float64", tensor.storage.class.to_owned()))?;
        let outside = || wrong("a tensor inside its storage", describe(&tensor, numbers.len()));
        // Every element must lie inside; the last one is the farthest.
        let reach = |count: u64, stride: u64| count.saturating_sub(1).checked_mul(stride);
        let last = reach(rows, row_stride)
            .zip(reach(columns, column_stride))
            .and_then(|(down, right)| down.checked_add(right)?.checked_add(tensor.offset));
        let size = rows.checked_mul(columns).ok_or_else(outside)?;
        if size > 0 && last.is_none_or(|last| last >= numbers.len() as u64) || size > numbers.len() as u64 {
            return Err(outside());
        }
        let at = |row: u64, column: u64| (tensor.offset + row * row_stride + column * column_stride) as usize;
        let values = (0..rows).flat_map(|row| (0..columns).map(move |column| (row, column)));
        let values = values.map(|(row, column)| numbers[at(row, column)]).collect();
        Ok(Matrix { rows: rows as usize, columns: columns as usize, values })
    }
}

fn describe(tensor: &Tensor<'_>, len: usize) -> String {
    format!(
        "shape {:?}, strides {:?}, offset {} in {len} numbers",
        tensor.shape, tensor.strides, tensor.offset
    )
}

fn parse(path: &Path, bytes: &[u8]) -> Result<(Pickle, usize), ImportError> {
    read_one(bytes, Policy::Checkpoint)
        .map_err(|source| ImportError::Pickle { path: path.to_owned(), source })
}

fn numbers(storage: &Storage<'_>, bytes: &[u8]) -> Option<Vec<f32>> {
    match storage.class {
        "FloatStorage" => Some(bytes.as_chunks::<4>().0.iter().map(|b| f32::from_le_bytes(*b)).collect()),
        "DoubleStorage" => {
            Some(bytes.as_chunks::<8>().0.iter().map(|b| f64::from_le_bytes(*b) as f32).collect())
        }
        _ => None,
    }
}

/// Bytes of a number, by the class of its storage.
fn width(class: &str) -> usize {
    match class {
        "DoubleStorage" | "LongStorage" | "ComplexFloatStorage" => 8,
        "HalfStorage" | "BFloat16Storage" | "ShortStorage" => 2,
        "ByteStorage" | "CharStorage" | "BoolStorage" => 1,
        _ => 4,
    }
}

/// All parts together unpack to no more than so many times the file. PyTorch does not compress, and compressing
/// afterwards gains little, because embeddings look random.
const UNPACKED: u64 = 64;
/// How many names a message shows.
const SHOWN: usize = 12;

/// The part of a storage that is needed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Wanted {
    /// Bytes of a number.
    width: usize,
    /// Bytes up to the end of the last tensor in it.
    bytes: u64,
}

/// Bytes of its storage up to the end of the tensor; 0 if no storage can be so long.
fn reach(tensor: &Tensor<'_>) -> u64 {
    let along = tensor.shape.iter().zip(&tensor.strides);
    let mut lengths = along.map(|(&count, &stride)| count.saturating_sub(1).checked_mul(stride));
    let last = lengths.try_fold(tensor.offset, |sum, length| sum.checked_add(length?));
    let bytes = last.and_then(|last| last.checked_add(1)?.checked_mul(width(tensor.storage.class) as u64));
    bytes.unwrap_or(0)
}

/// The storages that tensors of the pickle use.
fn wanted(pickle: &Pickle) -> BTreeMap<String, Wanted> {
    let mut found: BTreeMap<String, Wanted> = BTreeMap::new();
    // Each value is visited once: many may refer to one, and one to itself.
    let mut visited: HashSet<u32> = HashSet::new();
    let mut open = vec![pickle.root()];
    while let Some(item) = open.pop() {
        if item.identity().is_none_or(|id| !visited.insert(id)) {
            continue;
        }
        if let Some(tensor) = item.as_tensor() {
            let storage = found.entry(tensor.storage.key.to_owned()).or_default();
            storage.width = width(tensor.storage.class);
            storage.bytes = storage.bytes.max(reach(&tensor));
            continue;
        }
        match item.kind() {
            Kind::List(items) | Kind::Tuple(items) => open.extend(items),
            Kind::Dict(entries) => open.extend(entries.map(|(_, value)| value)),
            Kind::Object(object) => {
                open.push(object.state());
                open.extend(object.arguments());
                open.extend(object.entries().map(|(_, value)| value));
            }
            _ => {}
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    /// Made by `fixtures/make.py`.
    const LEGACY: &[u8] = include_bytes!("fixtures/legacy.pt");
    const ZIPPED: &[u8] = include_bytes!("fixtures/zipped.pt");

    fn read_bytes(bytes: &[u8]) -> Result<Tables, ImportError> {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("model.pt");
        fs::write(&path, bytes).unwrap();
        read(&path)
    }

    #[test]
    fn old_and_new_checkpoints_give_their_embeddings() {
        let numbers =
            |start: f32, count: usize| (0..count).map(|i| start + i as f32 / 2.0).collect::<Vec<_>>();
        for bytes in [LEGACY, ZIPPED] {
            let tables = read_bytes(bytes).unwrap();
            assert_eq!(tables.entities, Matrix { rows: 3, columns: 4, values: numbers(0.0, 12) });
            assert_eq!(tables.relations, Matrix { rows: 2, columns: 4, values: numbers(100.0, 8) });
        }
    }

    #[test]
    fn no_more_is_unpacked_than_the_tensors_need() {
        let names: Vec<String> = {
            let archive = zip::ZipArchive::new(Cursor::new(ZIPPED)).unwrap();
            archive.file_names().map(|name| name.unwrap().into_owned()).collect()
        };
        let mut archive = zip::ZipArchive::new(Cursor::new(ZIPPED)).unwrap();
        let mut padded = zip::ZipWriter::new(Cursor::new(Vec::new()));
        for name in &names {
            let mut bytes = Vec::new();
            archive.by_name(name).unwrap().read_to_end(&mut bytes).unwrap();
            if name.contains("/data/") {
                bytes.resize(bytes.len() + 1_000_000, 0);
            }
            padded.start_file(name.as_str(), zip::write::SimpleFileOptions::default()).unwrap();
            padded.write_all(&bytes).unwrap();
        }
        let padded = padded.finish().unwrap().into_inner();
        let checkpoint = Checkpoint::zipped(Path::new("padded.pt"), &padded).unwrap();
        assert!(!checkpoint.storages.is_empty());
        for (key, bytes) in &checkpoint.storages {
            assert!(bytes.len() <= 12 * 4, "storage {key} has {} bytes", bytes.len());
        }
        assert_eq!(read_bytes(&padded).unwrap(), read_bytes(ZIPPED).unwrap());
    }

    fn zip_with(parts: &[(&str, &[u8])], method: zip::CompressionMethod) -> Vec<u8> {
        let mut archive = zip::ZipWriter::new(Cursor::new(Vec::new()));
        for (name, bytes) in parts {
            let options = zip::write::SimpleFileOptions::default().compression_method(method);
            archive.start_file(*name, options).unwrap();
            archive.write_all(bytes).unwrap();
        }
        archive.finish().unwrap().into_inner()
    }

    #[test]
    fn a_list_that_holds_itself_many_times_is_walked_once() {
        // 300 references to itself once took 7 GB; these 100,000 would take more than any machine has.
        let pickle = [b"\x80\x02]q\x00".as_slice(), &b"h\x00a".repeat(100_000), b"."].concat();
        let bomb = zip_with(&[("archive/data.pkl", &pickle)], zip::CompressionMethod::Stored);
        let error = read_bytes(&bomb).unwrap_err().to_string();
        assert!(error.contains("no names at all"), "{error}");
        // Lists that hold the list before them ten times: n of them have 10ⁿ paths.
        let mut nested = b"\x80\x02]q\x00".to_vec();
        for level in 0..200u8 {
            nested.extend(b"]q");
            nested.push(level + 1);
            for _ in 0..10 {
                nested.extend([b'h', level, b'a']);
            }
        }
        nested.push(b'.');
        let bomb = zip_with(&[("archive/data.pkl", &nested)], zip::CompressionMethod::Stored);
        assert!(read_bytes(&bomb).is_err());
    }

    #[test]
    fn a_long_shape_that_many_tensors_share_is_refused() {
        let mut pickle = b"\x80\x02ctorch._utils\n_rebuild_tensor_v2\nq\x00(Nq\x02K\x00(".to_vec();
        pickle.extend(b"K\x01".repeat(30_000));
        pickle.extend(b"tq\x03h\x03tq\x01");
        pickle.extend(b"]");
        pickle.extend(b"h\x00h\x01Ra".repeat(30_000));
        pickle.extend(b".");
        let bomb = zip_with(&[("archive/data.pkl", &pickle)], zip::CompressionMethod::Stored);
        assert!(read_bytes(&bomb).is_err());
    }

    #[test]
    fn a_zip_file_that_unpacks_to_far_more_than_its_size_is_refused() {
        let pickle = [b"\x80\x02".as_slice(), &b"N0".repeat(5 << 20), b"N."].concat();
        let bomb = zip_with(&[("archive/data.pkl", &pickle)], zip::CompressionMethod::Deflated);
        assert!(bomb.len() < pickle.len() / 100);
        let error = read_bytes(&bomb).unwrap_err().to_string();
        assert!(error.contains("at most 64 times its size"), "{error}");
    }

    #[test]
    fn a_checkpoint_cut_off_anywhere_is_refused_and_never_panics() {
        for bytes in [LEGACY, ZIPPED] {
            for len in 0..bytes.len() {
                assert!(read_bytes(&bytes[..len]).is_err(), "{len} of {} bytes", bytes.len());
            }
        }
    }

    #[test]
    fn a_checkpoint_with_a_changed_byte_never_panics() {
        for bytes in [LEGACY, ZIPPED] {
            for at in 0..bytes.len() {
                let mut changed = bytes.to_vec();
                changed[at] ^= 0x41;
                let _ = read_bytes(&changed);
            }
        }
    }
}
