//! Tool calls and code cells of a thread.

use std::collections::HashMap;

use serde_json::value::RawValue;
use serde_json::{Value, json};
use trace_recorder::format::event::{CodeCellEnded, CodeCellInitialResponse, CodeCellStarted, StdinTargetResolved};
use trace_recorder::format::import::Place;
use trace_recorder::format::{CellStatus, EventPayload, ExecutionStatus, PayloadKind, PayloadRef, ToolKind};

use super::record::{ResponseItem, RuntimeItem, text_of};
use super::reports::{Start, Starts, begin_of};
use crate::draft::Draft;
use crate::event::{EventRef, Stamp, Time};
use crate::note::Code;
use crate::thread::{Call, CallResult, ThreadWriter, ToolId, tool_kind};

/// Beginnings of outputs that are the error of a call, in the words of the Codex CLI.
const ERRORS: [&str; 8] = [
    "unsupported call: ",
    "unsupported custom tool call: ",
    "failed to parse function arguments",
    "apply_patch verification failed",
    "rejected by user",
    "exec_command failed",
    "write_stdin failed",
    "unable to locate image",
];

/// The output of a call that was stopped together with its turn contains this text.
const ABORTED: &str = "aborted by user";

/// The beginning of the output of a command that goes on in the background; the number of its terminal follows.
const STILL_RUNNING: &str = "Process running with session ID ";

/// Beginning of the output of code that failed.
const SCRIPT_FAILED: &str = "Script failed";

/// Beginning of the output of code that goes on in the background; the number of its cell follows.
const SCRIPT_RUNNING: &str = "Script running";

/// Beginning of the output of code that the model stopped.
const SCRIPT_TERMINATED: &str = "Script terminated";

/// Open cells in which the code of a nested call is looked for, the newest ones. Cells without an output stay open.
const MAX_SEARCHED_CELLS: usize = 64;

/// Bytes of the code of a cell in which a nested call is looked for.
const MAX_SEARCHED_BYTES: usize = 1 << 14;

/// A child that a call spawned.
#[derive(Debug, Clone)]
pub(super) struct Child {
    pub(super) thread: String,
    pub(super) spawned_by: EventRef,
    pub(super) place: Place,
}

/// A call of the model that has not begun yet.
#[derive(Debug)]
struct Waiting {
    stamp: Stamp,
    call_id: String,
    name: String,
    namespace: Option<String>,
    arguments: String,
    is_custom: bool,
}

#[derive(Debug)]
struct Running {
    tool: ToolId,
    arguments: String,
    /// Whether the runtime has reported the start.
    has_begun: bool,
    has_ended: bool,
    cell: Option<String>,
}

/// A cell with code that runs.
#[derive(Debug)]
struct Cell {
    id: String,
    source: String,
    /// The number by which the model waits for it, once it goes on in the background.
    number: Option<String>,
}

/// The calls of a thread.
#[derive(Debug, Default)]
pub(super) struct Calls {
    waiting: Vec<Waiting>,
    running: HashMap<String, Running>,
    starts: Starts,
    /// Cells that are open, the newest last, and the number of all.
    cells: Vec<Cell>,
    cell_count: usize,
    /// The call that owns each terminal.
    terminals: HashMap<String, String>,
    pub(super) children: Vec<Child>,
}

impl Calls {
    /// Begins a file, whose commands began at these times.
    pub(super) fn set_starts(&mut self, starts: Starts) {
        self.starts = starts;
    }

    /// Notes a call of the model. It begins when the answer that has it is complete.
    pub(super) fn add(&mut self, item: &ResponseItem<'_>, stamp: Stamp) {
        let is_custom = item.tag == "custom_tool_call";
        let name = match &*item.tag {
            "local_shell_call" => "local_shell",
            _ => item.name.as_deref().unwrap_or_default(),
        };
        let arguments = if is_custom { item.input } else { item.arguments.or(item.action) };
        self.waiting.push(Waiting {
            stamp,
            call_id: item.call_id.as_deref().unwrap_or_default().to_owned(),
            name: name.to_owned(),
            namespace: item.namespace.as_deref().map(str::to_owned),
            arguments: arguments.map(|value| text_of(value).into_owned()).unwrap_or_default(),
            is_custom,
        });
    }

