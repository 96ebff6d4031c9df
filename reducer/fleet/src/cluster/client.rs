//! The client: gives plans to the scheduler, watches the job, and fetches the rows from the executors that have them.
//!
//! The engine has a client of its own, which cannot end a job that nobody waits for any more, and which tells all errors as
//! texts of its own. So this one speaks to the scheduler itself.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use async_trait::async_trait;
use ballista_core::client::BallistaClient;
use ballista_core::extension::{BallistaConfigGrpcEndpoint, SessionConfigExt};
use ballista_core::ids::new_instance_id;
use ballista_core::optimizer::ballista_default_optimizer_rules;
use ballista_core::serde::protobuf::execute_query_params::Query;
use ballista_core::serde::protobuf::scheduler_grpc_client::SchedulerGrpcClient;
use ballista_core::serde::protobuf::{
    CancelJobParams, ExecuteQueryParams, GetJobStatusResult, JobStatus, KeyValuePair, PartitionLocation,
    RemoveSessionParams, job_status,
};
use ballista_core::utils::{GrpcClientConfig, create_grpc_client_endpoint};
use ballista_core::version::insert_version_header;
use datafusion::common::{DataFusionError, Result as PlanResult};
use datafusion::execution::session_state::SessionStateBuilder;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::{ExecutionPlan, SendableRecordBatchStream};
use datafusion::prelude::SessionConfig;
use datafusion_proto::physical_plan::AsExecutionPlan;
use datafusion_proto::protobuf::PhysicalPlanNode;
use futures::{StreamExt, TryStreamExt};
use tokio::sync::oneshot;
use tonic::transport::Channel;
use tonic::{Code, Request, Status, Streaming};
use url::Url;

use super::access::{Token, endpoints};
use super::codec::FleetCodec;
use super::{MAX_MESSAGE_BYTES, chaos, guard, leaf};
use crate::causes::with_causes;
use crate::workers::{Receipt, Task, WorkError, Workers};

/// Attempts at a round of tasks, and at a question. The engine repeats single tasks. A round is repeated if it gave up, or if an
/// executor died that had receipts which nobody had fetched; a question is repeated if an executor died whose rows it needed.
pub const ATTEMPTS: u64 = 3;

/// Parts into which the engine cuts the rows of a question, if nothing else is said.
const PARTITIONS: usize = 16;

/// How often it is looked whether the caller stopped the work.
const STOP_CHECK: Duration = Duration::from_millis(100);

/// Attempts to fetch rows from an executor, and the time between them in milliseconds.
const FETCH_ATTEMPTS: u8 = 3;
const FETCH_PAUSE_MS: u64 = 500;

/// Longest wait for the scheduler to cancel a job that nobody waits for.
const FAREWELL: Duration = Duration::from_secs(5);

/// How often it is looked whether all jobs are ended.
const SETTLE_CHECK: Duration = Duration::from_millis(20);

/// A task for each partition: a task is repeated alone, and the guards see if a partition is there twice.
const PARTITIONS_PER_TASK: &str = "ballista.scheduler.max_partitions_per_task";

/// A cluster, as a client sees it.
#[derive(Debug)]
pub struct Cluster {
    url: String,
    token: Option<Token>,
    settings: Vec<(String, String)>,
    /// Number of jobs that are not ended yet.
    jobs: Arc<AtomicUsize>,
}

/// Connects to a scheduler.
pub(super) async fn connect(url: &str, token: Option<&Token>) -> Result<SchedulerGrpcClient<Channel>, WorkError> {
    Ok(SchedulerGrpcClient::new(channel(url, token).await?)
        .max_decoding_message_size(MAX_MESSAGE_BYTES)
        .max_encoding_message_size(MAX_MESSAGE_BYTES))
}

/// Makes a connection to a scheduler.
pub(super) async fn channel(url: &str, token: Option<&Token>) -> Result<Channel, WorkError> {
    let unreachable =
        |source: Box<dyn std::error::Error + Send + Sync>| WorkError::Unreachable { url: url.to_owned(), source };
    let endpoint = create_grpc_client_endpoint(url.to_owned(), Some(&GrpcClientConfig::default()))
        .map_err(|_| WorkError::Url { url: url.to_owned() })?;
    let endpoint = endpoints(token)(endpoint).map_err(unreachable)?;
    endpoint.connect().await.map_err(|error| unreachable(error.into()))
}

