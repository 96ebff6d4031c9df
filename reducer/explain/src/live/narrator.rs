//! Makes happenings from the updates of a live reduction.

use std::collections::{HashMap, HashSet};

use serde_json::Value;
use trace_recorder::payloads::PayloadFiles;
use trace_reducer::Code;
use trace_reducer::live::{Change, Update};
use trace_reducer::model::{
    Anchor, CompactionRequestIdx, EdgeIdx, EdgeKind, InferenceIdx, ItemIdx, ItemKind, Moment, OperationIdx, Part,
    RolloutStatus, Symbol, TerminalRequest, ThreadIdx, ToolIdx, ToolSummary, Trace, TurnIdx, Window,
};
use trace_reducer::{Diagnostic, Severity};

use super::happening::{Event, Happening, Tokens, both_ends, cut};
use super::protocol;
use super::status::{Activities, Status};
use crate::label::{command_line, status_name, tool_name};
use crate::object::{Object, name_of};

/// Fewest items of a request before that can count as rewritten.
const REWRITTEN_ITEMS: usize = 8;

/// Describes a session from the updates of its live reduction.
#[derive(Debug, Clone, Default)]
pub struct Narrator {
    activities: Activities,
    tokens: Tokens,
    agents: HashMap<Symbol, ThreadIdx>,
    turns: HashMap<Symbol, TurnIdx>,
    /// Tool calls that ended while their command was still running.
    ended_before_command: HashSet<ToolIdx>,
    /// Number of items in each thread's last request. Removed by a compaction.
    last_requests: HashMap<ThreadIdx, usize>,
}

impl Narrator {
    /// Returns what happened in an update, in order. The payloads of protocol events are read from `payloads`.
    pub fn hear(&mut self, update: &Update<'_>, payloads: &PayloadFiles) -> Vec<Happening> {
        let mut told = Vec::new();
        for change in update.changes {
            let scene = Scene { trace: update.trace, at: update.at };
            let happening = match *change {
                Change::Added(object) => {
                    told.extend(self.rewritten(scene, object));
                    self.added(scene, object)
                }
                Change::Changed(object) => self.changed(scene, object),
                Change::Ended(object) => self.ended(scene, object),
                Change::Observed(index) => self.observed(scene, index, payloads),
                Change::Answered(index) => Some(self.answered(scene, index)),
                Change::SessionEnded => Some(session_ended(scene)),
                Change::RecordingCompleted => Some(scene.happening(Event::RecordingCompleted)),
                Change::Found(index) => {
                    update.diagnostics.iter().as_slice().get(index).and_then(|diagnostic| found(scene, diagnostic))
                }
            };
            told.extend(happening);
        }
        told
    }

    /// Returns the current status of the session.
    pub fn status(&self, trace: &Trace) -> Status {
        let last = trace.last_event.map_or(trace.started_at_unix_ms, |at| at.unix_ms);
        Status {
            elapsed_ms: last.saturating_sub(trace.started_at_unix_ms),
            last_event_unix_ms: last,
            agents_started: trace.threads.len(),
            agents: self.activities.now(trace),
            tokens: self.tokens,
        }
    }

    fn added(&mut self, scene: Scene<'_>, object: Object) -> Option<Happening> {
        let trace = scene.trace;
        match object {
            Object::Thread(thread) => {
                self.activities.agent_began(thread);
                let known = &trace.threads[thread];
                self.agents.insert(known.id, thread);
                let mut told = scene.of_agent(Event::AgentStarted, object, thread);
                told.subject = known.default_model.map(|model| cut(trace.text(model)));
                told.detail = known.nickname.map(|name| cut(trace.text(name)));
                Some(told)
            }
            Object::Turn(turn) => {
                let Window { started, .. } = trace.turns[turn].execution;
                let thread = trace.turns[turn].thread;
                self.turns.insert(trace.turns[turn].id, turn);
                self.activities.began(thread, object, started, "thinks".to_owned());
                Some(scene.of_agent(Event::TurnStarted, object, thread))
            }
            Object::Inference(inference) => Some(self.inference_started(scene, inference)),
            Object::Tool(tool) => {
                let call = &trace.tools[tool];
                let name = tool_name(trace, call);
                let input = tool_input(trace, tool);
                let what = [Some(name.as_str()), input.as_deref()].into_iter().flatten().collect::<Vec<_>>().join(" ");
                self.activities.began(call.thread, object, call.execution.started, what);
                let mut told = scene.of_agent(Event::ToolStarted, object, call.thread);
                (told.subject, told.detail) = (Some(cut(&name)), input);
                Some(told)
            }
            Object::Cell(cell) => {
                let known = &trace.cells[cell];
                self.activities.began(known.thread, object, known.execution.started, "runs code".to_owned());
                let mut told = scene.of_agent(Event::CellStarted, object, known.thread);
                told.detail = Some(both_ends(&known.source_js));
                Some(told)
            }
            Object::CompactionRequest(request) => {
                let known = &trace.compaction_requests[request];
                self.activities.began(known.thread, object, known.execution.started, "compacts".to_owned());
                let mut told = scene.of_agent(Event::CompactionStarted, object, known.thread);
                told.subject = Some(cut(trace.text(known.model)));
                Some(told)
            }
            Object::Compaction(compaction) => {
                let known = &trace.compactions[compaction];
                self.last_requests.remove(&known.thread);
                let mut told = scene.of_agent(Event::Compacted, object, known.thread);
                let (before, after) = (known.input_items.len(), known.replacement_items.len());
                told.detail = Some(format!("{before} items became {after}"));
                Some(told)
            }
            Object::Edge(edge) => handed_over(scene, edge),
            Object::Item(_) | Object::Session(_) | Object::Operation(_) | Object::Payload(_) => None,
        }
    }

