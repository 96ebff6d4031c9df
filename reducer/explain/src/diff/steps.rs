//! The steps of a session that a comparison works on.
//!
//! A step has an *identity*, by which the steps of two sessions are aligned, and *aspects*, in which corresponding
//! steps may differ:
//!
//! | step | identity | aspects |
//! |---|---|---|
//! | a message that the agent got from its user, its system or another agent | kind of the sender | text |
//! | a request to a model | the same for all | model, status, error, what the model wrote: messages and calls with tool names |
//! | a tool call | name of the tool and arguments | status, exit code, output |
//! | a compaction request | the same for all | model, status, error |
//!
//! Reasoning is left out, because it is encrypted or differs in each run. Tokens and times are left out too; the answer
//! lists them side by side.

use std::collections::HashMap;
use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};

use serde_json::Value;
use trace_reducer::model::{
    ConversationItem, Handle, ItemIdx, ItemKind, Part, Producer, Role, Symbol, TerminalRequest, ToolCall, ToolIdx,
    TurnIdx, Window,
};

use super::aspect::Aspect;
use super::normalise::Normaliser;
use crate::label::tool_name;
use crate::object::Object;
use crate::outcome::{Outcome, exit_code};
use crate::result::error_text;
use crate::session::Session;

/// Size in bytes from which a JSON part of the graph may be cut. The payload has the rest.
const CUT_JSON_BYTES: usize = 240;

/// One step of a session.
#[derive(Debug, Clone)]
pub(super) struct Step {
    pub(super) object: Object,
    /// Sequence number of the event that started the step.
    pub(super) seq: u64,
    /// Sequence number of the event that ended the step; `None` if it did not end.
    pub(super) ended_seq: Option<u64>,
    /// Hash of what is equal in corresponding steps.
    pub(super) identity: u64,
    /// Hash of the kind. Steps of the same kind may be paired although their identities differ.
    pub(super) kind: u64,
    /// Hashes of the aspects that may differ.
    pub(super) aspects: Vec<(Aspect, u64)>,
}

/// Finds the steps of a session and their texts.
pub(super) struct Steps<'s> {
    session: &'s Session,
    normaliser: Normaliser,
    /// The tool calls that items make.
    calls: HashMap<ItemIdx, ToolIdx>,
}

impl<'s> Steps<'s> {
    pub(super) fn new(session: &'s Session) -> Self {
        let trace = session.trace();
        let told = trace.items.values().filter(|item| item.role == Role::User).find_map(working_directory);
        let directory = told.or_else(|| {
            trace.operations.values().find_map(|operation| match &operation.request {
                TerminalRequest::ExecCommand { cwd, .. } => Some(&**cwd),
                TerminalRequest::WriteStdin { .. } => None,
            })
        });
        let tools = trace.tools.iter();
        let calls = tools.flat_map(|(tool, call)| call.call_items.iter().map(move |item| (*item, tool))).collect();
        Self { session, normaliser: Normaliser::new(directory), calls }
    }

    /// Returns the steps of each turn, in the order in which they began.
    pub(super) fn by_turn(&self) -> Vec<Vec<Step>> {
        let trace = self.session.trace();
        let mut steps: Vec<Vec<Step>> = vec![Vec::new(); trace.turns.len()];
        let turns: HashMap<Symbol, TurnIdx> = trace.turns.iter().map(|(index, turn)| (turn.id, index)).collect();
        for (index, item) in trace.items.iter() {
            let turn = item.codex_turn_id.and_then(|id| turns.get(&id)).filter(|_| is_input(item));
            if let Some(turn) = turn {
                steps[turn.index()].push(self.input(index, item));
            }
        }
        for (index, call) in trace.inferences.iter() {
            let mut step = self.step(Object::Inference(index), &call.execution, "model");
            self.aspect(&mut step, Aspect::Model);
            self.aspect(&mut step, Aspect::Status);
            self.aspect(&mut step, Aspect::Error);
            self.aspect(&mut step, Aspect::Said);
            steps[call.turn.index()].push(step);
        }
        for (index, request) in trace.compaction_requests.iter() {
            let mut step = self.step(Object::CompactionRequest(index), &request.execution, "compaction");
            self.aspect(&mut step, Aspect::Model);
            self.aspect(&mut step, Aspect::Status);
            self.aspect(&mut step, Aspect::Error);
            steps[request.turn.index()].push(step);
        }
        for (index, call) in trace.tools.iter() {
            let Some(turn) = call.turn else { continue };
            let name = tool_name(trace, call);
            let mut step = self.step(Object::Tool(index), &call.execution, &name);
            step.ended_seq = step.ended_seq.or_else(|| Some(call.runtime?.ended?.seq));
            step.identity = hash(&(&name, self.text(step.object, Aspect::Arguments)));
            self.aspect(&mut step, Aspect::Status);
            self.aspect(&mut step, Aspect::ExitCode);
            self.aspect(&mut step, Aspect::Output);
            steps[turn.index()].push(step);
        }
        steps.iter_mut().for_each(|steps| steps.sort_by_key(|step| step.seq));
        steps
    }

