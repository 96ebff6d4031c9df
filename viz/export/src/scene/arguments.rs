//! The description of a piece: its name, its category, and its arguments.

use trace_explain::activity::describe;
use trace_explain::audit::Finding;
use trace_explain::label::{request_subject, status_name, tool_name};
use trace_explain::object::name_of;
use trace_explain::outcome::{Outcome, exit_code};
use trace_reducer::model::{
    CellStatus, Object, Origin, Requester, RolloutStatus, TerminalRequest, ThreadIdx, ToolCall, ToolKind, Trace, Usage,
};

use super::Scene;
use super::marks::{Mark, MarkKind};
use super::pieces::What;
use crate::text;

/// The value of an argument.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Value {
    /// A text, already truncated.
    Text(String),
    /// A signed number.
    Number(i64),
    /// A count, which may exceed the range of a signed number.
    Count(u64),
    /// A flag.
    Flag(bool),
}

/// A name and a value.
pub(crate) type Argument = (&'static str, Value);

/// Collects arguments.
#[derive(Debug, Default)]
struct Arguments(Vec<Argument>);

impl Arguments {
    fn text(&mut self, name: &'static str, value: &str) {
        if !value.is_empty() {
            self.0.push((name, Value::Text(text::value(value))));
        }
    }

    fn maybe(&mut self, name: &'static str, value: Option<&str>) {
        if let Some(value) = value {
            self.text(name, value);
        }
    }

    fn count(&mut self, name: &'static str, value: u64) {
        self.0.push((name, Value::Count(value)));
    }

    fn flag(&mut self, name: &'static str, value: bool) {
        self.0.push((name, Value::Flag(value)));
    }

    fn outcome(&mut self, outcome: Outcome) {
        self.text("outcome", outcome.as_str());
        if outcome == Outcome::Unfinished {
            // The slice ends at the latest possible time.
            self.flag("end_is_assumed", true);
        }
    }
}

impl Scene<'_> {
    /// Returns the name of a piece.
    pub(crate) fn name(&self, index: usize) -> String {
        let trace = self.trace();
        text::name(&match self.piece(index).what {
            What::Session => format!("session {}", trace.text(trace.rollout_id)),
            What::Object(Object::Thread(thread)) => agent_name(trace, thread),
            What::Object(Object::Turn(_)) => "turn".to_owned(),
            What::Object(object @ Object::CompactionRequest(_)) => {
                format!("compaction {}", describe(trace, object).unwrap_or_default())
            }
            What::Object(object) => describe(trace, object).unwrap_or_else(|| object.type_name().to_owned()),
            What::Mark(mark) => self.mark_name(&self.marks[mark]),
        })
    }

    fn mark_name(&self, mark: &Mark) -> String {
        let trace = self.trace();
        match &mark.kind {
            MarkKind::Arrival(edge) => format!("{} arrives", trace.edges[*edge].kind.as_str()),
            MarkKind::Undelivered(lost) => format!("{} undelivered", lost.kind.as_str()),
            MarkKind::Compaction(_) => "compaction installed".to_owned(),
            MarkKind::Resumed => "resumed".to_owned(),
            MarkKind::Finding(finding) => format!("audit: {}", finding.kind.as_str()),
            MarkKind::Told { event_type, .. } => trace.text(*event_type).to_owned(),
        }
    }

    /// Returns the category of a piece.
    pub(crate) fn category(&self, index: usize) -> &'static str {
        let trace = self.trace();
        match self.piece(index).what {
            What::Session => "session",
            What::Object(Object::Thread(_)) => "agent",
            What::Object(Object::Turn(_)) => "turn",
            What::Object(Object::Inference(_)) => "model",
            What::Object(Object::CompactionRequest(_)) => "compaction",
            What::Object(Object::Tool(tool)) if trace.tools[tool].kind == ToolKind::WaitAgent => "wait",
            What::Object(Object::Tool(_)) => "tool",
            What::Object(_) => "code",
            What::Mark(mark) => match self.marks[mark].kind {
                MarkKind::Arrival(_) => "mail",
                MarkKind::Undelivered(_) => "lost",
                MarkKind::Compaction(_) => "compaction",
                MarkKind::Resumed => "agent",
                MarkKind::Finding(_) => "audit",
                MarkKind::Told { .. } => "protocol",
            },
        }
    }

    /// Returns the arguments of a piece.
    pub(crate) fn arguments(&self, index: usize) -> Vec<Argument> {
        let mut arguments = Arguments::default();
        match self.piece(index).what {
            What::Session => self.of_session(&mut arguments),
            What::Object(object) => self.of_object(object, &mut arguments),
            What::Mark(mark) => self.of_mark(&self.marks[mark], &mut arguments),
        }
        arguments.0
    }

    fn of_session(&self, arguments: &mut Arguments) {
        let trace = self.trace();
        arguments.text("rollout_id", trace.text(trace.rollout_id));
        arguments.text("trace_id", trace.text(trace.trace_id));
        arguments.text("root_thread_id", trace.text(trace.root_thread_id));
        arguments.count("schema_version", trace.schema_version.0.into());
        arguments.0.push(("started_at_unix_ms", Value::Number(trace.started_at_unix_ms)));
        arguments.text("status", session_status(trace.status));
        if trace.ended.is_none() {
            arguments.flag("end_is_assumed", true);
        }
        arguments.flag("recording_complete", trace.recording_complete);
        let counts = [
            ("threads", trace.threads.len()),
            ("turns", trace.turns.len()),
            ("inference_calls", trace.inferences.len()),
            ("tool_calls", trace.tools.len()),
            ("code_cells", trace.cells.len()),
            ("compactions", trace.compactions.len()),
            ("interaction_edges", trace.edges.len()),
        ];
        for (name, count) in counts {
            arguments.count(name, count as u64);
        }
        if self.clock().set_back_ms() > 0 {
            arguments.count("clock_set_back_ms", self.clock().set_back_ms());
        }
    }

    fn of_object(&self, object: Object, arguments: &mut Arguments) {
        let trace = self.trace();
        arguments.text("object", &name_of(trace, object).to_string());
        let turn_id = |turn| trace.text(trace.turns[turn].id);
        match object {
            Object::Thread(thread) => self.of_thread(thread, arguments),
            Object::Turn(turn) => {
                let turn = &trace.turns[turn];
                arguments.text("thread_id", trace.text(trace.threads[turn.thread].id));
                arguments.outcome(Outcome::of_window(&turn.execution));
            }
            Object::Inference(call) => {
                let call = &trace.inferences[call];
                arguments.text("turn_id", turn_id(call.turn));
                arguments.text("model", trace.text(call.model));
                arguments.text("provider", trace.text(call.provider_name));
                arguments.outcome(Outcome::of_window(&call.execution));
                arguments.maybe("error", call.error.as_deref());
                if let Some(usage) = &call.usage {
                    of_usage(usage, arguments);
                }
                arguments.maybe("response_id", call.response_id.map(|id| trace.text(id)));
                arguments.maybe("upstream_request_id", call.upstream_request_id.map(|id| trace.text(id)));
                arguments.count("request_items", call.request_items.len() as u64);
                arguments.text("request_payload_id", trace.text(call.request_payload_id));
                arguments.maybe("response_payload_id", call.response_payload_id.map(|id| trace.text(id)));
            }
            Object::CompactionRequest(request) => {
                let request = &trace.compaction_requests[request];
                arguments.text("turn_id", turn_id(request.turn));
                arguments.text("compaction_id", trace.text(request.compaction_id));
                arguments.text("model", trace.text(request.model));
                arguments.text("provider", trace.text(request.provider_name));
                arguments.outcome(Outcome::of_window(&request.execution));
                arguments.maybe("error", request.error.as_deref());
                arguments.text("request_payload_id", trace.text(request.request_payload_id));
                arguments.maybe("response_payload_id", request.response_payload_id.map(|id| trace.text(id)));
            }
            Object::Tool(tool) => {
                let call = &trace.tools[tool];
                arguments.maybe("turn_id", call.turn.map(turn_id));
                of_tool(trace, call, arguments);
            }
            Object::Cell(cell) => {
                let cell = &trace.cells[cell];
                arguments.text("turn_id", turn_id(cell.turn));
                arguments.outcome(Outcome::of_window(&cell.execution));
                arguments.text("status", cell_status(cell.runtime_status));
                arguments.flag("went_to_background", cell.yielded.is_some());
                arguments.maybe("runtime_cell_id", cell.runtime_cell_id.map(|id| trace.text(id)));
                arguments.text("source", &cell.source_js);
            }
            _ => {}
        }
    }

    fn of_thread(&self, index: ThreadIdx, arguments: &mut Arguments) {
        let trace = self.trace();
        let thread = &trace.threads[index];
        arguments.text("agent_path", trace.text(thread.agent_path));
        arguments.maybe("nickname", thread.nickname.map(|name| trace.text(name)));
        if let Origin::Spawned { parent_thread_id, task_name, agent_role, .. } = &thread.origin {
            arguments.text("parent_thread_id", trace.text(*parent_thread_id));
            arguments.text("task", trace.text(*task_name));
            arguments.text("role", trace.text(*agent_role));
        }
        arguments.maybe("model", thread.default_model.map(|model| trace.text(model)));
        arguments.text("status", status_name(thread.execution.status));
        arguments.outcome(Outcome::of_window(&thread.execution));
    }

    fn of_mark(&self, mark: &Mark, arguments: &mut Arguments) {
        let trace = self.trace();
        match &mark.kind {
            MarkKind::Arrival(edge) => {
                arguments.text("object", &name_of(trace, Object::Edge(*edge)).to_string());
                arguments.text("kind", trace.edges[*edge].kind.as_str());
            }
            MarkKind::Undelivered(lost) => {
                arguments.text("edge_id", trace.text(lost.edge_id));
                arguments.text("target_thread_id", trace.text(lost.target_thread_id));
                arguments.text("text", &lost.text);
            }
            MarkKind::Compaction(compaction) => {
                let object = name_of(trace, Object::Compaction(*compaction)).to_string();
                let compaction = &trace.compactions[*compaction];
                arguments.text("object", &object);
                arguments.count("items_before", compaction.input_items.len() as u64);
                arguments.count("items_after", compaction.replacement_items.len() as u64);
            }
            MarkKind::Resumed => {}
            MarkKind::Finding(finding) => {
                arguments.text("severity", finding.severity.as_str());
                arguments.text("confidence", finding.confidence.as_str());
                arguments.text("message", &finding.message);
                if let Some(claim) = &finding.claim {
                    arguments.text("claim", &claim.text);
                    arguments.text("claim_object", &claim.object.to_string());
                }
                arguments.maybe("turn_id", finding.turn_id.as_deref());
                arguments.text("evidence", &evidence_of(finding));
            }
            MarkKind::Told { message, .. } => arguments.maybe("message", message.as_deref()),
        }
    }
}