    /// Returns whether calls wait for the end of the answer that has them.
    pub(super) fn are_waiting(&self) -> bool {
        !self.waiting.is_empty()
    }

    /// Begins the calls that wait.
    pub(super) fn begin(&mut self, writer: &mut ThreadWriter, draft: &mut Draft) {
        for waiting in std::mem::take(&mut self.waiting) {
            let Waiting { stamp, call_id, name, namespace, arguments, is_custom } = waiting;
            let call = Call {
                call_id: &call_id,
                name: &name,
                namespace: namespace.as_deref(),
                kind: kind_of(&name, namespace.as_deref(), &arguments),
                arguments: &arguments,
                is_custom,
            };
            let tool = writer.begin_call(draft, &call, stamp);
            let mut cell = None;
            if is_custom && name == "exec" && tool.as_str() == call_id {
                self.cell_count += 1;
                let id = self.cell_count.to_string();
                let started = CodeCellStarted {
                    runtime_cell_id: id.clone().into(),
                    model_visible_call_id: call_id.clone().into(),
                    source_js: arguments.clone().into(),
                };
                writer.other(draft, EventPayload::CodeCellStarted(started), stamp);
                self.cells.push(Cell { id: id.clone(), source: arguments.clone(), number: None });
                cell = Some(id);
            }
            if *tool.kind() == ToolKind::WriteStdin {
                self.resolve_terminal(&tool, &arguments, writer, draft, stamp);
            }
            let running = Running { tool, arguments, has_begun: false, has_ended: false, cell };
            self.running.insert(call_id, running);
        }
    }

    fn resolve_terminal(
        &self,
        tool: &ToolId,
        arguments: &str,
        writer: &mut ThreadWriter,
        draft: &mut Draft,
        stamp: Stamp,
    ) {
        let arguments: Value = serde_json::from_str(arguments).unwrap_or_default();
        let session = match arguments.get("session_id") {
            Some(Value::String(text)) => text.clone(),
            Some(Value::Number(number)) => number.to_string(),
            _ => return,
        };
        let Some(owner) = self.terminals.get(&session).and_then(|call| self.running.get(call)) else { return };
        let resolved = StdinTargetResolved {
            tool_call_id: tool.as_str().to_owned().into(),
            exec_tool_call_id: owner.tool.as_str().to_owned().into(),
        };
        writer.other(draft, EventPayload::StdinTargetResolved(resolved), stamp);
    }

    /// Reports the starts of commands that lie no later than `at`.
    pub(super) fn pass(&mut self, at: i64, writer: &mut ThreadWriter, draft: &mut Draft, source: u32) {
        while let Some(start) = self.starts.next_until(at) {
            let stamp = Stamp { time: Time::At(start.at), place: Place { source, line: start.line } };
            self.begin_command(&start, stamp, writer, draft);
        }
    }

    /// Reports the start of a command, if its call is known.
    fn begin_command(&mut self, start: &Start, stamp: Stamp, writer: &mut ThreadWriter, draft: &mut Draft) {
        if start.is_nested && !self.running.contains_key(&start.id) {
            let Some(cell) = self.cell_of("exec_command", &start.display) else { return };
            let kind = ("exec_command", ToolKind::ExecCommand);
            let Some(tool) = writer.begin_nested_call(draft, &start.id, Some(&cell), kind, &start.display, stamp)
            else {
                return;
            };
            let running = Running { tool, arguments: String::new(), has_begun: false, has_ended: false, cell: None };
            self.running.insert(start.id.clone(), running);
        }
        let Some(running) = self.running.get_mut(&start.id) else { return };
        if !std::mem::replace(&mut running.has_begun, true) {
            writer.begin_runtime(draft, &running.tool, ToolKind::ExecCommand, &start.begin, stamp);
        }
    }

