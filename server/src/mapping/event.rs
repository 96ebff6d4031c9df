//! Converts events of the runtime to notifications.
//!
//! An event becomes at most one notification here. Notifications that follow from it, such as a new status of the
//! thread, are the task of the thread.

use trace_protocol::ServerNotification;
use trace_protocol::item::ThreadItem;
use trace_protocol::notification as wire;
use trace_protocol::thread::{ThreadTokenUsage, TokenUsageBreakdown};
use trace_protocol::turn::{CodexErrorInfo, TurnError as WireError, TurnPlanStep, TurnPlanStepStatus};
use trace_runtime::event::{
    Delta, ErrorKind, Event, EventKind, PlanStatus, PlanStep, Retry, ThreadUsage, TokenCounts, TurnError,
};
use trace_runtime::{ThreadId, TurnId};

use super::{item, settings};

/// Returns the notification of the plan of a turn.
pub(crate) fn plan_updated(
    thread: &ThreadId,
    turn: &TurnId,
    explanation: Option<&str>,
    steps: &[PlanStep],
) -> ServerNotification {
    let step = |step: &PlanStep| TurnPlanStep {
        step: step.step.clone(),
        status: match step.status {
            PlanStatus::Pending => TurnPlanStepStatus::Pending,
            PlanStatus::InProgress => TurnPlanStepStatus::InProgress,
            PlanStatus::Completed => TurnPlanStepStatus::Completed,
        },
    };
    ServerNotification::from(wire::TurnPlanUpdatedNotification {
        thread_id: thread.to_string(),
        turn_id: turn.to_string(),
        explanation: explanation.map(str::to_owned),
        plan: steps.iter().map(step).collect(),
    })
}

/// Returns the notification of an event, or `None` if the event has no notification of its own.
///
/// Starts and ends of turns and items have other functions: their notifications contain the turn or the item as the
/// thread stores it.
pub(crate) fn notification(thread: &ThreadId, event: &Event) -> Option<ServerNotification> {
    let thread_id = thread.to_string();
    Some(match &event.kind {
        EventKind::ItemGrew { turn, item, delta } => growth(thread_id, turn, item.to_string(), delta),
        EventKind::Error { turn, error, retry } => ServerNotification::from(wire::ErrorNotification {
            thread_id,
            turn_id: turn.to_string(),
            error: self::error(error),
            will_retry: *retry == Retry::Follows,
        }),
        EventKind::Warning { message } => {
            ServerNotification::from(wire::WarningNotification { message: message.clone(), thread_id: Some(thread_id) })
        }
        EventKind::TokensUsed { turn, usage } => usage_updated(thread, turn, usage),
        EventKind::DiffChanged { turn, diff } => ServerNotification::from(wire::TurnDiffUpdatedNotification {
            thread_id,
            turn_id: turn.to_string(),
            diff: diff.to_string(),
        }),
        EventKind::PlanChanged { turn, explanation, steps } => {
            plan_updated(thread, turn, explanation.as_deref(), steps)
        }
        EventKind::SettingsChanged { settings } => ServerNotification::from(wire::ThreadSettingsUpdatedNotification {
            thread_id,
            thread_settings: settings::thread_settings(settings),
        }),
        EventKind::ItemStarted { .. }
        | EventKind::ItemCompleted { .. }
        | EventKind::TurnStarted { .. }
        | EventKind::TurnEnded { .. }
        | EventKind::TurnContext { .. }
        | EventKind::MailCame { .. }
        | EventKind::Remembered { .. }
        | EventKind::HistoryReplaced { .. } => return None,
    })
}

/// Returns the notification of an item that began.
pub(crate) fn item_started(thread: &ThreadId, turn: &TurnId, item: ThreadItem, at_ms: i64) -> ServerNotification {
    ServerNotification::from(wire::ItemStartedNotification {
        thread_id: thread.to_string(),
        turn_id: turn.to_string(),
        started_at_ms: at_ms,
        item,
    })
}

/// Returns the notification of an item that ended.
pub(crate) fn item_completed(thread: &ThreadId, turn: &TurnId, item: ThreadItem, at_ms: i64) -> ServerNotification {
    ServerNotification::from(wire::ItemCompletedNotification {
        thread_id: thread.to_string(),
        turn_id: turn.to_string(),
        completed_at_ms: at_ms,
        item,
        content_token_count: None,
    })
}

