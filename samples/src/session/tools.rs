//! Tool calls: commands, and calls that act on agents.

use std::borrow::Cow;
use std::io;

use serde_json::{Value, json};
use trace_recorder::format::event::{
    LooseKind, ToolCallEnded, ToolCallRuntimeEnded, ToolCallRuntimeStarted, ToolCallStarted,
};
use trace_recorder::format::{
    EventPayload, ExecutionStatus, PayloadKind, Requester, SchemaVersion, ToolKind, ToolSummary,
};

use super::{Agent, Command, Report, Session, merge};
use crate::items::{self, AgentContent, AgentMessage};
use crate::texts::BYTES_PER_TOKEN;

/// Longest preview of the arguments of a call, in characters.
const PREVIEW_CHARS: usize = 160;

/// A tool call in a response.
#[derive(Debug, Clone)]
pub(super) struct Call {
    pub(super) id: String,
    pub(super) item_id: String,
    pub(super) name: Cow<'static, str>,
    pub(super) namespace: Option<Cow<'static, str>>,
    pub(super) form: Form,
    pub(super) kind: ToolKind<'static>,
    /// JSON, or free text for a tool that takes it.
    pub(super) arguments: String,
}

/// Whether a tool takes JSON arguments or free text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    Function,
    Custom,
}

impl Form {
    /// Returns the type of the item with the output.
    fn output_type(self) -> &'static str {
        match self {
            Self::Function => "function_call_output",
            Self::Custom => "custom_tool_call_output",
        }
    }
}

impl Call {
    /// Returns the item with which the model requests the call.
    pub(super) fn item(&self) -> Value {
        let Self { id, item_id, name, namespace, form, arguments, .. } = self;
        match form {
            Form::Function => items::function_call(item_id, name, namespace.as_deref(), arguments, id),
            Form::Custom => items::custom_tool_call(item_id, name, arguments, id),
        }
    }
}

/// A running command.
#[derive(Debug)]
pub(super) struct Running {
    pub(super) agent: Agent,
    pub(super) call: Call,
    command: Command,
    pub(super) process_id: String,
    turn_id: String,
    pub(super) started_at_ms: i64,
}

impl Running {
    pub(super) fn ends_at_ms(&self) -> i64 {
        self.started_at_ms + self.command.duration_ms
    }

    pub(super) fn exit_code(&self) -> i32 {
        self.command.exit_code
    }

    pub(super) fn output(&self) -> &str {
        &self.command.output
    }
}

impl Session {
    pub(super) fn call(
        &mut self,
        name: &'static str,
        namespace: Option<&'static str>,
        kind: ToolKind<'static>,
        arguments: &Value,
    ) -> Call {
        Call {
            id: format!("call_{}", self.ids.hex(16)),
            item_id: format!("fc_{}", self.ids.hex(16)),
            name: name.into(),
            namespace: namespace.map(Into::into),
            form: Form::Function,
            kind,
            arguments: arguments.to_string(),
        }
    }

    pub(super) fn collaboration_call(
        &mut self,
        name: &'static str,
        kind: ToolKind<'static>,
        arguments: &Value,
    ) -> Call {
        self.call(name, Some("collaboration"), kind, arguments)
    }

    pub(super) fn begin_call(&mut self, agent: Agent, call: &Call) -> io::Result<()> {
        self.dispatch(agent, call, Some(&call.id.clone()), None)
    }

