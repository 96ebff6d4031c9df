//! Reads the files of one thread.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use serde_json::json;
use serde_json::value::RawValue;
use trace_recorder::format::event::{CompactionRequestCompleted, CompactionRequestFailed, CompactionRequestStarted};
use trace_recorder::format::import::Place;
use trace_recorder::format::{EventPayload, ExecutionStatus, PayloadKind};

use super::call_ids::{CallIds, Id, with_call_id};
use super::calls::{Calls, Child};
use super::files::{file_of_base, is_base, thread_in_name};
use super::readable::{Form, form_of, type_of};
use super::record::{
    Compacted, EventMsg, HistoryBase, Line, Metadata, ResponseItem, RuntimeItem, SessionMeta, TokenInfo, Tokens,
    TurnContext, UsageRecord, text_of,
};
use super::reports::Starts;
use super::timeline::Timeline;
use crate::body::{History, ItemText};
use crate::draft::Draft;
use crate::error::ImportError;
use crate::event::{EventRef, Stamp, Time};
use crate::item::{Content, Item, Role};
use crate::note::Code;
use crate::records::{Record, Records};
use crate::summary::Usage;
use crate::thread::{Answer, InferenceId, Request, ThreadInfo, ThreadWriter, agent_path};
use crate::time::millis;

/// Error of a model call whose answer is in the file, but not its end.
const CUT_ANSWER: &str = "The answer ended before it was complete.";

/// Error of a model call that left nothing in the file.
const NO_ANSWER: &str = "The file has no answer to this request.";

/// Why a model call has no end although its turn went on.
const STEERED: &str = "The user added something while the model answered.";

/// Beginning of the error of a turn in which the provider did not compact the history, in the words of the Codex CLI.
const COMPACTION_FAILED: &str = "Error running remote compact task: ";

/// Most files that a history may be spread over.
const MAX_BASES: usize = 64;

/// A turn that has ended.
#[derive(Debug)]
pub(super) struct Turn {
    pub(super) id: String,
    pub(super) ended_at: i64,
    pub(super) ended: EventRef,
    /// A place behind the end for the answer that the parent gets, until there is one.
    pub(super) answer: Option<EventRef>,
}

/// A message with the result of a child, as its parent received it.
#[derive(Debug)]
pub(super) struct Mail {
    pub(super) author: String,
    pub(super) recipient: String,
    pub(super) message: String,
    pub(super) at: i64,
    pub(super) stamp: Stamp,
    pub(super) received: EventRef,
}

/// A thread that was read.
#[derive(Debug)]
pub(super) struct Read {
    pub(super) writer: ThreadWriter,
    pub(super) turns: Vec<Turn>,
    pub(super) children: Vec<Child>,
    pub(super) mail: Vec<Mail>,
}

/// A model call whose items are being read.
#[derive(Debug)]
struct Group {
    began: Stamp,
    last: Stamp,
    /// The newest item that the model saw. `None` in versions that do not say it.
    sampled: Option<u64>,
    input: History,
    items: History,
    usage: Option<Usage>,
    response_id: Option<String>,
    /// Whether the provider's answer was complete.
    is_complete: bool,
}

/// Reads the files of one thread, the first one and one for each revert.
pub(super) struct Reader<'p> {
    /// Paths of agents that are in use.
    paths: &'p mut HashSet<String>,
    meta: Option<SessionMeta>,
    /// Files of the thread that were read so far.
    files: Vec<PathBuf>,
    writer: Option<ThreadWriter>,
    timeline: Timeline,
    calls: Calls,
    call_ids: CallIds,
    group: Option<Group>,
    /// Where the turns of a version without marks begin and end.
    legacy: Legacy,
    review: Review,
    model: String,
    turns: Vec<Turn>,
    /// Turns that were stopped.
    stopped: HashSet<String>,
    mail: Vec<Mail>,
    source: u32,
    ordinal: u64,
    /// Lines before this one are copies of the parent's.
    copied_until: u64,
    now: i64,
}

/// A review in the file of the thread that asked for it. The review runs in a thread of its own, whose turn is marked as begun here, too.
#[derive(Debug, Default)]
enum Review {
    #[default]
    None,
    /// The turn that asked for it, until its start is marked.
    Asked(String),
    /// The open turn asked for it. The answer in it is made from what the review found.
    Running,
}

/// What versions without ids of turns need.
#[derive(Debug, Default)]
struct Legacy {
    /// Whether the file marks turns.
    has_marks: bool,
    /// Whether each line says where it stands in the history.
    has_ordinals: bool,
    turns: usize,
    /// Attempts without an answer at the end of the turn.
    unanswered: usize,
    /// Whether the newest item is a message of the model, as at the end of a turn that went well.
    is_answered: bool,
    /// Whether the user said something in the open turn.
    is_prompted: bool,
    total: Option<Tokens>,
}

