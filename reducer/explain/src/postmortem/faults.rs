//! Finds what failed by itself: inference calls, tool calls, code cells, compactions, messages.
//!
//! A fault is one operation that did not succeed. The judge decides later whether it mattered. An operation that was
//! only stopped together with its turn is no fault.

use std::collections::HashMap;
use std::rc::Rc;

use serde_json::Value;
use trace_reducer::model::{
    Anchor, CellIdx, CodeCell, EdgeKind, ExecutionStatus, InferenceIdx, Moment, Requester, SchemaVersion, Symbol,
    TerminalOperation, TerminalRequest, TerminalResult, ThreadIdx, ToolCall, ToolIdx, ToolKind, ToolSummary, Trace,
    TurnIdx, Window,
};

use super::cause::{Cause, Place};
use super::texts::{
    Reach, exit_code_in, mcp_failure, request_failure, runs_with_limit, says_timed_out, terminal_text, tool_failure,
};
use super::verdict::{Category, Confidence};
use super::words::shortened;
use crate::family::Family;
use crate::label::tool_name;
use crate::mail::lost_messages;
use crate::object::Object;
use crate::result::{error_text, joined_texts, output_text};
use crate::session::Session;

/// A command that a signal killed has this value plus the signal's number as its exit code.
const SIGNAL_EXIT_CODES: i64 = 128;

/// Exit code of `timeout`, and of shells, for a command that exceeded its time limit.
const TIMEOUT_EXIT_CODE: i64 = 124;

/// Largest payload in bytes that is read only to quote its text. The quotes are far shorter.
pub const MAX_TEXT_PAYLOAD_BYTES: usize = 4 << 20;

/// The character that ctrl-C sends to a terminal.
const INTERRUPT: char = '\u{3}';

/// Exit code of a command that an interrupt from the terminal ended.
const INTERRUPTED_EXIT_CODE: i64 = SIGNAL_EXIT_CODES + 2;

/// Kind of an operation. A later success of the same kind makes a fault good.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Operation {
    /// A request to a model.
    Inference,
    /// A remote compaction.
    Compaction,
    /// A call of a tool of this kind.
    Tool(&'static str),
    /// A call of a tool of an MCP server: server and tool.
    Mcp(Symbol, Symbol),
    /// A call of a tool without a kind of its own, by name.
    Named(Symbol),
    /// A piece of code.
    Cell,
    /// A message to the thread with this id.
    Message(Symbol),
}

/// When an operation was tried. Calls of the same response count as one try, so none of them is later than another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Try {
    /// Number of requests that the thread had made before; 0 if a code cell made the call.
    request: usize,
    at: Moment,
}

impl Try {
    /// Returns whether this try began after the outcome of `failed` was known, at `known`.
    fn is_after(self, failed: Self, known: Moment) -> bool {
        // A code cell makes its calls one after the other, so they are separate tries.
        let is_one_response = self.request == failed.request && self.request > 0;
        self.at.seq > known.seq && !is_one_response
    }
}

/// One operation that failed.
#[derive(Debug, Clone)]
pub(super) struct Fault {
    /// What the fault is the cause of, if it was not made good.
    pub(super) cause: Rc<Cause>,
    pub(super) operation: Operation,
    /// When it began; for several attempts, the start of the first.
    pub(super) began: Moment,
    tried: Try,
    /// The turn in which the failure became known, if that is another turn.
    pub(super) charged: Option<TurnIdx>,
}

impl Fault {
    fn new(cause: Cause, operation: Operation, tried: Try) -> Self {
        Self { cause: Rc::new(cause), operation, began: tried.at, tried, charged: None }
    }
}

/// All faults of a session, and the last success of each kind of operation.
pub(super) struct Faults {
    /// In the order of the log.
    pub(super) list: Vec<Fault>,
    /// The last success of each kind of operation in each thread.
    successes: HashMap<(ThreadIdx, Operation), Try>,
    /// For each turn, the start of the last request to a model that succeeded.
    answers: HashMap<TurnIdx, Moment>,
}

impl Faults {
    /// Returns whether the same kind of operation succeeded in the same thread, in an attempt that began after the
    /// fault.
    pub(super) fn is_made_good(&self, fault: &Fault) -> bool {
        let success = self.successes.get(&(fault.cause.thread, fault.operation));
        success.is_some_and(|success| success.is_after(fault.tried, fault.cause.at))
    }

