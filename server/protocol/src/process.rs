//! Processes that a client runs on the server's machine, outside of the sandbox.

use std::collections::BTreeMap;

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
#[cfg(feature = "schema")]
use ts_rs::TS;

use crate::common::{AbsolutePath, Nullable};

/// Params of `process/kill`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(rename_all = "camelCase")]
pub struct ProcessKillParams {
    /// Id of the process, chosen by the connection.
    pub process_handle: String,
}

/// Result of `process/kill`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
pub struct ProcessKillResponse {}

/// The stream of an output.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(rename_all = "camelCase")]
pub enum ProcessOutputStream {
    /// Standard output.
    Stdout,
    /// Standard error.
    Stderr,
}

/// Params of `process/resizePty`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(rename_all = "camelCase")]
pub struct ProcessResizePtyParams {
    /// Id of the process, chosen by the connection.
    pub process_handle: String,
    /// The size of the terminal.
    pub size: ProcessTerminalSize,
}

/// Result of `process/resizePty`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
pub struct ProcessResizePtyResponse {}

/// Params of `process/spawn`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
#[serde(rename_all = "camelCase")]
pub struct ProcessSpawnParams {
    /// The program and its arguments.
    pub command: Vec<String>,
    /// The working directory.
    pub cwd: AbsolutePath,
    /// Id of the process, chosen by the connection.
    pub process_handle: String,
    /// Changes of the environment: a string sets a variable, `null` removes it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub env: Option<BTreeMap<String, Option<String>>>,
    /// Most bytes of each stream that are kept. `null` for no limit. If absent, a default of the server.
    #[serde(default, skip_serializing_if = "Nullable::is_absent")]
    #[cfg_attr(feature = "schema", ts(as = "Option<u64>", optional = nullable))]
    pub output_bytes_cap: Nullable<u64>,
    /// The size of the terminal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size: Option<ProcessTerminalSize>,
    /// Whether the connection may write input later.
    #[serde(default, deserialize_with = "crate::common::null_is_default")]
    #[cfg_attr(feature = "schema", ts(as = "Option<_>", optional = nullable))]
    pub stream_stdin: bool,
    /// Whether output is sent in notifications while the process runs. The result then contains none.
    #[serde(default, deserialize_with = "crate::common::null_is_default")]
    #[cfg_attr(feature = "schema", ts(as = "Option<_>", optional = nullable))]
    pub stream_stdout_stderr: bool,
    /// Timeout in milliseconds. `null` for none. If absent, a default of the server.
    #[serde(default, skip_serializing_if = "Nullable::is_absent")]
    #[cfg_attr(feature = "schema", ts(as = "Option<i64>", optional = nullable))]
    pub timeout_ms: Nullable<i64>,
    /// Whether it runs in a pseudoterminal.
    #[serde(default, deserialize_with = "crate::common::null_is_default")]
    #[cfg_attr(feature = "schema", ts(as = "Option<_>", optional = nullable))]
    pub tty: bool,
}

/// Result of `process/spawn`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
pub struct ProcessSpawnResponse {}

/// The size of a terminal, in characters.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
pub struct ProcessTerminalSize {
    /// Number of columns.
    pub cols: u16,
    /// Number of rows.
    pub rows: u16,
}

/// Params of `process/writeStdin`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
#[serde(rename_all = "camelCase")]
pub struct ProcessWriteStdinParams {
    /// Id of the process, chosen by the connection.
    pub process_handle: String,
    /// Whether standard input is closed after this input.
    #[serde(default, deserialize_with = "crate::common::null_is_default")]
    #[cfg_attr(feature = "schema", ts(as = "Option<_>", optional = nullable))]
    pub close_stdin: bool,
    /// New bytes in base64.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delta_base64: Option<String>,
}

/// Result of `process/writeStdin`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
pub struct ProcessWriteStdinResponse {}
