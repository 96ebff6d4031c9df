//! Asks a lake with SQL, or one of the named questions.
//!
//! A question is a stranger's text, and so are the rows. It can read the tables of one snapshot and nothing else: no file, no
//! other table, no change of a setting. It has limits of size, time, memory and rows.
//!
//! A question is planned here, over the files that the log does not rule out. The plan runs in this process, or on workers.

pub mod named;
mod output;
pub mod prices;
mod table;

use std::any::Any;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use arrow::datatypes::SchemaRef;
use arrow::record_batch::RecordBatch;
use datafusion::catalog::{
    CatalogProvider, CatalogProviderList, MemoryCatalogProvider, MemoryCatalogProviderList, MemorySchemaProvider,
};
use datafusion::common::{DataFusionError, ParamValues, ScalarValue, plan_datafusion_err};
use datafusion::datasource::physical_plan::FileScanConfig;
use datafusion::datasource::source::DataSourceExec;
use datafusion::execution::disk_manager::{DiskManagerBuilder, DiskManagerMode};
use datafusion::execution::memory_pool::GreedyMemoryPool;
use datafusion::execution::object_store::ObjectStoreUrl;
use datafusion::execution::runtime_env::RuntimeEnvBuilder;
use datafusion::execution::session_state::{SessionState, SessionStateBuilder};
use datafusion::logical_expr::{LogicalPlan, ScalarUDF};
use datafusion::physical_plan::analyze::AnalyzeExec;
use datafusion::physical_plan::explain::ExplainExec;
use datafusion::physical_plan::recursive_query::RecursiveQueryExec;
use datafusion::physical_plan::streaming::StreamingTableExec;
use datafusion::physical_plan::{ExecutionPlan, execute_stream};
use datafusion::prelude::{SQLOptions, SessionConfig, SessionContext};
use futures::StreamExt;
use object_store::ObjectStore;
use object_store::local::LocalFileSystem;
use object_store::path::Path;
use tokio::task::AbortHandle;
use trace_explain::prices::Prices;

pub use output::{Format, OutputError, write};

use crate::lake::data::file_path;
use crate::lake::record::DataFile;
use crate::lake::{Lake, Snapshot};
use crate::store::{SCHEMES, Store};
use crate::tables;
use crate::workers::{WorkError, Workers};

/// Most bytes of a question.
pub const MAX_SQL_BYTES: usize = 64 << 10;

/// Longest time of a question, if nothing else is said.
pub const DEFAULT_TIMEOUT: Duration = Duration::from_secs(300);

/// Most bytes of memory for sorting, joining and grouping, if nothing else is said.
pub const DEFAULT_MEMORY_BYTES: usize = 2 << 30;

/// Most rows of an answer, if nothing else is said.
pub const DEFAULT_ROWS: usize = 100_000;

/// Most bytes of footers of data files that an engine keeps. A footer takes about 20 KiB in memory.
const FOOTERS_BYTES: usize = 256 << 20;

/// Most groups for each row, up to which a part of the rows is grouped before all are: with more of them, groups are kept twice for
/// little. Questions that group by session have at least a group for every few rows, and those about everything are limited by
/// memory.
const MAX_PARTIAL_GROUPS: f64 = 0.1;

/// Functions that make a large value of a small one. The limit of memory does not count what they make.
const REFUSED_FUNCTIONS: [&str; 10] = [
    "repeat",
    "lpad",
    "rpad",
    "array_repeat",
    "list_repeat",
    "array_resize",
    "list_resize",
    "range",
    "generate_series",
    "gen_series",
];

/// Where the store is registered.
const STORE: &str = "lake://lake";

/// Name of the view of inference calls with their money.
const COSTS: &str = "costs";

