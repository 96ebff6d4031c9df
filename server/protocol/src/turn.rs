//! Turns: starting, steering, interrupting and reviewing them, and errors that end them.

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
    /// How far the text is trusted.
    pub kind: AdditionalContextKind,
    /// The text.
    pub value: String,
    /// Name of the entry.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
}

/// How far a text that a client adds is trusted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(rename_all = "camelCase")]
pub enum AdditionalContextKind {
    /// It is not trusted.
    Untrusted,
    /// The client vouches for it.
    Application,
}

/// Kind of error that ended a turn or refused a request, for programs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum CodexErrorInfo {
    /// The history does not fit into the model's context window.
    ContextWindowExceeded,
    /// The budget of the session is exceeded.
    SessionBudgetExceeded,
    /// The usage limit of the account is exceeded.
    UsageLimitExceeded,
    /// Too many requests in a time.
    RateLimitExceeded,
    /// The cheap service tier is not available.
    FlexUnavailable,
    /// The model provider is overloaded.
    ServerOverloaded,
    /// The model provider does not have the model.
    ModelNotFound,
    /// The service that checks requests has no capacity.
    PolicyCapacityUnavailable,
    /// Refused for reasons of security.
    CyberPolicy,
    /// The model did something other than what it was asked.
    MisalignmentPolicyViolation,
    /// Too many actions in a row were declined.
    TooManyDenials,
    /// Something failed inside the server.
    InternalServerError,
    /// The credentials were refused.
    Unauthorized,
    /// The model provider refused the request as malformed.
    BadRequest,
    /// Turns could not be dropped.
    ThreadRollbackFailed,
    /// The sandbox failed.
    SandboxError,
    /// Any other error.
    Other,
    /// A hook refused the request.
    InferenceHookDenied,
    /// The model provider could not be reached.
    HttpConnectionFailed {
        /// HTTP status of the response, if there was one.
        #[serde(default)]
        http_status_code: Option<u16>,
    },
    /// The connection for the response stream failed.
    ResponseStreamConnectionFailed {
        /// HTTP status of the response, if there was one.
        #[serde(default)]
        http_status_code: Option<u16>,
    },
    /// The response stream was interrupted.
    ResponseStreamDisconnected {
        /// HTTP status of the response, if there was one.
        #[serde(default)]
        http_status_code: Option<u16>,
    },
    /// All attempts failed.
    ResponseTooManyFailedAttempts {
        /// HTTP status of the response, if there was one.
        #[serde(default)]
        http_status_code: Option<u16>,
    },
    /// The running turn does not accept input.
    ActiveTurnNotSteerable {
        /// Kind of the running turn.
        turn_kind: NonSteerableTurnKind,
    },
    /// An error kind that this version does not know, unchanged. The server itself never sends it.
    #[serde(untagged)]
    #[cfg_attr(feature = "schema", schemars(skip))]
    #[cfg_attr(feature = "schema", ts(skip))]
    Unrecognized(Value),
}

/// Details about a model that did something other than what it was asked.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
#[serde(rename_all = "camelCase")]
pub struct MisalignmentErrorDetails {
    /// What happened.
    #[serde(default)]
    pub detailed_explanation: Option<String>,
    /// Kind of the error.
    #[serde(default)]
    pub error_type: Option<String>,
    /// What was reviewed.
    #[serde(default)]
    pub review_target: Option<String>,
    /// How the turn can continue.
    #[serde(default)]
    pub steer: Option<MisalignmentSteer>,
}

/// How a turn can continue after the error `misalignmentPolicyViolation`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
pub struct MisalignmentSteer {
    /// The message for people.
    pub message: String,
}

/// A kind of turn that does not accept further input.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(rename_all = "camelCase")]
pub enum NonSteerableTurnKind {
    /// A review.
    Review,
    /// A compaction.
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
    /// Id of the thread.
    pub thread_id: String,
    /// What is reviewed.
    pub target: ReviewTarget,
    /// Where the review takes place. In the thread itself if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delivery: Option<ReviewDelivery>,
}

/// Result of `review/start`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(rename_all = "camelCase")]
pub struct ReviewStartResponse {
    /// Id of the thread in which the review takes place.
    pub review_thread_id: String,
    /// The turn.
    pub turn: Turn,
}