/// Returns the notification of a thread's token usage.
pub(crate) fn usage_updated(thread: &ThreadId, turn: &TurnId, usage: &ThreadUsage) -> ServerNotification {
    ServerNotification::from(wire::ThreadTokenUsageUpdatedNotification {
        thread_id: thread.to_string(),
        turn_id: turn.to_string(),
        token_usage: ThreadTokenUsage {
            last: counts(usage.last),
            total: counts(usage.total),
            model_context_window: usage.context_window.map(signed),
        },
    })
}

fn counts(tokens: TokenCounts) -> TokenUsageBreakdown {
    TokenUsageBreakdown {
        cached_input_tokens: signed(tokens.cached_input),
        input_tokens: signed(tokens.input),
        output_tokens: signed(tokens.output),
        reasoning_output_tokens: signed(tokens.reasoning_output),
        total_tokens: signed(tokens.total),
        cache_write_input_tokens: signed(tokens.cache_write_input),
    }
}

fn signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

fn index(number: usize) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

fn growth(thread_id: String, turn: &TurnId, item_id: String, delta: &Delta) -> ServerNotification {
    let turn_id = turn.to_string();
    match delta {
        Delta::Text(delta) => ServerNotification::from(wire::AgentMessageDeltaNotification {
            thread_id,
            turn_id,
            item_id,
            delta: delta.clone(),
        }),
        Delta::SummaryPart { index: part } => ServerNotification::from(wire::ReasoningSummaryPartAddedNotification {
            thread_id,
            turn_id,
            item_id,
            summary_index: index(*part),
        }),
        Delta::Summary { index: part, text } => ServerNotification::from(wire::ReasoningSummaryTextDeltaNotification {
            thread_id,
            turn_id,
            item_id,
            delta: text.clone(),
            summary_index: index(*part),
        }),
        Delta::Reasoning { index: part, text } => ServerNotification::from(wire::ReasoningTextDeltaNotification {
            thread_id,
            turn_id,
            item_id,
            content_index: index(*part),
            delta: text.clone(),
        }),
        Delta::Output(delta) => ServerNotification::from(wire::CommandExecutionOutputDeltaNotification {
            thread_id,
            turn_id,
            item_id,
            delta: delta.clone(),
        }),
        Delta::TerminalInput { process_id, text } => ServerNotification::from(wire::TerminalInteractionNotification {
            thread_id,
            turn_id,
            item_id,
            process_id: process_id.clone(),
            stdin: text.clone(),
        }),
        Delta::Changes(changes) => ServerNotification::from(wire::FileChangePatchUpdatedNotification {
            thread_id,
            turn_id,
            item_id,
            changes: changes.iter().map(item::change).collect(),
        }),
        Delta::Progress(message) => ServerNotification::from(wire::McpToolCallProgressNotification {
            thread_id,
            turn_id,
            item_id,
            message: message.clone(),
        }),
    }
}

pub(crate) fn error(error: &TurnError) -> WireError {
    WireError {
        message: error.message.clone(),
        additional_details: error.details.clone(),
        codex_error_info: Some(match error.kind {
            ErrorKind::ContextWindowExceeded => CodexErrorInfo::ContextWindowExceeded,
            ErrorKind::UsageLimitExceeded => CodexErrorInfo::UsageLimitExceeded,
            ErrorKind::RateLimitExceeded => CodexErrorInfo::RateLimitExceeded,
            ErrorKind::ServerOverloaded => CodexErrorInfo::ServerOverloaded,
            ErrorKind::InternalServerError => CodexErrorInfo::InternalServerError,
            ErrorKind::Unauthorized => CodexErrorInfo::Unauthorized,
            ErrorKind::BadRequest => CodexErrorInfo::BadRequest,
            ErrorKind::ModelNotFound => CodexErrorInfo::ModelNotFound,
            ErrorKind::Sandbox => CodexErrorInfo::SandboxError,
            ErrorKind::HttpConnectionFailed { status } => {
                CodexErrorInfo::HttpConnectionFailed { http_status_code: status }
            }
            ErrorKind::StreamConnectionFailed { status } => {
                CodexErrorInfo::ResponseStreamConnectionFailed { http_status_code: status }
            }
            ErrorKind::StreamDisconnected { status } => {
                CodexErrorInfo::ResponseStreamDisconnected { http_status_code: status }
            }
            ErrorKind::TooManyFailedAttempts { status } => {
                CodexErrorInfo::ResponseTooManyFailedAttempts { http_status_code: status }
            }
            ErrorKind::Other => CodexErrorInfo::Other,
        }),
        misalignment: None,
    }
}
