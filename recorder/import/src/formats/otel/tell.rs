//! Turns the threads of a plan into events of a draft.

use std::collections::{HashMap, HashSet, VecDeque};

use serde::Serialize;
use serde_json::json;
use serde_json::value::{RawValue, to_raw_value};
use trace_recorder::format::{ExecutionStatus, ToolKind};

use crate::body::History;
use crate::draft::Draft;
use crate::event::{Clock, EventRef, Stamp, Time};
use crate::item::{Item, Output};
use crate::note::Code;
use crate::thread::{
    Answer, Call, CallResult, InferenceId, Request, ThreadInfo, ThreadWriter, ToolId, agent_path, child_thread_id,
    tool_kind,
};

use super::calls::{Calls, calls};
use super::facts::{Ending, Model, Part};
use super::history::{Ids, Items, Known, Source};
use super::message::{Said, What};
use super::plan::{Plan, ThreadPlan, TurnPlan, TurnSource};
use super::span::Span;

/// The members of a request other than its items.
#[derive(Debug, Serialize)]
struct Head<'a> {
    model: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    instructions: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tools: Option<&'a RawValue>,
    #[serde(skip_serializing_if = "Option::is_none")]
    parameters: Option<&'a RawValue>,
}

/// What the threads of a session share.
struct Session<'a> {
    spans: &'a [Span],
    plan: &'a Plan,
    id: &'a str,
    ids: Ids,
    calls: HashSet<String>,
    /// Ids and paths of the threads that were told.
    threads: Vec<(String, String)>,
    paths: HashSet<String>,
    /// Where a tool spawned each thread.
    spawns: HashMap<usize, EventRef>,
    has_rules: bool,
    has_tools: bool,
}

/// Tells a session.
pub(super) fn tell(draft: &mut Draft, spans: &[Span], plan: &Plan, id: &str) {
    draft.session_id(id);
    let mut session = Session {
        spans,
        plan,
        id,
        ids: Ids::default(),
        calls: HashSet::new(),
        threads: Vec::new(),
        paths: HashSet::new(),
        spawns: HashMap::new(),
        has_rules: false,
        has_tools: false,
    };
    for index in 0..plan.threads.len() {
        session.name_thread(draft, index);
    }
    for index in 0..plan.threads.len() {
        tell_thread(draft, &mut session, index);
    }
    if !session.has_rules {
        draft.note(Code::NoSystemPrompt, None);
    }
    if !session.has_tools {
        draft.note(Code::NoToolDefinitions, None);
    }
}