/// Limits of a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Longest time.
    pub timeout: Duration,
    /// Most bytes of memory for sorting, joining and grouping.
    pub memory_bytes: usize,
    /// Most rows of the answer. More are left out.
    pub rows: usize,
    /// Threads.
    pub threads: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            timeout: DEFAULT_TIMEOUT,
            memory_bytes: DEFAULT_MEMORY_BYTES,
            rows: DEFAULT_ROWS,
            threads: std::thread::available_parallelism().map_or(1, usize::from),
        }
    }
}

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
pub enum QueryError {
    /// The question is too long.
    #[error("the question has {bytes} bytes; at most {MAX_SQL_BYTES} are read")]
    TooLong {
        /// Its size in bytes.
        bytes: usize,
    },
    /// There is no such named question.
    #[error("there is no question @{name}")]
    UnknownName {
        /// The name.
        name: String,
    },
    /// A parameter has no value.
    #[error("the question needs a value for ${name}")]
    MissingParameter {
        /// Name of the parameter.
        name: String,
    },
    /// It took too long.
    #[error("the question took longer than {} s", .limit.as_secs())]
    Timeout {
        /// The limit.
        limit: Duration,
    },
    /// It needs too much memory.
    #[error("the question needs more than {limit} bytes of memory")]
    Memory {
        /// The limit in bytes.
        limit: usize,
        /// Cause of the error.
        source: Box<DataFusionError>,
    },
    /// The workers failed.
    #[error(transparent)]
    Work(WorkError),
    /// The engine refuses it or failed.
    #[error("{}", first_line(.0))]
    Engine(#[source] Box<DataFusionError>),
    /// The engine had a bug.
    #[error("the question ended in a bug of the engine: {message}")]
    Panicked {
        /// Message of the panic.
        message: String,
    },
}

/// Returns an error of the engine without the backtrace and the notes for its developers.
fn first_line(error: &DataFusionError) -> String {
    let text = error.strip_backtrace();
    let end = text.find("\n\nbacktrace").or_else(|| text.find("\nThis issue was likely caused by a bug"));
    text[..end.unwrap_or(text.len())].trim_end().to_owned()
}

/// An answer.
#[derive(Debug, Clone)]
pub struct Answer {
    /// Names and types of the columns.
    pub schema: SchemaRef,
    /// The rows.
    pub rows: Vec<RecordBatch>,
    /// Whether rows were left out because of [`Limits::rows`].
    pub is_cut: bool,
}

impl Answer {
    /// Returns the number of rows.
    pub fn count(&self) -> usize {
        self.rows.iter().map(RecordBatch::num_rows).sum()
    }
}

/// A question.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Question {
    /// SQL, or `@` and the name of a question.
    pub sql: String,
    /// Values of parameters by name.
    pub parameters: Vec<(String, String)>,
    /// A condition on the common columns, to which all tables are narrowed.
    pub condition: Option<String>,
}

/// Answers questions about a snapshot. Several can be asked at once.
pub struct Engine {
    /// Has all tables. Questions do not change it.
    context: SessionContext,
    limits: Limits,
    workers: Option<Arc<dyn Workers>>,
}

/// Ends a task when nobody waits for its answer any more.
struct EndsWithCaller(AbortHandle);

impl Drop for EndsWithCaller {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl Engine {
    /// Prepares the tables of a snapshot.
    ///
    /// # Errors
    ///
    /// Returns an error if the engine cannot be set up.
    pub fn new(lake: &Lake, snapshot: &Snapshot, prices: Option<Prices>, limits: Limits) -> Result<Self, QueryError> {
        Self::build(lake, snapshot, prices, limits, None)
    }

    /// Prepares the tables of a snapshot for questions that run on workers. They open the lake by its URL, and the limit of
    /// memory is theirs. What reads no table of the lake runs here.
    ///
    /// # Errors
    ///
    /// Returns an error if the engine cannot be set up.
    pub fn on(
        workers: Arc<dyn Workers>,
        lake: &Lake,
        snapshot: &Snapshot,
        prices: Option<Prices>,
        limits: Limits,
    ) -> Result<Self, QueryError> {
        Self::build(lake, snapshot, prices, limits, Some(workers))
    }

