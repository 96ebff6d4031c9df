//! `tool_calls`, `terminal_operations` and `code_cells`.

use trace_explain::object::{item_id, operation_id};
use trace_explain::outcome::{exit_code, operation_exit_code};
use trace_reducer::model::{
    CellIdx, OperationIdx, Requester, TerminalRequest, TerminalResult, ToolCall, ToolIdx, ToolKind, ToolSummary, Trace,
};

use crate::table::{ended, ended_seq, table};

/// Returns the label of a call, if its summary has one.
fn label<'t>(trace: &'t Trace, call: &ToolCall) -> Option<&'t str> {
    match call.summary {
        ToolSummary::Generic { label, .. } => Some(trace.text(label)),
        _ => None,
    }
}

/// Returns namespace and name of a call's tool.
fn names<'t>(trace: &'t Trace, call: &ToolCall) -> (Option<&'t str>, &'t str) {
    let label = label(trace, call);
    match call.kind {
        ToolKind::Mcp { server, tool } => (Some(trace.text(server)), trace.text(tool)),
        ToolKind::Other { name } => {
            let name = trace.text(name);
            let namespace = label.and_then(|label| label.strip_suffix(name)?.strip_suffix('.'));
            (namespace, name)
        }
        _ => match label.and_then(|label| label.rsplit_once('.')) {
            Some((namespace, name)) => (Some(namespace), name),
            None => (None, label.unwrap_or(call.kind.as_str())),
        },
    }
}

fn input(summary: &ToolSummary) -> Option<&str> {
    match summary {
        ToolSummary::Generic { input_preview, .. } => input_preview.as_deref(),
        ToolSummary::Agent { message_preview, .. } => Some(message_preview),
        ToolSummary::Terminal { .. } | ToolSummary::WaitAgent { .. } => None,
    }
}

table! {
    TOOL_CALLS = "tool_calls", "One call of a tool, by the model or by code.";
    index ["tool_call_id"];
    rows |s, take| s.trace.tools.handles().try_for_each(|tool| take(&tool));
    each (s, key: ToolIdx) call = &s.trace.tools[*key];
    tool_call_id Text "Id of the call." = s.text(call.id);
    thread_id Text "Its thread." = s.thread_id(call.thread);
    agent_path Text "Its thread's place in the tree of agents." = s.agent_path(call.thread);
    turn_id Text "The turn that started it." = call.turn.map(|turn| s.turn_id(turn));
    kind Text "Kind of the tool: `exec_command`, `write_stdin`, `apply_patch`, `mcp`, `web`, `image_generation`, `spawn_agent`, \
               `assign_agent_task`, `send_message`, `wait_agent`, `close_agent`, `other`." = call.kind.as_str();
    name Text "Name of the tool, without its namespace." = names(s.trace, call).1;
    namespace Text "Namespace or MCP server of the tool." = names(s.trace, call).0;
    label Text "Name of the tool as the recorder wrote it." = label(s.trace, call);
    status Text "Status of the call: `running` (no end in the log), `completed`, `failed`, `cancelled`, `aborted`. A \
                 command that returned an exit code is `completed`." = call.execution.status.as_str();
    started_at_unix_ms Integer "When it started." = call.execution.started.unix_ms;
    ended_at_unix_ms Integer "When it returned its result." = ended(&call.execution);
    duration_ms Integer "Duration; null if it has no end." = s.duration(&call.execution);
    started_seq Integer "Sequence number of the event that started it." = call.execution.started.seq;
    ended_seq Integer "Sequence number of the event that ended it." = ended_seq(&call.execution);
    runtime_status Text "Status that its runtime reported, which may contradict `status`; null if no runtime reported."
        = call.runtime.map(|runtime| runtime.status.as_str());
    runtime_started_at_unix_ms Integer "When its runtime started." = call.runtime.map(|runtime| runtime.started.unix_ms);
    runtime_ended_at_unix_ms Integer "When its runtime ended." = call.runtime.and_then(|runtime| ended(&runtime));
    runtime_duration_ms Integer "Duration of its runtime." = call.runtime.and_then(|runtime| s.duration(&runtime));
    exit_code Integer "Exit code of its command." = exit_code(s.trace, call);
    requester Text "What made the call: `model` or `code_cell`." = match call.requester {
        Requester::Model => "model",
        Requester::CodeCell(_) => "code_cell",
    };
    requested_by Text "The inference call whose response contains it."
        = s.requested_by(*key).map(|call| s.inference_id(call));
    code_cell_id Text "The code cell that made it." = match call.requester {
        Requester::Model => None,
        Requester::CodeCell(cell) => Some(s.text(cell)),
    };
    started_code_cell_id Text "The code cell that it started."
        = call.started_code_cell.map(|cell| s.text(s.trace.cells[cell].id));
    model_visible_call_id Text "Id that the model gave it." = s.text(call.model_visible_call_id);
    mcp_call_id Text "Id that it has at an MCP server." = s.text(call.mcp_call_id);
    terminal_operation_id Text "Its terminal operation." = call.operation.map(operation_id);
    target_agent_path Text "The agent that it addresses or waits for; several are separated by commas."
        = s.targets().agents(s.session, *key);
    timeout_ms Integer "Timeout of a wait, in milliseconds." = s.targets().timeout_ms(s.session, *key);
    input_preview Text "Beginning of its input." = input(&call.summary);
    call_item_id Text "The first item that contains the call." = call.call_items.first().map(|item| item_id(*item));
    output_item_id Text "The first item that shows its output." = call.output_items.first().map(|item| item_id(*item));
    invocation_payload_id Text "The payload with its arguments." = s.text(call.invocation_payload_id);
    result_payload_id Text "The payload with its result." = s.text(call.result_payload_id);
    runtime_payload_id Text "The last payload that its runtime reported." = s.text(call.runtime_payload_ids.last().copied());
    implied Integer "1 if no event declares the call and other events only refer to it." = call.implied;
}

