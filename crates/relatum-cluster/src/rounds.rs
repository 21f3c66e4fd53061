//! Sends rounds to the cluster and watches over them.

use std::sync::Arc;
use std::time::{Duration, Instant};

use datafusion::arrow::array::{Array, AsArray};
use datafusion::datasource::listing::ListingTable;
use datafusion::error::DataFusionError;
use datafusion::prelude::{SessionContext, col};
use relatum::model::{SortedRow, SourceError};

use crate::ClusterError;
use crate::aggregate::{BestCandidates, REFUSED};
use crate::health;
use crate::manifest::Manifest;
use crate::place::Place;
use crate::round::{Gathered, Head, Round};
use crate::session;

/// How often a round is tried. Ballista repeats the tasks of an executor that died; what it cannot repeat is a
/// result whose executor died before the client had it, and that round is sent again.
const ATTEMPTS: usize = 4;

/// A client of a cluster.
pub struct Rounds {
    address: String,
    context: SessionContext,
    table: Arc<ListingTable>,
    /// What is scored.
    pub manifest: Manifest,
    /// How long the scheduler may be without executors.
    pub patience: Duration,
}

/// What a round took.
#[derive(Clone, Copy, Debug, Default)]
pub struct Cost {
    /// Seconds until its rows were there.
    pub seconds: f64,
    /// Tasks that scored shards.
    pub tasks: u64,
    /// Bytes of the states that went from task to task.
    pub bytes: u64,
}

impl Rounds {
    /// Makes sure that there are a scheduler and shards that are whole, and waits for executors.
    pub async fn connect(
        address: &str,
        place: &Place,
        manifest: Manifest,
        patience: Duration,
    ) -> Result<Self, ClusterError> {
        let address = health::checked_address(address)?;
        manifest.look_at_shards(place).await?;
        health::wait_for_executors(&address, patience).await?;
        health::speaks_calls(&address).await?;
        let (context, table) = session::client(&address, place, &manifest)?;
        Ok(Self { address, context, table: Arc::new(table), manifest, patience })
    }

    /// Runs a round: the best `count` candidates of each row and the sums over all of them.
    pub async fn run(
        &self,
        queries: Vec<f32>,
        rows: usize,
        count: usize,
        sharpness: Option<f32>,
    ) -> Result<(Vec<SortedRow>, Cost), RoundError> {
        let began = Instant::now();
        let round = Round { head: Head::new(&self.manifest, rows, count, sharpness), queries };
        let bytes: Arc<[u8]> = round.encode().into();
        let mut attempt = 1;
        let gathered = loop {
            let outcome = tokio::select! {
                outcome = self.once(Arc::clone(&bytes), rows) => outcome,
                gone = health::watch(&self.address, self.patience) => return Err(gone.into()),
            };
            match outcome {
                Ok(gathered) => break gathered,
                Err(error) => self.may_try_again(&error, attempt).await?,
            }
            attempt += 1;
        };
        let (tasks, bytes, content) = (gathered.tasks, gathered.bytes, gathered.content);
        let entities = self.manifest.model.entities;
        let finished = gathered.rows.into_iter().map(|row| row.finish(entities, sharpness.is_some()));
        let rows = finished.collect::<Result<Vec<_>, _>>()?;
        // Every block was there once, so only its numbers can be others than those that were written.
        if content != self.manifest.content() {
            return Err(RoundError::Data(SourceError::Foreign(
                "the shards do not hold the numbers that were written into them: `relatum-cluster check` says which \
                 is damaged; copy it again, or make the shards again"
                    .to_owned(),
            )));
        }
        Ok((rows, Cost { seconds: began.elapsed().as_secs_f64(), tasks, bytes }))
    }

    async fn once(&self, round: Arc<[u8]>, rows: usize) -> Result<Gathered, DataFusionError> {
        let arguments = session::columns(&self.manifest).map(col).collect();
        let table = self.context.read_table(Arc::clone(&self.table) as _)?;
        let best = BestCandidates::of(round).call(arguments).alias("best");
        let batches = table.aggregate(vec![], vec![best])?.collect().await?;
        let value = batches.iter().find(|batch| batch.num_rows() > 0).map(|batch| batch.column(0));
        let value = value.and_then(|column| column.as_binary_opt::<i64>());
        let value = value.filter(|values| !values.is_empty()).map(|values| values.value(0));
        let value =
            value.ok_or_else(|| DataFusionError::Execution("the round came back empty".to_owned()))?;
        Gathered::decode(value, rows).map_err(DataFusionError::Execution)
    }

    /// Whether a round that failed may be tried again; if not, why it failed.
    async fn may_try_again(&self, error: &DataFusionError, attempt: usize) -> Result<(), RoundError> {
        let text = error.to_string();
        if let Some((_, why)) = text.split_once(REFUSED) {
            return Err(RoundError::Data(SourceError::Foreign(first_line(why.trim()))));
        }
        match health::wait_for_executors(&self.address, self.patience).await {
            Err(ClusterError::NoScheduler { address, why }) => {
                return Err(ClusterError::SchedulerGone { address, why }.into());
            }
            waited => waited?,
        };
        if attempt >= ATTEMPTS {
            return Err(ClusterError::Round { attempts: attempt, why: first_line(&text) }.into());
        }
        tokio::time::sleep(Duration::from_millis(500 * attempt as u64)).await;
        Ok(())
    }
}

/// Why a round has no rows.
#[derive(Debug, thiserror::Error)]
pub enum RoundError {
    /// The cluster does not answer.
    #[error(transparent)]
    Cluster(#[from] ClusterError),
    /// The data are not what they should be.
    #[error(transparent)]
    Data(#[from] SourceError),
}

/// A message without the traces that come behind its first line, or behind quotation marks that end it.
fn first_line(text: &str) -> String {
    let line = text.lines().next().unwrap_or_default();
    let line = line.split("\\n").next().unwrap_or_default();
    line.chars().take(600).collect()
}
