//! Requests of the server to its clients: approvals, questions, and calls of tools that a client runs.
//!
//! A request is sent to every subscriber of the thread with the same id, and the first response counts. A response that
//! cannot be decoded declines the item. It never ends the turn.

use std::collections::BTreeMap;

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
#[cfg(feature = "schema")]
use ts_rs::TS;

use crate::account::SecretText;
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
    /// Id of the tool call that the model chose.
    pub call_id: String,
    /// Id of the thread.
    pub conversation_id: String,
    /// The changes, by path.
    pub file_changes: BTreeMap<String, FileChange>,
    /// A directory that the model wants to write to from now on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub grant_root: Option<String>,
    /// Why the patch needs an approval.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// Response to `applyPatchApproval`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
pub struct ApplyPatchApprovalResponse {
    /// The decision.
    pub decision: ReviewDecision,
}

/// Params of the request to the client `attestation/generate`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
pub struct AttestationGenerateParams {}

/// Response to `attestation/generate`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
pub struct AttestationGenerateResponse {
    /// The attestation.
    pub token: String,
}

/// Params of the request to the client `account/chatgptAuthTokens/refresh`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
#[serde(rename_all = "camelCase")]
pub struct ChatgptAuthTokensRefreshParams {
    /// Why the tokens have to be refreshed.
    pub reason: ChatgptAuthTokensRefreshReason,
    /// The account that was used before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub previous_account_id: Option<String>,
}

/// Why new tokens are requested.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(rename_all = "camelCase")]
pub enum ChatgptAuthTokensRefreshReason {
    /// The credentials were refused.
    Unauthorized,
}

/// Response to `account/chatgptAuthTokens/refresh`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
#[serde(rename_all = "camelCase")]
pub struct ChatgptAuthTokensRefreshResponse {
    /// The new token.
    pub access_token: SecretText,
    /// The id of the account.
    pub chatgpt_account_id: String,
    /// The kind of subscription.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub chatgpt_plan_type: Option<String>,
}

/// Decision about a command.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(rename_all = "camelCase")]
pub enum CommandExecutionApprovalDecision {
    /// Yes, this time only.
    Accept,
    /// Yes, and do not ask again in this thread.
    AcceptForSession,
    /// Yes, and in all threads allow commands that begin with these words.
    AcceptWithExecpolicyAmendment {
        /// First words of the commands that the rule allows.
        execpolicy_amendment: Vec<String>,
    },
    /// Yes, and apply a rule about the host.
    ApplyNetworkPolicyAmendment {
        /// The rule.
        network_policy_amendment: NetworkPolicyAmendment,
    },
    /// No. The model is told and continues.
    Decline,
    /// No, and interrupt the turn.
    Cancel,
}

/// What the approval is about.
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
    /// Id of the thread.
    pub thread_id: String,
    /// Id of the turn.
    pub turn_id: String,
    /// Id of the item.
    pub item_id: String,
    /// Start time in Unix milliseconds.
    pub started_at_ms: i64,
    /// Permissions that the command requests beyond its sandbox.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub additional_permissions: Option<AdditionalPermissionProfile>,
    /// Distinguishes several requests about one item.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approval_id: Option<String>,
    /// Decisions that the server offers. It accepts others too.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub available_decisions: Option<Vec<CommandExecutionApprovalDecision>>,
    /// The command as a shell command line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// What the parts of the command do, as far as the server can tell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command_actions: Option<Vec<CommandAction>>,
    /// The working directory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    /// Id of the environment. Without it, the server's machine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub environment_id: Option<String>,
    /// What the approval is about.
    #[serde(default)]
    #[cfg_attr(feature = "schema", ts(as = "Option<_>", optional = nullable))]
    pub kind: CommandExecutionApprovalKind,
    /// The network connection that is to be approved, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub network_approval_context: Option<NetworkApprovalContext>,
    /// First words of the commands that a rule could allow from now on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub proposed_execpolicy_amendment: Option<Vec<String>>,
    /// Rules about hosts that could be added.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub proposed_network_policy_amendments: Option<Vec<NetworkPolicyAmendment>>,
    /// Why the command needs an approval.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The effective permissions of the command if it is accepted, in words. An addition of this server.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rights: Option<String>,
}

/// Response to `item/commandExecution/requestApproval`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
pub struct CommandExecutionRequestApprovalResponse {
    /// The decision.
    pub decision: CommandExecutionApprovalDecision,
}

/// Params of the request to the client `currentTime/read`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(rename_all = "camelCase")]
pub struct CurrentTimeReadParams {
    /// Id of the thread.
    pub thread_id: String,
}

/// Response to `currentTime/read`.
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
    /// Id of the thread.
    pub thread_id: String,
    /// Id of the turn.
    pub turn_id: String,
    /// The arguments, as the model gave them.
    pub arguments: Value,
    /// Id of the tool call that the model chose.
    pub call_id: String,
    /// Name of the tool.
    pub tool: String,
    /// The namespace of the tool.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub namespace: Option<String>,
}

