//! The spans of a session.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use opentelemetry::trace::{Event, Link, SpanContext, SpanId, SpanKind, Status};
use opentelemetry::{InstrumentationScope, KeyValue};
use opentelemetry_sdk::trace::{SpanData, SpanEvents, SpanLinks};
use trace_explain::clock::Clock;
use trace_explain::label::{status_name, tool_name};
use trace_explain::object::name_of;
use trace_explain::outcome::{Outcome, exit_code};
use trace_explain::{Family, Session};
use trace_reducer::model::{
    Anchor, EdgeKind, Handle, Object, Origin, RolloutStatus, ThreadIdx, ToolKind, Trace, TurnIdx, Usage,
};

use super::content::{Content, Contents};
use super::ids::Ids;
use super::names;
use crate::hand_overs::HandOvers;
use crate::scene::{
    Insides, Mark, MarkKind, Piece, Slots, What, evidence_of, in_order, marks_of, parent, session_status, slices,
};
use crate::text;

/// The last moment that fits into the signed times of backends, in nanoseconds since the Unix epoch.
const MAX_NANOSECONDS: u64 = 1 << 62;

/// Makes the spans of a session one by one, ordered by their starts.
pub(super) struct Spans<'s> {
    session: &'s Session,
    clock: Clock,
    family: Family,
    slots: Slots,
    slices: Vec<Piece>,
    inside: Insides,
    order: std::vec::IntoIter<usize>,
    marks: Vec<Mark>,
    /// Marks with the slices whose span events they are, as (slice, mark), sorted by slice.
    events: Vec<(usize, usize)>,
    /// Hand-overs, as (receiving slice, sending slice, kind), sorted by the receiving slice.
    links: Vec<(usize, usize, EdgeKind)>,
    /// For each thread, the seq of the first compaction of its history.
    compacted: Vec<u64>,
    ids: Ids,
    scope: InstrumentationScope,
    contents: Option<Contents<'s>>,
}

impl<'s> Spans<'s> {
    pub(super) fn new(session: &'s Session, content: Content) -> Self {
        let trace = session.trace();
        let clock = Clock::new(trace);
        let family = Family::new(trace);
        let slots = Slots::new(trace);
        let slices = slices(trace, &clock, &slots);
        let order = in_order(&slices).into_iter();
        let marks = marks_of(session);
        let place = |thread, seq| turn_at(trace, &family, thread, seq).map_or(Object::Thread(thread), Object::Turn);
        let of_mark = |mark: &Mark| match (&mark.kind, mark.thread) {
            (MarkKind::Undelivered(lost), _) => match lost.source {
                Anchor::Tool(tool) => slots.of(Object::Tool(tool)),
                Anchor::Item(item) => slots.of(place(trace.items[item].thread, mark.seq)),
                Anchor::Thread(thread) => slots.of(place(thread, mark.seq)),
            },
            (MarkKind::Resumed, Some(thread)) => slots.of(Object::Thread(thread)),
            (_, Some(thread)) => slots.of(place(thread, mark.seq)),
            (_, None) => 0,
        };
        let mut events: Vec<_> = marks.iter().enumerate().map(|(index, mark)| (of_mark(mark), index)).collect();
        events.sort_by_key(|(slot, mark)| (*slot, marks[*mark].seq));
        let links = links(trace, &family, &slots, place);
        let mut compacted = vec![u64::MAX; trace.threads.len()];
        for compaction in trace.compactions.values() {
            let first = &mut compacted[compaction.thread.index()];
            *first = (*first).min(compaction.installed.seq);
        }
        let scope = InstrumentationScope::builder(env!("CARGO_PKG_NAME")).with_version(env!("CARGO_PKG_VERSION"));
        Self {
            session,
            slots,
            slices,
            inside: Insides::new(trace),
            order,
            marks,
            events,
            links,
            compacted,
            ids: Ids::new(trace),
            scope: scope.build(),
            contents: (content == Content::Included).then(|| Contents::new(trace)),
            clock,
            family,
        }
    }

