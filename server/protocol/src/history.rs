//! Reading a thread in pages, and searching for text in threads.

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
#[cfg(feature = "schema")]
use ts_rs::TS;

use crate::item::ThreadItem;
use crate::settings::SortDirection;
use crate::thread::{Thread, ThreadReadState, ThreadSourceKind};
use crate::turn::{Turn, TurnItemsView};

/// An item with its turn.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
#[serde(rename_all = "camelCase")]
pub struct ThreadItemEntry {
    /// Id of the turn.
    pub turn_id: String,
    /// The item.
    pub item: ThreadItem,
    /// Start time in Unix milliseconds.
    #[serde(default)]
    pub started_at_ms: Option<i64>,
    /// End time in Unix milliseconds.
    #[serde(default)]
    pub completed_at_ms: Option<i64>,
    /// Whether output was left out. `thread/items/read` returns it.
    #[serde(default)]
    #[cfg_attr(feature = "schema", ts(as = "Option<_>", optional = nullable))]
    pub output_deferred: bool,
}

/// Items of which large outputs are left out of a page.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(rename_all = "camelCase")]
pub struct ThreadItemOutputDeferral {
    /// Whether outputs of commands are left out.
    #[serde(default, deserialize_with = "crate::common::null_is_default")]
    #[cfg_attr(feature = "schema", ts(as = "Option<_>", optional = nullable))]
    pub command_execution: bool,
    /// Whether outputs of MCP tool calls are left out.
    #[serde(default, deserialize_with = "crate::common::null_is_default")]
    #[cfg_attr(feature = "schema", ts(as = "Option<_>", optional = nullable))]
    pub mcp_tool_call: bool,
}

/// An item at which a page starts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum ThreadItemsListAnchor {
    /// An item by its id.
    Item {
        /// Id of the item.
        item_id: String,
    },
}

/// Where a page of items starts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(untagged)]
pub enum ThreadItemsListCursor {
    /// A cursor from another page.
    Opaque(String),
    /// An item.
    Anchor(ThreadItemsListAnchor),
}

/// Params of `thread/items/list`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
#[serde(rename_all = "camelCase")]
pub struct ThreadItemsListParams {
    /// Id of the thread.
    pub thread_id: String,
    /// Only items of this turn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn_id: Option<String>,
    /// Where the page starts. Without it, at the beginning of the list.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cursor: Option<ThreadItemsListCursor>,
    /// Which large outputs are left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub defer_output: Option<ThreadItemOutputDeferral>,
    /// Most entries of a page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<u32>,
    /// Order of the entries.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sort_direction: Option<SortDirection>,
}

/// Result of `thread/items/list`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
#[serde(rename_all = "camelCase")]
pub struct ThreadItemsListResponse {
    /// The requested entries.
    pub data: Vec<ThreadItemEntry>,
    /// Cursor for a list in the opposite direction, which returns entries that are newer than this page.
    #[serde(default)]
    pub backwards_cursor: Option<String>,
    /// Cursor of the next page. `null` on the last page.
    #[serde(default)]
    pub next_cursor: Option<String>,
}

/// Params of `thread/items/read`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(rename_all = "camelCase")]
pub struct ThreadItemsReadParams {
    /// Id of the thread.
    pub thread_id: String,
    /// Id of the turn.
    pub turn_id: String,
    /// Ids of the items.
    pub item_ids: Vec<String>,
}

/// Result of `thread/items/read`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
pub struct ThreadItemsReadResponse {
    /// The items.
    pub data: Vec<ThreadItemEntry>,
}

/// How the read state of a thread changes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(tag = "type", rename_all = "camelCase")]
pub enum ThreadReadStateOperation {
    /// Everything is marked as read.
    Read,
    /// The last turn is marked as unread.
    Unread,
}

/// Params of `thread/readState/update`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(rename_all = "camelCase")]
pub struct ThreadReadStateUpdateParams {
    /// Id of the thread.
    pub thread_id: String,
    /// The revision that the client knows. The update is refused if the read state has another one.
    pub expected_revision: String,
    /// The change.
    pub operation: ThreadReadStateOperation,
}

/// Result of `thread/readState/update`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(rename_all = "camelCase")]
pub struct ThreadReadStateUpdateResponse {
    /// The new read state.
    pub read_state: ThreadReadState,
}