/// Response to `item/tool/call`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(rename_all = "camelCase")]
pub struct DynamicToolCallResponse {
    /// The parts of the result.
    pub content_items: Vec<DynamicToolCallOutputContentItem>,
    /// Whether the tool succeeded.
    pub success: bool,
}

/// Params of the request to the client `execCommandApproval`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
#[serde(rename_all = "camelCase")]
pub struct ExecCommandApprovalParams {
    /// Id of the tool call that the model chose.
    pub call_id: String,
    /// The program and its arguments.
    pub command: Vec<String>,
    /// Id of the thread.
    pub conversation_id: String,
    /// The working directory.
    pub cwd: String,
    /// What the parts of the command do, as far as the server can tell.
    pub parsed_cmd: Vec<ParsedCommand>,
    /// Distinguishes several requests about one item.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approval_id: Option<String>,
    /// Why the command needs an approval.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// Response to `execCommandApproval`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
pub struct ExecCommandApprovalResponse {
    /// The decision.
    pub decision: ReviewDecision,
}

/// A change of one file, in the form of the older approval request.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
#[serde(tag = "type", rename_all = "camelCase")]
pub enum FileChange {
    /// The file is new.
    Add {
        /// Content of the new file.
        content: String,
    },
    /// The file is deleted.
    Delete {
        /// Content of the deleted file.
        content: String,
    },
    /// The file changes, and may be moved.
    Update {
        /// The change as a unified diff.
        unified_diff: String,
        /// New path of the file, if it is moved.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        move_path: Option<String>,
    },
}

/// Decision about file changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(rename_all = "camelCase")]
pub enum FileChangeApprovalDecision {
    /// Yes, this time only.
    Accept,
    /// Yes, and do not ask again in this thread.
    AcceptForSession,
    /// No. The model is told and continues.
    Decline,
    /// No, and interrupt the turn.
    Cancel,
}

/// Params of the request to the client `item/fileChange/requestApproval`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
#[serde(rename_all = "camelCase")]
pub struct FileChangeRequestApprovalParams {
    /// Id of the thread.
    pub thread_id: String,
    /// Id of the turn.
    pub turn_id: String,
    /// Id of the item.
    pub item_id: String,
    /// Start time in Unix milliseconds.
    pub started_at_ms: i64,
    /// A directory that the model wants to write to from now on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub grant_root: Option<String>,
    /// Why the changes need an approval.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// Response to `item/fileChange/requestApproval`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
pub struct FileChangeRequestApprovalResponse {
    /// The decision.
    pub decision: FileChangeApprovalDecision,
}

/// What the user did with a form.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(rename_all = "camelCase")]
pub enum McpServerElicitationAction {
    /// The user filled it in.
    Accept,
    /// The user declined it.
    Decline,
    /// The user closed it.
    Cancel,
}

/// Params of the request to the client `mcpServer/elicitation/request`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
#[serde(rename_all = "camelCase")]
pub struct McpServerElicitationRequestParams {
    /// Id of the thread.
    pub thread_id: String,
    /// Name of the MCP server.
    pub server_name: String,
    /// Id of the turn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn_id: Option<String>,
    /// The request of the MCP server.
    #[serde(flatten)]
    pub request: McpServerElicitationRequest,
}

/// What an MCP server requests from the user.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
#[serde(tag = "mode", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum McpServerElicitationRequest {
    /// A proof that the user is present.
    #[serde(rename = "openai/userVerification")]
    OpenaiUserVerification {
        /// The challenge to sign.
        challenge: String,
        /// Description for people.
        description: String,
        /// The title.
        title: String,
        /// Metadata of the MCP server.
        #[serde(rename = "_meta", default, skip_serializing_if = "Option::is_none")]
        meta: Option<Value>,
    },
    /// A form that a JSON schema describes.
    Form {
        /// The message for people.
        message: String,
        /// JSON schema of the form.
        requested_schema: Value,
        /// Metadata of the MCP server.
        #[serde(rename = "_meta", default, skip_serializing_if = "Option::is_none")]
        meta: Option<Value>,
    },
    /// A form of the provider's own kind.
    #[serde(rename = "openai/form")]
    OpenAiForm {
        /// The message for people.
        message: String,
        /// JSON schema of the form.
        requested_schema: Value,
        /// Metadata of the MCP server.
        #[serde(rename = "_meta", default, skip_serializing_if = "Option::is_none")]
        meta: Option<Value>,
    },
    /// A form of the provider's own kind, by another name.
    #[serde(rename = "openaiForm")]
    OpenAiFormCamel {
        /// The message for people.
        message: String,
        /// JSON schema of the form.
        requested_schema: Value,
        /// Metadata of the MCP server.
        #[serde(rename = "_meta", default, skip_serializing_if = "Option::is_none")]
        meta: Option<Value>,
    },
    /// A URL to visit.
    Url {
        /// Id that the MCP server gave to the request.
        elicitation_id: String,
        /// The message for people.
        message: String,
        /// The URL.
        url: String,
        /// Metadata of the MCP server.
        #[serde(rename = "_meta", default, skip_serializing_if = "Option::is_none")]
        meta: Option<Value>,
    },
}

/// Response to `mcpServer/elicitation/request`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
pub struct McpServerElicitationRequestResponse {
    /// What the user did.
    pub action: McpServerElicitationAction,
    /// Metadata of the MCP server.
    #[serde(rename = "_meta", default, skip_serializing_if = "Option::is_none")]
    pub meta: Option<Value>,
    /// The data that the user entered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content: Option<Value>,
}

/// What a part of a command does, in the form of the older approval request.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum ParsedCommand {
    /// Reads a file.
    Read {
        /// The command as a shell command line.
        cmd: String,
        /// Name of the file.
        name: String,
        /// Path of the file.
        path: String,
    },
    /// Lists files.
    ListFiles {
        /// The command as a shell command line.
        cmd: String,
        /// Path of the directory, if the command names one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        path: Option<String>,
    },
    /// Searches in files.
    Search {
        /// The command as a shell command line.
        cmd: String,
        /// Path of the file or directory, if the command names one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        path: Option<String>,
        /// The searched text.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        query: Option<String>,
    },
    /// Something else.
    Unknown {
        /// The command as a shell command line.
        cmd: String,
    },
}

