//! Guards the parts of a plan: what may pass is tried again by the engine, and what it would repeat wrongly is not repeated.
//!
//! *Errors of stores.* The engine repeats a task after an I/O error and after nothing else. A scan wraps the error of a store into
//! others, so this node, which is put above each scan, turns it into an I/O error. What is missing stays an error of the question.
//!
//! *Lost executors.* When an executor is lost whose rows others were reading, Ballista 55 does the reading stage again, and keeps
//! what the first attempt had passed on: rows come twice. So this node, which is put on top of each stage, refuses the second attempt
//! of a stage, and input that has a part twice. The job fails, and the client asks again from the beginning.
//!
//! *Joins without an equality.* Each task of a nested-loop join gets the whole left side and a part of the right one, and knows
//! nothing of the others. A join that passes on rows of the left side by whether they matched would pass them on once for each
//! part. So the right side of such a join is gathered into one part, which makes it one task.

use std::collections::BTreeSet;
use std::error::Error;
use std::io;
use std::sync::Arc;

use ballista_core::execution_plans::ShuffleReaderExec;
use datafusion::common::tree_node::{Transformed, TreeNode, TreeNodeRecursion};
use datafusion::common::{DataFusionError, JoinType, Result, exec_err, internal_err};
use datafusion::datasource::source::DataSourceExec;
use datafusion::execution::TaskContext;
use datafusion::physical_expr::{Distribution, PhysicalExpr};
use datafusion::physical_plan::coalesce_partitions::CoalescePartitionsExec;
use datafusion::physical_plan::coop::cooperative;
use datafusion::physical_plan::joins::{CrossJoinExec, NestedLoopJoinExec};
use datafusion::physical_plan::repartition::RepartitionExec;
use datafusion::physical_plan::sorts::sort_preserving_merge::SortPreservingMergeExec;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::{
    DisplayAs, DisplayFormatType, ExecutionPlan, InputDistributionRequirements, PlanProperties,
    SendableRecordBatchStream, replace_children_if_necessary,
};
use futures::StreamExt;
use object_store::Error as ObjectError;

/// Begins the message of a job that failed because a stage had lost its input. The client tries it again.
pub(super) const LOST: &str = "an executor was lost";

/// Begins the name of a task, in which the engine has the number of the attempt: `TID job/stage.attempt/task.attempt`.
const TASK: &str = "TID ";

/// Passes rows on.
#[derive(Debug, Clone)]
pub(super) struct GuardExec {
    input: Arc<dyn ExecutionPlan>,
    /// Whether it wants its input in one part. The engine plans the input of a stage again, and drops what gathers parts for
    /// nobody who wants it.
    is_gathering: bool,
}

impl GuardExec {
    pub(super) fn new(input: Arc<dyn ExecutionPlan>) -> Self {
        Self { input, is_gathering: false }
    }

    /// Passes on rows that are in one part.
    pub(super) fn gathering(input: Arc<dyn ExecutionPlan>) -> Self {
        Self { input, is_gathering: true }
    }

    pub(super) fn is_gathering(&self) -> bool {
        self.is_gathering
    }
}

/// Puts the node above each scan and each join that may be large, and on top of each stage, and makes one task of joins that need it.
pub(super) fn with_guards(plan: Arc<dyn ExecutionPlan>) -> Result<Arc<dyn ExecutionPlan>> {
    let plan = plan.transform_down(gathered)?.data;
    Ok(guarded(inner(plan)?))
}

fn guarded(plan: Arc<dyn ExecutionPlan>) -> Arc<dyn ExecutionPlan> {
    if plan.is::<GuardExec>() { plan } else { Arc::new(GuardExec::new(plan)) }
}

/// Returns whether the engine cuts a plan below this node.
fn is_cut(plan: &Arc<dyn ExecutionPlan>) -> bool {
    plan.is::<RepartitionExec>() || plan.is::<CoalescePartitionsExec>() || plan.is::<SortPreservingMergeExec>()
}

fn is_gathered(plan: &Arc<dyn ExecutionPlan>) -> bool {
    plan.downcast_ref::<GuardExec>().is_some_and(GuardExec::is_gathering)
}

/// Gathers the right side of a join that has to know of each row of its left side whether it matched.
fn gathered(plan: Arc<dyn ExecutionPlan>) -> Result<Transformed<Arc<dyn ExecutionPlan>>> {
    let is_of_left = |join: &NestedLoopJoinExec| {
        matches!(
            join.join_type(),
            JoinType::Left | JoinType::LeftSemi | JoinType::LeftAnti | JoinType::LeftMark | JoinType::Full
        )
    };
    match plan.downcast_ref::<NestedLoopJoinExec>() {
        Some(join) if is_of_left(join) && !is_gathered(join.right()) => {
            let right: Arc<dyn ExecutionPlan> = Arc::new(CoalescePartitionsExec::new(Arc::clone(join.right())));
            let children = vec![Arc::clone(join.left()), Arc::new(GuardExec::gathering(right)) as _];
            Ok(Transformed::yes(replace_children_if_necessary(plan, children)?))
        }
        _ => Ok(Transformed::no(plan)),
    }
}