impl Session<'_> {
    /// Gives a thread its id and path.
    fn name_thread(&mut self, draft: &mut Draft, index: usize) {
        let thread = &self.plan.threads[index];
        let own = thread.span.and_then(|span| self.plan.nodes[span].dialect.agent(&self.spans[span]).thread);
        // In a damaged file two spans may claim one thread.
        if let Some(own) = own.filter(|own| self.threads.iter().all(|(id, _)| id != own.id)) {
            let path = if own.path.is_empty() { "/root" } else { own.path };
            self.threads.push((own.id.to_owned(), path.to_owned()));
            self.paths.insert(path.to_owned());
            return;
        }
        let id = match thread.span {
            _ if index == 0 => child_thread_id(self.id, self.id),
            Some(span) => child_thread_id(self.id, &format!("{}:{}", self.spans[span].trace, self.spans[span].id)),
            None => child_thread_id(self.id, &index.to_string()),
        };
        if uuid::Uuid::try_parse(self.id).is_err() || index > 0 {
            draft.note(Code::ThreadIdMade, thread.span.map(|span| self.spans[span].place));
        }
        let path = if index == 0 {
            "/root".to_owned()
        } else {
            let parent = thread.parent.map_or("/root", |parent| &self.threads[parent].1);
            let path = agent_path(parent, self.name(thread));
            let others = (2..).map(|number| format!("{path}_{number}"));
            std::iter::once(path.clone()).chain(others).find(|path| !self.paths.contains(path)).unwrap_or(path)
        };
        self.paths.insert(path.clone());
        self.threads.push((id, path));
    }

    fn name(&self, thread: &ThreadPlan) -> &str {
        let Some(span) = thread.span else { return "" };
        let name = self.plan.nodes[span].dialect.agent(&self.spans[span]).name;
        if name.is_empty() { &self.spans[span].name } else { name }
    }

    fn info(&self, index: usize) -> ThreadInfo {
        let thread = &self.plan.threads[index];
        let (id, path) = self.threads[index].clone();
        let own = thread.span.and_then(|span| self.plan.nodes[span].dialect.agent(&self.spans[span]).thread);
        let name = thread.span.map(|_| self.name(thread).to_owned()).filter(|name| !name.is_empty());
        let text = |text: Option<&str>| text.map(str::to_owned);
        let first =
            thread.turns.iter().flat_map(|turn| &turn.steps).find(|step| self.plan.nodes[**step].part == Part::Model);
        let model = first.map(|step| self.plan.nodes[*step].dialect.model(&self.spans[*step]).model);
        ThreadInfo {
            id,
            agent_path: path,
            parent: thread.parent.map(|parent| self.threads[parent].0.clone()),
            task_name: own.and_then(|own| text(own.task)),
            agent_role: own.map_or_else(|| name.clone().filter(|_| thread.parent.is_some()), |own| text(own.role)),
            nickname: own.map_or(name, |own| text(own.nickname)),
            model: text(model.filter(|model| !model.is_empty())),
            cwd: None,
        }
    }
}

/// A thread while it is told.
struct Teller<'a, 's> {
    session: &'a mut Session<'s>,
    thread: ThreadWriter,
    clock: Clock,
    items: Items,
    calls: Calls,
    /// Requests that wait for their answers, and calls that wait for their ends, by their spans.
    requests: HashMap<usize, InferenceId>,
    tools: HashMap<usize, ToolId>,
    /// Calls without a span of their own, which end when a request shows their outputs.
    silent: Vec<(usize, ToolId)>,
    /// The requests that are still to come, in their order.
    models: VecDeque<usize>,
    /// What the next of these has.
    next: Option<(usize, Option<Vec<Said<'s>>>)>,
    /// Whether the last request failed, and how.
    last: Option<ExecutionStatus>,
    /// The threads that each tool spawned.
    children: HashMap<usize, Vec<usize>>,
}

fn tell_thread(draft: &mut Draft, session: &mut Session<'_>, index: usize) {
    let (spans, plan) = (session.spans, session.plan);
    let thread = &plan.threads[index];
    let calls = calls(spans, plan, thread, &mut session.calls);
    let first = thread.turns.first().map(|turn| turn_start(spans, turn));
    let first = thread.runs.first().copied().into_iter().chain(first).min();
    let Some(first) = first.or(thread.span) else { return };
    let mut clock = Clock::default();
    let stamp = clock.stamp(spans[first].start_ms(), spans[first].place);
    let info = session.info(index);
    let writer = ThreadWriter::start(draft, info, stamp);
    if let Some(spawn) = session.spawns.get(&index) {
        draft.after(writer.began(), *spawn);
    } else if thread.parent.is_some() {
        draft.note(Code::ChildUnlinked, Some(stamp.place));
    }
    let mut models: Vec<usize> = thread.turns.iter().flat_map(|turn| &turn.steps).copied().collect();
    models.retain(|step| plan.nodes[*step].part == Part::Model);
    models.sort_unstable();
    let mut children: HashMap<usize, Vec<usize>> = HashMap::new();
    for (child, other) in plan.threads.iter().enumerate() {
        if let (Some(parent), Some(spawner)) = (other.parent, other.spawner)
            && parent == index
        {
            children.entry(spawner).or_default().push(child);
        }
    }
    let items = Items::new(writer.lane(), &calls.list);
    let mut teller = Teller {
        session,
        thread: writer,
        clock,
        items,
        calls,
        requests: HashMap::new(),
        tools: HashMap::new(),
        silent: Vec::new(),
        models: models.into(),
        next: None,
        last: None,
        children,
    };
    for turn in &thread.turns {
        teller.turn(draft, thread, turn);
    }
    teller.end(draft, thread);
}

fn turn_start(spans: &[Span], turn: &TurnPlan) -> usize {
    match turn.from {
        TurnSource::Span(span) => span,
        TurnSource::Trace { step, top } => top.filter(|top| spans[*top].start.is_some()).unwrap_or(step),
    }
}

impl<'s> Teller<'_, 's> {
    fn begin_stamp(&mut self, span: &Span) -> Stamp {
        self.clock.stamp(span.start_ms(), span.place)
    }

