//! Arrays of numpy.

use std::fs;
use std::io::Write;
use std::path::Path;

use super::ImportError;
use super::tables::Matrix;
use crate::store::{StoreError, write_atomically};

const MAGIC: &[u8] = b"\x93NUMPY";
const EXPECTED: &str = "a matrix of float32 or float64 (little-endian), row after row";

pub(super) fn read(path: &Path) -> Result<Matrix, ImportError> {
    let bytes = fs::read(path).map_err(ImportError::io("read", path))?;
    let (header, values) = split_header(&bytes)
        .ok_or_else(|| ImportError::unexpected(path, "a .npy file", "another beginning"))?;
    let unexpected = || ImportError::unexpected(path, EXPECTED, header.trim_end());
    if field(header, "fortran_order") != Some("False") {
        return Err(unexpected());
    }
    let shape = field(header, "shape").and_then(|shape| shape.strip_prefix('('));
    let shape =
        shape.map(|shape| shape.split(',').filter_map(|n| n.trim().parse().ok()).collect::<Vec<usize>>());
    let Some(&[rows, columns]) = shape.as_deref() else {
        return Err(unexpected());
    };
    let values: Vec<f32> = match field(header, "descr") {
        Some("'<f4'") => values.as_chunks::<4>().0.iter().map(|b| f32::from_le_bytes(*b)).collect(),
        Some("'<f8'") => values.as_chunks::<8>().0.iter().map(|b| f64::from_le_bytes(*b) as f32).collect(),
        _ => return Err(unexpected()),
    };
    if rows.checked_mul(columns) != Some(values.len()) {
        let expected = format!("{rows} × {columns} values");
        return Err(ImportError::unexpected(path, expected, format!("{} values", values.len())));
    }
    Ok(Matrix { rows, columns, values })
}

/// The header's text, a Python dictionary, and the bytes after it.
fn split_header(bytes: &[u8]) -> Option<(&str, &[u8])> {
    let rest = bytes.strip_prefix(MAGIC)?;
    let (&version, rest) = (rest.first()?, rest.get(2..)?);
    // Version 1 has a length of two bytes, later ones of four.
    let (len, rest) = if version == 1 {
        let (len, rest) = rest.split_first_chunk::<2>()?;
        (usize::from(u16::from_le_bytes(*len)), rest)
    } else {
        let (len, rest) = rest.split_first_chunk::<4>()?;
        (u32::from_le_bytes(*len) as usize, rest)
    };
    let (header, values) = rest.split_at_checked(len)?;
    Some((std::str::from_utf8(header).ok()?, values))
}

/// The value of a key of the header: up to the comma that ends it, a tuple up to its bracket.
fn field<'a>(header: &'a str, key: &str) -> Option<&'a str> {
    let (_, after) = header.split_once(&format!("'{key}':"))?;
    let after = after.trim_start();
    let end = if after.starts_with('(') { after.find(')')? } else { after.find([',', '}'])? };
    Some(after[..end].trim_end())
}

/// Writes a matrix of `columns` columns as numpy writes it.
pub fn write_npy(path: &Path, columns: usize, values: &[f32]) -> Result<(), StoreError> {
    let rows = values.len().checked_div(columns).unwrap_or(0);
    let mut header = format!("{{'descr': '<f4', 'fortran_order': False, 'shape': ({rows}, {columns}), }}");
    // Ten bytes stand before the header; with its newline it ends at a multiple of 64.
    let end = (10 + header.len() + 1).next_multiple_of(64);
    header.push_str(&" ".repeat(end - 10 - header.len() - 1));
    header.push('\n');
    write_atomically(path, |file| {
        file.write_all(MAGIC)?;
        file.write_all(&[1, 0])?;
        file.write_all(&(header.len() as u16).to_le_bytes())?;
        file.write_all(header.as_bytes())?;
        file.write_all(bytemuck::cast_slice(values))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.npy");
        write_npy(&path, 3, &[1.0, 2.0, 3.0, 4.0, 5.0, 6.5]).unwrap();
        let matrix = read(&path).unwrap();
        assert_eq!(matrix, Matrix { rows: 2, columns: 3, values: vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.5] });
        assert_eq!(std::fs::read(&path).unwrap().len(), 128 + 24);
    }

    #[test]
    fn a_file_that_is_cut_or_foreign_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.npy");
        write_npy(&path, 3, &[1.0, 2.0, 3.0]).unwrap();
        let whole = std::fs::read(&path).unwrap();
        for bytes in [&whole[..whole.len() - 2], &whole[..20], b"not numpy"] {
            std::fs::write(&path, bytes).unwrap();
            assert!(read(&path).is_err());
        }
    }
}
