//! The user-defined aggregate of a round: scores every entity of a shard, and keeps little of it.

use std::hash::{Hash, Hasher};
use std::sync::Arc;

use datafusion::arrow::array::{ArrayRef, AsArray};
use datafusion::arrow::datatypes::{DataType, Float32Type, UInt32Type, UInt64Type};
use datafusion::common::Result;
use datafusion::error::DataFusionError;
use datafusion::logical_expr::function::AccumulatorArgs;
use datafusion::logical_expr::{Accumulator, AggregateUDF, AggregateUDFImpl, Signature, Volatility};
use datafusion::scalar::ScalarValue;
use relatum::model::{BLOCK, CandidateBlock, LinkPredictor, Precision};

use crate::layout;
use crate::round::{Gathered, Round};

/// The name of the aggregate in plans.
pub const NAME: &str = "relatum_best_candidates";
/// What errors of the aggregate begin with. They say that data are wrong, so that a round that meets one is not tried
/// again.
pub const REFUSED: &str = "relatum refuses:";

/// The best candidates of a batch of rows and the sums over all, with the batch in it.
#[derive(Debug)]
pub struct BestCandidates {
    round: Arc<[u8]>,
    signature: Signature,
}

impl BestCandidates {
    /// The aggregate of a round.
    pub fn of(round: impl Into<Arc<[u8]>>) -> AggregateUDF {
        let signature = Signature::variadic_any(Volatility::Immutable);
        AggregateUDF::from(Self { round: round.into(), signature })
    }

    /// The round as it is sent.
    pub fn round(&self) -> &[u8] {
        &self.round
    }
}

impl PartialEq for BestCandidates {
    fn eq(&self, other: &Self) -> bool {
        self.round == other.round
    }
}

impl Eq for BestCandidates {}

impl Hash for BestCandidates {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.round.hash(state);
    }
}

impl AggregateUDFImpl for BestCandidates {
    fn name(&self) -> &'static str {
        NAME
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(DataType::LargeBinary)
    }

    fn accumulator(&self, _: AccumulatorArgs<'_>) -> Result<Box<dyn Accumulator>> {
        let round = Round::decode(&self.round).map_err(refused)?;
        Ok(Box::new(Scan::new(round)?))
    }
}

/// One task's scan over entities.
#[derive(Debug)]
struct Scan {
    predictor: Arc<dyn LinkPredictor>,
    round: Round,
    gathered: Gathered,
    /// Entities of a block that is not complete yet.
    open: Block,
}

#[derive(Debug, Default)]
struct Block {
    start: usize,
    len: usize,
    values: Vec<u8>,
    scales: Vec<f32>,
}

impl Scan {
    fn new(round: Round) -> Result<Self> {
        let predictor = round.head.predictor().ok_or_else(|| refused("the link predictor is unknown"))?;
        let gathered = Gathered::new(&round.head);
        Ok(Self { predictor, round, gathered, open: Block::default() })
    }

    fn foreign(&self, entity: usize, why: &str) -> DataFusionError {
        refused(format!(
            "the shard {} {why}: copy it again, or make the shards again",
            self.round.head.file_of(entity)
        ))
    }

    /// Entities that follow each other, with their stored values.
    fn add(&mut self, first: usize, values: &[u8], scales: &[f32]) -> Result<()> {
        let size = self.predictor.entity_width() * layout::bytes_of(self.round.head.precision);
        let mut at = 0;
        let len = values.len() / size;
        while at < len {
            let entity = first + at;
            let until = (entity / BLOCK + 1) * BLOCK;
            let take = (until - entity).min(len - at);
            let part =
                (&values[at * size..(at + take) * size], scales.get(at..at + take).unwrap_or_default());
            at += take;
            if self.open.len == 0 && take == BLOCK {
                // A whole block is scored where it lies.
                self.score(entity, part)?;
                continue;
            }
            if self.open.len == 0 {
                self.open.start = entity;
            }
            if self.open.start + self.open.len != entity || !self.open.start.is_multiple_of(BLOCK) {
                return Err(self.foreign(entity, "does not hold its entities in order"));
            }
            self.open.values.extend_from_slice(part.0);
            self.open.scales.extend_from_slice(part.1);
            self.open.len += take;
            if self.open.len == BLOCK {
                self.close()?;
            }
        }
        Ok(())
    }