    /// Returns the cell whose code made a call. The file does not say which, so it is the newest one that has the words of the call, or
    /// the name of the tool, or any code. Limits keep a file of many cells, calls and much code from taking time of their product.
    fn cell_of(&self, tool: &str, words: &str) -> Option<String> {
        let has = |text: &str| {
            let newest = self.cells.iter().rev().take(MAX_SEARCHED_CELLS);
            let finder = memchr::memmem::Finder::new(text);
            let mut fitting = newest.filter(|cell| {
                let code = cell.source.as_bytes();
                finder.find(&code[..code.len().min(MAX_SEARCHED_BYTES)]).is_some()
            });
            fitting.next().filter(|_| !text.is_empty())
        };
        has(words).or_else(|| has(tool)).or(self.cells.last()).map(|cell| cell.id.clone())
    }

    /// Takes a report of the runtime, which may belong to a turn that was stopped before.
    pub(super) fn report(
        &mut self,
        item: &RuntimeItem<'_>,
        raw: &RawValue,
        (began, ended): (Stamp, Stamp),
        is_stopped: bool,
        writer: &mut ThreadWriter,
        draft: &mut Draft,
    ) {
        match &*item.tag {
            // What the user ran is a message of the history. Recordings have no call for it, because no model made one.
            "CommandExecution" if item.source.as_deref() == Some("user_shell") => {}
            "CommandExecution" => self.command(item, (began, ended), is_stopped, writer, draft),
            "FileChange" => self.other_run(item, raw, ToolKind::ApplyPatch, (began, ended), writer, draft),
            "McpToolCall" => {
                let name =
                    |name: &Option<std::borrow::Cow<'_, str>>| name.as_deref().unwrap_or_default().to_owned().into();
                let kind = ToolKind::Mcp { server: name(&item.server), tool: name(&item.tool) };
                self.other_run(item, raw, kind, (began, ended), writer, draft);
            }
            "SubAgentActivity" => self.activity(item, ended, writer, draft),
            "CollabAgentToolCall" => self.collaboration(item, (began, ended), writer, draft),
            _ => {}
        }
    }

    fn command(
        &mut self,
        item: &RuntimeItem<'_>,
        (began, ended): (Stamp, Stamp),
        is_stopped: bool,
        writer: &mut ThreadWriter,
        draft: &mut Draft,
    ) {
        let id = &*item.id;
        if let Some(start) = self.starts.of_line(ended.place.line).cloned() {
            self.begin_command(&start, began, writer, draft);
        }
        let Some(running) = self.running.get_mut(id) else { return };
        if !running.has_begun || std::mem::replace(&mut running.has_ended, true) {
            return;
        }
        let tool = running.tool.clone();
        let has_item = !id.starts_with("exec-");
        if let Some(exit_code) = item.exit_code {
            let mut end = begin_of(item);
            end["exit_code"] = exit_code.into();
            end["aggregated_output"] = item.aggregated_output.as_deref().unwrap_or_default().into();
            writer.end_runtime(draft, &tool, status_of(item), &end, ended);
        }
        // A call that was stopped with its turn did not return to the code that made it.
        if !has_item && !is_stopped {
            writer.end_call(draft, &tool, ExecutionStatus::Completed, None, ended);
        }
    }

    fn other_run(
        &mut self,
        item: &RuntimeItem<'_>,
        raw: &RawValue,
        kind: ToolKind<'static>,
        (began, ended): (Stamp, Stamp),
        writer: &mut ThreadWriter,
        draft: &mut Draft,
    ) {
        let id = &*item.id;
        if !self.running.contains_key(id) && id.starts_with("exec-") {
            let Some(cell) = self.cell_of(item.tool.as_deref().unwrap_or("apply_patch"), "") else { return };
            let name = item.tool.as_deref().unwrap_or("apply_patch");
            let made = writer.begin_nested_call(draft, id, Some(&cell), (name, kind.clone()), "", began);
            let Some(tool) = made else { return };
            let running = Running { tool, arguments: String::new(), has_begun: false, has_ended: false, cell: None };
            self.running.insert(id.to_owned(), running);
        }
        let Some(running) = self.running.get_mut(id) else { return };
        if std::mem::replace(&mut running.has_ended, true) {
            return;
        }
        let tool = running.tool.clone();
        writer.begin_runtime(draft, &tool, kind, raw, began);
        writer.end_runtime(draft, &tool, status_of(item), raw, ended);
        if id.starts_with("exec-") {
            writer.end_call(draft, &tool, ExecutionStatus::Completed, None, ended);
        }
    }

