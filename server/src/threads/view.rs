//! The turns of a thread as clients see them: the finished ones, and the running one as far as it is.
//!
//! Deltas are added to the view when clients are notified of them, so that a snapshot and the deltas after it add up without
//! a gap.

use std::sync::Arc;

use trace_protocol::item::ThreadItem;
use trace_protocol::turn::{Turn, TurnItemsView, TurnStatus};
use trace_runtime::event::{Delta, TurnKind, TurnOutcome};
use trace_runtime::{Item, ItemId, ThreadId, TurnId};

use crate::mapping;

/// The turns of a thread.
#[derive(Debug)]
pub(crate) struct View {
    thread: ThreadId,
    turns: Vec<Arc<Turn>>,
    running: Option<Running>,
}

#[derive(Debug)]
struct Running {
    turn: Arc<Turn>,
    kind: TurnKind,
    started_at_ms: i64,
}

/// Applies an expression to an item of any kind; all kinds have an id and times.
macro_rules! with_item {
    ($item:expr, $name:ident => $body:expr) => {
        match $item {
            ThreadItem::UserMessage($name) => $body,
            ThreadItem::HookPrompt($name) => $body,
            ThreadItem::AgentMessage($name) => $body,
            ThreadItem::FunctionCallOutput($name) => $body,
            ThreadItem::Plan($name) => $body,
            ThreadItem::Reasoning($name) => $body,
            ThreadItem::CommandExecution($name) => $body,
            ThreadItem::FileChange($name) => $body,
            ThreadItem::McpToolCall($name) => $body,
            ThreadItem::DynamicToolCall($name) => $body,
            ThreadItem::CollabAgentToolCall($name) => $body,
            ThreadItem::SubAgentActivity($name) => $body,
            ThreadItem::WebSearch($name) => $body,
            ThreadItem::ImageView($name) => $body,
            ThreadItem::Sleep($name) => $body,
            ThreadItem::ImageGeneration($name) => $body,
            ThreadItem::EnteredReviewMode($name) => $body,
            ThreadItem::ExitedReviewMode($name) => $body,
            ThreadItem::ContextCompaction($name) => $body,
        }
    };
}

fn id(item: &ThreadItem) -> &str {
    with_item!(item, item => &item.id)
}

impl View {
    /// Returns a view with the turns of a stored thread.
    pub(crate) fn of(thread: &ThreadId, turns: Vec<Turn>) -> Self {
        Self { thread: thread.clone(), turns: turns.into_iter().map(Arc::new).collect(), running: None }
    }

    /// Returns the id of the last turn.
    pub(crate) fn last_turn(&self) -> Option<&str> {
        let running = self.running.as_ref().map(|running| &running.turn);
        running.or(self.turns.last()).map(|turn| turn.id.as_str())
    }

    /// Begins a turn, and returns it for the notification.
    pub(crate) fn begin(&mut self, turn: &TurnId, root: &TurnId, kind: TurnKind, at_ms: i64) -> Turn {
        let turn = Turn {
            id: turn.to_string(),
            items: Vec::new(),
            status: TurnStatus::InProgress,
            items_view: TurnItemsView::NotLoaded,
            root_turn_id: Some(root.to_string()),
            started_at: Some(at_ms.div_euclid(1000)),
            ..Turn::default()
        };
        let whole = Turn { items_view: TurnItemsView::Full, ..turn.clone() };
        self.running = Some(Running { turn: Arc::new(whole), kind, started_at_ms: at_ms });
        turn
    }

    /// Adds an item that began, and returns it for the notification.
    pub(crate) fn start_item(&mut self, turn: &TurnId, item: &Item, at_ms: i64) -> ThreadItem {
        let mut item = mapping::item::to_wire(&self.thread, item);
        with_item!(&mut item, item => item.started_at_ms = Some(at_ms));
        if let Some(running) = self.running_turn(turn) {
            running.items.push(item.clone());
        }
        item
    }

    /// Adds a delta to an item.
    pub(crate) fn grow_item(&mut self, turn: &TurnId, item: &ItemId, delta: &Delta) {
        let Some(turn) = self.any_turn(turn) else { return };
        // Searched from the end, because the item that grows is among the last ones.
        let Some(item) = turn.items.iter_mut().rev().find(|known| id(known) == item.as_str()) else { return };
        match (item, delta) {
            (ThreadItem::AgentMessage(item), Delta::Text(text)) => item.text.push_str(text),
            (ThreadItem::Reasoning(item), Delta::SummaryPart { index }) => {
                part(&mut item.summary, *index);
            }
            (ThreadItem::Reasoning(item), Delta::Summary { index, text }) => {
                part(&mut item.summary, *index).push_str(text);
            }
            (ThreadItem::Reasoning(item), Delta::Reasoning { index, text }) => {
                part(&mut item.content, *index).push_str(text);
            }
            (ThreadItem::CommandExecution(item), Delta::Output(text)) => {
                item.aggregated_output.get_or_insert_default().push_str(text);
            }
            (ThreadItem::FileChange(item), Delta::Changes(changes)) => {
                item.changes = changes.iter().map(mapping::item::change).collect();
            }
            _ => {}
        }
    }

