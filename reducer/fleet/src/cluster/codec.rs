//! How plans travel: as the engine writes them, and with our own nodes and functions.

use std::sync::Arc;

use ballista_core::serde::BallistaPhysicalExtensionCodec;
use datafusion::common::{Result, internal_err, plan_datafusion_err};
use datafusion::execution::TaskContext;
use datafusion::logical_expr::ScalarUDF;
use datafusion::physical_plan::ExecutionPlan;
use datafusion_proto::physical_plan::{PhysicalExtensionCodec, PhysicalProtoConverterExtension};
use trace_explain::prices::Prices;

use super::guard::GuardExec;
use super::leaf::WorkExec;
use crate::query::prices::{MONEY, Money};

/// Stands for a [`WorkExec`]. The engine's own nodes are messages of Protobuf, of which none begins with a field of such a number.
const WORK: &[u8] = b"\xff\xfftrace-fleet work 1";

/// Stands for a [`GuardExec`].
const GUARD: &[u8] = b"\xff\xfftrace-fleet guard 1";

/// Stands for a [`GuardExec`] that gathers its input.
const GATHER: &[u8] = b"\xff\xfftrace-fleet gather 1";

/// Begins the description of [`Money`] without prices, or with the text of a table after it.
const NO_PRICES: &[u8] = b"0";
const PRICES: &[u8] = b"1";

/// Reads and writes plans.
#[derive(Default)]
pub(super) struct FleetCodec {
    engine: BallistaPhysicalExtensionCodec,
    /// Options of stores of this machine, for the nodes that it reads.
    options: Arc<Vec<(String, String)>>,
}

// Options have credentials.
impl std::fmt::Debug for FleetCodec {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("FleetCodec").finish_non_exhaustive()
    }
}

impl FleetCodec {
    pub(super) fn new(options: &[(String, String)]) -> Self {
        Self { options: Arc::new(options.to_vec()), ..Self::default() }
    }
}

impl PhysicalExtensionCodec for FleetCodec {
    fn try_decode(
        &self,
        buf: &[u8],
        inputs: &[Arc<dyn ExecutionPlan>],
        context: &TaskContext,
        converter: &dyn PhysicalProtoConverterExtension,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        match (buf, inputs) {
            (WORK, [input]) => Ok(Arc::new(WorkExec::new(Arc::clone(input), Arc::clone(&self.options)))),
            (GUARD, [input]) => Ok(Arc::new(GuardExec::new(Arc::clone(input)))),
            (GATHER, [input]) => Ok(Arc::new(GuardExec::gathering(Arc::clone(input)))),
            (WORK | GUARD | GATHER, _) => internal_err!("a node of trace fleet has one input"),
            _ => self.engine.try_decode(buf, inputs, context, converter),
        }
    }

    fn try_encode(
        &self,
        node: Arc<dyn ExecutionPlan>,
        buf: &mut Vec<u8>,
        converter: &dyn PhysicalProtoConverterExtension,
    ) -> Result<()> {
        if node.is::<WorkExec>() {
            buf.extend_from_slice(WORK);
            return Ok(());
        }
        if let Some(guard) = node.downcast_ref::<GuardExec>() {
            buf.extend_from_slice(if guard.is_gathering() { GATHER } else { GUARD });
            return Ok(());
        }
        self.engine.try_encode(node, buf, converter)
    }

    fn try_encode_udf(&self, node: &ScalarUDF, buf: &mut Vec<u8>) -> Result<()> {
        if let Some(money) = node.inner().downcast_ref::<Money>() {
            buf.extend_from_slice(money.text().map_or(NO_PRICES, |_| PRICES));
            buf.extend_from_slice(money.text().unwrap_or_default().as_bytes());
        }
        Ok(())
    }

    fn try_decode_udf(&self, name: &str, buf: &[u8]) -> Result<Arc<ScalarUDF>> {
        if name != MONEY {
            return self.engine.try_decode_udf(name, buf);
        }
        let prices = match buf.strip_prefix(PRICES) {
            None => None,
            Some(text) => {
                let unusable = |error: &dyn ToString| plan_datafusion_err!("the price table: {}", error.to_string());
                let text = std::str::from_utf8(text).map_err(|error| unusable(&error))?;
                Some(Prices::parse(text).map_err(|error| unusable(&error))?)
            }
        };
        Ok(Arc::new(ScalarUDF::from(Money::new(prices))))
    }
}