    /// Records that a call is dispatched, for the model or for the given code cell.
    pub(super) fn dispatch(
        &mut self,
        agent: Agent,
        call: &Call,
        model_visible_call_id: Option<&str>,
        cell: Option<(&str, &str)>,
    ) -> io::Result<()> {
        self.latest_call_id.clone_from(&call.id);
        let payload = match call.form {
            Form::Function => json!({ "type": "function", "arguments": call.arguments }),
            Form::Custom => json!({ "type": "custom", "input": call.arguments }),
        };
        let invocation = json!({ "tool_name": call.name, "tool_namespace": call.namespace, "payload": payload });
        let label = match &call.namespace {
            Some(namespace) => format!("{namespace}.{}", call.name),
            None => call.name.clone().into_owned(),
        };
        let mut input_preview: String = call.arguments.chars().take(PREVIEW_CHARS).collect();
        if input_preview.len() < call.arguments.len() {
            input_preview.push_str("...");
        }
        let invocation_payload = Some(self.writer.payload(PayloadKind::ToolInvocation, &invocation)?);
        let requester = match cell {
            Some((runtime_cell_id, _)) => Requester::CodeCell { runtime_cell_id: runtime_cell_id.into() },
            None => Requester::Model,
        };
        self.turn_event(
            agent,
            EventPayload::ToolCallStarted(ToolCallStarted {
                tool_call_id: call.id.clone().into(),
                model_visible_call_id: model_visible_call_id.map(Into::into),
                code_mode_runtime_tool_id: cell.map(|(_, runtime_tool_id)| runtime_tool_id.into()),
                requester,
                kind: call.kind.clone(),
                summary: ToolSummary::Generic {
                    label: label.into(),
                    input_preview: Some(input_preview.into()),
                    output_preview: None,
                },
                invocation_payload,
            }),
        )
    }

    pub(super) fn start_runtime(&mut self, agent: Agent, call: &Call, runtime: &Value) -> io::Result<()> {
        let runtime_payload = self.writer.payload(PayloadKind::ToolRuntimeEvent, runtime)?;
        let kind = (self.setup.schema >= SchemaVersion::V2).then(|| LooseKind(call.kind.clone()));
        let tool_call_id = call.id.clone().into();
        self.turn_event(
            agent,
            EventPayload::ToolCallRuntimeStarted(ToolCallRuntimeStarted { tool_call_id, kind, runtime_payload }),
        )
    }

    pub(super) fn end_runtime(
        &mut self,
        agent: Agent,
        call: &Call,
        status: ExecutionStatus,
        runtime: &Value,
    ) -> io::Result<()> {
        let runtime_payload = self.writer.payload(PayloadKind::ToolRuntimeEvent, runtime)?;
        let tool_call_id = call.id.clone().into();
        self.turn_event(
            agent,
            EventPayload::ToolCallRuntimeEnded(ToolCallRuntimeEnded { tool_call_id, status, runtime_payload }),
        )
    }

    pub(super) fn end_call(&mut self, agent: Agent, call: &Call, output: &str) -> io::Result<()> {
        self.answer_call(agent, call, ExecutionStatus::Completed, &json!(output))
    }

    pub(super) fn answer_call(
        &mut self,
        agent: Agent,
        call: &Call,
        status: ExecutionStatus,
        output: &Value,
    ) -> io::Result<()> {
        let item = json!({ "type": call.form.output_type(), "call_id": call.id, "output": output });
        self.close_call(agent, call, status, &json!({ "type": "direct_response", "response_item": item }))
    }

    pub(super) fn close_call(
        &mut self,
        agent: Agent,
        call: &Call,
        status: ExecutionStatus,
        result: &Value,
    ) -> io::Result<()> {
        let result_payload = Some(self.writer.payload(PayloadKind::ToolResult, result)?);
        let tool_call_id = call.id.clone().into();
        self.turn_event(agent, EventPayload::ToolCallEnded(ToolCallEnded { tool_call_id, status, result_payload }))
    }

    pub(super) fn accept_output(&mut self, agent: Agent, call: &Call, output: &str) -> io::Result<()> {
        self.accept_answer(agent, call, &json!(output))
    }

    pub(super) fn accept_answer(&mut self, agent: Agent, call: &Call, output: &Value) -> io::Result<()> {
        let id = self.item_id(match call.form {
            Form::Function => "fco",
            Form::Custom => "ctco",
        });
        let item = json!({ "type": call.form.output_type(), "id": id, "call_id": call.id, "output": output });
        self.accept(agent, item, &id)
    }