    fn activity(&mut self, item: &RuntimeItem<'_>, stamp: Stamp, writer: &mut ThreadWriter, draft: &mut Draft) {
        let (Some(thread), Some(path), Some(kind)) = (&item.agent_thread_id, &item.agent_path, &item.kind) else {
            return;
        };
        let Some(running) = self.running.get(&*item.id) else { return };
        let has_message = || {
            let arguments = serde_json::from_str::<Value>(&running.arguments);
            arguments.is_ok_and(|arguments| arguments.get("message").is_some_and(Value::is_string))
        };
        let is_told = **kind == *"interrupted" || has_message();
        if uuid::Uuid::try_parse(thread).is_err() || !is_agent_path(path) || !is_told {
            // Readers of bundles refuse a report about an agent that they cannot name, or that was told nothing.
            draft.note(Code::DamagedLine, Some(stamp.place));
            return;
        }
        let tool = running.tool.clone();
        let fits = matches!(
            (tool.kind(), &**kind),
            (ToolKind::SpawnAgent, "started")
                | (ToolKind::AssignAgentTask | ToolKind::SendMessage, "interacted")
                | (ToolKind::CloseAgent, "interrupted")
        );
        if !fits {
            return;
        }
        let report = json!({
            "event_id": item.id,
            "occurred_at_ms": if let Time::At(at) = stamp.time { at } else { 0 },
            "agent_thread_id": thread,
            "agent_path": path,
            "kind": kind,
            "model": item.model,
            "reasoning_effort": item.reasoning_effort,
        });
        writer.end_runtime(draft, &tool, ExecutionStatus::Completed, &report, stamp);
        if &**kind == "started" {
            self.children.push(Child { thread: thread.to_string(), spawned_by: tool.began(), place: stamp.place });
        }
    }

    fn collaboration(
        &mut self,
        item: &RuntimeItem<'_>,
        (began, ended): (Stamp, Stamp),
        writer: &mut ThreadWriter,
        draft: &mut Draft,
    ) {
        let Some(running) = self.running.get_mut(&*item.id) else { return };
        if running.has_ended {
            return;
        }
        let tool = running.tool.clone();
        match tool.kind() {
            ToolKind::WaitAgent => {
                running.has_ended = true;
                let report = json!({"call_id": item.id, "receiver_thread_ids": item.receiver_thread_ids});
                writer.begin_runtime(draft, &tool, ToolKind::WaitAgent, &report, began);
                writer.end_runtime(draft, &tool, status_of(item), &report, ended);
            }
            ToolKind::SpawnAgent => {
                if let Some(child) = item.receiver_thread_ids.first() {
                    running.has_ended = true;
                    let prompt = item.prompt.as_deref().unwrap_or_default();
                    writer.spawned(draft, &tool, child, prompt, began);
                    let spawned_by = tool.began();
                    self.children.push(Child { thread: child.to_string(), spawned_by, place: ended.place });
                }
            }
            ToolKind::CloseAgent => {
                let Some(child) = item.receiver_thread_ids.first().filter(|id| uuid::Uuid::try_parse(id).is_ok())
                else {
                    return;
                };
                // Readers of bundles refuse a report without the state in which the agent was.
                let Some(state) = item.agents_states.as_ref().and_then(|states| states.get(&**child)) else { return };
                if !is_state_of_agent(state) {
                    return;
                }
                running.has_ended = true;
                let report = json!({
                    "call_id": item.id,
                    "sender_thread_id": writer.id(),
                    "receiver_thread_id": child,
                    "status": state,
                });
                writer.begin_runtime(draft, &tool, ToolKind::CloseAgent, &report, began);
                writer.end_runtime(draft, &tool, ExecutionStatus::Completed, &report, ended);
            }
            _ => {}
        }
    }