    fn build(
        lake: &Lake,
        snapshot: &Snapshot,
        prices: Option<Prices>,
        limits: Limits,
        workers: Option<Arc<dyn Workers>>,
    ) -> Result<Self, QueryError> {
        let runtime = RuntimeEnvBuilder::new()
            .with_memory_pool(Arc::new(GreedyMemoryPool::new(limits.memory_bytes)))
            .with_metadata_cache_limit(FOOTERS_BYTES)
            // Without a place for temporary files, nothing is written anywhere.
            .with_disk_manager_builder(DiskManagerBuilder::default().with_mode(DiskManagerMode::Disabled))
            .build_arc()
            .map_err(engine_error)?;
        let mut config = SessionConfig::new().with_information_schema(true).with_target_partitions(limits.threads);
        config.options_mut().execution.parquet.pushdown_filters = true;
        config.options_mut().execution.parquet.reorder_filters = true;
        config.options_mut().execution.skip_partial_aggregation_probe_ratio_threshold = MAX_PARTIAL_GROUPS;
        let context = match &workers {
            None => SessionContext::new_with_config_rt(config, runtime),
            Some(workers) => {
                let config = workers.configure(config).map_err(QueryError::Work)?;
                let state =
                    SessionStateBuilder::new_with_default_features().with_config(config).with_runtime_env(runtime);
                SessionContext::new_with_state(workers.prepare(state).build())
            }
        };
        let place = match &workers {
            None => Place::own(lake.store()),
            Some(_) => Place::common(lake.store()),
        };
        let place = place.map_err(engine_error)?;
        context.register_object_store(place.url.as_ref(), Arc::clone(&place.store));
        for name in REFUSED_FUNCTIONS {
            context.deregister_udf(name);
            context.deregister_udtf(name);
        }
        context.register_udf(ScalarUDF::from(prices::Money::new(prices)));
        for table in tables::ALL.iter() {
            let name = table.name();
            let files = snapshot.batches.values().filter_map(|batch| batch.files.get(name));
            let path = |file: &DataFile| place.path(&file_path(name, &file.path));
            let provider = table::LakeTable {
                schema: tables::schema(*table),
                files: files.map(|file| (path(file), file.clone())).collect(),
                store: place.url.clone(),
            };
            context.register_table(name, Arc::new(provider)).map_err(engine_error)?;
        }
        Ok(Self { context, limits, workers })
    }

    /// Answers a question. It runs on the runtime of the caller, in a task of its own, which ends if the caller stops waiting.
    ///
    /// # Errors
    ///
    /// Returns an error if the question is refused, fails, or reaches a limit.
    pub async fn ask(&self, question: &Question) -> Result<Answer, QueryError> {
        self.ask_up_to(question, self.limits.rows).await
    }

    /// Answers a question with at most `rows` rows.
    ///
    /// # Errors
    ///
    /// Returns an error if the question is refused, fails, or reaches a limit.
    pub async fn ask_up_to(&self, question: &Question, rows: usize) -> Result<Answer, QueryError> {
        let sql = match question.sql.strip_prefix('@') {
            Some(name) => named::find(name).ok_or_else(|| QueryError::UnknownName { name: name.to_owned() })?.sql,
            None => question.sql.as_str(),
        };
        let bytes = sql.len() + question.condition.as_ref().map_or(0, String::len);
        if bytes > MAX_SQL_BYTES {
            return Err(QueryError::TooLong { bytes });
        }
        let given = |name: &str| question.parameters.iter().any(|(given, _)| given == name);
        if let Some(name) =
            named::parameters(sql).into_iter().find(|name| question.sql.starts_with('@') && !given(name))
        {
            return Err(QueryError::MissingParameter { name: name.to_owned() });
        }
        let (context, limits, workers) = (self.context.clone(), self.limits, self.workers.clone());
        let (sql, condition, parameters) = (sql.to_owned(), question.condition.clone(), question.parameters.clone());
        // Planning does not yield, so the limit of time is kept outside of the task.
        let mut task =
            tokio::spawn(async move { answer(&context, &sql, condition, parameters, rows, workers.as_deref()).await });
        let _ends = EndsWithCaller(task.abort_handle());
        match tokio::time::timeout(limits.timeout, &mut task).await {
            Err(_) => Err(QueryError::Timeout { limit: limits.timeout }),
            Ok(Ok(answer)) => answer.map_err(|error| self.error(error)),
            Ok(Err(error)) => {
                let panic = error.try_into_panic().ok();
                let text = panic.as_ref().and_then(|it| {
                    it.downcast_ref::<&str>()
                        .map(|text| (*text).to_owned())
                        .or_else(|| it.downcast_ref::<String>().cloned())
                });
                Err(QueryError::Panicked { message: text.unwrap_or_default() })
            }
        }
    }

