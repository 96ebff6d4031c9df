//! A thread, told line by line.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet, VecDeque};
use std::hash::{DefaultHasher, Hash, Hasher};

use serde_json::json;
use serde_json::value::{RawValue, to_raw_value};
use trace_recorder::format::{ExecutionStatus, ToolKind};

use super::history::{Added, Piece, Tree};
use super::items::{BlockKind, after_exit_code, exit_code, item, tool_kind};
use super::kin::{ChildResult, Kin, Spawned, Told};
use super::prompt::{INTERRUPTED, Said, notified_agent, said};
use super::recorded::{Fit, Origin, Requests};
use super::records::{
    ApiError, ApiErrorBody, Attachment, Block, Blocks, CallInput, Flag, Number, ToolUseResult, Usage as Tokens,
};
use super::scan::{Scan, is_api_error};
use super::transcript::Entry;
use crate::body::{History, ItemText};
use crate::draft::Draft;
use crate::event::{EventRef, Stamp};
use crate::item::Role;
use crate::note::Code;
use crate::summary::Usage;
use crate::thread::{Answer, Call, CallResult, InferenceId, Request, ThreadWriter, ToolId};

/// The provider of all models, as far as the files say it.
const PROVIDER: &str = "anthropic";

/// A turn that has not ended.
#[derive(Debug)]
struct Turn {
    /// The id that its lines repeat.
    prompt: Option<String>,
    /// Whether the model said its last word.
    is_answered: bool,
    /// The last line of the turn.
    last: Stamp,
}

/// A call that has no result yet.
#[derive(Debug)]
struct OpenCall {
    tool: ToolId,
    began: Stamp,
    command: Option<String>,
    /// The child that it spawned, as an index of those that the thread spawned.
    spawned: Option<usize>,
}

/// A request that gets no answer.
#[derive(Debug)]
struct Attempt {
    call: InferenceId,
    stamp: Stamp,
}

/// What a thread is told from.
pub(crate) struct Material<'m, 'a> {
    /// The lines of the thread.
    pub(crate) entries: &'a [&'a Entry<'a>],
    /// Ids of lines that another file, or another thread, has too.
    pub(crate) copied: &'m HashSet<&'a str>,
    /// The children of the session.
    pub(crate) kin: &'m Kin,
    /// How the call that spawned the thread ended, for a child.
    pub(crate) parent_status: Option<ExecutionStatus>,
    /// Whether the thread is a child.
    pub(crate) is_child: bool,
    /// Whether the lines follow one another, and do not name the line that they follow.
    pub(crate) is_linear: bool,
}

/// Tells a thread to a draft.
pub(crate) struct Teller<'m, 'a> {
    draft: &'m mut Draft,
    writer: ThreadWriter,
    material: Material<'m, 'a>,
    scan: Scan<'a>,
    tree: Tree<'a>,
    requests: Requests<'a>,
    shapes: HashMap<&'a str, (History, History)>,
    /// Lines that have a text, by its hash.
    texts: HashMap<u64, VecDeque<(usize, usize)>>,
    /// Lines that have the result of a call.
    results: HashMap<String, (usize, usize)>,
    /// Items of messages of requests, by the hashes of the messages.
    messages: HashMap<String, Vec<ItemText>>,
    /// Items that the model made, by message.
    outputs: HashMap<usize, Vec<ItemText>>,
    /// The message of each call, and the text of its item.
    calls: HashMap<String, (usize, ItemText)>,
    open: HashMap<String, OpenCall>,
    inferences: HashMap<usize, InferenceId>,
    awaited: HashMap<&'a str, InferenceId>,
    failing: Option<Attempt>,
    turn: Option<Turn>,
    turns: usize,
    /// A line outside of all turns that may have made the model answer.
    pending: Option<usize>,
    compaction: Option<(usize, History)>,
    /// Kind of the last request, and the items that the model made since.
    seen: (&'a str, Vec<ItemText>),
    model: String,
    told: Told,
}

impl<'m, 'a> Teller<'m, 'a> {
    /// Prepares to tell a thread, which `writer` began.
    pub(crate) fn new(draft: &'m mut Draft, writer: ThreadWriter, material: Material<'m, 'a>) -> Self {
        let scan = Scan::new(material.entries);
        let requests = if draft.is_summary() { Requests::default() } else { Requests::new(material.entries, &scan) };
        let started = writer.began();
        Self {
            draft,
            writer,
            material,
            scan,
            tree: Tree::default(),
            requests,
            shapes: HashMap::new(),
            texts: HashMap::new(),
            results: HashMap::new(),
            messages: HashMap::new(),
            outputs: HashMap::new(),
            calls: HashMap::new(),
            open: HashMap::new(),
            inferences: HashMap::new(),
            awaited: HashMap::new(),
            failing: None,
            turn: None,
            turns: 0,
            pending: None,
            compaction: None,
            seen: ("", Vec::new()),
            model: String::new(),
            told: Told { started, last: started, spawned: Vec::new(), notices: Vec::new() },
        }
    }

    /// Tells all lines.
    pub(crate) fn tell(mut self) -> Told {
        for index in 0..self.material.entries.len() {
            self.line(index);
        }
        self.finish();
        self.told
    }