    fn end_stamp(&mut self, span: &Span) -> Stamp {
        self.clock.stamp(span.end_ms(), span.place)
    }

    fn turn(&mut self, draft: &mut Draft, thread: &ThreadPlan, turn: &TurnPlan) {
        let (spans, plan) = (self.session.spans, self.session.plan);
        let first = turn_start(spans, turn);
        let id = match turn.from {
            TurnSource::Span(span) => plan.nodes[span].dialect.turn(&spans[span]).id.unwrap_or(&spans[span].id),
            TurnSource::Trace { step, .. } => &spans[step].trace,
        };
        let stamp = self.begin_stamp(&spans[first]);
        self.thread.begin_turn(draft, id, stamp);
        self.last = None;
        for (step, is_end) in in_order(spans, &turn.steps) {
            match (plan.nodes[step].part, is_end) {
                (Part::Model, false) => self.request(draft, step),
                (Part::Model, true) => self.answer(draft, step),
                (_, false) => self.begin_tool(draft, step),
                (_, true) => self.end_tool(draft, step),
            }
        }
        self.end_turn(draft, thread, turn);
    }

    fn end_turn(&mut self, draft: &mut Draft, thread: &ThreadPlan, turn: &TurnPlan) {
        let (spans, plan) = (self.session.spans, self.session.plan);
        match turn.from {
            TurnSource::Span(index) => {
                let span = &spans[index];
                let of_run = thread.turns.iter().rev().find(|other| other.run == turn.run);
                let is_last = of_run.is_some_and(|last| last.from == turn.from);
                // The failure of an agent is that of its last turn.
                let run = turn.run.filter(|_| is_last).map(|run| &spans[run]);
                let failed = [Some(span), run].into_iter().flatten().find(|span| span.error().is_some());
                let status = match plan.nodes[index].dialect.turn(span).ending {
                    Some(Ending::Open) => None,
                    Some(Ending::With(status)) => Some(status),
                    None if failed.is_some_and(Span::is_cancelled) => Some(ExecutionStatus::Cancelled),
                    None if failed.is_some() => Some(ExecutionStatus::Failed),
                    None => Some(ExecutionStatus::Completed),
                };
                match status.filter(|_| span.end.is_some()) {
                    Some(status) => {
                        let stamp = self.end_stamp(span);
                        self.thread.end_turn(draft, status, stamp);
                    }
                    None => draft.note(Code::TurnEndUnknown, Some(span.place)),
                }
            }
            TurnSource::Trace { step, top } => {
                let top = top.map(|top| &spans[top]).filter(|top| top.end.is_some());
                let stamp = match top {
                    Some(top) => self.end_stamp(top),
                    None => Stamp { time: Time::Unknown, place: spans[step].place },
                };
                let place = Some(stamp.place);
                if self.requests.is_empty() {
                    let is_failed = top.is_some_and(|top| top.error().is_some());
                    let status = if is_failed { Some(ExecutionStatus::Failed) } else { self.last };
                    draft.note(Code::TurnEndInferred, place);
                    self.thread.end_turn(draft, status.unwrap_or(ExecutionStatus::Completed), stamp);
                } else {
                    draft.note(Code::TurnEndUnknown, place);
                }
            }
        }
    }

