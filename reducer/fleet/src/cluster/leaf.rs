//! The node of a plan that does tasks: each row of its input is a task, and each row of its output a receipt.
//!
//! It is not quite a leaf of the plan: below it is a table in memory that has the tasks, one in each partition. The engine knows
//! how to give a machine some partitions of such a table, and does not know that of any leaf that it has not made.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use arrow::array::{Array, AsArray, StringArray, UInt64Array};
use arrow::datatypes::{DataType, Field, Schema, SchemaRef, UInt64Type};
use arrow::record_batch::RecordBatch;
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::common::{DataFusionError, Result, exec_datafusion_err, exec_err, internal_err};
use datafusion::datasource::memory::MemorySourceConfig;
use datafusion::execution::TaskContext;
use datafusion::physical_expr::{EquivalenceProperties, PhysicalExpr};
use datafusion::physical_plan::execution_plan::{Boundedness, EmissionType};
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::{
    DisplayAs, DisplayFormatType, ExecutionPlan, Partitioning, PlanProperties, SendableRecordBatchStream,
};
use futures::{StreamExt, TryStreamExt};
use tokio::runtime::Handle;

use crate::work::{TaskError, perform};
use crate::workers::{Receipt, Task};

/// Does the tasks of its input.
#[derive(Clone)]
pub(super) struct WorkExec {
    input: Arc<dyn ExecutionPlan>,
    properties: Arc<PlanProperties>,
    /// Options of stores, as this machine has them. They do not travel.
    options: Arc<Vec<(String, String)>>,
}

// Options have credentials.
impl std::fmt::Debug for WorkExec {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("WorkExec").field("input", &self.input).finish_non_exhaustive()
    }
}

fn schema(column: &str) -> SchemaRef {
    let number = Field::new("task", DataType::UInt64, false);
    Arc::new(Schema::new(vec![number, Field::new(column, DataType::Utf8, false)]))
}

/// Returns the plan that does tasks.
pub(super) fn plan(tasks: &[Task]) -> Result<Arc<dyn ExecutionPlan>> {
    let partition = |(number, task): (usize, &Task)| {
        let text = serde_json::to_string(task).map_err(|error| exec_datafusion_err!("a task has no text: {error}"))?;
        Ok(vec![row(number as u64, &text, schema("task_text"))?])
    };
    let partitions = tasks.iter().enumerate().map(partition).collect::<Result<Vec<_>>>()?;
    let input = MemorySourceConfig::try_new_exec(&partitions, schema("task_text"), None)?;
    Ok(Arc::new(WorkExec::new(input, Arc::default())))
}

fn row(number: u64, text: &str, schema: SchemaRef) -> Result<RecordBatch> {
    let columns: Vec<Arc<dyn Array>> =
        vec![Arc::new(UInt64Array::from(vec![number])), Arc::new(StringArray::from(vec![text]))];
    Ok(RecordBatch::try_new(schema, columns)?)
}

/// Returns the numbers and texts of rows.
fn texts(rows: &RecordBatch) -> Result<Vec<(u64, String)>> {
    let columns = rows.columns();
    let numbers = columns.first().and_then(|column| column.as_primitive_opt::<UInt64Type>());
    let texts = columns.get(1).and_then(|column| column.as_string_opt::<i32>());
    let (Some(numbers), Some(texts)) = (numbers, texts) else { return internal_err!("no tasks and no receipts") };
    Ok((0..rows.num_rows()).map(|row| (numbers.value(row), texts.value(row).to_owned())).collect())
}

/// Returns the receipts of rows, each with the number of its task.
pub(super) fn receipts(rows: &RecordBatch) -> Result<Vec<(usize, Receipt)>> {
    let parse = |(number, text): (u64, String)| {
        let receipt: Receipt = serde_json::from_str(&text)
            .map_err(|error| exec_datafusion_err!("a receipt is damaged, or of another version: {error}"))?;
        receipt.version.check().map_err(|error| exec_datafusion_err!("an executor did a task: {error}"))?;
        Ok((number as usize, receipt))
    };
    texts(rows)?.into_iter().map(parse).collect()
}

