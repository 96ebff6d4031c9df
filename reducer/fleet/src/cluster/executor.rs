//! An executor: asks the scheduler for tasks, does them, and serves their results.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use arrow_flight::flight_service_server::FlightServiceServer;
use ballista_core::BALLISTA_PROTOCOL_VERSION;
use ballista_core::JobId;
use ballista_core::error::BallistaError;
use ballista_core::extension::SessionConfigExt;
use ballista_core::ids::new_instance_id;
use ballista_core::registry::BallistaFunctionRegistry;
use ballista_core::serde::protobuf::executor_grpc_server::ExecutorGrpcServer;
use ballista_core::serde::protobuf::scheduler_grpc_client::SchedulerGrpcClient;
use ballista_core::serde::protobuf::{ExecutorRegistration, ExecutorStoppedParams, PollWorkParams};
use ballista_core::serde::scheduler::{ExecutorOperatingSystemSpecification, ExecutorSpecification};
use ballista_core::serde::{BallistaCodec, BallistaLogicalExtensionCodec};
use ballista_core::utils::{GrpcServerConfig, create_grpc_server, create_grpc_server_incoming};
use ballista_executor::execution_engine::{DefaultExecutionEngine, ExecutionEngine, QueryStageExecutor};
use ballista_executor::execution_loop::poll_loop;
use ballista_executor::executor::Executor as Engine;
use ballista_executor::flight_service::BallistaFlightService;
use ballista_executor::health::ExecutorHealth;
use ballista_executor::metrics::LoggingMetricsCollector;
use datafusion::common::{Result as PlanResult, plan_err};
use datafusion::datasource::sink::DataSinkExec;
use datafusion::execution::memory_pool::FairSpillPool;
use datafusion::execution::runtime_env::RuntimeEnvBuilder;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::prelude::SessionConfig;
use datafusion_proto::physical_plan::PhysicalExtensionCodec;
use datafusion_proto::protobuf::{LogicalPlanNode, PhysicalPlanNode};
use futures::future::BoxFuture;
use tempfile::TempDir;
use tokio::sync::Notify;
use tokio::task::JoinHandle;
use tonic::body::Body;
use tonic::codegen::{Service, http};
use tonic::service::interceptor::InterceptedService;
use tonic::transport::Channel;

use super::access::{Guard, Token, check, check_reach, endpoints};
use super::client::{channel, connect, refusal};
use super::codec::FleetCodec;
use super::control::{Control, Current};
use super::stores::Stores;
use super::{ClusterError, MAX_MESSAGE_BYTES};
use crate::workers::WorkError;

/// Most bytes of footers of data files that an executor keeps for the next question.
const FOOTERS_BYTES: usize = 256 << 20;

/// Time between two attempts to reach the scheduler.
const CONNECT_PAUSE: Duration = Duration::from_millis(500);

/// Header of an answer without content that has the code of the error.
const STATUS: &str = "grpc-status";

/// How often it is looked whether a request for work failed.
const HEALTH_CHECK: Duration = Duration::from_millis(10);

/// Longest wait for the scheduler to acknowledge that an executor leaves.
const FAREWELL: Duration = Duration::from_secs(5);

/// How an executor is started.
#[derive(Clone)]
pub struct ExecutorOptions {
    /// URL of the scheduler.
    pub scheduler: String,
    /// Where it serves its results. Port 0 is any free one.
    pub address: SocketAddr,
    /// Name or address under which others reach it. `None` is the address from which it calls the scheduler.
    pub host: Option<String>,
    /// Tasks at the same time.
    pub slots: usize,
    /// Folder for intermediate results. `None` is that of temporary files.
    pub work_dir: Option<PathBuf>,
    /// Memory for sorting, joining and grouping of all its tasks. More goes to the work folder.
    pub memory_bytes: usize,
    /// What the parts of the cluster share.
    pub token: Option<Token>,
    /// Options of stores, with the credentials of this machine.
    pub stores: Vec<(String, String)>,
    /// How long it waits for a scheduler that does not answer yet.
    pub wait: Duration,
}

/// An executor that runs in the runtime of the caller until this value is dropped.
pub struct Executor {
    address: SocketAddr,
    /// Its name at the scheduler.
    id: Arc<Mutex<String>>,
    scheduler: SchedulerGrpcClient<Channel>,
    polls: JoinHandle<Result<(), BallistaError>>,
    results: JoinHandle<Result<(), tonic::transport::Error>>,
    _folder: TempDir,
}

impl Drop for Executor {
    fn drop(&mut self) {
        self.polls.abort();
        self.results.abort();
    }
}