/// Returns the command line of a request to run a command.
fn command(request: &TerminalRequest) -> Option<String> {
    match request {
        TerminalRequest::ExecCommand { command, .. } => Some(command.join(" ")),
        TerminalRequest::WriteStdin { .. } => None,
    }
}

/// Returns the script that a shell runs, or the command line if the command is not a shell.
fn script(request: &TerminalRequest) -> Option<String> {
    match request {
        TerminalRequest::ExecCommand { command, .. } => match &command[..] {
            [_, flag, script] if matches!(&**flag, "-c" | "-lc") => Some(script.to_string()),
            _ => Some(command.join(" ")),
        },
        TerminalRequest::WriteStdin { .. } => None,
    }
}

fn result(trace: &Trace, operation: OperationIdx) -> Option<&TerminalResult> {
    trace.operations[operation].result.as_ref()
}

table! {
    TERMINAL_OPERATIONS = "terminal_operations", "One interaction with a terminal: a command, or input to a command.";
    index ["terminal_operation_id"];
    rows |s, take| s.trace.operations.handles().try_for_each(|operation| take(&operation));
    each (s, key: OperationIdx) operation = &s.trace.operations[*key];
    terminal_operation_id Text "Id of the operation." = operation_id(*key);
    terminal_id Text "The terminal; null if it is not known." = operation.session.map(|session| s.text(s.trace.sessions[session].id));
    tool_call_id Text "The tool call that made it." = s.text(s.trace.tools[operation.tool].id);
    thread_id Text "Its thread." = s.thread_id(s.trace.tools[operation.tool].thread);
    agent_path Text "Its thread's place in the tree of agents." = s.agent_path(s.trace.tools[operation.tool].thread);
    turn_id Text "The turn of the tool call." = s.trace.tools[operation.tool].turn.map(|turn| s.turn_id(turn));
    kind Text "`exec_command` or `write_stdin`." = match operation.request {
        TerminalRequest::ExecCommand { .. } => "exec_command",
        TerminalRequest::WriteStdin { .. } => "write_stdin",
    };
    status Text "Its status: `running` (no end in the log), `completed`, `failed`, `cancelled`, `aborted`."
        = operation.execution.status.as_str();
    started_at_unix_ms Integer "When it started." = operation.execution.started.unix_ms;
    ended_at_unix_ms Integer "When it ended." = ended(&operation.execution);
    duration_ms Integer "Duration; null if it has no end." = s.duration(&operation.execution);
    started_seq Integer "Sequence number of the event that started it." = operation.execution.started.seq;
    ended_seq Integer "Sequence number of the event that ended it." = ended_seq(&operation.execution);
    command Text "The command and its arguments, separated by spaces." = command(&operation.request);
    script Text "The script that the shell runs, or the whole command if it starts no shell."
        = script(&operation.request);
    cwd Text "Working directory of the command." = match &operation.request {
        TerminalRequest::ExecCommand { cwd, .. } => Some(&**cwd),
        TerminalRequest::WriteStdin { .. } => None,
    };
    stdin Text "The input that was written." = match &operation.request {
        TerminalRequest::WriteStdin { stdin, .. } => Some(&**stdin),
        TerminalRequest::ExecCommand { .. } => None,
    };
    yield_time_ms Integer "Milliseconds to wait for output, as requested." = match operation.request {
        TerminalRequest::WriteStdin { yield_time_ms, .. } => yield_time_ms,
        TerminalRequest::ExecCommand { .. } => None,
    };
    max_output_tokens Integer "Most tokens of output to return, as requested." = match operation.request {
        TerminalRequest::WriteStdin { max_output_tokens, .. } => max_output_tokens,
        TerminalRequest::ExecCommand { .. } => None,
    };
    exit_code Integer "Exit code of the command." = operation_exit_code(s.trace, *key);
    stdout Text "The whole output." = result(s.trace, *key).map(|result| &*result.stdout);
    stderr Text "The whole error output." = result(s.trace, *key).map(|result| &*result.stderr);
    formatted_output Text "Output in the form in which the model gets it." = result(s.trace, *key).and_then(|result| result.formatted_output.as_deref());
    output_bytes Integer "Size of output and error output, in bytes."
        = result(s.trace, *key).map(|result| result.stdout.len() + result.stderr.len());
    original_token_count Integer "Number of tokens of the output before it was cut." = result(s.trace, *key).and_then(|result| result.original_token_count);
    chunk_id Text "Id of this chunk of output." = result(s.trace, *key).and_then(|result| result.chunk_id.as_deref());
    observed Integer "1 if items of the conversation show it." = operation.observed;
    payload_id Text "The last payload that describes it." = s.text(operation.payload_ids.last().copied());
}

