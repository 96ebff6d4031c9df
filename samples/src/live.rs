//! Runs sessions in real time. Each agent has its own thread and records through the live writer.
//!
//! The model and the commands are simulated: they take some time and return invented text. Everything else is as in a
//! server: requests are built as bytes, parent and children record into one bundle at the same time, and results are sent
//! through mailboxes.

use std::sync::{Arc, mpsc};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};
use trace_recorder::format::{ExecutionStatus, Requester, RolloutStatus, ToolKind, ToolSummary};
use trace_recorder::write::{
    AgentResult, BundleWriter, Json, NewInference, NewThread, NewToolCall, RawJson, SharedJson, ThreadTrace, ToolTrace,
    TurnTrace,
};

use crate::items::{self, AgentContent, AgentMessage, message_head};
use crate::texts::{Texts, prose};

/// The size and speed of a live session.
#[derive(Debug, Clone)]
pub struct LiveSession {
    /// Number of children of the root agent.
    pub children: usize,
    /// Number of commands that every agent runs.
    pub steps: usize,
    /// Number of bytes that every command prints.
    pub output_bytes: usize,
    /// Time that the model takes for a response.
    pub model_latency: Duration,
    /// Time that a command takes.
    pub command_latency: Duration,
}

/// Id of the root thread of every live session.
pub const ROOT_THREAD_ID: &str = "root-thread";

/// Runs a session and records it with `writer`. Returns when all agents have ended. The recording stays open.
///
/// Every agent calls `after_step` after each of its steps.
pub fn run(writer: &BundleWriter, session: &LiveSession, after_step: &(dyn Fn() + Sync)) {
    let root = Agent::start(writer, session, ROOT_THREAD_ID, "/root", None);
    root.live(writer, after_step);
    writer.end(RolloutStatus::Completed);
}

/// The messages of other agents that wait for an agent.
type Mailbox = mpsc::Receiver<AgentMessage>;

struct Agent<'s> {
    session: &'s LiveSession,
    texts: Texts,
    thread_id: String,
    path: String,
    thread: ThreadTrace,
    turn: TurnTrace,
    /// The items of the history as JSON, separated by commas as in the `input` of a request.
    input: Vec<u8>,
    mailbox: Mailbox,
    post: mpsc::Sender<AgentMessage>,
    calls: usize,
}

impl<'s> Agent<'s> {
    fn start(
        writer: &BundleWriter,
        session: &'s LiveSession,
        thread_id: &str,
        path: &str,
        parent_thread_id: Option<&str>,
    ) -> Self {
        let source = match parent_thread_id {
            Some(parent) => json!({ "subagent": { "thread_spawn": {
                "parent_thread_id": parent,
                "depth": 1,
                "agent_path": path,
                "agent_nickname": null,
                "agent_role": null,
            } } }),
            None => json!("exec"),
        };
        let metadata = json!({
            "thread_id": thread_id,
            "agent_path": path,
            "task_name": path.rsplit('/').next(),
            "session_source": source,
            "cwd": "/home/dev/project",
            "model": "example-large",
            "provider_name": "example",
        });
        let thread = writer.start_thread(NewThread::new(thread_id, path), Some(Json(&metadata)));
        let turn = thread.start_turn(&format!("{thread_id}-turn-1"));
        let (post, mailbox) = mpsc::channel();
        let mut agent = Self {
            session,
            texts: Texts::full(),
            thread_id: thread_id.to_owned(),
            path: path.to_owned(),
            thread,
            turn,
            input: Vec::new(),
            mailbox,
            post,
            calls: 0,
        };
        let instructions = agent.texts.instructions.clone();
        agent.remember(&items::input_message(&format!("msg_{thread_id}_base"), "developer", &[&instructions]));
        agent
    }