    fn end(&mut self, draft: &mut Draft, thread: &ThreadPlan) {
        let (spans, plan) = (self.session.spans, self.session.plan);
        let Some(last) = thread.runs.iter().copied().max_by_key(|run| spans[*run].end) else { return };
        let (span, node) = (&spans[last], &plan.nodes[last]);
        if span.end.is_none() || self.thread.is_in_turn() {
            return;
        }
        let own = node.dialect.agent(span).thread;
        let status = match own {
            Some(own) => own.status,
            None if span.is_error => Some(trace_recorder::format::RolloutStatus::Failed),
            None => Some(trace_recorder::format::RolloutStatus::Completed),
        };
        if let Some(status) = status {
            let stamp = self.end_stamp(span);
            self.thread.end(draft, status, stamp);
        }
    }

    /// Returns the messages of a request. They are read once, when they are first asked for.
    fn input_of(&mut self, step: usize) -> Option<&Vec<Said<'s>>> {
        if self.next.as_ref().is_none_or(|(held, _)| *held != step) {
            let (spans, plan) = (self.session.spans, self.session.plan);
            self.next = Some((step, plan.nodes[step].dialect.input(&spans[step])));
        }
        self.next.as_ref().and_then(|(_, said)| said.as_ref())
    }

    fn request(&mut self, draft: &mut Draft, step: usize) {
        let (spans, plan) = (self.session.spans, self.session.plan);
        let span = &spans[step];
        let facts = plan.nodes[step].dialect.model(span);
        let stamp = self.begin_stamp(span);
        self.note_missing(draft, &facts, stamp);
        if self.models.front() == Some(&step) {
            self.models.pop_front();
        } else {
            self.models.retain(|model| *model != step);
        }
        self.end_silent(draft, step);
        self.input_of(step);
        let said = self.next.take().and_then(|(_, said)| said);
        if said.is_none() {
            draft.note(Code::RequestIncomplete, Some(span.place));
        }
        let said = said.unwrap_or_default();
        let is_rule = |said: &Said<'_>| {
            use crate::item::Role;
            matches!(said.what, What::Message { role: Role::System | Role::Developer, .. })
        };
        self.session.has_rules |= facts.instructions.is_some() || said.iter().any(is_rule);
        let source = Source { span: &span.id, place: span.place };
        let known = self.items.request(draft, said, source, &mut self.session.ids);
        for item in known.iter().filter(|item| item.is_new) {
            self.thread.accept(draft, &item.id, stamp);
        }
        let input: History = known.iter().map(|item| item.text).collect();
        let head = Head {
            model: facts.model,
            instructions: facts.instructions.as_deref(),
            tools: facts.tools.as_deref(),
            parameters: facts.parameters.as_deref(),
        };
        let request = Request { model: facts.model, provider: facts.provider, head: &head, input: &input };
        let id = match facts.id {
            Some(id) => self.thread.request_as(draft, id, &request, stamp),
            None => self.thread.request(draft, &request, stamp),
        };
        self.requests.insert(step, id);
    }

    fn note_missing(&mut self, draft: &mut Draft, facts: &Model<'_>, stamp: Stamp) {
        let place = Some(stamp.place);
        if facts.model.is_empty() {
            draft.note(Code::NoModel, place);
        }
        if stamp.time == Time::Unknown {
            draft.note(Code::NoRequestStart, place);
        }
        self.session.has_tools |= facts.tools.is_some();
    }

    fn answer(&mut self, draft: &mut Draft, step: usize) {
        let (spans, plan) = (self.session.spans, self.session.plan);
        let Some(id) = self.requests.remove(&step) else { return };
        let span = &spans[step];
        let node = &plan.nodes[step];
        let facts = node.dialect.model(span);
        let stamp = self.end_stamp(span);
        let said = node.dialect.output(span);
        let error = span.error();
        let status = match facts.ending {
            Some(Ending::With(status)) => status,
            Some(Ending::Open) => return draft.note(Code::OutcomeUnknown, Some(span.place)),
            None if span.is_cancelled() => ExecutionStatus::Cancelled,
            None if error.is_some() => ExecutionStatus::Failed,
            None => ExecutionStatus::Completed,
        };
        let source = Source { span: &span.id, place: span.place };
        let planned = self.calls.of_model.get(&step).cloned().unwrap_or_default();
        let call_ids: Vec<&str> = planned.iter().map(|call| self.calls.list[*call].id.as_str()).collect();
        let known = self.items.answer(draft, said, &call_ids, source, &mut self.session.ids);
        let items: History = known.iter().map(|item| item.text).collect();
        let answer = match status {
            ExecutionStatus::Completed => {
                Answer::Completed { response_id: facts.response_id.as_deref(), request_id: facts.request_id }
            }
            ExecutionStatus::Cancelled => Answer::Cancelled { reason: error.unwrap_or_default() },
            _ => Answer::Failed { error: error.unwrap_or_default(), request_id: facts.request_id },
        };
        if facts.usage.is_none() && status == ExecutionStatus::Completed {
            draft.note(Code::NoUsage, Some(span.place));
        }
        // Scripted providers give the same ids of responses in all sessions, so the span tells copies.
        let key = Some(format!("{}:{}", span.trace, span.id));
        self.thread.answer(draft, &id, answer, &items, facts.usage, key, stamp);
        for item in &known {
            self.thread.accept(draft, &item.id, stamp);
        }
        self.last = Some(status);
        for call in planned {
            self.begin_silent(draft, call, span);
        }
    }

    /// Begins a call that has no span of its own.
    fn begin_silent(&mut self, draft: &mut Draft, index: usize, span: &Span) {
        let call = &self.calls.list[index];
        if call.native != call.id {
            let code = if call.native.is_empty() { Code::CallIdMade } else { Code::CallIdRepeated };
            draft.note(code, Some(span.place));
        }
        if call.has_span {
            return;
        }
        draft.note(Code::NoToolStart, Some(span.place));
        let stamp = Stamp { time: Time::Unknown, place: span.place };
        let told = Call {
            call_id: &call.id,
            name: &call.name,
            namespace: None,
            kind: tool_kind(&call.name),
            arguments: &call.arguments,
            is_custom: false,
        };
        let tool = self.thread.begin_call(draft, &told, stamp);
        self.silent.push((index, tool));
    }

    /// Ends the calls without spans whose outputs a request shows.
    fn end_silent(&mut self, draft: &mut Draft, step: usize) {
        if self.silent.is_empty() {
            return;
        }
        let natives: HashSet<&str> =
            self.silent.iter().map(|(call, _)| self.calls.list[*call].native.as_str()).collect();
        let natives: HashSet<String> = natives.into_iter().map(str::to_owned).collect();
        let Some(said) = self.input_of(step) else { return };
        let mut found: HashMap<String, VecDeque<Output<'static>>> = HashMap::new();
        for said in said.iter().rev() {
            if let What::Output { call_id, output } = &said.what
                && natives.contains(&**call_id)
            {
                found.entry(call_id.to_string()).or_default().push_front(owned(output));
            }
        }
        // Of several outputs with one id, the last ones are those of the open calls.
        let mut open: HashMap<&str, usize> = HashMap::new();
        for (call, _) in &self.silent {
            *open.entry(self.calls.list[*call].native.as_str()).or_default() += 1;
        }
        for (native, count) in open {
            if let Some(list) = found.get_mut(native) {
                list.drain(..list.len().saturating_sub(count));
            }
        }
        let place = self.session.spans[step].place;
        let stamp = Stamp { time: Time::Unknown, place };
        let source = Source { span: &self.session.spans[step].id, place };
        for (index, tool) in std::mem::take(&mut self.silent) {
            let call = &self.calls.list[index];
            let Some(output) = found.get_mut(&call.native).and_then(VecDeque::pop_front) else {
                self.silent.push((index, tool));
                continue;
            };
            draft.note(Code::NoToolEnd, Some(place));
            let source = Source { span: &format!("{}:{}", source.span, call.id), place };
            let item = self.items.output(draft, &call.id, output.clone(), source, &mut self.session.ids);
            let raw = raw_output(&item, &call.id, output);
            let result = raw.as_deref().map(CallResult::Item);
            self.thread.end_call(draft, &tool, ExecutionStatus::Completed, result, stamp);
            self.thread.accept(draft, &item.id, stamp);
        }
    }

    fn begin_tool(&mut self, draft: &mut Draft, step: usize) {
        let (spans, plan) = (self.session.spans, self.session.plan);
        let span = &spans[step];
        let facts = plan.nodes[step].dialect.tool(span);
        let stamp = self.begin_stamp(span);
        let planned = self.calls.of_tool.get(&step).map(|call| &self.calls.list[*call]);
        let made;
        let call_id = match (planned, facts.call_id) {
            (Some(planned), _) => planned.id.as_str(),
            (None, Some(id)) if self.session.calls.insert(id.to_owned()) => id,
            (None, id) => {
                let code = if id.is_some() { Code::CallIdRepeated } else { Code::CallIdMade };
                draft.note(code, Some(span.place));
                made = format!("call:{}", span.id);
                &made
            }
        };
        let name = planned.map_or(facts.name, |planned| &planned.name);
        let arguments = facts.arguments.as_deref().or(planned.map(|planned| planned.arguments.as_str()));
        let arguments = arguments.unwrap_or_default();
        let kind = facts.kind.unwrap_or_else(|| tool_kind(name));
        let is_command = kind == ToolKind::ExecCommand;
        let nested = match planned {
            None if facts.is_nested => {
                self.thread.begin_nested_call(draft, call_id, None, (name, kind.clone()), arguments, stamp)
            }
            _ => None,
        };
        let tool = nested.unwrap_or_else(|| {
            let told = Call { call_id, name, namespace: None, kind, arguments, is_custom: false };
            self.thread.begin_call(draft, &told, stamp)
        });
        for child in self.children.remove(&step).unwrap_or_default() {
            let (id, _) = &self.session.threads[child];
            let spawned = self.thread.spawned(draft, &tool, id, &task(arguments), stamp);
            self.session.spawns.insert(child, spawned);
        }
        if facts.exit_code.is_some() && is_command {
            let report = json!({"command": command(arguments), "cwd": ""});
            self.thread.begin_runtime(draft, &tool, ToolKind::ExecCommand, &report, stamp);
        }
        self.tools.insert(step, tool);
    }

    fn end_tool(&mut self, draft: &mut Draft, step: usize) {
        let (spans, plan) = (self.session.spans, self.session.plan);
        let Some(tool) = self.tools.remove(&step) else { return };
        let span = &spans[step];
        let facts = plan.nodes[step].dialect.tool(span);
        let stamp = self.end_stamp(span);
        let error = span.error();
        let status = match facts.ending {
            Some(Ending::With(status)) => status,
            Some(Ending::Open) => return draft.note(Code::OutcomeUnknown, Some(span.place)),
            None if span.is_cancelled() => ExecutionStatus::Cancelled,
            None if error.is_some() => ExecutionStatus::Failed,
            None => ExecutionStatus::Completed,
        };
        if let Some(code) = facts.exit_code.filter(|_| *tool.kind() == ToolKind::ExecCommand) {
            let report = json!({"exit_code": code, "aggregated_output": ""});
            let status = if code == 0 { ExecutionStatus::Completed } else { ExecutionStatus::Failed };
            self.thread.end_runtime(draft, &tool, status, &report, stamp);
        }
        let source = Source { span: &span.id, place: span.place };
        let seen = self.seen_output(step, &facts.call_id);
        if let Some(output) = seen {
            let item = self.items.output(draft, tool.call_id(), output.clone(), source, &mut self.session.ids);
            let raw = raw_output(&item, tool.call_id(), output);
            self.thread.end_call(draft, &tool, status, raw.as_deref().map(CallResult::Item), stamp);
            self.thread.accept(draft, &item.id, stamp);
            return;
        }
        let made = facts.result.map(|result| Item::FunctionCallOutput {
            id: format!("{}:result", span.id).into(),
            call_id: tool.call_id().to_owned().into(),
            output: Output::Text(result),
        });
        let raw = made.and_then(|item| to_raw_value(&item).ok());
        let result = match &raw {
            Some(raw) => Some(CallResult::Item(raw)),
            None => error.filter(|error| !error.is_empty()).map(CallResult::Error),
        };
        self.thread.end_call(draft, &tool, status, result, stamp);
    }

    /// Returns the output of a tool as the next request shows it.
    fn seen_output(&mut self, step: usize, call_id: &Option<&str>) -> Option<Output<'static>> {
        let native = match self.calls.of_tool.get(&step) {
            Some(call) => self.calls.list[*call].native.clone(),
            None => (*call_id)?.to_owned(),
        };
        let next = *self.models.front()?;
        let said = self.input_of(next)?;
        said.iter().rev().find_map(|said| match &said.what {
            What::Output { call_id, output } if **call_id == native && !native.is_empty() => Some(owned(output)),
            _ => None,
        })
    }
}

