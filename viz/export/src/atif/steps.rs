//! The steps of agents: what they were told, and what they answered and did.

use std::collections::{HashMap, HashSet};

use serde_json::Value;
use serde_json::value::{RawValue, to_raw_value};
use trace_explain::clock::Clock;
use trace_explain::label::tool_name;
use trace_explain::outcome::{Outcome, exit_code};
use trace_explain::{Family, Session};
use trace_reducer::model::{
    ConversationItem, Handle, InferenceIdx, ItemIdx, ItemKind, Part, Producer, Role, ThreadIdx, ToolIdx, ToolKind,
    Trace, Usage,
};

use super::document::{
    Extra, Failure, Message, Metrics, MoreTokens, Observation, ObservationResult, OwnCall, OwnStep, Step, ToolCall,
    TrajectoryRef,
};

/// Makes the steps of a session.
pub(super) struct Steps<'s> {
    session: &'s Session,
    clock: Clock,
    /// What happens in each thread, in its order.
    threads: Vec<Vec<What>>,
    /// The calls of each request's step.
    calls: HashMap<InferenceIdx, Vec<ToolIdx>>,
    /// The children that each call spawned.
    children: HashMap<ToolIdx, Vec<ThreadIdx>>,
}

/// What a step is made of.
#[derive(Debug, Clone, Copy)]
enum What {
    /// A message to the agent, or one of another agent.
    Message(ItemIdx),
    /// A request and its answer.
    Request(InferenceIdx),
    /// A call that no answer shows.
    Call(ToolIdx),
}

impl<'s> Steps<'s> {
    pub(super) fn new(session: &'s Session, family: &Family) -> Self {
        let trace = session.trace();
        let (calls, mut alone) = calls(trace);
        let mut children: HashMap<ToolIdx, Vec<ThreadIdx>> = HashMap::new();
        for (child, birth) in family.births() {
            if let Some(tool) = birth.tool {
                children.entry(tool).or_default().push(child);
            }
        }
        alone.sort_by_key(|tool| trace.tools[*tool].execution.started);
        let mut keyed: Vec<Vec<(Place, What)>> = vec![Vec::new(); trace.threads.len()];
        for (index, call) in trace.inferences.iter() {
            keyed[call.thread.index()].push(((call.execution.started.seq, 1, 0), What::Request(index)));
        }
        for tool in alone {
            let call = &trace.tools[tool];
            keyed[call.thread.index()].push(((call.execution.started.seq, 2, 0), What::Call(tool)));
        }
        let shown = first_shown(trace);
        for (thread, list) in trace.threads.iter().map(|(index, thread)| (index, &thread.items)) {
            for item in list.iter().filter(|item| is_message(&trace.items[**item])) {
                let never = || (trace.items[*item].first_seen.seq, 0, 0);
                let place = shown.get(item).copied().unwrap_or_else(never);
                keyed[thread.index()].push((place, What::Message(*item)));
            }
        }
        let threads = keyed.into_iter().map(|mut list| {
            list.sort_by_key(|(place, _)| *place);
            list.into_iter().map(|(_, what)| what).collect()
        });
        Self { session, clock: Clock::new(trace), threads: threads.collect(), calls, children }
    }

    /// Returns the time of an event.
    pub(super) fn time(&self, seq: u64) -> String {
        let since = i64::try_from(self.clock.at(seq)).unwrap_or(i64::MAX);
        let ms = self.clock.started_at_unix_ms().saturating_add(since);
        // Only a clock that is wrong by millennia has no such time.
        let time = jiff::Timestamp::from_millisecond(ms).unwrap_or(jiff::Timestamp::UNIX_EPOCH);
        format!("{time:.3}")
    }

