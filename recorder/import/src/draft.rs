//! The events that a format reports about a session, thread by thread, until they become a bundle.

use std::borrow::Cow;
use std::collections::HashSet;
use std::path::Path;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use trace_recorder::Bundle;
use trace_recorder::format::event::{RecordingCompleted, RolloutEnded, RolloutStarted, ThreadEnded};
use trace_recorder::format::import::{IMPORT_VERSION, Origin, Place};
use trace_recorder::format::{
    Event, EventPayload, ExecutionStatus, IMPORT_FILE, ImportRecord, ImportSource, Manifest, PAYLOADS_DIR, PayloadKind,
    PayloadRef, RolloutStatus, SchemaVersion,
};
use trace_recorder::payloads::{MemoryFiles, Slice};

use crate::body::{Buffers, History, ItemText};
use crate::error::ImportError;
use crate::event::{EventRef, Pending, Stamp, Time};
use crate::item::{Content, Item, Role};
use crate::merge::{Merged, merge};
use crate::note::{Code, Notes};
use crate::summary::{Reads, Spent, Summary, Usage};

/// A thread of a draft. Its events are in the order in which they are pushed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Lane(usize);

#[derive(Debug)]
struct LaneState {
    thread: Arc<str>,
    /// The turn of the last event, so that its id is stored once.
    turn: Option<Arc<str>>,
    buffer: u32,
    open_turns: usize,
    turns: usize,
    has_ended: bool,
    events: Vec<Pending>,
}

/// A session while it is read.
#[derive(Debug)]
pub struct Draft {
    format: &'static str,
    agent_version: Option<String>,
    sources: Vec<ImportSource>,
    reads: Reads,
    notes: Notes,
    buffers: Buffers,
    /// The slices of all payloads, and where those of each end.
    slices: Vec<Slice>,
    ends: Vec<usize>,
    lanes: Vec<LaneState>,
    thread_ids: HashSet<Box<str>>,
    /// Ids of turns and of calls that are in use.
    turn_ids: HashSet<Box<str>>,
    call_ids: HashSet<Box<str>>,
    inference_calls: u64,
    /// Ids of inference calls that are in use.
    inference_ids: HashSet<Box<str>>,
    summary: Summary,
    /// Whether only the summary is wanted. Texts and events are not kept then.
    is_summary: bool,
}

/// A message of the user, as far as the first prompt of a session needs it.
#[derive(Deserialize)]
struct UserMessage<'a> {
    #[serde(borrow)]
    r#type: Cow<'a, str>,
    #[serde(borrow)]
    role: Cow<'a, str>,
    #[serde(borrow)]
    content: Vec<UserText<'a>>,
}

#[derive(Deserialize)]
struct UserText<'a> {
    #[serde(borrow, default)]
    text: Cow<'a, str>,
}

impl Draft {
    /// Makes an empty draft for a session of the format with this name.
    pub fn new(format: &'static str) -> Self {
        Self {
            format,
            agent_version: None,
            sources: Vec::new(),
            reads: Reads::default(),
            notes: Notes::default(),
            buffers: Buffers::new(),
            slices: Vec::new(),
            ends: Vec::new(),
            lanes: Vec::new(),
            thread_ids: HashSet::new(),
            turn_ids: HashSet::new(),
            call_ids: HashSet::new(),
            inference_calls: 0,
            inference_ids: HashSet::new(),
            summary: Summary::default(),
            is_summary: false,
        }
    }

    /// Makes a draft that keeps only what lists show of a session, for [`Draft::into_summary`].
    pub fn for_summary(format: &'static str) -> Self {
        Self { is_summary: true, ..Self::new(format) }
    }

    /// Returns what lists show of the session.
    pub fn into_summary(mut self) -> Summary {
        self.summary.agent_version = self.agent_version;
        self.summary
    }

    /// Records that a file was looked at that is no source of the session.
    pub fn looked_at(&mut self, path: &Path) {
        self.reads.files.push(path.to_owned());
    }

    /// Records that any other session of the store may change what this one tells.
    pub fn looked_around(&mut self) {
        self.reads.looks_around = true;
    }

    /// Returns what the session was read from.
    pub fn reads(&self) -> Reads {
        // A missing file may appear in any place.
        let is_missing = |code| matches!(code, Code::ChildMissing | Code::HistoryMissing);
        let is_incomplete = self.noted().any(|(code, _)| is_missing(code));
        Reads { looks_around: self.reads.looks_around || is_incomplete, ..self.reads.clone() }
    }