    /// Runs all steps of the agent and ends its turn.
    fn live(mut self, writer: &BundleWriter, after_step: &(dyn Fn() + Sync)) {
        let is_root = self.path == "/root";
        if is_root {
            let id = format!("msg_{}_prompt", self.thread_id);
            let prompt = items::input_message(&id, "user", &["Read the whole project."]);
            self.accept(&id, &prompt);
        }
        let children = if is_root { self.session.children } else { 0 };
        thread::scope(|scope| {
            for index in 0..children {
                let child = self.spawn(writer, index);
                scope.spawn(move || child.live(writer, after_step));
            }
            for step in 0..self.session.steps {
                self.run_command(step);
                after_step();
            }
            for _ in 0..children {
                // Every child sends exactly one message before its thread ends.
                let Ok(message) = self.mailbox.recv() else { break };
                self.hear(&message);
            }
        });
        let text = prose(self.calls, 200);
        let inference = self.ask();
        let id = format!("msg_{}_answer", self.thread_id);
        let answer = items::output_message(&id, &text);
        self.answer(&inference, &answer);
        self.accept(&id, &answer);
        self.turn.end(ExecutionStatus::Completed);
        if !is_root {
            self.report(&text);
        }
        self.thread.end(RolloutStatus::Completed);
    }

    fn remember(&mut self, item: &Value) {
        if !self.input.is_empty() {
            self.input.push(b',');
        }
        self.input.extend_from_slice(item.to_string().as_bytes());
    }

    fn accept(&mut self, id: &str, item: &Value) {
        self.remember(item);
        self.turn.accept_item(id);
    }

    fn hear(&mut self, message: &AgentMessage) {
        self.calls += 1;
        let id = format!("amsg_{}_{}", self.thread_id, self.calls);
        self.remember(&message.item(&id));
        let turn_id = format!("{}-turn-1", self.thread_id);
        self.turn.accept_agent_message(&id, Json(&message.receipt(&id, &turn_id, 1_772_443_800_000)));
    }

    /// Records a request and waits for the model.
    fn ask(&mut self) -> trace_recorder::write::InferenceTrace {
        self.calls += 1;
        let mut body = b"{\"model\":\"example-large\",\"stream\":true,\"input\":[".to_vec();
        body.extend_from_slice(&self.input);
        body.extend_from_slice(b"],\"tools\":");
        body.extend_from_slice(self.texts.tools.to_string().as_bytes());
        body.extend_from_slice(b",\"tool_choice\":\"auto\",\"store\":false}");
        let body: Arc<[u8]> = body.into();
        let call = format!("inference-{}-{}", self.thread_id, self.calls);
        let new = NewInference { inference_call_id: &call, model: "example-large", provider_name: "example" };
        let inference = self.turn.start_inference(&new, SharedJson(body));
        thread::sleep(self.session.model_latency);
        inference
    }

    fn answer(&self, inference: &trace_recorder::write::InferenceTrace, item: &Value) {
        let response_id = format!("resp_{}_{}", self.thread_id, self.calls);
        let response = json!({
            "response_id": response_id,
            "upstream_request_id": null,
            "token_usage": {
                "input_tokens": self.input.len() / 4,
                "cached_input_tokens": self.input.len() / 5,
                "output_tokens": 40,
                "reasoning_output_tokens": 0,
                "total_tokens": self.input.len() / 4 + 40,
            },
            "output_items": [item],
        });
        inference.complete(Some(&response_id), None, Json(&response));
    }

    /// Records a response with a tool call, and dispatches the call.
    fn call(&mut self, name: &'static str, kind: ToolKind<'static>, arguments: &Value) -> (String, ToolTrace) {
        let inference = self.ask();
        let call_id = format!("call_{}_{}", self.thread_id, self.calls);
        let item_id = format!("fc_{}_{}", self.thread_id, self.calls);
        let arguments = arguments.to_string();
        let item = items::function_call(&item_id, name, None, &arguments, &call_id);
        self.answer(&inference, &item);
        self.accept(&item_id, &item);
        let invocation = json!({
            "tool_name": name,
            "tool_namespace": null,
            "payload": { "type": "function", "arguments": arguments },
        });
        let new = NewToolCall {
            tool_call_id: &call_id,
            model_visible_call_id: Some(&call_id),
            code_mode_runtime_tool_id: None,
            requester: Requester::Model,
            kind,
            summary: ToolSummary::Generic {
                label: name.into(),
                input_preview: Some(arguments.as_str().into()),
                output_preview: None,
            },
        };
        let tool = self.turn.start_tool_call(new, Some(Json(&invocation)));
        (call_id, tool)
    }