/// Params of the request to the client `item/permissions/requestApproval`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
#[serde(rename_all = "camelCase")]
pub struct PermissionsRequestApprovalParams {
    /// Id of the thread.
    pub thread_id: String,
    /// Id of the turn.
    pub turn_id: String,
    /// Id of the item.
    pub item_id: String,
    /// Start time in Unix milliseconds.
    pub started_at_ms: i64,
    /// The working directory.
    pub cwd: String,
    /// The requested permissions.
    pub permissions: RequestPermissionProfile,
    /// Id of the environment. Without it, the server's machine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub environment_id: Option<String>,
    /// Why the model asks for the permissions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// Response to `item/permissions/requestApproval`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
#[serde(rename_all = "camelCase")]
pub struct PermissionsRequestApprovalResponse {
    /// The granted permissions.
    pub permissions: GrantedPermissionProfile,
    /// How long the permissions last.
    #[serde(default, deserialize_with = "crate::common::null_is_default")]
    #[cfg_attr(feature = "schema", ts(as = "Option<_>", optional = nullable))]
    pub scope: PermissionGrantScope,
    /// Whether a model reviews all actions from now on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub strict_auto_review: Option<bool>,
}

/// Decision about an older approval request.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(rename_all = "snake_case")]
pub enum ReviewDecision {
    /// Yes, this time only.
    Approved,
    /// Yes, and from now on allow commands that begin with these words.
    ApprovedExecpolicyAmendment {
        /// First words of the commands that the rule allows.
        proposed_execpolicy_amendment: Vec<String>,
    },
    /// Yes, and do not ask again in this thread.
    ApprovedForSession,
    /// Yes, and allow this tool from now on.
    ApprovedMcpPolicyAmendment,
    /// Yes, and apply a rule about the host.
    NetworkPolicyAmendment {
        /// The rule.
        network_policy_amendment: NetworkPolicyAmendment,
    },
    /// No.
    Denied {
        /// Reason of the user.
        rejection: String,
    },
    /// There was no response in time.
    TimedOut,
    /// No, and interrupt the turn.
    Abort,
}

/// The answers to one question.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
pub struct ToolRequestUserInputAnswer {
    /// Choices or texts of the user.
    pub answers: Vec<String>,
}

/// An answer to choose from.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
pub struct ToolRequestUserInputOption {
    /// Description for people.
    pub description: String,
    /// The choice that is displayed.
    pub label: String,
}

/// Params of the request to the client `item/tool/requestUserInput`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
#[serde(rename_all = "camelCase")]
pub struct ToolRequestUserInputParams {
    /// Id of the thread.
    pub thread_id: String,
    /// Id of the turn.
    pub turn_id: String,
    /// Id of the item.
    pub item_id: String,
    /// Whether the turn waits for the answers.
    pub is_blocking: bool,
    /// The questions.
    pub questions: Vec<ToolRequestUserInputQuestion>,
    /// Time after which the request is answered automatically, in milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub auto_resolution_ms: Option<u64>,
}

/// A question to the user.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
#[serde(rename_all = "camelCase")]
pub struct ToolRequestUserInputQuestion {
    /// Id of the question, which its answer refers to.
    pub id: String,
    /// A short title.
    pub header: String,
    /// The question.
    pub question: String,
    /// Whether the user may write another answer.
    #[serde(default)]
    #[cfg_attr(feature = "schema", ts(as = "Option<_>", optional = nullable))]
    pub is_other: bool,
    /// Whether the answer is hidden while it is typed.
    #[serde(default)]
    #[cfg_attr(feature = "schema", ts(as = "Option<_>", optional = nullable))]
    pub is_secret: bool,
    /// Answers to choose from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub options: Option<Vec<ToolRequestUserInputOption>>,
}

/// Response to `item/tool/requestUserInput`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
pub struct ToolRequestUserInputResponse {
    /// The answers, by the id of the question.
    pub answers: BTreeMap<String, ToolRequestUserInputAnswer>,
}
