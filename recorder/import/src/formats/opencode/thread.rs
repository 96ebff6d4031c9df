//! A session of opencode as a thread of a draft.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use serde_json::json;
use serde_json::value::{RawValue, to_raw_value};
use trace_recorder::format::import::Place;
use trace_recorder::format::{ExecutionStatus, ToolKind};

use super::calls::ToolCall;
use super::records::proof;
use super::store::Loaded;
use super::turns::{Entry, Turn, entries, turns};
use crate::body::{History, ItemText};
use crate::draft::Draft;
use crate::event::{Clock, EventRef, Stamp};
use crate::item::{Content, Item, Output, Role};
use crate::note::Code;
use crate::summary::Usage;
use crate::thread::{Answer, Awaited, Call, CallResult, Request, ThreadInfo, ThreadWriter, ToolId};

/// A child that a call of the thread started.
#[derive(Debug)]
pub(crate) struct Spawned {
    /// The child's session.
    pub(crate) session: String,
    pub(crate) task_name: Option<String>,
    pub(crate) role: Option<String>,
    /// The start of the child, as the thread saw it.
    pub(crate) event: EventRef,
    pub(crate) began: Option<i64>,
    /// The calls that gave it tasks.
    pub(crate) calls: Vec<TaskCall>,
}

/// A call that gave a child a task.
#[derive(Debug)]
pub(crate) struct TaskCall {
    pub(crate) began: Option<i64>,
    pub(crate) ended: Option<i64>,
    /// The end of the call, if it waited for the child.
    pub(crate) end: Option<EventRef>,
    /// What the call answered, and where the parent's thread has room for it.
    pub(crate) answer: Option<(Awaited, String)>,
}

/// How a parent refers to a child.
#[derive(Debug)]
pub(crate) struct Link {
    /// The thread of the parent.
    pub(crate) parent: String,
    /// What the parent's calls say. `None` if no call leads to the child.
    pub(crate) spawned: Option<Spawned>,
}

/// Tells a session. Returns the children that it started.
pub(crate) fn tell(loaded: &Loaded, mut info: ThreadInfo, link: Option<&Link>, draft: &mut Draft) -> Vec<Spawned> {
    let entries = entries(loaded, draft);
    let turns = turns(&entries, draft);
    info.model = entries.iter().find_map(|entry| entry.message.model.as_deref()).map(str::to_owned);
    let spawned = link.and_then(|link| link.spawned.as_ref());
    let mut clock = Clock::default();
    // A fork without prompts of its own would be empty without the copied messages.
    let shows_copies = entries.iter().all(|entry| entry.is_copy);
    let first = entries.first().and_then(|entry| entry.message.time.created());
    let created = first.filter(|_| shows_copies).or(loaded.info.created);
    // The parent's call has its time when the child exists already.
    let began = spawned.and_then(|spawned| spawned.began).max(created);
    let created = created.filter(|created| began == Some(*created));
    let stamp = clock.stamp(created, loaded.place);
    let writer = ThreadWriter::start(draft, info, stamp);
    if let Some(spawned) = spawned {
        draft.after(writer.began(), spawned.event);
    }
    let mut teller = Teller {
        draft,
        writer,
        clock,
        entries: &entries,
        shows_copies,
        history: History::default(),
        call_ids: HashSet::new(),
        cwd: loaded.info.directory.clone().unwrap_or_default(),
        spawned: Vec::new(),
        by_session: HashMap::new(),
        waiting: waiting(link, &entries, &turns),
        last: None,
    };
    let reverted = loaded.info.reverted_from.as_deref();
    let mut is_reverted = false;
    for (index, turn) in turns.iter().enumerate() {
        for message in turn.messages() {
            is_reverted |= reverted == Some(&entries[message].stored.id);
            if is_reverted {
                teller.draft.note(Code::DeadBranch, Some(entries[message].stored.place));
            }
        }
        teller.turn(index, turn, turns.get(index + 1));
    }
    teller.spawned
}