    /// Takes the output of a call.
    pub(super) fn output(
        &mut self,
        item: &ResponseItem<'_>,
        raw: &RawValue,
        stamp: Stamp,
        writer: &mut ThreadWriter,
        draft: &mut Draft,
    ) {
        let call_id = item.call_id.as_deref().unwrap_or_default();
        let text = item.output.map(text_of).unwrap_or_default();
        let Some(running) = self.running.get_mut(call_id) else { return };
        let tool = running.tool.clone();
        if text.contains(ABORTED) && text.len() < MAX_ABORTED_BYTES {
            // The Codex CLI makes such an output for calls that were stopped with their turn. They did not return.
            return;
        }
        if let Some(session) = text.lines().find_map(|line| line.strip_prefix(STILL_RUNNING)) {
            self.terminals.insert(session.trim().to_owned(), call_id.to_owned());
        }
        if !running.has_ended
            && *tool.kind() == ToolKind::SpawnAgent
            && let Some(child) = spawned_agent(&text)
        {
            running.has_ended = true;
            let prompt = message_of(&running.arguments);
            writer.spawned(draft, &tool, &child, &prompt, stamp);
            self.children.push(Child { thread: child, spawned_by: tool.began(), place: stamp.place });
        }
        if !running.has_begun
            && *tool.kind() == ToolKind::ExecCommand
            && let Some((exit_code, output)) = shell_result(&text)
        {
            running.has_begun = true;
            let command = command_of(&running.arguments);
            let command: Vec<&str> = command.iter().map(String::as_str).collect();
            let unknown = Stamp { time: Time::Unknown, place: stamp.place };
            writer.command(draft, &tool, &command, exit_code, &output, (unknown, unknown));
        }
        // Version 0.42 reports a patch that failed so.
        let is_failed_patch = *tool.kind() == ToolKind::ApplyPatch && text.starts_with("error: ");
        let mut status = match text.lines().next() {
            _ if is_failed_patch || is_refusal_of_agents(tool.kind(), &text) => ExecutionStatus::Failed,
            Some(first) if ERRORS.iter().any(|error| first.starts_with(error)) => ExecutionStatus::Failed,
            _ => ExecutionStatus::Completed,
        };
        let outcome = CellOutcome::of(&text);
        let waited_for =
            || cell_waited_for(&running.arguments).filter(|_| matches!(tool.kind(), ToolKind::Other { .. }));
        if let Some(cell) = running.cell.take() {
            if outcome.status == CellStatus::Failed {
                status = ExecutionStatus::Failed;
            }
            let payload = draft.value(PayloadKind::ToolResult, raw);
            let response = CodeCellInitialResponse {
                runtime_cell_id: cell.clone().into(),
                status: outcome.status,
                response_payload: Some(payload.clone()),
            };
            writer.other(draft, EventPayload::CodeCellInitialResponse(response), stamp);
            if outcome.status == CellStatus::Yielded {
                let open = self.cells.iter_mut().find(|open| open.id == cell);
                open.into_iter().for_each(|open| open.number = outcome.number.map(str::to_owned));
            } else {
                self.end_cell(&cell, outcome.status, payload, writer, draft, stamp);
            }
        } else if let Some(number) = waited_for() {
            if outcome.status == CellStatus::Failed {
                status = ExecutionStatus::Failed;
            }
            let cell = self.cells.iter().find(|open| open.number.as_ref() == Some(&number)).map(|open| open.id.clone());
            if let Some(cell) = cell.filter(|_| outcome.status != CellStatus::Yielded) {
                let payload = draft.value(PayloadKind::ToolResult, raw);
                self.end_cell(&cell, outcome.status, payload, writer, draft, stamp);
            }
        }
        let result = match status {
            ExecutionStatus::Failed => CallResult::Error(&text),
            _ => CallResult::Item(raw),
        };
        writer.end_call(draft, &tool, status, Some(result), stamp);
    }

