//! Requests, responses, and the history that requests repeat.

use std::io;

use serde::Serialize;
use serde_json::{Value, json};
use trace_recorder::format::event::{HistoryItemAccepted, InferenceCompleted, InferenceStarted};
use trace_recorder::format::{EventPayload, PayloadKind, SchemaVersion};

use super::tools::Call;
use super::{Agent, Session};
use crate::items;
use crate::texts::{BYTES_PER_TOKEN, Texts};

/// A request to the model, with the key order of real requests.
#[derive(Serialize)]
struct Request<'a> {
    model: &'a str,
    stream: bool,
    input: &'a [Value],
    tools: &'a Value,
    tool_choice: &'static str,
    parallel_tool_calls: bool,
    reasoning: Value,
    store: bool,
    include: [&'static str; 1],
    prompt_cache_key: &'a str,
    client_metadata: Value,
}

impl Session {
    /// Adds the messages that precede the first message of the user to the history of a new thread.
    pub(super) fn accept_context(&mut self, agent: Agent) -> io::Result<()> {
        if !self.state(agent).history.is_empty() {
            return Ok(());
        }
        let Texts { instructions, guidance, .. } = self.setup.texts.clone();
        // No event refers to the item with the base instructions.
        let id = format!("msg_{}", self.ids.uuid_v4());
        self.remember(agent, items::input_message(&id, "developer", &[&instructions]));
        for text in &guidance {
            let id = self.item_id("msg");
            self.accept(agent, items::input_message(&id, "developer", &[text]), &id)?;
        }
        let environment = format!(
            "<environment_context>\n  <cwd>{}</cwd>\n  <shell>bash</shell>\n</environment_context>",
            self.setup.cwd
        );
        let id = self.item_id("msg");
        self.accept(agent, items::input_message(&id, "user", &[&environment]), &id)
    }

    pub(super) fn remember(&mut self, agent: Agent, item: Value) {
        let state = self.state_mut(agent);
        state.request_bytes += item.to_string().len();
        state.history.push(item);
    }

    pub(super) fn accept(&mut self, agent: Agent, item: Value, id: &str) -> io::Result<()> {
        self.remember(agent, item);
        self.receipt(agent, id, None)
    }

    pub(super) fn receipt(&mut self, agent: Agent, item_id: &str, message: Option<&Value>) -> io::Result<()> {
        if self.setup.schema < SchemaVersion::V2 {
            return Ok(());
        }
        let agent_message_payload =
            message.map(|item| self.writer.payload(PayloadKind::ProtocolEvent, item)).transpose()?;
        self.turn_event(
            agent,
            EventPayload::HistoryItemAccepted(HistoryItemAccepted { item_id: item_id.into(), agent_message_payload }),
        )
    }

    /// Moves the agent's mailbox into its history and records a request. Returns the id of the call.
    pub(super) fn request(&mut self, agent: Agent) -> io::Result<String> {
        while let Some(message) = self.state_mut(agent).mailbox.pop_front() {
            let id = self.item_id("amsg");
            let receipt = message.receipt(&id, &self.turn_id(agent), self.now_ms);
            self.remember(agent, message.item(&id));
            self.receipt(agent, &id, Some(&receipt))?;
        }
        self.advance(4);
        let inference_call_id = self.ids.uuid_v4();
        // The agents are borrowed by field, not by method, because the writer is borrowed at the same time.
        let (state, session) = (&self.agents[agent.0], &self.agents[0]);
        let turn_id = self.turn_id(agent);
        let parent_thread_id = state.parent.map(|parent| &self.state(parent).thread_id);
        let turn_metadata = json!({
            "session_id": session.thread_id,
            "thread_id": state.thread_id,
            "agent_name": state.path,
            "turn_id": turn_id,
            "request_kind": "turn",
            "root_turn_id": self.root_turn_id,
            "thread_source": if state.parent.is_some() { "subagent" } else { "user" },
            "turn_started_at_unix_ms": self.turn(agent).started_at_ms,
            "model": state.model,
        });
        let mut client_metadata = json!({
            "turn_id": turn_id,
            "session_id": session.thread_id,
            "thread_id": state.thread_id,
            "root_turn_id": self.root_turn_id,
            "turn_metadata": turn_metadata.to_string(),
        });
        if let Some(parent_thread_id) = parent_thread_id {
            client_metadata["parent_thread_id"] = json!(parent_thread_id);
        }
        let Texts { tools, child_tools, .. } = &self.setup.texts;
        let request = Request {
            model: &state.model,
            stream: true,
            input: &state.history,
            tools: if state.parent.is_some() { child_tools } else { tools },
            tool_choice: "auto",
            parallel_tool_calls: true,
            reasoning: json!({ "summary": "auto" }),
            store: false,
            include: ["reasoning.encrypted_content"],
            prompt_cache_key: &session.thread_id,
            client_metadata,
        };
        let request_payload = self.writer.payload(PayloadKind::InferenceRequest, &request)?;
        let event = EventPayload::InferenceStarted(InferenceStarted {
            inference_call_id: inference_call_id.clone().into(),
            thread_id: state.thread_id.clone().into(),
            codex_turn_id: turn_id.into(),
            model: state.model.clone().into(),
            provider_name: self.setup.provider.clone().into(),
            request_payload,
        });
        self.turn_event(agent, event)?;
        Ok(inference_call_id)
    }