    fn inference_started(&mut self, scene: Scene<'_>, inference: InferenceIdx) -> Happening {
        let trace = scene.trace;
        let object = Object::Inference(inference);
        let call = &trace.inferences[inference];
        let model = cut(trace.text(call.model));
        self.activities.began(call.thread, object, call.execution.started, format!("asks {model}"));
        let mut told = scene.of_agent(Event::InferenceStarted, object, call.thread);
        told.subject = Some(model);
        told.detail = Some(match call.request_items.len() {
            1 => "1 item".to_owned(),
            items => format!("{items} items"),
        });
        told
    }

    /// Returns a happening if a request lacks most items of the request before it.
    fn rewritten(&mut self, scene: Scene<'_>, object: Object) -> Option<Happening> {
        let Object::Inference(inference) = object else { return None };
        let call = &scene.trace.inferences[inference];
        let items = call.request_items.len();
        let before = self.last_requests.insert(call.thread, items)?;
        if before < REWRITTEN_ITEMS || items >= before / 2 {
            return None;
        }
        let mut told = scene.of_agent(Event::ContextRewritten, object, call.thread);
        told.detail = Some(format!("{before} items became {items}; no compaction was recorded"));
        Some(told)
    }

    fn changed(&mut self, scene: Scene<'_>, object: Object) -> Option<Happening> {
        let Object::Thread(thread) = object else { return None };
        let resumed = scene.trace.threads[thread].resumed.last()?;
        if Some(resumed.seq) != scene.at.map(|at| at.seq) {
            return None;
        }
        self.activities.agent_began(thread);
        Some(scene.of_agent(Event::AgentResumed, object, thread))
    }

    fn ended(&mut self, scene: Scene<'_>, object: Object) -> Option<Happening> {
        let trace = scene.trace;
        match object {
            Object::Thread(thread) => {
                self.activities.agent_ended(thread);
                let told = scene.of_agent(Event::AgentEnded, object, thread);
                Some(told.over(&trace.threads[thread].execution))
            }
            Object::Turn(turn) => {
                let known = &trace.turns[turn];
                self.activities.ended(known.thread, object);
                Some(scene.of_agent(Event::TurnEnded, object, known.thread).over(&known.execution))
            }
            Object::Inference(inference) => {
                let call = &trace.inferences[inference];
                self.activities.ended(call.thread, object);
                let mut told = scene.of_agent(Event::InferenceEnded, object, call.thread).over(&call.execution);
                told.subject = Some(cut(trace.text(call.model)));
                told.tokens = call.usage.map(Tokens::from);
                told.detail = call.error.as_deref().map(cut).or_else(|| said(trace, &call.response_items));
                if let Some(tokens) = told.tokens {
                    self.tokens.add(tokens);
                }
                Some(told)
            }
            Object::Tool(tool) => {
                let call = &trace.tools[tool];
                self.activities.ended(call.thread, object);
                let mut told = scene.of_agent(Event::ToolEnded, object, call.thread).over(&call.execution);
                told.subject = Some(cut(&tool_name(trace, call)));
                if let Some(operation) = call.operation {
                    if trace.operations[operation].execution.ended.is_none() {
                        self.ended_before_command.insert(tool);
                    }
                    (told.exit_code, told.detail) = outcome(trace, operation);
                }
                Some(told)
            }
            Object::Operation(operation) => {
                let known = &trace.operations[operation];
                if !self.ended_before_command.remove(&known.tool) {
                    return None;
                }
                let call = &trace.tools[known.tool];
                let mut told = scene.of_agent(Event::CommandExited, object, call.thread).over(&known.execution);
                told.subject = Some(cut(&tool_name(trace, call)));
                (told.exit_code, told.detail) = outcome(trace, operation);
                Some(told)
            }
            Object::Cell(cell) => {
                let known = &trace.cells[cell];
                self.activities.ended(known.thread, object);
                Some(scene.of_agent(Event::CellEnded, object, known.thread).over(&known.execution))
            }
            Object::CompactionRequest(request) => self.compaction_request_ended(scene, request),
            _ => None,
        }
    }

