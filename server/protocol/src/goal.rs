//! Goals, which a thread pursues without new input of the user.

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
#[cfg(feature = "schema")]
use ts_rs::TS;

use crate::common::Nullable;

/// The goal of a thread.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
#[serde(rename_all = "camelCase")]
pub struct ThreadGoal {
    /// Id of the thread.
    pub thread_id: String,
    /// Creation time in Unix seconds.
    pub created_at: i64,
    /// The objective.
    pub objective: String,
    /// The status.
    pub status: ThreadGoalStatus,
    /// Time that was spent on it, in seconds.
    pub time_used_seconds: i64,
    /// Number of tokens that were used for it.
    pub tokens_used: i64,
    /// Time of the last change in Unix seconds.
    pub updated_at: i64,
    /// Most tokens that may be used for it. `null` for no limit.
    #[serde(default)]
    pub token_budget: Option<i64>,
}

/// Params of `thread/goal/clear`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
#[serde(rename_all = "camelCase")]
pub struct ThreadGoalClearParams {
    /// Id of the thread.
    pub thread_id: String,
    /// Who makes the change.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub origin: Option<ThreadGoalMutationOrigin>,
}

/// Result of `thread/goal/clear`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
pub struct ThreadGoalClearResponse {
    /// Whether there was a goal.
    pub cleared: bool,
}

/// Params of `thread/goal/get`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(rename_all = "camelCase")]
pub struct ThreadGoalGetParams {
    /// Id of the thread.
    pub thread_id: String,
}

/// Result of `thread/goal/get`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
pub struct ThreadGoalGetResponse {
    /// The goal. `null` if there is none.
    #[serde(default)]
    pub goal: Option<ThreadGoal>,
}

/// Who changed a goal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(rename_all = "camelCase")]
pub enum ThreadGoalMutationOrigin {
    /// A client.
    User,
    /// The server or the model.
    Automatic,
}

/// Params of `thread/goal/set`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
#[serde(rename_all = "camelCase")]
pub struct ThreadGoalSetParams {
    /// Id of the thread.
    pub thread_id: String,
    /// The objective.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub objective: Option<String>,
    /// Who makes the change.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub origin: Option<ThreadGoalMutationOrigin>,
    /// The status.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<ThreadGoalStatus>,
    /// Most tokens that may be used for it. `null` for no limit.
    #[serde(default, skip_serializing_if = "Nullable::is_absent")]
    #[cfg_attr(feature = "schema", ts(as = "Option<i64>", optional = nullable))]
    pub token_budget: Nullable<i64>,
}

/// Result of `thread/goal/set`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
pub struct ThreadGoalSetResponse {
    /// The goal.
    pub goal: ThreadGoal,
}

/// Status of a goal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(rename_all = "camelCase")]
pub enum ThreadGoalStatus {
    /// The thread works on it.
    Active,
    /// It waits for the user.
    Paused,
    /// The thread cannot continue with it.
    Blocked,
    /// The usage limit of the account is reached.
    UsageLimited,
    /// The token budget of the goal is used up.
    BudgetLimited,
    /// It has been reached.
    Complete,
}
