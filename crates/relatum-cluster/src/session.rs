//! What client, scheduler and executors must agree on.

use std::sync::Arc;

use ballista_core::extension::{SessionConfigExt, SessionStateExt};
use ballista_core::optimizer::ballista_default_optimizer_rules;
use datafusion::common::Result;
use datafusion::datasource::file_format::parquet::ParquetFormat;
use datafusion::datasource::listing::{ListingOptions, ListingTable, ListingTableConfig, ListingTableUrl};
use datafusion::execution::SessionStateBuilder;
use datafusion::execution::runtime_env::{RuntimeEnv, RuntimeEnvBuilder};
use datafusion::execution::session_state::SessionState;
use datafusion::prelude::{SessionConfig, SessionContext};

use crate::ClusterError;
use crate::codec::{LogicalCodec, PhysicalCodec};
use crate::layout::{COLUMNS, NAME, schema};
use crate::manifest::Manifest;
use crate::place::{Place, Stores};

/// The largest message between processes: a round of a thousand rows, or a list of a million candidates.
pub const LARGEST_MESSAGE: usize = 256 << 20;
/// Entities that are read at a time.
const BATCH: usize = 8192;

/// The settings of a session.
pub fn config() -> SessionConfig {
    SessionConfig::new_with_ballista()
        .with_ballista_logical_extension_codec(Arc::new(LogicalCodec::default()))
        .with_ballista_physical_extension_codec(Arc::new(PhysicalCodec::default()))
        .with_ballista_grpc_client_max_message_size(LARGEST_MESSAGE)
        // One scan and one sum: there is nothing for a planner to learn while it runs.
        .with_ballista_adaptive_query_planner(false)
        .with_batch_size(BATCH)
        .with_collect_statistics(false)
        .set_bool("datafusion.optimizer.repartition_file_scans", false)
        .set_bool("datafusion.execution.parquet.pushdown_filters", false)
}

/// Files are found in every process alike; what is written in between goes to a folder.
pub fn runtime(temporary: Option<&str>) -> Result<Arc<RuntimeEnv>> {
    let builder = RuntimeEnvBuilder::new().with_object_store_registry(Arc::new(Stores::default()));
    let builder = match temporary {
        Some(folder) => builder.with_temp_file_path(folder),
        None => builder,
    };
    Ok(Arc::new(builder.build()?))
}

/// A session of the scheduler, or of a client before it is told where the scheduler is.
pub fn state(config: SessionConfig) -> Result<SessionState> {
    let builder = SessionStateBuilder::new().with_default_features().with_config(config);
    let builder = builder.with_runtime_env(runtime(None)?);
    Ok(builder.with_optimizer_rules(ballista_default_optimizer_rules()).build())
}

/// A client's session with a scheduler, and the shards as its table.
pub fn client(
    scheduler: &str,
    place: &Place,
    manifest: &Manifest,
) -> Result<(SessionContext, ListingTable), ClusterError> {
    let failed = |error: datafusion::error::DataFusionError| ClusterError::Plan(error.to_string());
    let shards = &manifest.shards;
    let config = config().with_target_partitions(shards.len().max(1)).with_ballista_job_name("relatum");
    let state = state(config).and_then(|state| state.upgrade_for_ballista(format!("http://{scheduler}")));
    let context = SessionContext::new_with_state(state.map_err(failed)?);
    // Files are named one by one: what else lies in the folder is none of our business.
    let files = shards.iter().map(|shard| ListingTableUrl::parse(place.url_of(&shard.file)));
    let files = files.collect::<Result<Vec<_>>>().map_err(failed)?;
    let options = ListingOptions::new(Arc::new(ParquetFormat::default())).with_file_extension(".parquet");
    let columns = schema(manifest.model.precision, manifest.model.width, manifest.vectors);
    let table =
        ListingTableConfig::new_with_multi_paths(files).with_listing_options(options).with_schema(columns);
    let table = ListingTable::try_new(table).map_err(failed)?;
    Ok((context, table))
}

/// The columns that a round reads.
pub fn columns(manifest: &Manifest) -> impl Iterator<Item = &'static str> {
    let columns = schema(manifest.model.precision, manifest.model.width, manifest.vectors);
    debug_assert!(columns.field_with_name(NAME).is_ok());
    COLUMNS.into_iter().filter(move |name| columns.field_with_name(name).is_ok())
}