/// Returns what the refusal of a request means.
pub(super) fn refusal(url: &str, status: &Status) -> WorkError {
    match status.code() {
        Code::Unauthenticated => WorkError::Refused { url: url.to_owned() },
        _ => WorkError::Failed { message: status.message().to_owned() },
    }
}

/// Checks the URL of a scheduler.
fn checked_url(url: &str) -> Result<String, WorkError> {
    let parsed = Url::parse(url).ok().filter(|it| it.scheme() == "http" && it.host().is_some() && it.port().is_some());
    let Some(parsed) = parsed else { return Err(WorkError::Url { url: url.to_owned() }) };
    Ok(parsed.as_str().trim_end_matches('/').to_owned())
}

fn external(error: WorkError) -> DataFusionError {
    DataFusionError::External(Box::new(error))
}

impl Cluster {
    /// Names the cluster of a scheduler. Settings are those of the engine, such as `datafusion.execution.target_partitions`.
    ///
    /// # Errors
    ///
    /// Returns an error if the URL is not that of a scheduler, or the engine does not know a setting.
    pub fn new(url: &str, token: Option<Token>, settings: Vec<(String, String)>) -> Result<Self, WorkError> {
        let cluster = Self { url: checked_url(url)?, token, settings, jobs: Arc::default() };
        cluster.configure(SessionConfig::new())?;
        Ok(cluster)
    }

    /// Runs a plan. The job is ended if the stream, or the future of this, is dropped.
    async fn run(
        &self,
        plan: Arc<dyn ExecutionPlan>,
        config: &SessionConfig,
    ) -> Result<SendableRecordBatchStream, WorkError> {
        let failed = |error: &dyn std::error::Error| WorkError::Failed { message: with_causes(error) };
        let schema = plan.schema();
        let mut text = Vec::new();
        PhysicalPlanNode::try_from_physical_plan(plan, &FleetCodec::default())
            .and_then(|node| node.try_encode(&mut text))
            .map_err(|error| WorkError::Failed {
                message: format!("the plan cannot travel: {}", error.strip_backtrace()),
            })?;
        if text.len() >= MAX_MESSAGE_BYTES {
            let message = format!("the plan has {} bytes; at most {MAX_MESSAGE_BYTES} travel", text.len());
            return Err(WorkError::Failed { message });
        }
        // The plan is cut into partitions already. The scheduler looks at each stage again, and would cut one with a single
        // partition anew inside of each task, which repeats its rows.
        let config = config.clone().with_target_partitions(1);
        let settings = config.options().entries().into_iter();
        let session_id = new_instance_id();
        let params = ExecuteQueryParams {
            query: Some(Query::PhysicalPlan(text)),
            settings: settings.map(|entry| KeyValuePair { key: entry.key, value: entry.value }).collect(),
            session_id: session_id.clone(),
            operation_id: new_instance_id(),
        };
        let mut request = Request::new(params);
        insert_version_header(request.metadata_mut());
        let counted = Counted::new(&self.jobs);
        let scheduler = connect(&self.url, self.token.as_ref()).await?;
        let (send, receive) = oneshot::channel();
        let url = self.url.clone();
        // The scheduler names a job after it has taken it. If nobody waits any more then, it is ended as soon as it has a name.
        tokio::spawn(async move {
            let job = RunningJob { scheduler, session_id, id: None, counted: Arc::new(counted) };
            let _ = send.send(submit(job, request, &url).await);
        });
        let gone = || WorkError::Failed { message: "the scheduler ended".to_owned() };
        let (mut job, mut update, mut updates) = receive.await.map_err(|_| gone())??;
        let locations = loop {
            match update.status {
                Some(job_status::Status::Failed(error)) => {
                    job.id = None;
                    return Err(WorkError::Failed { message: plain(&error.error) });
                }
                Some(job_status::Status::Successful(done)) => {
                    job.id = None;
                    break done.partition_location;
                }
                Some(job_status::Status::Queued(_) | job_status::Status::Running(_)) | None => {}
            }
            update = next(&mut updates, &self.url).await?;
        };
        // An executor that was taken for dead may have handed in a partition that another one had made again.
        let partition = |it: &PartitionLocation| it.partition_id.as_ref().map(|id| (id.stage_id, id.partition_id));
        let distinct: BTreeSet<_> = locations.iter().map(|it| (it.map_partition_id, partition(it))).collect();
        if distinct.len() < locations.len() {
            return Err(WorkError::Failed { message: format!("{}, and came back", guard::LOST) });
        }
        let access = Arc::new(BallistaConfigGrpcEndpoint::new(endpoints(self.token.as_ref())));
        let rows = futures::stream::iter(locations)
            .then(move |location| fetch(location, Arc::clone(&access)))
            .try_flatten()
            .map_err(move |error| external(failed(&error)));
        // The job is done, and its results stay until the rows are read.
        let rows = rows.inspect(move |_| {
            let _ = &job;
        });
        Ok(Box::pin(RecordBatchStreamAdapter::new(schema, rows)))
    }

