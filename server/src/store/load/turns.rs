//! Turns and their items.

use std::collections::HashMap;

use serde_json::Value;
use trace_protocol::item::{ReasoningItem, ThreadItem};
use trace_protocol::turn::{Turn, TurnItemsView, TurnStatus};

use crate::store::rollout::item;
use crate::store::rollout::outcome;
use crate::store::rollout::short_event::{self, ShortEvent};
use crate::store::rollout::spelling::text;

/// The turns while the lines of a thread are applied.
#[derive(Debug, Default)]
pub(super) struct Turns {
    turns: Vec<Turn>,
    by_id: HashMap<String, usize>,
    /// Positions of the items in their turns, by the position of the turn and the id of the item.
    items: HashMap<(usize, String), usize>,
    /// The running turn, to which events without the id of a turn belong.
    current: Option<usize>,
    /// Number of items without an id.
    unnamed_items: u64,
    /// Number of turns without an id.
    unnamed_turns: u64,
}

impl Turns {
    pub(super) fn len(&self) -> usize {
        self.turns.len()
    }

    /// Returns the id of the newest turn.
    pub(super) fn newest_id(&self) -> Option<&str> {
        self.turns.last().map(|turn| turn.id.as_str())
    }

    /// Applies an event. Most events do not concern turns.
    pub(super) fn event(&mut self, kind: &str, payload: &Value, at_ms: Option<i64>) {
        match kind {
            "task_started" | "turn_started" => self.begin(payload, at_ms),
            "item_completed" => self.whole_item(payload),
            kind => {
                if let Some(status) = short_event::end_status(kind) {
                    self.end(status, payload, at_ms);
                } else {
                    let given = format!("item-{}", self.unnamed_items + 1);
                    if let Some(short) = short_event::read(kind, payload, &given) {
                        self.short_item(short, payload);
                    }
                }
            }
        }
    }

    fn begin(&mut self, payload: &Value, at_ms: Option<i64>) {
        let position = match text(payload, "turn_id") {
            Some(id) => self.turn(&id),
            None => self.unnamed_turn(),
        };
        let turn = &mut self.turns[position];
        turn.root_turn_id = text(payload, "root_turn_id").or(turn.root_turn_id.take());
        turn.started_at = payload
            .get("started_at")
            .and_then(Value::as_i64)
            .or(at_ms.map(|at_ms| at_ms.div_euclid(1000)))
            .or(turn.started_at);
        self.current = Some(position);
    }

    fn end(&mut self, status: TurnStatus, payload: &Value, at_ms: Option<i64>) {
        let named = text(payload, "turn_id").and_then(|id| self.by_id.get(&id).copied());
        let Some(position) = named.or(self.current) else { return };
        let turn = &mut self.turns[position];
        let number = |name: &str| payload.get(name).and_then(Value::as_i64);
        if let Some(error) = payload.get("error").and_then(outcome::read_error) {
            turn.error = Some(error);
        }
        // An interrupted turn did not fail, even if an error happened before.
        turn.status = match (status, &turn.error) {
            (TurnStatus::Completed, Some(_)) => TurnStatus::Failed,
            (status, _) => status,
        };
        if turn.status != TurnStatus::Failed {
            turn.error = None;
        }
        turn.started_at = turn.started_at.or(number("started_at"));
        turn.completed_at = number("completed_at").or(at_ms.map(|at_ms| at_ms.div_euclid(1000)));
        turn.duration_ms = number("duration_ms");
        if self.current == Some(position) {
            self.current = None;
        }
    }

    fn whole_item(&mut self, payload: &Value) {
        let Some(item) = payload.get("item").and_then(item::read) else { return };
        let number = |name: &str| payload.get(name).and_then(Value::as_i64);
        let item = item.with_times(number("started_at_ms"), number("completed_at_ms"));
        let turn = match text(payload, "turn_id") {
            Some(id) => self.turn(&id),
            None => self.current_turn(),
        };
        self.put(turn, item);
    }

    fn short_item(&mut self, short: ShortEvent, payload: &Value) {
        let named = text(payload, "turn_id").and_then(|id| self.by_id.get(&id).copied());
        match short {
            ShortEvent::Error(error) => {
                if let (Some(turn), Some(error)) = (self.current, outcome::read_error(&error)) {
                    self.turns[turn].error = Some(error);
                }
            }
            ShortEvent::Item(item) => {
                let begins = self.current.is_none() && matches!(*item, ThreadItem::UserMessage(_));
                let turn = match named {
                    Some(turn) => turn,
                    None if begins => self.implied_turn(),
                    None => self.current_turn(),
                };
                self.unnamed_items += u64::from(!short_event::names_item(payload));
                if !self.items.contains_key(&(turn, item.id().to_owned())) {
                    self.put(turn, *item);
                }
            }
            ShortEvent::Reasoning { id, summary, content } => {
                let turn = self.current_turn();
                match id {
                    // The whole item was already read.
                    Some(id) if self.items.contains_key(&(turn, id.clone())) => {}
                    Some(id) => self.put(turn, reasoning(id, summary, content)),
                    None => self.add_reasoning(turn, summary, content),
                }
            }
        }
    }

