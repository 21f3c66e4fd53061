//! Arrays of numpy.

use std::fs::File;
use std::io::{BufReader, Write};
use std::path::Path;

use npyz::{NpyFile, Order, TypeStr};

use super::ImportError;
use super::tables::Matrix;
use crate::store::{StoreError, write_atomically};

pub(super) fn read(path: &Path) -> Result<Matrix, ImportError> {
    let file = File::open(path).map_err(ImportError::io("read", path))?;
    let npy = NpyFile::new(BufReader::new(file))
        .map_err(|error| ImportError::unexpected(path, "a .npy file", error.to_string()))?;
    let expected = "a matrix of float32 or float64, row after row";
    let &[rows, columns] = npy.shape() else {
        return Err(ImportError::unexpected(path, expected, format!("shape {:?}", npy.shape())));
    };
    if npy.order() != Order::C {
        return Err(ImportError::unexpected(path, expected, "columns one after another (order='F')"));
    }
    let kind = match npy.dtype() {
        npyz::DType::Plain(kind) => kind.to_string(),
        other => other.descr(),
    };
    let damaged =
        |error: std::io::Error| ImportError::unexpected(path, "all of the values", error.to_string());
    let values: Vec<f32> = if is(&kind, "f4") {
        npy.into_vec().map_err(damaged)?
    } else if is(&kind, "f8") {
        let values: Vec<f64> = npy.into_vec().map_err(damaged)?;
        values.into_iter().map(|value| value as f32).collect()
    } else {
        return Err(ImportError::unexpected(path, expected, format!("values of type {kind}")));
    };
    Ok(Matrix { rows: rows as usize, columns: columns as usize, values })
}

/// Whether a type string such as `<f4` means this type, in either byte order.
fn is(kind: &str, wanted: &str) -> bool {
    kind.trim_matches('\'').parse::<TypeStr>().is_ok_and(|kind| kind.to_string().ends_with(wanted))
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
        file.write_all(b"\x93NUMPY\x01\x00")?;
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
