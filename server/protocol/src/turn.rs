//! Turns: starting, steering, interrupting and reviewing, and why they fail.

use std::collections::BTreeMap;

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
#[cfg(feature = "schema")]
use ts_rs::TS;

use crate::common::{AbsolutePath, Nullable};
use crate::item::{FunctionCallOutputBody, ThreadItem, UserInput};
use crate::settings::{
    ApprovalsReviewer, AskForApproval, CollaborationMode, CyberAccessProgram, MultiAgentMode, Personality,
    ReasoningSummary, SandboxPolicy, TurnEnvironmentParams,
};

/// A text that a client adds to a turn besides the user's input.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
pub struct AdditionalContextEntry {
    /// How far it is trusted.
    pub kind: AdditionalContextKind,
    /// The text.
    pub value: String,
    /// The name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
}

/// How far a text that a client adds is trusted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(rename_all = "camelCase")]
pub enum AdditionalContextKind {
    /// Nobody stands for it.
    Untrusted,
    /// The client itself stands for it.
    Application,
}

/// What kind of error ended a turn or refused a request, for programs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum CodexErrorInfo {
    /// The history does not fit into the model.
    ContextWindowExceeded,
    /// The session used what it was allowed to.
    SessionBudgetExceeded,
    /// The account used what it was allowed to.
    UsageLimitExceeded,
    /// Too many requests.
    RateLimitExceeded,
    /// The cheap service level has no room.
    FlexUnavailable,
    /// The model provider has too much to do.
    ServerOverloaded,
    /// The provider has no such model.
    ModelNotFound,
    /// Those who check the request had no room.
    PolicyCapacityUnavailable,
    /// Refused for reasons of security.
    CyberPolicy,
    /// The model did something other than it was asked.
    MisalignmentPolicyViolation,
    /// Too much was refused one after another.
    TooManyDenials,
    /// Something failed inside.
    InternalServerError,
    /// The credentials were refused.
    Unauthorized,
    /// The model provider refused the request as malformed.
    BadRequest,
    /// Turns could not be dropped.
    ThreadRollbackFailed,
    /// The sandbox failed.
    SandboxError,
    /// None of the others.
    Other,
    /// A hook refused the request.
    InferenceHookDenied,
    /// There was no connection to the model provider.
    HttpConnectionFailed {
        /// The status of the answer, where there was one.
        #[serde(default)]
        http_status_code: Option<u16>,
    },
    /// The connection to the response stream failed.
    ResponseStreamConnectionFailed {
        /// The status of the answer, where there was one.
        #[serde(default)]
        http_status_code: Option<u16>,
    },
    /// The response stream broke off.
    ResponseStreamDisconnected {
        /// The status of the answer, where there was one.
        #[serde(default)]
        http_status_code: Option<u16>,
    },
    /// All tries are used up.
    ResponseTooManyFailedAttempts {
        /// The status of the answer, where there was one.
        #[serde(default)]
        http_status_code: Option<u16>,
    },
    /// The running turn takes no input.
    ActiveTurnNotSteerable {
        /// The kind of turn that is running.
        turn_kind: NonSteerableTurnKind,
    },
    /// Something that this version does not know, kept as it is; the server itself never says it.
    #[serde(untagged)]
    #[cfg_attr(feature = "schema", schemars(skip))]
    #[cfg_attr(feature = "schema", ts(skip))]
    Unrecognized(Value),
}

/// What was found when a model did something other than it was asked.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
#[serde(rename_all = "camelCase")]
pub struct MisalignmentErrorDetails {
    /// What happened.
    #[serde(default)]
    pub detailed_explanation: Option<String>,
    /// What kind of thing was found.
    #[serde(default)]
    pub error_type: Option<String>,
    /// What was looked at.
    #[serde(default)]
    pub review_target: Option<String>,
    /// How the turn can go on.
    #[serde(default)]
    pub steer: Option<MisalignmentSteer>,
}

/// How a turn can go on after that.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
pub struct MisalignmentSteer {
    /// What there is to say.
    pub message: String,
}

/// A kind of turn that takes no further input.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(rename_all = "camelCase")]
pub enum NonSteerableTurnKind {
    /// A review.
    Review,
    /// The history is being made shorter.
    Compact,
}

/// Where a review takes place.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(rename_all = "camelCase")]
pub enum ReviewDelivery {
    /// In the thread itself.
    Inline,
}

/// Params of `review/start`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
#[serde(rename_all = "camelCase")]
pub struct ReviewStartParams {
    /// The thread.
    pub thread_id: String,
    /// What is reviewed.
    pub target: ReviewTarget,
    /// Where the review takes place; in the thread itself if nothing is said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delivery: Option<ReviewDelivery>,
}

