//! The exit code of the command of a tool call.

use trace_reducer::model::{OperationIdx, Trace};

/// Returns the exit code of a command, if it is not 0.
pub(super) fn exit_code(trace: &Trace, operation: Option<OperationIdx>) -> Option<i64> {
    let code = trace.operations[operation?].result.as_ref()?.exit_code?;
    (code != 0).then_some(code)
}
