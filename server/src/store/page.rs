//! Turns and items in pages.
//!
//! A cursor names a turn or an item, so that no row is repeated or skipped when a thread grows at its end. Clients
//! treat cursors as opaque.

use std::borrow::Borrow;
use std::collections::HashMap;

use serde::{Deserialize, Serialize};
use trace_protocol::history::{
    ThreadItemEntry, ThreadItemsListAnchor, ThreadItemsListCursor, ThreadItemsListParams, ThreadTurnsListParams,
};
use trace_protocol::item::ThreadItem;
use trace_protocol::settings::SortDirection;
use trace_protocol::turn::{Turn, TurnItemsView};
use trace_runtime::ThreadId;

use super::error::StoreError;
use super::query::Page;

/// Rows of a page if the client sets no limit.
pub const DEFAULT_LIMIT: u32 = 25;
/// Most rows of a page.
pub const MAX_LIMIT: u32 = 100;
/// Most characters of an invalid cursor that an error repeats.
pub const MAX_SHOWN_CURSOR_CHARS: usize = 200;

/// Which turns to return.
#[derive(Debug, Clone)]
pub struct TurnsQuery {
    /// Where to continue.
    pub cursor: Option<String>,
    /// Most turns.
    pub limit: Option<u32>,
    /// The order of the turns.
    pub direction: SortDirection,
    /// Which items of the turns to return.
    pub view: TurnItemsView,
}

/// Which items to return.
#[derive(Debug, Clone)]
pub struct ItemsQuery {
    /// The turn of the items, or `None` for all turns.
    pub turn: Option<String>,
    /// Where to continue.
    pub cursor: Option<ThreadItemsListCursor>,
    /// Most items.
    pub limit: Option<u32>,
    /// The order of the items.
    pub direction: SortDirection,
}

impl From<&ThreadTurnsListParams> for TurnsQuery {
    /// Converts the params of a request. By default, the newest turns are first and have only some of their items.
    fn from(params: &ThreadTurnsListParams) -> Self {
        Self {
            cursor: params.cursor.clone(),
            limit: params.limit,
            direction: params.sort_direction.unwrap_or(SortDirection::Desc),
            view: params.items_view.unwrap_or(TurnItemsView::Summary),
        }
    }
}

impl From<&ThreadItemsListParams> for ItemsQuery {
    /// Converts the params of a request. By default, the oldest items are first.
    fn from(params: &ThreadItemsListParams) -> Self {
        Self {
            turn: params.turn_id.clone(),
            cursor: params.cursor.clone(),
            limit: params.limit,
            direction: params.sort_direction.unwrap_or(SortDirection::Asc),
        }
    }
}

/// The start of a page.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Cursor {
    thread: String,
    turn: String,
    /// The item, in pages of items.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    item: Option<String>,
    from: Begin,
}

/// Whether a page starts with the turn or item of its cursor, or after it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Begin {
    Here,
    Behind,
}

impl Cursor {
    fn text(&self) -> String {
        serde_json::to_string(self).expect("a cursor is made of texts")
    }

    fn read(text: &str, thread: &ThreadId) -> Result<Self, StoreError> {
        serde_json::from_str(text)
            .ok()
            .filter(|cursor: &Self| cursor.thread == thread.as_str())
            .ok_or_else(|| invalid_cursor(text))
    }
}

/// Returns the error for a cursor that does not come from this server.
pub(super) fn invalid_cursor(cursor: &str) -> StoreError {
    StoreError::InvalidCursor { cursor: cursor.chars().take(MAX_SHOWN_CURSOR_CHARS).collect() }
}

/// Returns the positions of a page's rows, in the order of the page. The rows themselves are in ascending order.
fn positions(rows: usize, anchor: Option<(usize, Begin)>, limit: Option<u32>, direction: SortDirection) -> Vec<usize> {
    let limit = limit.unwrap_or(DEFAULT_LIMIT).clamp(1, MAX_LIMIT) as usize;
    let step = |from: Begin| usize::from(from == Begin::Behind);
    match direction {
        SortDirection::Asc => {
            let first = anchor.map_or(0, |(position, from)| position + step(from));
            (first..rows).take(limit).collect()
        }
        SortDirection::Desc => {
            let end = anchor.map_or(rows, |(position, from)| position + 1 - step(from));
            (0..end.min(rows)).rev().take(limit).collect()
        }
    }
}

/// Returns whether there are rows after the last position of a page.
fn goes_on(rows: usize, positions: &[usize], direction: SortDirection) -> bool {
    positions.last().is_some_and(|last| match direction {
        SortDirection::Asc => last + 1 < rows,
        SortDirection::Desc => *last > 0,
    })
}

/// Returns a page of turns. `turns` are all turns of the thread, oldest first, with all of their items.
///
/// # Errors
///
/// Returns [`StoreError::InvalidCursor`] if the cursor does not come from a page of this thread.
pub fn turns_page<T: Borrow<Turn>>(
    thread: &ThreadId,
    turns: &[T],
    query: &TurnsQuery,
) -> Result<Page<Turn>, StoreError> {
    let anchor = match &query.cursor {
        None => None,
        Some(text) => {
            let cursor = Cursor::read(text, thread)?;
            let position = turns.iter().position(|turn| turn.borrow().id == cursor.turn && cursor.item.is_none());
            Some((position.ok_or_else(|| invalid_cursor(text))?, cursor.from))
        }
    };
    let positions = positions(turns.len(), anchor, query.limit, query.direction);
    let cursor = |position: usize, from| turn_cursor(thread, turns[position].borrow(), from).text();
    Ok(Page {
        next_cursor: goes_on(turns.len(), &positions, query.direction)
            .then(|| positions.last().map(|last| cursor(*last, Begin::Behind)))
            .flatten(),
        backwards_cursor: positions.first().map(|first| cursor(*first, Begin::Here)),
        data: positions.iter().map(|position| view(turns[*position].borrow(), query.view)).collect(),
    })
}

