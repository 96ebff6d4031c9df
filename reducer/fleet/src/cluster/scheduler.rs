//! The scheduler: takes plans from clients, cuts them into tasks, and gives them to the executors that ask for work.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use ballista_core::config::TaskSchedulingPolicy;
use ballista_core::serde::protobuf::scheduler_grpc_server::SchedulerGrpcServer;
use ballista_core::utils::{
    GrpcServerConfig, create_grpc_server, create_grpc_server_incoming, default_session_builder,
};
use ballista_scheduler::cluster::BallistaCluster;
use ballista_scheduler::config::SchedulerConfig;
use ballista_scheduler::scheduler_process::create_scheduler;
use ballista_scheduler::scheduler_server::SchedulerServer;
use datafusion::execution::runtime_env::RuntimeEnvBuilder;
use datafusion::execution::session_state::SessionStateBuilder;
use datafusion::prelude::SessionConfig;
use datafusion_proto::protobuf::{LogicalPlanNode, PhysicalPlanNode};
use tokio::task::JoinHandle;
use tonic::service::interceptor::InterceptedService;

use super::access::{Guard, Token, check, endpoints};
use super::codec::FleetCodec;
use super::stores::Stores;
use super::{ClusterError, MAX_MESSAGE_BYTES};

/// How long results of a job stay on the executors for a client that fetches them.
const RESULTS_KEPT: Duration = Duration::from_secs(300);

/// How long the scheduler remembers a job that is done.
const JOBS_KEPT: Duration = Duration::from_secs(600);

/// How a scheduler is started.
#[derive(Clone)]
pub struct SchedulerOptions {
    /// Where it listens. Port 0 is any free one.
    pub address: SocketAddr,
    /// What clients and executors have to know.
    pub token: Option<Token>,
    /// Options of stores. The scheduler reads plans, which name stores, and makes no requests to them.
    pub stores: Vec<(String, String)>,
    /// An executor that does not ask for work for this long is lost, and its tasks are given to others. A busy one asks every
    /// 5 seconds. With no executor left, jobs fail after the same time.
    pub executor_timeout: Duration,
}

/// A scheduler that runs in the runtime of the caller until this value is dropped.
pub struct Scheduler {
    address: SocketAddr,
    server: JoinHandle<Result<(), tonic::transport::Error>>,
}

impl Drop for Scheduler {
    fn drop(&mut self) {
        self.server.abort();
    }
}

impl Scheduler {
    /// Starts a scheduler. It takes requests when this returns.
    ///
    /// # Errors
    ///
    /// Returns an error if the address cannot be bound, or other machines would reach it without a token.
    pub async fn start(options: SchedulerOptions) -> Result<Self, ClusterError> {
        check(options.address, options.token.as_ref())?;
        let grpc = GrpcServerConfig::default();
        let bind =
            |source: Box<dyn std::error::Error + Send + Sync>| ClusterError::Bind { address: options.address, source };
        let incoming = create_grpc_server_incoming(options.address, &grpc).map_err(|error| bind(error.into()))?;
        let address = incoming.local_addr().map_err(|error| bind(error.into()))?;
        let stores = Arc::new(Stores::new(&options.stores));
        let session = move |config: SessionConfig| {
            let stores = Arc::clone(&stores);
            let runtime = RuntimeEnvBuilder::new().with_object_store_registry(stores).build_arc()?;
            let state = default_session_builder(config)?;
            Ok(SessionStateBuilder::new_from_existing(state).with_runtime_env(runtime).build())
        };
        let timeout_seconds = options.executor_timeout.as_secs().max(1);
        let config = SchedulerConfig {
            external_host: address.ip().to_string(),
            bind_port: address.port(),
            // Executors ask for work, so they need no second port that could not be guarded.
            scheduling_policy: TaskSchedulingPolicy::PullStaged,
            grpc_server_max_decoding_message_size: MAX_MESSAGE_BYTES as u32,
            grpc_server_max_encoding_message_size: MAX_MESSAGE_BYTES as u32,
            grpc_client_max_message_size: MAX_MESSAGE_BYTES as u32,
            executor_timeout_seconds: timeout_seconds,
            expire_dead_executor_interval_seconds: (timeout_seconds / 4).max(1),
            no_executors_grace_period_seconds: timeout_seconds,
            finished_job_data_clean_up_interval_seconds: RESULTS_KEPT.as_secs(),
            finished_job_state_clean_up_interval_seconds: JOBS_KEPT.as_secs(),
            override_physical_codec: Some(Arc::new(FleetCodec::new(&options.stores))),
            override_session_builder: Some(Arc::new(session)),
            override_create_grpc_client_endpoint: Some(endpoints(options.token.as_ref())),
            ..SchedulerConfig::default()
        };
        let engine = |error: ballista_core::error::BallistaError| ClusterError::Engine(error.to_string());
        let cluster = BallistaCluster::new_from_config(&config).await.map_err(engine)?;
        let scheduler: SchedulerServer<LogicalPlanNode, PhysicalPlanNode> =
            create_scheduler(cluster, Arc::new(config)).await.map_err(engine)?;
        let service = SchedulerGrpcServer::new(scheduler)
            .max_decoding_message_size(MAX_MESSAGE_BYTES)
            .max_encoding_message_size(MAX_MESSAGE_BYTES);
        let service = InterceptedService::new(service, Guard::new(options.token.as_ref()));
        let server = create_grpc_server(&grpc).add_service(service).serve_with_incoming(incoming);
        Ok(Self { address, server: tokio::spawn(server) })
    }

    /// Returns the address at which the scheduler listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Waits until the server ends, which it does only if it fails.
    ///
    /// # Errors
    ///
    /// Returns the error with which it ended.
    pub async fn ended(&mut self) -> Result<(), ClusterError> {
        match (&mut self.server).await {
            Ok(Ok(())) => Ok(()),
            Ok(Err(error)) => Err(ClusterError::Engine(error.to_string())),
            Err(error) => Err(ClusterError::Engine(error.to_string())),
        }
    }
}