    /// Returns the runtime event of an agent that acts on another one.
    pub(super) fn activity(&self, call: &Call, target: Agent, kind: &str) -> Value {
        let state = self.state(target);
        json!({
            "model": if kind == "started" { Some(&state.model) } else { None },
            "reasoning_effort": null,
            "event_id": call.id,
            "occurred_at_ms": self.now_ms,
            "agent_thread_id": state.thread_id,
            "agent_path": state.path,
            "kind": kind,
        })
    }

    pub(super) fn tell(
        &mut self,
        agent: Agent,
        target: Agent,
        tool: &'static str,
        kind: ToolKind<'static>,
        text: &str,
    ) -> io::Result<String> {
        let inference_call_id = self.request(agent)?;
        // Children are addressed by name, other agents by path.
        let path = &self.state(target).path;
        let name = match self.state(target).parent {
            Some(parent) if parent == agent => path.rsplit('/').next().unwrap_or_default().to_owned(),
            _ => path.clone(),
        };
        let call = self.collaboration_call(tool, kind, &json!({ "target": name, "message": text }));
        self.respond(agent, inference_call_id, std::slice::from_ref(&call), None)?;
        self.begin_call(agent, &call)?;
        let runtime = self.activity(&call, target, "interacted");
        self.end_runtime(agent, &call, ExecutionStatus::Completed, &runtime)?;
        self.end_call(agent, &call, "")?;
        self.send(agent, target, text);
        self.accept_output(agent, &call, "")?;
        Ok(call.id)
    }

    pub(super) fn send(&mut self, agent: Agent, target: Agent, text: &str) {
        let (author, recipient) = (self.state(agent).path.clone(), self.state(target).path.clone());
        let content = AgentContent::Sent(text.to_owned());
        self.state_mut(target).mailbox.push_back(AgentMessage { author, recipient, content });
    }

    pub(super) fn begin_commands(&mut self, steps: &[(Agent, &[Command])]) -> io::Result<Vec<Running>> {
        let inferences: Vec<String> = steps.iter().map(|&(agent, _)| self.request(agent)).collect::<io::Result<_>>()?;
        let mut running = Vec::new();
        for (&(agent, commands), inference_call_id) in steps.iter().zip(inferences) {
            let calls: Vec<Call> = commands
                .iter()
                .map(|command| self.call("exec_command", None, ToolKind::ExecCommand, &json!({ "cmd": command.line })))
                .collect();
            self.respond(agent, inference_call_id, &calls, None)?;
            for (call, command) in calls.into_iter().zip(commands.iter().cloned()) {
                self.begin_call(agent, &call)?;
                let process_id = (10_000 + self.ids.below(80_000)).to_string();
                running.push(Running {
                    agent,
                    call,
                    command,
                    process_id,
                    turn_id: self.turn_id(agent),
                    started_at_ms: 0,
                });
            }
        }
        for run in &mut running {
            self.report_start(run)?;
        }
        Ok(running)
    }

    fn report_start(&mut self, run: &mut Running) -> io::Result<()> {
        self.advance(2);
        run.started_at_ms = self.now_ms;
        let runtime = self.exec_report(run, "started_at_ms", self.now_ms);
        self.start_runtime(run.agent, &run.call, &runtime)
    }

    /// Records the start of a command that is dispatched already.
    pub(super) fn start_command(&mut self, agent: Agent, call: Call, command: Command) -> io::Result<Running> {
        let process_id = (10_000 + self.ids.below(80_000)).to_string();
        let turn_id = self.turn_id(agent);
        let mut run = Running { agent, call, command, process_id, turn_id, started_at_ms: 0 };
        self.report_start(&mut run)?;
        Ok(run)
    }