/// Result of `review/start`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(rename_all = "camelCase")]
pub struct ReviewStartResponse {
    /// The thread that the review takes place in.
    pub review_thread_id: String,
    /// The turn.
    pub turn: Turn,
}

/// What is reviewed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
#[serde(tag = "type", rename_all = "camelCase")]
pub enum ReviewTarget {
    /// What is changed and not committed.
    UncommittedChanges,
    /// What a branch changes against another one.
    BaseBranch {
        /// The branch to compare with.
        branch: String,
    },
    /// What a commit changes.
    Commit {
        /// The commit.
        sha: String,
        /// The title.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        title: Option<String>,
    },
    /// What a text says.
    Custom {
        /// What to look at.
        instructions: String,
    },
}

/// What happens between an input of the user and the end of the work on it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
#[serde(rename_all = "camelCase")]
pub struct Turn {
    /// The id.
    pub id: String,
    /// The items, as far as `itemsView` says.
    pub items: Vec<ThreadItem>,
    /// How far it is, or what became of it.
    pub status: TurnStatus,
    /// When it ended, in Unix seconds.
    #[serde(default)]
    pub completed_at: Option<i64>,
    /// How long it took, in milliseconds.
    #[serde(default)]
    pub duration_ms: Option<i64>,
    /// Why it failed; `null` unless it did.
    #[serde(default)]
    pub error: Option<TurnError>,
    /// How much of the items is there.
    #[serde(default)]
    #[cfg_attr(feature = "schema", ts(as = "Option<_>", optional = nullable))]
    pub items_view: TurnItemsView,
    /// The first turn of the chain that led to this one; itself if none did.
    #[serde(default)]
    pub root_turn_id: Option<String>,
    /// When it began, in Unix seconds.
    #[serde(default)]
    pub started_at: Option<i64>,
}

/// Why a turn failed, or has to try again.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
#[serde(rename_all = "camelCase")]
pub struct TurnError {
    /// What went wrong, in the words of whoever noticed.
    pub message: String,
    /// More about the error, for people.
    #[serde(default)]
    pub additional_details: Option<String>,
    /// What kind of error it is.
    #[serde(default)]
    pub codex_error_info: Option<CodexErrorInfo>,
    /// What was found when the model did something other than it was asked.
    #[serde(default)]
    pub misalignment: Option<MisalignmentErrorDetails>,
}

/// Params of `turn/interrupt`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(rename_all = "camelCase")]
pub struct TurnInterruptParams {
    /// The thread.
    pub thread_id: String,
    /// The turn.
    pub turn_id: String,
}

/// Result of `turn/interrupt`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
pub struct TurnInterruptResponse {}

/// How much of a turn's items is there.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(rename_all = "camelCase")]
pub enum TurnItemsView {
    /// None; there may be some.
    NotLoaded,
    /// The first message of the user and the last one of the model.
    Summary,
    /// All.
    #[default]
    Full,
}

/// A step of a plan.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
pub struct TurnPlanStep {
    /// How far it is, or what became of it.
    pub status: TurnPlanStepStatus,
    /// What is done.
    pub step: String,
}

/// How far a step is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(rename_all = "camelCase")]
pub enum TurnPlanStepStatus {
    /// It was not begun.
    Pending,
    /// It is under way.
    InProgress,
    /// It ended well.
    Completed,
}

/// Params of `turn/settings/update`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
#[serde(rename_all = "camelCase")]
pub struct TurnSettingsUpdateParams {
    /// The thread.
    pub thread_id: String,
    /// The turn.
    pub turn_id: String,
    /// Who answers approval requests.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approvals_reviewer: Option<ApprovalsReviewer>,
    /// How hard the model thinks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effort: Option<String>,
    /// Where commands run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub environments: Option<Vec<TurnEnvironmentParams>>,
    /// The model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The level of service.
    #[serde(default, skip_serializing_if = "Nullable::is_absent")]
    #[cfg_attr(feature = "schema", ts(as = "Option<String>", optional = nullable))]
    pub service_tier: Nullable<String>,
    /// How the model sums up what it thought.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summary: Option<ReasoningSummary>,
}

/// Result of `turn/settings/update`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
pub struct TurnSettingsUpdateResponse {
    /// How far it is, or what became of it.
    pub status: TurnSettingsUpdateStatus,
}

/// What became of a change of settings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(rename_all = "camelCase")]
pub enum TurnSettingsUpdateStatus {
    /// It counts from now on.
    Applied,
    /// The turn is over.
    TargetUnavailable,
}

