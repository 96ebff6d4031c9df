//! Compactions, which replace a history by a shorter one.

use std::io;

use serde_json::{Value, json};
use trace_recorder::format::event::{CompactionInstalled, CompactionRequestCompleted, CompactionRequestStarted};
use trace_recorder::format::{EventPayload, PayloadKind};

use super::{Agent, Session};

impl Session {
    /// Compacts the agent's history: its input messages stay, and everything else is replaced by `summary`. Returns the id
    /// of the compaction.
    ///
    /// # Errors
    ///
    /// Returns an I/O error if something cannot be written.
    pub fn compact(&mut self, agent: Agent, summary: &str) -> io::Result<String> {
        self.advance(5);
        let compaction_id = self.ids.uuid_v7(self.now_ms);
        let request_id = format!("compaction_request:{}", self.ids.hex(8));
        let before = self.state(agent).history.clone();
        let request = json!({
            "model": self.state(agent).model,
            "instructions": self.setup.texts.instructions,
            "input": before,
            "parallel_tool_calls": true,
        });
        let request_payload = self.writer.payload(PayloadKind::CompactionRequest, &request)?;
        let started = CompactionRequestStarted {
            compaction_id: compaction_id.clone().into(),
            compaction_request_id: request_id.clone().into(),
            thread_id: self.state(agent).thread_id.clone().into(),
            codex_turn_id: self.turn_id(agent).into(),
            model: self.state(agent).model.clone().into(),
            provider_name: self.setup.provider.clone().into(),
            request_payload,
        };
        self.turn_event(agent, EventPayload::CompactionRequestStarted(started))?;
        self.advance(1_400);
        let item = json!({
            "type": "compaction",
            "id": format!("cmp_{}", self.ids.hex(16)),
            "encrypted_content": summary,
        });
        let response = json!({ "output_items": [item] });
        let response_payload = self.writer.payload(PayloadKind::CompactionResponse, &response)?;
        let completed = CompactionRequestCompleted {
            compaction_id: compaction_id.clone().into(),
            compaction_request_id: request_id.into(),
            response_payload,
        };
        self.turn_event(agent, EventPayload::CompactionRequestCompleted(completed))?;
        let is_told = |item: &&Value| item["role"] == "user" || item["role"] == "developer";
        let mut after: Vec<Value> = before.iter().filter(is_told).cloned().collect();
        after.push(item);
        let checkpoint = json!({ "input_history": before, "replacement_history": after });
        let checkpoint_payload = self.writer.payload(PayloadKind::CompactionCheckpoint, &checkpoint)?;
        let state = self.state_mut(agent);
        state.history.clear();
        // The tools before the history are smaller than the unit in which the provider caches tokens.
        (state.request_bytes, state.cached_tokens) = (0, 0);
        for item in after {
            self.remember(agent, item);
        }
        let installed = CompactionInstalled { compaction_id: compaction_id.clone().into(), checkpoint_payload };
        self.turn_event(agent, EventPayload::CompactionInstalled(installed))?;
        Ok(compaction_id)
    }
}
