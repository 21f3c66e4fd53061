//! The vectors of entities, in full or in reduced precision.

use std::borrow::Cow;
use std::ops::Range;

use half::f16;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::column::Column;
use crate::kernels::{ByteRows, HalfRows, Source, View, byte_scores, stream_apart, to_bytes};

/// How the numbers of entities are stored.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Precision {
    /// 32 bits a number, as they are trained.
    #[default]
    F32,
    /// 16 bits a number: half the memory.
    F16,
    /// 8 bits a number and a scale for each entity: a quarter of the memory. Query vectors are rounded to 8 bits too,
    /// and sums are exact integers, so that a score has the same bits on every machine.
    Int8,
}

impl Precision {
    /// Every precision, the widest first.
    pub const ALL: [Self; 3] = [Self::F32, Self::F16, Self::Int8];

    /// The name in options and files.
    pub fn name(self) -> &'static str {
        match self {
            Self::F32 => "f32",
            Self::F16 => "f16",
            Self::Int8 => "int8",
        }
    }

    /// The precision of a name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|precision| precision.name() == name)
    }

    /// Whether this is the precision of training.
    pub fn is_full(&self) -> bool {
        *self == Self::F32
    }
}

/// One row for each entity.
#[derive(Clone, Debug)]
pub(crate) enum Table {
    F32(Column<f32>),
    F16(Column<f16>),
    Int8 { values: Column<i8>, scales: Column<f32> },
}

impl Table {
    /// The number of values.
    pub(crate) fn len(&self) -> usize {
        match self {
            Self::F32(values) => values.len(),
            Self::F16(values) => values.len(),
            Self::Int8 { values, .. } => values.len(),
        }
    }

    pub(crate) fn precision(&self) -> Precision {
        match self {
            Self::F32(_) => Precision::F32,
            Self::F16(_) => Precision::F16,
            Self::Int8 { .. } => Precision::Int8,
        }
    }

    /// Whether it consists of whole rows.
    pub(super) fn is_whole(&self, width: usize) -> bool {
        let scaled = match self {
            Self::Int8 { values, scales } => values.len() == scales.len() * width,
            _ => true,
        };
        width > 0 && self.len().is_multiple_of(width) && scaled
    }

    /// The values of some rows as f32: those that are stored, or made of them.
    pub(super) fn rows(&self, rows: Range<usize>, width: usize) -> Cow<'_, [f32]> {
        let at = rows.start * width..rows.end * width;
        match self {
            Self::F32(values) => Cow::Borrowed(&values[at]),
            Self::F16(values) => values[at].iter().map(|value| value.to_f32()).collect(),
            Self::Int8 { values, scales } => {
                let rows = values[at].chunks_exact(width).zip(&scales[rows]);
                rows.flat_map(|(row, &scale)| row.iter().map(move |&byte| scale * f32::from(byte))).collect()
            }
        }
    }

    /// Some rows, one after another.
    pub(super) fn gathered(&self, rows: impl Iterator<Item = usize> + Clone, width: usize) -> Self {
        fn copied<T: bytemuck::Pod>(
            values: &[T],
            rows: impl Iterator<Item = usize>,
            width: usize,
        ) -> Column<T> {
            rows.flat_map(|row| values[row * width..][..width].iter().copied()).collect::<Vec<T>>().into()
        }
        match self {
            Self::F32(values) => Self::F32(copied(values, rows, width)),
            Self::F16(values) => Self::F16(copied(values, rows, width)),
            Self::Int8 { values, scales } => {
                Self::Int8 { values: copied(values, rows.clone(), width), scales: copied(scales, rows, 1) }
            }
        }
    }

    /// The same rows in another precision; `None` if a value is outside its range or is no number.
    pub(super) fn rounded(values: &[f32], width: usize, to: Precision) -> Option<Self> {
        Some(match to {
            Precision::F32 => Self::F32(values.to_vec().into()),
            Precision::F16 => {
                let rounded: Vec<f16> = values.iter().map(|&value| f16::from_f32(value)).collect();
                if !rounded.iter().all(|value| value.is_finite()) {
                    return None;
                }
                Self::F16(rounded.into())
            }
            Precision::Int8 => {
                let mut bytes = vec![0; values.len()];
                let rows = values.chunks_exact(width).zip(bytes.chunks_exact_mut(width));
                let scales: Vec<f32> = rows.map(|(row, bytes)| to_bytes(row, bytes)).collect();
                if !scales.iter().all(|scale| scale.is_finite()) {
                    return None;
                }
                Self::Int8 { values: bytes.into(), scales: scales.into() }
            }
        })
    }

    /// The columns of `tail` as candidates for inner products.
    pub(super) fn candidates(&self, width: usize, tail: Range<usize>) -> Candidates<'_> {
        match self {
            Self::F32(values) => {
                let rows = values.len().checked_div(width).unwrap_or(0);
                Candidates::F32(View::new(values, rows, width).columns(tail))
            }
            Self::F16(values) => Candidates::F16(HalfRows::new(values, width, tail)),
            Self::Int8 { values, scales } => Candidates::Int8(ByteRows::new(values, scales, width, tail)),
        }
    }

    /// What is stored, byte for byte: by it models are told apart.
    pub(crate) fn stored(&self) -> [&[u8]; 2] {
        match self {
            Self::F32(values) => [bytemuck::cast_slice(values), &[]],
            Self::F16(values) => [bytemuck::cast_slice(values), &[]],
            Self::Int8 { values, scales } => [bytemuck::cast_slice(values), bytemuck::cast_slice(scales)],
        }
    }
}

/// Candidate vectors in the precision that they are stored in.
#[derive(Clone, Copy, Debug)]
pub(super) enum Candidates<'a> {
    F32(View<'a>),
    F16(HalfRows<'a>),
    Int8(ByteRows<'a>),
}

impl Candidates<'_> {
    /// The numbers of candidates and of values.
    pub(super) fn size(self) -> (usize, usize) {
        match self {
            Self::F32(rows) => rows.size(),
            Self::F16(rows) => rows.size(),
            Self::Int8(rows) => rows.size(),
        }
    }

    /// Some of the candidates.
    pub(super) fn rows(self, range: Range<usize>) -> Self {
        match self {
            Self::F32(rows) => Self::F32(rows.rows(range)),
            Self::F16(rows) => Self::F16(rows.rows(range)),
            Self::Int8(rows) => Self::Int8(rows.rows(range)),
        }
    }

    /// The inner products of each query with all candidates, into rows that lie apart.
    pub(super) fn stream_apart(self, out: Vec<&mut [f32]>, queries: &[f32]) {
        match self {
            Self::F32(rows) => stream_apart(out, queries, rows),
            Self::F16(rows) => stream_apart(out, queries, rows),
            Self::Int8(rows) => byte_scores(out, queries, rows),
        }
    }

    /// The same into rows that follow each other.
    pub(super) fn stream(self, out: &mut [f32], queries: &[f32]) {
        let (count, _) = self.size();
        if count > 0 {
            self.stream_apart(out.chunks_exact_mut(count).collect(), queries);
        }
    }
}
