//! What agents did: each tool call with its input, its output and its end, whatever the recording calls them.

use std::borrow::Cow;
use std::sync::OnceLock;

use rayon::prelude::*;
use serde_json::Value;
use trace_reducer::model::{
    ExecutionStatus, OperationIdx, Symbol, TerminalRequest, TerminalResult, ThreadIdx, ToolCall, ToolIdx, ToolKind,
    TurnIdx,
};
use xxhash_rust::xxh3::xxh3_64;

use super::edits::{FileEdit, edits_of_arguments, edits_of_changes, edits_of_patch};
use crate::audit::read::addresses::addresses_agents;
use crate::audit::read::checks::Ended;
use crate::audit::read::shell::{Command, commands};
use crate::label::{command_line, tool_name};
use crate::postmortem::exit_code_in;
use crate::session::Session;

/// Largest payload that is read for an act, in bytes. Arguments are far smaller.
pub const MAX_ACT_BYTES: usize = 8 << 20;

/// Largest part of a tool's result that is compared with others, in bytes.
const MAX_OUTCOME_BYTES: usize = 16 << 10;

/// What an agent asked for.
#[derive(Debug, Clone, PartialEq)]
pub enum Input {
    /// A command line.
    Command(String),
    /// Changes of files, by a patch or an editor's tool.
    Edit(Vec<FileEdit>),
    /// Text for a running command.
    Stdin(String),
    /// A message to another agent, a task or the start of one.
    Message(String),
    /// A wait for other agents, or a look at them.
    Wait,
    /// Anything else: the name of the tool and its arguments.
    Other(String, String),
}

/// One act of an agent.
#[derive(Debug)]
pub struct Act<'s> {
    /// The call.
    pub tool: ToolIdx,
    /// The agent.
    pub thread: ThreadIdx,
    /// Its turn.
    pub turn: Option<TurnIdx>,
    /// Sequence number of its start.
    pub started: u64,
    /// Sequence number from which its end was known to the agent; `None` if it was never known.
    pub ended: Option<u64>,
    /// How it ended.
    pub state: Ended,
    /// Whether it did what it was asked for, as far as the call shows.
    pub succeeded: bool,
    /// What it was asked for.
    pub input: Input,
    /// What a command printed. Outputs of other tools are read when they are needed.
    pub output: Cow<'s, str>,
    /// Folder in which a command ran.
    pub cwd: &'s str,
    /// Hash of what another tool than a terminal returned, without times and ids.
    outcome: u64,
    /// Whether the output is missing although the call ended.
    pub is_unreadable: bool,
    /// The commands of its line, once somebody has asked for them.
    commands: OnceLock<Vec<Command>>,
}

impl Act<'_> {
    /// Returns the command line, if it is one.
    pub fn script(&self) -> Option<&str> {
        match &self.input {
            Input::Command(script) => Some(script),
            _ => None,
        }
    }

    /// Returns the commands of its line; none if it is no command line. The line is read once, since most rules ask for them.
    pub fn commands(&self) -> &[Command] {
        self.commands.get_or_init(|| self.script().map(commands).unwrap_or_default())
    }

    /// Returns the changed files, if it is an edit.
    pub fn edits(&self) -> &[FileEdit] {
        match &self.input {
            Input::Edit(edits) => edits,
            _ => &[],
        }
    }

    /// Returns what the agent wrote to make the call.
    pub fn written(&self) -> Cow<'_, str> {
        match &self.input {
            Input::Command(text) | Input::Stdin(text) | Input::Message(text) | Input::Other(_, text) => {
                Cow::Borrowed(text)
            }
            Input::Edit(edits) => {
                let lines = edits.iter().flat_map(|edit| edit.lines.iter()).filter(|line| line.sign == '+');
                let mut text = String::new();
                for edit in edits {
                    text.push_str(&edit.path);
                    text.push('\n');
                }
                for line in lines {
                    text.push_str(&line.text);
                    text.push('\n');
                }
                Cow::Owned(text)
            }
            Input::Wait => Cow::Borrowed(""),
        }
    }

    /// Returns a hash of what was asked for.
    pub fn input_hash(&self) -> u64 {
        xxh3_64(format!("{:?}", self.input).as_bytes())
    }

    /// Returns a hash of the outcome, without what differs between equal runs: times, durations and ids.
    pub fn outcome_hash(&self) -> u64 {
        xxh3_64(format!("{:?} {} {}", self.state, self.outcome, without_times(&self.output)).as_bytes())
    }

    /// Returns whether the act was carried out, as a whole or in part.
    pub fn happened(&self) -> bool {
        !matches!(self.state, Ended::Declined)
    }
}