/// Params of `turn/start`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
#[serde(rename_all = "camelCase")]
pub struct TurnStartParams {
    /// The thread.
    pub thread_id: String,
    /// What the user says.
    pub input: Vec<UserInput>,
    /// Texts beside the input, by a name that the client chose.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub additional_context: Option<BTreeMap<String, AdditionalContextEntry>>,
    /// When the user is asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approval_policy: Option<AskForApproval>,
    /// Who answers approval requests.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approvals_reviewer: Option<ApprovalsReviewer>,
    /// An id of the client's own for the message; it comes back in the item.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client_user_message_id: Option<String>,
    /// The mode of working together.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub collaboration_mode: Option<CollaborationMode>,
    /// The working directory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    /// The program for work on security that the turn is under.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cyber_access_program: Option<CyberAccessProgram>,
    /// The plugins that the thread does without.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub disabled_plugin_ids: Option<Vec<String>>,
    /// How hard the model thinks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effort: Option<String>,
    /// Where commands run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub environments: Option<Vec<TurnEnvironmentParams>>,
    /// The model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// When the model starts agents by itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub multi_agent_mode: Option<MultiAgentMode>,
    /// The schema that the answer has to follow.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_schema: Option<Value>,
    /// The turn that made the client start this one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent_turn_id: Option<String>,
    /// The permission profile; not together with a sandbox.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub permissions: Option<String>,
    /// The tone of the model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub personality: Option<Personality>,
    /// Texts that go to the model provider with the request.
    #[serde(rename = "responsesapiClientMetadata", default, skip_serializing_if = "Option::is_none")]
    pub responses_api_client_metadata: Option<BTreeMap<String, String>>,
    /// Changes of these texts.
    #[serde(rename = "responsesapiClientMetadataPatch", default, skip_serializing_if = "Option::is_none")]
    pub responses_api_client_metadata_patch: Option<BTreeMap<String, String>>,
    /// The first turn of the chain that led to this one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub root_turn_id: Option<String>,
    /// The directories that count as the workspace.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub runtime_workspace_roots: Option<Vec<AbsolutePath>>,
    /// What commands may touch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sandbox_policy: Option<SandboxPolicy>,
    /// The level of service.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub service_tier: Option<String>,
    /// The level of service of this turn alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub service_tier_for_turn: Option<String>,
    /// How the model sums up what it thought.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summary: Option<ReasoningSummary>,
    /// The output of a tool, instead of a text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_output: Option<TurnToolOutput>,
    /// What made the client start the turn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn_trigger: Option<String>,
}

/// Result of `turn/start`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
pub struct TurnStartResponse {
    /// The turn.
    pub turn: Turn,
}

/// How far a turn is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(rename_all = "camelCase")]
pub enum TurnStatus {
    /// It ended well.
    Completed,
    /// It was interrupted.
    Interrupted,
    /// It failed.
    Failed,
    /// It is under way.
    #[default]
    InProgress,
}

/// Params of `turn/steer`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
#[serde(rename_all = "camelCase")]
pub struct TurnSteerParams {
    /// The thread.
    pub thread_id: String,
    /// The turn that the client takes for the running one.
    pub expected_turn_id: String,
    /// What the user says.
    pub input: Vec<UserInput>,
    /// Texts beside the input, by a name that the client chose.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub additional_context: Option<BTreeMap<String, AdditionalContextEntry>>,
    /// An id of the client's own for the message; it comes back in the item.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client_user_message_id: Option<String>,
    /// Texts that go to the model provider with the request.
    #[serde(rename = "responsesapiClientMetadata", default, skip_serializing_if = "Option::is_none")]
    pub responses_api_client_metadata: Option<BTreeMap<String, String>>,
    /// Changes of these texts.
    #[serde(rename = "responsesapiClientMetadataPatch", default, skip_serializing_if = "Option::is_none")]
    pub responses_api_client_metadata_patch: Option<BTreeMap<String, String>>,
}

/// Result of `turn/steer`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(rename_all = "camelCase")]
pub struct TurnSteerResponse {
    /// The turn.
    pub turn_id: String,
}

/// The output of a tool that a client gives with its input.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
pub struct TurnToolOutput {
    /// The name.
    pub name: String,
    /// The output.
    pub output: FunctionCallOutputBody,
    /// The namespace of the tool.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub namespace: Option<String>,
    /// Whether it stays in the history.
    #[serde(default, deserialize_with = "crate::common::null_is_default")]
    #[cfg_attr(feature = "schema", ts(as = "Option<_>", optional = nullable))]
    pub retain: bool,
}
