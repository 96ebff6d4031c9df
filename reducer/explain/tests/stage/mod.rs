//! Writes bundles event by event, for cases that the scripted sessions of the samples cannot produce.

use std::borrow::Borrow;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use tempfile::TempDir;
use trace_explain::Session;

/// A bundle that is being written.
pub(crate) struct Stage {
    directory: TempDir,
    log: String,
    seq: u64,
    payloads: u64,
}

impl Stage {
    pub(crate) fn new() -> Self {
        let directory = tempfile::tempdir().expect("a directory");
        fs::create_dir(directory.path().join("payloads")).expect("creates");
        let manifest = json!({
            "schema_version": 2, "trace_id": "trace", "rollout_id": "rollout", "root_thread_id": "t-root",
            "started_at_unix_ms": 0, "raw_event_log": "trace.jsonl", "payloads_dir": "payloads",
        });
        fs::write(directory.path().join("manifest.json"), manifest.to_string()).expect("writes");
        let mut stage = Self { directory, log: String::new(), seq: 0, payloads: 0 };
        stage.event("", json!({ "type": "rollout_started", "trace_id": "trace", "root_thread_id": "t-root" }));
        stage
    }

    /// Appends an event of a thread and returns its sequence number. The turn of the thread is `THREAD-turn`.
    pub(crate) fn event(&mut self, thread: &str, payload: impl Borrow<Value>) -> u64 {
        self.seq += 1;
        let context = |text: String| if thread.is_empty() { Value::Null } else { Value::String(text) };
        let line = json!({
            "schema_version": 2, "seq": self.seq, "wall_time_unix_ms": self.seq * 1000, "rollout_id": "rollout",
            "thread_id": context(thread.to_owned()), "codex_turn_id": context(format!("{thread}-turn")), "payload": payload.borrow(),
        });
        self.log.push_str(&format!("{line}\n"));
        self.seq
    }

    /// Writes a payload and returns the reference to it.
    pub(crate) fn payload(&mut self, kind: &str, value: &Value) -> Value {
        self.payloads += 1;
        let path = format!("payloads/{}.json", self.payloads);
        fs::write(self.directory.path().join(&path), value.to_string()).expect("writes");
        json!({ "raw_payload_id": format!("raw_payload:{}", self.payloads), "kind": { "type": kind }, "path": path })
    }

    /// Starts a thread and its turn. A child has a parent.
    pub(crate) fn thread(&mut self, thread: &str, path: &str, parent: Option<&str>) {
        let metadata = parent.map(|parent| {
            let spawn = json!({ "parent_thread_id": parent, "agent_path": path });
            let source = json!({ "subagent": { "thread_spawn": spawn } });
            self.payload("session_metadata", &json!({ "agent_path": path, "session_source": source }))
        });
        let started =
            json!({ "type": "thread_started", "thread_id": thread, "agent_path": path, "metadata_payload": metadata });
        self.event("", started);
        let turn = format!("{thread}-turn");
        self.event(thread, json!({ "type": "codex_turn_started", "codex_turn_id": turn, "thread_id": thread }));
    }

    /// Starts a request.
    pub(crate) fn request(&mut self, thread: &str, id: &str, body: &Value) -> u64 {
        let request = self.payload("inference_request", body);
        let started = json!({
            "type": "inference_started", "inference_call_id": id, "thread_id": thread,
            "codex_turn_id": format!("{thread}-turn"), "model": "m", "provider_name": "p", "request_payload": request,
        });
        self.event(thread, started)
    }

    /// Completes a request.
    pub(crate) fn respond(&mut self, thread: &str, id: &str, items: &[Value]) -> u64 {
        let response = self.payload("inference_response", &json!({ "output_items": items }));
        let completed = json!({ "type": "inference_completed", "inference_call_id": id, "response_payload": response });
        self.event(thread, completed)
    }

    /// Starts a tool call. Without an id that the model gave it, a code cell made the call.
    pub(crate) fn call(
        &mut self,
        thread: &str,
        id: &str,
        kind: impl Borrow<Value>,
        name: &str,
        payload: impl Borrow<Value>,
        requester: impl Borrow<Value>,
    ) -> u64 {
        let (kind, payload, requester) = (kind.borrow(), payload.borrow(), requester.borrow());
        let is_model = requester["type"] == "model";
        let invocation =
            self.payload("tool_invocation", &json!({ "tool_name": name, "tool_namespace": null, "payload": payload }));
        let started = json!({
            "type": "tool_call_started", "tool_call_id": id, "model_visible_call_id": is_model.then_some(id),
            "code_mode_runtime_tool_id": null, "requester": requester, "kind": kind,
            "summary": { "type": "generic", "label": name }, "invocation_payload": invocation,
        });
        self.event(thread, started)
    }

    /// Adds an event of a tool call's runtime.
    pub(crate) fn runtime(&mut self, thread: &str, id: &str, event: &str, payload: &Value) -> u64 {
        let runtime = self.payload("tool_runtime_event", payload);
        let mut value = json!({ "type": event, "tool_call_id": id, "runtime_payload": runtime });
        if event == "tool_call_runtime_started" {
            value["kind"] = json!({ "type": "exec_command" });
        } else {
            value["status"] = json!("completed");
        }
        self.event(thread, value)
    }

    /// Ends a tool call.
    pub(crate) fn returned(&mut self, thread: &str, id: &str, result: &Value) -> u64 {
        let result = self.payload("tool_result", result);
        let ended =
            json!({ "type": "tool_call_ended", "tool_call_id": id, "status": "completed", "result_payload": result });
        self.event(thread, ended)
    }

    /// Reduces the bundle. The directory is deleted with the stage.
    pub(crate) fn session(&self) -> Session {
        Session::open(&self.path()).expect("opens")
    }

    fn path(&self) -> PathBuf {
        let path: &Path = self.directory.path();
        fs::write(path.join("trace.jsonl"), &self.log).expect("writes");
        path.to_owned()
    }
}

/// A message item.
pub(crate) fn message(role: &str, id: &str, text: &str) -> Value {
    let kind = if role == "assistant" { "output_text" } else { "input_text" };
    json!({ "type": "message", "id": id, "role": role, "content": [{ "type": kind, "text": text }] })
}

/// A function call item.
pub(crate) fn function_call(call_id: &str, name: &str, arguments: &str) -> Value {
    json!({ "type": "function_call", "id": format!("fc_{call_id}"), "call_id": call_id, "name": name, "arguments": arguments })
}

/// The output of a function call.
pub(crate) fn output(call_id: &str, id: &str, output: &str) -> Value {
    json!({ "type": "function_call_output", "id": id, "call_id": call_id, "output": output })
}

/// The result of a function call.
pub(crate) fn direct(call_id: &str, text: &str) -> Value {
    json!({ "type": "direct_response", "response_item": { "type": "function_call_output", "call_id": call_id, "output": text } })
}

/// The arguments of a call in the form of its invocation.
pub(crate) fn arguments(text: &str) -> Value {
    json!({ "type": "function", "arguments": text })
}

/// The requester of a call that the model makes.
pub(crate) fn model() -> Value {
    json!({ "type": "model" })
}