    fn compaction_request_ended(&mut self, scene: Scene<'_>, request: CompactionRequestIdx) -> Option<Happening> {
        let known = &scene.trace.compaction_requests[request];
        let object = Object::CompactionRequest(request);
        self.activities.ended(known.thread, object);
        let error = known.error.as_deref()?;
        let mut told = scene.of_agent(Event::CompactionFailed, object, known.thread).over(&known.execution);
        told.detail = Some(cut(error));
        Some(told)
    }

    fn answered(&self, scene: Scene<'_>, index: usize) -> Happening {
        let trace = scene.trace;
        let result = &trace.agent_results[index];
        let mut told = scene.of_agent(Event::ResultReported, Object::Thread(result.child), result.child);
        let parent = self.agents.get(&result.parent_thread_id).map(|parent| trace.threads[*parent].agent_path);
        told.to_agent_path = Some(trace.text(parent.unwrap_or(result.parent_thread_id)).to_owned());
        told.detail = Some(cut(message_body(&result.message)));
        told
    }

    fn observed(&self, scene: Scene<'_>, index: usize, payloads: &PayloadFiles) -> Option<Happening> {
        let trace = scene.trace;
        let observed = trace.protocol_events.get(index)?;
        let path = trace.text(trace.payloads[observed.payload].path);
        let said = protocol::read(trace.text(observed.event_type), path, payloads)?;
        let turn = said.turn_id.and_then(|id| trace.symbols.get(&id)).and_then(|id| self.turns.get(&id));
        let mut told = match turn {
            Some(turn) => scene.of_agent(said.event, Object::Turn(*turn), trace.turns[*turn].thread),
            None => scene.happening(said.event),
        };
        told.detail = said.detail;
        Some(told)
    }
}

/// The graph after an event.
#[derive(Debug, Clone, Copy)]
struct Scene<'t> {
    trace: &'t Trace,
    at: Option<Moment>,
}

impl Scene<'_> {
    fn happening(self, event: Event) -> Happening {
        Happening {
            seq: self.at.map(|at| at.seq),
            at_unix_ms: self.at.map(|at| at.unix_ms),
            elapsed_ms: self.at.map(|at| at.unix_ms.saturating_sub(self.trace.started_at_unix_ms)),
            ..Happening::new(event)
        }
    }

    fn of_agent(self, event: Event, object: Object, thread: ThreadIdx) -> Happening {
        let known = &self.trace.threads[thread];
        Happening {
            object: Some(name_of(self.trace, object)),
            thread_id: Some(self.trace.text(known.id).to_owned()),
            agent_path: Some(self.trace.text(known.agent_path).to_owned()),
            ..self.happening(event)
        }
    }
}

impl Happening {
    /// Sets the status and the duration of what has ended.
    fn over(mut self, window: &Window) -> Self {
        self.status = Some(status_name(window.status).to_owned());
        self.duration_ms = window.ended.map(|ended| ended.unix_ms.saturating_sub(window.started.unix_ms));
        self
    }
}

fn session_ended(scene: Scene<'_>) -> Happening {
    let status = match scene.trace.status {
        RolloutStatus::Running => "running",
        RolloutStatus::Completed => "completed",
        RolloutStatus::Failed => "failed",
        RolloutStatus::Aborted | RolloutStatus::Unknown => "aborted",
    };
    let told = scene.happening(Event::SessionEnded);
    Happening { status: Some(status.to_owned()), duration_ms: told.elapsed_ms, ..told }
}