/// Returns the acts of a session in the order in which they started.
pub fn acts(session: &Session) -> Vec<Act<'_>> {
    let trace = session.trace();
    let tools: Vec<ToolIdx> = trace.tools.handles().collect();
    let mut acts: Vec<Act<'_>> = tools.par_iter().with_min_len(64).filter_map(|tool| act(session, *tool)).collect();
    acts.sort_by_key(|act| (act.started, act.tool));
    acts
}

fn act<'s>(session: &'s Session, tool: ToolIdx) -> Option<Act<'s>> {
    let trace = session.trace();
    let call = &trace.tools[tool];
    // The code of a cell is judged by the calls that it makes.
    if call.started_code_cell.is_some() {
        return None;
    }
    let mut act = Act {
        tool,
        thread: call.thread,
        turn: call.turn,
        started: call.execution.started.seq,
        ended: call.execution.ended.map(|ended| ended.seq),
        state: state_of(call),
        succeeded: call.execution.status == ExecutionStatus::Completed,
        input: Input::Wait,
        output: Cow::Borrowed(""),
        cwd: "",
        outcome: 0,
        is_unreadable: false,
        commands: OnceLock::new(),
    };
    match call.kind {
        ToolKind::WaitAgent | ToolKind::CloseAgent => return Some(act),
        _ => {}
    }
    if let Some(operation) = call.operation {
        terminal(session, operation, call, &mut act);
    } else {
        other(session, call, &mut act);
    }
    Some(act)
}

fn state_of(call: &ToolCall) -> Ended {
    match call.execution.status {
        ExecutionStatus::Running => Ended::Running,
        ExecutionStatus::Completed => Ended::Exited(None),
        ExecutionStatus::Failed | ExecutionStatus::Cancelled | ExecutionStatus::Aborted | ExecutionStatus::Unknown => {
            Ended::Exited(Some(1))
        }
    }
}

fn exit_code_of(result: &TerminalResult) -> Option<i64> {
    result
        .exit_code
        .or_else(|| result.formatted_output.as_deref().and_then(exit_code_in))
        .or_else(|| exit_code_in(&result.stdout))
}

fn output_of(result: &TerminalResult) -> Cow<'_, str> {
    match (&*result.stdout, &*result.stderr) {
        ("", "") => Cow::Borrowed(result.formatted_output.as_deref().unwrap_or("")),
        (stdout, "") => Cow::Borrowed(stdout),
        ("", stderr) => Cow::Borrowed(stderr),
        (stdout, stderr) => Cow::Owned(format!("{stdout}\n{stderr}")),
    }
}

fn terminal<'s>(session: &'s Session, operation: OperationIdx, call: &'s ToolCall, act: &mut Act<'s>) {
    let trace = session.trace();
    let own = &trace.operations[operation];
    match &own.request {
        TerminalRequest::WriteStdin { stdin, .. } => {
            act.input = Input::Stdin(stdin.to_string());
            if let Some(result) = &own.result {
                act.output = output_of(result);
            }
            return;
        }
        TerminalRequest::ExecCommand { command, cwd } => {
            act.cwd = cwd;
            act.input = Input::Command(script_of(command));
        }
    }
    let result = own.result.as_ref();
    let code = result.and_then(exit_code_of);
    let runtime_end = call.runtime.and_then(|runtime| runtime.ended).or(own.execution.ended);
    let call_end = call.execution.ended;
    let went_on = match (call_end, runtime_end) {
        (Some(call), Some(runtime)) => runtime.seq > call.seq,
        (Some(_), None) => call.runtime.is_some(),
        _ => false,
    };
    // The end of the runtime may be reported after that of the call. What the call returned tells whether it had ended.
    let went_on = went_on && !call.result_payload_id.is_some_and(|id| tells_end(session, id));
    if !went_on {
        act.output = result.map_or(Cow::Borrowed(""), output_of);
        act.is_unreadable = result.is_none() && call_end.is_some() && call.result_payload_id.is_none();
        act.state = match (call_end.or(runtime_end), code) {
            (_, Some(code)) => Ended::Exited(Some(code)),
            (None, None) => Ended::Running,
            (Some(_), None) => match (call.execution.status, &*act.output) {
                (ExecutionStatus::Completed, _) => Ended::Exited(None),
                (_, output) if is_refusal(output) => Ended::Declined,
                _ => Ended::Exited(leading_exit_code(&act.output).or(Some(1))),
            },
        };
        if act.ended.is_none() {
            act.ended = runtime_end.map(|end| end.seq);
        }
        // Claude Code tells that a command runs on, and its outcome by another tool or message.
        if act.output.trim_start().starts_with("Command running in background with ID") {
            act.state = Ended::Running;
        }
        act.succeeded = matches!(act.state, Ended::Exited(Some(0) | None)) && act.succeeded;
        return;
    }
    // The command went to the background: a later write or poll may have told its end.
    let writes = own
        .session
        .map(|session| &trace.sessions[session])
        .filter(|terminal| terminal.created_by == operation)
        .into_iter()
        .flat_map(|terminal| &terminal.operations)
        .filter(|other| **other != operation)
        .map(|other| &trace.operations[*other]);
    let mut told = String::new();
    let mut end: Option<(u64, Option<i64>)> = None;
    for write in writes {
        let Some(result) = &write.result else { continue };
        told.push_str(&output_of(result));
        told.push('\n');
        let seq = write.execution.ended.unwrap_or(write.execution.started).seq;
        if let Some(code) = exit_code_of(result) {
            end = Some((seq, Some(code)));
            break;
        }
    }
    let whole = result.map_or(Cow::Borrowed(""), output_of);
    match end {
        Some((seq, code)) => {
            act.ended = Some(seq);
            act.state = Ended::Exited(code.or_else(|| result.and_then(exit_code_of)));
            act.output = if whole.trim().is_empty() { Cow::Owned(told) } else { whole };
        }
        None => {
            act.state = Ended::Running;
            // What the agent saw of it, and no more.
            let first = call.result_payload_id.and_then(|id| text_of_result(session, id)).unwrap_or_default();
            act.output = Cow::Owned(format!("{first}\n{told}"));
        }
    }
    act.succeeded = matches!(act.state, Ended::Exited(Some(0)));
}

