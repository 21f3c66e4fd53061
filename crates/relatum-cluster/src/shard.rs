//! Writes the vectors of a model as shards.

use std::io::Write;
use std::sync::Arc;

use datafusion::arrow::array::{ArrayRef, Float32Array, RecordBatch, StringArray, UInt32Array, UInt64Array};
use datafusion::parquet::arrow::ArrowWriter;
use datafusion::parquet::basic::{Compression, Encoding};
use datafusion::parquet::errors::ParquetError;
use datafusion::parquet::file::metadata::KeyValue;
use datafusion::parquet::file::properties::{EnabledStatistics, WriterProperties};
use datafusion::parquet::schema::types::ColumnPath;
use relatum::graph::EntityId;
use relatum::model::{BLOCK, Model, Precision};
use relatum::project::ModelFolder;
use relatum::{Engine, Error};
use xxhash_rust::xxh3::Xxh3;

use crate::ClusterError;
use crate::layout::{self, COLUMNS, Vectors, column, schema};
use crate::manifest::{KEY, Manifest, ModelIdentity, Shard};
use crate::place::{Place, Upload, part};

/// Entities of a group of rows: whole blocks, so that a file that is read in parts is read in whole blocks.
const GROUP: usize = 16 * BLOCK;

/// Splits a model and tells after each shard how many entities are written. The list of the shards is written last:
/// what ends early leaves a place without shards.
pub async fn split(
    engine: &Engine,
    model: Option<&str>,
    place: &Place,
    shards: usize,
    vectors: Vectors,
    mut progress: impl FnMut(usize, usize),
) -> Result<Manifest, ClusterError> {
    let identity = ModelIdentity::of(engine, model)?;
    let open = engine.model(Some(&identity.name))?;
    // Opening a model maps its values and reads none: damage would be copied into shards that look whole.
    let folder = ModelFolder::of(engine.project(), &identity.name).map_err(Error::from)?;
    folder.check(engine.project()).map_err(Error::from)?;
    let planned = ranges(identity.entities, shards).len();
    let earlier = match Manifest::find(place).await {
        Ok(Some(earlier)) => earlier.shards.len(),
        _ => 0,
    };
    // A list of shards that are about to be replaced would describe neither the old nor the new ones.
    place.remove(crate::manifest::FILE).await?;
    let mut work = Work { engine, model: &open.model, identity: &identity, vectors, content: 0 };
    let mut written = Vec::new();
    let outcome = work.write_all(place, shards, &mut written, &mut progress).await;
    // Files of earlier shards, or of these if they are not all there, describe nothing any more.
    let kept = if outcome.is_ok() { written.len() } else { 0 };
    let cleaned = place.remove_parts(kept..planned.max(earlier)).await;
    outcome?;
    cleaned?;
    let content = work.content;
    let manifest = Manifest::new(identity, vectors, written, content);
    manifest.write(place).await?;
    Ok(manifest)
}

/// Removes what a run that was stopped has left of so many shards, if it had begun to write them.
pub async fn clean(place: &Place, shards: usize) -> Result<(), ClusterError> {
    if place.read(crate::manifest::FILE).await?.is_none() {
        place.remove_parts(0..shards).await?;
    }
    Ok(())
}

/// The entities of each shard: whole blocks, as equally many as can be.
pub fn ranges(entities: usize, shards: usize) -> Vec<std::ops::Range<usize>> {
    let blocks = entities.div_ceil(BLOCK);
    let shards = shards.clamp(1, blocks.max(1));
    let start = |shard: usize| (blocks * shard / shards * BLOCK).min(entities);
    (0..shards).map(|shard| start(shard)..start(shard + 1)).collect()
}

struct Work<'a> {
    engine: &'a Engine,
    model: &'a Model,
    identity: &'a ModelIdentity,
    vectors: Vectors,
    /// The sum of the hashes of the blocks that are written.
    content: u64,
}