    fn error(&self, error: DataFusionError) -> QueryError {
        if matches!(error.find_root(), DataFusionError::ResourcesExhausted(_)) {
            return QueryError::Memory { limit: self.limits.memory_bytes, source: Box::new(error) };
        }
        match error {
            DataFusionError::External(error) => match error.downcast::<WorkError>() {
                Ok(error) => QueryError::Work(*error),
                Err(error) => engine_error(DataFusionError::External(error)),
            },
            error => engine_error(error),
        }
    }
}

/// Where the files of a lake are for the engine.
struct Place {
    url: ObjectStoreUrl,
    store: Arc<dyn ObjectStore>,
    root: Path,
}

impl Place {
    /// The store that this process has opened, under a name that nobody else knows.
    fn own(store: &Store) -> Result<Self, DataFusionError> {
        let url = ObjectStoreUrl::parse(STORE)?;
        Ok(Self { url, store: Arc::clone(store.object_store()), root: store.full_path("") })
    }

    /// The store under the URL by which other machines open it.
    fn common(store: &Store) -> Result<Self, DataFusionError> {
        let url = store.url();
        // Of a URL such as https://, other machines could not tell which part names the store.
        if !SCHEMES.split(", ").any(|scheme| scheme == url.scheme()) {
            return Err(plan_datafusion_err!(
                "a cluster opens lakes of the schemes {SCHEMES}, and {url} has another one"
            ));
        }
        if url.scheme() != "file" {
            let url = ObjectStoreUrl::parse(&url[..url::Position::BeforePath])?;
            return Ok(Self { url, ..Self::own(store)? });
        }
        let folder = url.to_file_path().map_err(|()| plan_datafusion_err!("{url} names another machine"))?;
        let root = Path::from_absolute_path(&folder).map_err(|error| plan_datafusion_err!("{url}: {error}"))?;
        Ok(Self { url: ObjectStoreUrl::local_filesystem(), store: Arc::new(LocalFileSystem::new()), root })
    }