/// Returns the evidence of a finding as a list of relations with objects.
pub(crate) fn evidence_of(finding: &Finding) -> String {
    let evidence = finding.evidence.iter().map(|piece| format!("{} {}", piece.relation.as_str(), piece.object));
    evidence.collect::<Vec<_>>().join(", ")
}

/// Returns the display name of an agent: its path, and its nickname if it has one.
pub(crate) fn agent_name(trace: &Trace, thread: ThreadIdx) -> String {
    let thread = &trace.threads[thread];
    let path = trace.text(thread.agent_path);
    match thread.nickname.map(|name| trace.text(name)).filter(|name| !name.is_empty()) {
        Some(nickname) => format!("{path} ({nickname})"),
        None if path.is_empty() => trace.text(thread.id).to_owned(),
        None => path.to_owned(),
    }
}

fn of_usage(usage: &Usage, arguments: &mut Arguments) {
    arguments.count("input_tokens", usage.input_tokens);
    arguments.count("cached_input_tokens", usage.cached_input_tokens);
    arguments.count("cache_write_input_tokens", usage.cache_write_input_tokens);
    arguments.count("output_tokens", usage.output_tokens);
    arguments.count("reasoning_output_tokens", usage.reasoning_output_tokens);
}

fn of_tool(trace: &Trace, call: &ToolCall, arguments: &mut Arguments) {
    arguments.text("tool", &tool_name(trace, call));
    arguments.text("kind", call.kind.as_str());
    arguments.outcome(Outcome::of_tool(trace, call));
    match call.requester {
        Requester::Model => arguments.text("requester", "model"),
        Requester::CodeCell(cell) => arguments.text("requester", trace.text(cell)),
    }
    arguments.maybe("call_id", call.model_visible_call_id.map(|id| trace.text(id)));
    if let Some(operation) = call.operation {
        let request = &trace.operations[operation].request;
        match request {
            TerminalRequest::ExecCommand { cwd, .. } => {
                arguments.text("command", &request_subject(request));
                arguments.text("cwd", cwd);
            }
            TerminalRequest::WriteStdin { .. } => arguments.text("input", &request_subject(request)),
        }
    } else if let Some(subject) = trace_explain::label::tool_subject(trace, call) {
        arguments.text("subject", &subject);
    }
    if let Some(code) = exit_code(trace, call) {
        arguments.0.push(("exit_code", Value::Number(code)));
    }
    arguments.maybe("invocation_payload_id", call.invocation_payload_id.map(|id| trace.text(id)));
    arguments.maybe("result_payload_id", call.result_payload_id.map(|id| trace.text(id)));
}

/// Returns the word for the status of a session.
pub(crate) fn session_status(status: RolloutStatus) -> &'static str {
    match status {
        RolloutStatus::Running => "running",
        RolloutStatus::Completed => "completed",
        RolloutStatus::Failed => "failed",
        RolloutStatus::Aborted | RolloutStatus::Unknown => "aborted",
    }
}

fn cell_status(status: CellStatus) -> &'static str {
    match status {
        CellStatus::Starting => "starting",
        CellStatus::Running => "running",
        CellStatus::Yielded => "yielded",
        CellStatus::Completed => "completed",
        CellStatus::Failed => "failed",
        CellStatus::Terminated => "terminated",
        CellStatus::Unknown => "unknown",
    }
}
