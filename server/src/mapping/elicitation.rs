//! Elicitations of MCP servers and approvals of their tool calls. Clients get both as the same kind of server request.

use serde_json::{Value, json};
use trace_protocol::approval as wire;
use trace_runtime::host::{Answer, ApprovalScope, Decision, Elicitation, ElicitationAction, ServerToolQuestion};
use trace_runtime::{ThreadId, TurnId};

/// Marks a form as the approval of a tool call.
const APPROVAL_KIND: &str = "mcp_tool_call";

/// How long the client may offer to remember an approval.
const OFFERED: [&str; 1] = ["session"];

/// The values with which a client says that it remembers an approval. For each of them, the approval holds as long as
/// the thread is loaded.
const TAKEN: [&str; 2] = ["session", "always"];

/// Returns the request that asks for the approval of a tool call.
pub(super) fn approval(thread_id: String, question: &ServerToolQuestion) -> wire::McpServerElicitationRequestParams {
    let shown = question.arguments.as_object().into_iter().flatten();
    let shown: Vec<_> =
        shown.map(|(name, value)| json!({ "name": name, "value": value, "display_name": name })).collect();
    let mut meta = json!({
        "codex_approval_kind": APPROVAL_KIND,
        "tool_name": question.tool,
        "tool_title": question.title,
        "tool_description": question.description,
        "tool_annotations": question.annotations,
        "tool_params": question.arguments,
        "tool_params_display": shown,
    });
    if question.lasts == ApprovalScope::Thread {
        meta["persist"] = json!(OFFERED);
    }
    wire::McpServerElicitationRequestParams {
        thread_id,
        server_name: question.server.clone(),
        turn_id: Some(question.turn.to_string()),
        request: wire::McpServerElicitationRequest::Form {
            message: format!(
                "May the MCP server {} run its tool \"{}\"?",
                name(&question.server),
                name(&question.tool)
            ),
            requested_schema: json!({ "type": "object", "properties": {} }),
            meta: Some(meta),
        },
    }
}

/// Most columns of the name of an MCP server or a tool in a message.
const MAX_NAME_COLUMNS: usize = 200;

/// Returns a name that is safe to show: MCP servers choose the names of their tools.
fn name(name: &str) -> String {
    trace_text::preview(name, trace_text::Usage::Command, MAX_NAME_COLUMNS)
}

/// Decodes a client's decision about a tool call. Closing the form declines the call, but the turn continues.
pub(super) fn decision(response: &wire::McpServerElicitationRequestResponse) -> Answer {
    use wire::McpServerElicitationAction as Action;
    Answer::Decision(match response.action {
        Action::Decline | Action::Cancel => Decision::Decline,
        Action::Accept => {
            let kept = response.meta.as_ref().and_then(|meta| meta.get("persist")).and_then(Value::as_str);
            match kept {
                Some(kept) if TAKEN.contains(&kept) => Decision::AcceptForSession,
                _ => Decision::Accept,
            }
        }
    })
}

/// Returns the request for an elicitation of an MCP server.
pub(super) fn request(
    thread_id: String,
    turn: &TurnId,
    server: &str,
    request: &Elicitation,
) -> wire::McpServerElicitationRequestParams {
    wire::McpServerElicitationRequestParams {
        thread_id,
        server_name: server.to_owned(),
        turn_id: Some(turn.to_string()),
        request: match request.clone() {
            Elicitation::Form { message, schema, meta } => {
                wire::McpServerElicitationRequest::Form { message, requested_schema: schema, meta }
            }
            Elicitation::Visit { message, url, id, meta } => {
                wire::McpServerElicitationRequest::Url { elicitation_id: id, message, url, meta }
            }
        },
    }
}

/// Decodes the user's answer to an elicitation.
pub(super) fn answer(response: wire::McpServerElicitationRequestResponse) -> Answer {
    use wire::McpServerElicitationAction as Action;
    let action = match response.action {
        Action::Accept => ElicitationAction::Accept,
        Action::Decline => ElicitationAction::Decline,
        Action::Cancel => ElicitationAction::Cancel,
    };
    Answer::Elicitation { action, content: response.content, meta: response.meta }
}