    /// Returns whether only the summary is wanted. An importer may then leave out what no list shows.
    pub fn is_summary(&self) -> bool {
        self.is_summary
    }

    /// Sets the version of the program that wrote the session. The first one that is set stays.
    pub fn agent_version(&mut self, version: &str) {
        self.agent_version.get_or_insert_with(|| version.to_owned());
    }

    /// Sets the name of the session. The last one that is set stays.
    pub fn title(&mut self, title: &str) {
        self.summary.title = Some(title.to_owned());
    }

    /// Sets the id of the session, if it is another than that of its first thread.
    pub fn session_id(&mut self, id: &str) {
        id.clone_into(&mut self.summary.id);
    }

    /// Adds a file that the session is read from. Returns its number for [`Place::source`].
    pub fn source(&mut self, path: &Path) -> u32 {
        self.reads.files.push(path.to_owned());
        self.sources.push(ImportSource { path: path.to_string_lossy().into_owned() });
        self.sources.len() as u32 - 1
    }

    /// Notes that `code` applies, at `place` or to the whole session.
    pub fn note(&mut self, code: Code, place: Option<Place>) {
        self.notes.add(code, place);
    }

    /// Notes a record of a type that the reader does not know.
    pub fn unknown(&mut self, kind: &str, place: Place) {
        self.notes.add_unknown(kind, place);
    }

