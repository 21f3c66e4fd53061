//! A round: what is asked of every shard, and what comes back.

use std::sync::Arc;

use relatum::model::{LinkPredictor, PartialRow, Precision, predictor};
use serde::{Deserialize, Serialize};

use crate::manifest::Manifest;

/// A batch of query vectors, and what is wanted of them. It travels within the definition of the aggregate, so it is
/// sent once for each task and not repeated for each row of a table.
#[derive(Clone, Debug, PartialEq)]
pub struct Round {
    /// All but the vectors.
    pub head: Head,
    /// The query vectors, one after another.
    pub queries: Vec<f32>,
}

/// What a round says beside its vectors.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Head {
    /// The number by which rows of a shard name their model.
    pub tag: u64,
    /// The link predictor.
    pub predictor: String,
    /// Its rank.
    pub rank: usize,
    /// How vectors are stored.
    pub precision: Precision,
    /// How many entities there are in all.
    pub entities: usize,
    /// The first entity of each shard, and its file, for messages.
    pub shards: Vec<(usize, String)>,
    /// How many rows are asked for.
    pub rows: usize,
    /// How many candidates of each are wanted.
    pub count: usize,
    /// The factor of scores in the sum of exponentials, if that is wanted.
    pub sharpness: Option<f32>,
}

impl Head {
    /// A round over the shards of a list.
    pub fn new(manifest: &Manifest, rows: usize, count: usize, sharpness: Option<f32>) -> Self {
        let model = &manifest.model;
        Self {
            tag: model.tag(),
            predictor: model.predictor.clone(),
            rank: model.rank,
            precision: model.precision,
            entities: model.entities,
            shards: manifest.shards.iter().map(|shard| (shard.start, shard.file.clone())).collect(),
            rows,
            count,
            sharpness,
        }
    }

    /// The link predictor; `None` if there is none of that name.
    pub fn predictor(&self) -> Option<Arc<dyn LinkPredictor>> {
        predictor(&self.predictor, self.rank)
    }

    /// The file that an entity should be in.
    pub fn file_of(&self, entity: usize) -> &str {
        let at = self.shards.partition_point(|(start, _)| *start <= entity);
        at.checked_sub(1).map_or("a shard", |at| &self.shards[at].1)
    }
}

impl Round {
    /// The round as bytes.
    pub fn encode(&self) -> Vec<u8> {
        let head = serde_json::to_vec(&self.head).unwrap_or_default();
        let mut bytes = (head.len() as u64).to_le_bytes().to_vec();
        bytes.extend(head);
        bytes.extend(self.queries.iter().flat_map(|value| value.to_le_bytes()));
        bytes
    }

    /// Reads what [`encode`](Self::encode) wrote.
    pub fn decode(bytes: &[u8]) -> Result<Self, String> {
        let cut = || "the round is cut off".to_owned();
        let (length, rest) = bytes.split_first_chunk::<8>().ok_or_else(cut)?;
        let length = usize::try_from(u64::from_le_bytes(*length)).map_err(|_| cut())?;
        let (head, values) = rest.split_at_checked(length).ok_or_else(cut)?;
        let head: Head = serde_json::from_slice(head).map_err(|error| error.to_string())?;
        let (values, left) = values.as_chunks::<4>();
        let queries: Vec<f32> = values.iter().map(|value| f32::from_le_bytes(*value)).collect();
        let unknown = || {
            format!(
                "this process knows no link predictor `{}`: use the same version everywhere",
                head.predictor
            )
        };
        let width = head.predictor().ok_or_else(unknown)?.tail().len();
        if !left.is_empty() || Some(queries.len()) != head.rows.checked_mul(width) {
            return Err(format!("{} rows of {width} values do not make {} values", head.rows, queries.len()));
        }
        Ok(Self { head, queries })
    }
}

/// What came of a round so far: in one task, or in all that were merged.
#[derive(Clone, Debug, PartialEq)]
pub struct Gathered {
    /// How many tasks have contributed.
    pub tasks: u64,
    /// How many bytes their states had.
    pub bytes: u64,
    /// The sum of the [hashes](crate::layout::hash) of all blocks that were scored, whatever their order.
    pub content: u64,
    /// The rows.
    pub rows: Vec<PartialRow>,
}

impl Gathered {
    /// Nothing yet.
    pub fn new(head: &Head) -> Self {
        let rows = (0..head.rows).map(|_| PartialRow::new(head.count)).collect();
        Self { tasks: 0, bytes: 0, content: 0, rows }
    }

    /// The state as bytes.
    pub fn encode(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        for number in [self.tasks, self.bytes, self.content, self.rows.len() as u64] {
            bytes.extend(number.to_le_bytes());
        }
        self.rows.iter().for_each(|row| row.write(&mut bytes));
        bytes
    }

    /// Reads what [`encode`](Self::encode) wrote, for so many rows.
    pub fn decode(mut bytes: &[u8], rows: usize) -> Result<Self, String> {
        let foreign = || "what a task returned is not the state of a round".to_owned();
        let mut number = || {
            let (first, rest) = bytes.split_first_chunk::<8>()?;
            bytes = rest;
            Some(u64::from_le_bytes(*first))
        };
        let numbers = (number(), number(), number(), number());
        let (Some(tasks), Some(size), Some(content), Some(found)) = numbers else { return Err(foreign()) };
        if found != rows as u64 {
            return Err(format!("a task returned {found} rows, expected {rows}"));
        }
        let read = (0..rows).map(|_| PartialRow::read(&mut bytes)).collect::<Option<Vec<_>>>();
        let rows = read.filter(|_| bytes.is_empty()).ok_or_else(foreign)?;
        Ok(Self { tasks, bytes: size, content, rows })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn round() -> Round {
        let head = Head {
            tag: u64::MAX,
            predictor: "complex".to_owned(),
            rank: 2,
            precision: Precision::Int8,
            entities: 9000,
            shards: vec![(0, "a".to_owned()), (4096, "b".to_owned())],
            rows: 2,
            count: 5,
            sharpness: Some(0.1),
        };
        Round { head, queries: vec![1.0, -0.0, f32::MIN_POSITIVE, 1e-40, 5.0, 6.0, 7.0, 8.0] }
    }

    #[test]
    fn a_round_travels_to_the_bit_and_what_is_cut_is_refused() {
        let round = round();
        let bytes = round.encode();
        assert_eq!(Round::decode(&bytes).unwrap(), round);
        for cut in [0, 7, 20, bytes.len() - 4, bytes.len() - 1] {
            assert!(Round::decode(&bytes[..cut]).is_err(), "{cut}");
        }
        assert_eq!((round.head.file_of(4095), round.head.file_of(4096)), ("a", "b"));
    }

    #[test]
    fn a_state_travels_and_one_of_another_round_is_refused() {
        let state = Gathered { tasks: 3, bytes: 77, content: u64::MAX - 1, ..Gathered::new(&round().head) };
        let bytes = state.encode();
        assert_eq!(Gathered::decode(&bytes, 2).unwrap(), state);
        assert!(Gathered::decode(&bytes, 3).is_err());
        assert!(Gathered::decode(&bytes[..bytes.len() - 1], 2).is_err());
    }
}
