//! Prompts that wait until a thread is idle.

use std::collections::BTreeMap;

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
#[cfg(feature = "schema")]
use ts_rs::TS;

use crate::item::UserInput;
use crate::turn::Turn;

/// A prompt that waits for its turn.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
#[serde(rename_all = "camelCase")]
pub struct QueuedSubmission {
    /// The id.
    pub id: String,
    /// An id of the client's own for the message; it comes back in the item.
    pub client_user_message_id: String,
    /// What the user says.
    pub input: Vec<UserInput>,
    /// Texts that go to the model provider with the request.
    #[serde(rename = "responsesapiClientMetadata", default)]
    pub responses_api_client_metadata: Option<BTreeMap<String, String>>,
}

/// Params of `thread/queue/add`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
#[serde(rename_all = "camelCase")]
pub struct ThreadQueueAddParams {
    /// The thread.
    pub thread_id: String,
    /// An id of the client's own for the message; it comes back in the item.
    pub client_user_message_id: String,
    /// What the user says.
    pub input: Vec<UserInput>,
    /// Texts that go to the model provider with the request.
    #[serde(rename = "responsesapiClientMetadata", default, skip_serializing_if = "Option::is_none")]
    pub responses_api_client_metadata: Option<BTreeMap<String, String>>,
}

/// Result of `thread/queue/add`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(rename_all = "camelCase")]
pub struct ThreadQueueAddResponse {
    /// The prompt that waits.
    pub queued_submission: QueuedSubmission,
}

/// Params of `thread/queue/delete`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(rename_all = "camelCase")]
pub struct ThreadQueueDeleteParams {
    /// The thread.
    pub thread_id: String,
    /// The prompt that waits.
    pub queued_submission_id: String,
}

/// Result of `thread/queue/delete`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
pub struct ThreadQueueDeleteResponse {
    /// Whether it was there.
    pub deleted: bool,
}

/// Params of `thread/queue/list`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
#[serde(rename_all = "camelCase")]
pub struct ThreadQueueListParams {
    /// The thread.
    pub thread_id: String,
    /// Where to go on: the cursor that a page before gave.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cursor: Option<String>,
    /// The most that a page holds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<u32>,
}

/// Result of `thread/queue/list`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
#[serde(rename_all = "camelCase")]
pub struct ThreadQueueListResponse {
    /// What was asked for, page by page where there are pages.
    pub data: Vec<QueuedSubmission>,
    /// Where the next page begins; `null` on the last one.
    #[serde(default)]
    pub next_cursor: Option<String>,
}

/// Params of `thread/queue/reorder`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(rename_all = "camelCase")]
pub struct ThreadQueueReorderParams {
    /// The thread.
    pub thread_id: String,
    /// All prompts that wait, in the new order.
    pub queued_submission_ids: Vec<String>,
}

/// Result of `thread/queue/reorder`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
pub struct ThreadQueueReorderResponse {}

/// Params of `thread/queue/start`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
#[serde(rename_all = "camelCase")]
pub struct ThreadQueueStartParams {
    /// The thread.
    pub thread_id: String,
    /// The prompt that waits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub queued_submission_id: Option<String>,
}

/// Result of `thread/queue/start`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
pub struct ThreadQueueStartResponse {
    /// The turn.
    pub turn: Turn,
}

/// Params of `thread/queue/update`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
#[serde(rename_all = "camelCase")]
pub struct ThreadQueueUpdateParams {
    /// The thread.
    pub thread_id: String,
    /// What the user says.
    pub input: Vec<UserInput>,
    /// The prompt that waits.
    pub queued_submission_id: String,
    /// Texts that go to the model provider with the request.
    #[serde(rename = "responsesapiClientMetadata", default, skip_serializing_if = "Option::is_none")]
    pub responses_api_client_metadata: Option<BTreeMap<String, String>>,
}

/// Result of `thread/queue/update`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(rename_all = "camelCase")]
pub struct ThreadQueueUpdateResponse {
    /// The prompt that waits.
    pub queued_submission: QueuedSubmission,
}
