//! Recorded sessions over the protocol: a list of them, their graphs, and changes of the graphs while they are
//! recorded.
//!
//! These methods are an addition of this server. They are experimental, so that a client must request the capability.
//! The graph is sent in the JSON form of `state.json`, which is not described again here.

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
#[cfg(feature = "schema")]
use ts_rs::TS;

use crate::common::AbsolutePath;

/// Whether a trace is still being recorded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(rename_all = "camelCase")]
pub enum TraceStatus {
    /// A thread of this server appends to it.
    Live,
    /// It is complete.
    Finished,
}

/// A bundle that this server knows.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(rename_all = "camelCase")]
pub struct TraceSummary {
    /// The bundle: a directory, or one file.
    pub path: AbsolutePath,
    /// The trace id in the manifest of the bundle.
    pub trace_id: String,
    /// Id of the thread with which the recording began.
    pub root_thread_id: String,
    /// Start of the recording in Unix milliseconds.
    pub started_at_ms: i64,
    /// Whether it is still being recorded.
    pub status: TraceStatus,
    /// Ids of the threads in it that the server knows: first the root, then its agents.
    pub thread_ids: Vec<String>,
}

/// Params of `trace/list`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
#[serde(rename_all = "camelCase")]
pub struct TraceListParams {
    /// Cursor of the previous page (its `nextCursor`). Without it, the list starts at the beginning.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cursor: Option<String>,
    /// Most traces of a page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<u32>,
    /// Only traces with this status.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<TraceStatus>,
}

/// Result of `trace/list`, newest recordings first.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
#[serde(rename_all = "camelCase")]
pub struct TraceListResponse {
    /// The traces of this page.
    pub data: Vec<TraceSummary>,
    /// Cursor of the next page. `null` on the last page.
    #[serde(default)]
    pub next_cursor: Option<String>,
}

/// Params of `trace/read`. Exactly one of `threadId` and `tracePath` must be set.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
#[serde(rename_all = "camelCase")]
pub struct TraceReadParams {
    /// Id of a thread whose trace is read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thread_id: Option<String>,
    /// Path of a bundle, from `trace/list`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trace_path: Option<AbsolutePath>,
    /// Whether `state` has the compact form, in which the lists of items are ranges of shared lines.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub compact: Option<bool>,
}

/// Result of `trace/read`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(rename_all = "camelCase")]
pub struct TraceReadResponse {
    /// The reduced graph in the form of `state.json`, or in the compact form.
    pub state: Value,
    /// Diagnostics of the reduction.
    pub diagnostics: Vec<Value>,
    /// Seq of the last event in the graph. 0 if there are no events.
    pub last_seq: u64,
}

/// Params of `trace/subscribe`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(rename_all = "camelCase")]
pub struct TraceSubscribeParams {
    /// Id of a thread whose trace is being recorded.
    pub thread_id: String,
}

/// Result of `trace/subscribe`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(rename_all = "camelCase")]
pub struct TraceSubscribeResponse {
    /// Id that the notifications contain. It is valid for this connection.
    pub subscription_id: String,
    /// Seq of the last event before the subscription. The first notification has a greater `seq`.
    pub last_seq: u64,
}

/// Params of `trace/unsubscribe`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(rename_all = "camelCase")]
pub struct TraceUnsubscribeParams {
    /// Id of the subscription to end.
    pub subscription_id: String,
}

/// Result of `trace/unsubscribe`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
pub struct TraceUnsubscribeResponse {}

/// Params of the notification `trace/changed`: changes of the graph by one or several recorded events.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(rename_all = "camelCase")]
pub struct TraceChangedNotification {
    /// Id of the subscription.
    pub subscription_id: String,
    /// Seq of the last event whose changes are included.
    pub seq: u64,
    /// The changes, in order.
    pub changes: Vec<Value>,
}