impl Work<'_> {
    /// All shards, and after each of them how far it is.
    async fn write_all(
        &mut self,
        place: &Place,
        shards: usize,
        written: &mut Vec<Shard>,
        progress: &mut impl FnMut(usize, usize),
    ) -> Result<(), ClusterError> {
        let entities = self.identity.entities;
        for (index, range) in ranges(entities, shards).into_iter().enumerate() {
            let file = part(index);
            let upload = place.upload(&file).await?;
            let (bytes, xxh3) = self.write(upload, &place.shown(&file), range.clone()).await?;
            progress(range.end, entities);
            written.push(Shard { file, start: range.start, end: range.end, bytes, xxh3 });
        }
        Ok(())
    }

    /// One shard; returns its length and checksum.
    async fn write(
        &mut self,
        mut upload: Upload,
        file: &str,
        range: std::ops::Range<usize>,
    ) -> Result<(u64, String), ClusterError> {
        let outcome = self.write_into(&mut upload, file, range).await;
        match outcome {
            Ok(written) => upload.finish().await.map(|()| written),
            Err(error) => {
                upload.abort().await;
                Err(error)
            }
        }
    }

    async fn write_into(
        &mut self,
        upload: &mut Upload,
        file: &str,
        range: std::ops::Range<usize>,
    ) -> Result<(u64, String), ClusterError> {
        let failed = |source: ParquetError| ClusterError::Write { file: file.to_owned(), source };
        let ModelIdentity { precision, width, .. } = *self.identity;
        let columns = schema(precision, width, self.vectors);
        let mut writer =
            ArrowWriter::try_new(Sink::default(), columns, Some(self.properties())).map_err(failed)?;
        for start in range.clone().step_by(BLOCK) {
            let batch = self.batch(start..(start + BLOCK).min(range.end))?;
            writer.write(&batch).map_err(failed)?;
            if writer.inner().waiting.len() > 1 << 20 {
                upload.write(&std::mem::take(&mut writer.inner_mut().waiting)).await?;
            }
        }
        let sink = writer.into_inner().map_err(failed)?;
        upload.write(&sink.waiting).await?;
        Ok((sink.bytes, format!("{:016x}", sink.hash.digest())))
    }

    fn batch(&mut self, range: std::ops::Range<usize>) -> Result<RecordBatch, ClusterError> {
        let ModelIdentity { precision, width, ref name, .. } = *self.identity;
        let (values, scales) = self.model.stored_rows(range.clone());
        if let Some(at) = first_not_finite(values, scales, precision, width) {
            let entity = self.engine.graph().entities.name(EntityId((range.start + at) as u32));
            return Err(ClusterError::Model(format!(
                "the model `{name}` has a value that is NaN or infinite at the entity `{entity}`: train or import it again"
            )));
        }
        self.content = self.content.wrapping_add(layout::hash(range.start, values, scales));
        let ids = || range.clone().map(|id| id as u32);
        let names = ids().map(|id| self.engine.graph().entities.name(EntityId(id)));
        let whole = || ClusterError::Model(format!("the vectors of the model `{name}` are not whole"));
        let mut columns: Vec<ArrayRef> = vec![
            Arc::new(UInt32Array::from_iter_values(ids())),
            Arc::new(StringArray::from_iter_values(names)),
            Arc::new(UInt64Array::from_value(self.identity.tag(), range.len())),
            column(values, precision, width, self.vectors).ok_or_else(whole)?,
        ];
        if precision == Precision::Int8 {
            columns.push(Arc::new(Float32Array::from(scales.to_vec())));
        }
        RecordBatch::try_new(schema(precision, width, self.vectors), columns)
            .map_err(|error| ClusterError::Model(error.to_string()))
    }

    /// Vectors do not compress, and no statistics of them are of use; plain values are the fastest to read.
    fn properties(&self) -> WriterProperties {
        let mut properties = WriterProperties::builder()
            .set_max_row_group_row_count(Some(GROUP))
            .set_compression(Compression::UNCOMPRESSED)
            .set_statistics_enabled(EnabledStatistics::None)
            .set_encoding(Encoding::PLAIN)
            .set_dictionary_enabled(false)
            .set_key_value_metadata(Some(vec![KeyValue::new(
                KEY.to_owned(),
                self.identity.checksum.clone(),
            )]));
        // The same number in every row takes no place in a dictionary.
        properties = properties.set_column_dictionary_enabled(ColumnPath::from(COLUMNS[1]), true);
        properties.build()
    }
}

/// The first row with a value that is no finite number.
fn first_not_finite(values: &[u8], scales: &[f32], precision: Precision, width: usize) -> Option<usize> {
    let wrong_exponent = |bytes: &[u8]| match precision {
        Precision::F32 => <[u8; 4]>::try_from(bytes).is_ok_and(|it| !f32::from_le_bytes(it).is_finite()),
        Precision::F16 => bytes[1] & 0x7c == 0x7c,
        Precision::Int8 => false,
    };
    if precision == Precision::Int8 {
        return scales.iter().position(|scale| !scale.is_finite());
    }
    let size = layout::bytes_of(precision);
    values.chunks_exact(size).position(wrong_exponent).map(|at| at / width)
}

/// What was written and not yet sent, and the checksum of all.
#[derive(Default)]
struct Sink {
    waiting: Vec<u8>,
    hash: Xxh3,
    bytes: u64,
}

impl Write for Sink {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.waiting.extend_from_slice(bytes);
        self.hash.update(bytes);
        self.bytes += bytes.len() as u64;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shards_are_whole_blocks_and_leave_nothing_out() {
        for entities in [1, BLOCK - 1, BLOCK, BLOCK + 1, 10 * BLOCK + 3] {
            for shards in [1, 2, 3, 7, 100] {
                let ranges = ranges(entities, shards);
                assert_eq!((ranges[0].start, ranges[ranges.len() - 1].end), (0, entities));
                assert!(ranges.iter().all(|range| !range.is_empty() && range.start % BLOCK == 0));
                assert!(ranges.windows(2).all(|pair| pair[0].end == pair[1].start));
                assert_eq!(ranges.len(), shards.min(entities.div_ceil(BLOCK)));
            }
        }
    }

    #[test]
    fn a_value_that_is_no_number_is_found() {
        let f32s: Vec<u8> = [1.0f32, 2.0, 3.0, f32::NAN].iter().flat_map(|it| it.to_le_bytes()).collect();
        assert_eq!(first_not_finite(&f32s, &[], Precision::F32, 2), Some(1));
        assert_eq!(first_not_finite(&f32s[..12], &[], Precision::F32, 1), None);
        assert_eq!(first_not_finite(&[0, 0x3c, 0, 0x7c], &[], Precision::F16, 1), Some(1));
        assert_eq!(first_not_finite(&[1, 2], &[1.0, f32::INFINITY], Precision::Int8, 1), Some(1));
    }
}
