//! Appends the events of one thread to its rollout.

use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use jiff::Timestamp;
use serde_json::{Value, json};
use trace_protocol::goal::ThreadGoal;
use trace_protocol::thread::{GitInfo, ThreadHistoryMode};
use trace_runtime::event::EventKind;
use trace_runtime::item::ModelItem;
use trace_runtime::{Event, ThreadId, TurnId};
use uuid::Uuid;

use super::error::StoreError;
use super::load;
use super::names;
use super::rollout::chain::{Chain, Place};
use super::rollout::file::{Draft, RolloutFile};
use super::rollout::line::{Line, LineKind, NewLine};
use super::rollout::lock::WriterLock;
use super::rollout::meta::{Meta, stored_git};
use super::rollout::record::{Recorder, Storage, settings_applied};
use super::rollout::scan::{CLOSED_EVENT, GIT_EVENT, NAME_EVENT};
use super::shared::Shared;
use super::stored::StoredThread;
use super::summary::{NewThread, ThreadSummary};

/// Appends the events of one thread to its rollout. The thread has no other writer while this one is open. Clones share
/// the same writer.
///
/// The rollout of a new thread is created with the first event that is worth storing: a turn, an item, a name or a
/// goal. Changed settings alone do not create it. They are kept in memory until then.
#[derive(Debug, Clone)]
pub struct ThreadWriter(Arc<Inner>);

/// The shared part of a writer's clones, which the store also refers to.
#[derive(Debug)]
pub(super) struct Inner {
    shared: Arc<Shared>,
    thread: ThreadId,
    /// The path of the rollout, which need not exist yet. It has a separate lock, so that reading it does not wait for
    /// a revert.
    path: Mutex<PathBuf>,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    /// `None` after the writer was closed.
    lock: Option<WriterLock>,
    stage: Stage,
    recorder: Recorder,
    /// Changed settings that wait for the rollout to be created.
    kept: Vec<NewLine>,
    /// The history after a revert, until the agent reports that it uses it.
    reverted: Option<Vec<ModelItem>>,
}

#[derive(Debug)]
enum Stage {
    /// There is no rollout yet.
    Fresh(Box<NewThread>),
    Stored(RolloutFile),
    Closed,
}

impl ThreadWriter {
    /// Creates the writer of a thread that has no rollout yet.
    pub(super) fn fresh(shared: Arc<Shared>, lock: WriterLock, thread: NewThread, path: PathBuf) -> Self {
        let id = thread.id.clone();
        let recorder = Recorder::new(id.clone(), thread.history_mode);
        Self::with(shared, lock, id, recorder, Stage::Fresh(Box::new(thread)), path)
    }

    /// Creates the writer of a stored thread.
    pub(super) fn stored(shared: Arc<Shared>, lock: WriterLock, thread: &ThreadId, file: RolloutFile) -> Self {
        let recorder = Recorder::new(thread.clone(), file.history_mode());
        let path = file.path().to_owned();
        Self::with(shared, lock, thread.clone(), recorder, Stage::Stored(file), path)
    }

    fn with(
        shared: Arc<Shared>,
        lock: WriterLock,
        thread: ThreadId,
        recorder: Recorder,
        stage: Stage,
        path: PathBuf,
    ) -> Self {
        let state = State { lock: Some(lock), stage, recorder, kept: Vec::new(), reverted: None };
        Self(Arc::new(Inner { shared, thread, path: Mutex::new(path), state: Mutex::new(state) }))
    }

    /// Returns the part that the store refers to.
    pub(super) fn inner(&self) -> &Arc<Inner> {
        &self.0
    }

    /// Returns the id of the thread.
    pub fn id(&self) -> &ThreadId {
        &self.0.thread
    }

    /// Returns the path of the rollout, which need not exist yet. [`ThreadWriter::revert`] can change it.
    pub fn path(&self) -> PathBuf {
        self.0.path().clone()
    }

    /// Returns whether the thread has a rollout. A closed writer returns the last state that it knew.
    pub fn is_materialized(&self) -> bool {
        matches!(self.0.lock().stage, Stage::Stored(_))
    }

    /// Returns the summary of the thread, or `None` if it has no rollout yet.
    pub fn summary(&self) -> Option<ThreadSummary> {
        self.0.shared.summary(&self.0.thread).map(|summary| ThreadSummary::clone(&summary))
    }

