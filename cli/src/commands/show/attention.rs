//! Finds what needs attention in a session: what failed, never ended or never arrived.

use serde::{Serialize, Serializer};
use trace_reducer::model::{
    ExecutionStatus, Handle, ItemIdx, Moment, OperationIdx, Part, Symbol, ThreadIdx, ToolCall, Trace, Window,
};
use trace_reducer::{Code, Diagnostics};

use crate::ui::text;
use trace_explain::label::{request_subject, tool_name, tool_subject};
use trace_explain::outcome::failed_exit_code;

/// Most columns of a text. Inputs and outputs of tools can have megabytes.
const MAX_TEXT_COLUMNS: usize = 2000;

/// The state of an operation, worst first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum State {
    /// It ended with an error.
    Failed,
    /// It is a command that ended with a nonzero exit code.
    ExitCode,
    /// It was cancelled.
    Cancelled,
    /// It was ended together with the operation that contains it.
    Aborted,
    /// It is a message that was sent and did not arrive.
    Undelivered,
    /// It did not end, although the session did.
    Unfinished,
    /// It did not end, and the session did not end either.
    Running,
}

impl State {
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Failed => "failed",
            Self::ExitCode => "exit_code",
            Self::Cancelled => "cancelled",
            Self::Aborted => "aborted",
            Self::Undelivered => "undelivered",
            Self::Unfinished => "unfinished",
            Self::Running => "running",
        }
    }
}

impl Serialize for State {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

/// An operation that needs attention.
#[derive(Debug, Serialize)]
pub(super) struct Attention<'t> {
    /// The type of the object.
    pub(super) what: &'static str,
    pub(super) state: State,
    /// Id of the object in `state.json`.
    id: Option<String>,
    thread_id: Option<&'t str>,
    pub(super) agent_path: Option<&'t str>,
    /// Sequence number of the event that ended it, or of the event that began it if none did.
    pub(super) seq: Option<u64>,
    at_unix_ms: Option<i64>,
    exit_code: Option<i64>,
    /// The operation, such as the command.
    pub(super) subject: Option<String>,
    /// Its result, such as the error.
    pub(super) detail: Option<String>,
    /// Whether another entry describes the same failure in more detail.
    #[serde(skip)]
    pub(super) is_repeated: bool,
}

/// Finds what needs attention, worst first, and in the order of the log within a state.
pub(super) fn find<'t>(trace: &'t Trace, diagnostics: &Diagnostics) -> Vec<Attention<'t>> {
    let mut finder = Finder { trace, found: Vec::new() };
    finder.threads();
    finder.turns();
    finder.inferences();
    finder.tools();
    finder.operations();
    finder.cells();
    finder.compaction_requests();
    let undelivered = diagnostics.iter().filter(|diagnostic| diagnostic.code == Code::MessageUndelivered);
    finder.found.extend(undelivered.map(|diagnostic| Attention {
        what: "message",
        state: State::Undelivered,
        id: None,
        thread_id: None,
        agent_path: None,
        seq: diagnostic.seq,
        at_unix_ms: None,
        exit_code: None,
        subject: None,
        detail: Some(preview(&diagnostic.message)),
        is_repeated: false,
    }));
    finder.found.sort_by_key(|attention| (attention.state, attention.seq));
    finder.found
}

struct Finder<'t> {
    trace: &'t Trace,
    found: Vec<Attention<'t>>,
}

impl<'t> Finder<'t> {
    /// Returns the state of an operation if it needs attention.
    fn state_of(&self, window: &Window) -> Option<State> {
        Some(match window.status {
            ExecutionStatus::Completed => return None,
            ExecutionStatus::Running if self.trace.ended.is_some() => State::Unfinished,
            ExecutionStatus::Running => State::Running,
            ExecutionStatus::Cancelled => State::Cancelled,
            ExecutionStatus::Aborted => State::Aborted,
            ExecutionStatus::Failed | ExecutionStatus::Unknown => State::Failed,
        })
    }