    fn entry(&self, index: usize) -> &'a Entry<'a> {
        self.material.entries[index]
    }

    fn line(&mut self, index: usize) {
        let entry = self.entry(index);
        let line = &entry.line;
        if let Some(id) = line.uuid.as_deref() {
            if self.tree.has(id) {
                return self.draft.note(Code::CopiedRecord, Some(entry.place));
            }
            if self.material.copied.contains(id) {
                return self.copy(index);
            }
        }
        match (line.kind(), line.subtype.as_deref().unwrap_or_default()) {
            ("user", _) => self.user(index),
            ("assistant", _) if line.is_synthetic() => self.synthetic(index),
            ("assistant", _) => self.assistant(index),
            ("system", "api_error") => {
                self.link(index);
                self.api_error(index);
            }
            ("system", "compact_boundary") => self.boundary(index),
            ("system", "init") => {
                self.link(index);
                self.conclude(false);
                self.pending = Some(index);
            }
            ("result", subtype) => {
                let has_failed = Flag::is_set(&line.is_error) || subtype.starts_with("error");
                let status = if has_failed { ExecutionStatus::Failed } else { ExecutionStatus::Completed };
                self.end_turn(status, entry.stamp());
            }
            ("system", "turn_duration") => {
                self.link(index);
                if let Some(turn) = self.turn.take_if(|turn| turn.is_answered) {
                    let stamp = if entry.at.is_some() { entry.stamp() } else { turn.last };
                    self.end_turn(ExecutionStatus::Completed, stamp);
                }
            }
            ("attachment", _) => self.attachment(index),
            ("api-request", _) => self.api_request(index),
            _ if line.uuid.is_some() => self.link(index),
            _ => {}
        }
    }

    // Copies.

    /// Shows a line that was told elsewhere.
    fn copy(&mut self, index: usize) {
        let entry = self.entry(index);
        self.draft.note(Code::CopiedRecord, Some(entry.place));
        match (entry.line.kind(), entry.line.subtype.as_deref()) {
            ("user", _) if said(&entry.line) == Said::Summary => self.summary(index),
            ("user", _) => {
                self.keep(index);
            }
            ("assistant", _) if is_api_error(entry) => self.link(index),
            ("assistant", _) => {
                self.outputs_of(index);
            }
            ("system", Some("compact_boundary")) => self.boundary(index),
            _ => self.link(index),
        }
    }

    // The tree of lines.

    /// Adds a line that is not part of the conversation.
    fn link(&mut self, index: usize) {
        self.grow(index, None, false, Vec::new());
    }

    fn grow(&mut self, index: usize, group: Option<usize>, is_message: bool, pieces: Vec<Piece>) {
        let line = &self.entry(index).line;
        let parent = line.parent.as_deref();
        let is_root = parent.is_none() && line.uuid.is_some() && !self.material.is_linear;
        let group = group.map(|group| group as u32);
        let added = Added { id: line.uuid.as_deref(), parent, is_root, group, is_message };
        let left = self.tree.add(&added, pieces);
        for piece in left {
            let place = self.entry(piece.entry as usize).place;
            self.draft.note(Code::DeadBranch, Some(place));
        }
    }

    /// Adds a line of the user and accepts its items.
    fn keep(&mut self, index: usize) {
        let entry = self.entry(index);
        let Some(content) = content(entry) else { return self.link(index) };
        let blocks = content.blocks();
        let group = blocks.iter().find_map(|(block, _)| {
            let call = block.tool_use_id.as_deref().filter(|_| block.what() == BlockKind::Result)?;
            self.calls.get(call).map(|(group, _)| *group)
        });
        let count = blocks.len();
        let mut pieces = Vec::with_capacity(count);
        for (number, (block, _)) in blocks.iter().enumerate() {
            let piece = Piece {
                entry: index as u32,
                block: number as u32,
                group: group.map(|group| group as u32),
                is_output: false,
                text: None,
            };
            pieces.push(piece);
            self.register(index, number, block);
            let id = self.item_id(index, number, count);
            self.writer.accept(self.draft, &id, entry.stamp());
        }
        // A result that comes late belongs to its call, whatever was said since.
        self.grow(index, group, group.is_none(), pieces);
    }

    /// Remembers where a block is, for requests that name only its content.
    fn register(&mut self, index: usize, number: usize, block: &Block<'_>) {
        if !self.scan.has_requests {
            return;
        }
        match (block.what(), block.tool_use_id.as_deref(), block.text.as_deref()) {
            (BlockKind::Result, Some(call), _) => {
                self.results.insert(call.to_owned(), (index, number));
            }
            (BlockKind::Text, _, Some(text)) => {
                self.texts.entry(hash_of(text)).or_default().push_back((index, number));
            }
            _ => {}
        }
    }

    fn item_id(&mut self, index: usize, block: usize, count: usize) -> String {
        let entry = self.entry(index);
        let id = match entry.line.uuid.as_deref() {
            Some(id) => Cow::Borrowed(id),
            None => {
                self.draft.note(Code::ItemIdMade, Some(entry.place));
                Cow::Owned(format!("line-{}-{}", entry.place.source, entry.place.line))
            }
        };
        if count == 1 { id.into_owned() } else { format!("{id}:{block}") }
    }

