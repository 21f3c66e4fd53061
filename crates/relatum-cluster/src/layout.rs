//! How the vectors of entities look in a file and in memory.

use std::sync::Arc;

use datafusion::arrow::array::{
    Array, ArrayRef, AsArray, FixedSizeBinaryArray, FixedSizeListArray, Float16Array, Float32Array, Int8Array,
};
use datafusion::arrow::buffer::{Buffer, ScalarBuffer};
use datafusion::arrow::datatypes::{DataType, Field, Float16Type, Float32Type, Int8Type, Schema, SchemaRef};
use relatum::model::Precision;
use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::Xxh3;

/// The columns of a shard that a round reads, in the order of the aggregate's arguments. The scale is there only
/// where numbers have 8 bits.
pub const COLUMNS: [&str; 4] = ["id", "model", "vector", "scale"];
/// The column of names, for people and other programs.
pub const NAME: &str = "name";

/// How a vector is stored.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Vectors {
    /// As bytes of a fixed length, which are used as they are read.
    #[default]
    Bytes,
    /// As a list of numbers of a fixed length, which any program reads as such, and which Parquet decodes number by
    /// number.
    Lists,
}

/// What there is of a shard's columns.
pub fn schema(precision: Precision, width: usize, vectors: Vectors) -> SchemaRef {
    let vector = match vectors {
        Vectors::Bytes => DataType::FixedSizeBinary((width * bytes_of(precision)) as i32),
        Vectors::Lists => DataType::FixedSizeList(item(precision), width as i32),
    };
    let mut fields = vec![
        Field::new(COLUMNS[0], DataType::UInt32, false),
        Field::new(NAME, DataType::Utf8, false),
        Field::new(COLUMNS[1], DataType::UInt64, false),
        Field::new(COLUMNS[2], vector, false),
    ];
    if precision == Precision::Int8 {
        fields.push(Field::new(COLUMNS[3], DataType::Float32, false));
    }
    Arc::new(Schema::new(fields))
}

/// A hash of the stored numbers of a block that begins at an entity. The writer of shards adds up those of all blocks,
/// and so does every round: so a bit that changed on its way changes no answer unseen.
pub fn hash(start: usize, values: &[u8], scales: &[f32]) -> u64 {
    let mut hash = Xxh3::with_seed(start as u64);
    hash.update(values);
    let scales: Vec<u8> = scales.iter().flat_map(|scale| scale.to_le_bytes()).collect();
    hash.update(&scales);
    hash.digest()
}

/// Stored values as a column of vectors; `None` if they are not whole vectors.
pub fn column(values: &[u8], precision: Precision, width: usize, vectors: Vectors) -> Option<ArrayRef> {
    let buffer = Buffer::from(values);
    if vectors == Vectors::Bytes {
        let array = FixedSizeBinaryArray::try_new((width * bytes_of(precision)) as i32, buffer, None);
        return Some(Arc::new(array.ok()?));
    }
    let len = values.len() / bytes_of(precision);
    // A buffer that is made of a slice is a copy, aligned for every type of number.
    let numbers: ArrayRef = match precision {
        Precision::F32 => Arc::new(Float32Array::new(ScalarBuffer::new(buffer, 0, len), None)),
        Precision::F16 => Arc::new(Float16Array::new(ScalarBuffer::new(buffer, 0, len), None)),
        Precision::Int8 => Arc::new(Int8Array::new(ScalarBuffer::new(buffer, 0, len), None)),
    };
    Some(Arc::new(FixedSizeListArray::try_new(item(precision), width as i32, numbers, None).ok()?))
}

/// The bytes of a column of vectors, one vector after another; `None` if it is of another type or has missing values.
pub fn bytes(column: &dyn Array, precision: Precision, width: usize) -> Option<&[u8]> {
    if column.null_count() > 0 {
        return None;
    }
    if let Some(array) = column.as_fixed_size_binary_opt() {
        let size = width * bytes_of(precision);
        let fits = usize::try_from(array.value_length()) == Ok(size);
        return fits.then(|| array.value_data()).and_then(|all| all.get(..size * array.len()));
    }
    let lists = column.as_fixed_size_list_opt()?;
    if usize::try_from(lists.value_length()) != Ok(width) || lists.values().null_count() > 0 {
        return None;
    }
    let (values, all) = (lists.values(), width * lists.len());
    let buffer = match precision {
        Precision::F32 => values.as_primitive_opt::<Float32Type>()?.values().inner(),
        Precision::F16 => values.as_primitive_opt::<Float16Type>()?.values().inner(),
        Precision::Int8 => values.as_primitive_opt::<Int8Type>()?.values().inner(),
    };
    buffer.as_slice().get(..all * bytes_of(precision))
}

/// How many bytes a number has.
pub fn bytes_of(precision: Precision) -> usize {
    match precision {
        Precision::F32 => 4,
        Precision::F16 => 2,
        Precision::Int8 => 1,
    }
}

fn item(precision: Precision) -> Arc<Field> {
    let number = match precision {
        Precision::F32 => DataType::Float32,
        Precision::F16 => DataType::Float16,
        Precision::Int8 => DataType::Int8,
    };
    Arc::new(Field::new("item", number, false))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn vectors_come_back_as_they_were_stored_also_from_a_slice() {
        for (precision, width) in [(Precision::F32, 3), (Precision::F16, 5), (Precision::Int8, 7)] {
            let size = width * bytes_of(precision);
            let stored: Vec<u8> = (0..4 * size).map(|at| at as u8).collect();
            for vectors in [Vectors::Bytes, Vectors::Lists] {
                let array = column(&stored, precision, width, vectors).unwrap();
                let field = schema(precision, width, vectors).field_with_name(COLUMNS[2]).unwrap().clone();
                assert_eq!(array.data_type(), field.data_type());
                assert_eq!(bytes(&*array, precision, width), Some(&*stored));
                let slice = array.slice(1, 2);
                assert_eq!(bytes(&*slice, precision, width), Some(&stored[size..3 * size]));
                assert_eq!(bytes(&*array, precision, width + 1), None);
            }
        }
    }
}