    /// Makes the steps of a thread one by one.
    pub(super) fn of(&self, thread: ThreadIdx) -> impl Iterator<Item = Step<'_>> {
        let list = &self.threads[thread.index()];
        let empty = list.is_empty().then(|| self.nothing(thread));
        let list = list.iter().enumerate().map(|(number, what)| match *what {
            What::Message(item) => self.message(number + 1, item),
            What::Request(call) => self.request(number + 1, call),
            What::Call(tool) => self.call_alone(number + 1, tool),
        });
        empty.into_iter().chain(list)
    }

    /// Returns the step of a thread without steps, because a trajectory must have one.
    fn nothing(&self, thread: ThreadIdx) -> Step<'_> {
        Step {
            step_id: 1,
            timestamp: self.time(self.trace().threads[thread].execution.started.seq),
            source: "system",
            model_name: None,
            message: Message::Text(String::new()),
            reasoning_content: None,
            tool_calls: Vec::new(),
            observation: None,
            metrics: None,
            llm_call_count: None,
            is_copied_context: false,
            extra: Extra { rollout: OwnStep { is_empty: true, ..OwnStep::default() } },
        }
    }

    fn trace(&self) -> &'s Trace {
        self.session.trace()
    }

    fn message(&self, step_id: usize, item: ItemIdx) -> Step<'_> {
        let trace = self.trace();
        let item = &trace.items[item];
        let at = item.accepted.unwrap_or(item.first_seen);
        let author = item.agent_message.map(|(author, _)| trace.text(author));
        let source = match item.role {
            Role::System | Role::Developer => "system",
            Role::Assistant if author.is_none() => "agent",
            Role::User | Role::Tool | Role::Assistant => "user",
        };
        let turn = item.codex_turn_id.map(|turn| trace.text(turn));
        let is_copy = source == "agent";
        let role = match item.role {
            Role::Developer => Some("developer"),
            Role::Assistant if !is_copy => Some("assistant"),
            _ => None,
        };
        Step {
            step_id,
            timestamp: self.time(at.seq),
            source,
            model_name: None,
            message: Message::of(texts(item)),
            reasoning_content: None,
            tool_calls: Vec::new(),
            observation: None,
            metrics: None,
            llm_call_count: is_copy.then_some(0),
            // Nobody was asked for it in this session: it was inherited.
            is_copied_context: is_copy,
            extra: Extra { rollout: OwnStep { turn_id: turn, author, role, ..OwnStep::default() } },
        }
    }

    fn request(&self, step_id: usize, index: InferenceIdx) -> Step<'_> {
        let trace = self.trace();
        let call = &trace.inferences[index];
        let window = &call.execution;
        let items = call.response_items.iter().map(|item| &trace.items[*item]);
        let of_kind =
            |kind: ItemKind| items.clone().filter(|item| item.kind == kind).flat_map(texts).collect::<Vec<_>>();
        let thought = of_kind(ItemKind::Reasoning).join("\n");
        let tools = self.calls.get(&index).map_or(&[][..], Vec::as_slice);
        let maybe = |symbol: Option<_>| symbol.map(|symbol| trace.text(symbol));
        let own = OwnStep {
            turn_id: Some(trace.text(trace.turns[call.turn].id)),
            inference_call_id: Some(trace.text(call.id)),
            response_id: maybe(call.response_id),
            upstream_request_id: maybe(call.upstream_request_id),
            provider: Some(trace.text(call.provider_name)),
            status: Some(window.status.as_str()),
            error: call.error.as_deref(),
            started_at: Some(self.time(window.started.seq)),
            ended_at: window.ended.map(|ended| self.time(ended.seq)),
            ..OwnStep::default()
        };
        Step {
            step_id,
            timestamp: self.time(window.ended.unwrap_or(window.started).seq),
            source: "agent",
            model_name: Some(trace.text(call.model)),
            message: Message::of(of_kind(ItemKind::Message)),
            reasoning_content: (!thought.is_empty()).then_some(thought),
            tool_calls: tools.iter().map(|tool| self.tool_call(*tool)).collect(),
            observation: self.observation(tools),
            metrics: call.usage.as_ref().map(metrics),
            llm_call_count: Some(1),
            is_copied_context: false,
            extra: Extra { rollout: own },
        }
    }

    fn call_alone(&self, step_id: usize, tool: ToolIdx) -> Step<'_> {
        let trace = self.trace();
        let call = &trace.tools[tool];
        let turn_id = call.turn.map(|turn| trace.text(trace.turns[turn].id));
        Step {
            step_id,
            timestamp: self.time(call.execution.started.seq),
            source: "agent",
            model_name: None,
            message: Message::Text(String::new()),
            reasoning_content: None,
            tool_calls: vec![self.tool_call(tool)],
            observation: self.observation(&[tool]),
            metrics: None,
            llm_call_count: Some(0),
            is_copied_context: false,
            extra: Extra { rollout: OwnStep { turn_id, ..OwnStep::default() } },
        }
    }

    fn tool_call(&self, tool: ToolIdx) -> ToolCall<'_> {
        let trace = self.trace();
        let call = &trace.tools[tool];
        let name = tool_name(trace, call);
        let own_name = match call.kind {
            ToolKind::Other { name } => Some(trace.text(name)),
            _ => None,
        };
        ToolCall {
            tool_call_id: call_id(trace, tool),
            arguments: self.arguments(tool),
            extra: Extra {
                rollout: OwnCall {
                    kind: call.kind.as_str(),
                    tool: own_name.filter(|own| *own != name),
                    is_nested: call.model_visible_call_id.is_none(),
                    exit_code: exit_code(trace, call),
                    status: call.execution.status.as_str(),
                    started_at: self.time(call.execution.started.seq),
                    ended_at: call.execution.ended.map(|ended| self.time(ended.seq)),
                },
            },
            function_name: name,
        }
    }

    /// Returns the arguments of a call as an object. The graph keeps only their beginning, so the payload is read.
    fn arguments(&self, tool: ToolIdx) -> Box<RawValue> {
        let payload = self.trace().tools[tool].invocation_payload_id.and_then(|id| self.session.payload(id).ok());
        let payload = payload.as_ref().and_then(|payload| payload.get("payload"));
        let given = payload.and_then(|payload| payload.get("arguments").or_else(|| payload.get("input")));
        let object = match given {
            Some(Value::String(text)) => match serde_json::from_str::<Box<RawValue>>(text) {
                Ok(object) if object.get().starts_with('{') => Some(object),
                _ => to_raw_value(&HashMap::from([("input", text)])).ok(),
            },
            Some(Value::Object(object)) => to_raw_value(object).ok(),
            Some(other) => to_raw_value(&HashMap::from([("input", other)])).ok(),
            None => None,
        };
        object.unwrap_or_else(|| RawValue::from_string("{}".to_owned()).expect("it is JSON"))
    }

    fn observation(&self, tools: &[ToolIdx]) -> Option<Observation<'_>> {
        let results: Vec<_> = tools.iter().filter_map(|tool| self.result(*tool)).collect();
        (!results.is_empty()).then_some(Observation { results })
    }

    fn result(&self, tool: ToolIdx) -> Option<ObservationResult<'_>> {
        let trace = self.trace();
        let call = &trace.tools[tool];
        let content = call.output_items.first().map(|item| Message::of(texts(&trace.items[*item])));
        let children = self.children.get(&tool).map_or(&[][..], Vec::as_slice);
        if content.is_none() && children.is_empty() {
            return None;
        }
        let child = |child: &ThreadIdx| TrajectoryRef { trajectory_id: trace.text(trace.threads[*child].id) };
        let is_error = Outcome::of_tool(trace, call) == Outcome::Failed;
        Some(ObservationResult {
            source_call_id: call_id(trace, tool),
            content,
            subagent_trajectory_ref: children.iter().map(child).collect(),
            extra: is_error.then_some(Failure { is_error }),
        })
    }
}

