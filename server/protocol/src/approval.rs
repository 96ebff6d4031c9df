//! Requests of the server to its clients: approvals, questions, tools that a client runs.
//!
//! A request goes to every subscriber of the thread under one id; the first answer counts. An answer that does not decode
//! is a refusal of the item and never the end of a turn.

use std::collections::BTreeMap;

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
#[cfg(feature = "schema")]
use ts_rs::TS;

use crate::item::{CommandAction, DynamicToolCallOutputContentItem};
use crate::permission::{
    AdditionalPermissionProfile, GrantedPermissionProfile, NetworkApprovalContext, NetworkPolicyAmendment,
    PermissionGrantScope, RequestPermissionProfile,
};

/// Params of the request to the client `applyPatchApproval`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
#[serde(rename_all = "camelCase")]
pub struct ApplyPatchApprovalParams {
    /// The id of the model's call.
    pub call_id: String,
    /// The thread.
    pub conversation_id: String,
    /// The changes, by path.
    pub file_changes: BTreeMap<String, FileChange>,
    /// A directory that the model wants to write to from now on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub grant_root: Option<String>,
    /// Why.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// Answer to `applyPatchApproval`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
pub struct ApplyPatchApprovalResponse {
    /// The answer.
    pub decision: ReviewDecision,
}

/// Params of the request to the client `attestation/generate`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
pub struct AttestationGenerateParams {}

/// Answer to `attestation/generate`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
pub struct AttestationGenerateResponse {
    /// The proof.
    pub token: String,
}

/// Params of the request to the client `account/chatgptAuthTokens/refresh`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
#[serde(rename_all = "camelCase")]
pub struct ChatgptAuthTokensRefreshParams {
    /// Why.
    pub reason: ChatgptAuthTokensRefreshReason,
    /// The account that was used before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub previous_account_id: Option<String>,
}

/// Why new tokens are asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(rename_all = "camelCase")]
pub enum ChatgptAuthTokensRefreshReason {
    /// The credentials were refused.
    Unauthorized,
}

/// Answer to `account/chatgptAuthTokens/refresh`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
#[serde(rename_all = "camelCase")]
pub struct ChatgptAuthTokensRefreshResponse {
    /// The new token.
    pub access_token: String,
    /// The id of the account.
    pub chatgpt_account_id: String,
    /// The kind of subscription.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub chatgpt_plan_type: Option<String>,
}

/// The answer to a request to run a command.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(rename_all = "camelCase")]
pub enum CommandExecutionApprovalDecision {
    /// Yes, this once.
    Accept,
    /// Yes, and for the rest of this thread's life without asking.
    AcceptForSession,
    /// Yes, and from now on, in any thread, what begins with these words too.
    AcceptWithExecpolicyAmendment {
        /// The words that a command begins with.
        execpolicy_amendment: Vec<String>,
    },
    /// The rule about the host is to be applied.
    ApplyNetworkPolicyAmendment {
        /// The rule about the host.
        network_policy_amendment: NetworkPolicyAmendment,
    },
    /// No; the model is told and goes on.
    Decline,
    /// No, and the turn is interrupted.
    Cancel,
}

/// What is to be approved.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(rename_all = "camelCase")]
pub enum CommandExecutionApprovalKind {
    /// A command of the model.
    #[default]
    Command,
    /// Input to a running command.
    WriteStdin,
    /// A command of the user.
    HumanCommand,
}

/// Params of the request to the client `item/commandExecution/requestApproval`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
#[serde(rename_all = "camelCase")]
pub struct CommandExecutionRequestApprovalParams {
    /// The thread.
    pub thread_id: String,
    /// The turn.
    pub turn_id: String,
    /// The item.
    pub item_id: String,
    /// When it began, in Unix milliseconds.
    pub started_at_ms: i64,
    /// What the command wants beyond its sandbox.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub additional_permissions: Option<AdditionalPermissionProfile>,
    /// Tells apart several requests about one item.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approval_id: Option<String>,
    /// The answers on offer; others are taken too.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub available_decisions: Option<Vec<CommandExecutionApprovalDecision>>,
    /// The command, as a line for a shell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// What the parts of the command do, as far as it can be told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command_actions: Option<Vec<CommandAction>>,
    /// The working directory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    /// The environment; the server's machine if nothing is said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub environment_id: Option<String>,
    /// What kind it is.
    #[serde(default)]
    #[cfg_attr(feature = "schema", ts(as = "Option<_>", optional = nullable))]
    pub kind: CommandExecutionApprovalKind,
    /// The connection that is to be approved, if it is about one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub network_approval_context: Option<NetworkApprovalContext>,
    /// The words that commands might begin with to be allowed from now on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub proposed_execpolicy_amendment: Option<Vec<String>>,
    /// Rules that might be made from now on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub proposed_network_policy_amendments: Option<Vec<NetworkPolicyAmendment>>,
    /// Why.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// What the command may do if it is accepted, in words of the server. This server's own field.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rights: Option<String>,
}

/// Answer to `item/commandExecution/requestApproval`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
pub struct CommandExecutionRequestApprovalResponse {
    /// The answer.
    pub decision: CommandExecutionApprovalDecision,
}

/// Params of the request to the client `currentTime/read`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(rename_all = "camelCase")]
pub struct CurrentTimeReadParams {
    /// The thread.
    pub thread_id: String,
}

/// Answer to `currentTime/read`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(rename_all = "camelCase")]
pub struct CurrentTimeReadResponse {
    /// The time, in Unix seconds.
    pub current_time_at: i64,
}

/// Params of the request to the client `item/tool/call`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
#[serde(rename_all = "camelCase")]
pub struct DynamicToolCallParams {
    /// The thread.
    pub thread_id: String,
    /// The turn.
    pub turn_id: String,
    /// The arguments, as the model gave them.
    pub arguments: Value,
    /// The id of the model's call.
    pub call_id: String,
    /// The tool.
    pub tool: String,
    /// The namespace of the tool.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub namespace: Option<String>,
}

/// Answer to `item/tool/call`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(rename_all = "camelCase")]
pub struct DynamicToolCallResponse {
    /// The parts of the answer.
    pub content_items: Vec<DynamicToolCallOutputContentItem>,
    /// Whether the tool did what it should.
    pub success: bool,
}

/// Params of the request to the client `execCommandApproval`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
#[serde(rename_all = "camelCase")]
pub struct ExecCommandApprovalParams {
    /// The id of the model's call.
    pub call_id: String,
    /// The program and its arguments.
    pub command: Vec<String>,
    /// The thread.
    pub conversation_id: String,
    /// The working directory.
    pub cwd: String,
    /// What the parts of the command do, as far as it can be told.
    pub parsed_cmd: Vec<ParsedCommand>,
    /// Tells apart several requests about one item.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approval_id: Option<String>,
    /// Why.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// Answer to `execCommandApproval`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
pub struct ExecCommandApprovalResponse {
    /// The answer.
    pub decision: ReviewDecision,
}

/// A change of one file, as the older approval request has it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
#[serde(tag = "type", rename_all = "camelCase")]
pub enum FileChange {
    /// It is new.
    Add {
        /// The text of the file.
        content: String,
    },
    /// It goes.
    Delete {
        /// The text of the file.
        content: String,
    },
    /// It changes, and may move.
    Update {
        /// What changes, as a unified diff.
        unified_diff: String,
        /// Where the file goes.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        move_path: Option<String>,
    },
}

/// The answer to a request to change files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(rename_all = "camelCase")]
pub enum FileChangeApprovalDecision {
    /// Yes, this once.
    Accept,
    /// Yes, and for the rest of this thread's life without asking.
    AcceptForSession,
    /// No; the model is told and goes on.
    Decline,
    /// No, and the turn is interrupted.
    Cancel,
}

/// Params of the request to the client `item/fileChange/requestApproval`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
#[serde(rename_all = "camelCase")]
pub struct FileChangeRequestApprovalParams {
    /// The thread.
    pub thread_id: String,
    /// The turn.
    pub turn_id: String,
    /// The item.
    pub item_id: String,
    /// When it began, in Unix milliseconds.
    pub started_at_ms: i64,
    /// A directory that the model wants to write to from now on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub grant_root: Option<String>,
    /// Why.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// Answer to `item/fileChange/requestApproval`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
pub struct FileChangeRequestApprovalResponse {
    /// The answer.
    pub decision: FileChangeApprovalDecision,
}

/// What the user did with a form.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(rename_all = "camelCase")]
pub enum McpServerElicitationAction {
    /// Filled it in.
    Accept,
    /// Refused.
    Decline,
    /// Closed it.
    Cancel,
}

/// Params of the request to the client `mcpServer/elicitation/request`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
#[serde(rename_all = "camelCase")]
pub struct McpServerElicitationRequestParams {
    /// The thread.
    pub thread_id: String,
    /// The tool server.
    pub server_name: String,
    /// The turn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn_id: Option<String>,
    /// What is wanted.
    #[serde(flatten)]
    pub request: McpServerElicitationRequest,
}

/// What a tool server wants of the user.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
#[serde(tag = "mode", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum McpServerElicitationRequest {
    /// A proof that the user is there.
    #[serde(rename = "openai/userVerification")]
    OpenaiUserVerification {
        /// What is to be signed.
        challenge: String,
        /// What it is, for people.
        description: String,
        /// The title.
        title: String,
        /// What the tool server adds for its own use.
        #[serde(rename = "_meta", default, skip_serializing_if = "Option::is_none")]
        meta: Option<Value>,
    },
    /// A form, described by a schema.
    Form {
        /// What there is to say.
        message: String,
        /// The schema of the form.
        requested_schema: Value,
        /// What the tool server adds for its own use.
        #[serde(rename = "_meta", default, skip_serializing_if = "Option::is_none")]
        meta: Option<Value>,
    },
    /// A form of the provider's own kind.
    #[serde(rename = "openai/form")]
    OpenAiForm {
        /// What there is to say.
        message: String,
        /// The schema of the form.
        requested_schema: Value,
        /// What the tool server adds for its own use.
        #[serde(rename = "_meta", default, skip_serializing_if = "Option::is_none")]
        meta: Option<Value>,
    },
    /// A form of the provider's own kind, by another name.
    #[serde(rename = "openaiForm")]
    OpenAiFormCamel {
        /// What there is to say.
        message: String,
        /// The schema of the form.
        requested_schema: Value,
        /// What the tool server adds for its own use.
        #[serde(rename = "_meta", default, skip_serializing_if = "Option::is_none")]
        meta: Option<Value>,
    },
    /// A visit to an address.
    Url {
        /// The server's id of the request.
        elicitation_id: String,
        /// What there is to say.
        message: String,
        /// The address.
        url: String,
        /// What the tool server adds for its own use.
        #[serde(rename = "_meta", default, skip_serializing_if = "Option::is_none")]
        meta: Option<Value>,
    },
}

/// Answer to `mcpServer/elicitation/request`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
pub struct McpServerElicitationRequestResponse {
    /// What the user did.
    pub action: McpServerElicitationAction,
    /// What the tool server adds for its own use.
    #[serde(rename = "_meta", default, skip_serializing_if = "Option::is_none")]
    pub meta: Option<Value>,
    /// What the user filled in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content: Option<Value>,
}

/// What a part of a command does, as the older approval request has it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum ParsedCommand {
    /// Reads a file.
    Read {
        /// The words of the command.
        cmd: String,
        /// The name.
        name: String,
        /// The path.
        path: String,
    },
    /// Lists files.
    ListFiles {
        /// The words of the command.
        cmd: String,
        /// The path.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        path: Option<String>,
    },
    /// Searches in files.
    Search {
        /// The words of the command.
        cmd: String,
        /// The path.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        path: Option<String>,
        /// What is searched for.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        query: Option<String>,
    },
    /// Something else.
    Unknown {
        /// The words of the command.
        cmd: String,
    },
}

/// Params of the request to the client `item/permissions/requestApproval`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
#[serde(rename_all = "camelCase")]
pub struct PermissionsRequestApprovalParams {
    /// The thread.
    pub thread_id: String,
    /// The turn.
    pub turn_id: String,
    /// The item.
    pub item_id: String,
    /// When it began, in Unix milliseconds.
    pub started_at_ms: i64,
    /// The working directory.
    pub cwd: String,
    /// What is asked for.
    pub permissions: RequestPermissionProfile,
    /// The environment; the server's machine if nothing is said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub environment_id: Option<String>,
    /// Why.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// Answer to `item/permissions/requestApproval`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
#[serde(rename_all = "camelCase")]
pub struct PermissionsRequestApprovalResponse {
    /// What is granted.
    pub permissions: GrantedPermissionProfile,
    /// For how long.
    #[serde(default, deserialize_with = "crate::common::null_is_default")]
    #[cfg_attr(feature = "schema", ts(as = "Option<_>", optional = nullable))]
    pub scope: PermissionGrantScope,
    /// Whether a model looks at everything from now on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub strict_auto_review: Option<bool>,
}

/// The answer to an older approval request.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(rename_all = "snake_case")]
pub enum ReviewDecision {
    /// Yes, this once.
    Approved,
    /// Yes, and from now on what begins with these words too.
    ApprovedExecpolicyAmendment {
        /// The words that a command begins with.
        proposed_execpolicy_amendment: Vec<String>,
    },
    /// Yes, and for the rest of this thread's life.
    ApprovedForSession,
    /// Yes, and from now on this tool too.
    ApprovedMcpPolicyAmendment,
    /// The rule about the host is to be applied.
    NetworkPolicyAmendment {
        /// The rule about the host.
        network_policy_amendment: NetworkPolicyAmendment,
    },
    /// No.
    Denied {
        /// Why not.
        rejection: String,
    },
    /// Nobody answered in time.
    TimedOut,
    /// No, and the turn is interrupted.
    Abort,
}

/// The answers to one question.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
pub struct ToolRequestUserInputAnswer {
    /// What the user chose or wrote.
    pub answers: Vec<String>,
}

/// An answer on offer.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
pub struct ToolRequestUserInputOption {
    /// What it is, for people.
    pub description: String,
    /// What the user chooses.
    pub label: String,
}

/// Params of the request to the client `item/tool/requestUserInput`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
#[serde(rename_all = "camelCase")]
pub struct ToolRequestUserInputParams {
    /// The thread.
    pub thread_id: String,
    /// The turn.
    pub turn_id: String,
    /// The item.
    pub item_id: String,
    /// Whether the turn waits for the answer.
    pub is_blocking: bool,
    /// The questions.
    pub questions: Vec<ToolRequestUserInputQuestion>,
    /// After how many milliseconds the question answers itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub auto_resolution_ms: Option<u64>,
}

/// A question to the user.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
#[serde(rename_all = "camelCase")]
pub struct ToolRequestUserInputQuestion {
    /// The id that the answer refers to.
    pub id: String,
    /// A short title.
    pub header: String,
    /// The question.
    pub question: String,
    /// Whether the user may write an answer of their own.
    #[serde(default)]
    #[cfg_attr(feature = "schema", ts(as = "Option<_>", optional = nullable))]
    pub is_other: bool,
    /// Whether the answer is hidden while it is written.
    #[serde(default)]
    #[cfg_attr(feature = "schema", ts(as = "Option<_>", optional = nullable))]
    pub is_secret: bool,
    /// The answers on offer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub options: Option<Vec<ToolRequestUserInputOption>>,
}

/// Answer to `item/tool/requestUserInput`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
pub struct ToolRequestUserInputResponse {
    /// The answers, by the id of the question.
    pub answers: BTreeMap<String, ToolRequestUserInputAnswer>,
}
