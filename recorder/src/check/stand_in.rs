//! Decides what happens to an event whose payload is lost: the reference is cleared, a minimal document replaces the
//! payload, or the event is removed.
//!
//! The document that replaces a payload has only the members that readers of the format require, and a member that marks
//! it as a replacement.

use std::collections::HashMap;

use serde_json::{Map, Value, json};

use super::payloads::PayloadDamage;
use crate::format::{EventPayload, Text, ToolKind};
use crate::write::DROPPED_MEMBER;

/// Message of a call that addresses an agent, if its invocation is lost.
const LOST_MESSAGE: &str = "(the message of this call is lost)";

/// A UUID that no thread has.
const NOBODY: &str = "00000000-0000-0000-0000-000000000000";

/// The tool kinds of a log by the ids of the tool calls.
pub(super) type ToolKinds<'a> = HashMap<Text<'a>, ToolKind<'a>>;

/// The field of an event that refers to a payload, and how readers use the payload.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Field<'a> {
    pub(super) name: &'static str,
    role: Role<'a>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Role<'a> {
    Optional,
    Request,
    Response,
    Checkpoint,
    Invocation(Text<'a>),
    RuntimeBegin(Text<'a>),
    RuntimeEnd(Text<'a>),
    Unread,
}

/// What a repair does about a lost payload.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Loss {
    /// Sets the reference to null.
    Clear,
    /// Replaces the payload by a document with these members.
    Replace(Map<String, Value>),
    /// Removes the event: it has no meaning without its payload, and any replacement would be false.
    Remove,
}

impl<'a> Field<'a> {
    /// Returns the field of an event that readers may follow, or `None` if the event has no such field.
    pub(super) fn of(payload: &EventPayload<'a>) -> Option<Self> {
        let (name, role) = match payload {
            EventPayload::ThreadStarted(_) => ("metadata_payload", Role::Optional),
            EventPayload::HistoryItemAccepted(_) => ("agent_message_payload", Role::Optional),
            EventPayload::InferenceStarted(_) => ("request_payload", Role::Request),
            EventPayload::InferenceCompleted(_) => ("response_payload", Role::Response),
            EventPayload::InferenceFailed(_) | EventPayload::InferenceCancelled(_) => {
                ("partial_response_payload", Role::Optional)
            }
            EventPayload::ToolCallStarted(event) => {
                ("invocation_payload", Role::Invocation(event.tool_call_id.clone()))
            }
            EventPayload::ToolCallRuntimeStarted(event) => {
                ("runtime_payload", Role::RuntimeBegin(event.tool_call_id.clone()))
            }
            EventPayload::ToolCallRuntimeEnded(event) => {
                ("runtime_payload", Role::RuntimeEnd(event.tool_call_id.clone()))
            }
            EventPayload::ToolCallEnded(_) => ("result_payload", Role::Optional),
            EventPayload::CodeCellInitialResponse(_) | EventPayload::CodeCellEnded(_) => {
                ("response_payload", Role::Optional)
            }
            EventPayload::CompactionRequestStarted(_) => ("request_payload", Role::Unread),
            EventPayload::CompactionRequestCompleted(_) => ("response_payload", Role::Unread),
            EventPayload::CompactionInstalled(_) => ("checkpoint_payload", Role::Checkpoint),
            EventPayload::AgentResultObserved(_) => ("carried_payload", Role::Optional),
            EventPayload::ProtocolEventObserved(_) => ("event_payload", Role::Unread),
            _ => return None,
        };
        Some(Self { name, role })
    }

    /// Returns what to do if the payload is lost.
    pub(super) fn when_lost(&self, kinds: &ToolKinds<'a>) -> Loss {
        let kind_of = |tool: &Text<'a>| kinds.get(tool);
        match &self.role {
            Role::Optional => Loss::Clear,
            Role::Request => replace(json!({ "input": [] })),
            Role::Response => replace(json!({ "output_items": [] })),
            Role::Checkpoint => replace(json!({ "input_history": [], "replacement_history": [] })),
            Role::Unread => replace(json!({})),
            Role::Invocation(tool) => match kind_of(tool) {
                // Readers refuse the runtime events of such a call if the call has no message.
                Some(kind @ (ToolKind::SpawnAgent | ToolKind::AssignAgentTask | ToolKind::SendMessage)) => {
                    let arguments = json!({ "message": LOST_MESSAGE }).to_string();
                    let payload = json!({ "type": "function", "arguments": arguments });
                    replace(json!({ "tool_name": kind.tag(), "tool_namespace": null, "payload": payload }))
                }
                _ => Loss::Clear,
            },
            Role::RuntimeBegin(tool) => match kind_of(tool) {
                Some(ToolKind::ExecCommand | ToolKind::WriteStdin) => replace(json!({ "command": [], "cwd": "" })),
                Some(ToolKind::AssignAgentTask | ToolKind::SendMessage | ToolKind::CloseAgent) => Loss::Remove,
                _ => replace(json!({})),
            },
            Role::RuntimeEnd(tool) => match kind_of(tool) {
                Some(ToolKind::ExecCommand | ToolKind::WriteStdin) => {
                    replace(json!({ "exit_code": -1, "aggregated_output": "" }))
                }
                // The older form of a spawn's runtime event is used, because it does not have to name a child.
                Some(ToolKind::SpawnAgent) => replace(json!({
                    "call_id": "",
                    "sender_thread_id": NOBODY,
                    "new_thread_id": null,
                    "prompt": "",
                    "model": "",
                    "reasoning_effort": "low",
                    "status": "not_found",
                })),
                Some(ToolKind::AssignAgentTask | ToolKind::SendMessage | ToolKind::CloseAgent) => Loss::Remove,
                _ => replace(json!({})),
            },
        }
    }
}

fn replace(value: Value) -> Loss {
    match value {
        Value::Object(members) => Loss::Replace(members),
        _ => Loss::Replace(Map::new()),
    }
}

/// Returns the text of a replacement document: the marker, then the members that readers require.
pub(super) fn document(members: &Map<String, Value>, damage: &PayloadDamage) -> Vec<u8> {
    let (bytes, reason) = match damage {
        PayloadDamage::NotJson { bytes, .. } => (Some(*bytes), "not_json"),
        PayloadDamage::Empty => (Some(0), "not_json"),
        _ => (None, "missing"),
    };
    let mark = (DROPPED_MEMBER.to_owned(), json!({ "bytes": bytes, "reason": reason }));
    let members: Map<String, Value> = std::iter::once(mark).chain(members.clone()).collect();
    let mut text = Value::Object(members).to_string().into_bytes();
    text.push(b'\n');
    text
}