    /// Replaces an item by its final form, and returns it for the notification. A command may end long after its turn.
    pub(crate) fn complete_item(&mut self, turn: &TurnId, item: &Item, at_ms: i64) -> ThreadItem {
        let mut done = mapping::item::to_wire(&self.thread, item);
        with_item!(&mut done, item => item.completed_at_ms = Some(at_ms));
        if let Some(running) = self.running_turn(turn) {
            put(&mut running.items, done)
        } else if let Some(turn) = self.turns.iter_mut().rev().find(|known| known.id == turn.as_str()) {
            put(&mut Arc::make_mut(turn).items, done)
        } else {
            done
        }
    }

    /// Ends the running turn, and returns it for the notification: with the last message of the agent as its only item.
    pub(crate) fn end(&mut self, outcome: &TurnOutcome, at_ms: i64) -> Option<Turn> {
        let Running { turn, started_at_ms, .. } = self.running.take()?;
        let mut turn = Arc::unwrap_or_clone(turn);
        // Items are large, and a list grows by more than it needs. Finished turns stay in memory for as long as the thread is loaded.
        turn.items.shrink_to_fit();
        turn.completed_at = Some(at_ms.div_euclid(1000));
        turn.duration_ms = Some((at_ms - started_at_ms).max(0));
        let mut told = Vec::new();
        match outcome {
            TurnOutcome::Completed { last_message } => {
                turn.status = TurnStatus::Completed;
                told.extend(last_message.as_deref().map(|last| {
                    // The item of the view has the times, that of the outcome has not.
                    let shown = turn.items.iter().rev().find(|item| id(item) == last.id.as_str());
                    shown.cloned().unwrap_or_else(|| mapping::item::to_wire(&self.thread, last))
                }));
            }
            TurnOutcome::Interrupted => turn.status = TurnStatus::Interrupted,
            TurnOutcome::Failed(error) => {
                turn.status = TurnStatus::Failed;
                turn.error = Some(mapping::event::error(error));
            }
        }
        let items_view = if told.is_empty() { TurnItemsView::NotLoaded } else { TurnItemsView::Summary };
        let message = Turn {
            id: turn.id.clone(),
            items: told,
            status: turn.status,
            completed_at: turn.completed_at,
            duration_ms: turn.duration_ms,
            error: turn.error.clone(),
            items_view,
            root_turn_id: turn.root_turn_id.clone(),
            started_at: turn.started_at,
        };
        self.turns.push(Arc::new(turn));
        Some(message)
    }

    /// Returns the id and the kind of the running turn.
    pub(crate) fn running(&self) -> Option<(&str, TurnKind)> {
        self.running.as_ref().map(|running| (running.turn.id.as_str(), running.kind))
    }

    /// Returns all turns, the running one last.
    pub(crate) fn snapshot(&self) -> Vec<Arc<Turn>> {
        let running = self.running.iter().map(|running| &running.turn);
        self.turns.iter().chain(running).cloned().collect()
    }

    /// Returns the last turn.
    pub(crate) fn last(&self) -> Option<&Turn> {
        self.running.as_ref().map(|running| &running.turn).or_else(|| self.turns.last()).map(AsRef::as_ref)
    }

    /// Returns the running turn with no items, as `turn/start` answers when its input joins.
    pub(crate) fn running_summary(&self) -> Option<Turn> {
        let running = &self.running.as_ref()?.turn;
        Some(Turn {
            id: running.id.clone(),
            items: Vec::new(),
            status: running.status,
            completed_at: running.completed_at,
            duration_ms: running.duration_ms,
            error: running.error.clone(),
            items_view: TurnItemsView::NotLoaded,
            root_turn_id: running.root_turn_id.clone(),
            started_at: running.started_at,
        })
    }

    /// Returns whether the thread has no turns.
    pub(crate) fn is_empty(&self) -> bool {
        self.turns.is_empty() && self.running.is_none()
    }

    /// Drops a turn and all later ones.
    pub(crate) fn revert_to_before(&mut self, turn: &str) {
        if let Some(position) = self.turns.iter().position(|known| known.id == turn) {
            self.turns.truncate(position);
        }
    }

    /// Returns the running turn, or the finished one whose command still runs.
    fn any_turn(&mut self, turn: &TurnId) -> Option<&mut Turn> {
        let is_running = self.running.as_ref().is_some_and(|running| running.turn.id == turn.as_str());
        if is_running {
            return self.running.as_mut().map(|running| Arc::make_mut(&mut running.turn));
        }
        self.turns.iter_mut().rev().find(|known| known.id == turn.as_str()).map(Arc::make_mut)
    }

    fn running_turn(&mut self, turn: &TurnId) -> Option<&mut Turn> {
        let running = self.running.as_mut().filter(|running| running.turn.id == turn.as_str())?;
        Some(Arc::make_mut(&mut running.turn))
    }
}

/// Returns a part of a text in parts, and makes those up to it.
fn part(parts: &mut Vec<String>, index: usize) -> &mut String {
    /// Parts beyond this are one.
    const MAX_PARTS: usize = 1_000;
    let index = index.min(MAX_PARTS - 1);
    if parts.len() <= index {
        parts.resize_with(index + 1, String::new);
    }
    &mut parts[index]
}

/// Puts an item in the place of the one with its id, or at the end. Returns it with the time at which it began.
fn put(items: &mut Vec<ThreadItem>, mut item: ThreadItem) -> ThreadItem {
    match items.iter_mut().rev().find(|known| id(known) == id(&item)) {
        Some(known) => {
            let started_at_ms = with_item!(&*known, known => known.started_at_ms);
            with_item!(&mut item, item => item.started_at_ms = started_at_ms);
            known.clone_from(&item);
        }
        None => items.push(item.clone()),
    }
    item
}
