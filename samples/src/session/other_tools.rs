//! Tools other than commands and patches: MCP tools, code cells, and calls that are refused.

use std::io;

use serde_json::{Value, json};
use trace_recorder::format::event::{
    CellStatus, CodeCellEnded, CodeCellInitialResponse, CodeCellStarted, McpToolCallCorrelationAssigned,
};
use trace_recorder::format::{EventPayload, ExecutionStatus, PayloadKind, SchemaVersion, ToolKind};

use super::tools::{Call, Form};
use super::{Agent, Command, Session, merge};

/// A call that fails before its tool starts.
#[derive(Debug, Clone)]
pub struct Refusal {
    name: String,
    namespace: Option<String>,
    kind: ToolKind<'static>,
    form: Form,
    arguments: String,
    error: String,
}

impl Refusal {
    fn function(name: &str, kind: ToolKind<'static>, arguments: &str, error: String) -> Self {
        let (name, arguments) = (name.to_owned(), arguments.to_owned());
        Self { name, namespace: None, kind, form: Form::Function, arguments, error }
    }

    fn custom(name: &str, kind: ToolKind<'static>, input: &str, error: String) -> Self {
        Self { form: Form::Custom, ..Self::function(name, kind, input, error) }
    }

    fn other(name: &str) -> ToolKind<'static> {
        ToolKind::Other { name: name.to_owned().into() }
    }

    /// A call of an unknown tool.
    pub fn unknown_tool(name: &str, arguments: &Value) -> Self {
        Self::function(name, Self::other(name), &arguments.to_string(), format!("unsupported call: {name}"))
    }

    /// A call of a tool that the MCP server does not have.
    pub fn unknown_tool_of(server: &str, name: &str, arguments: &Value) -> Self {
        let namespace = format!("mcp__{server}");
        let error = format!("unsupported call: {namespace}{name}");
        Self { namespace: Some(namespace), error, ..Self::unknown_tool(name, arguments) }
    }

    /// A call of an unknown tool that takes free text.
    pub fn unknown_custom_tool(name: &str, input: &str) -> Self {
        Self::custom(name, Self::other(name), input, format!("unsupported custom tool call: {name}"))
    }

    /// A command with invalid arguments.
    pub fn bad_arguments(arguments: &str, problem: &str) -> Self {
        let error = format!("failed to parse function arguments: {problem}");
        Self::function("exec_command", ToolKind::ExecCommand, arguments, error)
    }

    /// A message to an agent with invalid arguments.
    pub fn bad_message(arguments: &str, problem: &str) -> Self {
        let error = format!("failed to parse function arguments: {problem}");
        let namespace = Some("collaboration".to_owned());
        Self { namespace, ..Self::function("send_message", ToolKind::SendMessage, arguments, error) }
    }

    /// A command that the user declines.
    pub fn declined_command(line: &str) -> Self {
        let arguments = json!({ "cmd": line }).to_string();
        let error = "exec_command failed: CreateProcess { message: \"Rejected(\\\"rejected by user\\\")\" }".to_owned();
        Self::function("exec_command", ToolKind::ExecCommand, &arguments, error)
    }

    /// A command that cannot be started. Its error has the same wrapper as that of a declined command.
    pub fn command_not_started(line: &str, problem: &str) -> Self {
        let arguments = json!({ "cmd": line }).to_string();
        let rejected = format!("Rejected(\"Failed to create unified exec process: {problem}\")");
        let error = format!("exec_command failed: CreateProcess {{ message: {rejected:?} }}");
        Self::function("exec_command", ToolKind::ExecCommand, &arguments, error)
    }

    /// A patch that does not apply.
    pub fn patch(patch: &str, problem: &str) -> Self {
        let error = format!("apply_patch verification failed: {problem}");
        Self::custom("apply_patch", ToolKind::ApplyPatch, patch, error)
    }
}

/// A call of an MCP tool and its result.
#[derive(Debug, Clone)]
pub struct McpCall {
    server: String,
    tool: String,
    arguments: Value,
    result: Result<(String, bool), String>,
    duration_ms: i64,
}

impl McpCall {
    /// A call that succeeds after 12 ms.
    pub fn new(server: &str, tool: &str, arguments: Value, answer: &str) -> Self {
        let result = Ok((answer.to_owned(), false));
        Self { server: server.to_owned(), tool: tool.to_owned(), arguments, result, duration_ms: 12 }
    }

    /// Makes the tool report an error.
    #[must_use]
    pub fn reports(self, error: &str) -> Self {
        Self { result: Ok((error.to_owned(), true)), ..self }
    }