    /// Writes the item of a block.
    fn write(&mut self, id: &str, role: Role, block: &Block<'_>, raw: Option<&RawValue>) -> ItemText {
        let call = block.id.as_deref().filter(|_| block.what() == BlockKind::Call).or(block.tool_use_id.as_deref());
        let item = item(id, role, block, raw, call.unwrap_or(id));
        self.draft.item(self.writer.lane(), &item).expect("an item is plain data")
    }

    /// Returns the history as the lines tell it.
    fn history(&mut self) -> History {
        let mut tree = std::mem::take(&mut self.tree);
        let history = tree
            .fill(|piece| {
                let index = piece.entry as usize;
                let entry = self.entry(index);
                let content = content(entry);
                let blocks = content.as_ref().map(|content| content.blocks()).unwrap_or_default();
                let id = self.item_id(index, piece.block as usize, blocks.len());
                match blocks.get(piece.block as usize) {
                    Some((block, raw)) => self.write(&id, role(entry), block, *raw),
                    None => self.write(&id, role(entry), &Block::default(), None),
                }
            })
            .clone();
        self.tree = tree;
        history
    }

    // Turns.

    fn touch(&mut self, index: usize) {
        let entry = self.entry(index);
        if let Some(turn) = &mut self.turn {
            turn.last = if entry.at.is_some() { entry.stamp() } else { turn.last };
        }
    }

    fn begin_turn(&mut self, index: usize) -> EventRef {
        let entry = self.entry(index);
        self.turns += 1;
        let prompt = entry.line.prompt.as_deref().map(str::to_owned);
        let id = match &prompt {
            Some(id) => id.clone(),
            None => {
                self.draft.note(Code::TurnIdMade, Some(entry.place));
                format!("{}:turn-{}", self.writer.id(), self.turns)
            }
        };
        let event = self.writer.begin_turn(self.draft, &id, entry.stamp());
        self.turn = Some(Turn { prompt, is_answered: false, last: entry.stamp() });
        self.pending = None;
        event
    }

    /// Begins a turn if none is open: the model is asked.
    fn ensure_turn(&mut self, index: usize) {
        if self.turn.is_none() {
            let first = self.pending.unwrap_or(index);
            self.begin_turn(first);
        }
    }

    fn end_turn(&mut self, status: ExecutionStatus, stamp: Stamp) {
        if let Some(event) = self.writer.end_turn(self.draft, status, stamp) {
            self.told.last = event;
        }
        self.turn = None;
    }

    /// Ends a turn because the next one begins, or because the file ends.
    fn conclude(&mut self, is_end_of_file: bool) {
        let Some(turn) = &self.turn else { return };
        let last = turn.last;
        let status = if turn.is_answered {
            ExecutionStatus::Completed
        } else if let Some(status) = self.material.parent_status.filter(|_| is_end_of_file) {
            status
        } else {
            self.draft.note(Code::TurnEndUnknown, Some(last.place));
            if is_end_of_file {
                return;
            }
            // Another turn began, so this one runs no more.
            ExecutionStatus::Aborted
        };
        self.draft.note(Code::TurnEndInferred, Some(last.place));
        self.end_turn(status, last);
    }

    // Lines of the user.

    fn user(&mut self, index: usize) {
        let entry = self.entry(index);
        match said(&entry.line) {
            Said::Results => self.results(index),
            Said::Summary => self.summary(index),
            Said::Interrupt => {
                self.keep(index);
                if let Some(attempt) = self.failing.take() {
                    self.answer_failing(&attempt, Answer::Cancelled { reason: INTERRUPTED }, entry.stamp());
                }
                self.end_turn(ExecutionStatus::Cancelled, entry.stamp());
            }
            Said::Prompt => self.prompt(index),
            Said::Local | Said::Meta => {
                let has_other_prompt = self.turn.as_ref().is_some_and(|turn| {
                    let prompt = entry.line.prompt.as_deref();
                    turn.prompt.as_deref().zip(prompt).map_or(turn.is_answered, |(own, other)| own != other)
                });
                if has_other_prompt && !self.material.is_child {
                    self.conclude(false);
                }
                self.keep(index);
                self.touch(index);
                if self.turn.is_none() {
                    self.pending = Some(index);
                }
            }
        }
    }

    fn prompt(&mut self, index: usize) {
        let entry = self.entry(index);
        let continues = self.turn.as_ref().is_some_and(|turn| {
            let is_same = entry.line.turn_position.is_none()
                && entry.line.prompt.is_some()
                && turn.prompt.as_deref() == entry.line.prompt.as_deref();
            !turn.is_answered && (is_same || self.material.is_child)
        });
        if !continues {
            self.conclude(false);
            let event = self.begin_turn(index);
            let text = entry.line.message.as_ref().and_then(|message| message.content.as_ref()?.first_text());
            let child =
                text.as_deref().and_then(notified_agent).and_then(|agent| self.material.kin.by_agent.get(agent));
            self.told.notices.extend(child.map(|child| (*child, event)));
        }
        self.keep(index);
        self.touch(index);
    }