    pub(super) fn respond(
        &mut self,
        agent: Agent,
        inference_call_id: String,
        calls: &[Call],
        answer: Option<&str>,
    ) -> io::Result<()> {
        let first_token_ms = 180 + i64::from(self.ids.below(240));
        let writing_ms = 400 + i64::from(self.ids.below(900));
        self.advance(first_token_ms + writing_ms);
        let mut output: Vec<(String, Value)> = Vec::new();
        if let Some(summary) = self.state_mut(agent).thought.take() {
            let id = format!("rs_{}", self.ids.hex(16));
            let encrypted: String = (0..8).map(|_| self.ids.hex(16)).collect();
            output.push((id.clone(), items::reasoning(&id, &summary, &encrypted)));
        }
        if let Some(text) = self.state_mut(agent).remark.take() {
            let id = format!("msg_{}", self.ids.hex(16));
            output.push((id.clone(), items::output_message(&id, &text)));
        }
        for call in calls {
            output.push((call.item_id.clone(), call.item()));
        }
        if let Some(text) = answer {
            let id = format!("msg_{}", self.ids.hex(16));
            output.push((id.clone(), items::output_message(&id, text)));
        }
        let response_id = format!("resp_{}", self.ids.hex(16));
        let upstream_request_id = format!("req_{}", self.ids.hex(16));
        let reasoning_bytes = |item: &Value| if item["type"] == "reasoning" { item.to_string().len() } else { 0 };
        let output_bytes: usize = output.iter().map(|(_, item)| item.to_string().len()).sum();
        let thought_bytes: usize = output.iter().map(|(_, item)| reasoning_bytes(item)).sum();
        let state = self.state_mut(agent);
        let input_tokens = state.request_bytes / BYTES_PER_TOKEN;
        let output_tokens = output_bytes / BYTES_PER_TOKEN;
        let usage = json!({
            "input_tokens": input_tokens,
            "cached_input_tokens": std::mem::replace(&mut state.cached_tokens, input_tokens / 128 * 128),
            "cache_write_input_tokens": 0,
            "output_tokens": output_tokens,
            "reasoning_output_tokens": thought_bytes / BYTES_PER_TOKEN,
            "total_tokens": input_tokens + output_tokens,
        });
        if let Some(turn) = &mut state.turn {
            turn.first_token_ms.get_or_insert(first_token_ms);
        }
        let items: Vec<&Value> = output.iter().map(|(_, item)| item).collect();
        let response = json!({
            "response_id": response_id,
            "upstream_request_id": upstream_request_id,
            "token_usage": usage,
            "output_items": items,
        });
        let response_payload = self.writer.payload(PayloadKind::InferenceResponse, &response)?;
        self.turn_event(
            agent,
            EventPayload::InferenceCompleted(InferenceCompleted {
                inference_call_id: inference_call_id.into(),
                response_id: Some(response_id.into()),
                upstream_request_id: Some(upstream_request_id.into()),
                response_payload,
            }),
        )?;
        for (id, item) in output {
            self.accept(agent, item, &id)?;
        }
        Ok(())
    }
}