/// Returns whether what a call returned has the exit code of its command.
fn tells_end(session: &Session, id: Symbol) -> bool {
    let Some(payload) = read(session, id) else { return false };
    let value = payload.get("value").or_else(|| payload.get("response")).unwrap_or(&payload);
    if value.get("exit_code").is_some_and(Value::is_i64) {
        return true;
    }
    text_of_result(session, id).is_some_and(|text| exit_code_in(&text).is_some())
}

/// Returns the command line of the words that a terminal was asked to run.
fn script_of(command: &[Box<str>]) -> String {
    match command {
        [_, flag, script] if matches!(&**flag, "-c" | "-lc" | "-ic" | "-lic" | "-Command") => script.to_string(),
        [only] => only.to_string(),
        words => command_line(words.iter().map(|word| &**word)),
    }
}

/// Beginnings of outputs with which agents tell that a call was not allowed, in lower case.
const REFUSALS: [&str; 14] = [
    "exec_command failed for",
    "rejected by user",
    "user rejected",
    "user declined",
    "declined by",
    "approval denied",
    "the user doesn't want to proceed",
    "the user doesn't want to take this action",
    "permission to use",
    "command rejected",
    "operation cancelled by user",
    "tool call was rejected",
    "denied by",
    "blocked by",
];

fn is_refusal(output: &str) -> bool {
    let head: String = output.chars().take(400).collect::<String>().to_lowercase();
    REFUSALS.iter().any(|known| head.contains(known)) || head.contains("reject")
}

/// Claude Code begins the output of a failed command with its exit code.
fn leading_exit_code(output: &str) -> Option<i64> {
    let rest = output.trim_start().trim_start_matches("Error: ").strip_prefix("Exit code ")?;
    rest.split(|it: char| !it.is_ascii_digit()).next()?.parse().ok()
}

fn read(session: &Session, id: Symbol) -> Option<Value> {
    let bytes = session.read_payload(id).ok()?;
    if bytes.len() > MAX_ACT_BYTES { None } else { serde_json::from_slice(&bytes).ok() }
}

fn text_of_result(session: &Session, id: Symbol) -> Option<String> {
    let payload = read(session, id)?;
    let value = payload
        .get("response_item")
        .or_else(|| payload.get("value"))
        .or_else(|| payload.get("response"))
        .unwrap_or(&payload);
    let mut text = String::new();
    crate::texts::document::strings(value, &["call_id", "cell_id", "chunk_id", "id", "status", "type"], &mut |part| {
        text.push_str(part);
        text.push('\n');
    });
    Some(text)
}

/// Members of arguments that hold a command line.
const COMMAND_NAMES: [&str; 4] = ["cmd", "command", "script", "commandLine"];

