//! Rollouts of the Codex CLI 0.169.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::plot::{Calls, Plot, Step};

const ROOT: &str = "01a20516-0000-7000-8000-000000000001";

/// Lines of the file of one thread. All threads share the clock and the numbers of calls.
struct Thread<'a> {
    folder: &'a Path,
    id: String,
    lines: Vec<Value>,
    seen: u64,
}

#[derive(Default)]
struct Clock {
    calls: Calls,
    seconds: u32,
    threads: u32,
    answers: u32,
}

pub(crate) fn write(plot: &Plot, folder: &Path) -> PathBuf {
    let mut clock = Clock::default();
    let mut root = Thread::new(folder, ROOT, &json!({"source": "exec"}), &mut clock);
    for steps in &plot.turns {
        root.turn(steps, &mut clock);
    }
    root.save()
}

impl<'a> Thread<'a> {
    fn new(folder: &'a Path, id: &str, more: &Value, clock: &mut Clock) -> Self {
        let mut thread = Self { folder, id: id.to_owned(), lines: Vec::new(), seen: 0 };
        let mut meta = json!({"id": id, "session_id": ROOT, "cwd": "/home/dev", "cli_version": "0.169.0",
            "history_mode": "paginated", "base_instructions": {"text": "Help."}});
        for (name, value) in more.as_object().expect("members") {
            meta[name] = value.clone();
        }
        thread.line(clock, "session_meta", &meta);
        thread.line(clock, "turn_context", &json!({"model": "m"}));
        thread
    }

    fn line(&mut self, clock: &mut Clock, tag: &str, payload: &Value) {
        clock.seconds += 1;
        let (minute, second) = (clock.seconds / 60, clock.seconds % 60);
        let timestamp = format!("2026-11-22T21:{minute:02}:{second:02}.000Z");
        let ordinal = self.lines.len();
        self.lines.push(json!({"timestamp": timestamp, "ordinal": ordinal, "type": tag, "payload": payload}));
    }

    fn item(&mut self, clock: &mut Clock, item: &Value) {
        self.line(clock, "response_item", item);
        let metadata = json!({"history_sequence": self.seen + 1, "sampled_through_sequence": self.seen});
        self.lines.last_mut().expect("a line")["metadata"] = metadata;
        self.seen += 1;
    }

    fn message(&mut self, clock: &mut Clock, role: &str, text: &str) {
        let (id, kind) =
            (format!("msg_{}_{}", self.id, self.seen), if role == "user" { "input_text" } else { "output_text" });
        self.item(
            clock,
            &json!({"type": "message", "id": id, "role": role, "content": [{"type": kind, "text": text}]}),
        );
    }

    fn call(&mut self, clock: &mut Clock, call: &str, name: &str, namespace: Option<&str>, arguments: &Value) {
        self.item(
            clock,
            &json!({"type": "function_call", "id": format!("fc_{call}"), "call_id": call, "name": name,
            "namespace": namespace, "arguments": arguments.to_string()}),
        );
        self.used(clock);
    }

    fn used(&mut self, clock: &mut Clock) {
        clock.answers += 1;
        let usage = json!({"input_tokens": 10, "output_tokens": 1});
        self.line(clock, "token_usage_record", &json!({"response_id": format!("r{}", clock.answers), "usage": usage}));
    }

    fn output(&mut self, clock: &mut Clock, call: &str, text: &str) {
        self.item(
            clock,
            &json!({"type": "function_call_output", "id": format!("fco_{call}"), "call_id": call, "output": text}),
        );
    }

    fn runtime(&mut self, clock: &mut Clock, turn: &str, item: &Value) {
        // The lines begin at 21:00.
        let at = 1_795_381_200_000_i64 + i64::from(clock.seconds) * 1000;
        self.line(clock, "event_msg", &json!({"type": "item_completed", "turn_id": turn, "item": item, "started_at_ms": at, "completed_at_ms": at + 500}));
    }

