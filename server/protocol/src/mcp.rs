//! MCP servers: logins, and what clients use of them directly. Their statuses are in [`catalog`](crate::catalog).

use std::collections::BTreeMap;

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
#[cfg(feature = "schema")]
use ts_rs::TS;

/// How a client becomes known to an authorization server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(rename_all = "camelCase")]
pub enum McpServerOauthClientRegistration {
    /// By the configured client id, or else by dynamic registration.
    Auto,
    /// By an address that describes the client.
    Cimd,
    /// By dynamic registration.
    Dcr,
}

/// Params of `mcpServer/oauth/login`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
#[serde(rename_all = "camelCase")]
pub struct McpServerOauthLoginParams {
    /// Name of the MCP server.
    pub name: String,
    /// Id of the thread, which is repeated in the notification of the end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thread_id: Option<String>,
    /// The scopes. If absent, those of the configuration or of the MCP server.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scopes: Option<Vec<String>>,
    /// Time limit of the login in seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", ts(type = "number"))]
    pub timeout_secs: Option<i64>,
    /// How the server becomes known to the authorization server.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client_registration: Option<McpServerOauthClientRegistration>,
    /// Whether the user types a code on another device, instead of a browser that returns to the machine of the server. An
    /// addition of this server.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub device: Option<bool>,
}

/// Result of `mcpServer/oauth/login`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
#[serde(rename_all = "camelCase")]
pub struct McpServerOauthLoginResponse {
    /// The address that the user has to open.
    pub authorization_url: String,
    /// Id of the login, which the notification of the end has as well.
    #[serde(default)]
    pub login_id: Option<String>,
    /// With `device`: the code that the user types. An addition of this server.
    #[serde(default)]
    pub user_code: Option<String>,
    /// With `device`: the address at which the user types it. An addition of this server.
    #[serde(default)]
    pub verification_url: Option<String>,
}

/// Params of the notification `mcpServer/oauthLogin/completed`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
#[serde(rename_all = "camelCase")]
pub struct McpServerOauthLoginCompletedNotification {
    /// Name of the MCP server.
    pub name: String,
    /// Whether the user has logged in.
    pub success: bool,
    /// Why not.
    #[serde(default)]
    pub error: Option<String>,
    /// Id of the login.
    #[serde(default)]
    pub login_id: Option<String>,
    /// Id of the thread that the login named.
    #[serde(default)]
    pub thread_id: Option<String>,
}

/// Result of `config/mcpServer/reload`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
pub struct McpServerRefreshResponse {}

/// Params of `mcpServer/tool/call`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
#[serde(rename_all = "camelCase")]
pub struct McpServerToolCallParams {
    /// Name of the MCP server.
    pub server: String,
    /// Id of a loaded thread that has the MCP server.
    pub thread_id: String,
    /// Name of the tool at the MCP server.
    pub tool: String,
    /// Arguments of the call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arguments: Option<Value>,
    /// Metadata for the MCP server.
    #[serde(rename = "_meta", default, skip_serializing_if = "Option::is_none")]
    pub meta: Option<Value>,
}

/// Result of `mcpServer/tool/call`, as the MCP server sent it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
#[serde(rename_all = "camelCase")]
pub struct McpServerToolCallResponse {
    /// The parts of the result.
    pub content: Vec<Value>,
    /// Whether the tool reports an error.
    #[serde(default)]
    pub is_error: Option<bool>,
    /// The result as data.
    #[serde(default)]
    pub structured_content: Option<Value>,
    /// Metadata of the MCP server.
    #[serde(rename = "_meta", default)]
    pub meta: Option<Value>,
}

/// The app and account of a hosted resource. This server has none.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
#[serde(rename_all = "camelCase")]
pub struct McpResourceReadTarget {
    /// Id of the app.
    pub connector_id: String,
    /// Id of the account.
    #[cfg_attr(feature = "schema", ts(optional = false))]
    pub link_id: Option<String>,
}