    fn attachment(&mut self, index: usize) {
        let entry = self.entry(index);
        if self.scan.has_requests {
            self.register_rendered(index);
        }
        if content(entry).is_some() {
            self.keep(index);
            self.touch(index);
        } else {
            self.link(index);
        }
    }

    fn register_rendered(&mut self, index: usize) {
        let Some(raw) = self.entry(index).line.rendered else { return };
        let Ok(rendered) = serde_json::from_str::<Vec<&RawValue>>(raw.get()) else { return };
        for (number, part) in rendered.into_iter().enumerate() {
            let text = Attachment::parse(part.get()).and_then(|part| part.content);
            if let Some(text) = text {
                self.texts.entry(hash_of(&text)).or_default().push_back((index, number));
            }
        }
    }

    // Results of tools.

    fn results(&mut self, index: usize) {
        self.keep(index);
        let entry = self.entry(index);
        let Some(content) = content(entry) else { return };
        let blocks = content.blocks();
        for (number, (block, _)) in blocks.iter().enumerate() {
            let Some(call) = block.tool_use_id.as_deref().filter(|_| block.what() == BlockKind::Result) else {
                continue;
            };
            if let Some(open) = self.open.remove(call) {
                self.end_call(index, number, blocks.len(), &open, block);
            }
        }
        self.touch(index);
        if let Some(turn) = &mut self.turn {
            turn.is_answered = false;
        }
    }

    fn end_call(&mut self, index: usize, number: usize, count: usize, open: &OpenCall, block: &Block<'_>) {
        let entry = self.entry(index);
        let stamp = entry.stamp();
        let text = block.result_text();
        let status = self.result_status(index, open, block, &text);
        let code = exit_code(&text).filter(|_| status == ExecutionStatus::Failed);
        if let (Some(code), Some(command)) = (code, &open.command) {
            let span = (open.began, stamp);
            self.writer.command(self.draft, &open.tool, &[command], code, after_exit_code(&text), span);
        }
        let raw = if self.draft.is_summary() {
            None
        } else {
            let id = self.item_id(index, number, count);
            let item = item(&id, Role::User, block, None, open.tool.call_id());
            Some(to_raw_value(&item).expect("an item is plain data"))
        };
        let result = raw.as_deref().map(CallResult::Item);
        let event = self.writer.end_call(self.draft, &open.tool, status, result, stamp);
        self.told.last = event;
        match open.spawned {
            Some(spawned) if !is_background(entry) => {
                self.told.spawned[spawned].result = Some(ChildResult { event, status });
            }
            None if *open.tool.kind() == ToolKind::SpawnAgent && status == ExecutionStatus::Completed => {
                self.draft.note(Code::ChildMissing, Some(entry.place));
            }
            _ => {}
        }
    }

    fn result_status(&self, index: usize, open: &OpenCall, block: &Block<'_>, text: &str) -> ExecutionStatus {
        let line = &self.entry(index).line;
        if line.denial.as_deref() == Some("interrupted") || text.starts_with("[Tool call interrupted:") {
            return ExecutionStatus::Aborted;
        }
        if block.is_failure() {
            let is_stopped = text.starts_with("The user doesn't want to") || text.starts_with(INTERRUPTED);
            let is_interrupted = is_stopped && self.scan.is_interrupted[index];
            return if is_interrupted { ExecutionStatus::Cancelled } else { ExecutionStatus::Failed };
        }
        let raw = line.tool_use_result.map_or("", RawValue::get);
        let is_interrupted = memchr::memmem::find(raw.as_bytes(), b"\"interrupted\":true").is_some()
            && ToolUseResult::parse(raw).is_some_and(|result| Flag::is_set(&result.interrupted));
        if is_interrupted {
            return ExecutionStatus::Cancelled;
        }
        let child = open.spawned.map(|spawned| &self.material.kin.children[self.told.spawned[spawned].child]);
        // Version 2.1.197 says that a child completed whose last request failed. The error is its answer then.
        let answers_error = *open.tool.kind() == ToolKind::SpawnAgent && text.starts_with("API Error:");
        let has_failed = child.is_some_and(|child| child.has_failed) || answers_error;
        let has_failed = has_failed && !is_background(self.entry(index));
        if has_failed { ExecutionStatus::Failed } else { ExecutionStatus::Completed }
    }

    // Compaction.

    fn boundary(&mut self, index: usize) {
        let before = match self.requests.last(self.seen.0) {
            Some(seen) if self.scan.has_requests => {
                let mut before = seen.clone();
                self.seen.1.iter().for_each(|item| before.push(*item));
                before
            }
            _ => self.history(),
        };
        self.tree.replace();
        self.link(index);
        self.compaction = Some((index, before));
        self.touch(index);
    }

    fn summary(&mut self, index: usize) {
        self.keep(index);
        self.touch(index);
        let Some((boundary, before)) = self.compaction.take() else { return };
        let boundary = self.entry(boundary);
        let kept = boundary.line.preserved();
        self.tree.keep(kept.iter().map(AsRef::as_ref));
        let after = self.history();
        let id = boundary.line.uuid.as_deref().unwrap_or("compaction");
        if let Some(event) = self.writer.compacted(self.draft, id, &before, &after, boundary.stamp()) {
            self.told.last = event;
        }
    }