    /// Creates the rollout if it does not exist yet.
    ///
    /// # Errors
    ///
    /// Returns an error if the file cannot be written or the writer is closed.
    pub fn materialize(&self) -> Result<(), StoreError> {
        self.0.append(&mut self.0.lock(), &[])
    }

    /// Appends the lines of an event. Many events have no lines.
    ///
    /// # Errors
    ///
    /// Returns an error if the file cannot be written or the writer is closed.
    pub fn record(&self, event: &Event) -> Result<(), StoreError> {
        let mut state = self.0.lock();
        match &event.kind {
            EventKind::HistoryReplaced { history, .. }
                if state.reverted.take().is_some_and(|reverted| reverted[..] == history[..]) =>
            {
                return Ok(());
            }
            // The thread continued without reporting the reverted history, so a later report is about another one.
            EventKind::TurnStarted { .. } | EventKind::Remembered { .. } => state.reverted = None,
            _ => {}
        }
        let (storage, lines) = state.recorder.lines(event);
        if storage == Storage::Deferred && matches!(state.stage, Stage::Fresh(..)) {
            if !lines.is_empty() {
                state.kept = lines;
            }
            return Ok(());
        }
        if lines.is_empty() { Ok(()) } else { self.0.append(&mut state, &lines) }
    }

    /// Appends items to the history that the model sees, such as the items that an agent inherits from its parent.
    ///
    /// # Errors
    ///
    /// Returns an error if the file cannot be written or the writer is closed.
    pub fn remember(&self, items: &[ModelItem]) -> Result<(), StoreError> {
        let at_ms = now_ms();
        let line = |item: &ModelItem| NewLine { at_ms, kind: LineKind::ResponseItem, payload: item.to_value() };
        self.0.append(&mut self.0.lock(), &items.iter().map(line).collect::<Vec<_>>())
    }

    /// Names the thread, and returns the name without surrounding white space.
    ///
    /// # Errors
    ///
    /// Returns [`StoreError::EmptyName`], or an error if the file cannot be written or the writer is closed.
    pub fn set_name(&self, name: &str) -> Result<String, StoreError> {
        self.0.set_name(name)
    }

    /// Stores the Git information of the thread.
    ///
    /// # Errors
    ///
    /// Returns an error if the file cannot be written or the writer is closed.
    pub fn set_git(&self, git: Option<&GitInfo>) -> Result<(), StoreError> {
        self.0.set_git(git)
    }

    /// Stores the goal of the thread, or that it has none.
    ///
    /// # Errors
    ///
    /// Returns an error if the file cannot be written or the writer is closed.
    pub fn set_goal(&self, goal: Option<&ThreadGoal>) -> Result<(), StoreError> {
        let thread = &self.0.thread;
        self.0.event(match goal {
            Some(goal) => json!({"type": load::GOAL_EVENT, "threadId": thread.as_str(), "goal": goal}),
            None => json!({"type": load::GOAL_CLEARED_EVENT, "threadId": thread.as_str()}),
        })
    }

    /// Drops a turn and all later ones, and returns the remaining thread. The caller gives its history to the agent;
    /// the event with which the agent reports this history is not stored again. This reads and copies the whole thread,
    /// so it should run on a blocking thread.
    ///
    /// # Errors
    ///
    /// Returns [`StoreError::UnknownTurn`], or an error if files cannot be read or written or the writer is closed.
    pub fn revert(&self, before: &TurnId) -> Result<StoredThread, StoreError> {
        let mut state = self.0.lock();
        let unknown = || StoreError::UnknownTurn { turn: before.to_string() };
        let Stage::Stored(file) = &state.stage else { return Err(unknown()) };
        let chain = self.0.shared.chain(file.path())?;
        let survey = load::survey(&chain)?;
        let (first, place) = survey.beginning(before).ok_or_else(unknown)?;
        match file.history_mode() {
            ThreadHistoryMode::Legacy => {
                let payload = json!({"type": "thread_rolled_back", "num_turns": survey.turns() - first});
                self.0.append(&mut state, &[NewLine { at_ms: now_ms(), kind: LineKind::Event, payload }])?;
            }
            ThreadHistoryMode::Paginated => self.0.begin_part(&mut state, &chain, place, &survey)?,
        }
        let stored = self.0.shared.load(&self.0.thread)?;
        state.reverted = Some(stored.history.clone());
        Ok(stored)
    }