    fn trace(&self) -> &'s Trace {
        self.session.trace()
    }

    fn span(&self, slot: usize) -> SpanData {
        let piece = &self.slices[slot];
        let mut about = match piece.what {
            What::Object(object) => self.about(object, piece),
            _ => self.about_session(),
        };
        if let What::Object(object) = piece.what {
            about.text(names::OBJECT, &name_of(self.trace(), object).to_string());
        }
        SpanData {
            span_context: self.context(slot),
            parent_span_id: self.parent(slot).map_or(SpanId::INVALID, |parent| self.context(parent).span_id()),
            parent_span_is_remote: false,
            span_kind: about.kind,
            name: text::name(&about.name).into(),
            start_time: self.time(piece.start),
            end_time: self.time(piece.end),
            attributes: about.attributes,
            dropped_attributes_count: 0,
            events: self.events_of(slot),
            links: self.links_of(slot),
            status: about.status,
            instrumentation_scope: self.scope.clone(),
        }
    }

    fn context(&self, slot: usize) -> SpanContext {
        match self.slices[slot].what {
            What::Object(object) => self.ids.of(self.trace(), object),
            _ => self.ids.session(),
        }
    }

    /// Returns the slice whose span is the parent. For an agent it is the call that spawned it.
    fn parent(&self, slot: usize) -> Option<usize> {
        let What::Object(object) = self.slices[slot].what else { return None };
        let Object::Thread(thread) = object else {
            return parent(self.trace(), &self.slots, &self.inside, &self.slices[slot]);
        };
        let Some(birth) = self.family.birth(thread) else { return Some(0) };
        let tool = birth.tool.map(Object::Tool);
        let by = tool.or(birth.turn.map(Object::Turn)).unwrap_or(Object::Thread(birth.parent));
        Some(self.slots.of(by))
    }

    fn time(&self, seq: u64) -> SystemTime {
        let started = u64::try_from(self.clock.started_at_unix_ms()).unwrap_or(0);
        let nanoseconds = started.saturating_add(self.clock.at(seq)).saturating_mul(1_000_000);
        UNIX_EPOCH + Duration::from_nanos(nanoseconds.min(MAX_NANOSECONDS))
    }

    fn about_session(&self) -> About {
        let trace = self.trace();
        let mut about = About::new("session".to_owned());
        about.text(names::SESSION_ID, trace.text(trace.rollout_id));
        about.text(names::TRACE_ID, trace.text(trace.trace_id));
        about.number(names::SCHEMA_VERSION, trace.schema_version.0.into());
        about.text(names::STATUS, session_status(trace.status));
        if trace.ended.is_none() {
            about.attributes.push(KeyValue::new(names::END_IS_ASSUMED, true));
        }
        if trace.status == RolloutStatus::Failed {
            about.failed(names::ERROR_SESSION, None);
        }
        about
    }

    fn about(&self, object: Object, piece: &Piece) -> About {
        let trace = self.trace();
        match object {
            Object::Thread(thread) => self.about_thread(thread),
            Object::Turn(turn) => {
                let turn = &trace.turns[turn];
                let thread = &trace.threads[turn.thread];
                let path = trace.text(thread.agent_path);
                let mut about = About::new(with(names::OPERATION_INVOKE_AGENT, path));
                about.text(names::OPERATION_NAME, names::OPERATION_INVOKE_AGENT);
                self.push_agent(turn.thread, &mut about);
                about.maybe(names::REQUEST_MODEL, thread.default_model.map(|model| trace.text(model)));
                about.outcome(Outcome::of_window(&turn.execution), names::ERROR_TURN, None);
                about
            }
            Object::Inference(inference) => {
                let call = &trace.inferences[inference];
                let mut about = chat(trace.text(call.model), trace.text(call.provider_name));
                self.push_agent(call.thread, &mut about);
                about.maybe(names::RESPONSE_ID, call.response_id.map(|id| trace.text(id)));
                about.maybe(names::UPSTREAM_REQUEST_ID, call.upstream_request_id.map(|id| trace.text(id)));
                if self.compacted[call.thread.index()] < piece.start {
                    about.attributes.push(KeyValue::new(names::CONVERSATION_COMPACTED, true));
                }
                if let Some(usage) = &call.usage {
                    about.usage(usage);
                }
                let outcome = Outcome::of_window(&call.execution);
                about.outcome(outcome, names::ERROR_REQUEST, call.error.as_deref());
                if let Some(contents) = &self.contents {
                    about.content(names::INPUT_MESSAGES, contents.input(call));
                    about.content(names::OUTPUT_MESSAGES, contents.output(call));
                }
                about
            }
            Object::CompactionRequest(request) => {
                let request = &trace.compaction_requests[request];
                let mut about = chat(trace.text(request.model), trace.text(request.provider_name));
                self.push_agent(request.thread, &mut about);
                about.text(names::COMPACTION_ID, trace.text(request.compaction_id));
                let outcome = Outcome::of_window(&request.execution);
                about.outcome(outcome, names::ERROR_REQUEST, request.error.as_deref());
                about
            }
            Object::Tool(tool) => {
                let call = &trace.tools[tool];
                let name = tool_name(trace, call);
                let mut about = About::new(with(names::OPERATION_EXECUTE_TOOL, &name));
                about.text(names::OPERATION_NAME, names::OPERATION_EXECUTE_TOOL);
                about.text(names::TOOL_NAME, &name);
                let is_hosted = matches!(call.kind, ToolKind::Web | ToolKind::ImageGeneration);
                let kind = if is_hosted { names::TOOL_TYPE_EXTENSION } else { names::TOOL_TYPE_FUNCTION };
                about.text(names::TOOL_TYPE, kind);
                about.maybe(names::TOOL_CALL_ID, call.model_visible_call_id.map(|id| trace.text(id)));
                about.text(names::TOOL_KIND, call.kind.as_str());
                if let ToolKind::Other { name: own } = call.kind
                    && trace.text(own) != name
                {
                    about.text(names::TOOL_OWN_NAME, trace.text(own));
                }
                self.push_agent(call.thread, &mut about);
                let code = exit_code(trace, call);
                if let Some(code) = code {
                    about.number(names::PROCESS_EXIT_CODE, code);
                }
                let error = if code.is_some_and(|code| code != 0) { names::ERROR_EXIT } else { names::ERROR_TOOL };
                about.outcome(Outcome::of_tool(trace, call), error, None);
                if let Some(contents) = &self.contents {
                    about.content(names::TOOL_CALL_ARGUMENTS, contents.arguments(call));
                    about.content(names::TOOL_CALL_RESULT, contents.result(call));
                }
                about
            }
            Object::Cell(cell) => {
                let cell = &trace.cells[cell];
                let mut about = About::new("code cell".to_owned());
                self.push_agent(cell.thread, &mut about);
                about.outcome(Outcome::of_window(&cell.execution), names::ERROR_CODE, None);
                about
            }
            _ => About::new(object.type_name().to_owned()),
        }
    }

    fn about_thread(&self, index: ThreadIdx) -> About {
        let trace = self.trace();
        let thread = &trace.threads[index];
        let mut about = About::new(with("agent", trace.text(thread.agent_path)));
        self.push_agent(index, &mut about);
        about.maybe(names::NICKNAME, thread.nickname.map(|name| trace.text(name)));
        if let Origin::Spawned { task_name, agent_role, .. } = &thread.origin {
            about.text(names::TASK, trace.text(*task_name));
            about.text(names::ROLE, trace.text(*agent_role));
        }
        about.text(names::STATUS, status_name(thread.execution.status));
        about.outcome(Outcome::of_window(&thread.execution), names::ERROR_AGENT, None);
        about
    }

    /// Adds the attributes of an agent. A conversation in the sense of the conventions is a thread here, since each
    /// thread has its own history.
    fn push_agent(&self, thread: ThreadIdx, about: &mut About) {
        let trace = self.trace();
        let thread = &trace.threads[thread];
        about.text(names::AGENT_NAME, trace.text(thread.agent_path));
        about.text(names::AGENT_ID, trace.text(thread.id));
        about.text(names::CONVERSATION_ID, trace.text(thread.id));
        about.text(names::SESSION_ID, trace.text(trace.rollout_id));
    }

    fn events_of(&self, slot: usize) -> SpanEvents {
        let from = self.events.partition_point(|(at, _)| *at < slot);
        let mut events = SpanEvents::default();
        for (_, mark) in self.events[from..].iter().take_while(|(at, _)| *at == slot) {
            let mark = &self.marks[*mark];
            let (name, attributes) = self.event(mark);
            events.events.push(Event::new(name, self.time(mark.seq), attributes, 0));
        }
        events
    }

    fn event(&self, mark: &Mark) -> (String, Vec<KeyValue>) {
        let trace = self.trace();
        let mut about = About::new(String::new());
        let name = match &mark.kind {
            MarkKind::Undelivered(lost) => {
                about.text(names::EDGE_KIND, lost.kind.as_str());
                about.text(names::TARGET_THREAD_ID, trace.text(lost.target_thread_id));
                if self.contents.is_some() {
                    about.text(names::MESSAGE, &lost.text);
                }
                "message undelivered".to_owned()
            }
            MarkKind::Compaction(compaction) => {
                let compaction = &trace.compactions[*compaction];
                about.text(names::COMPACTION_ID, trace.text(compaction.id));
                about.number(names::ITEMS_BEFORE, count(compaction.input_items.len()));
                about.number(names::ITEMS_AFTER, count(compaction.replacement_items.len()));
                "compaction installed".to_owned()
            }
            MarkKind::Resumed => "agent resumed".to_owned(),
            MarkKind::Finding(finding) => {
                about.text(names::FINDING_KIND, finding.kind.as_str());
                about.text(names::FINDING_SEVERITY, finding.severity.as_str());
                about.text(names::FINDING_CONFIDENCE, finding.confidence.as_str());
                about.text(names::FINDING_EVIDENCE, &evidence_of(finding));
                // Messages and sentences quote what agents wrote.
                if self.contents.is_some() {
                    about.text(names::MESSAGE, &finding.message);
                    about.maybe(names::FINDING_CLAIM, finding.claim.as_ref().map(|claim| claim.text.as_str()));
                }
                "audit finding".to_owned()
            }
            MarkKind::Told { event_type, message } => {
                about.maybe(names::MESSAGE, message.as_deref());
                text::name(trace.text(*event_type))
            }
            MarkKind::Arrival(edge) => format!("{} arrives", trace.edges[*edge].kind.as_str()),
        };
        (name, about.attributes)
    }

    fn links_of(&self, slot: usize) -> SpanLinks {
        let from = self.links.partition_point(|(at, ..)| *at < slot);
        let mut links = SpanLinks::default();
        for (_, source, kind) in self.links[from..].iter().take_while(|(at, ..)| *at == slot) {
            let attributes = vec![KeyValue::new(names::EDGE_KIND, kind.as_str())];
            links.links.push(Link::new(self.context(*source), attributes, 0));
        }
        links
    }
}

