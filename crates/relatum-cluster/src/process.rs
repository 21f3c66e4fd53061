//! Ballista's scheduler and executors, with our aggregate in them.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use ballista_core::registry::BallistaFunctionRegistry;
use ballista_executor::executor_process::{ExecutorProcessConfig, start_executor_process};
use ballista_scheduler::cluster::BallistaCluster;
use ballista_scheduler::config::{SchedulerConfig, TaskDistributionPolicy};
use ballista_scheduler::scheduler_process::start_server;

use crate::codec::{LogicalCodec, PhysicalCodec};
use crate::session::{LARGEST_MESSAGE, config, runtime, state};
use crate::{ClusterError, health};

/// A scheduler.
#[derive(Clone, Debug)]
pub struct Scheduler {
    /// Where it listens.
    pub listen: SocketAddr,
    /// The name under which executors reach it.
    pub external_host: String,
    /// An executor that was silent for so many seconds is dead, and its tasks go to others.
    pub executor_timeout: u64,
}

/// An executor.
#[derive(Clone, Debug)]
pub struct Executor {
    /// The scheduler it works for, `host:port`.
    pub scheduler: String,
    /// The address that it listens at.
    pub bind_host: String,
    /// The name under which others reach it.
    pub external_host: String,
    /// Where others fetch results.
    pub port: u16,
    /// Where the scheduler sends tasks.
    pub grpc_port: u16,
    /// Tasks at a time.
    pub cores: usize,
    /// Where results lie until they are fetched.
    pub work_dir: Option<PathBuf>,
    /// Seconds between two signs of life.
    pub heartbeat: u64,
    /// Seconds to wait for the scheduler at the beginning.
    pub patience: u16,
}

impl Scheduler {
    /// Runs until it fails.
    pub async fn run(self) -> Result<(), ClusterError> {
        let failed = |why: String| ClusterError::Process { what: "scheduler", why };
        let settings = SchedulerConfig {
            bind_host: self.listen.ip().to_string(),
            bind_port: self.listen.port(),
            external_host: self.external_host,
            executor_timeout_seconds: self.executor_timeout,
            expire_dead_executor_interval_seconds: 1,
            no_executors_grace_period_seconds: self.executor_timeout,
            // Shards of a round go to all executors, not as many as fit to the first.
            task_distribution: TaskDistributionPolicy::RoundRobin,
            grpc_server_max_decoding_message_size: LARGEST_MESSAGE as u32,
            grpc_server_max_encoding_message_size: LARGEST_MESSAGE as u32,
            grpc_client_max_message_size: LARGEST_MESSAGE as u32,
            // A round's results are fetched at once.
            finished_job_data_clean_up_interval_seconds: 60,
            finished_job_state_clean_up_interval_seconds: 120,
            override_config_producer: Some(Arc::new(config)),
            override_session_builder: Some(Arc::new(state)),
            override_logical_codec: Some(Arc::new(LogicalCodec::default())),
            override_physical_codec: Some(Arc::new(PhysicalCodec::default())),
            ..SchedulerConfig::default()
        };
        let cluster =
            BallistaCluster::new_from_config(&settings).await.map_err(|error| failed(error.to_string()))?;
        let served = start_server(cluster, self.listen, Arc::new(settings)).await;
        served.map_err(|error| failed(error.to_string()))
    }
}

impl Executor {
    /// Runs until it is asked to stop, or fails.
    pub async fn run(self) -> Result<(), ClusterError> {
        let failed = |why: String| ClusterError::Process { what: "executor", why };
        let scheduler = health::checked_address(&self.scheduler)?;
        // Ballista would wait for ever: it measures the time of an instant that it makes anew.
        health::wait_for_scheduler(&scheduler, Duration::from_secs(self.patience.into())).await?;
        let (host, port) =
            scheduler.rsplit_once(':').ok_or_else(|| ClusterError::Address(scheduler.clone()))?;
        let work_dir = self.work_dir.map(|folder| folder.display().to_string());
        let temporary = work_dir.clone();
        let settings = ExecutorProcessConfig {
            bind_host: self.bind_host,
            external_host: Some(self.external_host),
            port: self.port,
            grpc_port: self.grpc_port,
            scheduler_host: host.to_owned(),
            scheduler_port: port.parse().map_err(|_| ClusterError::Address(scheduler.clone()))?,
            scheduler_connect_timeout_seconds: 0,
            vcores: self.cores,
            work_dir,
            job_data_ttl_seconds: 600,
            job_data_clean_up_interval_seconds: 60,
            grpc_max_decoding_message_size: LARGEST_MESSAGE as u32,
            grpc_max_encoding_message_size: LARGEST_MESSAGE as u32,
            executor_heartbeat_interval_seconds: self.heartbeat,
            override_function_registry: Some(Arc::new(BallistaFunctionRegistry::default())),
            override_config_producer: Some(Arc::new(config)),
            override_runtime_producer: Some(Arc::new(move |_| runtime(temporary.as_deref()))),
            override_logical_codec: Some(Arc::new(LogicalCodec::default())),
            override_physical_codec: Some(Arc::new(PhysicalCodec::default())),
            ..ExecutorProcessConfig::default()
        };
        let served = start_executor_process(Arc::new(settings)).await;
        served.map_err(|error| failed(error.to_string()))
    }
}