/// Returns for each turn the call of the parent that waited for it: the last turn that began while the call ran.
fn waiting<'l>(link: Option<&'l Link>, entries: &[Entry<'_>], turns: &[Turn]) -> HashMap<usize, &'l TaskCall> {
    let calls = link.and_then(|link| link.spawned.as_ref()).map_or(&[][..], |spawned| &spawned.calls);
    let mut waiting = HashMap::new();
    let begins = |turn: &Turn| {
        let first = turn.messages().next()?;
        entries[first].message.time.created()
    };
    let mut next = 0;
    for call in calls {
        let mut last = None;
        while let Some(turn) = turns.get(next) {
            let began = begins(turn);
            if began.zip(call.ended).is_some_and(|(began, ended)| began > ended) {
                break;
            }
            if began >= call.began {
                last = Some(next);
            }
            next += 1;
        }
        if let Some(last) = last {
            waiting.insert(last, call);
        }
    }
    waiting
}

struct Teller<'d, 'a, 'l> {
    draft: &'d mut Draft,
    writer: ThreadWriter,
    clock: Clock,
    entries: &'a [Entry<'a>],
    /// Whether copies of messages of another session are told like others.
    shows_copies: bool,
    /// What the model sees next.
    history: History,
    call_ids: HashSet<String>,
    cwd: String,
    spawned: Vec<Spawned>,
    by_session: HashMap<String, usize>,
    /// The calls of the parent that wait for the ends of turns.
    waiting: HashMap<usize, &'l TaskCall>,
    /// The place of the last message of the turn, and the end of what happened in it.
    last: Option<(Place, Option<i64>)>,
}

/// A call that waits for its turn among the other calls of an answer.
struct Pending<'a> {
    call: ToolCall<'a>,
    item: &'a str,
    call_id: String,
    place: Place,
    tool: Option<ToolId>,
    /// The call's start as the parent of a child saw it.
    child: Option<usize>,
    output: Option<ItemText>,
}

/// What an answer left in the history.
#[derive(Default)]
struct Said<'a> {
    items: History,
    kept: Vec<ItemText>,
    ids: Vec<String>,
    calls: Vec<Pending<'a>>,
}

impl<'a> Teller<'_, 'a, '_> {
    fn turn(&mut self, index: usize, turn: &Turn, next: Option<&Turn>) {
        let entries = self.entries;
        let Some(first) = turn.messages().next().map(|first| &entries[first]) else { return };
        if turn.messages().all(|message| entries[message].is_copy) {
            for message in turn.messages() {
                self.draft.note(Code::CopiedRecord, Some(entries[message].stored.place));
            }
            if !self.shows_copies {
                return self.copies(turn);
            }
        }
        let place = first.stored.place;
        let id = match (turn.prompt, first.message.parent.as_deref()) {
            (Some(_), _) => first.stored.id.clone(),
            (None, Some(parent)) => parent.to_owned(),
            (None, None) => {
                self.draft.note(Code::TurnIdMade, Some(place));
                format!("{}:turn-{}", self.writer.id(), index + 1)
            }
        };
        let stamp = self.clock.stamp(first.message.time.created(), place);
        self.writer.begin_turn(self.draft, &id, stamp);
        self.last = Some((place, first.message.time.created()));
        if let Some(prompt) = turn.prompt {
            self.prompt(&entries[prompt], stamp);
        }
        for answer in &turn.answers {
            self.answer(&entries[*answer]);
        }
        let compaction = turn.prompt.filter(|prompt| entries[*prompt].has_part("compaction"));
        if let (Some(prompt), Some(last)) = (compaction, turn.answers.last()) {
            self.compacted(&entries[prompt], &entries[*last]);
        }
        let ended = self.end_turn(turn, next);
        let waiting = self.waiting.get(&index).copied();
        if let (Some(ended), Some(call)) = (ended, waiting) {
            if let Some(end) = call.end {
                self.draft.after(end, ended);
            }
            if let Some((awaited, message)) = &call.answer {
                let stamp = self.clock.stamp(call.ended, self.last.map_or(place, |(place, _)| place));
                self.writer.answered(self.draft, awaited, message, stamp);
            }
        }
    }

