//! How calls came out, in four words.

use serde::{Deserialize, Serialize};
use trace_reducer::model::{ExecutionStatus, ToolCall, Trace, Window};

/// How a call came out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// It did what it was to do.
    Completed,
    /// It did not.
    Failed,
    /// It was stopped.
    Cancelled,
    /// The log has no end of it.
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

    /// Returns how something came out whose window says it all.
    pub fn of_window(window: &Window) -> Self {
        match window.status {
            ExecutionStatus::Running => Self::Unfinished,
            ExecutionStatus::Completed => Self::Completed,
            ExecutionStatus::Failed | ExecutionStatus::Unknown => Self::Failed,
            ExecutionStatus::Cancelled | ExecutionStatus::Aborted => Self::Cancelled,
        }
    }

    /// Returns how a tool call came out. A command that exits with a code has failed even though its call completed, and a
    /// call without an end came out as its runtime did.
    pub fn of_tool(trace: &Trace, call: &ToolCall) -> Self {
        let own = Self::of_window(&call.execution);
        let runtime = call.runtime.as_ref().map(Self::of_window);
        match (own, runtime) {
            (Self::Completed, Some(Self::Failed)) | (Self::Unfinished, Some(Self::Failed)) => Self::Failed,
            (Self::Completed, _) if exit_code(trace, call).is_some_and(|code| code != 0) => Self::Failed,
            (Self::Unfinished, Some(Self::Cancelled)) => Self::Cancelled,
            (own, _) => own,
        }
    }
}

/// Returns the exit code of the command that a call ran, if it has one.
pub fn exit_code(trace: &Trace, call: &ToolCall) -> Option<i64> {
    trace.operations[call.operation?].result.as_ref()?.exit_code
}
