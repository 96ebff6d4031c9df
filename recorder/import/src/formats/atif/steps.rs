//! Turns the steps of one thread into events of a draft.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use serde::Serialize;
use serde_json::json;
use serde_json::value::{RawValue, to_raw_value};
use trace_recorder::format::import::Place;
use trace_recorder::format::{ExecutionStatus, ToolKind};

use crate::body::{History, ItemText};
use crate::draft::Draft;
use crate::event::{Clock, EventRef, Stamp, Time};
use crate::item::{Content, Item, Output, Role};
use crate::note::Code;
use crate::summary::Usage;
use crate::text::Text;
use crate::thread::{
    Answer, Call, CallResult, Request, ThreadWriter, ToolId, child_thread_id, named_tool_kind, tool_kind,
};
use crate::time::millis;

use super::records::{
    Agent, Failure, Metrics, MoreTokens, ObservationResult, OwnCall, OwnThread, OwnTurn, Piece, Step, ToolCall,
    Whereabouts, extra, own, pieces,
};

/// The members of a request other than its items.
#[derive(Debug, Serialize)]
struct Head<'a> {
    model: &'a str,
}

/// What the threads of a session share while they are told.
#[derive(Debug, Default)]
pub(super) struct Ids {
    calls: HashSet<String>,
    threads: usize,
    pub(super) has_rules: bool,
    pub(super) has_tools: bool,
}

/// A trajectory that a step refers to.
#[derive(Debug)]
pub(super) struct Child {
    /// The id of its thread.
    pub(super) id: String,
    pub(super) trajectory_id: Option<String>,
    pub(super) session_id: Option<String>,
    pub(super) path: Option<String>,
    pub(super) spawn: Option<EventRef>,
    pub(super) place: Place,
}

/// How a turn went that an export tells of.
#[derive(Debug, Clone, Copy, Default)]
struct TurnFacts {
    status: Option<ExecutionStatus>,
    started_at: Option<i64>,
    ended_at: Option<i64>,
}

/// A thread while it is told.
pub(super) struct Teller<'s> {
    ids: &'s mut Ids,
    session: &'s str,
    thread: ThreadWriter,
    clock: Clock,
    /// What the ids of the thread's items begin with.
    prefix: String,
    model: String,
    cwd: String,
    tools: History,
    history: History,
    /// Turns that an export tells of, in their order.
    turns: Vec<(String, TurnFacts)>,
    /// How many of them were told.
    told_turns: usize,
    /// The id of the open turn in the file, if the file has ids of turns.
    turn: Option<String>,
    turn_count: usize,
    has_agent: bool,
    /// The last stamp, for what the file does not mark.
    last: Stamp,
    /// Calls without a result, by the ids of the file.
    open: HashMap<String, ToolId>,
    children: Vec<Child>,
    step_count: usize,
}

