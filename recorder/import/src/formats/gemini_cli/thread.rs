//! A chat file as a thread of a draft.

use std::borrow::Cow;
use std::collections::HashSet;

use serde_json::json;
use serde_json::value::{RawValue, to_raw_value};
use trace_recorder::format::import::Place;
use trace_recorder::format::{ExecutionStatus, ToolKind};

use super::calls::{kind, shell, status, termination};
use super::history::Held;
use super::log::{Listed, Log, Step};
use super::records::{FunctionResponse, Message, Part, ToolArguments, ToolCall, parts, text};
use super::telemetry::{Attempt, Telemetry};
use crate::body::{History, ItemText};
use crate::draft::Draft;
use crate::event::{Clock, EventRef, Stamp};
use crate::item::{Content, Item, Output, Role};
use crate::note::Code;
use crate::text::compact;
use crate::thread::{Answer, Awaited, Call, CallResult, Request, ThreadInfo, ThreadWriter, child_thread_id};
use crate::time::millis;

/// The provider of all models.
const PROVIDER: &str = "google";

/// How the summary of an earlier history begins.
const SUMMARY: &str = "<state_snapshot>";

/// How the message begins that the program puts in front of a history.
const CONTEXT: &str = "<session_context>";

/// The tool by which a child hands over its result.
const COMPLETE: &str = "complete_task";

/// A child that a call of the thread started.
#[derive(Debug)]
pub(crate) struct Spawned {
    /// The agent's id of the child.
    pub(crate) agent: String,
    /// The name of the kind of agent.
    pub(crate) name: Option<String>,
    /// The start of the child, as the thread saw it.
    pub(crate) event: EventRef,
    /// The end of the call, if it ended.
    pub(crate) end: Option<EventRef>,
    /// How the child ended, as the thread saw it.
    pub(crate) status: Option<ExecutionStatus>,
    /// What the call answered, where the thread has room for it, and when.
    pub(crate) answer: Option<(Awaited, String, Option<i64>)>,
}

/// How a parent refers to a child.
#[derive(Debug)]
pub(crate) struct Link {
    /// The thread of the parent.
    pub(crate) parent: String,
    /// What the parent's call says. `None` if no call leads to the child.
    pub(crate) spawned: Option<Spawned>,
}

/// Tells a chat file. Returns the children that its agent started.
pub(crate) fn tell(
    log: &Log,
    mut info: ThreadInfo,
    link: Option<&Link>,
    telemetry: Option<&Telemetry>,
    draft: &mut Draft,
) -> Vec<Spawned> {
    let place = log.place.unwrap_or(Place { source: 0, line: 1 });
    let spawned = link.and_then(|link| link.spawned.as_ref());
    let mut clock = Clock::default();
    info.model = log.messages.iter().find_map(|message| model(&message.json));
    // A child starts behind its call, whose start the file does not say.
    let stamp = clock.stamp(log.header.started, place);
    let writer = ThreadWriter::start(draft, info, stamp);
    if let Some(spawned) = spawned {
        draft.after(writer.began(), spawned.event);
    }
    let teller = Teller {
        draft,
        last_event: writer.began(),
        writer,
        clock,
        held: Held::default(),
        pending: Vec::new(),
        call_ids: HashSet::new(),
        spawned: Vec::new(),
        agents: HashSet::new(),
        turns: 0,
        compactions: 0,
        turn: None,
        is_child: log.header.is_child,
        parent_status: spawned.and_then(|spawned| spawned.status),
        attempts: telemetry.map_or(&[][..], |telemetry| telemetry.failed(&log.header.session, log.header.is_child)),
        telemetry: telemetry.filter(|_| !log.header.is_child),
    };
    let (spawned_by_it, last) = teller.tell(log, spawned.and_then(|spawned| spawned.answer.as_ref()));
    if let Some(end) = spawned.and_then(|spawned| spawned.end) {
        draft.after(end, last);
    }
    spawned_by_it
}