    /// Closes the writer, so that the thread can be opened again. Later calls return an error.
    pub fn close(&self) {
        let mut state = self.0.lock();
        state.stage = Stage::Closed;
        state.lock = None;
    }

    /// Fills a thread that has no rollout yet with the lines of another thread, up to a place.
    pub(super) fn begin_copy(&self, chain: &Chain, until: Option<Place>) -> Result<(), StoreError> {
        self.0.begin_copy(chain, until)
    }
}

impl Inner {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn path(&self) -> MutexGuard<'_, PathBuf> {
        self.path.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Names the thread, and returns the name.
    pub(super) fn set_name(&self, name: &str) -> Result<String, StoreError> {
        let name = name.trim();
        if name.is_empty() {
            return Err(StoreError::EmptyName);
        }
        let at_ms = now_ms();
        let payload = json!({"type": NAME_EVENT, "thread_id": self.thread.as_str(), "thread_name": name});
        self.append(&mut self.lock(), &[NewLine { at_ms, kind: LineKind::Event, payload }])?;
        let home = self.shared.home();
        names::append(home, &self.thread, name, at_ms).map_err(StoreError::io("append to", home.join(names::NAMES)))?;
        self.shared.named(&self.thread, at_ms, name);
        Ok(name.to_owned())
    }

    pub(super) fn set_git(&self, git: Option<&GitInfo>) -> Result<(), StoreError> {
        let git = git.map(stored_git);
        self.event(json!({"type": GIT_EVENT, "thread_id": self.thread.as_str(), "git": git}))
    }

    /// Stores that the agent was closed: it no longer belongs to its parent.
    pub(super) fn set_closed(&self) -> Result<(), StoreError> {
        self.event(json!({"type": CLOSED_EVENT, "thread_id": self.thread.as_str()}))
    }

    pub(super) fn is_open(&self) -> bool {
        self.lock().lock.is_some()
    }

    fn event(&self, payload: Value) -> Result<(), StoreError> {
        self.append(&mut self.lock(), &[NewLine { at_ms: now_ms(), kind: LineKind::Event, payload }])
    }

    fn append(&self, state: &mut State, lines: &[NewLine]) -> Result<(), StoreError> {
        if state.lock.is_none() {
            return Err(StoreError::Closed { thread: self.thread.clone() });
        }
        if let Stage::Fresh(thread) = &state.stage {
            let mut file = RolloutFile::create(self.path().clone(), thread.history_mode)?;
            first_lines(thread).iter().try_for_each(|line| file.append(line)).inspect_err(|_| unmake(&file))?;
            self.shared.began(&self.thread, &file);
            state.stage = Stage::Stored(file);
        }
        let Stage::Stored(file) = &mut state.stage else { return Ok(()) };
        let result = state.kept.iter().chain(lines).try_for_each(|line| file.append(line));
        if result.is_ok() {
            // After an error, the kept lines are written together with the next ones.
            state.kept.clear();
        }
        self.shared.appended(&self.thread, file.path());
        result
    }

    fn begin_copy(&self, chain: &Chain, until: Option<Place>) -> Result<(), StoreError> {
        let mut state = self.lock();
        let Stage::Fresh(thread) = &state.stage else {
            return Err(StoreError::Exists { thread: self.thread.clone() });
        };
        let mut draft = Draft::create(self.path().clone(), thread.history_mode)?;
        let file = draft.file();
        let [meta, settings] = first_lines(thread);
        file.append(&meta)?;
        file.append(&settings)?;
        copy_until(chain, until, load::is_copied, thread.created_at_ms, file)?;
        // The settings of the source may have changed later. The copy starts with its own.
        file.append(&NewLine { at_ms: now_ms(), ..settings })?;
        self.begin(&mut state, draft)
    }