impl<'s> Teller<'s> {
    pub(super) fn new(
        draft: &mut Draft,
        ids: &'s mut Ids,
        thread: ThreadWriter,
        clock: Clock,
        session: &'s str,
        agent: Option<&Agent<'_>>,
        own: &OwnThread<'_>,
    ) -> Self {
        ids.threads += 1;
        let prefix = format!("thread-{}:", ids.threads);
        let list = agent.and_then(|agent| agent.tool_definitions);
        let list: Vec<&RawValue> = list.and_then(|list| serde_json::from_str(list.get()).ok()).unwrap_or_default();
        let tools: History = list.into_iter().map(|tool| draft.raw_item(thread.lane(), tool)).collect();
        ids.has_tools |= !tools.is_empty();
        let time = |time: Option<&str>| time.and_then(millis);
        let facts = |turn: &OwnTurn<'_>| TurnFacts {
            status: status(turn.status.as_deref()),
            started_at: time(turn.started_at.as_deref()),
            ended_at: time(turn.ended_at.as_deref()),
        };
        Self {
            ids,
            session,
            clock,
            prefix,
            model: agent.and_then(|agent| agent.model_name.as_deref()).unwrap_or_default().to_owned(),
            cwd: extra::<Whereabouts<'_>>(agent.and_then(|agent| agent.extra))
                .cwd
                .map(|cwd| cwd.to_string())
                .unwrap_or_default(),
            tools,
            history: History::default(),
            turns: own.turns.iter().map(|turn| (turn.id.to_string(), facts(turn))).collect(),
            told_turns: 0,
            turn: None,
            turn_count: 0,
            has_agent: false,
            last: Stamp { time: Time::Unknown, place: Place { source: 0, line: 1 } },
            open: HashMap::new(),
            children: Vec::new(),
            step_count: 0,
            thread,
        }
    }

    pub(super) fn into_children(self) -> Vec<Child> {
        self.children
    }

    /// Forgets the history, because the next file repeats what of it is left.
    pub(super) fn forget(&mut self) {
        self.history = History::default();
    }

    pub(super) fn step(&mut self, draft: &mut Draft, step: &Step<'_>, place: Place) {
        self.step_count += 1;
        let facts: OwnCall<'_> = own(step.extra);
        if facts.is_empty {
            return;
        }
        let time = step.timestamp.as_deref().and_then(millis);
        if step.is_copied_context == Some(true) {
            draft.note(Code::CopiedRecord, Some(place));
            self.copied(draft, step, &facts);
            return;
        }
        self.last = Stamp { time: Time::Unknown, place };
        let named = facts.turn_id.as_deref();
        let is_next = match named {
            // A late step of an earlier turn does not begin that turn again.
            Some(named) => self.turn.as_deref() != Some(named) && !self.is_told(named),
            None => !self.thread.is_in_turn() || &*step.source == "user" && self.has_agent,
        };
        if is_next {
            self.end_turn(draft, false);
            if named.is_some() {
                self.skip_turns(draft, named, place);
            }
            self.begin_turn(draft, named, time, place);
        }
        match &*step.source {
            "agent" => self.agent(draft, step, &facts, time, place),
            "user" => self.message(draft, step, speaker(step, &facts), time, place),
            "system" => self.message(draft, step, speaker(step, &facts), time, place),
            source => draft.unknown(source, place),
        }
    }

    fn is_told(&self, turn: &str) -> bool {
        self.turns[..self.told_turns].iter().any(|(id, _)| id == turn)
    }

    fn facts_of(&self, turn: &str) -> Option<TurnFacts> {
        self.turns.iter().find(|(id, _)| id == turn).map(|(_, facts)| *facts)
    }

    /// Tells the turns without steps before the one with this id, or all that are left.
    fn skip_turns(&mut self, draft: &mut Draft, until: Option<&str>, place: Place) {
        while let Some((id, _)) = self.turns.get(self.told_turns).cloned() {
            if until == Some(id.as_str()) || until.is_some_and(|until| self.facts_of(until).is_none()) {
                return;
            }
            self.begin_turn(draft, Some(&id), None, place);
            self.end_turn(draft, false);
        }
    }

    fn begin_turn(&mut self, draft: &mut Draft, named: Option<&str>, time: Option<i64>, place: Place) {
        self.turn_count += 1;
        let known = named.and_then(|named| self.facts_of(named)).and_then(|turn| turn.started_at);
        if self.turns.get(self.told_turns).is_some_and(|(id, _)| Some(id.as_str()) == named) {
            self.told_turns += 1;
        }
        let stamp = self.clock.stamp(known.or(time), place);
        let id = named.map_or_else(
            || {
                draft.note(Code::TurnIdMade, Some(place));
                format!("{}:turn-{}", self.thread.id(), self.turn_count)
            },
            str::to_owned,
        );
        self.thread.begin_turn(draft, &id, stamp);
        self.turn = named.map(str::to_owned);
        self.has_agent = false;
    }

    fn end_turn(&mut self, draft: &mut Draft, is_last: bool) {
        if !self.thread.is_in_turn() {
            return;
        }
        let place = self.last.place;
        let facts = self.turn.as_deref().and_then(|turn| self.facts_of(turn));
        if let Some(TurnFacts { status: Some(status), ended_at, .. }) = facts {
            if status == ExecutionStatus::Running {
                return draft.note(Code::TurnEndUnknown, Some(place));
            }
            let stamp = self.clock.stamp(ended_at, place);
            self.thread.end_turn(draft, status, stamp);
        } else if is_last && (!self.has_agent || !self.open.is_empty()) {
            draft.note(Code::TurnEndUnknown, Some(place));
        } else {
            draft.note(Code::TurnEndInferred, Some(place));
            self.thread.end_turn(draft, ExecutionStatus::Completed, self.last);
        }
    }

    /// Ends the last turn.
    pub(super) fn end(&mut self, draft: &mut Draft) {
        self.end_turn(draft, true);
        self.skip_turns(draft, None, self.last.place);
        for _ in std::mem::take(&mut self.open) {
            draft.note(Code::OutcomeUnknown, Some(self.last.place));
        }
    }

    /// Returns the next id of an item.
    fn item_id(&self, draft: &mut Draft, part: &str, place: Place) -> String {
        draft.note(Code::ItemIdMade, Some(place));
        format!("{}step-{}:{part}", self.prefix, self.step_count)
    }

    /// Adds an item to the history, accepted or, if it is a copy, not.
    fn push(&mut self, draft: &mut Draft, item: &Item<'_>, accepted: Option<Stamp>) {
        let text = match accepted {
            Some(stamp) => self.thread.item(draft, item, stamp),
            None => draft.item(self.thread.lane(), item).expect("an item is plain data"),
        };
        self.history.push(text);
    }

    /// Adds what was copied from another trajectory to the history. Nothing of it happens again.
    fn copied(&mut self, draft: &mut Draft, step: &Step<'_>, facts: &OwnCall<'_>) {
        let place = self.last.place;
        let id = self.item_id(draft, "message", place);
        if let Some(message) = message(step.message, speaker(step, facts), id) {
            self.push(draft, &message, None);
        }
        for (number, call) in step.tool_calls.iter().flatten().enumerate() {
            let id = self.item_id(draft, &format!("call-{number}"), place);
            let call_id = call.tool_call_id.to_string();
            self.ids.calls.insert(call_id.clone());
            let item = call_item(call, &call_id, id);
            self.push(draft, &item, None);
        }
        for (number, result) in step.observation.iter().flat_map(|observation| &observation.results).enumerate() {
            let id = self.item_id(draft, &format!("result-{number}"), place);
            let item = match &result.source_call_id {
                Some(call_id) => Some(Item::FunctionCallOutput {
                    id: id.into(),
                    call_id: Cow::Borrowed(call_id),
                    output: output(result.content),
                }),
                None => message(result.content, Role::User, id),
            };
            if let Some(item) = item {
                self.push(draft, &item, None);
            }
        }
    }

    fn message(&mut self, draft: &mut Draft, step: &Step<'_>, speaker: Role, time: Option<i64>, place: Place) {
        self.ids.has_rules |= matches!(speaker, Role::System | Role::Developer);
        let stamp = self.clock.stamp(time, place);
        let id = self.item_id(draft, "message", place);
        if let Some(message) = message(step.message, speaker, id) {
            self.push(draft, &message, Some(stamp));
        }
        self.outcomes(draft, step, &[], stamp);
    }

    fn agent(&mut self, draft: &mut Draft, step: &Step<'_>, facts: &OwnCall<'_>, time: Option<i64>, place: Place) {
        self.has_agent = true;
        let mut items = Vec::new();
        if let Some(thought) = step.reasoning_content.as_deref().filter(|thought| !thought.is_empty()) {
            let id = self.item_id(draft, "thought", place);
            let content = vec![Content::ReasoningText { text: thought.into() }];
            items.push(Item::Reasoning { id: id.into(), summary: Vec::new(), content, encrypted_content: None });
        }
        let id = self.item_id(draft, "message", place);
        items.extend(message(step.message, Role::Assistant, id));
        let calls: Vec<(String, &ToolCall<'_>)> = {
            let calls = step.tool_calls.iter().flatten().enumerate();
            calls.map(|(number, call)| (self.call_id(draft, call, number, place), call)).collect()
        };
        for (number, (call_id, call)) in calls.iter().enumerate() {
            let id = self.item_id(draft, &format!("call-{number}"), place);
            items.push(call_item(call, call_id, id));
        }
        let stamp = if step.llm_call_count == Some(0) {
            let stamp = self.clock.stamp(time, place);
            items.iter().for_each(|item| self.push(draft, item, Some(stamp)));
            stamp
        } else {
            self.inference(draft, step, facts, &items, time, place)
        };
        self.outcomes(draft, step, &calls, stamp);
    }

    /// Tells the calls of a step and what they returned: in the order of their times, if an export tells them.
    fn outcomes(&mut self, draft: &mut Draft, step: &Step<'_>, calls: &[(String, &ToolCall<'_>)], stamp: Stamp) {
        let facts: Vec<OwnCall<'_>> = calls.iter().map(|(_, call)| own(call.extra)).collect();
        let time = |time: Option<&str>| time.and_then(millis);
        let mut failures = HashMap::new();
        let mut acts: Vec<(Option<i64>, Act)> = Vec::new();
        for (number, ((_, call), facts)) in calls.iter().zip(&facts).enumerate() {
            failures.insert(call.tool_call_id.to_string(), Failed::of(call, facts));
            acts.push((time(facts.started_at.as_deref()), Act::Begin(number)));
        }
        for (number, result) in step.observation.iter().flat_map(|observation| &observation.results).enumerate() {
            let failed = result.source_call_id.as_ref().and_then(|id| failures.get(&**id));
            acts.push((failed.and_then(|failed| failed.ended_at), Act::Result(number)));
        }
        acts.extend((0..calls.len()).map(|number| (time(facts[number].ended_at.as_deref()), Act::Close(number))));
        let is_known = |(at, act): &(Option<i64>, Act)| at.is_some() || matches!(act, Act::Close(_));
        if acts.iter().all(is_known) {
            // A call without an end is closed by nothing, so its place does not matter. The sort is stable: a call begins before it ends.
            acts.sort_by_key(|(at, _)| at.unwrap_or(i64::MAX));
        }
        let mut outputs: Vec<(usize, ItemText)> = Vec::new();
        for (_, act) in acts {
            match act {
                Act::Begin(number) => {
                    let (call_id, call) = &calls[number];
                    let tool = self.call(draft, call, call_id, &facts[number], stamp.place);
                    self.open.insert(call.tool_call_id.to_string(), tool);
                }
                Act::Result(number) => outputs.extend(self.result(draft, step, number, &failures, stamp)),
                Act::Close(number) => self.close(draft, calls[number].1, &facts[number], stamp.place),
            }
        }
        // The model sees the results in the order of the file.
        outputs.sort_by_key(|(number, _)| *number);
        outputs.into_iter().for_each(|(_, text)| self.history.push(text));
    }

    /// Ends a call without a result whose end an export tells.
    fn close(&mut self, draft: &mut Draft, call: &ToolCall<'_>, facts: &OwnCall<'_>, place: Place) {
        if let Some(status) = status(facts.status.as_deref()).filter(|status| *status != ExecutionStatus::Running)
            && let Some(tool) = self.open.remove(&*call.tool_call_id)
        {
            let stamp = self.clock.stamp(facts.ended_at.as_deref().and_then(millis), place);
            self.end_command(draft, &tool, facts.exit_code, stamp);
            self.thread.end_call(draft, &tool, status, None, stamp);
        }
    }

    /// Tells the exit code of a command.
    fn end_command(&mut self, draft: &mut Draft, tool: &ToolId, exit_code: Option<i32>, stamp: Stamp) {
        let Some(code) = exit_code.filter(|_| *tool.kind() == ToolKind::ExecCommand) else { return };
        let status = if code == 0 { ExecutionStatus::Completed } else { ExecutionStatus::Failed };
        let report = json!({"exit_code": code, "aggregated_output": ""});
        self.thread.end_runtime(draft, tool, status, &report, stamp);
    }

    /// Tells the request that a step answers. Returns the stamp of the answer.
    fn inference(
        &mut self,
        draft: &mut Draft,
        step: &Step<'_>,
        facts: &OwnCall<'_>,
        items: &[Item<'_>],
        time: Option<i64>,
        place: Place,
    ) -> Stamp {
        let model = step.model_name.as_deref().unwrap_or(&self.model).to_owned();
        if model.is_empty() {
            draft.note(Code::NoModel, Some(place));
        }
        draft.note(Code::RequestRebuilt, Some(place));
        let started_at = facts.started_at.as_deref().and_then(millis);
        if started_at.is_none() {
            draft.note(Code::NoRequestStart, Some(place));
        }
        let began = self.clock.stamp(started_at, place);
        let head = Head { model: &model };
        let provider = facts.provider.as_deref().unwrap_or_default();
        let request = Request { model: &model, provider, head: &head, input: &self.history };
        let call = match facts.inference_call_id.as_deref() {
            Some(id) => self.thread.request_as(draft, id, &request, began),
            None => {
                let tools = [("tools", &self.tools)];
                let lists = if self.tools.is_empty() { &tools[..0] } else { &tools[..] };
                self.thread.request_with_lists(draft, &request, lists, began)
            }
        };
        let ended_at = facts.ended_at.as_deref().and_then(millis).or(time);
        if ended_at.is_none() {
            draft.note(Code::NoRequestEnd, Some(place));
        }
        let ended = self.clock.stamp(ended_at, place);
        let status = status(facts.status.as_deref()).unwrap_or(ExecutionStatus::Completed);
        if status == ExecutionStatus::Running {
            draft.note(Code::OutcomeUnknown, Some(place));
            return ended;
        }
        let usage = step.metrics.as_ref().and_then(usage);
        if usage.is_none() && status == ExecutionStatus::Completed {
            draft.note(Code::NoUsage, Some(place));
        }
        let (error, request_id) = (facts.error.as_deref().unwrap_or_default(), facts.upstream_request_id.as_deref());
        let answer = match status {
            ExecutionStatus::Completed => Answer::Completed { response_id: facts.response_id.as_deref(), request_id },
            ExecutionStatus::Cancelled | ExecutionStatus::Aborted => Answer::Cancelled { reason: error },
            _ => Answer::Failed { error, request_id },
        };
        let lane = self.thread.lane();
        let texts: Vec<_> = items.iter().map(|item| draft.item(lane, item).expect("an item is plain data")).collect();
        let output: History = texts.iter().copied().collect();
        let key = format!("{}:{}step-{}", self.session, self.prefix, self.step_count);
        self.thread.answer(draft, &call, answer, &output, usage, Some(key), ended);
        for (item, text) in items.iter().zip(texts) {
            self.thread.accept(draft, item.id(), ended);
            self.history.push(text);
        }
        ended
    }

    /// Returns the id of a call in the session.
    fn call_id(&mut self, draft: &mut Draft, call: &ToolCall<'_>, number: usize, place: Place) -> String {
        let id = call.tool_call_id.to_string();
        let is_named = !id.is_empty();
        if is_named && self.ids.calls.insert(id.clone()) {
            return id;
        }
        draft.note(if is_named { Code::CallIdRepeated } else { Code::CallIdMade }, Some(place));
        let made = format!("{}step-{}:call-{number}", self.prefix, self.step_count);
        self.ids.calls.insert(made.clone());
        made
    }

    fn call(
        &mut self,
        draft: &mut Draft,
        call: &ToolCall<'_>,
        call_id: &str,
        facts: &OwnCall<'_>,
        place: Place,
    ) -> ToolId {
        let started_at = facts.started_at.as_deref().and_then(millis);
        if started_at.is_none() {
            draft.note(Code::NoToolStart, Some(place));
        }
        let stamp = self.clock.stamp(started_at, place);
        let arguments = arguments(call);
        let name = facts.tool.as_deref().unwrap_or(&call.function_name);
        let kind = facts.kind.as_deref().map_or_else(|| tool_kind(name), |kind| named_tool_kind(kind, name));
        if facts.is_nested {
            let named = (&*call.function_name, kind.clone());
            let tool = self.thread.begin_nested_call(draft, call_id, None, named, &arguments, stamp);
            if let Some(tool) = tool {
                self.begin_command(draft, &tool, facts, &arguments, stamp);
                return tool;
            }
        }
        let told =
            Call { call_id, name: &call.function_name, namespace: None, kind, arguments: &arguments, is_custom: false };
        let tool = self.thread.begin_call(draft, &told, stamp);
        self.begin_command(draft, &tool, facts, &arguments, stamp);
        tool
    }

    /// Tells the start of a command whose exit code is known.
    fn begin_command(&mut self, draft: &mut Draft, tool: &ToolId, facts: &OwnCall<'_>, arguments: &str, stamp: Stamp) {
        if facts.exit_code.is_some() && *tool.kind() == ToolKind::ExecCommand {
            let report = json!({"command": command(arguments), "cwd": self.cwd});
            self.thread.begin_runtime(draft, tool, ToolKind::ExecCommand, &report, stamp);
        }
    }

    /// Tells what a tool or the environment returned. Returns what the model sees of it.
    fn result(
        &mut self,
        draft: &mut Draft,
        step: &Step<'_>,
        number: usize,
        failures: &HashMap<String, Failed>,
        stamp: Stamp,
    ) -> Option<(usize, ItemText)> {
        let results = &step.observation.as_ref()?.results;
        let (result, place) = (results.get(number)?, stamp.place);
        let only = step.tool_calls.as_deref().filter(|calls| calls.len() == 1).map(|calls| &calls[0].tool_call_id);
        let is_only = results.len() == 1;
        let named = result.source_call_id.as_ref().or_else(|| only.filter(|_| is_only));
        let tool = named.and_then(|id| self.open.remove(&**id));
        self.refer(draft, result, tool.as_ref(), place);
        let Some(tool) = tool else {
            let id = self.item_id(draft, &format!("result-{number}"), place);
            let item = message(result.content, Role::User, id)?;
            return Some((number, self.thread.item(draft, &item, Stamp { time: Time::Unknown, place })));
        };
        let failed = named.and_then(|id| failures.get(&**id)).copied().unwrap_or_default();
        let of_result: Failure = extra(result.extra);
        let of_step: Failure = extra(step.extra.filter(|_| is_only));
        let is_error = of_result.is_error.or(of_step.is_error).unwrap_or(failed.is_error);
        let guessed = if is_error { ExecutionStatus::Failed } else { ExecutionStatus::Completed };
        if failed.ended_at.is_none() {
            draft.note(Code::NoToolEnd, Some(place));
        }
        let ended = self.clock.stamp(failed.ended_at, place);
        let status = failed.status.unwrap_or(guessed);
        let item = result.content.map(|content| Item::FunctionCallOutput {
            id: self.item_id(draft, &format!("result-{number}"), place).into(),
            call_id: tool.call_id().to_owned().into(),
            output: output(Some(content)),
        });
        if status == ExecutionStatus::Running {
            draft.note(Code::OutcomeUnknown, Some(place));
        } else {
            let raw = item.as_ref().and_then(|item| to_raw_value(item).ok());
            self.end_command(draft, &tool, failed.exit_code, ended);
            self.thread.end_call(draft, &tool, status, raw.as_deref().map(CallResult::Item), ended);
        }
        Some((number, self.thread.item(draft, &item?, ended)))
    }

    /// Records the children that a result refers to.
    fn refer(&mut self, draft: &mut Draft, result: &ObservationResult<'_>, tool: Option<&ToolId>, place: Place) {
        for named in result.subagent_trajectory_ref.iter().flatten() {
            let text = |text: &Option<Text<'_>>| text.as_ref().map(|text| text.to_string());
            let (trajectory_id, session_id) = (text(&named.trajectory_id), text(&named.session_id));
            let path = text(&named.trajectory_path);
            let Some(key) = [&trajectory_id, &path, &session_id].into_iter().flatten().next() else { continue };
            let id = child_thread_id(self.session, key);
            let stamp = Stamp { time: Time::Unknown, place };
            let spawn = tool.map(|tool| self.thread.spawned(draft, tool, &id, "", stamp));
            self.children.push(Child { id, trajectory_id, session_id, path, spawn, place });
        }
    }
}

