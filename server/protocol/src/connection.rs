//! The first exchange of a connection, and how the server does.

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
#[cfg(feature = "schema")]
use ts_rs::TS;

use crate::common::{AbsolutePath, JsonObject};

/// What a client says of itself.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
pub struct ClientInfo {
    /// The name.
    pub name: String,
    /// The version.
    pub version: String,
    /// The name, for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
}

/// What a client can do and wants.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
#[serde(rename_all = "camelCase")]
pub struct InitializeCapabilities {
    /// Whether the client wants what is experimental.
    #[serde(default, deserialize_with = "crate::common::null_is_default")]
    #[cfg_attr(feature = "schema", ts(as = "Option<_>", optional = nullable))]
    pub experimental_api: bool,
    /// Whether the client starts logins at gateways itself.
    #[serde(default, deserialize_with = "crate::common::null_is_default")]
    #[cfg_attr(feature = "schema", ts(as = "Option<_>", optional = nullable))]
    pub explicit_gateway_oauth: bool,
    /// What the client can do beyond the protocol.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub extensions: Option<JsonObject>,
    /// Whether the client shows forms of the provider's own kind.
    #[serde(default, deserialize_with = "crate::common::null_is_default")]
    #[cfg_attr(feature = "schema", ts(as = "Option<_>", optional = nullable))]
    pub mcp_server_openai_form_elicitation: bool,
    /// Notifications that the client does not want, by their exact names.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub opt_out_notification_methods: Option<Vec<String>>,
    /// Whether the client can prove what it is.
    #[serde(default, deserialize_with = "crate::common::null_is_default")]
    #[cfg_attr(feature = "schema", ts(as = "Option<_>", optional = nullable))]
    pub request_attestation: bool,
    /// Whether the client takes requests that only a human may answer.
    #[serde(default, deserialize_with = "crate::common::null_is_default")]
    #[cfg_attr(feature = "schema", ts(as = "Option<_>", optional = nullable))]
    pub required_human_approval: bool,
}

/// Params of `initialize`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
#[serde(rename_all = "camelCase")]
pub struct InitializeParams {
    /// Who the client is.
    pub client_info: ClientInfo,
    /// What the client can do and wants.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub capabilities: Option<InitializeCapabilities>,
}

/// Result of `initialize`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(rename_all = "camelCase")]
pub struct InitializeResponse {
    /// The directory of the server's files.
    pub codex_home: AbsolutePath,
    /// `unix` or `windows`.
    pub platform_family: String,
    /// The operating system.
    pub platform_os: String,
    /// The server by name and version, then the client; clients read the version from it.
    pub user_agent: String,
}

/// A number that says how the server does.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
pub struct ServerDiagnosticsGauge {
    /// The name.
    pub name: String,
    /// The number.
    pub value: u64,
}

/// Params of `server/diagnostics`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
pub struct ServerDiagnosticsParams {}

/// The process of the server.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
#[serde(rename_all = "camelCase")]
pub struct ServerDiagnosticsProcess {
    /// The id.
    pub id: u32,
    /// The memory that the machine charges it with, in bytes.
    #[serde(default)]
    pub physical_footprint_bytes: Option<u64>,
    /// Its memory, in bytes.
    #[serde(default)]
    pub resident_memory_bytes: Option<u64>,
}

/// Result of `server/diagnostics`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
pub struct ServerDiagnosticsResponse {
    /// The numbers.
    pub gauges: Vec<ServerDiagnosticsGauge>,
    /// The process.
    pub process: ServerDiagnosticsProcess,
}
