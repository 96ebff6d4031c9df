//! Random sessions: mostly what a recorder would write, and sometimes not.

use proptest::prelude::*;
use serde_json::{Value, json};
use tempfile::TempDir;
use trace_recorder::Bundle;

const THREADS: [&str; 3] = [
    "00000000-0000-7000-8000-00000000000a",
    "00000000-0000-7000-8000-00000000000b",
    "00000000-0000-7000-8000-00000000000c",
];
const PATHS: [&str; 3] = ["/root", "/root/kid", "/root/kid/sub"];
const KINDS: [&str; 9] = [
    "exec_command",
    "write_stdin",
    "apply_patch",
    "spawn_agent",
    "assign_agent_task",
    "send_message",
    "wait_agent",
    "close_agent",
    "web",
];

/// One random step: the kind of step, then choices that it may use.
pub(crate) type Op = (u8, u8, u8, u8);

/// A random session.
#[derive(Debug, Clone)]
pub(crate) struct Scene {
    schema: u32,
    ops: Vec<Op>,
}

pub(crate) fn scenes() -> impl Strategy<Value = Scene> {
    (1..=2_u32, prop::collection::vec(any::<Op>(), 1..60)).prop_map(|(schema, ops)| Scene { schema, ops })
}

impl Scene {
    /// Returns a session with enough requests for several runs of ingest.
    pub(crate) fn long() -> Self {
        let ops = (0..400_u32).map(|n| ([2, 3, 5, 6][n as usize % 4], (n % 2) as u8, (n % 7) as u8, n as u8)).collect();
        Self { schema: 2, ops }
    }

    /// Returns a session of a few lines that has every kind of step.
    pub(crate) fn short() -> Self {
        Self { schema: 2, ops: (0..18).map(|n| (n, 0, n, n)).collect() }
    }

    /// Returns whether events are ordered by their sequence numbers.
    pub(crate) fn is_ordered_by_seq(&self) -> bool {
        self.schema == 2
    }

    /// Writes the session as a bundle.
    pub(crate) fn record(&self) -> (TempDir, Bundle) {
        let mut recording = Recording::new(self.schema);
        recording.event(json!({"type": "rollout_started", "trace_id": "trace", "root_thread_id": THREADS[0]}), None);
        for (index, id) in THREADS.iter().enumerate().take(2) {
            recording.thread(index);
            recording.turn(index, id);
        }
        for op in &self.ops {
            recording.act(*op);
        }
        if !self.ops.len().is_multiple_of(3) {
            recording.event(json!({"type": "rollout_ended", "status": "completed"}), None);
        }
        std::fs::write(recording.directory.path().join("trace.jsonl"), &recording.log).expect("writes");
        let bundle = Bundle::open(recording.directory.path()).expect("opens");
        (recording.directory, bundle)
    }
}

struct Recording {
    directory: TempDir,
    schema: u32,
    log: String,
    seq: u64,
    payloads: u32,
    calls: u32,
    histories: [Vec<Value>; 3],
    last_inference: [Option<u32>; 3],
}

impl Recording {
    fn new(schema: u32) -> Self {
        let directory = tempfile::tempdir().expect("a directory");
        let manifest = json!({
            "schema_version": schema, "trace_id": "trace", "rollout_id": "rollout", "root_thread_id": THREADS[0],
            "started_at_unix_ms": 1000, "raw_event_log": "trace.jsonl", "payloads_dir": "payloads",
        });
        std::fs::create_dir(directory.path().join("payloads")).expect("a directory");
        std::fs::write(directory.path().join("manifest.json"), manifest.to_string()).expect("writes");
        Self {
            directory,
            schema,
            log: String::new(),
            seq: 0,
            payloads: 0,
            calls: 0,
            histories: Default::default(),
            last_inference: Default::default(),
        }
    }

    #[expect(clippy::needless_pass_by_value, reason = "every caller has just made the value")]
    fn event(&mut self, payload: Value, thread: Option<usize>) {
        self.seq += 1;
        let line = json!({
            "schema_version": self.schema, "seq": self.seq, "wall_time_unix_ms": 1000 + 3 * self.seq, "rollout_id": "rollout",
            "thread_id": thread.map(|thread| THREADS[thread]), "codex_turn_id": thread.map(|thread| format!("turn-{thread}")),
            "payload": payload,
        });
        self.log.push_str(&line.to_string());
        self.log.push('\n');
    }

    fn payload(&mut self, kind: &str, value: &Value) -> Value {
        self.payloads += 1;
        let path = format!("payloads/{}.json", self.payloads);
        let text = serde_json::to_string_pretty(value).expect("JSON");
        std::fs::write(self.directory.path().join(&path), text).expect("writes");
        json!({"raw_payload_id": format!("raw_payload:{}", self.payloads), "kind": {"type": kind}, "path": path})
    }

    fn thread(&mut self, index: usize) {
        let metadata = match index {
            0 => json!({"model": "m"}),
            _ => json!({"nickname": "n", "session_source": {"subagent": {"thread_spawn": {
                "parent_thread_id": THREADS[index - 1], "agent_path": PATHS[index]}}}}),
        };
        let metadata = self.payload("session_metadata", &metadata);
        let started = json!({"type": "thread_started", "thread_id": THREADS[index], "agent_path": PATHS[index], "metadata_payload": metadata});
        self.event(started, None);
    }

