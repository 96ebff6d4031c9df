//! Terminal sessions and the operations on them.

use trace_recorder::format::ExecutionStatus;

use super::draft::{Draft, Step, Table, push_unique};
use crate::diagnostic::Code;
use crate::ingest::PayloadProblem;
use crate::ingest::shapes::{Invocation, RuntimeEnd, RuntimeStart, StdinArguments};
use crate::model::{
    Handle, OperationIdx, SessionIdx, Symbol, TerminalOperation, TerminalRequest, TerminalSession, ThreadIdx, ToolIdx,
    ToolKind, ToolSummary, Window,
};

/// Terminals, and the processes behind them.
#[derive(Debug, Clone, Default)]
pub(super) struct Terminals {
    sessions_by_id: Table<Symbol, SessionIdx>,
    /// For each thread, the id of the newest session of each process id.
    latest_sessions: Table<ThreadIdx, Table<Symbol, Symbol>>,
    /// Process ids of the tool calls that work on a terminal, once they are known.
    process_ids: Table<ToolIdx, Symbol>,
}

impl Terminals {
    /// Adds the operation of a write to a terminal, from the invocation of the tool call.
    pub(super) fn begin_from_invocation(
        &mut self,
        draft: &mut Draft,
        tool: ToolIdx,
        payload: Symbol,
        invocation: &Invocation,
    ) -> Step {
        if !invocation.is_dispatch {
            return draft.bad_payload(payload, &PayloadProblem::Shape("not the invocation of a tool"));
        }
        if invocation.tool_namespace.is_some() && !draft.is_v1() {
            return Ok(());
        }
        let is_write = invocation.tool_name.as_deref() == Some("write_stdin");
        let is_function = invocation.payload_type.as_deref() == Some("function");
        let arguments = match invocation.arguments.as_deref() {
            Some(arguments) if is_write && is_function => arguments,
            _ => {
                let message = "the invocation is not that of a write to a terminal";
                return draft.odd(Code::TerminalContradicted, message);
            }
        };
        let Some(arguments) = StdinArguments::read(arguments) else {
            if draft.is_v1() {
                let message = "the arguments of the write to a terminal cannot be read";
                draft.odd(Code::TerminalContradicted, message)?;
            }
            return Ok(());
        };
        let request = TerminalRequest::WriteStdin {
            stdin: arguments.chars.into(),
            yield_time_ms: arguments.yield_time_ms,
            max_output_tokens: arguments.max_output_tokens,
        };
        self.begin(draft, tool, payload, request, Some(&arguments.process_id))
    }

    /// Adds the operation of a tool call whose runtime started to use a terminal.
    pub(super) fn begin_from_runtime(
        &mut self,
        draft: &mut Draft,
        tool: ToolIdx,
        payload: Symbol,
        start: Option<RuntimeStart>,
    ) -> Step {
        if draft.trace.tools[tool].operation.is_some() {
            let message = "the tool call works on a terminal already; the second begin is passed over";
            return draft.odd(Code::TerminalContradicted, message);
        }
        let Some(start) = start else { return Ok(()) };
        let Some(begin) = start.command else {
            return draft.bad_payload(payload, &PayloadProblem::Shape("not the begin of a command"));
        };
        let request = if draft.trace.tools[tool].kind == ToolKind::WriteStdin {
            TerminalRequest::WriteStdin {
                stdin: begin.interaction_input.unwrap_or_default(),
                yield_time_ms: None,
                max_output_tokens: None,
            }
        } else {
            TerminalRequest::ExecCommand { command: begin.command, cwd: begin.cwd }
        };
        self.begin(draft, tool, payload, request, begin.process_id.as_deref())
    }

    fn begin(
        &mut self,
        draft: &mut Draft,
        tool: ToolIdx,
        payload: Symbol,
        request: TerminalRequest,
        process_id: Option<&str>,
    ) -> Step {
        let operation = draft.trace.operations.push(TerminalOperation {
            session: None,
            tool,
            execution: Window::running(draft.event.at),
            request,
            result: None,
            observed: false,
            payload_ids: vec![payload],
        });
        let id = format!("terminal_operation:{}", operation_number(operation));
        let operation_id = draft.intern(&id);
        draft.trace.tools[tool].operation = Some(operation);
        draft.trace.tools[tool].summary = ToolSummary::Terminal { operation_id };
        observe(draft, tool);
        match process_id {
            Some(process_id) => self.join_session(draft, operation, process_id),
            None => Ok(()),
        }
    }