    /// Returns whether a request to a model succeeded in the same turn after the fault.
    pub(super) fn is_answered_within(&self, fault: &Fault, turn: TurnIdx) -> bool {
        self.answers.get(&turn).is_some_and(|answer| answer.seq > fault.cause.at.seq)
    }
}

/// Finds all faults of a session.
pub(super) fn find(session: &Session, family: &Family, errors: &HashMap<Symbol, Value>) -> Faults {
    let trace = session.trace();
    let mut requests: HashMap<ThreadIdx, Vec<u64>> = HashMap::new();
    for call in trace.inferences.values() {
        requests.entry(call.thread).or_default().push(call.execution.started.seq);
    }
    let mut finder = Finder {
        session,
        family,
        trace,
        errors,
        list: Vec::new(),
        successes: HashMap::new(),
        answers: HashMap::new(),
        requests,
    };
    finder.inferences();
    finder.compactions();
    finder.tools();
    finder.cells();
    finder.messages();
    finder.list.sort_by_key(|fault| fault.cause.at);
    Faults { list: finder.list, successes: finder.successes, answers: finder.answers }
}

/// Reads a payload that is needed only for its text. Returns `None` if it is larger than [`MAX_TEXT_PAYLOAD_BYTES`] or
/// cannot be read.
pub(super) fn short_payload(session: &Session, id: Symbol) -> Option<Value> {
    let bytes = session.read_payload(id).ok()?;
    if bytes.len() > MAX_TEXT_PAYLOAD_BYTES {
        return None;
    }
    serde_json::from_slice(&bytes).ok()
}

/// Returns the errors that clients received at the end of turns, by turn id.
pub(super) fn errors_of_turns(session: &Session) -> HashMap<Symbol, Value> {
    let trace = session.trace();
    let ends = trace.protocol_events.iter().filter(|event| trace.text(event.event_type) == "turn_complete");
    ends.filter_map(|event| {
        let mut payload = short_payload(session, trace.payloads[event.payload].id)?;
        let turn = payload.get("turn_id").and_then(Value::as_str)?;
        let turn = trace.symbols.get(turn)?;
        let error = payload.get_mut("error").map(Value::take).filter(|error| !error.is_null())?;
        Some((turn, error))
    })
    .collect()
}

/// Returns the message of such an error.
pub(super) fn error_message(error: &Value) -> Option<&str> {
    error.get("message").and_then(Value::as_str)
}

struct Finder<'s> {
    session: &'s Session,
    family: &'s Family,
    trace: &'s Trace,
    errors: &'s HashMap<Symbol, Value>,
    list: Vec<Fault>,
    successes: HashMap<(ThreadIdx, Operation), Try>,
    answers: HashMap<TurnIdx, Moment>,
    /// For each thread, the sequence numbers at which its requests started.
    requests: HashMap<ThreadIdx, Vec<u64>>,
}

