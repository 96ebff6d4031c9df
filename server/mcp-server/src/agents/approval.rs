//! Questions of an agent, as elicitations.

use std::sync::Arc;

use serde::de::DeserializeOwned;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use trace_protocol::approval::{
    CommandExecutionApprovalDecision, CommandExecutionRequestApprovalParams, CommandExecutionRequestApprovalResponse,
    FileChangeApprovalDecision, FileChangeRequestApprovalParams, FileChangeRequestApprovalResponse,
};
use trace_protocol::item::PatchChangeKind;
use trace_protocol::{RequestId, RpcError};
use trace_text::Usage;

use super::changes::files;
use super::turn::Turn;
use crate::client::NoAnswer;

/// Most characters of a command in a question.
const MAX_COMMAND_CHARS: usize = 2_000;

/// Most files that a question names.
const MAX_FILES: usize = 20;

/// Most characters of diffs in a question.
const MAX_DIFF_CHARS: usize = 8_000;

/// What the client decided.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Decision {
    Yes,
    ForSession,
    No,
    Stop,
}

impl Decision {
    /// Reads the answer to an elicitation. Clients of the Codex CLI put `decision` beside the protocol's `action`. They get
    /// everything in members of their own. Other clients show the message only, so their `accept` counts if the message is whole.
    fn of(answer: Result<Value, NoAnswer>, is_whole: bool) -> Self {
        let Ok(answer) = answer else { return Self::No };
        let told = answer.get("decision").or_else(|| answer.get("content")?.get("decision"));
        match (told.and_then(Value::as_str), told, answer["action"].as_str()) {
            (Some("approved"), ..) => Self::Yes,
            (Some("approved_for_session"), ..) => Self::ForSession,
            (Some("abort"), ..) => Self::Stop,
            // A decision that is not known is no approval.
            (_, Some(_), _) => Self::No,
            (_, None, Some("accept")) if is_whole => Self::Yes,
            (_, None, Some("cancel")) => Self::Stop,
            _ => Self::No,
        }
    }
}

impl Turn<'_> {
    /// Puts a question of the server to the client. The answer goes to the server when it comes.
    pub(super) fn question(&mut self, id: RequestId, method: &str, params: Option<&RawValue>) {
        match method {
            "item/commandExecution/requestApproval" => match decoded(params) {
                Some(question) => self.ask_for_command(id, &question),
                None => self.refuse(id, "the request is not valid".to_owned()),
            },
            "item/fileChange/requestApproval" => match decoded(params) {
                Some(question) => self.ask_for_changes(id, &question),
                None => self.refuse(id, "the request is not valid".to_owned()),
            },
            other => self.refuse(id, format!("`trace mcp` does not answer `{other}`")),
        }
    }

    fn ask_for_command(&mut self, id: RequestId, question: &CommandExecutionRequestApprovalParams) {
        let command = question.command.as_deref().unwrap_or_default();
        let cwd = question.cwd.as_deref().unwrap_or_default();
        let shown = trace_text::preview(command, Usage::Command, MAX_COMMAND_CHARS);
        let mut text = format!("Run this command in {}?\n{shown}", trace_text::line(cwd, Usage::Command));
        add(&mut text, "reason", question.reason.as_deref());
        add(&mut text, "rights", question.rights.as_deref());
        let words = shlex::split(command).unwrap_or_else(|| vec![command.to_owned()]);
        let mut params = self.elicitation("exec-approval", &question.item_id, &text);
        params["codex_command"] = json!(words);
        params["codex_cwd"] = json!(cwd);
        params["codex_parsed_cmd"] = json!(question.command_actions.as_deref().unwrap_or_default());
        let server = self.server.clone();
        let is_whole = shown == trace_text::line(command, Usage::Command);
        self.ask(params, is_whole, move |decision| async move {
            let decision = match decision {
                Decision::Yes => CommandExecutionApprovalDecision::Accept,
                Decision::ForSession => CommandExecutionApprovalDecision::AcceptForSession,
                Decision::No => CommandExecutionApprovalDecision::Decline,
                Decision::Stop => CommandExecutionApprovalDecision::Cancel,
            };
            let _ = server.answer(&id, &CommandExecutionRequestApprovalResponse { decision }).await;
        });
    }

    fn ask_for_changes(&mut self, id: RequestId, question: &FileChangeRequestApprovalParams) {
        let server = self.server.clone();
        // Changes that were not announced cannot be shown, so they are declined.
        let Some(changes) = self.changes.get(&question.item_id).cloned() else {
            let decision = FileChangeApprovalDecision::Decline;
            self.questions.spawn(async move {
                let _ = server.answer(&id, &FileChangeRequestApprovalResponse { decision }).await;
            });
            return;
        };
        let mut text = "Change these files?".to_owned();
        for change in changes.iter().take(MAX_FILES) {
            text.push_str(&format!("\n{} {}", word(&change.kind), trace_text::line(&change.path, Usage::Command)));
        }
        if changes.len() > MAX_FILES {
            text.push_str(&format!("\n… and {} more", changes.len() - MAX_FILES));
        }
        let lines = changes.iter().flat_map(|change| change.diff.lines());
        let diffs: String = lines.map(|line| format!("\n{}", trace_text::line(line, Usage::Command))).collect();
        let is_whole = changes.len() <= MAX_FILES && diffs.chars().count() <= MAX_DIFF_CHARS;
        if is_whole {
            text.push_str(&diffs);
        }
        add(&mut text, "reason", question.reason.as_deref());
        let mut params = self.elicitation("patch-approval", &question.item_id, &text);
        params["codex_changes"] = files(&changes);
        params["codex_reason"] = json!(question.reason);
        params["codex_grant_root"] = json!(question.grant_root);
        self.ask(params, is_whole, move |decision| async move {
            let decision = match decision {
                Decision::Yes => FileChangeApprovalDecision::Accept,
                Decision::ForSession => FileChangeApprovalDecision::AcceptForSession,
                Decision::No => FileChangeApprovalDecision::Decline,
                Decision::Stop => FileChangeApprovalDecision::Cancel,
            };
            let _ = server.answer(&id, &FileChangeRequestApprovalResponse { decision }).await;
        });
    }

    /// Returns the params of an elicitation, with the members that clients of the Codex CLI read.
    fn elicitation(&self, kind: &str, item: &str, text: &str) -> Value {
        json!({
            "message": text,
            "requestedSchema": {"type": "object", "properties": {}},
            "threadId": self.thread,
            "codex_elicitation": kind,
            "codex_mcp_tool_call_id": self.call.id,
            "codex_event_id": self.turn,
            "codex_call_id": item,
        })
    }

    fn ask<F>(&mut self, params: Value, is_whole: bool, answer: impl FnOnce(Decision) -> F + Send + 'static)
    where
        F: Future<Output = ()> + Send,
    {
        if self.call.client.capability("elicitation").is_none() {
            self.questions.spawn(async move { answer(Decision::No).await });
            return;
        }
        let (client, outbox) = (Arc::clone(self.call.client), self.call.outbox.clone());
        self.questions.spawn(async move {
            let answered = client.ask(&outbox, "elicitation/create", &params).await;
            answer(Decision::of(answered, is_whole)).await;
        });
    }

    fn refuse(&mut self, id: RequestId, why: String) {
        let server = self.server.clone();
        self.questions.spawn(async move {
            let _ = server.refuse(&id, &RpcError::invalid_request(&why)).await;
        });
    }
}