/// What a file says of the end of a call, other than its result.
#[derive(Debug, Clone, Copy, Default)]
struct Failed {
    is_error: bool,
    status: Option<ExecutionStatus>,
    ended_at: Option<i64>,
    exit_code: Option<i32>,
}

/// What happens to the calls of a step, by the numbers of calls and results.
#[derive(Debug, Clone, Copy)]
enum Act {
    Begin(usize),
    Result(usize),
    /// Ends a call that has no result.
    Close(usize),
}

impl Failed {
    fn of(call: &ToolCall<'_>, facts: &OwnCall<'_>) -> Self {
        let failure: Failure = extra(call.extra);
        let time = |time: Option<&str>| time.and_then(millis);
        let (started_at, ended_at) = (time(facts.started_at.as_deref()), time(facts.ended_at.as_deref()));
        Self {
            is_error: failure.is_error.unwrap_or(false),
            status: status(facts.status.as_deref()),
            // A call does not end before it begins, whatever a damaged file says.
            ended_at: ended_at.map(|ended| started_at.map_or(ended, |started| ended.max(started))),
            exit_code: facts.exit_code,
        }
    }
}

/// Returns who speaks in a step.
fn speaker(step: &Step<'_>, facts: &OwnCall<'_>) -> Role {
    match (facts.role.as_deref(), &*step.source) {
        (Some("developer"), _) => Role::Developer,
        (Some("assistant"), _) | (_, "agent") => Role::Assistant,
        (_, "system") => Role::System,
        _ => Role::User,
    }
}