    /// Takes messages of another session over into the history, without telling them again.
    fn copies(&mut self, turn: &Turn) {
        for message in turn.messages() {
            let entry = &self.entries[message];
            if *entry.message.role == *"user" {
                if let Some(item) = prompt_item(entry) {
                    let text = self.draft.item(self.writer.lane(), &item).expect("an item is plain data");
                    self.history.push(text);
                }
                continue;
            }
            let said = self.said(entry);
            if entry.message.is_summary() && entry.message.error.is_none() {
                self.history = History::default();
            }
            said.kept.iter().for_each(|item| self.history.push(*item));
            for pending in &said.calls {
                if let Some(raw) = self.output_item(pending) {
                    let text = self.draft.raw_item(self.writer.lane(), &raw);
                    self.history.push(text);
                }
            }
        }
    }

    fn prompt(&mut self, entry: &Entry<'_>, stamp: Stamp) {
        if let Some(item) = prompt_item(entry) {
            let text = self.writer.item(self.draft, &item, stamp);
            self.history.push(text);
        }
    }

    /// Tells an answer.
    fn answer(&mut self, entry: &'a Entry<'a>) {
        let place = entry.stored.place;
        let message = &entry.message;
        if !entry.is_model_call() {
            let said = self.said(entry);
            return self.finish_answer(entry, said, true);
        }
        let model = message.model.as_deref().unwrap_or_default();
        if model.is_empty() {
            self.draft.note(Code::NoModel, Some(place));
        }
        let request = Request {
            model,
            provider: message.provider.as_deref().unwrap_or_default(),
            head: &json!({"model": model}),
            input: &self.history,
        };
        let stamp = self.clock.stamp(message.time.created(), place);
        let call = self.writer.request(self.draft, &request, stamp);
        let said = self.said(entry);
        let error = message.error.as_ref().map(super::records::ErrorInfo::text);
        let answer = match &error {
            Some(reason) if message.is_aborted() => Answer::Cancelled { reason },
            Some(error) => Answer::Failed { error, request_id: None },
            // The program was stopped before it noted the end, unless tools show that the answer was complete.
            None if message.time.completed().is_none() && said.calls.is_empty() => {
                self.draft.note(Code::OutcomeUnknown, Some(place));
                return self.finish_answer(entry, said, false);
            }
            None => Answer::Completed { response_id: None, request_id: None },
        };
        // The end of a message is that of its tools. They start when the model has called them.
        let calls = said.calls.iter().filter_map(|pending| pending.call.began).min();
        if !said.calls.is_empty() {
            self.draft.note(Code::NoRequestEnd, Some(place));
        }
        let end = if said.calls.is_empty() { message.time.completed() } else { calls };
        let usage = message.usage();
        if usage.is_none() {
            self.draft.note(Code::NoUsage, Some(place));
        }
        let stamp = self.clock.stamp(end, place);
        self.writer.answer(self.draft, &call, answer, &said.items, usage, key(entry, usage), stamp);
        // An answer that failed is left out of the next request, and so is one of which only thoughts arrived.
        let is_kept = error.is_none() || (message.is_aborted() && (entry.has_part("text") || entry.has_part("tool")));
        self.finish_answer(entry, said, is_kept);
    }

    /// Accepts the items of an answer into the history and runs its tools.
    fn finish_answer(&mut self, entry: &Entry<'_>, mut said: Said<'a>, is_kept: bool) {
        let stamp = self.clock.stamp(None, entry.stored.place);
        for id in &said.ids {
            self.writer.accept(self.draft, id, stamp);
        }
        if is_kept {
            said.kept.iter().for_each(|item| self.history.push(*item));
        }
        self.run(&mut said.calls);
        if is_kept {
            said.calls.iter().filter_map(|pending| pending.output).for_each(|output| self.history.push(output));
        }
        let ended = said.calls.iter().filter_map(|pending| pending.call.ended).max();
        self.last = Some((entry.stored.place, entry.message.time.completed().max(ended)));
    }