fn model(json: &str) -> Option<String> {
    let message: Message<'_> = serde_json::from_str(json).ok()?;
    message.model.map(|model| model.0.into_owned())
}

/// A turn that is open.
#[derive(Debug)]
struct Turn {
    place: Place,
    at: Option<i64>,
    state: State,
}

/// What the last record of a turn was.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// A prompt or results of tools, so a request was due.
    Asked,
    /// A request that failed.
    Failed,
    /// An answer without calls.
    Answered,
    /// An answer that is empty or has calls.
    Calling,
    /// Calls that the user stopped.
    Cancelled,
    /// The call by which a child ends.
    Done,
}

struct Teller<'d, 'l> {
    draft: &'d mut Draft,
    writer: ThreadWriter,
    clock: Clock,
    held: Held,
    /// Outputs of calls that no request has yet.
    pending: Vec<(String, ItemText)>,
    call_ids: HashSet<String>,
    spawned: Vec<Spawned>,
    /// The agent's ids of the children.
    agents: HashSet<String>,
    turns: usize,
    compactions: usize,
    turn: Option<Turn>,
    is_child: bool,
    parent_status: Option<ExecutionStatus>,
    /// Failed attempts that are not told yet.
    attempts: &'l [Attempt],
    telemetry: Option<&'l Telemetry>,
    last_event: EventRef,
}

/// A call of an answer.
struct Called<'a> {
    call: ToolCall<'a>,
    arguments: ToolArguments<'a>,
    /// The result as the model saw it.
    output: Option<Cow<'a, str>>,
    status: Option<ExecutionStatus>,
    ended: Option<i64>,
    call_id: String,
    item: String,
}