/// Describes an edge between agents. A result is reported when the parent gets it, so its edge is no happening.
fn handed_over(scene: Scene<'_>, edge: EdgeIdx) -> Option<Happening> {
    let trace = scene.trace;
    let known = &trace.edges[edge];
    let event = match known.kind {
        EdgeKind::SpawnAgent => Event::Spawned,
        EdgeKind::AssignAgentTask => Event::TaskAssigned,
        EdgeKind::SendMessage => Event::MessageSent,
        EdgeKind::CloseAgent => Event::AgentClosed,
        EdgeKind::AgentResult => return None,
    };
    let thread_of = |anchor| match anchor {
        Anchor::Item(item) => trace.items[item].thread,
        Anchor::Tool(tool) => trace.tools[tool].thread,
        Anchor::Thread(thread) => thread,
    };
    let mut told = scene.of_agent(event, Object::Edge(edge), thread_of(known.source));
    let target = &trace.threads[thread_of(known.target)];
    told.to_agent_path = Some(trace.text(target.agent_path).to_owned());
    let shown = known.carried_items.first().and_then(|item| item_text(trace, *item));
    let arguments = match known.source {
        Anchor::Tool(tool) => tool_input(trace, tool),
        Anchor::Item(_) | Anchor::Thread(_) => None,
    };
    told.detail = shown.or(arguments);
    Some(told)
}

/// Describes damage, and what the recorder could not record. Notes about a log without an end are no happenings.
fn found(scene: Scene<'_>, diagnostic: &Diagnostic) -> Option<Happening> {
    let event = match diagnostic.code {
        Code::RecordingGap | Code::RecordingStopped => Event::RecordingGap,
        code if code.severity() >= Severity::Warning => Event::Damage,
        _ => return None,
    };
    let mut told = scene.happening(event);
    told.subject = Some(diagnostic.code.as_str().to_owned());
    told.detail = Some(cut(&diagnostic.message));
    Some(told)
}

/// Returns the beginning of a tool call's input, as far as the start of the call shows it.
fn tool_input(trace: &Trace, tool: ToolIdx) -> Option<String> {
    let call = &trace.tools[tool];
    if let Some(TerminalRequest::WriteStdin { stdin, .. }) =
        call.operation.map(|operation| &trace.operations[operation].request)
    {
        return Some(both_ends(stdin));
    }
    let input = match &call.summary {
        ToolSummary::Agent { target_agent_path, message_preview, .. } => {
            format!("{} {message_preview}", trace.text(*target_agent_path))
        }
        ToolSummary::WaitAgent { target_agent_path, .. } => trace.text((*target_agent_path)?).to_owned(),
        ToolSummary::Generic { input_preview, .. } => main_argument(input_preview.as_deref()?),
        ToolSummary::Terminal { .. } => return None,
    };
    Some(both_ends(&input)).filter(|input| !input.is_empty())
}

/// Returns the most telling argument of a call, or all arguments if they are incomplete or have no such member.
fn main_argument(arguments: &str) -> String {
    let value: Value = serde_json::from_str(arguments).unwrap_or(Value::Null);
    let main = ["cmd", "command", "message", "query", "path"].iter().find_map(|name| value.get(name));
    match main {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Array(words)) => command_line(words.iter().filter_map(Value::as_str)),
        _ => arguments.to_owned(),
    }
}

/// Returns the exit code of a command and the last line of its output.
fn outcome(trace: &Trace, operation: OperationIdx) -> (Option<i64>, Option<String>) {
    let Some(result) = &trace.operations[operation].result else { return (None, None) };
    let last_line = |text: &str| text.lines().map(str::trim).rfind(|line| !line.is_empty()).map(cut);
    (result.exit_code, last_line(&result.stderr).or_else(|| last_line(&result.stdout)))
}

/// Returns the beginning of the model's message, or the number of tools that it called.
fn said(trace: &Trace, items: &[ItemIdx]) -> Option<String> {
    let is_message = |item: &&ItemIdx| trace.items[**item].kind == ItemKind::Message;
    let message = items.iter().filter(is_message).find_map(|item| item_text(trace, *item));
    message.or_else(|| match items.iter().filter(|item| trace.items[**item].kind.is_call()).count() {
        0 => None,
        1 => Some("calls a tool".to_owned()),
        calls => Some(format!("calls {calls} tools")),
    })
}

fn item_text(trace: &Trace, item: ItemIdx) -> Option<String> {
    let texts = trace.items[item].parts.iter().filter_map(|part| match part {
        Part::Text(text) | Part::Summary(text) => Some(&**text),
        _ => None,
    });
    // Encrypted text is left out.
    texts.map(|text| cut(message_body(text))).find(|text| !text.is_empty())
}

/// Returns a message between agents without its header.
fn message_body(text: &str) -> &str {
    if !text.starts_with("Message Type:") {
        return text;
    }
    text.split_once("\nPayload:").map_or(text, |(_, body)| body)
}