    // Answers.

    fn assistant(&mut self, index: usize) {
        let Some(group) = self.scan.group_of[index] else { return };
        if index == self.scan.groups[group].first {
            self.ensure_turn(index);
            self.ask(index, group);
        }
        self.outputs_of(index);
        self.touch(index);
        if index == self.scan.groups[group].first && self.children_are_early(group) {
            self.scan.groups[group].is_interleaved = true;
        }
        if self.scan.groups[group].is_interleaved {
            self.begin_calls(index, group);
        }
        if index == self.scan.groups[group].last {
            self.answer(index, group);
            if !self.scan.groups[group].is_interleaved {
                for line in self.scan.groups[group].lines.clone() {
                    self.begin_calls(line, group);
                }
            }
        }
    }

    /// Returns whether a child began before the message that spawned it was complete.
    fn children_are_early(&self, group: usize) -> bool {
        let group = &self.scan.groups[group];
        let Some(end) = self.entry(group.last).at.filter(|_| group.first != group.last) else { return false };
        let kin = self.material.kin;
        !kin.by_call.is_empty()
            && group.lines.iter().any(|line| {
                let entry = self.entry(*line);
                let content = content(entry);
                let blocks = content.as_ref().map(|content| content.blocks()).unwrap_or_default();
                let children = blocks.iter().filter_map(|(block, _)| kin.by_call.get(block.id.as_deref()?));
                children.into_iter().any(|child| kin.children[*child].began.is_some_and(|began| began < end))
            })
    }

    /// Writes the items of a line of the model.
    fn outputs_of(&mut self, index: usize) {
        let entry = self.entry(index);
        let group = self.scan.group_of[index];
        let Some(content) = content(entry) else { return self.grow(index, group, true, Vec::new()) };
        let blocks = content.blocks();
        let mut pieces = Vec::with_capacity(blocks.len());
        for (number, (block, raw)) in blocks.iter().enumerate() {
            let id = self.item_id(index, number, blocks.len());
            let text = self.write(&id, Role::Assistant, block, *raw);
            self.writer.accept(self.draft, &id, entry.stamp());
            self.register(index, number, block);
            if let Some(group) = group {
                self.outputs.entry(group).or_default().push(text);
                if let Some(call) = block.id.as_deref().filter(|_| block.what() == BlockKind::Call) {
                    self.calls.entry(call.to_owned()).or_insert((group, text));
                }
            }
            self.seen.1.push(text);
            pieces.push(Piece {
                entry: index as u32,
                block: number as u32,
                group: group.map(|group| group as u32),
                is_output: true,
                text: Some(text),
            });
        }
        self.grow(index, group, true, pieces);
    }

    fn answer(&mut self, index: usize, group: usize) {
        let entry = self.entry(index);
        let Some(call) = self.inferences.remove(&group) else { return };
        let last = self.entry(self.scan.groups[group].usage);
        let line = &last.line;
        let message = line.message.as_ref();
        let usage = message.and_then(|message| message.usage.as_ref()).map(tokens);
        // The output of programs has the figures of the start of an answer unless it says how the answer ended.
        let is_final = !self.material.is_linear || message.is_some_and(|message| message.stop_reason.is_some());
        if usage.is_none() || !is_final {
            self.draft.note(Code::NoUsage, Some(entry.place));
        }
        let response_id = message.and_then(|message| message.id.as_deref());
        let request_id = line.request_id.as_deref();
        let key = response_id.map(|id| format!("{id}:{}", request_id.unwrap_or_default()));
        let items: History = self.outputs.get(&group).into_iter().flatten().copied().collect();
        let is_open = entry.line.message.as_ref().is_none_or(|message| message.stop_reason.is_none());
        let calls_tools = self.scan.groups[group].lines.iter().any(|line| has_calls(self.entry(*line)));
        let answer = if is_open && !calls_tools && self.scan.is_interrupted[index] {
            Answer::Cancelled { reason: INTERRUPTED }
        } else {
            Answer::Completed { response_id, request_id }
        };
        self.told.last = self.writer.answer(self.draft, &call, answer, &items, usage, key, entry.stamp());
        if let Some(turn) = &mut self.turn {
            turn.is_answered = !calls_tools;
        }
    }