fn add(text: &mut String, name: &str, value: Option<&str>) {
    if let Some(value) = value.filter(|value| !value.is_empty()) {
        text.push_str(&format!("\n{name}: {}", trace_text::preview(value, Usage::Prose, MAX_COMMAND_CHARS)));
    }
}

fn word(kind: &PatchChangeKind) -> &'static str {
    match kind {
        PatchChangeKind::Add => "add",
        PatchChangeKind::Delete => "delete",
        PatchChangeKind::Update { .. } => "update",
    }
}

fn decoded<T: DeserializeOwned>(params: Option<&RawValue>) -> Option<T> {
    trace_protocol::common::from_raw(params?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_of_any_client_is_understood() {
        assert_eq!(Decision::of(Ok(json!({"action": "accept"})), false), Decision::No, "it did not see everything");
        assert_eq!(Decision::of(Ok(json!({"decision": "approved"})), false), Decision::Yes);
        let of = |answer: Value| Decision::of(Ok(answer), true);
        assert_eq!(of(json!({"action": "accept"})), Decision::Yes);
        assert_eq!(of(json!({"action": "accept", "content": {}})), Decision::Yes);
        assert_eq!(of(json!({"action": "decline"})), Decision::No);
        assert_eq!(of(json!({"action": "cancel"})), Decision::Stop);
        assert_eq!(of(json!({"action": "accept", "decision": "denied"})), Decision::No);
        assert_eq!(of(json!({"action": "accept", "decision": "approved_for_session"})), Decision::ForSession);
        assert_eq!(of(json!({"decision": "approved"})), Decision::Yes);
        assert_eq!(of(json!({"decision": "abort"})), Decision::Stop);
        assert_eq!(of(json!({"action": "accept", "content": {"decision": "denied"}})), Decision::No);
        for unknown in
            [json!({}), json!(7), json!({"action": "yes"}), json!({"action": "accept", "decision": {"x": 1}})]
        {
            assert_eq!(of(unknown.clone()), Decision::No, "{unknown}");
        }
        assert_eq!(Decision::of(Err(NoAnswer), true), Decision::No);
    }
}