    fn turn(&mut self, index: usize, thread: &str) {
        let turn = format!("turn-{index}");
        self.event(json!({"type": "codex_turn_started", "codex_turn_id": turn, "thread_id": thread}), Some(index));
    }

    fn item(&self, choice: u8, detail: u8) -> Value {
        let id = (self.schema == 2 && !detail.is_multiple_of(3)).then(|| format!("id_{}", detail % 11));
        let call = format!("call-{}", detail % 9);
        let mut item = match choice % 9 {
            0 => {
                json!({"type": "message", "role": "user", "content": [{"type": "input_text", "text": format!("t{}", detail % 5)}]})
            }
            1 => {
                json!({"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": format!("a{}", detail % 5)}]})
            }
            2 => json!({"type": "reasoning", "summary": [], "encrypted_content": format!("e{}", detail % 4)}),
            3 => {
                json!({"type": "reasoning", "summary": [{"type": "summary_text", "text": "s"}], "encrypted_content": format!("e{}", detail % 4)})
            }
            4 => json!({"type": "function_call", "name": "f", "call_id": call, "arguments": "{\"a\": 1}"}),
            5 => json!({"type": "function_call_output", "call_id": call, "output": format!("o{}", detail % 2)}),
            6 => json!({"type": "custom_tool_call", "name": "exec", "call_id": call, "input": "1+1"}),
            7 => {
                json!({"type": "agent_message", "author": PATHS[usize::from(detail) % 2], "recipient": PATHS[usize::from(detail / 2) % 2],
                "content": [{"type": "input_text", "text": "do it"}]})
            }
            _ => json!({"type": "message", "role": "user", "content": [{"type": "input_image", "n": detail % 3}]}),
        };
        if let Some(id) = id {
            item["id"] = json!(id);
        }
        item
    }

    fn act(&mut self, (what, who, choice, detail): Op) {
        let thread = usize::from(who) % 2;
        let turn = format!("turn-{thread}");
        match what % 18 {
            0 => self.thread(usize::from(choice) % 3),
            1 => {
                let status = ["completed", "failed", "aborted", "cancelled"][usize::from(choice) % 4];
                self.event(json!({"type": "codex_turn_ended", "codex_turn_id": turn, "status": status}), Some(thread));
            }
            2..=4 => self.request(thread, choice, detail),
            5 | 6 => self.respond(thread, choice, detail),
            7 => {
                let item_id = format!("id_{}", detail % 11);
                let receipt = (choice.is_multiple_of(4)).then(|| {
                    let mut item = self.item(7, detail);
                    item["id"] = json!(item_id);
                    self.payload("protocol_event", &item)
                });
                let accepted =
                    json!({"type": "history_item_accepted", "item_id": item_id, "agent_message_payload": receipt});
                self.event(accepted, Some(thread));
            }
            8..=10 => self.tool(thread, choice, detail),
            11 => {
                let kind = json!({"type": KINDS[usize::from(choice) % KINDS.len()]});
                let begin = json!({"command": ["sh"], "cwd": "/w", "process_id": (!detail.is_multiple_of(3)).then(|| (detail % 4).to_string())});
                let runtime = self.payload("tool_runtime_event", &begin);
                let call = format!("call-{}", detail % 9);
                self.event(
                    json!({"type": "tool_call_runtime_started", "tool_call_id": call, "kind": kind, "runtime_payload": runtime}),
                    Some(thread),
                );
            }
            12 => {
                let activity = ["started", "interacted", "interrupted", "completed"][usize::from(detail) % 4];
                let end = match choice % 3 {
                    0 => json!({"exit_code": 0, "aggregated_output": "out"}),
                    1 => {
                        json!({"event_id": "e", "agent_thread_id": THREADS[1 - thread], "agent_path": PATHS[1 - thread],
                        "kind": activity})
                    }
                    _ => json!({"other": 1}),
                };
                let runtime = self.payload("tool_runtime_event", &end);
                let call = format!("call-{}", detail % 9);
                self.event(
                    json!({"type": "tool_call_runtime_ended", "tool_call_id": call, "status": "completed", "runtime_payload": runtime}),
                    Some(thread),
                );
            }
            13 => {
                let call = format!("call-{}", detail % 9);
                let result = self
                    .payload("tool_result", &json!({"type": "direct_response", "response_item": {"output": "done"}}));
                self.event(
                    json!({"type": "tool_call_ended", "tool_call_id": call, "status": "completed", "result_payload": result}),
                    Some(thread),
                );
            }
            14 => {
                let (call, cell) = (format!("call-{}", detail % 9), (choice % 3).to_string());
                let event = match detail % 3 {
                    0 => {
                        json!({"type": "code_cell_started", "runtime_cell_id": cell, "model_visible_call_id": call, "source_js": "1+1"})
                    }
                    1 => {
                        json!({"type": "code_cell_initial_response", "runtime_cell_id": cell, "status": "yielded", "response_payload": null})
                    }
                    _ => {
                        json!({"type": "code_cell_ended", "runtime_cell_id": cell, "status": "completed", "response_payload": null})
                    }
                };
                self.event(event, Some(thread));
            }
            15 => {
                let before = self.histories[thread].clone();
                let after = vec![
                    self.item(0, detail),
                    json!({"type": "compaction", "encrypted_content": format!("c{detail}")}),
                ];
                let checkpoint = self
                    .payload("compaction_checkpoint", &json!({"input_history": before, "replacement_history": after}));
                self.histories[thread] = after;
                self.event(
                    json!({"type": "compaction_installed", "compaction_id": format!("cmp-{}", self.seq), "checkpoint_payload": checkpoint}),
                    Some(thread),
                );
            }
            16 => {
                let (child, parent) = (THREADS[1], THREADS[0]);
                let result = json!({"type": "agent_result_observed", "edge_id": format!("edge:r:{}", detail % 3), "child_thread_id": child,
                    "child_codex_turn_id": "turn-1", "parent_thread_id": parent, "message": "do it", "carried_payload": null});
                self.event(result, Some(1));
            }
            _ => {
                let event = match detail % 4 {
                    0 => json!({"type": "thread_ended", "thread_id": THREADS[thread], "status": "completed"}),
                    1 => json!({"type": "thread_resumed", "thread_id": THREADS[usize::from(choice) % 3]}),
                    2 => json!({"type": "of_a_later_release", "x": choice}),
                    _ => {
                        json!({"type": "stdin_target_resolved", "tool_call_id": format!("call-{}", choice % 9), "exec_tool_call_id": format!("call-{}", who % 9)})
                    }
                };
                self.event(event, Some(thread));
            }
        }
    }

    fn request(&mut self, thread: usize, choice: u8, detail: u8) {
        let added = self.item(choice, detail);
        let history = &mut self.histories[thread];
        match choice % 16 {
            0 if !history.is_empty() => {
                history.remove(usize::from(detail) % history.len());
            }
            1 => history.reverse(),
            2 => history.truncate(usize::from(detail) % 4),
            3 => {
                let first = history.first().cloned();
                history.extend(first);
            }
            _ => history.push(added),
        }
        let mut request = json!({"model": "m", "input": self.histories[thread], "tools": [{"name": "t"}], "n": 12});
        if detail.is_multiple_of(7) {
            request["metadata"] = json!({"turn": self.seq});
        }
        if detail % 23 == 5 {
            request["previous_response_id"] = json!(format!("resp-{}", detail % 5));
        }
        if detail % 29 == 3 {
            request["input"] = json!("not an array");
        }
        let payload = self.payload("inference_request", &request);
        self.calls += 1;
        self.last_inference[thread] = Some(self.calls);
        let started = json!({"type": "inference_started", "inference_call_id": format!("inf-{}", self.calls), "thread_id": THREADS[thread],
            "codex_turn_id": format!("turn-{thread}"), "model": "m", "provider_name": "p", "request_payload": payload});
        self.event(started, Some(thread));
    }

    fn respond(&mut self, thread: usize, choice: u8, detail: u8) {
        let Some(call) = self.last_inference[thread] else { return };
        let items: Vec<Value> =
            (0..1 + choice % 2).map(|n| self.item(choice.wrapping_add(n * 3), detail.wrapping_add(n))).collect();
        if !detail.is_multiple_of(4) {
            self.histories[thread].extend(items.iter().cloned());
        }
        let response = self.payload("inference_response", &json!({"output_items": items, "token_usage": null}));
        let id = format!("inf-{call}");
        let event = match detail % 6 {
            0 => {
                json!({"type": "inference_failed", "inference_call_id": id, "error": "e", "partial_response_payload": response})
            }
            1 => {
                json!({"type": "inference_cancelled", "inference_call_id": id, "reason": "r", "partial_response_payload": null})
            }
            _ => {
                json!({"type": "inference_completed", "inference_call_id": id, "response_id": format!("resp-{}", detail % 5),
                "response_payload": response})
            }
        };
        self.event(event, Some(thread));
    }

    fn tool(&mut self, thread: usize, choice: u8, detail: u8) {
        let kind = KINDS[usize::from(choice) % KINDS.len()];
        let call = format!("call-{}", detail % 9);
        let arguments = json!({"session_id": detail % 4, "chars": "x", "message": "do it"}).to_string();
        let invocation = json!({"tool_name": kind, "payload": {"type": "function", "arguments": arguments}});
        let invocation = self.payload("tool_invocation", &invocation);
        let requester = if detail.is_multiple_of(5) {
            json!({"type": "code_cell", "runtime_cell_id": "1"})
        } else {
            json!({"type": "model"})
        };
        let started = json!({"type": "tool_call_started", "tool_call_id": call, "model_visible_call_id": (!detail.is_multiple_of(5)).then_some(&call),
            "requester": requester, "kind": {"type": kind}, "summary": {"type": "generic", "label": kind}, "invocation_payload": invocation});
        self.event(started, Some(thread));
    }
}