impl Finder<'_> {
    fn succeeded(&mut self, thread: ThreadIdx, operation: Operation, tried: Try) {
        let latest = self.successes.entry((thread, operation)).or_insert(tried);
        if latest.at < tried.at {
            *latest = tried;
        }
    }

    fn try_of(&self, call: &ToolCall) -> Try {
        let at = call.execution.started;
        let request = match call.requester {
            Requester::CodeCell(_) => 0,
            Requester::Model => {
                self.requests.get(&call.thread).map_or(0, |starts| starts.partition_point(|start| *start < at.seq))
            }
        };
        Try { request, at }
    }

    /// Returns the try of a code cell: it counts as the call that contained the code.
    fn try_of_cell(&self, cell: &CodeCell) -> Try {
        let at = cell.execution.started;
        let starts = self.requests.get(&cell.thread);
        Try { request: starts.map_or(0, |starts| starts.partition_point(|start| *start < at.seq)), at }
    }

    /// Returns whether something ended at the end of its turn, or later.
    fn ended_with_turn(&self, turn: Option<TurnIdx>, ended: Moment) -> bool {
        turn.and_then(|turn| self.trace.turns[turn].execution.ended).is_some_and(|end| ended.seq >= end.seq)
    }

    /// Adds the faults of requests. Failed attempts of one request in a row are one fault, with the data of the last
    /// attempt.
    fn inferences(&mut self) {
        let trace = self.trace;
        let mut failing: HashMap<TurnIdx, Vec<InferenceIdx>> = HashMap::new();
        let mut runs: Vec<Vec<InferenceIdx>> = Vec::new();
        for (index, call) in trace.inferences.iter() {
            match call.execution.status {
                ExecutionStatus::Failed if call.error.is_some() || !self.ends_by_turn(call.turn, &call.execution) => {
                    failing.entry(call.turn).or_default().push(index);
                }
                ExecutionStatus::Completed => {
                    self.succeeded(call.thread, Operation::Inference, Try { request: 0, at: call.execution.started });
                    self.answers.insert(call.turn, call.execution.started);
                    runs.extend(failing.remove(&call.turn));
                }
                _ => {}
            }
        }
        let mut last_runs: Vec<_> = failing.into_values().collect();
        last_runs.sort();
        for run in &runs {
            self.failed_request(run, None);
        }
        for run in &last_runs {
            // The protocol reports the error of the last attempt as the error of the turn.
            let turn = run.last().map(|last| trace.inferences[*last].turn);
            let error = turn
                .filter(|turn| {
                    let is_old = trace.schema_version == SchemaVersion::V1;
                    is_old || trace.turns[*turn].execution.status == ExecutionStatus::Failed
                })
                .and_then(|turn| self.errors.get(&trace.turns[turn].id));
            self.failed_request(run, error);
        }
    }

    /// Returns whether the end of the turn closed the window.
    fn ends_by_turn(&self, turn: TurnIdx, window: &Window) -> bool {
        window.ended.is_some() && window.ended == self.trace.turns[turn].execution.ended
    }

    fn failed_request(&mut self, run: &[InferenceIdx], error: Option<&Value>) {
        let (Some(first), Some(last)) = (run.first(), run.last()) else { return };
        let trace = self.trace;
        let call = &trace.inferences[*last];
        let text = call.error.as_deref().or_else(|| error.and_then(error_message)).unwrap_or_default();
        let reach = if call.upstream_request_id.is_some() { Reach::Begun } else { Reach::Refused };
        let failure = request_failure(text, error.and_then(|error| error.get("codex_error_info")), reach);
        let at = call.execution.ended.unwrap_or(call.execution.started);
        let place = Place { object: Object::Inference(*last), thread: call.thread, turn: Some(call.turn), at };
        let mut cause = failure.cause(place, text);
        cause.attempts = run.len();
        cause.rests_on.extend(run[..run.len() - 1].iter().map(|inference| Object::Inference(*inference)));
        if cause.category == Category::Unknown {
            cause.missing.push("a provider's answer whose meaning is known".to_owned());
        }
        let tried = Try { request: 0, at: call.execution.started };
        let began = trace.inferences[*first].execution.started;
        self.list.push(Fault { began, ..Fault::new(cause, Operation::Inference, tried) });
    }

    fn compactions(&mut self) {
        let trace = self.trace;
        for (index, request) in trace.compaction_requests.iter() {
            let window = &request.execution;
            match window.status {
                ExecutionStatus::Completed => {
                    self.succeeded(request.thread, Operation::Compaction, Try { request: 0, at: window.started });
                }
                ExecutionStatus::Failed => {
                    let text = request.error.as_deref().unwrap_or_default();
                    let failure = request_failure(text, None, Reach::Refused);
                    let at = window.ended.unwrap_or(window.started);
                    let object = Object::CompactionRequest(index);
                    let place = Place { object, thread: request.thread, turn: Some(request.turn), at };
                    let tried = Try { request: 0, at: window.started };
                    self.list.push(Fault::new(failure.cause(place, text), Operation::Compaction, tried));
                }
                _ => {}
            }
        }
    }

    fn tools(&mut self) {
        let trace = self.trace;
        let starts_cell: HashMap<(ThreadIdx, Symbol), CellIdx> =
            trace.cells.iter().map(|(index, cell)| ((cell.thread, cell.model_visible_call_id), index)).collect();
        for (index, call) in trace.tools.iter() {
            let of_cell = call.model_visible_call_id.is_some_and(|id| starts_cell.contains_key(&(call.thread, id)));
            // The code cell has the better message.
            if of_cell || call.started_code_cell.is_some() {
                continue;
            }
            match self.judge_tool(index, call) {
                Judged::Success => self.succeeded(call.thread, operation_of(call), self.try_of(call)),
                Judged::Fault(fault) => self.list.push(fault),
                Judged::Neither => {}
            }
        }
    }

    fn judge_tool(&self, index: ToolIdx, call: &ToolCall) -> Judged {
        match call.kind {
            ToolKind::ExecCommand | ToolKind::WriteStdin => self.judge_command(index, call),
            ToolKind::WaitAgent => self.judge_wait(index, call),
            // In schema 1 the kind of an MCP call is not recorded, so look at the payloads of its runtime.
            ToolKind::Mcp { .. } | ToolKind::Other { .. } => self.judge_mcp(index, call),
            _ => self.judge_other(index, call),
        }
    }

    fn cause(index: ToolIdx, call: &ToolCall, category: Category, message: &str) -> Cause {
        let ended = [call.runtime.and_then(|runtime| runtime.ended), call.execution.ended].into_iter().flatten().min();
        let at = ended.unwrap_or(call.execution.started);
        Cause::new(category, Place { object: Object::Tool(index), thread: call.thread, turn: call.turn, at }, message)
    }

    fn fault(&self, call: &ToolCall, cause: Cause) -> Fault {
        Fault::new(cause, operation_of(call), self.try_of(call))
    }

    fn failed(&self, index: ToolIdx, call: &ToolCall, category: Category, message: &str) -> Judged {
        Judged::Fault(self.fault(call, Self::cause(index, call, category, message)))
    }

    /// Judges a command by its exit code. If the command continues in the background, a later write or the end of its
    /// runtime has the exit code. In both cases it belongs to the command, not to the write.
    fn judge_command(&self, index: ToolIdx, call: &ToolCall) -> Judged {
        let trace = self.trace;
        let operation = call.operation.map(|operation| &trace.operations[operation]);
        let own = operation.and_then(|operation| operation.result.as_ref()).and_then(exit_code_of);
        if call.kind == ToolKind::WriteStdin && (own.is_none() || self.starter(index, operation).is_some()) {
            return match call.execution.status {
                ExecutionStatus::Completed => Judged::Success,
                _ => self.judge_other(index, call),
            };
        }
        let told_by = self.teller(index, operation);
        let told = told_by.and_then(|teller| self.result_of(teller)).and_then(exit_code_of);
        let Some(exit_code) = own.or(told) else { return self.judge_other(index, call) };
        if exit_code == 0 || self.is_interrupted_by_agent(index, operation, told_by, exit_code) {
            return Judged::Success;
        }
        let own_end = call.execution.ended;
        let runtime_end = call.runtime.and_then(|runtime| runtime.ended).or(own_end);
        // The call succeeded and left the command running.
        let went_on = own_end.is_some_and(|ended| runtime_end.is_some_and(|end| end.seq > ended.seq));
        let is_after = |end: Option<Moment>| end.is_some_and(|end| runtime_end.is_some_and(|at| at.seq >= end.seq));
        let started = call.execution.started.seq;
        let thread_end = trace.threads[call.thread].execution.ended.filter(|end| end.seq > started);
        let is_over = is_after(trace.run_end_after(started)) || is_after(thread_end);
        // The runtime kills what is still running when the turn ends. How that ends is no failure.
        let outlived = runtime_end.is_some_and(|end| self.ended_with_turn(call.turn, end));
        let is_killed =
            is_over || (outlived && (exit_code < 0 || (told_by.is_none() && (went_on || own_end.is_none()))));
        match (is_killed, went_on) {
            (true, true) => Judged::Success,
            (true, false) => Judged::Neither,
            (false, _) => self.exited(index, call, exit_code, told_by, runtime_end.filter(|_| went_on)),
        }
    }

    /// Returns the call that started the command to which a call writes.
    fn starter(&self, index: ToolIdx, operation: Option<&TerminalOperation>) -> Option<ToolIdx> {
        let session = &self.trace.sessions[operation?.session?];
        let starter = self.trace.operations[session.created_by].tool;
        (starter != index && self.trace.tools[starter].kind == ToolKind::ExecCommand).then_some(starter)
    }

    fn result_of(&self, tool: ToolIdx) -> Option<&TerminalResult> {
        self.trace.operations[self.trace.tools[tool].operation?].result.as_ref()
    }

    /// Returns the operations that wrote to the terminal that a call started.
    fn writes(
        &self,
        index: ToolIdx,
        operation: Option<&TerminalOperation>,
    ) -> impl Iterator<Item = &TerminalOperation> {
        let trace = self.trace;
        let session = operation.and_then(|operation| operation.session).map(|session| &trace.sessions[session]);
        let session = session.filter(|session| trace.operations[session.created_by].tool == index);
        let operations = session.into_iter().flat_map(|session| &session.operations);
        operations.map(|operation| &trace.operations[*operation]).filter(move |operation| operation.tool != index)
    }

    /// Returns the write that returned the exit code of a command.
    fn teller(&self, index: ToolIdx, operation: Option<&TerminalOperation>) -> Option<ToolIdx> {
        let has_exit_code = |write: &&TerminalOperation| write.result.as_ref().and_then(exit_code_of).is_some();
        self.writes(index, operation).find(has_exit_code).map(|write| write.tool)
    }

    /// Returns whether the agent itself sent ctrl-C to the command. Then the command ended as requested.
    fn is_interrupted_by_agent(
        &self,
        index: ToolIdx,
        operation: Option<&TerminalOperation>,
        told_by: Option<ToolIdx>,
        exit_code: i64,
    ) -> bool {
        self.writes(index, operation).any(|write| {
            let is_interrupt =
                matches!(&write.request, TerminalRequest::WriteStdin { stdin, .. } if stdin.contains(INTERRUPT));
            is_interrupt && (exit_code == INTERRUPTED_EXIT_CODE || told_by == Some(write.tool))
        })
    }

    fn exited(
        &self,
        index: ToolIdx,
        call: &ToolCall,
        exit_code: i64,
        told_by: Option<ToolIdx>,
        later_end: Option<Moment>,
    ) -> Judged {
        let trace = self.trace;
        let result = self.result_of(told_by.unwrap_or(index));
        let output = result.map(|result| format!("{}{}", result.stdout, result.stderr)).unwrap_or_default();
        let command = match call.operation.map(|operation| &trace.operations[operation].request) {
            Some(TerminalRequest::ExecCommand { command, .. }) => command.as_slice(),
            _ => &[],
        };
        let tail = last_line(terminal_text(&output));
        let limit =
            exit_code == TIMEOUT_EXIT_CODE && (runs_with_limit(command) || says_timed_out(&output.to_lowercase()));
        let how = match signal_of(exit_code) {
            Some(signal) => format!("the command was killed by signal {signal} (exit code {exit_code})"),
            None if exit_code < 0 => "the command was killed".to_owned(),
            None => format!("the command exited with code {exit_code}"),
        };
        let message = if tail.is_empty() { how } else { format!("{how}: {tail}") };
        let category = if limit { Category::ToolTimeout } else { Category::ToolFailed };
        let mut cause = Self::cause(index, call, category, &message);
        cause.exit_code = Some(exit_code);
        if limit {
            cause.confidence = Confidence::Medium;
        }
        // The failure is known when the command has ended, not when it goes to the background.
        cause.at = later_end.unwrap_or(cause.at);
        let teller = told_by.map(|told_by| &trace.tools[told_by]);
        if let (Some(told_by), Some(teller)) = (told_by, teller) {
            cause.at = teller.execution.ended.unwrap_or(teller.execution.started);
            cause.rests_on.push(Object::Tool(told_by));
            cause.told_by = Some(told_by);
        }
        Judged::Fault(Fault { charged: teller.and_then(|teller| teller.turn), ..self.fault(call, cause) })
    }

    fn judge_wait(&self, index: ToolIdx, call: &ToolCall) -> Judged {
        let text =
            call.result_payload_id.and_then(|id| short_payload(self.session, id)).map(|value| output_text(&value));
        let timed_out = text
            .as_deref()
            .and_then(|text| serde_json::from_str::<Value>(text).ok())
            .and_then(|output| output.get("timed_out").and_then(Value::as_bool));
        match timed_out {
            Some(true) => {
                let ended = call.execution.ended.unwrap_or(call.execution.started);
                // If all agents had ended before, there was nothing to wait for.
                if !self.family.is_awaited(call.thread, ended.seq) {
                    return Judged::Neither;
                }
                let waited = ended.unix_ms.saturating_sub(call.execution.started.unix_ms);
                let message = format!("the wait ran out after {waited} ms");
                self.failed(index, call, Category::WaitTimeout, &message)
            }
            Some(false) if call.execution.status == ExecutionStatus::Completed => Judged::Success,
            _ => self.judge_other(index, call),
        }
    }

    /// Judges an MCP call. It can complete and still report a failure in its result.
    fn judge_mcp(&self, index: ToolIdx, call: &ToolCall) -> Judged {
        let report = call.runtime_payload_ids.iter().rev().find_map(|id| {
            let mut value = short_payload(self.session, *id)?;
            value.get_mut("result").map(Value::take)
        });
        let Some(report) = report else { return self.judge_other(index, call) };
        if let Some(error) = report.get("Err") {
            let text = error.as_str().map_or_else(|| error.to_string(), str::to_owned);
            let text = without_backtrace(&text);
            let category = match mcp_failure(text) {
                Some(category @ (Category::ToolTimeout | Category::ToolDeclined)) => category,
                _ => Category::McpError,
            };
            return self.failed(index, call, category, text);
        }
        let answer = report.get("Ok");
        let is_error = answer.and_then(|answer| answer.get("isError").or_else(|| answer.get("is_error")));
        if is_error.and_then(Value::as_bool) == Some(true) {
            let text = answer.and_then(|answer| answer.get("content")).map(joined_texts).unwrap_or_default();
            return self.failed(index, call, Category::McpError, &text);
        }
        self.judge_other(index, call)
    }

    /// Judges any other call by its status. The text of the error decides the category.
    fn judge_other(&self, index: ToolIdx, call: &ToolCall) -> Judged {
        let runtime = call.runtime.map(|runtime| runtime.status);
        let is_failed = |status| matches!(status, ExecutionStatus::Failed | ExecutionStatus::Aborted);
        let runtime_failed = runtime.is_some_and(|status| is_failed(status) || status == ExecutionStatus::Cancelled);
        if !is_failed(call.execution.status) && !runtime_failed {
            return if call.execution.status == ExecutionStatus::Completed { Judged::Success } else { Judged::Neither };
        }
        // A call without an end of its own was stopped together with its turn.
        let own_end = call.execution.ended.filter(|ended| !self.ended_with_turn(call.turn, *ended));
        if own_end.is_none() && call.turn.is_some_and(|turn| self.trace.turns[turn].execution.ended.is_some()) {
            return Judged::Neither;
        }
        let result = call.result_payload_id.and_then(|id| short_payload(self.session, id));
        let report = || {
            let value = call.runtime_payload_ids.last().and_then(|id| short_payload(self.session, *id))?;
            let text = |name: &str| value.get(name).and_then(Value::as_str).filter(|text| !text.is_empty());
            ["stderr", "error", "aggregated_output", "stdout"].into_iter().find_map(text).map(str::to_owned)
        };
        let text = result.as_ref().map(error_text).filter(|text| !text.is_empty()).or_else(report);
        let told = text.as_deref().unwrap_or("the call failed and does not say why");
        let of_kind = if call.kind == ToolKind::ApplyPatch { Category::PatchFailed } else { Category::ToolFailed };
        let category = match tool_failure(told) {
            Some(category) => category,
            None if runtime == Some(ExecutionStatus::Cancelled) => Category::ToolDeclined,
            None => of_kind,
        };
        let mut cause = Self::cause(index, call, category, told);
        if text.is_none() {
            cause = cause.lacks(Confidence::Medium, "the result of the call");
        } else if category == Category::ToolTimeout {
            cause.confidence = Confidence::Medium;
        }
        Judged::Fault(self.fault(call, cause))
    }

    fn cells(&mut self) {
        let trace = self.trace;
        for (index, cell) in trace.cells.iter() {
            let window = &cell.execution;
            match window.status {
                ExecutionStatus::Completed => {
                    self.succeeded(cell.thread, Operation::Cell, self.try_of_cell(cell));
                }
                ExecutionStatus::Failed if !self.ends_by_turn(cell.turn, window) => {
                    let payload = cell.result_payload_id.or(cell.initial_response_payload_id);
                    let value = payload.and_then(|id| short_payload(self.session, id));
                    let text = value.as_ref().and_then(cell_error);
                    let at = window.ended.unwrap_or(window.started);
                    let place = Place { object: Object::Cell(index), thread: cell.thread, turn: Some(cell.turn), at };
                    let message = text.as_deref().unwrap_or("the code threw");
                    let mut cause = Cause::new(Category::CodeCellFailed, place, message);
                    if text.is_none() {
                        cause.missing.push("the result of the code cell".to_owned());
                    }
                    self.list.push(Fault::new(cause, Operation::Cell, self.try_of_cell(cell)));
                }
                _ => {}
            }
        }
    }

    /// Adds the messages that no item of the receiver shows. An answer that the parent did not read is no fault.
    fn messages(&mut self) {
        let trace = self.trace;
        for edge in trace.edges.values() {
            let (Anchor::Tool(tool), Anchor::Item(item)) = (edge.source, edge.target) else { continue };
            if matches!(edge.kind, EdgeKind::SendMessage | EdgeKind::AssignAgentTask) {
                let target = trace.threads[trace.items[item].thread].id;
                let call = &trace.tools[tool];
                self.succeeded(call.thread, Operation::Message(target), self.try_of(call));
            }
        }
        let paths: HashMap<Symbol, Symbol> =
            trace.threads.values().map(|thread| (thread.id, thread.agent_path)).collect();
        for lost in lost_messages(trace) {
            let Anchor::Tool(tool) = lost.source else { continue };
            let call = &trace.tools[tool];
            let name = paths.get(&lost.target_thread_id).copied().unwrap_or(lost.target_thread_id);
            let what = match lost.kind {
                EdgeKind::AssignAgentTask => "the task",
                EdgeKind::SpawnAgent => "the first task",
                _ => "the message",
            };
            let message = format!("{what} to {} never arrived: {}", trace.text(name), lost.text);
            let mut cause = Self::cause(tool, call, Category::MessageUndelivered, &message);
            if !trace.recording_complete {
                let missing = "the end of the recording, in which the message may still have arrived";
                cause = cause.lacks(Confidence::Medium, missing);
            }
            let operation = Operation::Message(lost.target_thread_id);
            self.list.push(Fault { operation, ..self.fault(call, cause) });
        }
    }
}