impl Executor {
    /// Starts an executor. The scheduler knows it when this returns.
    ///
    /// # Errors
    ///
    /// Returns an error if the scheduler cannot be reached or refuses the token, the address cannot be bound, other machines
    /// would reach it without a token or could not reach it at all, or the work folder cannot be used.
    pub async fn start(options: ExecutorOptions) -> Result<Self, ClusterError> {
        check(options.address, options.token.as_ref())?;
        check_reach(options.address, options.host.as_deref(), &options.scheduler)?;
        let grpc = GrpcServerConfig::default();
        let bind =
            |source: Box<dyn std::error::Error + Send + Sync>| ClusterError::Bind { address: options.address, source };
        let incoming = create_grpc_server_incoming(options.address, &grpc).map_err(|error| bind(error.into()))?;
        let address = incoming.local_addr().map_err(|error| bind(error.into()))?;
        let slots = options.slots.max(1);
        let registration = ExecutorRegistration {
            id: new_instance_id(),
            host: options.host.clone(),
            port: address.port().into(),
            // Where the scheduler ends tasks.
            grpc_port: address.port().into(),
            specification: Some(ExecutorSpecification::default().with_vcores(slots as u32).into()),
            os_info: Some(ExecutorOperatingSystemSpecification::default().into()),
            ballista_protocol_version: BALLISTA_PROTOCOL_VERSION,
        };
        let scheduler = register(&options, &registration).await?;
        let channel = channel(&options.scheduler, options.token.as_ref()).await?;

        let mut folder = tempfile::Builder::new();
        let folder = folder.prefix("trace-fleet-executor-");
        let folder = match &options.work_dir {
            Some(parent) => std::fs::create_dir_all(parent).and_then(|()| folder.tempdir_in(parent)),
            None => folder.tempdir(),
        };
        let folder = folder.map_err(ClusterError::Folder)?;
        let path = folder.path().to_string_lossy().into_owned();

        // One for all tasks, so that stores and footers are opened once and the limit of memory is that of the machine.
        let runtime = RuntimeEnvBuilder::new()
            .with_object_store_registry(Arc::new(Stores::new(&options.stores)))
            .with_memory_pool(Arc::new(FairSpillPool::new(options.memory_bytes)))
            .with_metadata_cache_limit(FOOTERS_BYTES)
            .with_temp_file_path(&path)
            .build_arc()
            .map_err(|error| ClusterError::Engine(error.to_string()))?;
        let access = endpoints(options.token.as_ref());
        let config = move || {
            SessionConfig::new_with_ballista()
                .with_ballista_grpc_client_max_message_size(MAX_MESSAGE_BYTES)
                .with_ballista_override_create_grpc_client_endpoint(Arc::clone(&access))
        };
        let config: Arc<dyn Fn() -> SessionConfig + Send + Sync> = Arc::new(config);
        let work_dir = path.clone();
        let engine = move |registration: ExecutorRegistration| {
            let runtime = Arc::clone(&runtime);
            Arc::new(Engine::new(
                registration,
                &work_dir,
                Arc::new(move |_| Ok(Arc::clone(&runtime))),
                Arc::clone(&config),
                Arc::new(BallistaFunctionRegistry::default()),
                Arc::new(LoggingMetricsCollector::default()),
                slots,
                Arc::new(ReadOnly(DefaultExecutionEngine::new())),
            ))
        };
        let physical: Arc<dyn PhysicalExtensionCodec> = Arc::new(FleetCodec::new(&options.stores));
        let codec: BallistaCodec<LogicalPlanNode, PhysicalPlanNode> =
            BallistaCodec::new(Arc::new(BallistaLogicalExtensionCodec::default()), physical);

        let service = FlightServiceServer::new(BallistaFlightService::new(path))
            .max_decoding_message_size(MAX_MESSAGE_BYTES)
            .max_encoding_message_size(MAX_MESSAGE_BYTES);
        let service = InterceptedService::new(service, Guard::new(options.token.as_ref()));
        let current = Current::new(engine(registration.clone()));
        let control = ExecutorGrpcServer::new(Control(current.clone()));
        let control = InterceptedService::new(control, Guard::new(options.token.as_ref()));
        let results = create_grpc_server(&grpc).add_service(service).add_service(control).serve_with_incoming(incoming);
        let id = Arc::new(Mutex::new(registration.id.clone()));
        let polls = polls(channel, scheduler.clone(), (current, engine), codec, registration, Arc::clone(&id));
        Ok(Self { address, id, scheduler, polls: tokio::spawn(polls), results: tokio::spawn(results), _folder: folder })
    }

    /// Returns the address at which the executor serves its results.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Waits until it ends, which it does only if it fails.
    ///
    /// # Errors
    ///
    /// Returns the error with which it ended.
    pub async fn ended(&mut self) -> Result<(), ClusterError> {
        let message = tokio::select! {
            ended = &mut self.polls => match ended {
                Ok(Ok(())) => return Ok(()),
                Ok(Err(error)) => error.to_string(),
                Err(error) => error.to_string(),
            },
            ended = &mut self.results => match ended {
                Ok(Ok(())) => return Ok(()),
                Ok(Err(error)) => error.to_string(),
                Err(error) => error.to_string(),
            },
        };
        Err(ClusterError::Engine(message))
    }

    /// Ends, and tells the scheduler, which gives the tasks and the results that are lost to other executors at once.
    pub async fn stop(mut self) {
        self.polls.abort();
        let executor_id = self.id.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let params = ExecutorStoppedParams { executor_id, reason: "the executor was stopped".to_owned() };
        // A scheduler that does not hear it finds it out.
        let _ = tokio::time::timeout(FAREWELL, self.scheduler.executor_stopped(params)).await;
    }
}