/// Returns the command of a call, if its arguments have one.
fn command(arguments: &str) -> Vec<String> {
    #[derive(serde::Deserialize)]
    struct Arguments {
        #[serde(alias = "command")]
        cmd: String,
    }
    serde_json::from_str::<Arguments>(arguments).map(|arguments| vec![arguments.cmd]).unwrap_or_default()
}

fn status(name: Option<&str>) -> Option<ExecutionStatus> {
    Some(match name? {
        "running" => ExecutionStatus::Running,
        "completed" => ExecutionStatus::Completed,
        "failed" => ExecutionStatus::Failed,
        "cancelled" => ExecutionStatus::Cancelled,
        "aborted" => ExecutionStatus::Aborted,
        _ => return None,
    })
}

fn usage(metrics: &Metrics<'_>) -> Option<Usage> {
    if metrics.prompt_tokens.is_none() && metrics.completion_tokens.is_none() {
        return None;
    }
    let more: MoreTokens = extra(metrics.extra);
    Some(Usage {
        input: metrics.prompt_tokens.unwrap_or(0),
        cached_input: metrics.cached_tokens.unwrap_or(0),
        cache_write_input: more.cache_creation_input_tokens.unwrap_or(0),
        output: metrics.completion_tokens.unwrap_or(0),
        reasoning_output: more.reasoning_tokens.unwrap_or(0),
    })
}