/// A place in a thread that contains the searched text.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(rename_all = "camelCase")]
pub struct ThreadSearchOccurrence {
    /// Id of the turn.
    pub turn_id: String,
    /// Id of the item.
    pub item_id: String,
    /// Text around the match.
    pub snippet: String,
    /// The part of the snippet that matches.
    pub snippet_match_range: ThreadSearchTextRange,
    /// Cursor of `thread/turns/list` that leads to the turn.
    pub turn_cursor: String,
}

/// Params of `thread/searchOccurrences`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
#[serde(rename_all = "camelCase")]
pub struct ThreadSearchOccurrencesParams {
    /// Id of the thread.
    pub thread_id: String,
    /// The text to search for.
    pub search_term: String,
    /// Cursor of the previous page (its `nextCursor`). Without it, the list starts at the beginning.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cursor: Option<String>,
    /// Most entries of a page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<u32>,
}

/// Result of `thread/searchOccurrences`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
#[serde(rename_all = "camelCase")]
pub struct ThreadSearchOccurrencesResponse {
    /// The requested entries.
    pub data: Vec<ThreadSearchOccurrence>,
    /// Cursor of the next page. `null` on the last page.
    #[serde(default)]
    pub next_cursor: Option<String>,
}

/// Params of `thread/search`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
#[serde(rename_all = "camelCase")]
pub struct ThreadSearchParams {
    /// The text to search for.
    pub search_term: String,
    /// Whether archived threads are listed instead of the others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub archived: Option<bool>,
    /// Whether only threads of the logged-in account are listed.
    #[serde(default, deserialize_with = "crate::common::null_is_default")]
    #[cfg_attr(feature = "schema", ts(as = "Option<_>", optional = nullable))]
    pub current_account_only: bool,
    /// Cursor of the previous page (its `nextCursor`). Without it, the list starts at the beginning.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cursor: Option<String>,
    /// Whether threads that are attached to other threads are listed too.
    #[serde(default, deserialize_with = "crate::common::null_is_default")]
    #[cfg_attr(feature = "schema", ts(as = "Option<_>", optional = nullable))]
    pub include_attached_threads: bool,
    /// Most entries of a page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<u32>,
    /// Order of the entries.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sort_direction: Option<SortDirection>,
    /// Sort key of the entries.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sort_key: Option<ThreadSearchSortKey>,
    /// Only threads from these sources. If empty, only threads that people started.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source_kinds: Option<Vec<ThreadSourceKind>>,
}

/// Result of `thread/search`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
#[serde(rename_all = "camelCase")]
pub struct ThreadSearchResponse {
    /// The requested entries.
    pub data: Vec<ThreadSearchResult>,
    /// Cursor for a list in the opposite direction, which returns entries that are newer than this page.
    #[serde(default)]
    pub backwards_cursor: Option<String>,
    /// Cursor of the next page. `null` on the last page.
    #[serde(default)]
    pub next_cursor: Option<String>,
}

/// A thread that contains the searched text.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
pub struct ThreadSearchResult {
    /// Text around the match.
    pub snippet: String,
    /// The thread.
    pub thread: Thread,
}

/// Sort keys of found threads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(rename_all = "snake_case")]
pub enum ThreadSearchSortKey {
    /// Creation time.
    CreatedAt,
    /// Time of the last change.
    UpdatedAt,
    /// Time of the last activity that matters to the user.
    RecencyAt,
}

/// The part of a snippet that matches.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
pub struct ThreadSearchTextRange {
    /// End of the match.
    pub end: u32,
    /// Start of the match.
    pub start: u32,
}

/// Params of `thread/turns/list`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
#[serde(rename_all = "camelCase")]
pub struct ThreadTurnsListParams {
    /// Id of the thread.
    pub thread_id: String,
    /// Cursor of the previous page (its `nextCursor`). Without it, the list starts at the beginning.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cursor: Option<String>,
    /// Which items of each turn are returned.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub items_view: Option<TurnItemsView>,
    /// Most entries of a page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<u32>,
    /// Order of the entries.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sort_direction: Option<SortDirection>,
}

/// Result of `thread/turns/list`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
#[serde(rename_all = "camelCase")]
pub struct ThreadTurnsListResponse {
    /// The requested entries.
    pub data: Vec<Turn>,
    /// Cursor for a list in the opposite direction, which returns entries that are newer than this page.
    #[serde(default)]
    pub backwards_cursor: Option<String>,
    /// Cursor of the next page. `null` on the last page.
    #[serde(default)]
    pub next_cursor: Option<String>,
}
