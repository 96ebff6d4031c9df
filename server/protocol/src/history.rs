//! Reading a thread in pages, and finding text in threads.

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
#[cfg(feature = "schema")]
use ts_rs::TS;

use crate::item::ThreadItem;
use crate::settings::SortDirection;
use crate::thread::{Thread, ThreadReadState, ThreadSourceKind};
use crate::turn::{Turn, TurnItemsView};

/// An item with the turn it belongs to.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
#[serde(rename_all = "camelCase")]
pub struct ThreadItemEntry {
    /// The turn.
    pub turn_id: String,
    /// The item.
    pub item: ThreadItem,
    /// When it began, in Unix milliseconds.
    #[serde(default)]
    pub started_at_ms: Option<i64>,
    /// When it was finished, in Unix milliseconds.
    #[serde(default)]
    pub completed_at_ms: Option<i64>,
    /// Whether output was left out, and can be read by the item's id.
    #[serde(default)]
    #[cfg_attr(feature = "schema", ts(as = "Option<_>", optional = nullable))]
    pub output_deferred: bool,
}

/// For which items large outputs are left out of a page.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(rename_all = "camelCase")]
pub struct ThreadItemOutputDeferral {
    /// Whether outputs of commands are left out.
    #[serde(default, deserialize_with = "crate::common::null_is_default")]
    #[cfg_attr(feature = "schema", ts(as = "Option<_>", optional = nullable))]
    pub command_execution: bool,
    /// Whether outputs of tools are left out.
    #[serde(default, deserialize_with = "crate::common::null_is_default")]
    #[cfg_attr(feature = "schema", ts(as = "Option<_>", optional = nullable))]
    pub mcp_tool_call: bool,
}

/// An item that a page begins at.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum ThreadItemsListAnchor {
    /// An item by its id.
    Item {
        /// The item.
        item_id: String,
    },
}

/// Where a page of items begins.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(untagged)]
pub enum ThreadItemsListCursor {
    /// A cursor that a page before gave.
    Opaque(String),
    /// An item.
    Anchor(ThreadItemsListAnchor),
}

/// Params of `thread/items/list`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
#[serde(rename_all = "camelCase")]
pub struct ThreadItemsListParams {
    /// The thread.
    pub thread_id: String,
    /// Only items of this turn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn_id: Option<String>,
    /// Where to go on: the cursor that a page before gave.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cursor: Option<ThreadItemsListCursor>,
    /// Which large outputs are left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub defer_output: Option<ThreadItemOutputDeferral>,
    /// The most that a page holds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<u32>,
    /// Which end comes first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sort_direction: Option<SortDirection>,
}

/// Result of `thread/items/list`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
#[serde(rename_all = "camelCase")]
pub struct ThreadItemsListResponse {
    /// What was asked for, page by page where there are pages.
    pub data: Vec<ThreadItemEntry>,
    /// Where a list in the opposite direction begins, to get what is new since.
    #[serde(default)]
    pub backwards_cursor: Option<String>,
    /// Where the next page begins; `null` on the last one.
    #[serde(default)]
    pub next_cursor: Option<String>,
}

/// Params of `thread/items/read`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(rename_all = "camelCase")]
pub struct ThreadItemsReadParams {
    /// The thread.
    pub thread_id: String,
    /// The turn.
    pub turn_id: String,
    /// The items.
    pub item_ids: Vec<String>,
}

/// Result of `thread/items/read`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
pub struct ThreadItemsReadResponse {
    /// The items.
    pub data: Vec<ThreadItemEntry>,
}

/// What is to become of a thread's read state.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(tag = "type", rename_all = "camelCase")]
pub enum ThreadReadStateOperation {
    /// Everything is read.
    Read,
    /// The last is unread.
    Unread,
}

/// Params of `thread/readState/update`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(rename_all = "camelCase")]
pub struct ThreadReadStateUpdateParams {
    /// The thread.
    pub thread_id: String,
    /// The revision that the client knows; an older one is refused.
    pub expected_revision: String,
    /// What is to become of it.
    pub operation: ThreadReadStateOperation,
}

/// Result of `thread/readState/update`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(rename_all = "camelCase")]
pub struct ThreadReadStateUpdateResponse {
    /// What of it was read.
    pub read_state: ThreadReadState,
}