/// Verdict on a tool call.
enum Judged {
    /// It succeeded.
    Success,
    Fault(Fault),
    /// It neither failed nor succeeded, for example because it was stopped.
    Neither,
}

/// Returns the kind of operation of a call.
fn operation_of(call: &ToolCall) -> Operation {
    match call.kind {
        ToolKind::Mcp { server, tool } => Operation::Mcp(server, tool),
        ToolKind::Other { name } => match call.summary {
            ToolSummary::Generic { label, .. } => Operation::Named(label),
            _ => Operation::Named(name),
        },
        kind => Operation::Tool(kind.as_str()),
    }
}

fn cell_error(response: &Value) -> Option<String> {
    let result = response.get("response").unwrap_or(response);
    let result = result.get("Result").unwrap_or(result);
    let error = result.get("error_text").and_then(Value::as_str).filter(|text| !text.is_empty());
    let content = || result.get("content_items").map(joined_texts).filter(|text| !text.is_empty());
    error.map(str::to_owned).or_else(content)
}

/// Returns the exit code in a terminal's result. Writes to a terminal return it as text.
fn exit_code_of(result: &TerminalResult) -> Option<i64> {
    result.exit_code.or_else(|| exit_code_in(&result.stdout))
}

/// Returns the signal that killed a command, according to its exit code.
pub(super) fn signal_of(exit_code: i64) -> Option<u8> {
    let signal = exit_code.checked_sub(SIGNAL_EXIT_CODES)?;
    u8::try_from(signal).ok().filter(|signal| (1..=64).contains(signal))
}

/// Removes the backtrace that some errors have behind their text.
fn without_backtrace(text: &str) -> &str {
    text.split_once("\n\nStack backtrace:").map_or(text, |(error, _)| error)
}

fn last_line(output: &str) -> &str {
    output.trim_end().rsplit('\n').next().unwrap_or_default().trim()
}

/// Returns a short description of a tool call.
pub(super) fn describe_call(trace: &Trace, call: &ToolCall) -> String {
    let subject = match call.operation.map(|operation| &trace.operations[operation].request) {
        Some(TerminalRequest::ExecCommand { command, .. }) => Some(command.last().map_or("", |last| last).to_owned()),
        _ => match &call.summary {
            ToolSummary::Generic { input_preview, .. } => input_preview.as_deref().map(str::to_owned),
            ToolSummary::Agent { target_agent_path, .. } => Some(trace.text(*target_agent_path).to_owned()),
            _ => None,
        },
    };
    match subject.filter(|subject| !subject.is_empty()) {
        Some(subject) => shortened(&format!("{} {subject}", tool_name(trace, call))),
        None => tool_name(trace, call),
    }
}
