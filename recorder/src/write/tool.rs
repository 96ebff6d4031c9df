//! The handle of a tool call.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::body::IntoBody;
use super::open_turn::OpenTurn;
use super::recorder::Payload;
use crate::format::event::{
    LooseKind, McpToolCallCorrelationAssigned, StdinTargetResolved, ToolCallEnded, ToolCallRuntimeEnded,
    ToolCallRuntimeStarted, ToolCallStarted,
};
use crate::format::{EventPayload, ExecutionStatus, PayloadKind, Requester, ToolKind, ToolSummary};

/// A tool call that starts.
#[derive(Debug, Clone)]
pub struct NewToolCall<'a> {
    /// Id of the tool call.
    pub tool_call_id: &'a str,
    /// Id by which the model knows the call. `None` if code requested the call.
    pub model_visible_call_id: Option<&'a str>,
    /// Id by which the code runtime knows the call.
    pub code_mode_runtime_tool_id: Option<&'a str>,
    /// Who requested the call.
    pub requester: Requester<'a>,
    /// What kind of tool it is.
    pub kind: ToolKind<'a>,
    /// Short description.
    pub summary: ToolSummary<'a>,
}

/// Records what happens in a tool call.
#[derive(Debug, Clone)]
pub struct ToolTrace(Option<Arc<Inner>>);

#[derive(Debug)]
struct Inner {
    turn: Arc<OpenTurn>,
    tool_call_id: String,
    has_ended: AtomicBool,
}

impl ToolTrace {
    /// Returns a handle that records nothing.
    pub fn disabled() -> Self {
        Self(None)
    }

    pub(crate) fn start(turn: Arc<OpenTurn>, call: NewToolCall<'_>, invocation: Option<impl IntoBody>) -> Self {
        let tool_call_id = call.tool_call_id.to_owned();
        let payload = invocation.map(|invocation| turn.payload(PayloadKind::ToolInvocation, invocation));
        let event = ToolCallStarted {
            tool_call_id: call.tool_call_id.into(),
            model_visible_call_id: call.model_visible_call_id.map(Into::into),
            code_mode_runtime_tool_id: call.code_mode_runtime_tool_id.map(Into::into),
            requester: call.requester,
            kind: call.kind,
            summary: call.summary,
            invocation_payload: payload.as_ref().map(Payload::reference),
        };
        turn.record(&EventPayload::ToolCallStarted(event), payload);
        Self(Some(Arc::new(Inner { turn, tool_call_id, has_ended: AtomicBool::new(false) })))
    }

    /// Records the id by which an MCP server knows the call.
    pub fn assign_mcp_call(&self, mcp_call_id: &str) {
        let Some(inner) = self.0.as_deref() else { return };
        let tool_call_id = inner.tool_call_id.as_str().into();
        let event = McpToolCallCorrelationAssigned { tool_call_id, mcp_call_id: mcp_call_id.into() };
        inner.turn.record_in_session(&EventPayload::McpToolCallCorrelationAssigned(event));
    }

    /// Records which call started the command that this call writes to.
    pub fn resolve_stdin_target(&self, exec_tool_call_id: &str) {
        let Some(inner) = self.0.as_deref() else { return };
        let tool_call_id = inner.tool_call_id.as_str().into();
        let event = StdinTargetResolved { tool_call_id, exec_tool_call_id: exec_tool_call_id.into() };
        inner.turn.record(&EventPayload::StdinTargetResolved(event), None);
    }

    /// Records that the tool's runtime started, and which kind of tool it determined.
    pub fn start_runtime(&self, kind: ToolKind<'_>, report: impl IntoBody) {
        let Some(inner) = self.0.as_deref() else { return };
        let payload = inner.turn.payload(PayloadKind::ToolRuntimeEvent, report);
        let event = ToolCallRuntimeStarted {
            tool_call_id: inner.tool_call_id.as_str().into(),
            kind: Some(LooseKind(kind)),
            runtime_payload: payload.reference(),
        };
        inner.turn.record(&EventPayload::ToolCallRuntimeStarted(event), Some(payload));
    }

    /// Records that the tool's runtime ended.
    pub fn end_runtime(&self, status: ExecutionStatus, report: impl IntoBody) {
        let Some(inner) = self.0.as_deref() else { return };
        let payload = inner.turn.payload(PayloadKind::ToolRuntimeEvent, report);
        let event = ToolCallRuntimeEnded {
            tool_call_id: inner.tool_call_id.as_str().into(),
            status,
            runtime_payload: payload.reference(),
        };
        inner.turn.record(&EventPayload::ToolCallRuntimeEnded(event), Some(payload));
    }

    /// Records that the call returned its result. Only the first call has an effect. The runtime may continue in the
    /// background.
    pub fn end(&self, status: ExecutionStatus, result: Option<impl IntoBody>) {
        let Some(inner) = self.0.as_deref().filter(|inner| !inner.has_ended.swap(true, Ordering::AcqRel)) else {
            return;
        };
        let payload = result.map(|result| inner.turn.payload(PayloadKind::ToolResult, result));
        let event = ToolCallEnded {
            tool_call_id: inner.tool_call_id.as_str().into(),
            status,
            result_payload: payload.as_ref().map(Payload::reference),
        };
        inner.turn.record(&EventPayload::ToolCallEnded(event), payload);
    }
}