/// Returns arguments as text. Those that are a text are that text.
fn arguments<'a>(call: &ToolCall<'a>) -> Cow<'a, str> {
    let Some(arguments) = call.arguments else { return Cow::Borrowed("") };
    match serde_json::from_str::<Text<'a>>(arguments.get()) {
        Ok(text) => text.0,
        Err(_) => Cow::Borrowed(arguments.get()),
    }
}

fn call_item<'a>(call: &'a ToolCall<'_>, call_id: &'a str, id: String) -> Item<'a> {
    Item::FunctionCall {
        id: id.into(),
        name: Cow::Borrowed(&call.function_name),
        arguments: arguments(call),
        call_id: call_id.into(),
    }
}

fn message(value: Option<&RawValue>, role: Role, id: String) -> Option<Item<'_>> {
    let content: Vec<Content<'_>> = pieces(value).into_iter().map(|piece| content(piece, role)).collect();
    (!content.is_empty()).then_some(Item::Message { id: id.into(), role, content })
}

fn content(piece: Piece<'_>, role: Role) -> Content<'_> {
    match piece {
        Piece::Text(text) if role == Role::Assistant => Content::OutputText { text },
        Piece::Text(text) => Content::InputText { text },
        Piece::Other(value) => Content::Other(Cow::Borrowed(value)),
    }
}

fn output(value: Option<&RawValue>) -> Output<'_> {
    let mut pieces = pieces(value);
    match pieces.pop() {
        None => Output::Text(Cow::Borrowed("")),
        Some(Piece::Text(text)) if pieces.is_empty() => Output::Text(text),
        Some(last) => {
            pieces.push(last);
            Output::Parts(pieces.into_iter().map(|piece| content(piece, Role::User)).collect())
        }
    }
}