/// The place of a step in its thread: an event, what comes first at the same event, and the place in a request.
type Place = (u64, u8, usize);

/// Returns where items were first shown to a model. In a trajectory, messages must be in the order in which a model saw them, which is not
/// always that in which they were recorded.
fn first_shown(trace: &Trace) -> HashMap<ItemIdx, Place> {
    let mut requests: Vec<_> = trace.inferences.values().collect();
    requests.sort_by_key(|call| call.execution.started.seq);
    let mut shown = HashMap::new();
    let mut told: HashMap<u32, usize> = HashMap::new();
    for call in requests {
        // Requests that repeat each other share a line of items, so only what is new on it is looked at.
        let Some((line, length)) = call.request_items.on_line() else { continue };
        let same = told.insert(line, length as usize).unwrap_or(0);
        for (position, item) in trace.lists.get(call.request_items).iter().enumerate().skip(same) {
            shown.entry(*item).or_insert((call.execution.started.seq, 0, position));
        }
    }
    shown
}

/// Returns the calls of each request, and those that belong to none.
fn calls(trace: &Trace) -> (HashMap<InferenceIdx, Vec<ToolIdx>>, Vec<ToolIdx>) {
    let mut calls: HashMap<InferenceIdx, Vec<ToolIdx>> = HashMap::new();
    let mut placed = HashSet::new();
    for (index, call) in trace.inferences.iter() {
        for tool in &call.tools_started {
            if trace.tools[*tool].thread == call.thread && placed.insert(*tool) {
                calls.entry(index).or_default().push(*tool);
            }
        }
    }
    // A call whose item is missing follows the last request of its thread before it.
    let mut requests: Vec<Vec<(u64, InferenceIdx)>> = vec![Vec::new(); trace.threads.len()];
    for (index, call) in trace.inferences.iter() {
        requests[call.thread.index()].push((call.execution.started.seq, index));
    }
    requests.iter_mut().for_each(|list| list.sort_unstable_by_key(|(seq, _)| *seq));
    let mut alone = Vec::new();
    for (tool, call) in trace.tools.iter().filter(|(tool, _)| !placed.contains(tool)) {
        let list = &requests[call.thread.index()];
        let before = list.partition_point(|(seq, _)| *seq < call.execution.started.seq);
        let last = before.checked_sub(1).map(|last| list[last].1);
        match last.filter(|last| Some(trace.inferences[*last].turn) == call.turn) {
            Some(last) => calls.entry(last).or_default().push(tool),
            None => alone.push(tool),
        }
    }
    for list in calls.values_mut() {
        list.sort_by_key(|tool| trace.tools[*tool].execution.started);
    }
    (calls, alone)
}