impl WorkExec {
    pub(super) fn new(input: Arc<dyn ExecutionPlan>, options: Arc<Vec<(String, String)>>) -> Self {
        let properties = PlanProperties::new(
            EquivalenceProperties::new(schema("receipt")),
            Partitioning::UnknownPartitioning(input.properties().output_partitioning().partition_count()),
            EmissionType::Incremental,
            Boundedness::Bounded,
        );
        Self { input, properties: Arc::new(properties), options }
    }
}

/// Tells a task to end when nobody waits for it any more: a thread cannot be aborted.
struct EndsWithTask(Arc<AtomicBool>);

impl Drop for EndsWithTask {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Does a task on a thread that may block, and returns its receipt as text.
async fn done(text: String, options: Arc<Vec<(String, String)>>) -> Result<String> {
    let task: Task = serde_json::from_str(&text)
        .map_err(|error| exec_datafusion_err!("the task is of another version of trace fleet: {error}"))?;
    let is_stopped = Arc::new(AtomicBool::new(false));
    let _ends = EndsWithTask(Arc::clone(&is_stopped));
    let runtime = Handle::current();
    let work =
        tokio::task::spawn_blocking(move || perform(&task, &options, &runtime, &|| is_stopped.load(Ordering::Relaxed)));
    match work.await {
        Ok(Ok(receipt)) => serde_json::to_string(&receipt).map_err(|error| exec_datafusion_err!("{error}")),
        // The engine repeats a task after an I/O error and after nothing else.
        Ok(Err(TaskError::Store(message))) => Err(DataFusionError::IoError(io::Error::other(message))),
        Ok(Err(error)) => exec_err!("{error}"),
        Err(error) => exec_err!("a task ended in a bug: {error}"),
    }
}

impl DisplayAs for WorkExec {
    fn fmt_as(&self, _format: DisplayFormatType, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("WorkExec")
    }
}

impl ExecutionPlan for WorkExec {
    fn name(&self) -> &str {
        "WorkExec"
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        &self.properties
    }

    fn children(&self) -> Vec<&Arc<dyn ExecutionPlan>> {
        vec![&self.input]
    }

    fn benefits_from_input_partitioning(&self) -> Vec<bool> {
        vec![false]
    }

    fn apply_expressions(
        &self,
        _f: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> Result<TreeNodeRecursion>,
    ) -> Result<TreeNodeRecursion> {
        Ok(TreeNodeRecursion::Continue)
    }

    fn with_new_children(self: Arc<Self>, mut children: Vec<Arc<dyn ExecutionPlan>>) -> Result<Arc<dyn ExecutionPlan>> {
        match (children.pop(), children.is_empty()) {
            (Some(input), true) => Ok(Arc::new(Self::new(input, Arc::clone(&self.options)))),
            _ => internal_err!("WorkExec has one input"),
        }
    }

    fn execute(&self, partition: usize, context: Arc<TaskContext>) -> Result<SendableRecordBatchStream> {
        let tasks = self.input.execute(partition, context)?;
        let options = Arc::clone(&self.options);
        let rows = tasks.map(|batch| Ok::<_, DataFusionError>(futures::stream::iter(texts(&batch?)?).map(Ok)));
        let rows = rows.try_flatten().and_then(move |(number, text)| {
            let options = Arc::clone(&options);
            async move { row(number, &done(text, options).await?, schema("receipt")) }
        });
        Ok(Box::pin(RecordBatchStreamAdapter::new(schema("receipt"), rows)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workers::Version;

    #[test]
    fn a_receipt_of_another_version_is_refused() {
        let rows = |receipt: &Receipt| {
            row(3, &serde_json::to_string(receipt).expect("serializes"), schema("receipt")).expect("a row")
        };
        let own = Receipt { vanished: 2, ..Receipt::default() };
        assert_eq!(receipts(&rows(&own)).expect("reads"), [(3, own.clone())]);
        let other = Receipt { version: Version { program: "0.0.1".to_owned(), ..Version::default() }, ..own };
        let error = receipts(&rows(&other)).expect_err("is refused");
        assert!(error.to_string().contains("must have one version"), "{error}");
        let none = row(3, r#"{"batches":[],"vanished":0,"failed":[]}"#, schema("receipt")).expect("a row");
        assert!(receipts(&none).is_err(), "a receipt without a version is older");
    }
}