    /// Does a round of tasks once.
    async fn round(&self, tasks: &[Task], attempt: u64) -> Result<Vec<Receipt>, WorkError> {
        let failed = |error: DataFusionError| WorkError::Failed { message: with_causes(&error) };
        let config = self.configure(SessionConfig::new())?;
        let plan = leaf::plan(tasks).and_then(|plan| chaos::with_faults(plan, &config, attempt)).map_err(failed)?;
        let mut rows = self.run(plan, &config).await?;
        let mut receipts: Vec<Option<Receipt>> = vec![None; tasks.len()];
        while let Some(batch) = rows.next().await {
            for (number, receipt) in leaf::receipts(&batch.map_err(failed)?).map_err(failed)? {
                if let Some(place) = receipts.get_mut(number) {
                    *place = Some(receipt);
                }
            }
        }
        let missing = || WorkError::Failed { message: "a task has no receipt".to_owned() };
        receipts.into_iter().collect::<Option<_>>().ok_or_else(missing)
    }
}

/// Returns the message of a failed job without what is for the developers of the engine.
fn plain(message: &str) -> String {
    let end = message.find("\n\nbacktrace").unwrap_or(message.len());
    message[..end].trim().to_owned()
}

/// Fetches the rows of a partition.
async fn fetch(
    location: PartitionLocation,
    access: Arc<BallistaConfigGrpcEndpoint>,
) -> PlanResult<SendableRecordBatchStream> {
    let layout = location.layout();
    let (Some(executor), Some(partition)) = (location.executor_meta, location.partition_id) else {
        return Err(DataFusionError::Execution("the scheduler does not tell where the rows are".to_owned()));
    };
    let (host, port) = (executor.host.as_str(), executor.port as u16);
    let lost = |error: ballista_core::error::BallistaError| {
        DataFusionError::Execution(format!("the rows that the executor at {host}:{port} had are lost: {error}"))
    };
    let client = BallistaClient::try_new(
        host,
        port,
        MAX_MESSAGE_BYTES,
        false,
        Some(access),
        FETCH_ATTEMPTS,
        FETCH_PAUSE_MS,
        0,
        0,
    );
    let mut client = client.await.map_err(lost)?;
    let partition = partition.into();
    let rows = client.fetch_partition_proxied(&executor.id, &partition, location.file_id, layout, host, port, true);
    rows.await.map_err(lost)
}

/// Gives a plan to the scheduler, and waits until it has named the job.
async fn submit(
    mut job: RunningJob,
    request: Request<ExecuteQueryParams>,
    url: &str,
) -> Result<(RunningJob, JobStatus, Streaming<GetJobStatusResult>), WorkError> {
    let updates = job.scheduler.execute_query_push(request).await.map_err(|status| refusal(url, &status))?;
    let mut updates = updates.into_inner();
    let first = next(&mut updates, url).await?;
    job.id = Some(first.job_id.clone());
    Ok((job, first, updates))
}

/// Waits for what the scheduler tells next of a job.
async fn next(updates: &mut Streaming<GetJobStatusResult>, url: &str) -> Result<JobStatus, WorkError> {
    loop {
        let update = updates.message().await.map_err(|status| refusal(url, &status))?;
        match update {
            None => return Err(WorkError::Failed { message: "the scheduler ended".to_owned() }),
            Some(GetJobStatusResult { status: Some(status), .. }) => return Ok(status),
            Some(GetJobStatusResult { status: None, .. }) => {}
        }
    }
}

/// Counts a job from before it is submitted until it is ended.
struct Counted(Arc<AtomicUsize>);