    /// Adds an operation whose process is known to the session of that process.
    fn join_session(&mut self, draft: &mut Draft, operation: OperationIdx, process_id: &str) -> Step {
        let process_id = draft.intern(process_id);
        let tool = draft.trace.operations[operation].tool;
        let thread = draft.trace.tools[tool].thread;
        let is_write = matches!(draft.trace.operations[operation].request, TerminalRequest::WriteStdin { .. });
        self.process_ids.insert(tool, process_id);
        let session_id = if draft.is_v1() {
            process_id
        } else {
            let latest = self.latest_sessions.entry(thread).or_default().get(&process_id).copied();
            match latest.filter(|_| is_write) {
                Some(latest) => latest,
                None => {
                    let id = format!("terminal_session:terminal_operation:{}", operation_number(operation));
                    let id = draft.intern(&id);
                    self.latest_sessions.entry(thread).or_default().insert(process_id, id);
                    id
                }
            }
        };
        let live =
            self.sessions_by_id.get(&session_id).copied().filter(|known| !draft.trace.sessions[*known].dissolved);
        let session = match live {
            Some(known) => {
                if draft.trace.sessions[known].thread != thread {
                    let message = format!("process {} belongs to another thread", draft.trace.text(process_id));
                    draft.odd(Code::TerminalContradicted, message)?;
                }
                known
            }
            None => {
                let started = draft.trace.operations[operation].execution.started;
                let session = draft.trace.sessions.push(TerminalSession {
                    id: session_id,
                    thread,
                    created_by: operation,
                    operations: Vec::new(),
                    started,
                    dissolved: false,
                });
                self.sessions_by_id.insert(session_id, session);
                session
            }
        };
        draft.trace.operations[operation].session = Some(session);
        push_unique(&mut draft.trace.sessions[session].operations, operation);
        Ok(())
    }

    pub(super) fn end(
        &mut self,
        draft: &mut Draft,
        operation: OperationIdx,
        status: ExecutionStatus,
        payload: Option<Symbol>,
        end: Option<&mut RuntimeEnd>,
    ) -> Step {
        draft.trace.operations[operation].execution.end(draft.event.at, status);
        let Some(payload) = payload else { return Ok(()) };
        push_unique(&mut draft.trace.operations[operation].payload_ids, payload);
        let Some(end) = end else { return Ok(()) };
        let is_write = matches!(draft.trace.operations[operation].request, TerminalRequest::WriteStdin { .. });
        let Some(end) = end.terminal.take().filter(|end| is_write || !end.is_dispatch) else {
            return draft.bad_payload(payload, &PayloadProblem::Shape("not the end of a terminal operation"));
        };
        if let Some(process_id) = end.process_id {
            let tool = draft.trace.operations[operation].tool;
            match self.process_ids.get(&tool).copied() {
                None => self.join_session(draft, operation, &process_id)?,
                Some(known) if draft.trace.text(known) == process_id => {}
                Some(_) => {
                    let message = "the operation ends under another process id than it began";
                    draft.odd(Code::TerminalContradicted, message)?;
                }
            }
        }
        draft.trace.operations[operation].result = Some(end.result);
        Ok(())
    }

    /// Moves the operation of a write to the terminal of a command.
    pub(super) fn redirect(&mut self, draft: &mut Draft, write: ToolIdx, exec: ToolIdx) {
        let Some(operation) = draft.trace.tools[write].operation else { return };
        let Some(owner) = draft.trace.tools[exec].operation else { return };
        let Some(session) = draft.trace.operations[owner].session else { return };
        match self.process_ids.get(&exec).copied() {
            Some(process_id) => self.process_ids.insert(write, process_id),
            None => self.process_ids.remove(&write),
        };
        let before = draft.trace.operations[operation].session;
        if before == Some(session) {
            return;
        }
        if let Some(before) = before {
            let before = &mut draft.trace.sessions[before];
            before.operations.retain(|known| *known != operation);
            before.dissolved = before.operations.is_empty();
        }
        draft.trace.operations[operation].session = Some(session);
        push_unique(&mut draft.trace.sessions[session].operations, operation);
    }

    /// Forgets the processes of a thread whose runtime starts its numbering again.
    pub(super) fn forget_processes(&mut self, thread: ThreadIdx) {
        self.latest_sessions.remove(&thread);
    }
}

/// Marks the operation of a tool call as observed if items show the call.
pub(super) fn observe(draft: &mut Draft, tool: ToolIdx) {
    let call = &draft.trace.tools[tool];
    if let Some(operation) = call.operation
        && !(call.call_items.is_empty() && call.output_items.is_empty())
        && !draft.trace.operations[operation].observed
    {
        draft.trace.operations[operation].observed = true;
    }
}

/// Returns the number of an operation in generated ids.
fn operation_number(operation: OperationIdx) -> usize {
    operation.index() + 1
}