impl<'p> Reader<'p> {
    pub(super) fn new(paths: &'p mut HashSet<String>) -> Self {
        Self {
            paths,
            meta: None,
            files: Vec::new(),
            writer: None,
            timeline: Timeline::default(),
            calls: Calls::default(),
            call_ids: CallIds::default(),
            group: None,
            legacy: Legacy::default(),
            review: Review::None,
            model: String::new(),
            turns: Vec::new(),
            stopped: HashSet::new(),
            mail: Vec::new(),
            source: 0,
            ordinal: 0,
            copied_until: 0,
            now: 0,
        }
    }

    /// Reads one file of the thread.
    pub(super) fn read(
        &mut self,
        path: &Path,
        spawned_by: Option<EventRef>,
        draft: &mut Draft,
    ) -> Result<(), ImportError> {
        let starts = if draft.is_summary() { Starts::default() } else { Starts::read(path) };
        self.calls.set_starts(starts);
        let mut records = Records::open(path, draft)?;
        let mut is_first = true;
        while let Some(record) = records.next(draft)? {
            self.source = record.place.source;
            let Ok(line) = serde_json::from_slice::<Line<'_>>(record.bytes) else {
                draft.note(Code::DamagedLine, Some(record.place));
                continue;
            };
            let time = millis(&line.timestamp);
            self.now = time.unwrap_or(self.now);
            let stamp = Stamp { time: time.map_or(Time::Unknown, Time::At), place: record.place };
            self.ordinal = line.ordinal.unwrap_or(self.ordinal + 1);
            self.legacy.has_ordinals |= line.ordinal.is_some();
            if std::mem::take(&mut is_first) && line.tag == "session_meta" {
                self.begin(path, &line, stamp, spawned_by, draft);
                continue;
            }
            if self.writer.is_none() {
                let id = thread_in_name(path).map_or("thread", |(id, _)| id);
                self.start_thread(&SessionMeta::unknown(id), stamp, spawned_by, draft);
            }
            self.line(&line, record, stamp, draft);
        }
        Ok(())
    }

    /// Ends the thread where its files end. Returns `None` if they hold nothing.
    pub(super) fn finish(mut self, draft: &mut Draft) -> Option<Read> {
        let place = Place { source: self.source, line: 0 };
        let stamp = Stamp { time: Time::Unknown, place: self.group.as_ref().map_or(place, |group| group.last.place) };
        if !self.legacy.has_marks {
            self.end_legacy_turn(stamp, false, draft);
        }
        self.complete_by_usage();
        if self.group.as_ref().is_some_and(|group| group.is_complete || !group.items.is_empty()) {
            self.close_group(None, draft);
        } else if let Some(group) = self.group.take() {
            // A request was under way when the file ended.
            self.ask(&group, draft);
        }
        let mut writer = self.writer?;
        self.calls.begin(&mut writer, draft);
        if writer.is_in_turn() {
            draft.note(Code::TurnEndUnknown, None);
        }
        Some(Read { writer, turns: self.turns, children: self.calls.children, mail: self.mail })
    }

    fn begin(&mut self, path: &Path, line: &Line<'_>, stamp: Stamp, spawned_by: Option<EventRef>, draft: &mut Draft) {
        let Ok(meta) = serde_json::from_str::<SessionMeta>(line.payload.get()) else {
            draft.note(Code::DamagedLine, Some(stamp.place));
            return;
        };
        if self.writer.is_none() {
            self.start_thread(&meta, stamp, spawned_by, draft);
        }
        self.copied_until = meta.subagent_history_start_ordinal.unwrap_or(0);
        if meta.history_base.is_none() && !self.files.is_empty() {
            // The thread was reverted to its beginning.
            self.settle(draft);
            self.timeline.cut(0);
        }
        if let Some(base) = &meta.history_base {
            // A base is named by its thread, or by its segment if the thread was reverted.
            if self.files.iter().any(|file| is_base(file, &base.thread_id)) {
                self.settle(draft);
                self.timeline.cut(base.end_ordinal_exclusive);
            } else {
                self.take_history(base, path, draft, stamp.place, 0);
            }
        }
        self.files.push(path.to_owned());
        self.meta = Some(meta);
    }

    fn start_thread(&mut self, meta: &SessionMeta, stamp: Stamp, spawned_by: Option<EventRef>, draft: &mut Draft) {
        if let Some(version) = &meta.cli_version {
            draft.agent_version(version);
        }
        let spawn = meta.spawn();
        let nickname = meta.agent_nickname.clone().or_else(|| spawn?.agent_nickname.clone());
        let recorded = meta.agent_path.clone().or_else(|| spawn?.agent_path.clone());
        let path = match recorded {
            Some(path) => path,
            // The Codex CLI gives no paths to the children of its first tools for agents.
            None if meta.multi_agent_version.as_deref() == Some("v1") && meta.history_mode.is_some() => {
                "/root".to_owned()
            }
            None if meta.is_child() => {
                let name = nickname.as_deref().or(meta.kind_of_child()).unwrap_or("agent");
                self.unused_path(&agent_path("/root", name))
            }
            None => "/root".to_owned(),
        };
        self.paths.insert(path.clone());
        if spawned_by.is_none() && meta.is_child() {
            draft.note(Code::ChildUnlinked, Some(stamp.place));
        }
        let info = ThreadInfo {
            id: meta.id.clone(),
            task_name: meta.parent().and_then(|_| path.rsplit('/').next().map(str::to_owned)),
            agent_path: path,
            parent: meta.parent().map(str::to_owned),
            agent_role: meta
                .agent_role
                .clone()
                .or_else(|| spawn?.agent_role.clone())
                .or_else(|| meta.kind_of_child().map(str::to_owned)),
            nickname,
            model: None,
            cwd: meta.cwd.clone(),
        };
        let writer = ThreadWriter::start(draft, info, stamp);
        if let Some(spawn) = spawned_by {
            draft.after(writer.began(), spawn);
        }
        match meta.base_text() {
            Some(text) => {
                // The Codex CLI sends its instructions as the first item, with an id that it keeps nowhere.
                let item =
                    json!({"type": "message", "role": "developer", "content": [{"type": "input_text", "text": text}]});
                let item = draft.other_item(writer.lane(), &item).expect("plain data becomes JSON");
                self.timeline.set_head(item);
            }
            None => draft.note(Code::NoSystemPrompt, Some(stamp.place)),
        }
        self.meta = Some(meta.clone());
        self.writer = Some(writer);
    }

    fn unused_path(&self, path: &str) -> String {
        let numbers = (2..).map(|number| format!("{path}_{number}"));
        let mut paths = std::iter::once(path.to_owned()).chain(numbers);
        paths.find(|path| !self.paths.contains(path)).unwrap_or_default()
    }

    /// Takes the history that a fork begins with from the file of the other thread.
    fn take_history(&mut self, base: &HistoryBase, near: &Path, draft: &mut Draft, place: Place, depth: usize) {
        let Some(file) = file_of_base(&base.thread_id, near).filter(|_| depth <= MAX_BASES) else {
            draft.note(Code::HistoryMissing, Some(place));
            return;
        };
        let Ok(mut records) = Records::open(&file, draft) else {
            draft.note(Code::HistoryMissing, Some(place));
            return;
        };
        let mut is_first = true;
        while let Ok(Some(record)) = records.next(draft) {
            let Ok(line) = serde_json::from_slice::<Line<'_>>(record.bytes) else {
                draft.note(Code::DamagedLine, Some(record.place));
                continue;
            };
            let ordinal = line.ordinal.unwrap_or(0);
            if std::mem::take(&mut is_first) {
                // The other file may go on with an earlier one itself.
                let meta = serde_json::from_str::<SessionMeta>(line.payload.get()).ok();
                if let Some(earlier) = meta.and_then(|meta| meta.history_base) {
                    self.take_history(&earlier, &file, draft, place, depth + 1);
                }
                continue;
            }
            if ordinal < base.end_ordinal_exclusive {
                self.ordinal = ordinal;
                self.history_line(&line, record.place, draft);
            }
        }
    }

    /// Takes from a line only what it adds to the history.
    fn history_line(&mut self, line: &Line<'_>, place: Place, draft: &mut Draft) {
        match &*line.tag {
            "response_item" => {
                draft.note(Code::CopiedRecord, Some(place));
                if !is_readable(line.payload, place, draft) {
                    return;
                }
                let item = serde_json::from_str::<ResponseItem<'_>>(line.payload.get());
                let renamed = item.ok().and_then(|item| self.with_own_call_id(&item, line.payload, place, draft));
                let text = self.item_text(renamed.as_deref().unwrap_or(line.payload), place, draft);
                self.timeline.push(self.ordinal, line.metadata.and_then(|metadata| metadata.history_sequence), text);
            }
            "compacted" => {
                if let Ok(compacted) = serde_json::from_str::<Compacted<'_>>(line.payload.get()) {
                    self.replace_history(&compacted, place, draft);
                }
            }
            _ => {}
        }
    }

    fn line(&mut self, line: &Line<'_>, record: Record<'_>, stamp: Stamp, draft: &mut Draft) {
        if self.legacy.has_ordinals && self.ordinal < self.copied_until {
            self.history_line(line, record.place, draft);
            return;
        }
        // Calls begin when their answer is complete, before anything that they run.
        if self.calls.are_waiting() && self.group.as_ref().is_some_and(|group| group.is_complete) {
            self.close_group(None, draft);
        }
        if let Time::At(at) = stamp.time
            && let Some(writer) = &mut self.writer
        {
            self.calls.pass(at, writer, draft, self.source);
        }
        let is_read = match &*line.tag {
            "response_item" => self.item(line.payload, line.metadata, stamp, draft),
            "event_msg" => self.event(line.payload, stamp, draft),
            "token_usage_record" => self.usage(line.payload, stamp, draft),
            "turn_context" => self.turn_context(line.payload, stamp, draft),
            "compacted" => self.compacted(line.payload, stamp, draft),
            "session_meta" | "world_state" | "inter_agent_communication_metadata" | "ghost_snapshot" => Some(()),
            tag => {
                draft.unknown(tag, record.place);
                Some(())
            }
        };
        if is_read.is_none() {
            draft.note(Code::DamagedLine, Some(record.place));
        }
    }

    /// Returns the text of an item. One without an id gets one from its place.
    fn item_text(&mut self, raw: &RawValue, place: Place, draft: &mut Draft) -> ItemText {
        let lane = self.writer.as_ref().expect("a thread has begun").lane();
        let has_id = serde_json::from_str::<ResponseItem<'_>>(raw.get()).is_ok_and(|item| item.id.is_some());
        match raw.get().strip_prefix('{').filter(|_| !has_id) {
            None => draft.raw_item(lane, raw),
            Some(members) => {
                draft.note(Code::ItemIdMade, Some(place));
                let comma = if members.trim_start().starts_with('}') { "" } else { "," };
                let text = format!("{{\"id\":\"{}\"{comma}{members}", made_id(place));
                match RawValue::from_string(text) {
                    Ok(item) => draft.raw_item(lane, &item),
                    Err(_) => draft.raw_item(lane, raw),
                }
            }
        }
    }

    fn item(&mut self, raw: &RawValue, metadata: Option<Metadata>, stamp: Stamp, draft: &mut Draft) -> Option<()> {
        let item: ResponseItem<'_> = serde_json::from_str(raw.get()).ok()?;
        if item.tag == "additional_tools" {
            return Some(());
        }
        if !is_readable(raw, stamp.place, draft) {
            return Some(());
        }
        match self.with_own_call_id(&item, raw, stamp.place, draft) {
            None => self.tell_item(raw, &item, metadata, stamp, draft),
            Some(raw) => {
                let item: ResponseItem<'_> = serde_json::from_str(raw.get()).ok()?;
                self.tell_item(&raw, &item, metadata, stamp, draft)
            }
        }
    }

    /// Returns a call, or the output of one, with another id if an earlier call of the thread has the same one.
    fn with_own_call_id(
        &mut self,
        item: &ResponseItem<'_>,
        raw: &RawValue,
        place: Place,
        draft: &mut Draft,
    ) -> Option<Box<RawValue>> {
        let Id::Made { id, is_new } = self.call_ids.id_of(item, raw, place) else { return None };
        if is_new {
            draft.note(Code::CallIdRepeated, Some(place));
        }
        with_call_id(raw, id)
    }

    fn tell_item(
        &mut self,
        raw: &RawValue,
        item: &ResponseItem<'_>,
        metadata: Option<Metadata>,
        stamp: Stamp,
        draft: &mut Draft,
    ) -> Option<()> {
        let sequence = metadata.and_then(|metadata| metadata.history_sequence);
        let sampled = metadata.and_then(|metadata| metadata.sampled_through_sequence);
        // Outside of turns, and in the turn of a review, the program itself adds what looks like answers.
        let is_added = self.legacy.has_ordinals && (item.is_injected() || !self.is_in_turn())
            || matches!(self.review, Review::Running);
        let is_of_model = item.is_of_model() && !is_added;
        let text = self.item_text(raw, stamp.place, draft);
        if is_of_model {
            let goes_on = self.group.as_ref().is_some_and(|group| !group.is_complete && group.sampled == sampled);
            if !goes_on {
                self.close_group(Some(CUT_ANSWER), draft);
                let input = self.timeline.up_to(sampled);
                self.group = Some(Group::new(stamp, sampled, input));
            }
        } else if self.group.as_ref().is_some_and(|group| group.is_complete) {
            self.close_group(None, draft);
        } else if self.legacy.has_ordinals && item.tag == "message" && item.role.as_deref() == Some("user") {
            self.cancel_group(STEERED, stamp, draft);
        }
        self.timeline.push(self.ordinal, sequence, text);
        if is_of_model || item.tag != "message" {
            self.legacy.is_answered = is_of_model && item.tag == "message";
        }
        if let Some(group) = self.group.as_mut().filter(|_| is_of_model) {
            group.items.push(text);
            group.last = stamp;
        }
        let writer = self.writer.as_mut()?;
        let id = item.id.as_deref().map_or_else(|| made_id(stamp.place), str::to_owned);
        if item.tag == "agent_message" {
            let received = writer.accept_mail(draft, &id, raw, stamp);
            let message = item.content.map(text_of).unwrap_or_default();
            if let Some(author) = item.author.as_deref().filter(|_| is_result(&message)) {
                let recipient = writer.id().to_owned();
                let (author, message) = (author.to_owned(), message.into_owned());
                self.mail.push(Mail { author, recipient, message, at: self.now, stamp, received });
            }
        } else {
            writer.accept(draft, &id, stamp);
        }
        if item.is_call() {
            self.calls.add(item, stamp);
        } else if item.is_output() {
            self.calls.begin(writer, draft);
            self.calls.output(item, raw, stamp, writer, draft);
        }
        Some(())
    }

    fn event(&mut self, raw: &RawValue, stamp: Stamp, draft: &mut Draft) -> Option<()> {
        let event: EventMsg<'_> = serde_json::from_str(raw.get()).ok()?;
        match &*event.tag {
            "task_started" | "turn_started" => {
                self.legacy.has_marks = true;
                self.settle(draft);
                let id = match std::mem::take(&mut self.review) {
                    Review::Asked(turn) => {
                        self.review = Review::Running;
                        turn.into()
                    }
                    _ => event.turn_id.unwrap_or("turn".into()),
                };
                let writer = self.writer.as_mut()?;
                // A process that was killed leaves its turn open, and nothing says how it would have ended.
                if writer.is_in_turn() {
                    draft.note(Code::TurnEndUnknown, Some(stamp.place));
                }
                writer.begin_turn(draft, &id, stamp);
                self.legacy.is_prompted = false;
            }
            "task_complete" | "turn_complete" => {
                let failed = event.error.is_some();
                if let Some(error) = &event.error {
                    let error = error.text();
                    match error.strip_prefix(COMPACTION_FAILED) {
                        Some(error) => self.fail_compaction(error, stamp, draft),
                        None => self.fail_request(&error, stamp, draft),
                    }
                }
                let status = if failed { ExecutionStatus::Failed } else { ExecutionStatus::Completed };
                // Version 0.120 does not say that a turn failed. The turn has no answer then.
                let is_silent =
                    event.last_agent_message.is_none() && !self.legacy.has_ordinals && self.legacy.is_prompted;
                let status = if is_silent { ExecutionStatus::Failed } else { status };
                self.settle(draft);
                self.end_turn(status, stamp, draft);
            }
            "turn_aborted" => {
                let reason = event.reason.as_deref().unwrap_or("interrupted").to_owned();
                self.complete_by_usage();
                self.cancel_group(&format!("The turn was stopped: {reason}."), stamp, draft);
                self.settle(draft);
                self.stopped.extend(event.turn_id.map(|turn| turn.into_owned()));
                self.end_turn(ExecutionStatus::Cancelled, stamp, draft);
            }
            "user_message" if !self.legacy.has_marks => {
                self.end_legacy_turn(stamp, true, draft);
                self.legacy.turns += 1;
                let writer = self.writer.as_mut()?;
                let id = format!("{}:turn-{}", writer.id(), self.legacy.turns);
                writer.begin_turn(draft, &id, stamp);
                draft.note(Code::TurnIdMade, Some(stamp.place));
            }
            "user_message" => self.legacy.is_prompted = true,
            "token_count" if !self.legacy.has_ordinals => self.token_count(event.info.as_ref(), stamp),
            "item_completed" => {
                let raw = event.item?;
                let mut item: RuntimeItem<'_> = serde_json::from_str(raw.get()).ok()?;
                item.id = self.call_ids.reported(&item.id).to_owned().into();
                let time = |at: Option<i64>| Stamp { time: at.map_or(stamp.time, Time::At), place: stamp.place };
                let span = (time(event.started_at_ms), time(event.completed_at_ms));
                match &*item.tag {
                    "UserMessage" | "AgentMessage" | "Reasoning" | "ContextCompaction" => return Some(()),
                    "EnteredReviewMode" => {
                        let turn = event.turn_id.map(|turn| turn.into_owned());
                        // The turn may be marked as begun before.
                        self.review = match turn.filter(|_| !self.is_in_turn()) {
                            Some(turn) => Review::Asked(turn),
                            None => Review::Running,
                        };
                        return Some(());
                    }
                    _ => {}
                }
                if self.group.as_ref().is_some_and(|group| group.is_complete) {
                    self.close_group(None, draft);
                }
                let writer = self.writer.as_mut()?;
                self.calls.begin(writer, draft);
                let is_stopped = event.turn_id.is_some_and(|turn| self.stopped.contains(&*turn));
                self.calls.report(&item, raw, span, is_stopped, writer, draft);
            }
            _ => {}
        }
        Some(())
    }

    /// Takes the tokens of a request that was answered.
    fn usage(&mut self, raw: &RawValue, stamp: Stamp, draft: &mut Draft) -> Option<()> {
        let record: UsageRecord<'_> = serde_json::from_str(raw.get()).ok()?;
        if self.group.as_ref().is_some_and(|group| group.is_complete) {
            self.close_group(None, draft);
        }
        // An answer without items: a compaction by the provider, or an empty one.
        if self.group.is_none() {
            let input = self.timeline.up_to(None);
            self.group = Some(Group::new(stamp, None, input));
        }
        let group = self.group.as_mut()?;
        group.usage = record.usage.map(Usage::from);
        group.response_id = record.response_id.map(|id| id.into_owned());
        group.is_complete = true;
        group.last = stamp;
        Some(())
    }

    /// Takes the tokens of older versions: a sum that grows with each answer.
    fn token_count(&mut self, info: Option<&TokenInfo>, stamp: Stamp) {
        let Some(info) = info else { return };
        if info.total_token_usage == self.legacy.total {
            return;
        }
        self.legacy.total = info.total_token_usage;
        if self.group.is_none() {
            let input = self.timeline.up_to(None);
            self.group = Some(Group::new(stamp, None, input));
        }
        let Some(group) = &mut self.group else { return };
        group.usage = info.last_token_usage.map(Usage::from);
        group.last = stamp;
        // From 0.98 on, the sum follows the answer, and the outputs of its calls come behind the sum. Before, the sum may come first.
        if self.legacy.has_marks || !group.items.is_empty() {
            group.is_complete = true;
            self.legacy.unanswered = 0;
        }
    }

    fn turn_context(&mut self, raw: &RawValue, stamp: Stamp, draft: &mut Draft) -> Option<()> {
        let context: TurnContext<'_> = serde_json::from_str(raw.get()).ok()?;
        if let Some(model) = &context.model {
            self.model = model.to_string();
        }
        if self.legacy.has_ordinals || self.legacy.has_marks || context.turn_id.is_some() {
            return Some(());
        }
        // Before 0.120, each attempt to ask the model begins with such a line.
        self.close_attempt(draft);
        let input = self.timeline.up_to(None);
        self.group = Some(Group::new(stamp, None, input));
        Some(())
    }

    /// Ends an attempt of a version that marks only the start of attempts.
    fn close_attempt(&mut self, draft: &mut Draft) {
        self.complete_by_usage();
        let Some(group) = &self.group else { return };
        self.legacy.unanswered = if group.is_complete { 0 } else { self.legacy.unanswered + 1 };
        let error = if group.items.is_empty() { NO_ANSWER } else { CUT_ANSWER };
        self.close_group(Some(error), draft);
    }

    /// Takes an answer with tokens for complete: the sum of tokens grows when an answer is. Before 0.120, nothing else says so.
    fn complete_by_usage(&mut self) {
        if let Some(group) = &mut self.group {
            group.is_complete |= group.usage.is_some();
        }
    }

    fn compacted(&mut self, raw: &RawValue, stamp: Stamp, draft: &mut Draft) -> Option<()> {
        let compacted: Compacted<'_> = serde_json::from_str(raw.get()).ok()?;
        let is_summary = self.group.as_ref().is_some_and(|group| match &compacted.compaction_response_id {
            Some(id) => group.response_id.as_deref() == Some(id),
            // Older versions compact between two requests.
            None => !self.legacy.has_ordinals,
        });
        let by_provider = compacted.replacement_history.as_ref().is_some_and(|items| {
            items.iter().any(|item| {
                let tag = serde_json::from_str::<ResponseItem<'_>>(item.get()).map(|item| item.tag.into_owned());
                tag.is_ok_and(|tag| matches!(&*tag, "compaction" | "compaction_summary" | "context_compaction"))
            })
        });
        // The request for the summary has no place in the graph, but its tokens count.
        let summary = if is_summary { self.group.take() } else { None };
        if let Some(Group { usage: Some(usage), response_id, .. }) = summary {
            draft.spent_beside(&self.model, usage, response_id, stamp);
        }
        self.settle(draft);
        let before = self.timeline.current();
        self.replace_history(&compacted, stamp.place, draft);
        let after = self.timeline.current();
        if by_provider {
            let id = compacted.window_id.as_deref().map_or_else(|| made_id(stamp.place), str::to_owned);
            self.install(&id, &before, &after, compacted.compaction_response_id.as_deref(), stamp, draft);
        }
        Some(())
    }

    fn install(
        &mut self,
        id: &str,
        before: &History,
        after: &History,
        response_id: Option<&str>,
        stamp: Stamp,
        draft: &mut Draft,
    ) -> Option<()> {
        let id = format!("compaction:{id}");
        let request = self.request_compaction(&id, before, stamp, draft)?;
        let writer = self.writer.as_mut()?;
        let response = draft.value(PayloadKind::CompactionResponse, &json!({"response_id": response_id}));
        let completed = CompactionRequestCompleted {
            compaction_id: id.clone().into(),
            compaction_request_id: request.into(),
            response_payload: response,
        };
        writer.other(draft, EventPayload::CompactionRequestCompleted(completed), stamp);
        writer.compacted(draft, &id, before, after, stamp);
        Some(())
    }

    fn replace_history(&mut self, compacted: &Compacted<'_>, place: Place, draft: &mut Draft) {
        let Some(items) = &compacted.replacement_history else {
            // Before 0.120 the file has only the summary.
            if let Some(message) = compacted.message.as_deref().filter(|message| !message.is_empty()) {
                draft.note(Code::RequestIncomplete, Some(place));
                self.timeline.clear(self.ordinal);
                let item = Item::Message {
                    id: made_id(place).into(),
                    role: Role::User,
                    content: vec![Content::InputText { text: message.into() }],
                };
                let lane = self.writer.as_ref().expect("a thread has begun").lane();
                let text = draft.item(lane, &item).expect("plain data becomes JSON");
                self.timeline.push(self.ordinal, None, text);
            }
            return;
        };
        self.timeline.clear(self.ordinal);
        let metadata = compacted.replacement_history_metadata.as_deref().unwrap_or_default();
        for (index, item) in items.iter().enumerate() {
            if !is_readable(item, place, draft) {
                continue;
            }
            let lane = self.writer.as_ref().expect("a thread has begun").lane();
            let parsed = serde_json::from_str::<ResponseItem<'_>>(item.get());
            let renamed = parsed.ok().and_then(|parsed| self.with_own_call_id(&parsed, item, place, draft));
            let text = draft.raw_item(lane, renamed.as_deref().unwrap_or(item));
            let sequence = metadata.get(index).copied().flatten().and_then(|metadata| metadata.history_sequence);
            self.timeline.push(self.ordinal, sequence, text);
        }
    }

    fn is_in_turn(&self) -> bool {
        self.writer.as_ref().is_some_and(ThreadWriter::is_in_turn)
    }

    /// Records the compaction by the provider whose failure ended a turn.
    fn fail_compaction(&mut self, error: &str, stamp: Stamp, draft: &mut Draft) {
        // The answer that was no compaction has no place in the graph, but its tokens count.
        let answer = self.group.take_if(|group| group.is_complete && group.items.is_empty());
        if let Some(Group { usage: Some(usage), response_id, .. }) = answer {
            draft.spent_beside(&self.model, usage, response_id, stamp);
        }
        self.settle(draft);
        let before = self.timeline.current();
        let id = format!("compaction:{}", made_id(stamp.place));
        let Some(request) = self.request_compaction(&id, &before, stamp, draft) else { return };
        let failed = CompactionRequestFailed {
            compaction_id: id.into(),
            compaction_request_id: request.into(),
            error: error.to_owned().into(),
        };
        if let Some(writer) = &mut self.writer {
            writer.other(draft, EventPayload::CompactionRequestFailed(failed), stamp);
        }
    }

    /// Records the request for a compaction by the provider. Returns its id, or `None` if there is no turn.
    fn request_compaction(&mut self, id: &str, before: &History, stamp: Stamp, draft: &mut Draft) -> Option<String> {
        let provider = self.provider();
        let writer = self.writer.as_mut()?;
        let turn = writer.turn()?.to_owned();
        let request = format!("{id}:request");
        let head = json!({"model": self.model});
        let started = CompactionRequestStarted {
            compaction_id: id.to_owned().into(),
            compaction_request_id: request.clone().into(),
            thread_id: writer.id().to_owned().into(),
            codex_turn_id: turn.into(),
            model: self.model.clone().into(),
            provider_name: provider.into(),
            request_payload: draft
                .payload_with_items(PayloadKind::CompactionRequest, &head, &[("input", before)])
                .expect("plain data becomes JSON"),
        };
        let unknown = Stamp { time: Time::Unknown, place: stamp.place };
        writer.other(draft, EventPayload::CompactionRequestStarted(started), unknown);
        Some(request)
    }

    fn provider(&self) -> String {
        self.meta.as_ref().and_then(|meta| meta.model_provider.clone()).unwrap_or_else(|| "openai".to_owned())
    }

    /// Ends the model call and begins the tool calls that it made.
    fn settle(&mut self, draft: &mut Draft) {
        self.close_group(Some(CUT_ANSWER), draft);
        if let Some(writer) = &mut self.writer {
            self.calls.begin(writer, draft);
        }
    }

    fn ask(&mut self, group: &Group, draft: &mut Draft) -> Option<InferenceId> {
        let provider = self.provider();
        let head = json!({"model": self.model});
        let request = Request { model: &self.model, provider: &provider, head: &head, input: &group.input };
        draft.note(Code::RequestRebuilt, Some(group.began.place));
        let unknown = Stamp { time: Time::Unknown, place: group.began.place };
        Some(self.writer.as_mut()?.request(draft, &request, unknown))
    }

    /// Ends the model call. One that is not complete failed with `error`, or is still under way if there is none.
    fn close_group(&mut self, error: Option<&str>, draft: &mut Draft) {
        let Some(group) = self.group.take() else { return };
        let answer = match error {
            Some(error) if !group.is_complete => Answer::Failed { error, request_id: None },
            _ => Answer::Completed { response_id: group.response_id.as_deref(), request_id: None },
        };
        self.answer(&group, answer, draft);
    }

    fn cancel_group(&mut self, reason: &str, stamp: Stamp, draft: &mut Draft) {
        if let Some(mut group) = self.group.take_if(|group| !group.is_complete) {
            group.last = stamp;
            self.answer(&group, Answer::Cancelled { reason }, draft);
        }
    }

    fn answer(&mut self, group: &Group, answer: Answer<'_>, draft: &mut Draft) {
        let Some(call) = self.ask(group, draft) else { return };
        let Some(writer) = &mut self.writer else { return };
        let key = group.response_id.clone();
        if group.usage.is_none() && matches!(answer, Answer::Completed { .. }) {
            draft.note(Code::NoUsage, Some(group.began.place));
        }
        writer.answer(draft, &call, answer, &group.items, group.usage, key, group.last);
        self.calls.begin(writer, draft);
    }

    /// Records the request whose failure ended a turn.
    fn fail_request(&mut self, error: &str, stamp: Stamp, draft: &mut Draft) {
        let group = match self.group.take_if(|group| !group.is_complete) {
            Some(mut group) => {
                group.last = stamp;
                group
            }
            None => {
                self.settle(draft);
                Group::new(stamp, None, self.timeline.up_to(None))
            }
        };
        self.answer(&group, Answer::Failed { error, request_id: None }, draft);
    }

    fn end_turn(&mut self, status: ExecutionStatus, stamp: Stamp, draft: &mut Draft) -> Option<()> {
        self.review = Review::None;
        let writer = self.writer.as_mut()?;
        let id = writer.turn()?.to_owned();
        let ended = writer.end_turn(draft, status, stamp)?;
        // The parent's call that waits for the answer ends after it.
        let unknown = Stamp { time: Time::Unknown, place: stamp.place };
        let answer = Some(draft.reserve(writer.lane(), Some(&id), unknown));
        self.turns.push(Turn { id, ended_at: self.now, ended, answer });
        Some(())
    }

    /// Ends the turn of a version that does not mark it: at the next message of the user, or at the end of the file.
    fn end_legacy_turn(&mut self, stamp: Stamp, goes_on: bool, draft: &mut Draft) {
        if !self.is_in_turn() {
            return;
        }
        let is_open = self.group.as_ref().is_some_and(|group| group.usage.is_none());
        let unanswered = if is_open { self.legacy.unanswered + 1 } else { 0 };
        let status = match unanswered {
            0 if self.legacy.is_answered => ExecutionStatus::Completed,
            // The agent asks again after a failure, and gives up in the end.
            2.. => ExecutionStatus::Failed,
            _ if goes_on => ExecutionStatus::Aborted,
            // The process may have been killed, or is still at work.
            _ => return,
        };
        draft.note(Code::TurnEndInferred, Some(stamp.place));
        self.close_attempt(draft);
        self.settle(draft);
        let unknown = Stamp { time: Time::Unknown, place: stamp.place };
        self.end_turn(status, unknown, draft);
        self.legacy.unanswered = 0;
    }
}

impl Group {
    fn new(began: Stamp, sampled: Option<u64>, input: History) -> Self {
        Self {
            began,
            last: began,
            sampled,
            input,
            items: History::default(),
            usage: None,
            response_id: None,
            is_complete: false,
        }
    }
}

/// Returns the id of something that has none in the file.
fn made_id(place: Place) -> String {
    format!("line_{}_{}", place.source, place.line)
}

/// Returns whether a message between agents is the result of a child.
fn is_result(message: &str) -> bool {
    message.lines().next().is_some_and(|line| line.trim_end() == "Message Type: FINAL_ANSWER")
}

/// Returns whether readers of bundles accept an item. One that they would refuse is noted.
fn is_readable(item: &RawValue, place: Place, draft: &mut Draft) -> bool {
    let form = form_of(item);
    match form {
        Form::Readable => {}
        Form::Unknown => draft.unknown(&type_of(item), place),
        Form::Damaged => draft.note(Code::DamagedLine, Some(place)),
    }
    form == Form::Readable
}
