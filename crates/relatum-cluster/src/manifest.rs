//! The list of the shards of a model.

use datafusion::parquet::file::metadata::{KeyValue, ParquetMetaData, ParquetMetaDataReader};
use relatum::model::{BLOCK, Precision};
use relatum::project::{Glance, ModelFolder};
use relatum::{Engine, Error};
use serde::{Deserialize, Serialize};

use crate::ClusterError;
use crate::layout::Vectors;
use crate::place::Place;

/// The name of the file. It is written last, so that a folder without it has no shards.
pub const FILE: &str = "shards.json";
/// The key under which a shard's own file names the model.
pub const KEY: &str = "relatum.model";
const FORMAT: &str = "relatum-shards";
const VERSION: u32 = 2;
/// The end of a Parquet file that is read to learn what is in it.
const FOOTER: u64 = 256 << 10;

/// Which shards there are, and of what.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Manifest {
    format: String,
    version: u32,
    /// The model that was split.
    pub model: ModelIdentity,
    /// How vectors are stored.
    pub vectors: Vectors,
    /// Shards begin at multiples of this many entities.
    block: usize,
    /// The shards, in the order of their entities.
    pub shards: Vec<Shard>,
    /// The sum of the [hashes](crate::layout::hash) of all blocks: what scoring all of them must add up to.
    content: String,
}

/// What a model must be for its shards to be used.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ModelIdentity {
    /// Its name in the project.
    pub name: String,
    /// The checksum of its values.
    pub checksum: String,
    /// The link predictor.
    pub predictor: String,
    /// Factors of a row.
    pub rank: usize,
    /// How its numbers are stored.
    pub precision: Precision,
    /// How many entities it has.
    pub entities: usize,
    /// How many numbers an entity has.
    pub width: usize,
}

/// What every version of the list begins with.
#[derive(Deserialize)]
struct Kind {
    format: String,
    version: u32,
}

/// One file of vectors.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Shard {
    /// Its name.
    pub file: String,
    /// The first of its entities.
    pub start: usize,
    /// The first entity that is not in it.
    pub end: usize,
    /// Its length.
    pub bytes: u64,
    /// The XXH3 of its content.
    pub xxh3: String,
}

impl ModelIdentity {
    /// The identity of a model of a project. Its header is read, not its values.
    pub fn of(engine: &Engine, name: Option<&str>) -> Result<Self, ClusterError> {
        let name = name.map_or_else(|| engine.default_model(), str::to_owned);
        let open = engine.model(Some(&name))?;
        let glance = ModelFolder::of(engine.project(), &name).and_then(|folder| folder.glance());
        let Glance { checksum, .. } = glance.map_err(Error::from)?;
        let missing = || {
            format!("the model `{name}` has no checksum: write it again with `relatum quantize` or train it")
        };
        Ok(Self {
            checksum: checksum.ok_or_else(|| ClusterError::Model(missing()))?,
            predictor: open.model.predictor().name().to_owned(),
            rank: open.model.predictor().rank(),
            precision: open.model.precision(),
            entities: open.model.entity_count(),
            width: open.model.predictor().entity_width(),
            name,
        })
    }

    /// The checksum as a number, which every row of a shard carries: so a shard of another model is recognised also
    /// where only an executor can see it.
    pub fn tag(&self) -> u64 {
        u64::from_str_radix(&self.checksum, 16)
            .unwrap_or_else(|_| xxhash_rust::xxh3::xxh3_64(self.checksum.as_bytes()))
    }
}

impl Manifest {
    /// The list of the given shards, the hashes of whose blocks have the sum `content`.
    pub fn new(model: ModelIdentity, vectors: Vectors, shards: Vec<Shard>, content: u64) -> Self {
        let (format, content) = (FORMAT.to_owned(), format!("{content:016x}"));
        Self { format, version: VERSION, model, vectors, block: BLOCK, shards, content }
    }

    /// The sum of the hashes of all blocks.
    pub fn content(&self) -> u64 {
        u64::from_str_radix(&self.content, 16).unwrap_or(0)
    }

    /// Reads the list at a place; `None` if there is none.
    pub async fn find(place: &Place) -> Result<Option<Self>, ClusterError> {
        let Some(bytes) = place.read(FILE).await? else { return Ok(None) };
        let refused = |why: String| ClusterError::Manifest { file: place.shown(FILE), why };
        // Another version has other fields, so that is looked at first.
        let kind: Kind = serde_json::from_slice(&bytes).map_err(|error| refused(error.to_string()))?;
        if (kind.format.as_str(), kind.version) != (FORMAT, VERSION) {
            let Kind { format, version } = kind;
            return Err(refused(format!("it is `{format}` {version}, expected `{FORMAT}` {VERSION}")));
        }
        let manifest: Self = serde_json::from_slice(&bytes).map_err(|error| refused(error.to_string()))?;
        let mut next = 0;
        for shard in &manifest.shards {
            let named = !shard.file.contains(['/', '\\']) && !shard.file.is_empty();
            if shard.start != next || shard.end <= shard.start || !shard.start.is_multiple_of(BLOCK) || !named
            {
                return Err(refused(format!("the entities of {} do not follow those before", shard.file)));
            }
            next = shard.end;
        }
        if next != manifest.model.entities || manifest.block != BLOCK {
            let entities = manifest.model.entities;
            return Err(refused(format!(
                "its shards hold {next} of {entities} entities in blocks of {}",
                manifest.block
            )));
        }
        Ok(Some(manifest))
    }