    /// Makes the call fail without reaching the tool.
    #[must_use]
    pub fn breaks(self, cause: &str) -> Self {
        let Self { server, tool, .. } = &self;
        let error = format!("tool call error: tool call failed for `{server}/{tool}`\n\nCaused by:\n    {cause}");
        Self { result: Err(error), ..self }
    }

    /// Makes the call exceed its time limit.
    #[must_use]
    pub fn exceeds(self, limit_ms: i64) -> Self {
        let cause = format!("timed out awaiting tools/call after {limit_ms}ms");
        Self { duration_ms: limit_ms, ..self.breaks(&cause) }
    }
}

/// A code cell and its result.
#[derive(Debug, Clone)]
pub struct Cell {
    source: String,
    commands: Vec<Command>,
    printed: Option<String>,
    error: Option<String>,
}

impl Cell {
    /// Code that prints `printed`.
    pub fn new(source: &str, printed: &str) -> Self {
        Self { source: source.to_owned(), commands: Vec::new(), printed: Some(printed.to_owned()), error: None }
    }

    /// Makes the code run commands first.
    #[must_use]
    pub fn runs(self, commands: &[Command]) -> Self {
        Self { commands: commands.to_vec(), ..self }
    }

    /// Code that throws an exception.
    pub fn throws(source: &str, error: &str) -> Self {
        Self { printed: None, error: Some(error.to_owned()), ..Self::new(source, "") }
    }

    /// Makes the code print something before it throws the exception.
    #[must_use]
    pub fn after_printing(self, printed: &str) -> Self {
        Self { printed: Some(printed.to_owned()), ..self }
    }
}

/// # Errors
///
/// Every method returns an I/O error when something cannot be written.
impl Session {
    /// Records that the agent's model makes a call that is refused. Returns the id of the call.
    pub fn refuse(&mut self, agent: Agent, refusal: &Refusal) -> io::Result<String> {
        let call = self.new_call(refusal);
        self.ask_for(agent, &call)?;
        self.advance(3);
        self.refuse_call(agent, &call, &refusal.error)
    }

    /// Records that the agent's model calls an MCP tool. Returns the id of the call.
    pub fn call_mcp(&mut self, agent: Agent, mcp: &McpCall) -> io::Result<String> {
        let McpCall { server, tool, arguments, result, duration_ms } = mcp;
        let call = Call {
            namespace: Some(format!("mcp__{server}").into()),
            name: tool.clone().into(),
            ..self.call("", None, ToolKind::Other { name: tool.clone().into() }, arguments)
        };
        self.ask_for(agent, &call)?;
        let runtime = json!({
            "call_id": call.id,
            "turn_id": self.turn_id(agent),
            "invocation": { "server": server, "tool": tool, "arguments": arguments },
        });
        let running =
            Call { kind: ToolKind::Mcp { server: server.clone().into(), tool: tool.clone().into() }, ..call.clone() };
        self.start_runtime(agent, &running, &runtime)?;
        let correlation = McpToolCallCorrelationAssigned {
            tool_call_id: call.id.clone().into(),
            mcp_call_id: self.ids.uuid_v4().into(),
        };
        self.session_event(EventPayload::McpToolCallCorrelationAssigned(correlation))?;
        self.advance(*duration_ms);
        let (runtime_status, status, text, mut report) = match result {
            Ok((text, is_error)) => {
                let status = if *is_error { ExecutionStatus::Failed } else { ExecutionStatus::Completed };
                let mut answer = json!({ "content": [{ "type": "text", "text": text }] });
                if *is_error {
                    answer["isError"] = json!(true);
                }
                (ExecutionStatus::Completed, status, text, json!({ "result": { "Ok": answer } }))
            }
            Err(error) => {
                (ExecutionStatus::Failed, ExecutionStatus::Failed, error, json!({ "result": { "Err": error } }))
            }
        };
        if self.setup.schema < SchemaVersion::V2 {
            let nanos = duration_ms % 1000 * 1_000_000;
            let duration = json!({ "duration": { "secs": duration_ms / 1000, "nanos": nanos } });
            let result = std::mem::replace(&mut report, runtime);
            merge(&mut report, &duration);
            merge(&mut report, &result);
        }
        self.end_runtime(agent, &call, runtime_status, &report)?;
        let wall_time = format!("Wall time: {}.{:03}0 seconds\nOutput:", duration_ms / 1000, duration_ms % 1000);
        let output = json!([{ "type": "input_text", "text": wall_time }, { "type": "input_text", "text": text }]);
        self.answer_call(agent, &call, status, &output)?;
        self.accept_answer(agent, &call, &output)?;
        Ok(call.id)
    }

