//! Goals: what a thread works towards without being asked each time.

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
#[cfg(feature = "schema")]
use ts_rs::TS;

use crate::common::Nullable;

/// What a thread works towards by itself.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
#[serde(rename_all = "camelCase")]
pub struct ThreadGoal {
    /// The thread.
    pub thread_id: String,
    /// When it was set, in Unix seconds.
    pub created_at: i64,
    /// What is to be reached.
    pub objective: String,
    /// How far it is, or what became of it.
    pub status: ThreadGoalStatus,
    /// How long it was worked on, in seconds.
    pub time_used_seconds: i64,
    /// How many tokens were used for it.
    pub tokens_used: i64,
    /// When it last changed, in Unix seconds.
    pub updated_at: i64,
    /// How many tokens may be used for it; `null` for any number.
    #[serde(default)]
    pub token_budget: Option<i64>,
}

/// Params of `thread/goal/clear`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
#[serde(rename_all = "camelCase")]
pub struct ThreadGoalClearParams {
    /// The thread.
    pub thread_id: String,
    /// Who does it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub origin: Option<ThreadGoalMutationOrigin>,
}

/// Result of `thread/goal/clear`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
pub struct ThreadGoalClearResponse {
    /// Whether there was one.
    pub cleared: bool,
}

/// Params of `thread/goal/get`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(rename_all = "camelCase")]
pub struct ThreadGoalGetParams {
    /// The thread.
    pub thread_id: String,
}

/// Result of `thread/goal/get`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
pub struct ThreadGoalGetResponse {
    /// The goal; `null` where there is none.
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
    /// The server, or the model.
    Automatic,
}

/// Params of `thread/goal/set`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
#[serde(rename_all = "camelCase")]
pub struct ThreadGoalSetParams {
    /// The thread.
    pub thread_id: String,
    /// What is to be reached.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub objective: Option<String>,
    /// Who does it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub origin: Option<ThreadGoalMutationOrigin>,
    /// How far it is, or what became of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<ThreadGoalStatus>,
    /// How many tokens may be used for it; `null` for any number.
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

/// What is with a goal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(rename_all = "camelCase")]
pub enum ThreadGoalStatus {
    /// It is worked on.
    Active,
    /// It waits for the user.
    Paused,
    /// It cannot be worked on.
    Blocked,
    /// The account's limit is used up.
    UsageLimited,
    /// Its tokens are used up.
    BudgetLimited,
    /// It is reached.
    Complete,
}