/// Params of `mcpServer/resource/read`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
#[serde(rename_all = "camelCase")]
pub struct McpResourceReadParams {
    /// Name of the MCP server.
    pub server: String,
    /// Address of the resource.
    pub uri: String,
    /// Id of a loaded thread that has the MCP server. Without it, the MCP server is started for this request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thread_id: Option<String>,
    /// Metadata for the MCP server.
    #[serde(rename = "_meta", default, skip_serializing_if = "Option::is_none")]
    pub meta: Option<Map<String, Value>>,
    /// Ignored.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub connector_id: Option<String>,
    /// Ignored.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub origin_call_id: Option<String>,
    /// Ignored.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<McpResourceReadTarget>,
}

/// Result of `mcpServer/resource/read`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
#[serde(rename_all = "camelCase")]
pub struct McpResourceReadResponse {
    /// The contents.
    pub contents: Vec<ResourceContent>,
    /// Always `null`.
    #[serde(default)]
    pub origin_call_id: Option<String>,
}

/// A content of a resource.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
#[serde(untagged, rename_all_fields = "camelCase")]
pub enum ResourceContent {
    /// A text.
    Text {
        /// The text.
        text: String,
        /// Address of the content.
        uri: String,
        /// Its MIME type.
        #[serde(default)]
        mime_type: Option<String>,
        /// Metadata of the MCP server.
        #[serde(rename = "_meta", default)]
        meta: Option<Value>,
    },
    /// Bytes.
    Blob {
        /// The bytes in base64.
        blob: String,
        /// Address of the content.
        uri: String,
        /// Its MIME type.
        #[serde(default)]
        mime_type: Option<String>,
        /// Metadata of the MCP server.
        #[serde(rename = "_meta", default)]
        meta: Option<Value>,
    },
}

/// Params of `mcpServer/prompt/list`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
#[serde(rename_all = "camelCase")]
pub struct McpServerPromptListParams {
    /// Id of a loaded thread.
    pub thread_id: String,
    /// Name of the MCP server. If absent, the prompts of all MCP servers of the thread.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server: Option<String>,
    /// Cursor of the previous page (its `nextCursor`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cursor: Option<String>,
    /// Most entries of a page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<u32>,
}

/// Result of `mcpServer/prompt/list`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
#[serde(rename_all = "camelCase")]
pub struct McpServerPromptListResponse {
    /// The prompts.
    pub data: Vec<McpPrompt>,
    /// Cursor of the next page. `null` on the last page.
    #[serde(default)]
    pub next_cursor: Option<String>,
}

/// A prompt that an MCP server has for users.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
#[serde(rename_all = "camelCase")]
pub struct McpPrompt {
    /// Name of the MCP server.
    pub server: String,
    /// Name of the prompt.
    pub name: String,
    /// Title for users.
    #[serde(default)]
    pub title: Option<String>,
    /// Description for users.
    #[serde(default)]
    pub description: Option<String>,
    /// Its arguments.
    pub arguments: Vec<McpPromptArgument>,
}

/// An argument of a prompt.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
#[serde(rename_all = "camelCase")]
pub struct McpPromptArgument {
    /// Name of the argument.
    pub name: String,
    /// Title for users.
    #[serde(default)]
    pub title: Option<String>,
    /// Description for users.
    #[serde(default)]
    pub description: Option<String>,
    /// Whether the argument has to be given.
    #[serde(default)]
    #[cfg_attr(feature = "schema", ts(as = "Option<_>", optional = nullable))]
    pub required: bool,
}

/// Params of `mcpServer/prompt/get`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
#[serde(rename_all = "camelCase")]
pub struct McpServerPromptGetParams {
    /// Id of a loaded thread that has the MCP server.
    pub thread_id: String,
    /// Name of the MCP server.
    pub server: String,
    /// Name of the prompt.
    pub name: String,
    /// The arguments.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arguments: Option<BTreeMap<String, String>>,
}

/// Result of `mcpServer/prompt/get`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
#[serde(rename_all = "camelCase")]
pub struct McpServerPromptGetResponse {
    /// Description of the prompt.
    #[serde(default)]
    pub description: Option<String>,
    /// The messages of the prompt, as the MCP server sent them.
    pub messages: Vec<Value>,
    /// The texts of the prompt, for the user's next message. Parts that are no texts are named in square brackets.
    pub text: String,
}