    /// Records that the agent's model runs code. Returns the id of the call. The id of the cell is `code_cell:` followed by
    /// the id of the call.
    pub fn run_cell(&mut self, agent: Agent, cell: &Cell) -> io::Result<String> {
        let Cell { source, commands, printed, error } = cell;
        let mut call = self.call("exec", None, ToolKind::Other { name: "exec".into() }, &Value::Null);
        call.form = Form::Custom;
        call.arguments.clone_from(source);
        // Schema 1 records only the cell, schema 2 also the tool call that contains the code.
        let tells_call = self.setup.schema >= SchemaVersion::V2;
        let inference_call_id = self.request(agent)?;
        self.respond(agent, inference_call_id, std::slice::from_ref(&call), None)?;
        if tells_call {
            self.begin_call(agent, &call)?;
        }
        let state = self.state_mut(agent);
        state.cells += 1;
        let runtime_cell_id = state.cells.to_string();
        self.turn_event(
            agent,
            EventPayload::CodeCellStarted(CodeCellStarted {
                runtime_cell_id: runtime_cell_id.clone().into(),
                model_visible_call_id: call.id.clone().into(),
                source_js: source.as_str().into(),
            }),
        )?;
        for (index, command) in commands.iter().enumerate() {
            self.run_nested(agent, command, &runtime_cell_id, index + 1)?;
        }
        self.advance(31);
        let (status, cell_status, word) = match error {
            None => (ExecutionStatus::Completed, CellStatus::Completed, "completed"),
            Some(_) => (ExecutionStatus::Failed, CellStatus::Failed, "failed"),
        };
        let mut content: Vec<Value> =
            printed.iter().map(|text| json!({ "type": "input_text", "text": text })).collect();
        content.extend(
            error.iter().map(|error| json!({ "type": "input_text", "text": format!("Script error:\n{error}") })),
        );
        let response = json!({ "response": { "Result": {
            "cell_id": runtime_cell_id,
            "content_items": content,
            "error_text": error,
            "code_mode_host_duration": { "secs": 0, "nanos": 31_000_000 },
        } } });
        let response_payload = Some(self.writer.payload(PayloadKind::ToolResult, &response)?);
        let initial = CodeCellInitialResponse {
            runtime_cell_id: runtime_cell_id.clone().into(),
            status: cell_status,
            response_payload,
        };
        self.turn_event(agent, EventPayload::CodeCellInitialResponse(initial))?;
        let response_payload = Some(self.writer.payload(PayloadKind::ToolResult, &response)?);
        let ended = CodeCellEnded { runtime_cell_id: runtime_cell_id.into(), status: cell_status, response_payload };
        self.turn_event(agent, EventPayload::CodeCellEnded(ended))?;
        content.insert(
            0,
            json!({ "type": "input_text", "text": format!("Script {word}\nWall time 0.0 seconds\nOutput:\n") }),
        );
        let output = Value::Array(content);
        if tells_call {
            self.answer_call(agent, &call, status, &output)?;
        }
        self.accept_answer(agent, &call, &output)?;
        Ok(call.id)
    }

    fn run_nested(&mut self, agent: Agent, command: &Command, cell: &str, number: usize) -> io::Result<()> {
        let mut call = self.call("exec_command", None, ToolKind::ExecCommand, &json!({ "cmd": command.line }));
        call.id = format!("exec-{}", self.ids.uuid_v4());
        self.dispatch(agent, &call, None, Some((cell, &format!("tool-{number}"))))?;
        let running = self.start_command(agent, call, command.clone())?;
        self.advance(command.duration_ms);
        let chunk_id = self.ids.hex(6);
        self.end_nested(&running, &chunk_id)
    }

    fn new_call(&mut self, refusal: &Refusal) -> Call {
        let Refusal { name, namespace, kind, form, arguments, .. } = refusal;
        Call {
            name: name.clone().into(),
            namespace: namespace.clone().map(Into::into),
            form: *form,
            arguments: arguments.clone(),
            ..self.call("", None, kind.clone(), &Value::Null)
        }
    }

    /// Records a response with one call and its dispatch.
    pub(super) fn ask_for(&mut self, agent: Agent, call: &Call) -> io::Result<()> {
        let inference_call_id = self.request(agent)?;
        self.respond(agent, inference_call_id, std::slice::from_ref(call), None)?;
        self.begin_call(agent, call)
    }

    pub(super) fn refuse_call(&mut self, agent: Agent, call: &Call, error: &str) -> io::Result<String> {
        self.close_call(agent, call, ExecutionStatus::Failed, &json!({ "type": "error", "error": error }))?;
        self.accept_output(agent, call, error)?;
        Ok(call.id.clone())
    }
}
