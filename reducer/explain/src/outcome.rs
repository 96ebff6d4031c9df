//! How calls ended, as one of four outcomes.
//!
//! An outcome is what the windows and the exit code of a call show. Costs, timelines, pictures and exports count outcomes. The
//! [postmortem](crate::postmortem) also reads payloads and what happened later, so it can tell more of the same call: that
//! the user declined it, for example, or that it was stopped on purpose.

use serde::{Deserialize, Serialize};
use trace_reducer::model::{ExecutionStatus, OperationIdx, ToolCall, Trace, Window};

/// How a call ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// It succeeded.
    Completed,
    /// It failed.
    Failed,
    /// It was stopped before it ended.
    Cancelled,
    /// The log does not show its end.
    Unfinished,
}

impl Outcome {
    /// Returns the name of the outcome.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Completed => "completed",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
            Self::Unfinished => "unfinished",
        }
    }

    /// Returns the outcome of something whose window is all that is known.
    pub fn of_window(window: &Window) -> Self {
        match window.status {
            ExecutionStatus::Running => Self::Unfinished,
            ExecutionStatus::Completed => Self::Completed,
            ExecutionStatus::Failed | ExecutionStatus::Unknown => Self::Failed,
            ExecutionStatus::Cancelled | ExecutionStatus::Aborted => Self::Cancelled,
        }
    }

    /// Returns the outcome of a tool call. A call whose command exits with a code other than 0 has failed even if the
    /// call itself completed. A call without an end has the outcome of its runtime.
    pub fn of_tool(trace: &Trace, call: &ToolCall) -> Self {
        let own = Self::of_window(&call.execution);
        let runtime = call.runtime.as_ref().map(Self::of_window);
        match (own, runtime) {
            (Self::Completed, Some(Self::Failed)) | (Self::Unfinished, Some(Self::Failed)) => Self::Failed,
            (Self::Completed, _) if failed_exit_code(trace, call.operation).is_some() => Self::Failed,
            (Self::Unfinished, Some(Self::Cancelled)) => Self::Cancelled,
            (own, _) => own,
        }
    }
}

/// Returns the exit code of the command that a call ran; `None` if there is none.
pub fn exit_code(trace: &Trace, call: &ToolCall) -> Option<i64> {
    operation_exit_code(trace, call.operation?)
}

/// Returns the exit code of a terminal operation; `None` if there is none.
pub fn operation_exit_code(trace: &Trace, operation: OperationIdx) -> Option<i64> {
    trace.operations[operation].result.as_ref()?.exit_code
}

/// Returns the exit code of a command that failed: one other than 0.
pub fn failed_exit_code(trace: &Trace, operation: Option<OperationIdx>) -> Option<i64> {
    operation_exit_code(trace, operation?).filter(|code| *code != 0)
}