    fn path(&self, file: &str) -> String {
        file.split('/').fold(self.root.clone(), |path, part| path.join(part)).to_string()
    }
}

/// Returns whether a plan reads files, which is what workers are for.
fn reads_files(plan: &Arc<dyn ExecutionPlan>) -> bool {
    let reads = plan.downcast_ref::<DataSourceExec>().is_some_and(|scan| {
        let source: &dyn Any = scan.data_source().as_ref();
        source.is::<FileScanConfig>()
    });
    reads || plan.children().into_iter().any(reads_files)
}

/// Returns whether a plan can run on other machines: not if it explains itself, reads the tables that this process makes of its
/// own settings (`information_schema`), or is recursive.
fn travels(plan: &Arc<dyn ExecutionPlan>) -> bool {
    let stays = plan.is::<AnalyzeExec>()
        || plan.is::<ExplainExec>()
        || plan.is::<StreamingTableExec>()
        || plan.is::<RecursiveQueryExec>();
    !stays && plan.children().into_iter().all(travels)
}

fn engine_error(error: DataFusionError) -> QueryError {
    QueryError::Engine(Box::new(error))
}

/// Statements that only read.
fn read_only() -> SQLOptions {
    SQLOptions::new().with_allow_ddl(false).with_allow_dml(false).with_allow_statements(false)
}

/// Returns a text as a literal of SQL.
pub fn literal(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

/// Returns the names of the tables that a question reads, or all if they cannot be told.
fn tables_of(state: &SessionState, sql: &str) -> Result<BTreeSet<String>, DataFusionError> {
    let statement = state.sql_to_statement(sql, &state.config_options().sql_parser.dialect)?;
    let references = state.resolve_table_references(&statement)?;
    let of_other_schemas = references.iter().any(|reference| reference.schema().is_some());
    let mut names: BTreeSet<String> = references.iter().map(|reference| reference.table().to_owned()).collect();
    if of_other_schemas {
        names.extend(tables::ALL.iter().map(|table| table.name().to_owned()).chain([COSTS.to_owned()]));
    }
    Ok(names)
}

/// Returns a context that has the tables that a question reads, narrowed to a condition. Tables that it does not read are not
/// planned: that would take as long as the question.
async fn context_of(
    whole: &SessionContext,
    sql: &str,
    condition: Option<&str>,
) -> Result<SessionContext, DataFusionError> {
    let is_read = tables_of(&whole.state(), sql)?;
    let needs_costs = is_read.contains(COSTS);
    if condition.is_none() && !needs_costs {
        return Ok(whole.clone());
    }
    let own = Arc::new(MemoryCatalogProviderList::new());
    let state = whole.state();
    let names = &state.config_options().catalog;
    let catalog = Arc::new(MemoryCatalogProvider::new());
    catalog.register_schema(&names.default_schema, Arc::new(MemorySchemaProvider::new()))?;
    own.register_catalog(names.default_catalog.clone(), catalog);
    let state = SessionStateBuilder::new_from_existing(state).with_catalog_list(own).build();
    let context = SessionContext::new_with_state(state);
    for table in tables::ALL.iter().map(|table| table.name()) {
        let is_needed = is_read.contains(table) || (needs_costs && table == prices::CALLS);
        if !is_needed {
            continue;
        }
        let narrowed = match condition {
            Some(condition) => {
                let sql = format!("SELECT * FROM {table} WHERE ({condition}\n)");
                whole.sql_with_options(&sql, read_only()).await?.into_view()
            }
            None => whole.table_provider(table).await?,
        };
        context.register_table(table, narrowed)?;
    }
    if needs_costs {
        let costs = context.sql_with_options(prices::COSTS, read_only()).await?;
        context.register_table(COSTS, costs.into_view())?;
    }
    Ok(context)
}

async fn answer(
    whole: &SessionContext,
    sql: &str,
    condition: Option<String>,
    parameters: Vec<(String, String)>,
    max_rows: usize,
    workers: Option<&dyn Workers>,
) -> Result<Answer, DataFusionError> {
    let context = context_of(whole, sql, condition.as_deref()).await?;
    let mut frame = context.sql_with_options(sql, read_only()).await?;
    if !parameters.is_empty() {
        let values = parameters.into_iter().map(|(name, value)| (name, ScalarValue::Utf8(Some(value)).into()));
        frame = frame.with_param_values(ParamValues::Map(values.collect()))?;
    }
    let schema: SchemaRef = Arc::new(frame.schema().as_arrow().clone());
    let mut stream = match workers {
        None => frame.execute_stream().await?,
        Some(workers) => {
            // Workers keep whole answers, so they are told how much of it is wanted: a row more tells that some are left out.
            let is_explained = matches!(frame.logical_plan(), LogicalPlan::Explain(_) | LogicalPlan::Analyze(_));
            let frame = if is_explained { frame } else { frame.limit(0, Some(max_rows.saturating_add(1)))? };
            let task = Arc::new(frame.task_ctx());
            let plan = frame.create_physical_plan().await?;
            match reads_files(&plan) && travels(&plan) {
                true => workers.execute(plan, task.session_config()).await?,
                false => execute_stream(plan, task)?,
            }
        }
    };
    let mut rows: Vec<RecordBatch> = Vec::new();
    let mut left = max_rows;
    let mut is_cut = false;
    while let Some(batch) = stream.next().await {
        let batch = batch?;
        if batch.num_rows() > left {
            is_cut = true;
            rows.push(batch.slice(0, left));
            break;
        }
        left -= batch.num_rows();
        rows.push(batch);
    }
    let schema = rows.first().map_or(schema, RecordBatch::schema);
    Ok(Answer { schema, rows, is_cut })
}

#[cfg(test)]
mod tests {
    use object_store::memory::InMemory;

    use super::*;

    #[test]
    fn a_lake_on_a_cluster_has_a_url_that_names_its_store() {
        let place = |url: &str| {
            let url = url::Url::parse(url).expect("a URL");
            Place::common(&Store::with(Arc::new(InMemory::new()), Path::from("lake"), url))
        };
        for (url, expected) in [
            ("s3://bucket/lake", "s3://bucket/"),
            ("gs://bucket/lake", "gs://bucket/"),
            ("az://container/lake", "az://container/"),
            ("file:///traces/lake", "file:///"),
        ] {
            assert_eq!(place(url).expect("a place").url.as_str(), expected);
        }
        for url in ["https://account.blob.core.windows.net/container/lake", "abfss://container@account/lake"] {
            let error = place(url).err().expect("is refused");
            assert!(error.to_string().contains("file, s3, gs, az"), "{error}");
        }
    }
}
