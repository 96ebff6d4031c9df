//! Prompts that wait until a thread is idle.

use std::collections::BTreeMap;

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
#[cfg(feature = "schema")]
use ts_rs::TS;

use crate::item::UserInput;
use crate::turn::Turn;

/// A prompt in the queue of a thread.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
#[serde(rename_all = "camelCase")]
pub struct QueuedSubmission {
    /// Id of the entry.
    pub id: String,
    /// Id of the message, chosen by the client. The user message item contains it.
    pub client_user_message_id: String,
    /// Input of the user.
    pub input: Vec<UserInput>,
    /// Metadata that is sent to the model provider with the request.
    #[serde(rename = "responsesapiClientMetadata", default)]
    pub responses_api_client_metadata: Option<BTreeMap<String, String>>,
}

/// Params of `thread/queue/add`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
#[serde(rename_all = "camelCase")]
pub struct ThreadQueueAddParams {
    /// Id of the thread.
    pub thread_id: String,
    /// Id of the message, chosen by the client. The user message item contains it.
    pub client_user_message_id: String,
    /// Input of the user.
    pub input: Vec<UserInput>,
    /// Metadata that is sent to the model provider with the request.
    #[serde(rename = "responsesapiClientMetadata", default, skip_serializing_if = "Option::is_none")]
    pub responses_api_client_metadata: Option<BTreeMap<String, String>>,
}

/// Result of `thread/queue/add`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(rename_all = "camelCase")]
pub struct ThreadQueueAddResponse {
    /// The queued prompt.
    pub queued_submission: QueuedSubmission,
}

/// Params of `thread/queue/delete`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(rename_all = "camelCase")]
pub struct ThreadQueueDeleteParams {
    /// Id of the thread.
    pub thread_id: String,
    /// Id of the queued prompt.
    pub queued_submission_id: String,
}

/// Result of `thread/queue/delete`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
pub struct ThreadQueueDeleteResponse {
    /// Whether the prompt was in the queue.
    pub deleted: bool,
}

/// Params of `thread/queue/list`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
#[serde(rename_all = "camelCase")]
pub struct ThreadQueueListParams {
    /// Id of the thread.
    pub thread_id: String,
    /// Cursor of the previous page (its `nextCursor`). Without it, the list starts at the beginning.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cursor: Option<String>,
    /// Most entries of a page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<u32>,
}

/// Result of `thread/queue/list`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
#[serde(rename_all = "camelCase")]
pub struct ThreadQueueListResponse {
    /// The requested entries.
    pub data: Vec<QueuedSubmission>,
    /// Cursor of the next page. `null` on the last page.
    #[serde(default)]
    pub next_cursor: Option<String>,
}

/// Params of `thread/queue/reorder`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(rename_all = "camelCase")]
pub struct ThreadQueueReorderParams {
    /// Id of the thread.
    pub thread_id: String,
    /// Ids of all queued prompts, in the new order.
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
    /// Id of the thread.
    pub thread_id: String,
    /// Id of the queued prompt to start.
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
    /// Id of the thread.
    pub thread_id: String,
    /// Input of the user.
    pub input: Vec<UserInput>,
    /// Id of the queued prompt.
    pub queued_submission_id: String,
    /// Metadata that is sent to the model provider with the request.
    #[serde(rename = "responsesapiClientMetadata", default, skip_serializing_if = "Option::is_none")]
    pub responses_api_client_metadata: Option<BTreeMap<String, String>>,
}

/// Result of `thread/queue/update`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(rename_all = "camelCase")]
pub struct ThreadQueueUpdateResponse {
    /// The queued prompt.
    pub queued_submission: QueuedSubmission,
}