    fn push(
        &mut self,
        what: &'static str,
        state: State,
        id: String,
        thread: ThreadIdx,
        at: Moment,
    ) -> &mut Attention<'t> {
        let thread = &self.trace.threads[thread];
        self.found.push(Attention {
            what,
            state,
            id: Some(id),
            thread_id: Some(self.trace.text(thread.id)),
            agent_path: Some(self.trace.text(thread.agent_path)),
            seq: Some(at.seq),
            at_unix_ms: Some(at.unix_ms),
            exit_code: None,
            subject: None,
            detail: None,
            is_repeated: false,
        });
        self.found.last_mut().expect("one was pushed")
    }

    fn threads(&mut self) {
        for (index, thread) in self.trace.threads.iter() {
            // The root thread runs as long as the session, so a running thread is not reported.
            if let Some(state) = self.state_of(&thread.execution).filter(|state| *state != State::Running) {
                self.push("thread", state, self.id(thread.id), index, last_moment(&thread.execution));
            }
        }
    }

    fn turns(&mut self) {
        for turn in self.trace.turns.values() {
            if let Some(state) = self.state_of(&turn.execution) {
                self.push("turn", state, self.id(turn.id), turn.thread, last_moment(&turn.execution));
            }
        }
    }

    fn inferences(&mut self) {
        let trace = self.trace;
        for call in trace.inferences.values() {
            if let Some(state) = self.state_of(&call.execution) {
                let id = self.id(call.id);
                let found = self.push("inference_call", state, id, call.thread, last_moment(&call.execution));
                found.subject = Some(preview(trace.text(call.model)));
                found.detail = call.error.as_deref().map(preview);
            }
        }
    }

    fn tools(&mut self) {
        let trace = self.trace;
        for tool in trace.tools.values() {
            let exit_code = failed_exit_code(trace, tool.operation);
            let Some(state) = or_exit_code(self.state_of(&tool.execution), exit_code) else { continue };
            let subject = subject_of(trace, tool);
            let detail = match tool.operation {
                Some(operation) => operation_detail(trace, operation),
                None => output_lines(trace, &tool.output_items).next().map(preview),
            };
            let cell = tool.started_code_cell.map(|cell| &trace.cells[cell].execution);
            let is_repeated = cell.is_some_and(|cell| self.state_of(cell).is_some());
            let found = self.push("tool_call", state, self.id(tool.id), tool.thread, last_moment(&tool.execution));
            found.exit_code = exit_code;
            found.subject = Some(subject);
            found.detail = with_exit_code(exit_code, detail);
            found.is_repeated = is_repeated;
        }
    }

    /// Finds operations that no entry of a tool call stands for.
    fn operations(&mut self) {
        let trace = self.trace;
        for (index, operation) in trace.operations.iter() {
            let tool = &trace.tools[operation.tool];
            let exit_code = failed_exit_code(trace, Some(index));
            let Some(state) = or_exit_code(self.state_of(&operation.execution), exit_code) else { continue };
            let is_of_tool = tool.operation == Some(index);
            if is_of_tool && (exit_code.is_some() || self.state_of(&tool.execution).is_some()) {
                continue;
            }
            let id = format!("terminal_operation:{}", index.index() + 1);
            let found = self.push("terminal_operation", state, id, tool.thread, last_moment(&operation.execution));
            found.exit_code = exit_code;
            found.subject = Some(command(&request_subject(&operation.request)));
            found.detail = with_exit_code(exit_code, operation_detail(trace, index));
        }
    }

    fn cells(&mut self) {
        let trace = self.trace;
        for cell in trace.cells.values() {
            if let Some(state) = self.state_of(&cell.execution) {
                let found = self.push("code_cell", state, self.id(cell.id), cell.thread, last_moment(&cell.execution));
                found.subject = Some(command(&cell.source_js));
                found.detail = cell_detail(trace, &cell.output_items);
            }
        }
    }

    fn compaction_requests(&mut self) {
        let trace = self.trace;
        for request in trace.compaction_requests.values() {
            if let Some(state) = self.state_of(&request.execution) {
                let id = self.id(request.id);
                let found = self.push("compaction_request", state, id, request.thread, last_moment(&request.execution));
                found.subject = Some(preview(trace.text(request.model)));
                found.detail = request.error.as_deref().map(preview);
            }
        }
    }

    fn id(&self, id: Symbol) -> String {
        self.trace.text(id).to_owned()
    }
}

fn last_moment(window: &Window) -> Moment {
    window.ended.unwrap_or(window.started)
}

fn preview(text: &str) -> String {
    text::preview(text, MAX_TEXT_COLUMNS)
}

fn command(text: &str) -> String {
    text::command(text, MAX_TEXT_COLUMNS)
}

/// Returns the state of a command. An exit code means that the command has ended, even if no event of the tool call
/// says so.
fn or_exit_code(state: Option<State>, exit_code: Option<i64>) -> Option<State> {
    match (state, exit_code) {
        (None | Some(State::Unfinished | State::Running), Some(_)) => Some(State::ExitCode),
        (state, _) => state,
    }
}

fn with_exit_code(exit_code: Option<i64>, detail: Option<String>) -> Option<String> {
    match (exit_code, detail) {
        (Some(code), Some(detail)) => Some(format!("exit code {code}: {detail}")),
        (Some(code), None) => Some(format!("exit code {code}")),
        (None, detail) => detail,
    }
}

/// Returns the name of the tool and the beginning of its input.
fn subject_of(trace: &Trace, tool: &ToolCall) -> String {
    command(format!("{} {}", tool_name(trace, tool), tool_subject(trace, tool).unwrap_or_default()).trim_end())
}

/// Returns the last line of a command's output, which usually has the error.
fn operation_detail(trace: &Trace, operation: OperationIdx) -> Option<String> {
    let result = trace.operations[operation].result.as_ref()?;
    lines(&result.stderr).next_back().or_else(|| lines(&result.stdout).next_back()).map(preview)
}

/// Returns the error of a code cell, which follows a fixed line of its output, or else its last line of output.
fn cell_detail(trace: &Trace, items: &[ItemIdx]) -> Option<String> {
    let error = output_lines(trace, items).skip_while(|line| *line != "Script error:").nth(1);
    error.or_else(|| output_lines(trace, items).next_back()).map(preview)
}

/// Returns the lines of an output as the model got it, without empty ones.
fn output_lines<'t>(trace: &'t Trace, items: &'t [ItemIdx]) -> impl DoubleEndedIterator<Item = &'t str> {
    let parts = items.iter().flat_map(|item| trace.items[*item].parts.iter());
    let texts = parts.filter_map(|part| match part {
        Part::Text(text) | Part::Summary(text) => Some(&**text),
        Part::Json { summary } => Some(&**summary),
        _ => None,
    });
    texts.flat_map(lines)
}

fn lines(text: &str) -> impl DoubleEndedIterator<Item = &str> {
    text.lines().map(str::trim).filter(|line| !line.is_empty())
}