/// A place in a thread where a text was found.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(rename_all = "camelCase")]
pub struct ThreadSearchOccurrence {
    /// The turn.
    pub turn_id: String,
    /// The item.
    pub item_id: String,
    /// The text around it.
    pub snippet: String,
    /// The part of the snippet that matches.
    pub snippet_match_range: ThreadSearchTextRange,
    /// Where paging through the turns gets to it.
    pub turn_cursor: String,
}

/// Params of `thread/searchOccurrences`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
#[serde(rename_all = "camelCase")]
pub struct ThreadSearchOccurrencesParams {
    /// The thread.
    pub thread_id: String,
    /// The text to look for.
    pub search_term: String,
    /// Where to go on: the cursor that a page before gave.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cursor: Option<String>,
    /// The most that a page holds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<u32>,
}

/// Result of `thread/searchOccurrences`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
#[serde(rename_all = "camelCase")]
pub struct ThreadSearchOccurrencesResponse {
    /// What was asked for, page by page where there are pages.
    pub data: Vec<ThreadSearchOccurrence>,
    /// Where the next page begins; `null` on the last one.
    #[serde(default)]
    pub next_cursor: Option<String>,
}

/// Params of `thread/search`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
#[serde(rename_all = "camelCase")]
pub struct ThreadSearchParams {
    /// The text to look for.
    pub search_term: String,
    /// Whether archived threads are wanted instead of the others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub archived: Option<bool>,
    /// Only threads of the account that is logged in.
    #[serde(default, deserialize_with = "crate::common::null_is_default")]
    #[cfg_attr(feature = "schema", ts(as = "Option<_>", optional = nullable))]
    pub current_account_only: bool,
    /// Where to go on: the cursor that a page before gave.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cursor: Option<String>,
    /// Whether threads that belong to others are wanted too.
    #[serde(default, deserialize_with = "crate::common::null_is_default")]
    #[cfg_attr(feature = "schema", ts(as = "Option<_>", optional = nullable))]
    pub include_attached_threads: bool,
    /// The most that a page holds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<u32>,
    /// Which end comes first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sort_direction: Option<SortDirection>,
    /// What they are sorted by.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sort_key: Option<ThreadSearchSortKey>,
    /// Only threads that were started by these; if it is empty, by people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source_kinds: Option<Vec<ThreadSourceKind>>,
}

/// Result of `thread/search`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
#[serde(rename_all = "camelCase")]
pub struct ThreadSearchResponse {
    /// What was asked for, page by page where there are pages.
    pub data: Vec<ThreadSearchResult>,
    /// Where a list in the opposite direction begins, to get what is new since.
    #[serde(default)]
    pub backwards_cursor: Option<String>,
    /// Where the next page begins; `null` on the last one.
    #[serde(default)]
    pub next_cursor: Option<String>,
}

/// A thread in which a text was found.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
pub struct ThreadSearchResult {
    /// The text around it.
    pub snippet: String,
    /// The thread.
    pub thread: Thread,
}

/// What found threads are sorted by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(rename_all = "snake_case")]
pub enum ThreadSearchSortKey {
    /// When they began.
    CreatedAt,
    /// When they last changed.
    UpdatedAt,
    /// When something last happened that matters to the user.
    RecencyAt,
}

/// The part of a snippet that matches.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
pub struct ThreadSearchTextRange {
    /// Where it ends.
    pub end: u32,
    /// Where it begins.
    pub start: u32,
}

/// Params of `thread/turns/list`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
#[serde(rename_all = "camelCase")]
pub struct ThreadTurnsListParams {
    /// The thread.
    pub thread_id: String,
    /// Where to go on: the cursor that a page before gave.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cursor: Option<String>,
    /// How much of each turn's items is wanted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub items_view: Option<TurnItemsView>,
    /// The most that a page holds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<u32>,
    /// Which end comes first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sort_direction: Option<SortDirection>,
}

/// Result of `thread/turns/list`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
#[serde(rename_all = "camelCase")]
pub struct ThreadTurnsListResponse {
    /// What was asked for, page by page where there are pages.
    pub data: Vec<Turn>,
    /// Where a list in the opposite direction begins, to get what is new since.
    #[serde(default)]
    pub backwards_cursor: Option<String>,
    /// Where the next page begins; `null` on the last one.
    #[serde(default)]
    pub next_cursor: Option<String>,
}