    /// Continues in a new file, which starts with the old lines up to a place.
    ///
    /// The file could instead refer to the old files for its beginning. But some other readers show only the content of
    /// the newest file.
    fn begin_part(
        &self,
        state: &mut State,
        chain: &Chain,
        until: Place,
        survey: &load::Survey,
    ) -> Result<(), StoreError> {
        if state.lock.is_none() {
            return Err(StoreError::Closed { thread: self.thread.clone() });
        }
        let at_ms = now_ms();
        let summary = self.shared.summary(&self.thread);
        let part = later_id(self.shared.newest_rollout(&self.thread).as_deref());
        let path = self.shared.new_path(at_ms, &self.thread, Some(&part));
        let mut draft = Draft::create(path, chain.meta.history_mode)?;
        self.fill_part(draft.file(), chain, until, at_ms, survey, summary.as_deref())?;
        self.begin(state, draft)
    }

    /// Publishes a complete draft as the rollout of the thread.
    fn begin(&self, state: &mut State, draft: Draft) -> Result<(), StoreError> {
        let file = draft.publish()?;
        self.shared.began(&self.thread, &file);
        file.path().clone_into(&mut self.path());
        state.stage = Stage::Stored(file);
        Ok(())
    }

    fn fill_part(
        &self,
        file: &mut RolloutFile,
        chain: &Chain,
        until: Place,
        at_ms: i64,
        survey: &load::Survey,
        summary: Option<&ThreadSummary>,
    ) -> Result<(), StoreError> {
        let git = summary.and_then(|summary| summary.git.clone());
        let created_at_ms = summary.map_or(chain.meta.created_at_ms, |summary| summary.created_at_ms);
        let meta = Meta { base: None, git, created_at_ms, ..chain.meta.clone() };
        let line = |kind: LineKind, payload: Value| NewLine { at_ms, kind, payload };
        file.append(&line(LineKind::SessionMeta, meta.payload()))?;
        copy_until(chain, Some(until), |line| line.kind != LineKind::SessionMeta, at_ms, file)?;
        // Settings, goals and messages are kept. Only turns are dropped.
        let goal = survey.goal.clone().unwrap_or_else(|| json!({"type": load::GOAL_CLEARED_EVENT}));
        for payload in survey.last_settings.iter().cloned().chain([goal]).chain(survey.mail_events(&self.thread)) {
            file.append(&line(LineKind::Event, payload))?;
        }
        if let Some(name) = summary.and_then(|summary| summary.name.clone()) {
            let payload = json!({"type": NAME_EVENT, "thread_id": self.thread.as_str(), "thread_name": name});
            file.append(&line(LineKind::Event, payload))?;
        }
        let git = meta.git.as_ref().map(stored_git);
        let payload = json!({"type": GIT_EVENT, "thread_id": self.thread.as_str(), "git": git});
        file.append(&line(LineKind::Event, payload))
    }
}

/// Returns the first lines of a new thread.
fn first_lines(thread: &NewThread) -> [NewLine; 2] {
    let at_ms = thread.created_at_ms;
    let settings = settings_applied(&thread.id, &thread.settings);
    [
        NewLine { at_ms, kind: LineKind::SessionMeta, payload: Meta::of(thread).payload() },
        NewLine { at_ms, kind: LineKind::Event, payload: settings },
    ]
}

/// Copies the lines of a thread up to a place, except those that only other programs read. A line without a time gets
/// one.
fn copy_until(
    chain: &Chain,
    until: Option<Place>,
    is_copied: impl Fn(&Line<'_>) -> bool,
    at_ms: i64,
    to: &mut RolloutFile,
) -> Result<(), StoreError> {
    let mut copied = Ok(());
    chain.each(|place, line| {
        if until.is_some_and(|until| place >= until) {
            return ControlFlow::Break(());
        }
        if line.kind != LineKind::Other && is_copied(line) {
            copied = to.copy(line, at_ms);
        }
        if copied.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    })?;
    copied
}

/// Returns the id of a new part. It is greater than all others, even if the clock was set back.
fn later_id(newest: Option<&str>) -> String {
    let id = ThreadId::new().to_string();
    match newest {
        Some(newest) if *newest >= *id => {
            Uuid::parse_str(newest).map_or(id, |newest| Uuid::from_u128(newest.as_u128().saturating_add(1)).to_string())
        }
        _ => id,
    }
}

/// Deletes a rollout whose beginning could not be written, so that the thread is unchanged.
fn unmake(file: &RolloutFile) {
    if let Err(error) = std::fs::remove_file(file.path()) {
        tracing::warn!(path = %file.path().display(), %error, "an incomplete rollout is left");
    }
}

pub(super) fn now_ms() -> i64 {
    Timestamp::now().as_millisecond()
}