    fn begin_calls(&mut self, index: usize, group: usize) {
        let entry = self.entry(index);
        let Some(content) = content(entry) else { return };
        let blocks = content.blocks();
        for (number, (block, _)) in blocks.iter().enumerate().filter(|(_, (block, _))| block.what() == BlockKind::Call)
        {
            let made;
            let call_id = match block.id.as_deref() {
                Some(id) => id,
                None => {
                    self.draft.note(Code::CallIdMade, Some(entry.place));
                    made = self.item_id(index, number, blocks.len());
                    &made
                }
            };
            let name = block.name.as_deref().unwrap_or_default();
            let call = Call {
                call_id,
                name,
                namespace: None,
                kind: tool_kind(name),
                arguments: block.arguments(),
                is_custom: false,
            };
            let tool = self.writer.begin_call(self.draft, &call, entry.stamp());
            let input = match call.kind {
                ToolKind::ExecCommand | ToolKind::SpawnAgent => CallInput::parse(block.arguments()),
                _ => None,
            };
            let input = input.unwrap_or_default();
            let spawned = self.spawn(&tool, &input, entry);
            let command = input.command.filter(|_| call.kind == ToolKind::ExecCommand);
            let open = OpenCall {
                tool,
                began: entry.stamp(),
                command: command.map(|command| command.into_inner().into_owned()),
                spawned,
            };
            if !block.kind.as_deref().unwrap_or_default().starts_with("server_") {
                self.open.insert(call_id.to_owned(), open);
            } else {
                self.end_server_call(group, open);
            }
        }
    }

    /// Ends a call of a tool that the provider runs: its result is a part of the same answer.
    fn end_server_call(&mut self, group: usize, open: OpenCall) {
        for line in self.scan.groups[group].lines.clone() {
            let Some(content) = content(self.entry(line)) else { continue };
            let blocks = content.blocks();
            let is_result = |block: &Block<'_>| {
                block.what() == BlockKind::Result && block.tool_use_id.as_deref() == Some(open.tool.call_id())
            };
            if let Some(number) = blocks.iter().position(|(block, _)| is_result(block)) {
                return self.end_call(line, number, blocks.len(), &open, &blocks[number].0);
            }
        }
        self.open.insert(open.tool.call_id().to_owned(), open);
    }

    fn spawn(&mut self, tool: &ToolId, input: &CallInput<'_>, entry: &Entry<'_>) -> Option<usize> {
        let child = *self.material.kin.by_call.get(tool.call_id())?;
        if tool.as_str() != tool.call_id() || self.told.spawned.iter().any(|spawned| spawned.child == child) {
            return None;
        }
        let found = &self.material.kin.children[child];
        if found.is_by_text {
            self.draft.note(Code::ChildByText, Some(entry.place));
        }
        let prompt = input.prompt.as_deref().unwrap_or_default();
        let event = self.writer.spawned(self.draft, tool, &found.thread, prompt, entry.stamp());
        let text = |text: &Option<super::records::Borrowed<'_>>| text.as_deref().map(str::to_owned);
        let (task, role) = (text(&input.description), text(&input.subagent_type));
        self.told.spawned.push(Spawned { child, event, result: None, task, role });
        Some(self.told.spawned.len() - 1)
    }

    // Requests.

    /// Sends the request of a message, unless the file has told of it already.
    fn ask(&mut self, index: usize, group: usize) {
        let entry = self.entry(index);
        let message = entry.line.message.as_ref();
        let model = message.and_then(|message| message.model.as_deref()).unwrap_or_default();
        if model.is_empty() {
            self.draft.note(Code::NoModel, Some(entry.place));
        }
        model.clone_into(&mut self.model);
        let awaited = entry.line.request_ref.as_deref().and_then(|request| self.awaited.remove(request));
        let call = match awaited {
            Some(call) => call,
            None => self.rebuilt(index),
        };
        self.inferences.insert(group, call);
    }

    /// Sends a request with the history as the lines tell it.
    fn rebuilt(&mut self, index: usize) -> InferenceId {
        let entry = self.entry(index);
        for code in [Code::RequestRebuilt, Code::NoSystemPrompt, Code::NoToolDefinitions, Code::NoRequestStart] {
            self.draft.note(code, Some(entry.place));
        }
        if self.material.is_linear {
            self.draft.note(Code::RequestIncomplete, Some(entry.place));
        }
        let history = if self.draft.is_summary() { History::default() } else { self.history() };
        let head = json!({"model": self.model});
        let request = Request { model: &self.model, provider: PROVIDER, head: &head, input: &history };
        self.writer.request(self.draft, &request, entry.untimed())
    }

    fn api_request(&mut self, index: usize) {
        let entry = self.entry(index);
        let line = &entry.line;
        let id = line.id.as_deref().unwrap_or_default();
        let is_answered = self.scan.answered.contains(id);
        let source = line.source.as_deref().unwrap_or_default();
        let is_own =
            source.is_empty() || ["sdk", "repl_main_thread", "agent"].iter().any(|own| source.starts_with(own));
        if let Some(attempt) = self.failing.take() {
            self.draft.note(Code::OutcomeUnknown, Some(attempt.stamp.place));
            let answer = Answer::Failed { error: "no answer; the request was sent again", request_id: None };
            self.answer_failing(&attempt, answer, entry.untimed());
        }
        if !is_answered && !is_own {
            return self.draft.note(Code::OutcomeUnknown, Some(entry.place));
        }
        self.ensure_turn(index);
        let call = self.recorded(index);
        if is_answered {
            self.awaited.insert(id, call);
        } else {
            self.failing = Some(Attempt { call, stamp: entry.stamp() });
        }
    }