    /// Scores the block that is open, if one is.
    fn close(&mut self) -> Result<()> {
        let block = std::mem::take(&mut self.open);
        if block.len == 0 {
            return Ok(());
        }
        let end = block.start + block.len;
        if block.len < BLOCK && end != self.round.head.entities {
            return Err(self.foreign(end, "ends within a block"));
        }
        self.score(block.start, (&block.values, &block.scales))
    }

    fn score(&mut self, start: usize, stored: (&[u8], &[f32])) -> Result<()> {
        let head = &self.round.head;
        let hash = layout::hash(start, stored.0, stored.1);
        self.gathered.content = self.gathered.content.wrapping_add(hash);
        let block = CandidateBlock::new(&self.predictor, head.precision, stored, start);
        let block = block.ok_or_else(|| self.foreign(start, "has vectors of another length"))?;
        let added = block.add_to(&self.round.queries, &mut self.gathered.rows, head.sharpness);
        added.map_err(refused)
    }
}

impl Accumulator for Scan {
    fn update_batch(&mut self, columns: &[ArrayRef]) -> Result<()> {
        let head = &self.round.head;
        let wrong = || refused("a shard has other columns than expected: make the shards again");
        let [ids, tags, vectors, scales @ ..] = columns else { return Err(wrong()) };
        let ids = ids.as_primitive_opt::<UInt32Type>().ok_or_else(wrong)?.values();
        let Some(&first) = ids.first() else { return Ok(()) };
        let first = first as usize;
        let tags = tags.as_primitive_opt::<UInt64Type>().ok_or_else(wrong)?.values();
        if let Some(at) = tags.iter().position(|tag| *tag != head.tag) {
            let why = format!("is of a model with checksum {:016x}, expected {:016x}", tags[at], head.tag);
            return Err(self.foreign(ids[at] as usize, &why));
        }
        let width = self.predictor.entity_width();
        let values = layout::bytes(vectors, head.precision, width).ok_or_else(wrong)?;
        let scales: &[f32] = match (head.precision, scales) {
            (Precision::Int8, [scales]) => {
                scales.as_primitive_opt::<Float32Type>().ok_or_else(wrong)?.values()
            }
            (Precision::Int8, _) => return Err(wrong()),
            _ => &[],
        };
        let in_order = ids.iter().enumerate().all(|(at, id)| *id as usize == first + at);
        if !in_order || first + ids.len() > head.entities {
            return Err(self.foreign(first, "does not hold its entities in order"));
        }
        self.add(first, values, scales)
    }

    fn merge_batch(&mut self, states: &[ArrayRef]) -> Result<()> {
        let wrong = || refused("what a task returned is not the state of a round");
        let states = states.first().and_then(|states| states.as_binary_opt::<i64>()).ok_or_else(wrong)?;
        for state in states.iter().flatten() {
            let other = Gathered::decode(state, self.round.head.rows).map_err(refused)?;
            self.gathered.tasks += other.tasks.max(1);
            self.gathered.bytes += other.bytes + state.len() as u64;
            self.gathered.content = self.gathered.content.wrapping_add(other.content);
            for (row, other) in self.gathered.rows.iter_mut().zip(other.rows) {
                row.merge(other).map_err(refused)?;
            }
        }
        Ok(())
    }

    fn state(&mut self) -> Result<Vec<ScalarValue>> {
        self.close()?;
        Ok(vec![ScalarValue::LargeBinary(Some(self.gathered.encode()))])
    }

    fn evaluate(&mut self) -> Result<ScalarValue> {
        self.close()?;
        // A single shard is scored and evaluated by one task.
        self.gathered.tasks = self.gathered.tasks.max(1);
        Ok(ScalarValue::LargeBinary(Some(self.gathered.encode())))
    }

    fn size(&self) -> usize {
        let head = &self.round.head;
        size_of_val(self)
            + self.round.queries.len() * 4
            + head.rows * head.count * 8
            + self.open.values.capacity()
    }
}

fn refused(why: impl std::fmt::Display) -> DataFusionError {
    DataFusionError::Execution(format!("{REFUSED} {why}"))
}