    fn add_reasoning(&mut self, turn: usize, summary: Option<String>, content: Option<String>) {
        if let Some(ThreadItem::Reasoning(last)) = self.turns[turn].items.last_mut() {
            last.summary.extend(summary);
            last.content.extend(content);
            return;
        }
        self.unnamed_items += 1;
        self.put(turn, reasoning(format!("item-{}", self.unnamed_items), summary, content));
    }

    /// Adds an item to a turn, or replaces the one with the same id.
    fn put(&mut self, turn: usize, item: ThreadItem) {
        let items = &mut self.turns[turn].items;
        match self.items.get(&(turn, item.id().to_owned())) {
            Some(&position) => items[position] = item,
            None => {
                self.items.insert((turn, item.id().to_owned()), items.len());
                items.push(item);
            }
        }
    }

    /// Returns the turn with an id. An unknown turn is added.
    fn turn(&mut self, id: &str) -> usize {
        if let Some(&position) = self.by_id.get(id) {
            return position;
        }
        self.by_id.insert(id.to_owned(), self.turns.len());
        self.turns.push(Turn {
            id: id.to_owned(),
            status: TurnStatus::InProgress,
            items_view: TurnItemsView::Full,
            root_turn_id: Some(id.to_owned()),
            ..Turn::default()
        });
        self.turns.len() - 1
    }

    fn unnamed_turn(&mut self) -> usize {
        self.unnamed_turns += 1;
        self.turn(&format!("turn-{}", self.unnamed_turns))
    }

    /// Adds a turn that has no start event, only a message of the user.
    fn implied_turn(&mut self) -> usize {
        let turn = self.unnamed_turn();
        // Such a turn has no end event either, so it counts as completed.
        self.turns[turn].status = TurnStatus::Completed;
        turn
    }

    /// Returns the running turn, or the newest one if none is running.
    fn current_turn(&mut self) -> usize {
        match self.current.or(self.turns.len().checked_sub(1)) {
            Some(turn) => turn,
            None => self.implied_turn(),
        }
    }

    /// Drops the newest turns, and returns the position of the first of them.
    pub(super) fn drop_newest(&mut self, count: u64) -> Option<usize> {
        let count = usize::try_from(count).unwrap_or(usize::MAX).min(self.turns.len());
        let first = self.turns.len() - count;
        // Only the dropped turns are visited: a rollout can revert as often as it has lines, so visiting all turns
        // would be quadratic.
        for (position, turn) in (first..).zip(self.turns.drain(first..)) {
            self.by_id.remove(&turn.id);
            for item in &turn.items {
                self.items.remove(&(position, item.id().to_owned()));
            }
        }
        self.current = self.current.filter(|turn| *turn < first);
        (count > 0).then_some(first)
    }

    /// Returns the turns. Turns without an end are interrupted. Items are in the order in which they began.
    pub(super) fn finish(self) -> Vec<Turn> {
        let mut turns = self.turns;
        for turn in &mut turns {
            if turn.status == TurnStatus::InProgress {
                turn.status = TurnStatus::Interrupted;
                turn.error = None;
            }
            sort(&mut turn.items);
        }
        turns
    }
}

/// Sorts items by the time at which they began. An item without a time stays behind the item before it.
fn sort(items: &mut [ThreadItem]) {
    let mut latest = i64::MIN;
    let mut keys: HashMap<String, i64> = HashMap::with_capacity(items.len());
    for item in items.iter() {
        let began = item.started_at_ms().unwrap_or(latest);
        latest = latest.max(began);
        keys.insert(item.id().to_owned(), began);
    }
    items.sort_by_key(|item| keys.get(item.id()).copied().unwrap_or(latest));
}

fn reasoning(id: String, summary: Option<String>, content: Option<String>) -> ThreadItem {
    ThreadItem::Reasoning(ReasoningItem {
        id,
        summary: summary.into_iter().collect(),
        content: content.into_iter().collect(),
        ..ReasoningItem::default()
    })
}