    /// Sends a request that the file holds.
    fn recorded(&mut self, index: usize) -> InferenceId {
        let entry = self.entry(index);
        let line = &entry.line;
        let params = line.params.filter(|params| params.get().starts_with('{'));
        let model =
            params.and_then(|params| super::records::Message::parse(params.get())).and_then(|params| params.model);
        let model = model.map(super::records::Borrowed::into_inner).unwrap_or_default();
        if self.draft.is_summary() {
            let (head, input) = (json!({}), &History::default());
            let request = Request { model: &model, provider: PROVIDER, head: &head, input };
            return self.writer.request(self.draft, &request, entry.stamp());
        }
        let mut requests = std::mem::take(&mut self.requests);
        let shape = line.shape_hash.as_deref().unwrap_or_default();
        if !self.shapes.contains_key(shape) {
            let lists = requests.shape(line).map(|shape| {
                let lane = self.writer.lane();
                let mut list = |list: Option<super::records::RawList<'_>>| -> History {
                    list.into_iter().flat_map(|list| list.0).map(|raw| self.draft.raw_item(lane, raw)).collect()
                };
                (list(shape.system), list(shape.tools))
            });
            if lists.is_none() {
                self.draft.note(Code::RequestIncomplete, Some(entry.place));
            }
            self.shapes.insert(shape, lists.unwrap_or_default());
        }
        let (history, fit) = requests.history(line, |hash, origin| self.message(hash, origin, index));
        let code = match fit {
            Fit::Verified => Code::RequestVerified,
            Fit::Mismatch => Code::RequestMismatch,
            Fit::Incomplete => Code::RequestIncomplete,
        };
        self.draft.note(code, Some(entry.place));
        let (system, tools) = &self.shapes[shape];
        let made = to_raw_value(&json!({"model": model})).expect("plain data becomes JSON");
        let head = params.unwrap_or(&made);
        let request = Request { model: &model, provider: PROVIDER, head: &head, input: history };
        let mut lists = Vec::new();
        lists.extend((!system.is_empty()).then_some(("system", system)));
        lists.extend((!tools.is_empty()).then_some(("tools", tools)));
        let call = self.writer.request_with_lists(self.draft, &request, &lists, entry.stamp());
        self.requests = requests;
        self.seen = (line.source.as_deref().unwrap_or_default(), Vec::new());
        call
    }

    /// Returns the items of a message of a request.
    fn message(&mut self, hash: &str, origin: Origin, request: usize) -> Vec<ItemText> {
        let index = match origin {
            Origin::Group(group) => match self.outputs.get(&group) {
                Some(items) => return items.clone(),
                None => self.scan.groups[group].first,
            },
            Origin::Blob(index) | Origin::User(index) => index,
        };
        if let Some(items) = self.messages.get(hash) {
            return items.clone();
        }
        let entry = self.entry(index);
        let role = role(entry);
        let blocks = entry.line.message.as_ref().and_then(|message| message.content.as_ref());
        let blocks = blocks.map(Blocks::blocks).unwrap_or_default();
        let mut items = Vec::with_capacity(blocks.len());
        for (number, (block, raw)) in blocks.iter().enumerate() {
            let known = block.id.as_deref().filter(|_| block.what() == BlockKind::Call);
            if let Some((_, text)) = known.and_then(|call| self.calls.get(call)) {
                items.push(*text);
                continue;
            }
            let id = self.place_of(block).map(|(index, number, count)| self.item_id(index, number, count));
            let id = id.unwrap_or_else(|| {
                let id = format!("{}:{number}", hash.get(..16).unwrap_or(hash));
                let stamp = self.entry(request).stamp();
                self.writer.accept(self.draft, &id, stamp);
                id
            });
            items.push(self.write(&id, role, block, *raw));
        }
        self.messages.insert(hash.to_owned(), items.clone());
        items
    }

    /// Returns the line that a block of a request comes from, the number of the block, and how many blocks the line has.
    fn place_of(&mut self, block: &Block<'_>) -> Option<(usize, usize, usize)> {
        let (index, number) = match (block.what(), block.tool_use_id.as_deref(), block.text.as_deref()) {
            (BlockKind::Result, Some(call), _) => *self.results.get(call)?,
            (BlockKind::Text, _, Some(text)) => self.texts.get_mut(&hash_of(text))?.pop_front()?,
            _ => return None,
        };
        let entry = self.entry(index);
        let count = content(entry).map_or(1, |content| content.blocks().len());
        Some((index, number, count))
    }

    // Errors of the provider.

    fn answer_failing(&mut self, attempt: &Attempt, answer: Answer<'_>, stamp: Stamp) {
        let nothing = History::default();
        self.told.last = self.writer.answer(self.draft, &attempt.call, answer, &nothing, None, None, stamp);
    }

    /// Fails the open request. If the file does not tell of requests, the error tells of one.
    fn fail(&mut self, index: usize, error: &str, request_id: Option<&str>) {
        let entry = self.entry(index);
        let attempt = match self.failing.take() {
            Some(attempt) => attempt,
            None if self.scan.has_requests => return,
            None => {
                self.ensure_turn(index);
                if self.model.is_empty() {
                    self.draft.note(Code::NoModel, Some(entry.place));
                }
                Attempt { call: self.rebuilt(index), stamp: entry.untimed() }
            }
        };
        self.answer_failing(&attempt, Answer::Failed { error, request_id }, entry.stamp());
    }

    fn api_error(&mut self, index: usize) {
        let Some(raw) = self.entry(index).line.error else { return };
        let error = ApiError::parse(raw.get()).unwrap_or_default();
        let text = error_text(&error, raw);
        self.fail(index, &text, error.request_id.as_deref());
        self.touch(index);
    }

    fn synthetic(&mut self, index: usize) {
        let entry = self.entry(index);
        if !is_api_error(entry) {
            self.outputs_of(index);
            return;
        }
        self.link(index);
        let text = entry.line.message.as_ref().and_then(|message| message.content.as_ref()?.first_text());
        let text = text.unwrap_or_default();
        let request_id = entry.line.request_id.as_deref();
        if self.failing.is_some() || request_id.is_some() || text.starts_with("API Error") {
            self.fail(index, &text, request_id);
        }
        self.end_turn(ExecutionStatus::Failed, entry.stamp());
    }

    fn finish(&mut self) {
        self.conclude(true);
        let mut open: Vec<_> = self.open.values().map(|call| call.began.place).collect();
        open.sort_by_key(|place| (place.source, place.line));
        for place in open {
            self.draft.note(Code::OutcomeUnknown, Some(place));
        }
        if !self.scan.has_requests && self.turns > 0 {
            let place = self.material.entries.first().map(|entry| entry.place);
            self.draft.note(Code::NoFailedAttempts, place);
        }
    }
}