/// Returns the id by which steps know a call.
fn call_id(trace: &Trace, tool: ToolIdx) -> &str {
    let call = &trace.tools[tool];
    trace.text(call.model_visible_call_id.unwrap_or(call.id))
}

/// Returns whether an item is a message that no answer of this thread contains.
fn is_message(item: &ConversationItem) -> bool {
    let is_answer = item.produced_by.iter().any(|producer| matches!(producer, Producer::Inference(_)));
    item.kind == ItemKind::Message && !is_answer
}

/// Returns the texts of an item. What only the provider reads is left out, and other parts are named.
fn texts(item: &ConversationItem) -> Vec<String> {
    let text = |part: &Part| match part {
        Part::Text(text) | Part::Summary(text) | Part::Json { summary: text } => Some(text.to_string()),
        Part::Code { source, .. } => Some(source.to_string()),
        Part::PayloadRef { label, .. } => Some(format!("[{label}]")),
        Part::Encoded { .. } => None,
    };
    item.parts.iter().filter_map(text).filter(|text| !text.is_empty()).collect()
}

fn metrics(usage: &Usage) -> Metrics {
    Metrics {
        prompt_tokens: usage.input_tokens,
        completion_tokens: usage.output_tokens,
        cached_tokens: usage.cached_input_tokens,
        extra: MoreTokens {
            reasoning_tokens: usage.reasoning_output_tokens,
            cache_creation_input_tokens: usage.cache_write_input_tokens,
        },
    }
}