    /// The same; that there is none is an error.
    pub async fn open(place: &Place) -> Result<Self, ClusterError> {
        Self::find(place).await?.ok_or_else(|| ClusterError::NoShards { place: place.shown("") })
    }

    /// Writes the list.
    pub async fn write(&self, place: &Place) -> Result<(), ClusterError> {
        let text = serde_json::to_string_pretty(self).unwrap_or_default() + "\n";
        place.write(FILE, text.into_bytes()).await
    }

    /// Refuses shards of another model.
    pub fn is_of(&self, place: &Place, expected: &ModelIdentity) -> Result<(), ClusterError> {
        let same = ModelIdentity { name: expected.name.clone(), ..self.model.clone() };
        if same == *expected {
            return Ok(());
        }
        if same.checksum == expected.checksum {
            let why = "what it says of the model is not what the model says of itself".to_owned();
            return Err(ClusterError::Manifest { file: place.shown(FILE), why });
        }
        Err(ClusterError::OtherModel {
            place: place.shown(""),
            expected: expected.name.clone(),
            expected_checksum: expected.checksum.clone(),
            found: self.model.name.clone(),
            found_checksum: self.model.checksum.clone(),
        })
    }

    /// Refuses a shard whose length, entities or model are not those of the list. Only the ends of files are read.
    pub async fn look_at_shards(&self, place: &Place) -> Result<(), ClusterError> {
        for shard in &self.shards {
            let refused = |why: String| ClusterError::Shard { file: place.shown(&shard.file), why };
            let Some((bytes, end)) = place.end_of(&shard.file, FOOTER).await? else {
                return Err(refused("is missing".to_owned()));
            };
            if bytes != shard.bytes {
                return Err(refused(format!("has {bytes} bytes and should have {}", shard.bytes)));
            }
            let footer = footer(place, &shard.file, end).await;
            let footer = footer.map_err(|why| refused(format!("cannot be read ({why})")))?;
            let of = model_of(&footer).unwrap_or("no model");
            if of != self.model.checksum {
                let expected = &self.model.checksum;
                return Err(refused(format!("is of a model with checksum {of}, expected {expected}")));
            }
            let (rows, expected) = (footer.file_metadata().num_rows(), shard.end - shard.start);
            if rows != expected as i64 {
                return Err(refused(format!("has {rows} entities and should have {expected}")));
            }
        }
        Ok(())
    }

    /// Refuses a shard whose content does not match its checksum. Everything is read.
    pub async fn verify(&self, place: &Place) -> Result<(), ClusterError> {
        self.look_at_shards(place).await?;
        for shard in &self.shards {
            let found = place.checksum(&shard.file, shard.bytes).await?;
            if found != shard.xxh3 {
                let why = format!("has the checksum {found} and should have {}", shard.xxh3);
                return Err(ClusterError::Shard { file: place.shown(&shard.file), why });
            }
        }
        Ok(())
    }
}

/// What a Parquet file says of itself at its end: the description, its length, and `PAR1`.
async fn footer(place: &Place, file: &str, mut end: Vec<u8>) -> Result<ParquetMetaData, String> {
    let too_short = || "it does not end as a Parquet file does".to_owned();
    let (_, tail) = end.split_last_chunk::<8>().ok_or_else(too_short)?;
    let [a, b, c, d, b'P', b'A', b'R', b'1'] = *tail else { return Err(too_short()) };
    let length = u32::from_le_bytes([a, b, c, d]) as usize;
    if length + 8 > end.len() {
        let longer = place.end_of(file, length as u64 + 8).await.map_err(|error| error.to_string())?;
        end = longer.ok_or_else(too_short)?.1;
    }
    let begin = end.len().checked_sub(length + 8).ok_or_else(too_short)?;
    ParquetMetaDataReader::decode_metadata(&end[begin..begin + length]).map_err(|error| error.to_string())
}

fn model_of(footer: &ParquetMetaData) -> Option<&str> {
    let pairs: &Vec<KeyValue> = footer.file_metadata().key_value_metadata()?;
    pairs.iter().find(|pair| pair.key == KEY)?.value.as_deref()
}