/// What is reviewed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
#[serde(tag = "type", rename_all = "camelCase")]
pub enum ReviewTarget {
    /// Changes that are not committed.
    UncommittedChanges,
    /// The changes of the current branch relative to another one.
    BaseBranch {
        /// The branch to compare with.
        branch: String,
    },
    /// The changes of a commit.
    Commit {
        /// Hash of the commit.
        sha: String,
        /// The title.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        title: Option<String>,
    },
    /// Something that a text describes.
    Custom {
        /// Instructions for the reviewer.
        instructions: String,
    },
}

/// A turn: what an agent does from one input of the user until it stops.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
#[serde(rename_all = "camelCase")]
pub struct Turn {
    /// Id of the turn.
    pub id: String,
    /// The items that `itemsView` selects.
    pub items: Vec<ThreadItem>,
    /// The status.
    pub status: TurnStatus,
    /// End time in Unix seconds.
    #[serde(default)]
    pub completed_at: Option<i64>,
    /// Duration in milliseconds.
    #[serde(default)]
    pub duration_ms: Option<i64>,
    /// The error. `null` unless the turn failed.
    #[serde(default)]
    pub error: Option<TurnError>,
    /// Which items are included.
    #[serde(default)]
    #[cfg_attr(feature = "schema", ts(as = "Option<_>", optional = nullable))]
    pub items_view: TurnItemsView,
    /// Id of the first turn in the chain that led to this one. Its own id if no other turn did.
    #[serde(default)]
    pub root_turn_id: Option<String>,
    /// Start time in Unix seconds.
    #[serde(default)]
    pub started_at: Option<i64>,
}

/// Why a turn failed, or must retry.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
#[serde(rename_all = "camelCase")]
pub struct TurnError {
    /// Error message of the component that reported it.
    pub message: String,
    /// More details for people.
    #[serde(default)]
    pub additional_details: Option<String>,
    /// Kind of the error.
    #[serde(default)]
    pub codex_error_info: Option<CodexErrorInfo>,
    /// Details about a model that did something other than what it was asked.
    #[serde(default)]
    pub misalignment: Option<MisalignmentErrorDetails>,
}

/// Params of `turn/interrupt`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(rename_all = "camelCase")]
pub struct TurnInterruptParams {
    /// Id of the thread.
    pub thread_id: String,
    /// Id of the turn.
    pub turn_id: String,
}

/// Result of `turn/interrupt`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
pub struct TurnInterruptResponse {}

/// Which items of a turn are included.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(rename_all = "camelCase")]
pub enum TurnItemsView {
    /// None, although there may be some.
    NotLoaded,
    /// The first user message and the last agent message.
    Summary,
    /// All items.
    #[default]
    Full,
}

/// A step of a plan.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
pub struct TurnPlanStep {
    /// The status.
    pub status: TurnPlanStepStatus,
    /// Description of the step.
    pub step: String,
}

/// Status of a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(rename_all = "camelCase")]
pub enum TurnPlanStepStatus {
    /// It has not started.
    Pending,
    /// It is in progress.
    InProgress,
    /// It completed.
    Completed,
}

/// Params of `turn/settings/update`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
#[serde(rename_all = "camelCase")]
pub struct TurnSettingsUpdateParams {
    /// Id of the thread.
    pub thread_id: String,
    /// Id of the turn.
    pub turn_id: String,
    /// Who answers approval requests.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approvals_reviewer: Option<ApprovalsReviewer>,
    /// Reasoning effort of the model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effort: Option<String>,
    /// Environments in which commands run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub environments: Option<Vec<TurnEnvironmentParams>>,
    /// Name of the model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Service tier of the model provider.
    #[serde(default, skip_serializing_if = "Nullable::is_absent")]
    #[cfg_attr(feature = "schema", ts(as = "Option<String>", optional = nullable))]
    pub service_tier: Nullable<String>,
    /// How the model summarizes its reasoning.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summary: Option<ReasoningSummary>,
}

/// Result of `turn/settings/update`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
pub struct TurnSettingsUpdateResponse {
    /// The status.
    pub status: TurnSettingsUpdateStatus,
}

/// Result of a change of settings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(rename_all = "camelCase")]
pub enum TurnSettingsUpdateStatus {
    /// The new settings are effective.
    Applied,
    /// The turn has ended.
    TargetUnavailable,
}