fn inner(plan: Arc<dyn ExecutionPlan>) -> Result<Arc<dyn ExecutionPlan>> {
    if plan.is::<DataSourceExec>() {
        return Ok(guarded(plan));
    }
    let children = plan.children();
    // A side of a join or a part of a union may become a stage.
    let has_several = children.len() > 1;
    let child = |child: &Arc<dyn ExecutionPlan>| {
        // The engine looks for a gathered side of a join by its node, which must stay on top. Nothing looks for a merged one.
        let is_found = child.is::<RepartitionExec>() || child.is::<CoalescePartitionsExec>();
        let is_top = is_cut(&plan) || (has_several && !is_found);
        let child = inner(Arc::clone(child))?;
        Ok(if is_top { guarded(child) } else { child })
    };
    let children = children.into_iter().map(child).collect::<Result<Vec<_>>>()?;
    let plan = replace_children_if_necessary(plan, children)?;
    // These make many rows of few, and do not give way meanwhile.
    let is_large = plan.is::<CrossJoinExec>() || plan.is::<NestedLoopJoinExec>();
    Ok(if is_large { guarded(plan) } else { plan })
}

/// Refuses what would be repeated wrongly.
fn check(input: &Arc<dyn ExecutionPlan>, context: &TaskContext) -> Result<()> {
    let task = context.task_id();
    let attempt = task.as_deref().and_then(stage_attempt);
    let Some(attempt) = attempt else { return internal_err!("the engine names its tasks in another way: {task:?}") };
    if attempt > 0 {
        return exec_err!("{LOST} whose rows the question needed");
    }
    input.apply(|node| {
        if let Some(reader) = node.downcast_ref::<ShuffleReaderExec>() {
            for locations in &reader.partition {
                let mut seen = BTreeSet::new();
                for it in locations {
                    if !seen.insert((it.partition_id.stage_id, it.map_partition_id, it.partition_id.partition_id)) {
                        return exec_err!("{LOST}, and came back with rows that another one had made again");
                    }
                }
            }
        }
        Ok(TreeNodeRecursion::Continue)
    })?;
    Ok(())
}

/// Returns the number of the attempt at a stage, from 0, of the name of a task.
fn stage_attempt(task: &str) -> Option<u64> {
    let mut parts = task.strip_prefix(TASK)?.split('/').skip(1);
    parts.next()?.split_once('.')?.1.parse().ok()
}

/// Turns the error of a store into an I/O error, if another attempt may succeed.
fn told(error: DataFusionError) -> DataFusionError {
    let mut cause: Option<&(dyn Error + 'static)> = Some(&error);
    while let Some(found) = cause {
        match found.downcast_ref::<ObjectError>() {
            Some(ObjectError::NotFound { .. }) => return error,
            Some(_) => return DataFusionError::IoError(io::Error::other(error.strip_backtrace())),
            None => cause = found.source(),
        }
    }
    error
}

impl DisplayAs for GuardExec {
    fn fmt_as(&self, _format: DisplayFormatType, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("GuardExec")
    }
}

impl ExecutionPlan for GuardExec {
    fn name(&self) -> &str {
        "GuardExec"
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        self.input.properties()
    }

    fn children(&self) -> Vec<&Arc<dyn ExecutionPlan>> {
        vec![&self.input]
    }

    fn required_input_distribution(&self) -> Vec<Distribution> {
        self.input_distribution_requirements().into_per_child()
    }

    fn input_distribution_requirements(&self) -> InputDistributionRequirements {
        let wanted =
            if self.is_gathering { Distribution::SinglePartition } else { Distribution::UnspecifiedDistribution };
        InputDistributionRequirements::new(vec![wanted])
    }

    fn maintains_input_order(&self) -> Vec<bool> {
        vec![true]
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
            (Some(input), true) => Ok(Arc::new(Self { input, is_gathering: self.is_gathering })),
            _ => internal_err!("GuardExec has one input"),
        }
    }

    fn execute(&self, partition: usize, context: Arc<TaskContext>) -> Result<SendableRecordBatchStream> {
        check(&self.input, &context)?;
        let rows = self.input.execute(partition, context).map_err(told)?;
        let schema = rows.schema();
        let rows = RecordBatchStreamAdapter::new(schema, rows.map(|batch| batch.map_err(told)));
        // A task can be ended only where it gives way to others.
        Ok(Box::pin(cooperative(rows)))
    }
}

#[cfg(test)]
mod tests {
    use datafusion::parquet::errors::ParquetError;

    use super::*;

    fn wrapped(error: ObjectError) -> DataFusionError {
        let parquet = ParquetError::External(Box::new(error));
        DataFusionError::Context("scan".to_owned(), Box::new(DataFusionError::ParquetError(Box::new(parquet))))
    }

    #[test]
    fn the_name_of_a_task_has_the_attempt_at_its_stage() {
        for (name, attempt) in [
            ("TID 038H22YS40000/3.0/12.2", Some(0)),
            ("TID 038H22YS40000/3.1/0.0", Some(1)),
            ("038H22YS40000/3.1/0.0", None),
            ("TID 038H22YS40000", None),
            ("TID 038H22YS40000/3/0", None),
        ] {
            assert_eq!(stage_attempt(name), attempt, "{name}");
        }
    }

    #[test]
    fn errors_of_stores_are_io_errors() {
        let generic = wrapped(ObjectError::Generic { store: "S3", source: "timeout".into() });
        let error = told(generic);
        assert!(matches!(&error, DataFusionError::IoError(error) if error.to_string().contains("timeout")), "{error}");
        let missing = wrapped(ObjectError::NotFound { path: "a".to_owned(), source: "gone".into() });
        assert!(!matches!(told(missing), DataFusionError::IoError(_)));
        let other = DataFusionError::Execution("overflow".to_owned());
        assert!(matches!(told(other), DataFusionError::Execution(_)));
    }
}