    fn end_call(&mut self, call_id: &str, tool: &ToolTrace, output: &str) {
        let id = format!("fco_{}_{}", self.thread_id, self.calls);
        let item = items::function_call_output(&id, call_id, output);
        let response_item = json!({ "type": "function_call_output", "call_id": call_id, "output": output });
        let result = json!({ "type": "direct_response", "response_item": response_item });
        tool.end(ExecutionStatus::Completed, Some(RawJson(result.to_string().into_bytes())));
        self.accept(&id, &item);
    }

    fn run_command(&mut self, step: usize) {
        let line = format!("sed -n '{},{}p' src/part.rs", 20 * step + 1, 20 * step + 20);
        let (call_id, tool) = self.call("exec_command", ToolKind::ExecCommand, &json!({ "cmd": line }));
        let mut report = json!({
            "call_id": call_id,
            "process_id": format!("{step}"),
            "command": ["/bin/bash", "-lc", line],
            "cwd": "/home/dev/project",
        });
        tool.start_runtime(ToolKind::ExecCommand, Json(&report));
        thread::sleep(self.session.command_latency);
        let output = prose(step, self.session.output_bytes);
        report["aggregated_output"] = json!(output);
        report["exit_code"] = json!(0);
        tool.end_runtime(ExecutionStatus::Completed, Json(&report));
        self.end_call(&call_id, &tool, &output);
    }

    fn spawn(&mut self, writer: &BundleWriter, index: usize) -> Agent<'s> {
        let name = format!("part_{index}");
        let task = format!("Read part {index}.");
        let arguments = json!({ "task_name": name, "message": task, "fork_turns": "none" });
        let (call_id, tool) = self.call("spawn_agent", ToolKind::SpawnAgent, &arguments);
        // Readers expect the ids of threads that exchange messages to be UUIDs.
        let thread_id = format!("00000000-0000-7000-8000-{:012x}", index + 1);
        let path = format!("{}/{name}", self.path);
        let mut child = Agent::start(writer, self.session, &thread_id, &path, Some(&self.thread_id));
        child.post = self.post.clone();
        let activity = json!({
            "event_id": call_id,
            "occurred_at_ms": 1_772_443_800_000_i64,
            "agent_thread_id": thread_id,
            "agent_path": path,
            "kind": "started",
        });
        tool.end_runtime(ExecutionStatus::Completed, Json(&activity));
        self.end_call(&call_id, &tool, &json!({ "task_name": path }).to_string());
        let message = AgentMessage { author: self.path.clone(), recipient: path, content: AgentContent::Sent(task) };
        child.hear(&message);
        child
    }

    fn report(&self, text: &str) {
        let recipient = "/root";
        let message = format!("{}{text}", message_head("FINAL_ANSWER", recipient, &self.path));
        let carried = json!({ "child_agent_path": self.path, "message": message, "status": { "completed": text } });
        let edge_id = format!("edge:agent_result:{}", self.thread_id);
        let result = AgentResult { edge_id: &edge_id, parent_thread_id: ROOT_THREAD_ID, message: &message };
        self.turn.report_result(&result, Some(Json(&carried)));
        let (author, recipient) = (self.path.clone(), recipient.to_owned());
        // The parent waits for the message and outlives the child, so sending cannot fail.
        let _ = self.post.send(AgentMessage { author, recipient, content: AgentContent::Result(message) });
    }
}