table! {
    CODE_CELLS = "code_cells", "A piece of code that the model wrote and a code tool executed.";
    index ["code_cell_id"];
    rows |s, take| s.trace.cells.handles().try_for_each(|cell| take(&cell));
    each (s, key: CellIdx) cell = &s.trace.cells[*key];
    code_cell_id Text "Id of the cell." = s.text(cell.id);
    thread_id Text "Its thread." = s.thread_id(cell.thread);
    agent_path Text "Its thread's place in the tree of agents." = s.agent_path(cell.thread);
    turn_id Text "Its turn." = s.turn_id(cell.turn);
    status Text "Its status: `running` (no end in the log), `completed`, `failed`, `cancelled`, `aborted`."
        = cell.execution.status.as_str();
    runtime_status Text "Status that its runtime reported: `starting`, `running`, `yielded`, `completed`, `failed`, \
                         `terminated`."
        = cell.runtime_status.as_str();
    started_at_unix_ms Integer "When it started." = cell.execution.started.unix_ms;
    ended_at_unix_ms Integer "When it ended." = ended(&cell.execution);
    duration_ms Integer "Duration; null if it has no end." = s.duration(&cell.execution);
    started_seq Integer "Sequence number of the event that started it." = cell.execution.started.seq;
    ended_seq Integer "Sequence number of the event that ended it." = ended_seq(&cell.execution);
    runtime_cell_id Text "Id of the cell in its thread's runtime, as events name it." = s.text(cell.runtime_cell_id);
    model_visible_call_id Text "Id of the tool call that contains the code." = s.text(cell.model_visible_call_id);
    source_item_id Text "The item that contains the code." = item_id(cell.source_item);
    source_js Text "The code." = &*cell.source_js;
    initial_response_at_unix_ms Integer "When it responded first." = cell.initial_response.map(|at| at.unix_ms);
    initial_response_status Text "Its status at the first response."
        = cell.initial_response_status.map(trace_reducer::model::CellStatus::as_str);
    yielded_at_unix_ms Integer "When it went to the background." = cell.yielded.map(|at| at.unix_ms);
    nested_tool_calls Integer "Number of tool calls that its code made." = cell.nested_tools.len();
    wait_tool_calls Integer "Number of tool calls that waited for it." = cell.wait_tools.len();
    output_items Integer "Number of items that show its output." = cell.output_items.len();
    initial_response_payload_id Text "The payload with its first response." = s.text(cell.initial_response_payload_id);
    result_payload_id Text "The payload with its result." = s.text(cell.result_payload_id);
}
