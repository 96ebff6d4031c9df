//! Recorded sessions over the protocol: which there are, what their graph is, and how it changes while they run.
//!
//! These methods are this server's own; they are experimental, so that a client has to ask for them. The state of a
//! trace travels as the JSON that `state.json` has, and is not described here a second time.

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
#[cfg(feature = "schema")]
use ts_rs::TS;

use crate::common::AbsolutePath;

/// Whether a trace is still being written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(rename_all = "camelCase")]
pub enum TraceStatus {
    /// A thread of this server appends to it.
    Live,
    /// Nothing is added to it any more.
    Finished,
}

/// One bundle that this server knows.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(rename_all = "camelCase")]
pub struct TraceSummary {
    /// The directory of the bundle.
    pub path: AbsolutePath,
    /// The id that the bundle's manifest gives.
    pub trace_id: String,
    /// The thread that the recording began with.
    pub root_thread_id: String,
    /// When the recording began, in Unix milliseconds.
    pub started_at_ms: i64,
    /// Whether it still grows.
    pub status: TraceStatus,
    /// The threads in it, as far as the server knows them: the root first, then its agents.
    pub thread_ids: Vec<String>,
}

/// Params of `trace/list`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
#[serde(rename_all = "camelCase")]
pub struct TraceListParams {
    /// Where to go on: the `nextCursor` of the page before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cursor: Option<String>,
    /// The most traces on a page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<u32>,
    /// Only traces in this status.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<TraceStatus>,
}

/// Result of `trace/list`: the newest recordings first.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
#[serde(rename_all = "camelCase")]
pub struct TraceListResponse {
    /// The traces of this page.
    pub data: Vec<TraceSummary>,
    /// Where the next page begins; `null` on the last one.
    #[serde(default)]
    pub next_cursor: Option<String>,
}

/// Params of `trace/read`; exactly one of the two fields is set.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
#[serde(rename_all = "camelCase")]
pub struct TraceReadParams {
    /// A thread, whose trace is read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thread_id: Option<String>,
    /// The directory of a bundle, out of `trace/list`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trace_path: Option<AbsolutePath>,
}

/// Result of `trace/read`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(rename_all = "camelCase")]
pub struct TraceReadResponse {
    /// The reduced graph, as `state.json` has it.
    pub state: Value,
    /// What the reduction found wrong with the bundle.
    pub diagnostics: Vec<Value>,
    /// The number of the last event that is part of the state; 0 if there is none.
    pub last_seq: u64,
}

/// Params of `trace/subscribe`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(rename_all = "camelCase")]
pub struct TraceSubscribeParams {
    /// A thread of a live trace.
    pub thread_id: String,
}

/// Result of `trace/subscribe`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(rename_all = "camelCase")]
pub struct TraceSubscribeResponse {
    /// The id that the notifications carry; it belongs to this connection.
    pub subscription_id: String,
    /// The last event that the notifications will not tell about: the first one has a later `seq`.
    pub last_seq: u64,
}

/// Params of `trace/unsubscribe`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(rename_all = "camelCase")]
pub struct TraceUnsubscribeParams {
    /// The subscription that ends.
    pub subscription_id: String,
}

/// Result of `trace/unsubscribe`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
pub struct TraceUnsubscribeResponse {}

/// Params of the notification `trace/changed`: what one recorded event, or a run of them, did to the graph.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(rename_all = "camelCase")]
pub struct TraceChangedNotification {
    /// The subscription.
    pub subscription_id: String,
    /// The number of the last event whose changes are in here.
    pub seq: u64,
    /// The changes, in order.
    pub changes: Vec<Value>,
}