    fn end_cell(
        &mut self,
        cell: &str,
        status: CellStatus,
        payload: PayloadRef<'static>,
        writer: &mut ThreadWriter,
        draft: &mut Draft,
        stamp: Stamp,
    ) {
        self.cells.retain(|open| open.id != cell);
        let end = CodeCellEnded { runtime_cell_id: cell.to_owned().into(), status, response_payload: Some(payload) };
        writer.other(draft, EventPayload::CodeCellEnded(end), stamp);
    }
}

/// What the output of code tells about its cell.
struct CellOutcome<'a> {
    status: CellStatus,
    /// The number of a cell that goes on in the background.
    number: Option<&'a str>,
}

impl<'a> CellOutcome<'a> {
    fn of(text: &'a str) -> Self {
        let status = if text.starts_with(SCRIPT_FAILED) {
            CellStatus::Failed
        } else if text.starts_with(SCRIPT_TERMINATED) {
            CellStatus::Terminated
        } else if text.starts_with(SCRIPT_RUNNING) {
            CellStatus::Yielded
        } else {
            CellStatus::Completed
        };
        let first = text.lines().next().unwrap_or_default();
        Self { status, number: first.strip_prefix(SCRIPT_RUNNING).and_then(|rest| rest.rsplit(' ').next()) }
    }
}