    /// Returns a hash of the inputs that an agent gets in a turn.
    pub(super) fn told(&self, steps: &[Step]) -> u64 {
        let items = &self.session.trace().items;
        let is_told = |step: &&Step| match step.object {
            Object::Item(item) => !matches!(items[item].role, Role::Developer | Role::System),
            _ => false,
        };
        hash(&steps.iter().filter(is_told).map(|step| &step.aspects).collect::<Vec<_>>())
    }

    fn step(&self, object: Object, window: &Window, kind: &str) -> Step {
        let kind = hash(&(object.type_name(), kind));
        let ended_seq = window.ended.map(|ended| ended.seq);
        Step { object, seq: window.started.seq, ended_seq, identity: kind, kind, aspects: Vec::new() }
    }

    fn input(&self, index: ItemIdx, item: &ConversationItem) -> Step {
        let kind = if item.agent_message.is_some() { "agent" } else { item.role.as_str() };
        let kind = hash(&(Object::Item(index).type_name(), kind));
        let seq = item.first_seen.seq;
        let object = Object::Item(index);
        let mut step = Step { object, seq, ended_seq: Some(seq), identity: kind, kind, aspects: Vec::new() };
        self.aspect(&mut step, Aspect::Text);
        step
    }

    fn aspect(&self, step: &mut Step, aspect: Aspect) {
        step.aspects.push((aspect, hash(&self.text(step.object, aspect))));
    }

    /// Returns the text of an aspect, without what differs between runs.
    pub(super) fn text(&self, object: Object, aspect: Aspect) -> String {
        let trace = self.session.trace();
        let normal = |text: &str| self.normaliser.apply(text).into_owned();
        match (object, aspect) {
            (Object::Item(item), Aspect::Text) => normal(&texts(&trace.items[item])),
            (Object::Inference(inference), Aspect::Model) => trace.text(trace.inferences[inference].model).to_owned(),
            (Object::Inference(inference), Aspect::Status) => {
                Outcome::of_window(&trace.inferences[inference].execution).as_str().to_owned()
            }
            (Object::Inference(inference), Aspect::Error) => {
                normal(trace.inferences[inference].error.as_deref().unwrap_or_default())
            }
            (Object::Inference(inference), Aspect::Said) => {
                let items = trace.inferences[inference].response_items.iter();
                let said = items.filter(|item| trace.items[**item].kind != ItemKind::Reasoning);
                let said: Vec<String> = said.map(|item| self.said(*item)).collect();
                normal(&said.join("\n"))
            }
            (Object::CompactionRequest(request), Aspect::Model) => {
                trace.text(trace.compaction_requests[request].model).to_owned()
            }
            (Object::CompactionRequest(request), Aspect::Status) => {
                Outcome::of_window(&trace.compaction_requests[request].execution).as_str().to_owned()
            }
            (Object::CompactionRequest(request), Aspect::Error) => {
                normal(trace.compaction_requests[request].error.as_deref().unwrap_or_default())
            }
            (Object::Tool(tool), Aspect::Tool) => tool_name(trace, &trace.tools[tool]),
            (Object::Tool(tool), Aspect::Arguments) => normal(&self.arguments(&trace.tools[tool])),
            (Object::Tool(tool), Aspect::Status) => Outcome::of_tool(trace, &trace.tools[tool]).as_str().to_owned(),
            (Object::Tool(tool), Aspect::ExitCode) => {
                exit_code(trace, &trace.tools[tool]).map_or_else(String::new, |code| code.to_string())
            }
            (Object::Tool(tool), Aspect::Output) => normal(&self.output(&trace.tools[tool])),
            (Object::Turn(turn), Aspect::Status) => {
                Outcome::of_window(&trace.turns[turn].execution).as_str().to_owned()
            }
            _ => String::new(),
        }
    }

    /// Returns what a model wrote in an item; for a call, the tool and its arguments.
    fn said(&self, index: ItemIdx) -> String {
        let trace = self.session.trace();
        let item = &trace.items[index];
        let call = self.calls.get(&index).map(|tool| &trace.tools[*tool]);
        match call.filter(|call| call.thread == item.thread) {
            Some(call) => format!("{} {}", tool_name(trace, call), texts(item)),
            None => texts(item),
        }
    }