    /// Adds the items of an answer to the texts of the thread.
    fn said(&mut self, entry: &'a Entry<'a>) -> Said<'a> {
        let mut said = Said::default();
        let is_aborted = entry.message.is_aborted();
        for (stored, part) in &entry.parts {
            let id = Cow::Borrowed(stored.id.as_str());
            let text = part.text.as_deref().unwrap_or_default();
            let item = match &*part.kind {
                "text" if !text.is_empty() => Item::Message {
                    id,
                    role: Role::Assistant,
                    content: vec![Content::OutputText { text: text.into() }],
                },
                "reasoning" => {
                    let encrypted = proof(part.metadata);
                    if text.is_empty() && encrypted.is_none() {
                        continue;
                    }
                    let content =
                        if text.is_empty() { Vec::new() } else { vec![Content::ReasoningText { text: text.into() }] };
                    Item::Reasoning { id, summary: Vec::new(), content, encrypted_content: encrypted.map(Cow::Owned) }
                }
                "tool" => {
                    let Some(call) = ToolCall::of(part, is_aborted) else {
                        self.draft.note(Code::DamagedLine, Some(stored.place));
                        continue;
                    };
                    let call_id = self.call_id(part.call.as_deref(), &stored.id, stored.place);
                    let item = Item::FunctionCall {
                        id,
                        name: call.name.clone().into_owned().into(),
                        arguments: Cow::Borrowed(&*call.arguments),
                        call_id: call_id.clone().into(),
                    };
                    let text = self.draft.item(self.writer.lane(), &item).expect("an item is plain data");
                    said.add(text, &stored.id);
                    let item = stored.id.as_str();
                    let place = stored.place;
                    said.calls.push(Pending { call, item, call_id, place, tool: None, child: None, output: None });
                    continue;
                }
                "text" | "step-start" | "step-finish" | "patch" | "snapshot" | "retry" | "file" | "agent"
                | "subtask" | "compaction" => continue,
                kind => {
                    self.draft.unknown(kind, stored.place);
                    continue;
                }
            };
            let text = self.draft.item(self.writer.lane(), &item).expect("an item is plain data");
            said.add(text, &stored.id);
        }
        said
    }

    /// Returns an id that no other call of the thread has.
    fn call_id(&mut self, id: Option<&str>, part: &str, place: Place) -> String {
        let id = id.filter(|id| !id.is_empty()).unwrap_or_else(|| {
            self.draft.note(Code::CallIdMade, Some(place));
            part
        });
        if self.call_ids.insert(id.to_owned()) {
            return id.to_owned();
        }
        self.draft.note(Code::CallIdRepeated, Some(place));
        let made = format!("{id}:{part}:{}", self.call_ids.len());
        self.call_ids.insert(made.clone());
        made
    }

    /// Runs the calls of an answer. Calls that ran at the same time are interleaved by their times.
    fn run(&mut self, calls: &mut [Pending<'a>]) {
        let mut steps = Vec::with_capacity(calls.len() * 2);
        for (index, pending) in calls.iter().enumerate() {
            let began = pending.call.began;
            steps.push((began, false, index));
            if pending.call.status.is_some() {
                steps.push((pending.call.ended.max(began), true, index));
            }
        }
        steps.sort_unstable();
        // A call whose start is unknown comes first.
        for (at, is_end, index) in steps {
            if is_end { self.end_call(&mut calls[index], at) } else { self.begin_call(&mut calls[index], at) }
        }
    }

    fn begin_call(&mut self, pending: &mut Pending<'a>, at: Option<i64>) {
        if at.is_none() {
            self.draft.note(Code::NoToolStart, Some(pending.place));
        }
        let stamp = self.clock.stamp(at, pending.place);
        let known = pending.call.child.as_ref().and_then(|child| self.by_session.get(child)).copied();
        let kind = if known.is_some() { ToolKind::AssignAgentTask } else { pending.call.kind.clone() };
        let call = Call {
            call_id: &pending.call_id,
            name: &pending.call.name,
            namespace: None,
            kind,
            arguments: &pending.call.arguments,
            is_custom: false,
        };
        let tool = self.writer.begin_call(self.draft, &call, stamp);
        if let Some(command) = &pending.call.command {
            let report = json!({"command": [command], "cwd": self.cwd});
            self.writer.begin_runtime(self.draft, &tool, ToolKind::ExecCommand, &report, stamp);
        }
        if let Some(child) = &pending.call.child {
            pending.child = Some(known.unwrap_or_else(|| self.spawn(&tool, child, &pending.call, stamp)));
        }
        if pending.call.status.is_none() {
            self.draft.note(Code::OutcomeUnknown, Some(pending.place));
            if let Some(child) = pending.child {
                let call = TaskCall { began: at, ended: None, end: None, answer: None };
                self.spawned[child].calls.push(call);
            }
        }
        pending.tool = Some(tool);
    }

    fn spawn(&mut self, tool: &ToolId, session: &str, call: &ToolCall<'_>, stamp: Stamp) -> usize {
        let thread = super::ids::thread_id(session);
        let event = self.writer.spawned(self.draft, tool, &thread, &call.task.prompt, stamp);
        self.by_session.insert(session.to_owned(), self.spawned.len());
        self.spawned.push(Spawned {
            session: session.to_owned(),
            task_name: call.task.name.clone(),
            role: call.task.role.clone(),
            event,
            began: call.began,
            calls: Vec::new(),
        });
        self.spawned.len() - 1
    }

    fn end_call(&mut self, pending: &mut Pending<'a>, at: Option<i64>) {
        let Some(tool) = &pending.tool else { return };
        let Some(status) = pending.call.status else { return };
        if pending.call.ended.is_none() {
            self.draft.note(Code::NoToolEnd, Some(pending.place));
        }
        let stamp = self.clock.stamp(at, pending.place);
        let output = pending.call.output.unwrap_or_default();
        if let (Some(command), Some(exit)) = (&pending.call.command, pending.call.exit) {
            let report = json!({"command": [command], "cwd": self.cwd, "exit_code": exit, "aggregated_output": output});
            let status = if exit == 0 { ExecutionStatus::Completed } else { ExecutionStatus::Failed };
            self.writer.end_runtime(self.draft, tool, status, &report, stamp);
        }
        let raw = output_item(pending, self.draft.is_summary());
        let result = raw.as_deref().map(CallResult::Item);
        // A call that was stopped did not wait.
        let has_waited = pending.child.is_some() && status != ExecutionStatus::Cancelled;
        let awaited =
            has_waited.then(|| self.writer.await_answer(self.draft, format!("{}:answer", tool.as_str()), stamp));
        let end = self.writer.end_call(self.draft, tool, status, result, stamp);
        if let Some(raw) = &raw {
            pending.output = Some(self.draft.raw_item(self.writer.lane(), raw));
            self.writer.accept(self.draft, &output_id(pending.item), stamp);
        }
        if let Some(child) = pending.child {
            let (began, ended) = (pending.call.began, pending.call.ended);
            let answer = awaited.map(|awaited| (awaited, output.to_owned()));
            let end = Some(end).filter(|_| has_waited);
            self.spawned[child].calls.push(TaskCall { began, ended, end, answer });
        }
    }

    fn output_item(&self, pending: &Pending<'_>) -> Option<Box<RawValue>> {
        output_item(pending, self.draft.is_summary())
    }

    /// Replaces the history by its summary.
    fn compacted(&mut self, prompt: &Entry<'_>, answer: &'a Entry<'a>) {
        let message = &answer.message;
        if !message.is_summary() || message.error.is_some() || message.finish.is_none() {
            return;
        }
        let mut after = History::default();
        for (stored, part) in &answer.parts {
            let Some(text) = part.text.as_deref().filter(|text| *part.kind == *"text" && !text.is_empty()) else {
                continue;
            };
            let item = Item::Message {
                id: format!("{}:kept", stored.id).into(),
                role: Role::Assistant,
                content: vec![Content::OutputText { text: text.into() }],
            };
            after.push(self.draft.item(self.writer.lane(), &item).expect("an item is plain data"));
        }
        let stamp = self.clock.stamp(message.time.completed(), answer.stored.place);
        self.writer.compacted(self.draft, &prompt.stored.id, &self.history, &after, stamp);
        self.history = after;
    }

    fn end_turn(&mut self, turn: &Turn, next: Option<&Turn>) -> Option<EventRef> {
        let (place, at) = self.last.unwrap_or((Place { source: 0, line: 1 }, None));
        let last = turn.answers.last().map(|last| &self.entries[*last]);
        let status = last.and_then(|last| ended_as(last)).or_else(|| {
            let next = next.and_then(|next| next.messages().next()).map(|next| &self.entries[next])?;
            let is_continued = last.is_some_and(|last| {
                // A compaction, or a prompt that came while the turn ran, takes its place.
                let completed = last.message.time.completed();
                let is_queued = next.message.time.created() < completed;
                completed.is_some() && (next.has_part("compaction") || is_queued)
            });
            if is_continued {
                return Some(ExecutionStatus::Completed);
            }
            self.draft.note(Code::TurnEndUnknown, Some(place));
            // Another turn began, so this one runs no more.
            Some(ExecutionStatus::Aborted)
        });
        let Some(status) = status else {
            self.draft.note(Code::TurnEndUnknown, Some(place));
            return None;
        };
        self.draft.note(Code::TurnEndInferred, Some(place));
        let stamp = self.clock.stamp(at, place);
        self.writer.end_turn(self.draft, status, stamp)
    }
}