/// Returns the number of the cell that a call waits for.
fn cell_waited_for(arguments: &str) -> Option<String> {
    let value: Value = serde_json::from_str(arguments).ok()?;
    match value.get("cell_id")? {
        Value::String(number) => Some(number.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

/// Returns whether a value is a state of an agent, in the first version of the tools for agents.
fn is_state_of_agent(state: &Value) -> bool {
    match state {
        Value::String(state) => {
            ["pending_init", "running", "interrupted", "shutdown", "not_found"].contains(&state.as_str())
        }
        Value::Object(state) => match (state.len(), state.get("completed"), state.get("errored")) {
            (1, Some(answer), None) => answer.is_string() || answer.is_null(),
            (1, None, Some(error)) => error.is_string(),
            _ => false,
        },
        _ => false,
    }
}

/// Returns whether a tool for agents refused a call. Those that went well answer with an object, or with nothing.
fn is_refusal_of_agents(kind: &ToolKind<'_>, text: &str) -> bool {
    match kind {
        ToolKind::SpawnAgent | ToolKind::WaitAgent | ToolKind::CloseAgent => !text.starts_with('{'),
        ToolKind::AssignAgentTask | ToolKind::SendMessage => !text.is_empty() && !text.starts_with('{'),
        _ => false,
    }
}

/// Longest output that may be that of a stopped call. A longer one only has the words in it.
const MAX_ABORTED_BYTES: usize = 400;

fn kind_of(name: &str, namespace: Option<&str>, arguments: &str) -> ToolKind<'static> {
    match (namespace, name) {
        (None, "wait") if cell_waited_for(arguments).is_some() => ToolKind::Other { name: name.to_owned().into() },
        (
            Some(namespace),
            "spawn_agent" | "send_message" | "followup_task" | "assign_task" | "wait_agent" | "interrupt_agent"
            | "close_agent",
        ) if !is_of_agents(namespace) => ToolKind::Other { name: name.to_owned().into() },
        // The first version of the tools for agents had names of its own.
        (_, "wait") => ToolKind::WaitAgent,
        (_, "send_input") => ToolKind::SendMessage,
        _ => tool_kind(name),
    }
}

fn is_of_agents(namespace: &str) -> bool {
    matches!(namespace, "collaboration" | "multi_agent_v1" | "multi_agent")
}

fn status_of(item: &RuntimeItem<'_>) -> ExecutionStatus {
    match item.status.as_deref() {
        Some("failed") => ExecutionStatus::Failed,
        Some("declined" | "cancelled") => ExecutionStatus::Cancelled,
        _ => ExecutionStatus::Completed,
    }
}

/// Returns the thread that the output of a spawn names, in the first version of the tools for agents.
fn spawned_agent(output: &str) -> Option<String> {
    let value: Value = serde_json::from_str(output).ok()?;
    let id = value.get("agent_id")?.as_str()?;
    uuid::Uuid::try_parse(id).ok().map(|_| id.to_owned())
}

fn message_of(arguments: &str) -> String {
    let value: Value = serde_json::from_str(arguments).unwrap_or_default();
    value.get("message").and_then(Value::as_str).unwrap_or_default().to_owned()
}

/// Returns exit code and output of a command from the JSON that versions up to 0.58 give the model, or from the lines of later ones.
fn shell_result(text: &str) -> Option<(i32, String)> {
    if text.starts_with('{') {
        let value: Value = serde_json::from_str(text).ok()?;
        let exit_code = value.get("metadata")?.get("exit_code")?.as_i64()?;
        let output = value.get("output").and_then(Value::as_str).unwrap_or_default();
        return Some((i32::try_from(exit_code).ok()?, output.to_owned()));
    }
    let mut lines = text.split_inclusive('\n');
    let mut exit_code = None;
    for line in lines.by_ref() {
        let trimmed = line.trim_end();
        if let Some(code) = trimmed.strip_prefix("Process exited with code ").or(trimmed.strip_prefix("Exit code: ")) {
            exit_code = code.parse().ok();
        }
        if trimmed == "Output:" {
            return Some((exit_code?, lines.collect()));
        }
    }
    None
}

fn command_of(arguments: &str) -> Vec<String> {
    let value: Value = serde_json::from_str(arguments).unwrap_or_default();
    match value.get("command").or_else(|| value.get("cmd")) {
        Some(Value::Array(words)) => words.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
        Some(Value::String(line)) => vec![line.clone()],
        _ => Vec::new(),
    }
}

/// Returns whether a text is the path of an agent below the root, as readers of bundles accept it.
fn is_agent_path(path: &str) -> bool {
    let is_letter = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_';
    let is_segment = |segment: &str| !segment.is_empty() && segment != "root" && segment.bytes().all(is_letter);
    path == "/root" || path.strip_prefix("/root/").is_some_and(|rest| rest.split('/').all(is_segment))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_code_of_a_nested_call_is_looked_for_in_the_newest_cells() {
        let cell =
            |number: usize, source: &str| Cell { id: number.to_string(), source: source.to_owned(), number: None };
        let mut calls = Calls::default();
        assert_eq!(calls.cell_of("tool", "words"), None);
        calls.cells = vec![cell(1, "tool(words)"), cell(2, "tool(x)"), cell(3, "y")];
        let found = |calls: &Calls, words: &str| calls.cell_of("tool", words).expect("a cell");
        assert_eq!([found(&calls, "words"), found(&calls, "z"), found(&calls, "")], ["1", "2", "2"]);
        assert_eq!(calls.cell_of("other", "").as_deref(), Some("3"));
        calls.cells.extend((4..=MAX_SEARCHED_CELLS + 1).map(|number| cell(number, "y")));
        assert_eq!(found(&calls, "words"), "2", "the first cell is one too many");
        calls.cells.push(cell(0, &format!("{}words", "y".repeat(MAX_SEARCHED_BYTES - 4))));
        assert_eq!(found(&calls, "words"), "0", "no cell in reach has the words or the tool");
        calls.cells.push(cell(99, &format!("{}words", "y".repeat(MAX_SEARCHED_BYTES - 5))));
        calls.cells.push(cell(100, "y"));
        assert_eq!(found(&calls, "words"), "99");
    }

    #[test]
    fn results_of_commands_are_read_in_both_forms() {
        let old = r#"{"output":"x\n","metadata":{"exit_code":3,"duration_seconds":0.2}}"#;
        assert_eq!(shell_result(old), Some((3, "x\n".to_owned())));
        let new = "Chunk ID: ab\nWall time: 0.1 seconds\nProcess exited with code 7\nOutput:\na\nb\n";
        assert_eq!(shell_result(new), Some((7, "a\nb\n".to_owned())));
        assert_eq!(shell_result("Process running with session ID 4\nOutput:\n"), None);
        assert_eq!(shell_result("unsupported call: x"), None);
    }
}