impl Iterator for Spans<'_> {
    type Item = SpanData;

    fn next(&mut self) -> Option<SpanData> {
        let slot = self.order.next()?;
        Some(self.span(slot))
    }
}

/// Finds the links of a session. A message, task or result is a link from the reader's span to the sender's. Closing an
/// agent is a link from the call to the agent. A spawn is the parent of a span and needs no link.
fn links(
    trace: &Trace,
    family: &Family,
    slots: &Slots,
    place: impl Fn(ThreadIdx, u64) -> Object,
) -> Vec<(usize, usize, EdgeKind)> {
    let hand_overs = HandOvers::new(trace, family);
    let of_edge = |edge| {
        let source = hand_overs.source(edge);
        let thread = hand_overs.target_thread(edge);
        let (at, to) = match edge.kind {
            EdgeKind::SpawnAgent => return None,
            EdgeKind::CloseAgent => (source, Object::Thread(thread)),
            _ => (hand_overs.target(edge).unwrap_or_else(|| place(thread, hand_overs.arrived(edge))), source),
        };
        Some((slots.of(at), slots.of(to), edge.kind))
    };
    let mut links: Vec<_> = trace.edges.values().filter_map(of_edge).collect();
    // The sort is stable, so the links of a span stay in the order of the event log.
    links.sort_by_key(|(at, ..)| *at);
    links
}