/// Params of `turn/start`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
#[serde(rename_all = "camelCase")]
pub struct TurnStartParams {
    /// Id of the thread.
    pub thread_id: String,
    /// Input of the user.
    pub input: Vec<UserInput>,
    /// Texts in addition to the input, by names that the client chose.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub additional_context: Option<BTreeMap<String, AdditionalContextEntry>>,
    /// When the user is asked for approval.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approval_policy: Option<AskForApproval>,
    /// Who answers approval requests.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approvals_reviewer: Option<ApprovalsReviewer>,
    /// Id of the message, chosen by the client. The user message item contains it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client_user_message_id: Option<String>,
    /// The collaboration mode.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub collaboration_mode: Option<CollaborationMode>,
    /// The working directory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    /// The access program for work on security under which the turn runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cyber_access_program: Option<CyberAccessProgram>,
    /// Ids of the plugins that are disabled for the thread.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub disabled_plugin_ids: Option<Vec<String>>,
    /// Reasoning effort of the model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effort: Option<String>,
    /// Environments in which commands run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub environments: Option<Vec<TurnEnvironmentParams>>,
    /// Name of the model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// When the model may spawn agents.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub multi_agent_mode: Option<MultiAgentMode>,
    /// JSON schema that the answer must follow.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_schema: Option<Value>,
    /// Id of the turn because of which the client starts this one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent_turn_id: Option<String>,
    /// Id of the permission profile. It cannot be combined with a sandbox.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub permissions: Option<String>,
    /// Personality of the model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub personality: Option<Personality>,
    /// Metadata that is sent to the model provider with the request.
    #[serde(rename = "responsesapiClientMetadata", default, skip_serializing_if = "Option::is_none")]
    pub responses_api_client_metadata: Option<BTreeMap<String, String>>,
    /// Changes of the metadata that is sent to the model provider.
    #[serde(rename = "responsesapiClientMetadataPatch", default, skip_serializing_if = "Option::is_none")]
    pub responses_api_client_metadata_patch: Option<BTreeMap<String, String>>,
    /// Id of the first turn in the chain that led to this one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub root_turn_id: Option<String>,
    /// Directories that form the workspace.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub runtime_workspace_roots: Option<Vec<AbsolutePath>>,
    /// Sandbox policy for commands.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sandbox_policy: Option<SandboxPolicy>,
    /// Service tier of the model provider.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub service_tier: Option<String>,
    /// Service tier of this turn only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub service_tier_for_turn: Option<String>,
    /// How the model summarizes its reasoning.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summary: Option<ReasoningSummary>,
    /// Output of a tool, instead of a text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_output: Option<TurnToolOutput>,
    /// Why the client starts the turn.
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

/// Status of a turn.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(rename_all = "camelCase")]
pub enum TurnStatus {
    /// It completed.
    Completed,
    /// It was interrupted.
    Interrupted,
    /// It failed.
    Failed,
    /// It is in progress.
    #[default]
    InProgress,
}

/// Params of `turn/steer`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
#[serde(rename_all = "camelCase")]
pub struct TurnSteerParams {
    /// Id of the thread.
    pub thread_id: String,
    /// Id of the turn that the client believes to be running.
    pub expected_turn_id: String,
    /// Input of the user.
    pub input: Vec<UserInput>,
    /// Texts in addition to the input, by names that the client chose.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub additional_context: Option<BTreeMap<String, AdditionalContextEntry>>,
    /// Id of the message, chosen by the client. The user message item contains it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client_user_message_id: Option<String>,
    /// Metadata that is sent to the model provider with the request.
    #[serde(rename = "responsesapiClientMetadata", default, skip_serializing_if = "Option::is_none")]
    pub responses_api_client_metadata: Option<BTreeMap<String, String>>,
    /// Changes of the metadata that is sent to the model provider.
    #[serde(rename = "responsesapiClientMetadataPatch", default, skip_serializing_if = "Option::is_none")]
    pub responses_api_client_metadata_patch: Option<BTreeMap<String, String>>,
}

/// Result of `turn/steer`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(rename_all = "camelCase")]
pub struct TurnSteerResponse {
    /// Id of the turn.
    pub turn_id: String,
}

/// Output of a tool that a client sends with its input.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
pub struct TurnToolOutput {
    /// Name of the tool.
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