fn turn_cursor(thread: &ThreadId, turn: &Turn, from: Begin) -> Cursor {
    Cursor { thread: thread.to_string(), turn: turn.id.clone(), item: None, from }
}

/// Returns a cursor of a page that starts with a turn.
pub(super) fn cursor_to(thread: &ThreadId, turn: &Turn) -> String {
    turn_cursor(thread, turn, Begin::Here).text()
}

/// Returns a page of items. A turn that the thread does not have has no items.
///
/// # Errors
///
/// Returns [`StoreError::InvalidCursor`] if the cursor does not come from a page of this thread, and
/// [`StoreError::AnchorWithoutTurn`] if it names an item without its turn.
pub fn items_page<T: Borrow<Turn>>(
    thread: &ThreadId,
    turns: &[T],
    query: &ItemsQuery,
) -> Result<Page<ThreadItemEntry>, StoreError> {
    let rows: Vec<(&Turn, &ThreadItem)> = turns
        .iter()
        .map(Borrow::borrow)
        .filter(|turn| query.turn.as_ref().is_none_or(|wanted| turn.id == *wanted))
        .flat_map(|turn| turn.items.iter().map(move |item| (turn, item)))
        .collect();
    let find = |turn: &str, item: &str| rows.iter().position(|row| row.0.id == turn && row.1.id() == item);
    let anchor = match &query.cursor {
        None => None,
        Some(ThreadItemsListCursor::Anchor(ThreadItemsListAnchor::Item { item_id })) => {
            let turn = query.turn.as_ref().ok_or(StoreError::AnchorWithoutTurn)?;
            Some((find(turn, item_id).ok_or_else(|| invalid_cursor(item_id))?, Begin::Here))
        }
        Some(ThreadItemsListCursor::Opaque(text)) => {
            let cursor = Cursor::read(text, thread)?;
            let position = cursor.item.as_ref().and_then(|item| find(&cursor.turn, item));
            Some((position.ok_or_else(|| invalid_cursor(text))?, cursor.from))
        }
    };
    let positions = positions(rows.len(), anchor, query.limit, query.direction);
    let cursor = |position: usize, from| item_cursor(thread, rows[position], from).text();
    Ok(Page {
        next_cursor: goes_on(rows.len(), &positions, query.direction)
            .then(|| positions.last().map(|last| cursor(*last, Begin::Behind)))
            .flatten(),
        backwards_cursor: positions.first().map(|first| cursor(*first, Begin::Here)),
        data: positions.iter().map(|position| entry(rows[*position].0, rows[*position].1)).collect(),
    })
}

fn item_cursor(thread: &ThreadId, (turn, item): (&Turn, &ThreadItem), from: Begin) -> Cursor {
    Cursor { thread: thread.to_string(), turn: turn.id.clone(), item: Some(item.id().to_owned()), from }
}

fn entry(turn: &Turn, item: &ThreadItem) -> ThreadItemEntry {
    ThreadItemEntry {
        turn_id: turn.id.clone(),
        item: item.clone(),
        started_at_ms: item.started_at_ms(),
        completed_at_ms: item.completed_at_ms(),
        output_deferred: false,
    }
}

/// Returns the items of a turn that are in `items`, in that order and without repetition. Items that the turn does not
/// have are skipped.
///
/// # Errors
///
/// Returns [`StoreError::UnknownTurn`] if the thread does not have the turn.
pub fn items_of<T: Borrow<Turn>>(
    turns: &[T],
    turn: &str,
    items: &[String],
) -> Result<Vec<ThreadItemEntry>, StoreError> {
    let found = turns.iter().map(Borrow::borrow).find(|candidate| candidate.id == turn);
    let turn = found.ok_or_else(|| StoreError::UnknownTurn { turn: turn.to_owned() })?;
    // An item is returned once, so that the response is not larger than the turn.
    let mut there: HashMap<&str, &ThreadItem> = turn.items.iter().map(|item| (item.id(), item)).collect();
    Ok(items.iter().filter_map(|wanted| there.remove(wanted.as_str())).map(|item| entry(turn, item)).collect())
}

/// Returns the cursors of pages in descending order that start with the newest turn and the newest item.
pub fn newest<T: Borrow<Turn>>(thread: &ThreadId, turns: &[T]) -> (Option<String>, Option<String>) {
    let turn = turns.last().map(|turn| cursor_to(thread, turn.borrow()));
    let item = turns.iter().rev().map(Borrow::borrow).find_map(|turn| Some((turn, turn.items.last()?)));
    (turn, item.map(|row| item_cursor(thread, row, Begin::Here).text()))
}

/// Returns a turn with the items of a view.
pub fn view(turn: &Turn, view: TurnItemsView) -> Turn {
    let items = match view {
        TurnItemsView::NotLoaded => Vec::new(),
        TurnItemsView::Full => turn.items.clone(),
        TurnItemsView::Summary => {
            let first = turn.items.iter().find(|item| matches!(item, ThreadItem::UserMessage(_)));
            let last = turn.items.iter().rev().find(|item| matches!(item, ThreadItem::AgentMessage(_)));
            first.into_iter().chain(last).cloned().collect()
        }
    };
    // The members are listed, because cloning the turn would first clone all of its items.
    Turn {
        id: turn.id.clone(),
        items,
        status: turn.status,
        completed_at: turn.completed_at,
        duration_ms: turn.duration_ms,
        error: turn.error.clone(),
        items_view: view,
        root_turn_id: turn.root_turn_id.clone(),
        started_at: turn.started_at,
    }
}