    /// Returns the arguments of a call: those that the model wrote, or else those that the runtime got.
    fn arguments(&self, call: &ToolCall) -> String {
        let trace = self.session.trace();
        // If two threads use the same call id, the call is linked with items of both.
        let item = call.call_items.iter().map(|item| &trace.items[*item]).find(|item| item.thread == call.thread);
        if let Some(item) = item.filter(|item| !is_cut(item)) {
            return texts(item);
        }
        if let Some(arguments) = call.invocation_payload_id.and_then(|id| self.invocation(id)) {
            return arguments;
        }
        match (item, call.operation.map(|operation| &trace.operations[operation].request)) {
            (Some(item), _) => texts(item),
            (None, Some(TerminalRequest::ExecCommand { command, .. })) => command.join(" "),
            (None, Some(TerminalRequest::WriteStdin { stdin, .. })) => stdin.to_string(),
            (None, None) => crate::label::tool_subject(trace, call).unwrap_or_default(),
        }
    }

    /// Returns the arguments in an invocation payload.
    fn invocation(&self, id: Symbol) -> Option<String> {
        let mut payload = self.session.payload(id).ok()?;
        let payload = payload.get_mut("payload")?.take();
        match payload.get("arguments").or_else(|| payload.get("input")) {
            Some(Value::String(text)) => {
                // Compact like in the conversation, without the model's white space.
                let value: Option<Value> = serde_json::from_str(text).ok();
                Some(value.map_or_else(|| text.clone(), |value| value.to_string()))
            }
            Some(value) => Some(value.to_string()),
            None => Some(payload.to_string()),
        }
    }

    /// Returns the text in a result payload: the same text that an item of a later request shows.
    fn result(&self, id: Symbol) -> Option<String> {
        let payload = self.session.payload(id).ok()?;
        let text = error_text(&payload);
        Some(if text.is_empty() && payload.get("response_item").is_none() { payload.to_string() } else { text })
    }

    fn output(&self, call: &ToolCall) -> String {
        let trace = self.session.trace();
        let result = call.operation.and_then(|operation| trace.operations[operation].result.as_ref());
        if let Some(result) = result {
            return format!("{}{}", result.stdout, result.stderr);
        }
        let items = call.output_items.iter().map(|item| &trace.items[*item]);
        let items: Vec<&ConversationItem> = items.filter(|item| item.thread == call.thread).collect();
        if (items.is_empty() || items.iter().any(|item| is_cut(item)))
            && let Some(output) = call.result_payload_id.and_then(|id| self.result(id))
        {
            return output;
        }
        items.into_iter().map(texts).collect::<Vec<_>>().join("\n")
    }
}

/// Returns the working directory that the first messages tell the agent.
fn working_directory(item: &ConversationItem) -> Option<&str> {
    item.parts.iter().find_map(|part| match part {
        Part::Text(text) => {
            let (_, rest) = text.split_once("<cwd>")?;
            let (directory, _) = rest.split_once("</cwd>")?;
            (directory.starts_with('/') && !directory.contains('\n')).then_some(directory)
        }
        _ => None,
    })
}

/// Returns whether an item is an input from outside: not from the agent's model, its tools or a compaction.
fn is_input(item: &ConversationItem) -> bool {
    let is_outside = matches!(item.role, Role::User | Role::Developer | Role::System) || item.agent_message.is_some();
    let is_own = |producer: &Producer| matches!(producer, Producer::Inference(_) | Producer::Compaction(_));
    item.kind == ItemKind::Message && is_outside && !item.produced_by.iter().any(is_own)
}

/// Returns whether a payload has more of an item than the graph.
fn is_cut(item: &ConversationItem) -> bool {
    item.parts.iter().any(|part| match part {
        Part::Json { summary } => summary.len() >= CUT_JSON_BYTES,
        Part::PayloadRef { .. } => true,
        Part::Text(_) | Part::Summary(_) | Part::Encoded { .. } | Part::Code { .. } => false,
    })
}

/// Returns the readable text of an item.
fn texts(item: &ConversationItem) -> String {
    let mut text = String::new();
    for part in item.parts.iter() {
        if !text.is_empty() {
            text.push('\n');
        }
        match part {
            Part::Text(part) | Part::Summary(part) => text.push_str(part),
            Part::Json { summary } => text.push_str(summary),
            Part::Code { source, .. } => text.push_str(source),
            Part::Encoded { label, .. } => text.push_str(label),
            Part::PayloadRef { label, content_sha256 } => {
                text.push_str(label);
                text.push_str(content_sha256.as_deref().unwrap_or_default());
            }
        }
    }
    text
}

fn hash<T: Hash + ?Sized>(value: &T) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}
