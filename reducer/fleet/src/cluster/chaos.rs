//! Faults on purpose, for tests: the settings `ballista.testing.chaos_execution.*` of the engine.
//!
//! The engine obeys them only in plans that it makes itself. Ours are made here, so the faulty node is put in here as well.

use std::sync::Arc;

use ballista_core::execution_plans::ChaosExec;
use ballista_core::extension::SessionConfigExt;
use datafusion::common::Result;
use datafusion::common::tree_node::{Transformed, TreeNode, TreeNodeRecursion};
use datafusion::physical_plan::ExecutionPlan;
use datafusion::prelude::SessionConfig;
use xxhash_rust::xxh3::xxh3_64;

/// Puts a faulty node at a place of the plan that the seed chooses, if the settings want one. Another attempt at the same work
/// draws anew.
pub(super) fn with_faults(
    plan: Arc<dyn ExecutionPlan>,
    config: &SessionConfig,
    attempt: u64,
) -> Result<Arc<dyn ExecutionPlan>> {
    let settings = config.ballista_config();
    if !settings.chaos_execution_enabled() {
        return Ok(plan);
    }
    let seed = settings.chaos_execution_seed().unwrap_or_default().wrapping_add(attempt);
    let mut nodes = 0;
    plan.apply(|_| {
        nodes += 1;
        Ok(TreeNodeRecursion::Continue)
    })?;
    let chosen = xxh3_64(&seed.to_le_bytes()) % nodes;
    let (probability, kind) = (settings.chaos_execution_probability(), settings.chaos_execution_fault_type());
    let mut number = 0;
    let plan = plan.transform_down(|node| {
        number += 1;
        if number - 1 != chosen {
            return Ok(Transformed::no(node));
        }
        Ok(Transformed::yes(Arc::new(ChaosExec::new(node, probability, &kind, Some(seed))?)))
    })?;
    Ok(plan.data)
}