impl Said<'_> {
    fn add(&mut self, text: ItemText, id: &str) {
        self.items.push(text);
        self.kept.push(text);
        self.ids.push(id.to_owned());
    }
}

/// Returns what a request and its copies in forks have in common. Copies have ids of their own, but keep their times.
fn key(entry: &Entry<'_>, usage: Option<Usage>) -> Option<String> {
    let message = &entry.message;
    match (message.time.created(), message.time.completed()) {
        (Some(created), Some(completed)) => {
            let Usage { input, output, .. } = usage.unwrap_or_default();
            let model = message.model.as_deref().unwrap_or_default();
            Some(format!("opencode:{created}-{completed}:{model}:{input}:{output}"))
        }
        _ => Some(format!("opencode:{}", entry.stored.id)).filter(|_| !entry.stored.id.is_empty()),
    }
}

/// Returns how a turn ended whose last answer this is, or `None` if the answer does not say it.
fn ended_as(last: &Entry<'_>) -> Option<ExecutionStatus> {
    let message = &last.message;
    if message.error.is_some() {
        return Some(if message.is_aborted() { ExecutionStatus::Cancelled } else { ExecutionStatus::Failed });
    }
    message.time.completed()?;
    match message.finish.as_deref() {
        Some("tool-calls") if last.is_model_call() => None,
        Some("error") => Some(ExecutionStatus::Failed),
        Some(_) => Some(ExecutionStatus::Completed),
        // A command that the user typed asks no model.
        None => (!last.is_model_call()).then_some(ExecutionStatus::Completed),
    }
}

fn prompt_item<'a>(entry: &'a Entry<'_>) -> Option<Item<'a>> {
    let mut content = Vec::new();
    for (_, part) in &entry.parts {
        match part.text.as_deref() {
            Some(text) if *part.kind == *"text" && part.ignored != Some(true) => {
                content.push(Content::InputText { text: text.into() });
            }
            _ => {}
        }
    }
    let id = Cow::Borrowed(entry.stored.id.as_str());
    (!content.is_empty()).then_some(Item::Message { id, role: Role::User, content })
}

fn output_id(part: &str) -> String {
    format!("{part}:output")
}

fn output_item(pending: &Pending<'_>, is_summary: bool) -> Option<Box<RawValue>> {
    let output = pending.call.output.filter(|_| !is_summary)?;
    let item = Item::FunctionCallOutput {
        id: output_id(pending.item).into(),
        call_id: pending.call_id.as_str().into(),
        output: Output::Text(output.into()),
    };
    Some(to_raw_value(&item).expect("an item is plain data"))
}
