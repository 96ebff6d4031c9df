//! Commands that a client runs on the server's machine, in the sandbox and without a thread.

use std::collections::BTreeMap;

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
#[cfg(feature = "schema")]
use ts_rs::TS;

use crate::settings::SandboxPolicy;

/// The stream that output came on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(rename_all = "camelCase")]
pub enum CommandExecOutputStream {
    /// Standard output.
    Stdout,
    /// Standard error.
    Stderr,
}

/// Params of `command/exec`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
#[serde(rename_all = "camelCase")]
pub struct CommandExecParams {
    /// The program and its arguments.
    pub command: Vec<String>,
    /// The working directory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    /// Whether output has no limit.
    #[serde(default, deserialize_with = "crate::common::null_is_default")]
    #[cfg_attr(feature = "schema", ts(as = "Option<_>", optional = nullable))]
    pub disable_output_cap: bool,
    /// Whether it may run as long as it likes.
    #[serde(default, deserialize_with = "crate::common::null_is_default")]
    #[cfg_attr(feature = "schema", ts(as = "Option<_>", optional = nullable))]
    pub disable_timeout: bool,
    /// Changes of the environment: a text sets a variable, `null` removes it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub env: Option<BTreeMap<String, Option<String>>>,
    /// The most bytes of each stream that are kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_bytes_cap: Option<u64>,
    /// The permission profile that it runs under.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub permission_profile: Option<String>,
    /// A name of the connection's own, to write to the command or end it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub process_id: Option<String>,
    /// What commands may touch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sandbox_policy: Option<SandboxPolicy>,
    /// The size of the terminal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size: Option<CommandExecTerminalSize>,
    /// Whether input is written to it later.
    #[serde(default, deserialize_with = "crate::common::null_is_default")]
    #[cfg_attr(feature = "schema", ts(as = "Option<_>", optional = nullable))]
    pub stream_stdin: bool,
    /// Whether output is sent as it comes; it is not in the result then.
    #[serde(default, deserialize_with = "crate::common::null_is_default")]
    #[cfg_attr(feature = "schema", ts(as = "Option<_>", optional = nullable))]
    pub stream_stdout_stderr: bool,
    /// How long it may run, in milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout_ms: Option<i64>,
    /// Whether it runs on a terminal.
    #[serde(default, deserialize_with = "crate::common::null_is_default")]
    #[cfg_attr(feature = "schema", ts(as = "Option<_>", optional = nullable))]
    pub tty: bool,
}

/// Params of `command/exec/resize`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(rename_all = "camelCase")]
pub struct CommandExecResizeParams {
    /// The name that the connection gave to the command.
    pub process_id: String,
    /// The size of the terminal.
    pub size: CommandExecTerminalSize,
}

/// Result of `command/exec/resize`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
pub struct CommandExecResizeResponse {}

/// Result of `command/exec`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(rename_all = "camelCase")]
pub struct CommandExecResponse {
    /// The exit code.
    pub exit_code: i32,
    /// What came on standard error.
    pub stderr: String,
    /// What came on standard output.
    pub stdout: String,
}

/// The size of a terminal, in characters.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
pub struct CommandExecTerminalSize {
    /// How many columns.
    pub cols: u16,
    /// How many rows.
    pub rows: u16,
}

/// Params of `command/exec/terminate`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(rename_all = "camelCase")]
pub struct CommandExecTerminateParams {
    /// The name that the connection gave to the command.
    pub process_id: String,
}

/// Result of `command/exec/terminate`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
pub struct CommandExecTerminateResponse {}

/// Params of `command/exec/write`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
#[serde(rename_all = "camelCase")]
pub struct CommandExecWriteParams {
    /// The name that the connection gave to the command.
    pub process_id: String,
    /// Whether that was the last of the input.
    #[serde(default, deserialize_with = "crate::common::null_is_default")]
    #[cfg_attr(feature = "schema", ts(as = "Option<_>", optional = nullable))]
    pub close_stdin: bool,
    /// What is new, as bytes in base64.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delta_base64: Option<String>,
}

/// Result of `command/exec/write`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
pub struct CommandExecWriteResponse {}