impl Teller<'_, '_> {
    fn tell(mut self, log: &Log, answer: Option<&(Awaited, String, Option<i64>)>) -> (Vec<Spawned>, EventRef) {
        for step in &log.steps {
            match step {
                Step::Message(index) => {
                    let folded = &log.messages[*index];
                    match serde_json::from_str::<Message<'_>>(&folded.json) {
                        Ok(message) => self.message(&folded.id, &message, folded.place, folded.updated),
                        Err(_) => self.draft.note(Code::DamagedLine, Some(folded.updated)),
                    }
                }
                Step::Replace(listed, place) => self.replace(listed, *place),
                Step::Rewind(id, place) => {
                    self.pending.clear();
                    if self.held.rewind(id) {
                        self.draft.note(Code::DeadBranch, Some(*place));
                    }
                }
            }
        }
        self.failed_attempts(None);
        let place = self.turn.as_ref().map(|turn| turn.place).or(log.place);
        self.conclude(true);
        if let Some((awaited, message, at)) = answer.filter(|_| !self.writer.is_in_turn()) {
            let stamp = self.clock.stamp(*at, place.unwrap_or(Place { source: 0, line: 1 }));
            self.writer.answered(self.draft, awaited, message, stamp);
        }
        (self.spawned, self.last_event)
    }

    fn message(&mut self, id: &str, message: &Message<'_>, place: Place, updated: Place) {
        let at = message.timestamp.as_deref().and_then(millis);
        match message.kind.as_deref().unwrap_or_default() {
            "user" => self.user(id, message, at, place),
            "gemini" => self.answer(id, message, at, place, updated),
            "error" => {
                if let Some(turn) = &mut self.turn {
                    *turn = Turn { place, at, state: State::Failed };
                }
            }
            // Notices of the program, which the model does not see.
            "info" | "warning" => {}
            kind => self.draft.unknown(kind, place),
        }
    }

    // Lines of the user.

    fn user(&mut self, id: &str, message: &Message<'_>, at: Option<i64>, place: Place) {
        let parts = parts(message.content);
        if parts.iter().any(|part| part.response.is_some()) {
            return self.results(id, &parts, at, place);
        }
        let text = text(&parts);
        let is_context = text.starts_with(CONTEXT);
        // A child has one task. Later prompts are reminders of it.
        let is_reminder = self.is_child && self.turns > 0;
        let is_prompt = !is_context && !is_reminder;
        if is_prompt {
            self.failed_attempts(at);
            self.conclude(false);
            self.begin_turn(at, place);
        } else if let Some(turn) = self.turn.as_mut().filter(|_| !is_context) {
            *turn = Turn { place, at, state: State::Asked };
        }
        self.flush();
        let stamp = self.clock.stamp(at, place);
        let item = self.user_item(id, &text, message, &parts);
        let item = self.writer.item(self.draft, &item, stamp);
        self.held.push(id, vec![item]);
    }

    fn user_item<'a>(&self, id: &'a str, text: &'a str, message: &'a Message<'_>, parts: &[Part<'_>]) -> Item<'a> {
        let mut content = vec![Content::InputText { text: text.into() }];
        let has_other = parts.iter().any(|part| part.text.is_none() && part.call.is_none());
        if let Some(raw) = message.content.filter(|_| has_other) {
            // Pictures and files are kept together with the texts around them.
            content.push(Content::Other(Cow::Borrowed(raw)));
        }
        Item::Message { id: Cow::Borrowed(id), role: Role::User, content }
    }

    fn begin_turn(&mut self, at: Option<i64>, place: Place) {
        self.turns += 1;
        self.draft.note(Code::TurnIdMade, Some(place));
        let id = format!("{}:turn-{}", self.writer.id(), self.turns);
        let stamp = self.clock.stamp(at, place);
        self.last_event = self.writer.begin_turn(self.draft, &id, stamp);
        self.turn = Some(Turn { place, at, state: State::Asked });
    }

    /// Puts outputs of calls into the history. The calls have them already, unless their line is damaged.
    fn results(&mut self, id: &str, parts: &[Part<'_>], at: Option<i64>, place: Place) {
        let mut items = Vec::new();
        for (index, response) in parts.iter().filter_map(|part| part.response.as_ref()).enumerate() {
            let call = response.id.as_deref().unwrap_or_default();
            let text = response.text();
            if let Some(known) = self.pending.iter().position(|(pending, _)| pending == call) {
                items.push(self.pending.remove(known).1);
            } else if self.held.output(call, &text).is_none() {
                let item = output_item(&format!("{id}:{index}"), call, &text);
                let stamp = self.clock.stamp(at, place);
                let item = self.writer.item(self.draft, &item, stamp);
                self.held.answered(call, item, &text);
                items.push(item);
            }
        }
        self.held.push(id, items);
        if let Some(turn) = &mut self.turn {
            let state = if matches!(turn.state, State::Cancelled | State::Done) { turn.state } else { State::Asked };
            *turn = Turn { place, at, state };
        }
    }

    /// Puts outputs into the history that no line does.
    fn flush(&mut self) {
        for (call, item) in std::mem::take(&mut self.pending) {
            self.held.push(&format!("{call}:output"), vec![item]);
        }
    }

    // Answers of the model.

    fn answer(&mut self, id: &str, message: &Message<'_>, at: Option<i64>, place: Place, updated: Place) {
        self.failed_attempts(at);
        self.flush();
        let model = message.model.as_deref().unwrap_or_default();
        if model.is_empty() {
            self.draft.note(Code::NoModel, Some(place));
        }
        let usage = message.tokens.as_ref().map(super::records::Tokens::usage);
        if usage.is_none() {
            self.draft.note(Code::NoUsage, Some(place));
        }
        let began = self.telemetry.and_then(|telemetry| telemetry.start_of(at?, usage.as_ref()?));
        if began.is_none() {
            self.draft.note(Code::NoRequestStart, Some(place));
        }
        let head = json!({"model": model});
        let request = Request { model, provider: PROVIDER, head: &head, input: self.held.items() };
        let stamp = self.clock.stamp(began, place);
        let call = self.writer.request(self.draft, &request, stamp);
        let parts = parts(message.content);
        let said = text(&parts);
        let called = self.called(id, message, updated);
        let (items, kept, accepted) = self.said(id, message, &said, &called);
        let stamp = self.clock.stamp(at, place);
        let answer = Answer::Completed { response_id: None, request_id: None };
        let key = Some(format!("gemini-cli:{id}")).filter(|_| !id.is_empty());
        self.last_event = self.writer.answer(self.draft, &call, answer, &items, usage, key, stamp);
        for item in accepted {
            self.writer.accept(self.draft, &item, stamp);
        }
        self.held.push(id, kept);
        let is_answer = called.is_empty() && !said.trim().is_empty();
        let state = self.run(called, at, updated);
        let state = if is_answer { State::Answered } else { state };
        let (place, at) = (updated, at);
        match &mut self.turn {
            Some(turn) => *turn = Turn { place, at: turn.at.max(at), state },
            None => self.turn = Some(Turn { place, at, state }),
        }
    }

    /// Reads the calls of an answer.
    fn called<'a>(&mut self, id: &str, message: &'a Message<'a>, place: Place) -> Vec<Called<'a>> {
        let mut called = Vec::new();
        for (index, raw) in message.calls.iter().flatten().enumerate() {
            let Ok(call) = serde_json::from_str::<ToolCall<'a>>(raw.get()) else {
                self.draft.note(Code::DamagedLine, Some(place));
                continue;
            };
            let output = parts(call.result).iter().find_map(|part| part.response.as_ref().map(FunctionResponse::text));
            let item = format!("{id}:call-{}", index + 1);
            called.push(Called {
                arguments: ToolArguments::parse(call.args),
                status: call.status.as_deref().and_then(status),
                ended: call.timestamp.as_deref().and_then(millis),
                call_id: self.call_id(call.id.as_deref(), &item, place),
                output,
                call,
                item,
            });
        }
        called
    }

    /// Returns an id that no other call of the thread has.
    fn call_id(&mut self, id: Option<&str>, item: &str, place: Place) -> String {
        let id = id.filter(|id| !id.is_empty()).unwrap_or_else(|| {
            self.draft.note(Code::CallIdMade, Some(place));
            item
        });
        if self.call_ids.insert(id.to_owned()) {
            return id.to_owned();
        }
        self.draft.note(Code::CallIdRepeated, Some(place));
        let made = format!("{id}:{item}:{}", self.call_ids.len());
        self.call_ids.insert(made.clone());
        made
    }

    /// Adds the items of an answer. Returns those of the response, those that stay in the history, and the ids of these.
    fn said(
        &mut self,
        id: &str,
        message: &Message<'_>,
        said: &str,
        called: &[Called<'_>],
    ) -> (History, Vec<ItemText>, Vec<String>) {
        let lane = self.writer.lane();
        let add = |draft: &mut Draft, item: &Item<'_>| draft.item(lane, item).expect("an item is plain data");
        let (mut items, mut kept, mut ids) = (History::default(), Vec::new(), Vec::new());
        let thoughts = message.thoughts.iter().flatten().map(super::records::Thought::text);
        for (index, thought) in thoughts.enumerate().filter(|(_, thought)| !thought.is_empty()) {
            // The next request does not repeat thoughts.
            items.push(add(
                self.draft,
                &Item::Reasoning {
                    id: format!("{id}:thought-{}", index + 1).into(),
                    summary: vec![Content::SummaryText { text: thought.into() }],
                    content: Vec::new(),
                    encrypted_content: None,
                },
            ));
        }
        if !said.is_empty() {
            let content = vec![Content::OutputText { text: said.into() }];
            kept.push(add(self.draft, &Item::Message { id: id.into(), role: Role::Assistant, content }));
            ids.push(id.to_owned());
        }
        for called in called {
            let item = Item::FunctionCall {
                id: called.item.as_str().into(),
                name: (*called.call.name).into(),
                arguments: arguments(called.call.args),
                call_id: called.call_id.as_str().into(),
            };
            let item = add(self.draft, &item);
            self.held.called(&called.call_id, item);
            kept.push(item);
            ids.push(called.item.clone());
        }
        kept.iter().for_each(|item| items.push(*item));
        (items, kept, ids)
    }

    // Tools.

    /// Runs the calls of an answer. Returns the state of the turn behind them.
    fn run(&mut self, called: Vec<Called<'_>>, at: Option<i64>, place: Place) -> State {
        let mut state = State::Calling;
        let mut running = Vec::with_capacity(called.len());
        for called in called {
            let stamp = self.clock.stamp(None, place);
            self.draft.note(Code::NoToolStart, Some(place));
            let call = Call {
                call_id: &called.call_id,
                name: &called.call.name,
                namespace: None,
                kind: kind(&called.call.name),
                arguments: &arguments(called.call.args),
                is_custom: false,
            };
            let tool = self.writer.begin_call(self.draft, &call, stamp);
            let spawned = self.spawn(&called, &tool, stamp);
            running.push((called, tool, spawned));
        }
        running.sort_by_key(|(called, ..)| called.ended);
        for (called, tool, spawned) in running {
            let Some(status) = self.outcome(&called) else {
                self.draft.note(Code::OutcomeUnknown, Some(place));
                continue;
            };
            if called.ended.is_none() {
                self.draft.note(Code::NoToolEnd, Some(place));
            }
            let began = self.clock.stamp(None, place);
            let ended = self.clock.stamp(called.ended.or(at), place);
            let output = called.output.as_deref().unwrap_or_default();
            let is_shell = *tool.kind() == ToolKind::ExecCommand && called.status == Some(ExecutionStatus::Completed);
            let command = called.arguments.command.as_deref().filter(|_| is_shell);
            if let (Some(command), Some((output, Some(exit)))) = (command, shell(output)) {
                self.writer.command(self.draft, &tool, &[command], exit, output, (began, ended));
            }
            let item = called.output.as_ref().map(|output| {
                let item = output_item(&format!("{}:output", called.item), &called.call_id, output);
                to_raw_value(&item).expect("an item is plain data")
            });
            let result = item.as_deref().map(CallResult::Item);
            // A call that was stopped did not wait.
            let has_waited = spawned.is_some() && status != ExecutionStatus::Cancelled;
            let awaited =
                has_waited.then(|| self.writer.await_answer(self.draft, format!("{}:answer", tool.as_str()), ended));
            self.last_event = self.writer.end_call(self.draft, &tool, status, result, ended);
            if let Some(item) = &item {
                let item = self.draft.raw_item(self.writer.lane(), item);
                self.writer.accept(self.draft, &format!("{}:output", called.item), ended);
                self.held.answered(&called.call_id, item, output);
                self.pending.push((called.call_id.clone(), item));
            }
            if let Some(spawned) = spawned {
                self.spawned[spawned].end = Some(self.last_event);
                self.spawned[spawned].status = termination(output).or(Some(status));
                self.spawned[spawned].answer = awaited.map(|awaited| (awaited, output.to_owned(), called.ended));
            }
            if self.is_child && *called.call.name == *COMPLETE && status == ExecutionStatus::Completed {
                state = State::Done;
            } else if status == ExecutionStatus::Cancelled && state == State::Calling {
                state = State::Cancelled;
            }
        }
        state
    }

    fn spawn(&mut self, called: &Called<'_>, tool: &crate::thread::ToolId, stamp: Stamp) -> Option<usize> {
        let agent = called.call.agent.as_deref().filter(|agent| !agent.is_empty())?;
        if !self.agents.insert(agent.to_owned()) {
            return None;
        }
        let thread = child_thread_id(self.writer.id(), agent);
        let prompt = called.arguments.prompt.as_deref().unwrap_or_default();
        let event = self.writer.spawned(self.draft, tool, &thread, prompt, stamp);
        let name = called.arguments.agent_name.as_deref().map(str::to_owned);
        self.spawned.push(Spawned { agent: agent.to_owned(), name, event, end: None, status: None, answer: None });
        Some(self.spawned.len() - 1)
    }

    /// Returns how a call ended. The file counts commands that failed and children without a result as successes.
    fn outcome(&self, called: &Called<'_>) -> Option<ExecutionStatus> {
        let status = called.status?;
        let output = called.output.as_deref().unwrap_or_default();
        if status != ExecutionStatus::Completed {
            return Some(status);
        }
        Some(match &*called.call.name {
            "run_shell_command" if shell(output).is_some_and(|(_, exit)| exit != Some(0)) => ExecutionStatus::Failed,
            "invoke_agent" => termination(output).unwrap_or(status),
            _ => status,
        })
    }

    // The history.

    /// Takes over a new history. It is a compaction if it has a summary that was not there before.
    fn replace(&mut self, listed: &[Listed], place: Place) {
        let mut messages = Vec::with_capacity(listed.len());
        for one in listed {
            match serde_json::from_str::<Message<'_>>(&one.json) {
                Ok(message) => {
                    let parts = parts(message.content);
                    messages.push((one.id.as_str(), message, parts));
                }
                Err(_) => self.draft.note(Code::DamagedLine, Some(place)),
            }
        }
        let is_known = |id: &str| self.held.find(id).is_some();
        let is_compaction = messages.iter().any(|(id, _, parts)| !is_known(id) && parts.iter().any(is_summary));
        // A process that goes on has the results of calls twice: in the messages that it knows, and in made ones.
        let known = messages.iter().filter(|(id, ..)| is_known(id)).flat_map(|(.., parts)| parts);
        let answered: HashSet<String> = known.filter_map(answered_call).map(str::to_owned).collect();
        let before = self.held.items().clone();
        self.held.clear();
        for (id, message, parts) in &messages {
            let is_context = text(parts).starts_with(CONTEXT);
            if let Some(items) = self.held.find(id).filter(|_| !is_context) {
                let items = items.clone();
                self.held.push(id, items);
                continue;
            }
            let is_copy = !parts.is_empty()
                && parts.iter().all(|part| answered_call(part).is_some_and(|call| answered.contains(call)));
            if !is_copy {
                let items = self.listed(id, message, parts, place);
                self.held.push(id, items);
            }
        }
        if is_compaction {
            self.compactions += 1;
            let id = format!("{}:compaction-{}", self.writer.id(), self.compactions);
            let stamp = self.clock.stamp(None, place);
            let after = self.held.items().clone();
            self.writer.compacted(self.draft, &id, &before, &after, stamp);
        }
    }

    /// Adds the items of a message that only a new history has.
    fn listed(&mut self, id: &str, message: &Message<'_>, parts: &[Part<'_>], place: Place) -> Vec<ItemText> {
        let is_user = message.kind.as_deref() == Some("user");
        let stamp = self.clock.stamp(None, place);
        let mut items = Vec::new();
        let text = text(parts);
        if !text.is_empty() {
            let content = if is_user {
                Content::InputText { text: text.as_str().into() }
            } else {
                Content::OutputText { text: text.as_str().into() }
            };
            let role = if is_user { Role::User } else { Role::Assistant };
            let item = Item::Message { id: id.into(), role, content: vec![content] };
            items.push(self.writer.item(self.draft, &item, stamp));
        }
        for (index, part) in parts.iter().enumerate() {
            if let Some(call) = &part.call {
                let call_id = call.id.as_deref().unwrap_or_default();
                let known = self.held.call(call_id);
                items.push(known.unwrap_or_else(|| {
                    let item = Item::FunctionCall {
                        id: format!("{id}:{index}").into(),
                        name: (*call.name).into(),
                        arguments: arguments(call.args),
                        call_id: call_id.into(),
                    };
                    self.call_ids.insert(call_id.to_owned());
                    let item = self.writer.item(self.draft, &item, stamp);
                    self.held.called(call_id, item);
                    item
                }));
            }
            if let Some(response) = &part.response {
                let call_id = response.id.as_deref().unwrap_or_default();
                self.pending.retain(|(pending, _)| pending != call_id);
                let text = response.text();
                let known = self.held.output(call_id, &text);
                items.push(known.unwrap_or_else(|| {
                    let item = output_item(&format!("{id}:{index}"), call_id, &text);
                    self.writer.item(self.draft, &item, stamp)
                }));
            }
        }
        items
    }

    // Ends.

    /// Tells the failed attempts before a time, or all that are left.
    fn failed_attempts(&mut self, before: Option<i64>) {
        while let Some((attempt, rest)) = self.attempts.split_first() {
            if before.is_some_and(|before| attempt.at >= before) {
                break;
            }
            self.attempts = rest;
            // Attempts before the first prompt are none of the thread.
            let Some(turn) = &self.turn else { continue };
            if turn.at.is_some_and(|at| attempt.at < at) {
                continue;
            }
            self.flush();
            let model = attempt.model.as_str();
            let head = json!({"model": model});
            let request = Request { model, provider: PROVIDER, head: &head, input: self.held.items() };
            let stamp = self.clock.stamp(attempt.began, attempt.place);
            let call = self.writer.request(self.draft, &request, stamp);
            let stamp = self.clock.stamp(Some(attempt.at), attempt.place);
            let answer = Answer::Failed { error: &attempt.error, request_id: None };
            let none = History::default();
            self.last_event = self.writer.answer(self.draft, &call, answer, &none, None, None, stamp);
            self.turn = Some(Turn { place: attempt.place, at: Some(attempt.at), state: State::Failed });
        }
    }

    /// Ends a turn because the next one begins, or because the file ends.
    fn conclude(&mut self, is_end_of_file: bool) {
        let Some(turn) = self.turn.take().filter(|_| self.writer.is_in_turn()) else { return };
        let seen = match turn.state {
            State::Failed => Some(ExecutionStatus::Failed),
            State::Answered | State::Done => Some(ExecutionStatus::Completed),
            State::Cancelled => Some(ExecutionStatus::Cancelled),
            State::Asked | State::Calling => None,
        };
        let status = match self.parent_status.filter(|_| is_end_of_file).or(seen) {
            Some(status) => status,
            None => {
                self.draft.note(Code::TurnEndUnknown, Some(turn.place));
                if is_end_of_file {
                    return;
                }
                // Another turn began, so this one runs no more.
                ExecutionStatus::Aborted
            }
        };
        self.draft.note(Code::TurnEndInferred, Some(turn.place));
        let stamp = self.clock.stamp(turn.at, turn.place);
        if let Some(ended) = self.writer.end_turn(self.draft, status, stamp) {
            self.last_event = ended;
        }
    }
}

/// Returns the call whose result a part is.
fn answered_call<'p>(part: &'p Part<'_>) -> Option<&'p str> {
    part.response.as_ref()?.id.as_deref()
}

fn is_summary(part: &Part<'_>) -> bool {
    part.text.as_deref().is_some_and(|text| text.trim_start().starts_with(SUMMARY))
}

fn arguments(args: Option<&RawValue>) -> Cow<'_, str> {
    args.map_or(Cow::Borrowed(""), |args| compact(args.get()))
}

fn output_item<'a>(id: &str, call: &'a str, text: &'a str) -> Item<'a> {
    Item::FunctionCallOutput { id: id.to_owned().into(), call_id: call.into(), output: Output::Text(text.into()) }
}
