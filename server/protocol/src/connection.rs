//! Opening a connection, and diagnostics of the server.

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
#[cfg(feature = "schema")]
use ts_rs::TS;

use crate::common::{AbsolutePath, JsonObject};

/// Name and version of a client.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
pub struct ClientInfo {
    /// Name of the client.
    pub name: String,
    /// Version of the client.
    pub version: String,
    /// Display name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
}

/// Capabilities and wishes of a client.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
#[serde(rename_all = "camelCase")]
pub struct InitializeCapabilities {
    /// Whether the client uses experimental parts of the protocol.
    #[serde(default, deserialize_with = "crate::common::null_is_default")]
    #[cfg_attr(feature = "schema", ts(as = "Option<_>", optional = nullable))]
    pub experimental_api: bool,
    /// Whether the client itself starts logins at gateways.
    #[serde(default, deserialize_with = "crate::common::null_is_default")]
    #[cfg_attr(feature = "schema", ts(as = "Option<_>", optional = nullable))]
    pub explicit_gateway_oauth: bool,
    /// Capabilities of the client that the protocol does not define.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub extensions: Option<JsonObject>,
    /// Whether the client shows the provider's own kind of forms.
    #[serde(default, deserialize_with = "crate::common::null_is_default")]
    #[cfg_attr(feature = "schema", ts(as = "Option<_>", optional = nullable))]
    pub mcp_server_openai_form_elicitation: bool,
    /// Exact names of notifications that the client does not want.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub opt_out_notification_methods: Option<Vec<String>>,
    /// Whether the client can prove its identity.
    #[serde(default, deserialize_with = "crate::common::null_is_default")]
    #[cfg_attr(feature = "schema", ts(as = "Option<_>", optional = nullable))]
    pub request_attestation: bool,
    /// Whether the client accepts requests that only a person may answer.
    #[serde(default, deserialize_with = "crate::common::null_is_default")]
    #[cfg_attr(feature = "schema", ts(as = "Option<_>", optional = nullable))]
    pub required_human_approval: bool,
}

/// Params of `initialize`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
#[serde(rename_all = "camelCase")]
pub struct InitializeParams {
    /// Name and version of the client.
    pub client_info: ClientInfo,
    /// Capabilities and wishes of the client.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub capabilities: Option<InitializeCapabilities>,
}

/// Result of `initialize`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(rename_all = "camelCase")]
pub struct InitializeResponse {
    /// The server home.
    pub codex_home: AbsolutePath,
    /// `unix` or `windows`.
    pub platform_family: String,
    /// Name of the operating system.
    pub platform_os: String,
    /// Name and version of the server, followed by the client. Clients parse the version.
    pub user_agent: String,
}

/// A number in the diagnostics of the server.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
pub struct ServerDiagnosticsGauge {
    /// Name of the number.
    pub name: String,
    /// The current value.
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
    /// Process id.
    pub id: u32,
    /// Memory that the operating system charges to the process, in bytes.
    #[serde(default)]
    pub physical_footprint_bytes: Option<u64>,
    /// Resident memory of the process, in bytes.
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