/// Returns the notification of the start-up status of an MCP server.
pub(crate) fn startup(
    thread: &ThreadId,
    name: &str,
    startup: &trace_mcp::Startup,
) -> trace_protocol::notification::McpServerStatusUpdatedNotification {
    use trace_mcp::Startup;
    use trace_protocol::notification::{McpServerStartupFailureReason, McpServerStartupState as State};
    let (status, error) = match startup {
        Startup::Starting => (State::Starting, None),
        Startup::Ready => (State::Ready, None),
        Startup::Failed(failure) => (State::Failed, Some(format!("MCP server `{name}`: {}", failure.message))),
        Startup::Cancelled => (State::Cancelled, None),
    };
    let needs_login = matches!(startup, Startup::Failed(failure) if failure.need == trace_mcp::Remedy::Login);
    trace_protocol::notification::McpServerStatusUpdatedNotification {
        name: name.to_owned(),
        status,
        thread_id: Some(thread.to_string()),
        error,
        failure_reason: needs_login.then_some(McpServerStartupFailureReason::ReauthenticationRequired),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decided(response: Value) -> Answer {
        decision(&serde_json::from_value(response).expect("a response"))
    }

    #[test]
    fn approval_for_the_session_is_offered_if_it_lasts() {
        let offered = |lasts| {
            let question = ServerToolQuestion {
                turn: TurnId::from("u"),
                item: "i".into(),
                server: "docs".to_owned(),
                tool: "read".to_owned(),
                title: None,
                description: None,
                annotations: None,
                arguments: json!({}),
                lasts,
            };
            match approval("t".to_owned(), &question).request {
                wire::McpServerElicitationRequest::Form { meta, .. } => meta.expect("it says more")["persist"].clone(),
                other => panic!("{other:?}"),
            }
        };
        assert_eq!((offered(ApprovalScope::Thread), offered(ApprovalScope::Once)), (json!(["session"]), Value::Null));
    }

    #[test]
    fn the_name_of_a_tool_cannot_imitate_the_question() {
        let question = ServerToolQuestion {
            turn: TurnId::from("u"),
            item: "i".into(),
            server: "docs".to_owned(),
            tool: format!("read\"?\r\n\u{202e}Yes{}write", "x".repeat(1000)),
            title: None,
            description: None,
            annotations: None,
            arguments: json!({}),
            lasts: ApprovalScope::Once,
        };
        let wire::McpServerElicitationRequest::Form { message, .. } = approval("t".to_owned(), &question).request
        else {
            panic!("no form")
        };
        assert!(message.starts_with("May the MCP server docs run its tool \"read\"?␍⏎\\u{202e}Yes"), "{message}");
        assert!(message.ends_with("xwrite\"?") && message.chars().count() < 300, "{message}");
    }

    #[test]
    fn users_approve_once_or_for_the_session() {
        for (response, expected) in [
            (json!({ "action": "accept" }), Decision::Accept),
            (json!({ "action": "accept", "_meta": { "persist": "session" } }), Decision::AcceptForSession),
            (json!({ "action": "accept", "_meta": { "persist": "always" } }), Decision::AcceptForSession),
            (json!({ "action": "accept", "_meta": { "persist": "forever" } }), Decision::Accept),
            (json!({ "action": "decline", "_meta": { "persist": "session" } }), Decision::Decline),
            (json!({ "action": "cancel" }), Decision::Decline),
        ] {
            assert_eq!(decided(response.clone()), Answer::Decision(expected), "{response}");
        }
    }

    #[test]
    fn elicitations_reach_clients_unchanged() {
        let schema = json!({ "type": "object", "properties": { "name": { "type": "string" } } });
        let form = Elicitation::Form { message: "who".to_owned(), schema: schema.clone(), meta: None };
        let shown = serde_json::to_value(request("t".to_owned(), &TurnId::from("u"), "docs", &form)).expect("JSON");
        let expected = json!({
            "threadId": "t", "serverName": "docs", "turnId": "u", "mode": "form", "message": "who", "requestedSchema": schema,
        });
        assert_eq!(shown, expected);
        let visit = Elicitation::Visit {
            message: "go".to_owned(),
            url: "https://a".to_owned(),
            id: "e".to_owned(),
            meta: Some(json!({ "x": 1 })),
        };
        let shown = serde_json::to_value(request("t".to_owned(), &TurnId::from("u"), "docs", &visit)).expect("JSON");
        let expected = json!({
            "threadId": "t", "serverName": "docs", "turnId": "u", "mode": "url", "message": "go", "url": "https://a",
            "elicitationId": "e", "_meta": { "x": 1 },
        });
        assert_eq!(shown, expected);
    }
}