/// Returns the beginnings and ends of steps in the order in which they happened. What ends at the time at which something else
/// begins comes first.
fn in_order(spans: &[Span], steps: &[usize]) -> Vec<(usize, bool)> {
    let mut order = Vec::with_capacity(2 * steps.len());
    for step in steps {
        let span = &spans[*step];
        let start = span.order();
        let end = span.end.map(|end| end.max(start));
        let takes_time = end != Some(start);
        order.push((start, if takes_time { 2 } else { 1 }, *step, false));
        if let Some(end) = end {
            order.push((end, if takes_time { 0 } else { 1 }, *step, true));
        }
    }
    order.sort_unstable();
    order.into_iter().map(|(.., step, is_end)| (step, is_end)).collect()
}

fn raw_output(item: &Known, call_id: &str, output: Output<'_>) -> Option<Box<RawValue>> {
    let item = Item::FunctionCallOutput { id: item.id.as_str().into(), call_id: call_id.into(), output };
    to_raw_value(&item).ok()
}

fn owned(output: &Output<'_>) -> Output<'static> {
    use crate::item::Content;
    let part = |part: &Content<'_>| match part {
        Content::InputText { text } => Content::InputText { text: text.clone().into_owned().into() },
        Content::OutputText { text } => Content::OutputText { text: text.clone().into_owned().into() },
        Content::ReasoningText { text } => Content::ReasoningText { text: text.clone().into_owned().into() },
        Content::SummaryText { text } => Content::SummaryText { text: text.clone().into_owned().into() },
        Content::Other(value) => Content::Other(std::borrow::Cow::Owned(value.clone().into_owned())),
    };
    match output {
        Output::Text(text) => Output::Text(text.clone().into_owned().into()),
        Output::Written(json) => Output::Written(std::borrow::Cow::Owned(json.clone().into_owned())),
        Output::Parts(parts) => Output::Parts(parts.iter().map(part).collect()),
    }
}

/// Returns the task in the arguments of a call that spawned an agent: their only text, or the one with a usual name, or all of
/// them.
fn task(arguments: &str) -> String {
    let value: serde_json::Value = serde_json::from_str(arguments).unwrap_or_default();
    let Some(members) = value.as_object() else { return arguments.to_owned() };
    let text = |name: &str| members.get(name).and_then(serde_json::Value::as_str);
    let named = ["message", "prompt", "task", "input", "request", "query", "description"].into_iter().find_map(text);
    named.map_or_else(|| arguments.to_owned(), str::to_owned)
}

/// Returns the command in the arguments of a call, or nothing if they do not have it.
fn command(arguments: &str) -> Vec<String> {
    let value: serde_json::Value = serde_json::from_str(arguments).unwrap_or_default();
    match value.get("command").or_else(|| value.get("cmd")) {
        Some(serde_json::Value::String(text)) => vec![text.clone()],
        Some(serde_json::Value::Array(words)) => {
            words.iter().filter_map(|word| Some(word.as_str()?.to_owned())).collect()
        }
        _ => Vec::new(),
    }
}