/// Returns the turn of a thread that an event belongs to: the last that started before it.
fn turn_at(trace: &Trace, family: &Family, thread: ThreadIdx, seq: u64) -> Option<TurnIdx> {
    let turns = family.turns(thread);
    let until = turns.partition_point(|turn| trace.turns[*turn].execution.started.seq <= seq);
    until.checked_sub(1).map(|last| turns[last])
}

/// The name, kind, attributes and status of a span.
struct About {
    name: String,
    kind: SpanKind,
    attributes: Vec<KeyValue>,
    status: Status,
}

impl About {
    fn new(name: String) -> Self {
        Self { name, kind: SpanKind::Internal, attributes: Vec::new(), status: Status::Unset }
    }

    fn text(&mut self, name: &'static str, value: &str) {
        if !value.is_empty() {
            self.attributes.push(KeyValue::new(name, text::value(value)));
        }
    }

    fn maybe(&mut self, name: &'static str, value: Option<&str>) {
        if let Some(value) = value {
            self.text(name, value);
        }
    }

    fn number(&mut self, name: &'static str, value: i64) {
        self.attributes.push(KeyValue::new(name, value));
    }

    /// Adds content, which has its own limit.
    fn content(&mut self, name: &'static str, value: Option<String>) {
        if let Some(value) = value {
            self.attributes.push(KeyValue::new(name, value));
        }
    }

