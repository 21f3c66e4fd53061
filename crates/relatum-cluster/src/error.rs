//! What can go wrong, and what to do about it.

/// Why the cluster cannot do what it was asked for.
///
/// Each message says what was expected, what came, and what to do.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ClusterError {
    /// A place is no folder and no address of an object store that this program was built for.
    #[error("`{place}` is no place for shards: {why}")]
    Place {
        /// The place as it was given.
        place: String,
        /// Why it is none.
        why: String,
    },
    /// There are no shards at a place.
    #[error("there are no shards at {place}: make them with `relatum-cluster shard`")]
    NoShards {
        /// Where they were looked for.
        place: String,
    },
    /// There are shards at a place already.
    #[error(
        "there are shards of the model `{model}` at {place} already: name another place, or replace them with --replace"
    )]
    Exists {
        /// The place.
        place: String,
        /// The model whose shards they are.
        model: String,
    },
    /// The manifest cannot be understood.
    #[error("{file} is not a list of shards that can be used ({why}): make the shards again")]
    Manifest {
        /// The manifest.
        file: String,
        /// Why.
        why: String,
    },
    /// The shards are those of another model, or of the model as it was before.
    #[error(
        "the shards at {place} are of the model `{found}` with checksum {found_checksum}, but the question is for \
         `{expected}` with checksum {expected_checksum}: make the shards again, or name the right model or place"
    )]
    OtherModel {
        /// The place.
        place: String,
        /// The model that was asked for.
        expected: String,
        /// Its checksum.
        expected_checksum: String,
        /// The model of the shards.
        found: String,
        /// Its checksum.
        found_checksum: String,
    },
    /// A shard is not the one that the manifest describes.
    #[error("the shard {file} {why}: copy it again, or make the shards again")]
    Shard {
        /// The file.
        file: String,
        /// In what it differs.
        why: String,
    },
    /// A model cannot be split.
    #[error("{0}")]
    Model(String),
    /// The store of a place fails.
    #[error("cannot {action} {file}: {source}")]
    Store {
        /// What was tried.
        action: &'static str,
        /// With which file.
        file: String,
        /// Why it failed.
        source: datafusion::object_store::Error,
    },
    /// Vectors cannot be written.
    #[error("cannot write {file}: {source}")]
    Write {
        /// The file.
        file: String,
        /// Why it failed.
        source: datafusion::parquet::errors::ParquetError,
    },
    /// An address is not `host:port`.
    #[error("`{0}` is no address of a scheduler: write host:port, such as 127.0.0.1:50050")]
    Address(String),
    /// Somebody stopped the work.
    #[error("stopped; no half-written shards are left")]
    Stopped,
    /// Nothing answers where a scheduler should.
    #[error(
        "no scheduler answers at {address} ({why}): start one with `relatum-cluster scheduler`, or name another"
    )]
    NoScheduler {
        /// Where it should be.
        address: String,
        /// Why there is none.
        why: String,
    },
    /// The scheduler was there and is gone.
    #[error("the scheduler at {address} went away during a round ({why}): start it again and ask again")]
    SchedulerGone {
        /// Where it was.
        address: String,
        /// What was noticed.
        why: String,
    },
    /// The scheduler has no executors.
    #[error(
        "the scheduler at {address} has had no executors for {seconds} seconds: start one with `relatum-cluster \
         executor --scheduler {address}`"
    )]
    NoExecutors {
        /// The scheduler.
        address: String,
        /// For how long it was waited.
        seconds: u64,
    },
    /// A round failed as often as it was tried.
    #[error("a round failed {attempts} times, at last because: {why}")]
    Round {
        /// How often it was tried.
        attempts: usize,
        /// Why it failed the last time.
        why: String,
    },
    /// Ballista or `DataFusion` refuses something before it runs.
    #[error("cannot prepare a round: {0}")]
    Plan(String),
    /// A scheduler or executor cannot run.
    #[error("the {what} cannot run: {why}")]
    Process {
        /// Which process.
        what: &'static str,
        /// Why.
        why: String,
    },
    /// The engine refuses something.
    #[error(transparent)]
    Engine(#[from] relatum::Error),
}

impl ClusterError {
    /// Whether the caller, and not the data or a machine, has to change something.
    pub fn is_misuse(&self) -> bool {
        match self {
            Self::Place { .. }
            | Self::NoShards { .. }
            | Self::Exists { .. }
            | Self::OtherModel { .. }
            | Self::Address(_) => true,
            Self::Engine(error) => error.fault() == relatum::Fault::Caller,
            _ => false,
        }
    }
}