    /// Writes a turn. Returns whether it ended.
    fn turn(&mut self, steps: &[Step], clock: &mut Clock) -> bool {
        let turn = format!("{}-turn-{}", self.id, self.lines.len());
        self.line(clock, "event_msg", &json!({"type": "task_started", "turn_id": turn}));
        self.message(clock, "user", "Please do it.");
        let mut error = Value::Null;
        for step in steps {
            match step {
                Step::Say(text) => {
                    self.message(clock, "assistant", text);
                    self.used(clock);
                }
                Step::Run(printed, code) => {
                    let call = clock.calls.next();
                    self.call(clock, &call, "exec_command", None, &json!({"cmd": "make"}));
                    let status = if *code == 0 { "completed" } else { "failed" };
                    self.runtime(
                        clock,
                        &turn,
                        &json!({"type": "CommandExecution", "id": call, "process_id": "1",
                        "command": ["bash", "-lc", "make"], "cwd": "file:///home/dev", "status": status,
                        "exit_code": code, "aggregated_output": printed, "source": "unified_exec_startup"}),
                    );
                    let output = format!(
                        "Chunk ID: ab\nWall time: 0.1 seconds\nProcess exited with code {code}\nOutput:\n{printed}"
                    );
                    self.output(clock, &call, &output);
                }
                Step::Unknown => {
                    let call = clock.calls.next();
                    self.call(clock, &call, "nope", None, &json!({}));
                    self.output(clock, &call, "unsupported call: nope");
                }
                Step::Task(steps) => self.task(steps, &turn, clock),
                Step::Refuse => {
                    error = json!({"message": "exceeded retry limit, last status: 429 Too Many Requests",
                        "codex_error_info": {"response_too_many_failed_attempts": {"http_status_code": 429}}});
                }
                Step::Die => {
                    let call = clock.calls.next();
                    self.call(clock, &call, "exec_command", None, &json!({"cmd": "make"}));
                    return false;
                }
            }
        }
        let mut end = json!({"type": "task_complete", "turn_id": turn, "last_agent_message": "x"});
        if !error.is_null() {
            end["error"] = error;
        }
        self.line(clock, "event_msg", &end);
        true
    }

    fn task(&mut self, steps: &[Step], turn: &str, clock: &mut Clock) {
        let call = clock.calls.next();
        clock.threads += 1;
        let (id, path) = (format!("01a20516-0000-7000-8000-0000000001{:02}", clock.threads), "/root/helper");
        self.call(
            clock,
            &call,
            "spawn_agent",
            Some("collaboration"),
            &json!({"task_name": "helper", "message": "Look."}),
        );
        self.runtime(clock, turn, &json!({"type": "SubAgentActivity", "id": call, "kind": "started", "agent_thread_id": id, "agent_path": path}));
        self.output(clock, &call, "{\"task_name\":\"/root/helper\"}");
        let wait = format!("wait-{call}");
        self.call(clock, &wait, "wait_agent", Some("collaboration"), &json!({"timeout_ms": 60_000}));
        let source =
            json!({"subagent": {"thread_spawn": {"parent_thread_id": self.id, "depth": 1, "agent_path": path}}});
        let mut child = Thread::new(
            self.folder,
            &id,
            &json!({"source": source, "parent_thread_id": self.id, "agent_path": path}),
            clock,
        );
        child.turn(steps, clock);
        child.save();
        self.output(clock, &wait, "{\"message\":\"Wait completed.\",\"timed_out\":false}");
        let answer = match steps.last() {
            Some(Step::Say(text)) => text,
            _ => "Agent errored: exceeded retry limit, last status: 429 Too Many Requests",
        };
        let text = format!("Message Type: FINAL_ANSWER\nTask name: /root\nSender: {path}\nPayload:\n{answer}");
        self.item(
            clock,
            &json!({"type": "agent_message", "id": format!("amsg_{call}"), "author": path, "recipient": "/root",
            "content": [{"type": "input_text", "text": text}]}),
        );
    }

    fn save(&self) -> PathBuf {
        let path =
            self.folder.join(format!("rollout-2026-11-22T21-00-{:02}-{}.jsonl", u8::from(self.id != ROOT), self.id));
        let text: String = self.lines.iter().map(|line| format!("{line}\n")).collect();
        std::fs::write(&path, text).expect("writes");
        path
    }
}