impl Counted {
    fn new(jobs: &Arc<AtomicUsize>) -> Self {
        jobs.fetch_add(1, Ordering::SeqCst);
        Self(Arc::clone(jobs))
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

/// A job that the scheduler knows. It is ended when nobody waits for it any more.
struct RunningJob {
    scheduler: SchedulerGrpcClient<Channel>,
    session_id: String,
    /// `None` if it has ended, or if the scheduler has not named it yet.
    id: Option<String>,
    counted: Arc<Counted>,
}

impl Drop for RunningJob {
    fn drop(&mut self) {
        let Ok(runtime) = tokio::runtime::Handle::try_current() else { return };
        let (mut scheduler, id, session_id) = (self.scheduler.clone(), self.id.take(), self.session_id.clone());
        let counted = Arc::clone(&self.counted);
        runtime.spawn(async move {
            let _counted = counted;
            if let Some(job_id) = id {
                let _ = scheduler.cancel_job(CancelJobParams { job_id }).await;
            }
            let _ = scheduler.remove_session(RemoveSessionParams { session_id }).await;
        });
    }
}

#[async_trait]
impl Workers for Cluster {
    fn configure(&self, config: SessionConfig) -> Result<SessionConfig, WorkError> {
        let mut config = config
            .upgrade_for_ballista()
            .with_target_partitions(PARTITIONS)
            .with_ballista_grpc_client_max_message_size(MAX_MESSAGE_BYTES)
            .set_str(PARTITIONS_PER_TASK, "1");
        for (name, value) in &self.settings {
            config
                .options_mut()
                .set(name, value)
                .map_err(|_| WorkError::Setting { name: name.clone(), value: value.clone() })?;
        }
        Ok(config)
    }

    fn prepare(&self, state: SessionStateBuilder) -> SessionStateBuilder {
        state.with_optimizer_rules(ballista_default_optimizer_rules())
    }

    async fn execute(
        &self,
        plan: Arc<dyn ExecutionPlan>,
        config: &SessionConfig,
    ) -> PlanResult<SendableRecordBatchStream> {
        let plan = guard::with_guards(plan)?;
        let mut attempt = 0;
        loop {
            let plan = chaos::with_faults(Arc::clone(&plan), config, 0)?;
            match self.run(plan, config).await {
                Err(WorkError::Failed { message }) if message.contains(guard::LOST) && attempt + 1 < ATTEMPTS => {
                    attempt += 1;
                    tracing::warn!(attempt, message, "a question is tried again");
                }
                other => return other.map_err(external),
            }
        }
    }

    async fn work(&self, tasks: Vec<Task>, stop: &AtomicBool) -> Result<Vec<Receipt>, WorkError> {
        let stopped = async {
            while !stop.load(Ordering::Relaxed) {
                tokio::time::sleep(STOP_CHECK).await;
            }
        };
        let done = async {
            let mut attempt = 0;
            loop {
                match self.round(&tasks, attempt).await {
                    Err(WorkError::Failed { message }) if attempt + 1 < ATTEMPTS => {
                        attempt += 1;
                        tracing::warn!(attempt, message, "a round is tried again");
                    }
                    other => return other,
                }
            }
        };
        tokio::select! {
            () = stopped => Err(WorkError::Stopped),
            receipts = done => receipts,
        }
    }

    async fn settle(&self) {
        // A job that is given up is dropped by a task that may be in the middle of something.
        let started = Instant::now();
        while self.jobs.load(Ordering::SeqCst) > 0 && started.elapsed() < FAREWELL {
            tokio::time::sleep(SETTLE_CHECK).await;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_url_of_a_scheduler_has_a_port() {
        assert_eq!(checked_url("http://127.0.0.1:50050/").ok().as_deref(), Some("http://127.0.0.1:50050"));
        for url in ["", "127.0.0.1:50050", "http://scheduler", "https://scheduler:1", "s3://scheduler:1"] {
            assert!(matches!(checked_url(url), Err(WorkError::Url { .. })), "{url}");
        }
    }

    #[test]
    fn a_setting_is_one_of_the_engine() {
        let cluster = |name: &str, value: &str| {
            Cluster::new("http://127.0.0.1:1", None, vec![(name.to_owned(), value.to_owned())])
        };
        assert!(cluster("ballista.testing.chaos_execution.enabled", "true").is_ok());
        assert!(cluster("datafusion.execution.target_partitions", "4").is_ok());
        for (name, value) in [("datafusion.nothing", "1"), ("datafusion.execution.target_partitions", "many")] {
            assert!(matches!(cluster(name, value), Err(WorkError::Setting { .. })), "{name}");
        }
    }
}