    fn usage(&mut self, usage: &Usage) {
        let tokens = |value| i64::try_from(value).unwrap_or(i64::MAX);
        self.number(names::INPUT_TOKENS, tokens(usage.input_tokens));
        self.number(names::OUTPUT_TOKENS, tokens(usage.output_tokens));
        self.number(names::CACHE_READ_INPUT_TOKENS, tokens(usage.cached_input_tokens));
        self.number(names::CACHE_WRITE_INPUT_TOKENS, tokens(usage.cache_write_input_tokens));
        self.number(names::REASONING_OUTPUT_TOKENS, tokens(usage.reasoning_output_tokens));
    }

    /// Sets the outcome. A cancelled operation is not an error.
    fn outcome(&mut self, outcome: Outcome, error: &'static str, message: Option<&str>) {
        self.text(names::OUTCOME, outcome.as_str());
        match outcome {
            Outcome::Failed => self.failed(error, message),
            Outcome::Unfinished => self.attributes.push(KeyValue::new(names::END_IS_ASSUMED, true)),
            Outcome::Completed | Outcome::Cancelled => {}
        }
    }

    fn failed(&mut self, error: &'static str, message: Option<&str>) {
        self.attributes.push(KeyValue::new(names::ERROR_TYPE, error));
        self.status = Status::error(text::value(message.unwrap_or_default()));
    }
}

/// Returns the common part of the span of an inference call.
fn chat(model: &str, provider: &str) -> About {
    let mut about = About::new(with(names::OPERATION_CHAT, model));
    about.kind = SpanKind::Client;
    about.text(names::OPERATION_NAME, names::OPERATION_CHAT);
    let known = names::provider(provider);
    about.text(names::PROVIDER_NAME, &known);
    if known != provider {
        about.text(names::PROVIDER_RECORDED, provider);
    }
    about.text(names::REQUEST_MODEL, model);
    about
}

/// Returns the name of a span: the operation, and its subject if that has a name.
fn with(operation: &str, subject: &str) -> String {
    if subject.is_empty() { operation.to_owned() } else { format!("{operation} {subject}") }
}

fn count(count: usize) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}