    /// Records the end of a command that a code cell requested. The code gets the result, not the model.
    pub(super) fn end_nested(&mut self, run: &Running, chunk_id: &str) -> io::Result<()> {
        self.report_end(run)?;
        let Command { output, exit_code, duration_ms, .. } = &run.command;
        let result = json!({ "type": "code_mode_response", "value": {
            "chunk_id": chunk_id,
            "wall_time_seconds": *duration_ms as f64 / 1000.0,
            "exit_code": exit_code,
            "original_token_count": output.len().div_ceil(BYTES_PER_TOKEN),
            "output": output,
        } });
        self.close_call(run.agent, &run.call, ExecutionStatus::Completed, &result)
    }

    /// Records the runtime's report that the command of a call ended.
    pub(super) fn report_end(&mut self, run: &Running) -> io::Result<()> {
        let Command { output, exit_code, duration_ms, .. } = &run.command;
        let (status, word) = match exit_code {
            0 => (ExecutionStatus::Completed, "completed"),
            _ => (ExecutionStatus::Failed, "failed"),
        };
        let mut runtime = self.exec_report(run, "completed_at_ms", self.now_ms);
        merge(
            &mut runtime,
            &json!({
                "aggregated_output": output,
                "exit_code": exit_code,
                "duration": { "secs": duration_ms / 1000, "nanos": duration_ms % 1000 * 1_000_000 },
                "status": word,
            }),
        );
        self.end_process(run, status, &runtime)
    }

    /// Records the end of a command's process, in the turn in which it started.
    pub(super) fn end_process(&mut self, run: &Running, status: ExecutionStatus, runtime: &Value) -> io::Result<()> {
        let runtime_payload = self.writer.payload(PayloadKind::ToolRuntimeEvent, runtime)?;
        let tool_call_id = run.call.id.clone().into();
        self.event_of_turn(
            run.agent,
            &run.turn_id,
            EventPayload::ToolCallRuntimeEnded(ToolCallRuntimeEnded { tool_call_id, status, runtime_payload }),
        )
    }

    pub(super) fn end_commands(&mut self, running: &[Running]) -> io::Result<()> {
        let mut by_end: Vec<usize> = (0..running.len()).collect();
        by_end.sort_by_key(|&index| running[index].ends_at_ms());
        let mut outputs = vec![String::new(); running.len()];
        for index in by_end {
            let run = &running[index];
            self.now_ms = self.now_ms.max(run.ends_at_ms());
            let Command { output, shown, exit_code, duration_ms, report, .. } = &run.command;
            let shown = shown.as_ref().unwrap_or(output);
            if *report == Report::BeforeCall {
                self.report_end(run)?;
            }
            outputs[index] = format!(
                "Chunk ID: {}\nWall time: {}.{:03}0 seconds\nProcess exited with code {exit_code}\n\
                 Original token count: {}\nOutput:\n{shown}",
                self.ids.hex(6),
                duration_ms / 1000,
                duration_ms % 1000,
                output.len().div_ceil(BYTES_PER_TOKEN),
            );
            self.end_call(run.agent, &run.call, &outputs[index])?;
            if *report == Report::AfterCall {
                self.report_end(run)?;
            }
        }
        // The outputs are added to the history in the order of the calls, whichever ended first.
        for (run, output) in running.iter().zip(&outputs) {
            self.accept_output(run.agent, &run.call, output)?;
        }
        Ok(())
    }

    pub(super) fn exec_report(&self, run: &Running, time_key: &str, unix_ms: i64) -> Value {
        let line = &run.command.line;
        let mut report = json!({
            "call_id": run.call.id,
            "process_id": run.process_id,
            "turn_id": run.turn_id,
        });
        report[time_key] = json!(unix_ms);
        merge(
            &mut report,
            &json!({
                "command": ["/bin/bash", "-lc", line],
                "cwd": self.setup.cwd,
                "parsed_cmd": [{ "type": "unknown", "cmd": line }],
                "source": "unified_exec_startup",
            }),
        );
        report
    }
}