    /// Returns the codes that were noted, with how often each applies.
    pub fn noted(&self) -> impl Iterator<Item = (Code, u64)> + '_ {
        self.notes.counts()
    }

    /// Returns whether a thread with this id was added.
    pub(crate) fn has_thread(&self, thread_id: &str) -> bool {
        self.thread_ids.contains(thread_id)
    }

    /// Adds a thread. The first one is the root of the session.
    pub fn lane(&mut self, thread_id: &str) -> Lane {
        self.thread_ids.insert(thread_id.into());
        let buffer = self.buffers.add();
        self.lanes.push(LaneState {
            thread: thread_id.into(),
            turn: None,
            buffer,
            open_turns: 0,
            turns: 0,
            has_ended: false,
            events: Vec::new(),
        });
        Lane(self.lanes.len() - 1)
    }

    /// Adds an event at the end of a thread, in a turn or outside of all turns.
    pub fn push(&mut self, lane: Lane, turn: Option<&str>, stamp: Stamp, payload: EventPayload<'static>) -> EventRef {
        let state = &mut self.lanes[lane.0];
        if let Time::At(at) = stamp.time {
            self.summary.happened_at(at);
        }
        match &payload {
            EventPayload::CodexTurnStarted(_) => {
                state.open_turns += 1;
                state.turns += 1;
                self.summary.turns += 1;
                if lane.0 == 0 {
                    self.summary.set_outcome(ExecutionStatus::Running);
                }
            }
            EventPayload::CodexTurnEnded(ended) => {
                state.open_turns = state.open_turns.saturating_sub(1);
                self.summary.failed_turns += u64::from(ended.status == ExecutionStatus::Failed);
                if lane.0 == 0 {
                    self.summary.set_outcome(ended.status);
                }
            }
            EventPayload::ThreadEnded(_) => state.has_ended = true,
            EventPayload::ThreadResumed(_) => state.has_ended = false,
            _ => {}
        }
        if self.is_summary {
            return EventRef { lane: lane.0, index: 0 };
        }
        self.add(lane, turn, stamp, Some(payload))
    }

    /// Keeps a place behind the last event of a thread for an event that is told later with [`Draft::fill`].
    pub(crate) fn reserve(&mut self, lane: Lane, turn: Option<&str>, stamp: Stamp) -> EventRef {
        if self.is_summary {
            return EventRef { lane: lane.0, index: 0 };
        }
        self.add(lane, turn, stamp, None)
    }

    /// Puts an event into the place that was kept for it.
    pub(crate) fn fill(&mut self, place: EventRef, payload: EventPayload<'static>) {
        if !self.is_summary {
            self.lanes[place.lane].events[place.index].payload = Some(payload);
        }
    }

    fn add(
        &mut self,
        lane: Lane,
        turn: Option<&str>,
        stamp: Stamp,
        payload: Option<EventPayload<'static>>,
    ) -> EventRef {
        let state = &mut self.lanes[lane.0];
        let turn = turn.map(|turn| match &state.turn {
            Some(last) if **last == *turn => Arc::clone(last),
            _ => Arc::from(turn),
        });
        if turn.is_some() {
            state.turn.clone_from(&turn);
        }
        state.events.push(Pending { stamp, turn, payload, causes: Vec::new() });
        EventRef { lane: lane.0, index: state.events.len() - 1 }
    }

    /// Puts `effect` behind `cause` whatever their times say. The two may be events of different threads.
    pub fn after(&mut self, effect: EventRef, cause: EventRef) {
        if !self.is_summary {
            self.lanes[effect.lane].events[effect.index].causes.push(cause);
        }
    }

    /// Adds the text of an item to the texts of a thread. An item is serialized once and then belongs to any number of
    /// requests.
    ///
    /// # Errors
    ///
    /// Returns an error if the item cannot be written as JSON.
    pub fn item(&mut self, lane: Lane, item: &Item<'_>) -> serde_json::Result<ItemText> {
        if let Item::Message { role: Role::User, content, .. } = item
            && self.awaits_prompt(lane)
        {
            for part in content {
                if let Content::InputText { text } = part {
                    self.summary.prompted(text);
                }
            }
        }
        self.other_item(lane, item)
    }

    /// Adds the text of an item that has another form than [`Item`].
    ///
    /// # Errors
    ///
    /// Returns an error if the item cannot be written as JSON.
    pub fn other_item(&mut self, lane: Lane, item: &impl Serialize) -> serde_json::Result<ItemText> {
        let buffer = self.lanes[lane.0].buffer;
        if self.is_summary {
            return Ok(ItemText::empty(buffer));
        }
        self.buffers.item(buffer, |bytes| serde_json::to_writer(bytes, item))
    }

    /// Records what a user wrote to a thread, for formats whose summaries need no items.
    pub(crate) fn prompted(&mut self, lane: Lane, text: &str) {
        if self.awaits_prompt(lane) {
            self.summary.prompted(text);
        }
    }

    /// Returns whether the next message of the user in a thread may be the first prompt of the session.
    fn awaits_prompt(&self, lane: Lane) -> bool {
        lane.0 == 0 && self.summary.first_prompt.is_none()
    }

    /// Adds the text of an item that is JSON already. It is only read to find the first prompt of the session.
    pub fn raw_item(&mut self, lane: Lane, item: &RawValue) -> ItemText {
        let buffer = self.lanes[lane.0].buffer;
        if self.awaits_prompt(lane)
            && let Ok(message) = serde_json::from_str::<UserMessage<'_>>(item.get())
            && message.r#type == "message"
            && message.role == "user"
        {
            message.content.iter().for_each(|part| self.summary.prompted(&part.text));
        }
        if self.is_summary {
            return ItemText::empty(buffer);
        }
        let added = self.buffers.item(buffer, |bytes| {
            bytes.extend_from_slice(item.get().as_bytes());
            Ok(())
        });
        added.expect("copying bytes does not fail")
    }

    /// Adds a payload that is one JSON value.
    ///
    /// # Errors
    ///
    /// Returns an error if the value cannot be written as JSON.
    pub fn payload(
        &mut self,
        kind: PayloadKind<'static>,
        value: &(impl Serialize + ?Sized),
    ) -> serde_json::Result<PayloadRef<'static>> {
        if self.is_summary {
            return Ok(self.file(kind));
        }
        let text = serde_json::to_vec(value)?;
        self.slices.push(self.buffers.whole(&text));
        Ok(self.file(kind))
    }

    /// Adds a payload that is a JSON object: the members of `head`, and behind them each list of items under its name. A
    /// request has its items under `input`, a response under `output_items`.
    ///
    /// # Errors
    ///
    /// Returns an error if `head` cannot be written as JSON.
    pub fn payload_with_items(
        &mut self,
        kind: PayloadKind<'static>,
        head: &impl Serialize,
        lists: &[(&str, &History)],
    ) -> serde_json::Result<PayloadRef<'static>> {
        if self.is_summary {
            return Ok(self.file(kind));
        }
        let head = serde_json::to_vec(head)?;
        self.buffers.with_lists(&head, lists, &mut self.slices);
        Ok(self.file(kind))
    }

    /// Adds a payload that is an item with a text in front of it and one behind it.
    pub(crate) fn payload_around(
        &mut self,
        kind: PayloadKind<'static>,
        before: &str,
        item: ItemText,
        after: &str,
    ) -> PayloadRef<'static> {
        if !self.is_summary {
            self.buffers.around(before.as_bytes(), item, after.as_bytes(), &mut self.slices);
        }
        self.file(kind)
    }

    /// Makes a payload of the slices that were added since the last one.
    fn file(&mut self, kind: PayloadKind<'static>) -> PayloadRef<'static> {
        if self.is_summary {
            return PayloadRef { raw_payload_id: "".into(), kind, path: "".into() };
        }
        self.ends.push(self.slices.len());
        let number = self.ends.len();
        PayloadRef {
            raw_payload_id: format!("raw_payload:{number}").into(),
            kind,
            path: format!("{PAYLOADS_DIR}/{number}.json").into(),
        }
    }

    /// Returns whether no turn has this id yet, and reserves it.
    pub(crate) fn is_new_turn(&mut self, id: &str) -> bool {
        self.turn_ids.insert(id.into())
    }

    /// Returns whether no tool call has this id yet, and reserves it.
    pub(crate) fn is_new_call(&mut self, id: &str) -> bool {
        self.call_ids.insert(id.into())
    }

    /// Returns the id of the next inference call.
    pub(crate) fn next_inference_id(&mut self) -> String {
        loop {
            self.inference_calls += 1;
            let id = format!("inference:{}", self.inference_calls);
            if self.inference_ids.insert(id.as_str().into()) {
                return id;
            }
        }
    }

    /// Returns the id of an inference call whose id the file has: that id, or another one if it is in use.
    pub(crate) fn inference_id(&mut self, id: &str) -> String {
        if self.inference_ids.insert(id.into()) { id.to_owned() } else { self.next_inference_id() }
    }

    /// Records who a thread is.
    pub(crate) fn describe_thread(&mut self, lane: Lane, model: Option<&str>, cwd: Option<&str>) {
        self.summary.threads += 1;
        if lane.0 == 0 {
            if self.summary.id.is_empty() {
                self.summary.id = self.lanes[0].thread.to_string();
            }
            self.summary.cwd = cwd.map(str::to_owned);
            self.summary.model = model.map(str::to_owned);
        }
    }

    /// Records that a thread asked a model.
    pub(crate) fn asked(&mut self, lane: Lane, model: &str) {
        if lane.0 == 0 && !model.is_empty() && self.summary.model.as_deref() != Some(model) {
            self.summary.model = Some(model.to_owned());
        }
    }

    /// Records the tokens of a model call.
    pub(crate) fn spent(&mut self, model: &str, usage: Usage, key: Option<String>, stamp: Stamp) {
        let at = if let Time::At(at) = stamp.time { Some(at) } else { None };
        self.summary.spent.push(Spent { at, model: model.to_owned(), key, usage });
    }

    /// Counts the tokens of a model call that has no place in the graph, such as the one that wrote a summary.
    pub fn spent_beside(&mut self, model: &str, usage: Usage, key: Option<String>, stamp: Stamp) {
        self.spent(model, usage, key, stamp);
    }

    /// Says that the last model call was served at another price than others of its model. `tariff` is put behind its name.
    pub(crate) fn spent_at(&mut self, tariff: &str) {
        if let Some(spent) = self.summary.spent.last_mut() {
            spent.model = format!("{}-{tariff}", spent.model);
        }
    }

    /// Records that a tool was called.
    pub(crate) fn called(&mut self) {
        self.summary.tool_calls += 1;
    }

    /// Records that a tool call failed.
    pub(crate) fn call_failed(&mut self) {
        self.summary.failed_tool_calls += 1;
    }

    /// Ends the threads whose turns have all ended, if the format did not: nothing runs in them any more.
    fn end_threads(&mut self) {
        for index in 0..self.lanes.len() {
            let state = &self.lanes[index];
            let Some(last) = state.events.last() else { continue };
            if state.has_ended || state.open_turns > 0 || state.turns == 0 {
                continue;
            }
            let stamp = Stamp { time: Time::Unknown, place: last.stamp.place };
            let ended = ThreadEnded { thread_id: state.thread.to_string().into(), status: RolloutStatus::Completed };
            self.notes.add(Code::SessionEndInferred, Some(stamp.place));
            self.push(Lane(index), None, stamp, EventPayload::ThreadEnded(ended));
        }
    }

    /// Makes a bundle of the events. `path` names the session in messages.
    ///
    /// # Errors
    ///
    /// Returns an error if nothing was told.
    pub fn finish(mut self, path: &Path) -> Result<Bundle, ImportError> {
        self.end_threads();
        let is_empty = self.lanes.first().is_none_or(|root| root.events.is_empty());
        if is_empty {
            return Err(ImportError::Empty { path: path.to_owned(), reason: "nothing happens in it" });
        }
        let threads: Vec<Arc<str>> = self.lanes.iter().map(|lane| Arc::clone(&lane.thread)).collect();
        let root_has_ended = self.lanes[0].has_ended;
        let count = self.lanes.iter().map(|lane| lane.events.len()).sum();
        let mut log = Log::new(Arc::clone(&threads[0]), count);
        let edge = |place| Origin { place, is_timed: false };
        let mut manifest = None;
        let (mut last_time, mut last_place) = (0, Place { source: 0, line: 0 });
        let lanes = self.lanes.into_iter().map(|lane| lane.events).collect();
        let reordered = merge(lanes, |merged| {
            let Merged { lane, time, event: Pending { stamp, turn, payload, .. } } = merged;
            if manifest.is_none() {
                let manifest = manifest.insert(Manifest::new(&threads[0], &threads[0], &threads[0], time));
                let start = RolloutStarted {
                    trace_id: manifest.trace_id.clone().into(),
                    root_thread_id: manifest.root_thread_id.clone().into(),
                };
                log.add(time, None, None, edge(stamp.place), EventPayload::RolloutStarted(start));
            }
            (last_time, last_place) = (time, stamp.place);
            let Some(payload) = payload else { return };
            let origin = Origin { place: stamp.place, is_timed: stamp.time != Time::Unknown };
            log.add(time, Some(Arc::clone(&threads[lane])), turn, origin, payload);
        });
        let manifest = manifest.expect("the root has events");
        for place in reordered {
            self.notes.add(Code::ClockDisorder, Some(place));
        }
        if root_has_ended {
            let ended = RolloutEnded { status: RolloutStatus::Completed };
            log.add(last_time, None, None, edge(last_place), EventPayload::RolloutEnded(ended));
            log.add(last_time, None, None, edge(last_place), EventPayload::RecordingCompleted(RecordingCompleted {}));
        }
        let record = ImportRecord {
            version: IMPORT_VERSION,
            format: self.format.to_owned(),
            agent_version: self.agent_version,
            sources: self.sources,
            notes: self.notes.into_notes(),
            origins: log.origins,
        };
        let record = serde_json::to_vec(&record).expect("a record is plain data");
        let record = self.buffers.whole(&record);
        let mut files = MemoryFiles::of_documents(self.buffers.into_inner());
        files.add_payloads(self.slices, self.ends);
        files.insert(IMPORT_FILE.to_owned(), vec![record]);
        Ok(Bundle::from_events(path, manifest, log.events, files))
    }
}

/// The event log while it is made.
struct Log {
    rollout_id: Arc<str>,
    events: Vec<Event<'static>>,
    origins: Vec<Origin>,
}

/// Events that a session has beside those of its threads: its start, its end, and the end of the recording.
const EDGE_EVENTS: usize = 3;

impl Log {
    /// Makes an empty log for a session whose threads have so many events.
    fn new(rollout_id: Arc<str>, count: usize) -> Self {
        let (events, origins) = (Vec::with_capacity(count + EDGE_EVENTS), Vec::with_capacity(count + EDGE_EVENTS));
        Self { rollout_id, events, origins }
    }

    fn add(
        &mut self,
        time: i64,
        thread: Option<Arc<str>>,
        turn: Option<Arc<str>>,
        origin: Origin,
        payload: EventPayload<'static>,
    ) {
        self.origins.push(origin);
        self.events.push(Event {
            schema_version: SchemaVersion::CURRENT,
            seq: self.origins.len() as u64,
            wall_time_unix_ms: time,
            rollout_id: Arc::clone(&self.rollout_id).into(),
            thread_id: thread.map(Into::into),
            codex_turn_id: turn.map(Into::into),
            payload,
        });
    }
}