/// Returns what a line adds to the history.
fn content<'e>(entry: &'e Entry<'e>) -> Option<Cow<'e, Blocks<'e>>> {
    if entry.line.kind() == "attachment" {
        let attachment = Attachment::parse(entry.line.attachment?.get())?;
        let is_queued = attachment.kind.as_deref() == Some("queued_command");
        return attachment.prompt.filter(|_| is_queued).map(Cow::Owned);
    }
    entry.line.message.as_ref()?.content.as_ref().map(Cow::Borrowed)
}

fn role(entry: &Entry<'_>) -> Role {
    let role = entry.line.message.as_ref().and_then(|message| message.role.as_deref());
    match role {
        Some("assistant") => Role::Assistant,
        Some("system") => Role::System,
        _ => Role::User,
    }
}

fn has_calls(entry: &Entry<'_>) -> bool {
    let Some(content) = content(entry) else { return false };
    let blocks = content.blocks();
    let is_open = |block: &Block<'_>| {
        block.what() == BlockKind::Call && !block.kind.as_deref().unwrap_or_default().starts_with("server_")
    };
    blocks.iter().any(|(block, _)| is_open(block))
}

fn is_background(entry: &Entry<'_>) -> bool {
    let raw = entry.line.tool_use_result.map_or("", RawValue::get);
    memchr::memmem::find(raw.as_bytes(), b"async_launched").is_some()
        && ToolUseResult::parse(raw).is_some_and(|result| result.status.as_deref() == Some("async_launched"))
}

fn hash_of(text: &str) -> u64 {
    // Requests repeat some texts with another line feed at the end.
    let mut hasher = DefaultHasher::new();
    text.trim_end().hash(&mut hasher);
    hasher.finish()
}

/// Returns the tokens as the Responses API counts them: those of the cache are part of the input.
pub(crate) fn tokens(usage: &Tokens<'_>) -> Usage {
    let (read, write) = (Number::or_zero(&usage.cache_read), Number::or_zero(&usage.cache_write));
    let thinking = usage.details.as_ref().map_or(0, |details| Number::or_zero(&details.thinking));
    Usage {
        input: Number::or_zero(&usage.input).saturating_add(read).saturating_add(write),
        cached_input: read,
        cache_write_input: write,
        output: Number::or_zero(&usage.output),
        reasoning_output: thinking,
    }
}

/// Returns the text of an `api_error` line: the status, and type and message of the body.
fn error_text(error: &ApiError<'_>, raw: &RawValue) -> String {
    let message = error.message.as_deref().unwrap_or_default();
    let status = Number::or_zero(&error.status);
    let body = message.find('{').and_then(|start| ApiErrorBody::parse(&message[start..])).and_then(|body| body.error);
    let kind = body.as_ref().and_then(|body| body.kind.as_deref());
    let words = body.as_ref().and_then(|body| body.message.as_deref());
    let mut text = "API Error:".to_owned();
    if status > 0 {
        text.push_str(&format!(" {status}"));
    }
    match (kind, words) {
        (Some(kind), Some(words)) => text.push_str(&format!(" {kind}: {words}")),
        _ if !message.is_empty() => {
            let number = status.to_string();
            let rest = message.strip_prefix(number.as_str()).filter(|_| status > 0).unwrap_or(message);
            text.push_str(&format!(" {}", rest.trim_start()));
        }
        _ => match error.formatted.as_deref() {
            Some(formatted) => text.push_str(&format!(" {formatted}")),
            None if raw.get().len() > 2 => text.push_str(&format!(" {}", raw.get())),
            None => {}
        },
    }
    text
}