/// Refuses plans that write what a question selects, such as `COPY`: no client of ours makes one.
struct ReadOnly(DefaultExecutionEngine);

impl ExecutionEngine for ReadOnly {
    fn create_query_stage_exec(
        &self,
        job_id: JobId,
        stage_id: usize,
        task_id: usize,
        partitions: Vec<usize>,
        plan: Arc<dyn ExecutionPlan>,
        work_dir: &str,
        config: &SessionConfig,
    ) -> PlanResult<Arc<dyn QueryStageExecutor>> {
        check_reads(&plan)?;
        self.0.create_query_stage_exec(job_id, stage_id, task_id, partitions, plan, work_dir, config)
    }
}

fn check_reads(plan: &Arc<dyn ExecutionPlan>) -> PlanResult<()> {
    if plan.is::<DataSinkExec>() {
        return plan_err!("an executor of trace fleet writes no files for a question");
    }
    plan.children().into_iter().try_for_each(check_reads)
}

/// Asks for work and does it. A request that fails may have had results of tasks, and its answer tasks, of which the engine keeps
/// nothing: the scheduler would wait for them for good. So the executor starts anew then, under another name, and the scheduler
/// gives what it had to others.
async fn polls(
    channel: Channel,
    mut scheduler: SchedulerGrpcClient<Channel>,
    (current, engine): (Current, impl Fn(ExecutorRegistration) -> Arc<Engine> + Send),
    codec: BallistaCodec<LogicalPlanNode, PhysicalPlanNode>,
    mut registration: ExecutorRegistration,
    id: Arc<Mutex<String>>,
) -> Result<(), BallistaError> {
    loop {
        let health = ExecutorHealth::new();
        health.mark_heartbeat_ok();
        let watched = Watched { channel: channel.clone(), failed: Arc::default() };
        let failure = Arc::clone(&watched.failed);
        let client = SchedulerGrpcClient::new(watched)
            .max_decoding_message_size(MAX_MESSAGE_BYTES)
            .max_encoding_message_size(MAX_MESSAGE_BYTES);
        let polls = poll_loop(client, current.get(), codec.clone(), None, None, health.clone());
        tokio::select! {
            ended = polls => return ended,
            () = failure.notified() => {}
            // An answer that broke off behind its beginning.
            () = failed(&health) => {}
        }
        tracing::warn!(id = registration.id, "the scheduler does not answer; the executor starts anew");
        let leave = || ExecutorStoppedParams {
            executor_id: registration.id.clone(),
            reason: "the executor lost a message".to_owned(),
        };
        while let Err(status) = scheduler.executor_stopped(leave()).await {
            tracing::warn!("the scheduler does not answer: {status}");
            tokio::time::sleep(CONNECT_PAUSE).await;
        }
        registration.id = new_instance_id();
        current.set(engine(registration.clone()));
        id.lock().unwrap_or_else(PoisonError::into_inner).clone_from(&registration.id);
    }
}

/// Waits until a request for work has failed.
async fn failed(health: &ExecutorHealth) {
    while health.is_ready() {
        tokio::time::sleep(HEALTH_CHECK).await;
    }
}

/// A connection that tells if a request fails.
#[derive(Clone)]
struct Watched {
    channel: Channel,
    failed: Arc<Notify>,
}

impl Service<http::Request<Body>> for Watched {
    type Response = http::Response<Body>;
    type Error = tonic::transport::Error;
    type Future = BoxFuture<'static, Result<Self::Response, Self::Error>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        let ready = self.channel.poll_ready(context);
        if matches!(ready, Poll::Ready(Err(_))) {
            self.failed.notify_one();
        }
        ready
    }

    fn call(&mut self, request: http::Request<Body>) -> Self::Future {
        let (answer, failed) = (self.channel.call(request), Arc::clone(&self.failed));
        Box::pin(async move {
            let answer = answer.await;
            let is_refused = |answer: &http::Response<Body>| {
                answer.headers().get(STATUS).is_some_and(|status| status.as_bytes() != b"0")
            };
            if answer.as_ref().map_or(true, is_refused) {
                failed.notify_one();
            }
            answer
        })
    }
}

/// Connects to the scheduler, and asks for no work, so that a wrong token is told before anything else starts.
async fn register(
    options: &ExecutorOptions,
    registration: &ExecutorRegistration,
) -> Result<SchedulerGrpcClient<Channel>, ClusterError> {
    let started = Instant::now();
    loop {
        match connect(&options.scheduler, options.token.as_ref()).await {
            Ok(mut scheduler) => {
                let params = PollWorkParams {
                    metadata: Some(registration.clone()),
                    num_free_vcores: 0,
                    task_status: Vec::new(),
                };
                scheduler.poll_work(params).await.map_err(|status| refusal(&options.scheduler, &status))?;
                return Ok(scheduler);
            }
            Err(WorkError::Unreachable { .. }) if started.elapsed() < options.wait => {
                tokio::time::sleep(CONNECT_PAUSE).await;
            }
            Err(error) => return Err(error.into()),
        }
    }
}