fn other<'s>(session: &'s Session, call: &'s ToolCall, act: &mut Act<'s>) {
    let trace = session.trace();
    let invocation = call.invocation_payload_id.and_then(|id| read(session, id));
    let arguments_text = invocation.as_ref().map(arguments_text).unwrap_or_default();
    let arguments: Value = serde_json::from_str(&arguments_text).unwrap_or(Value::Null);
    let name = tool_name(trace, call);
    let result = call.result_payload_id.and_then(|id| text_of_result(session, id));
    act.is_unreadable = call.result_payload_id.is_some() && result.is_none();
    let result = result.unwrap_or_default();
    act.outcome =
        result.get(..result.len().min(MAX_OUTCOME_BYTES)).map_or(0, |start| xxh3_64(without_times(start).as_bytes()));
    // Of other tools, only outputs that may hold instructions are kept.
    if addresses_agents(&result) {
        act.output = Cow::Owned(result.clone());
    }
    let failed = call.execution.status != ExecutionStatus::Completed;
    if failed
        && call.execution.ended.is_some()
        && (is_refusal(&result)
            || (call.kind == ToolKind::ExecCommand && call.runtime.is_none() && !result.contains("Exit code")))
    {
        act.state = Ended::Declined;
    }
    match call.kind {
        ToolKind::SpawnAgent | ToolKind::AssignAgentTask | ToolKind::SendMessage => {
            let text = ["message", "prompt", "task", "text", "input", "description"]
                .iter()
                .find_map(|name| arguments.get(*name).and_then(Value::as_str));
            act.input = Input::Message(text.map_or(arguments_text.clone(), str::to_owned));
            return;
        }
        ToolKind::ApplyPatch => {
            let changes = call.runtime_payload_ids.last().and_then(|id| read(session, *id));
            if let Some(success) = changes.as_ref().and_then(|changes| changes.get("success")).and_then(Value::as_bool)
            {
                act.succeeded = success;
            }
            let mut edits =
                changes.as_ref().and_then(|changes| changes.get("changes")).map(edits_of_changes).unwrap_or_default();
            if edits.is_empty() {
                edits = edits_of_arguments(&arguments).unwrap_or_else(|| {
                    let patch = arguments
                        .get("input")
                        .or_else(|| arguments.get("patch"))
                        .and_then(Value::as_str)
                        .unwrap_or(&arguments_text);
                    edits_of_patch(patch)
                });
            }
            act.input = Input::Edit(edits);
            return;
        }
        _ => {}
    }
    let command = COMMAND_NAMES.iter().find_map(|name| arguments.get(*name));
    let script = match command {
        Some(Value::String(script)) => Some(script.clone()),
        Some(Value::Array(words)) => {
            let words: Vec<Box<str>> = words.iter().filter_map(Value::as_str).map(Into::into).collect();
            Some(script_of(&words))
        }
        _ => None,
    };
    if let Some(script) = script {
        act.input = Input::Command(script);
        if !matches!(act.state, Ended::Declined | Ended::Running) {
            let code = exit_code_in(&result).or_else(|| leading_exit_code(&result)).or_else(|| json_exit_code(&result));
            if let Some(code) = code {
                act.state = Ended::Exited(Some(code));
                act.succeeded = code == 0 && act.succeeded;
            }
        }
        act.output = Cow::Owned(result);
        return;
    }
    if let Some(edits) = edits_of_arguments(&arguments) {
        act.input = Input::Edit(edits);
        return;
    }
    act.input = Input::Other(name, arguments_text);
}

/// Some tools answer with a JSON text that has the exit code.
fn json_exit_code(result: &str) -> Option<i64> {
    let value: Value = serde_json::from_str(result.trim()).ok()?;
    let metadata = value.get("metadata").unwrap_or(&value);
    metadata.get("exit_code").or_else(|| metadata.get("exitCode"))?.as_i64()
}

fn arguments_text(invocation: &Value) -> String {
    let payload = invocation.get("payload").unwrap_or(invocation);
    for name in ["arguments", "input", "params", "raw_arguments"] {
        match payload.get(name) {
            Some(Value::String(text)) => return text.clone(),
            Some(value @ (Value::Object(_) | Value::Array(_))) => return value.to_string(),
            _ => {}
        }
    }
    payload.to_string()
}

/// Takes out of an output what differs between equal runs: digits. Two outcomes that differ in a count are told apart by
/// [`counts_of`] of the words around it.
fn without_times(output: &str) -> String {
    use std::sync::LazyLock;
    static CHANGING: LazyLock<regex::Regex> = LazyLock::new(|| {
        regex::Regex::new(r"(?i)\d{4}-\d\d-\d\d[T ][\d:.,]+Z?|\d+:\d\d(?::\d\d)?(?:\.\d+)?|\d+(?:\.\d+)?\s?(?:ms|µs|us|ns|s|sec|secs|seconds|min|minutes)\b|0x[0-9a-f]+|[0-9a-f]{8}-[0-9a-f-]{27}|\b[0-9a-f]{12,}\b|\bpid[ =:]+\d+|(?m)^Chunk ID: \w+$|^Wall time: .*$")
            .expect("a pattern")
    });
    CHANGING.replace_all(output, "").into_owned()
}
