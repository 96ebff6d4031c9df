//! Files of the server's machine, by absolute path.

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
#[cfg(feature = "schema")]
use ts_rs::TS;

use crate::common::AbsolutePath;

/// Params of `fs/copy`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(rename_all = "camelCase")]
pub struct FsCopyParams {
    /// Path of the copy.
    pub destination_path: AbsolutePath,
    /// Path of the source.
    pub source_path: AbsolutePath,
    /// Whether directories are copied with their contents.
    #[serde(default, deserialize_with = "crate::common::null_is_default")]
    #[cfg_attr(feature = "schema", ts(as = "Option<_>", optional = nullable))]
    pub recursive: bool,
}

/// Result of `fs/copy`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
pub struct FsCopyResponse {}

/// Params of `fs/createDirectory`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
pub struct FsCreateDirectoryParams {
    /// Path of the directory.
    pub path: AbsolutePath,
    /// Whether parent directories are created too. Defaults to true.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recursive: Option<bool>,
}

/// Result of `fs/createDirectory`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
pub struct FsCreateDirectoryResponse {}

/// Params of `fs/getMetadata`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
pub struct FsGetMetadataParams {
    /// Path of the file or directory.
    pub path: AbsolutePath,
}

/// Result of `fs/getMetadata`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(rename_all = "camelCase")]
pub struct FsGetMetadataResponse {
    /// Creation time in Unix milliseconds. 0 if the file system does not store it.
    pub created_at_ms: i64,
    /// Whether it is a directory.
    pub is_directory: bool,
    /// Whether it is a regular file.
    pub is_file: bool,
    /// Whether it is a symlink.
    pub is_symlink: bool,
    /// Modification time in Unix milliseconds. 0 if the file system does not store it.
    pub modified_at_ms: i64,
}

/// One entry of a directory.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(rename_all = "camelCase")]
pub struct FsReadDirectoryEntry {
    /// Name without the directory.
    pub file_name: String,
    /// Whether it is a directory.
    pub is_directory: bool,
    /// Whether it is a regular file.
    pub is_file: bool,
}

/// Params of `fs/readDirectory`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
pub struct FsReadDirectoryParams {
    /// Path of the directory.
    pub path: AbsolutePath,
}

/// Result of `fs/readDirectory`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
pub struct FsReadDirectoryResponse {
    /// The entries of the directory.
    pub entries: Vec<FsReadDirectoryEntry>,
}

/// Params of `fs/readFile`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
pub struct FsReadFileParams {
    /// Path of the file.
    pub path: AbsolutePath,
}

/// Result of `fs/readFile`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(rename_all = "camelCase")]
pub struct FsReadFileResponse {
    /// The content in base64.
    pub data_base64: String,
}

/// Params of `fs/remove`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
pub struct FsRemoveParams {
    /// Path of the file or directory.
    pub path: AbsolutePath,
    /// Whether a missing path is not an error.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub force: Option<bool>,
    /// Whether directories are removed with their contents. Defaults to true.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recursive: Option<bool>,
}

/// Result of `fs/remove`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
pub struct FsRemoveResponse {}

/// Params of `fs/unwatch`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(rename_all = "camelCase")]
pub struct FsUnwatchParams {
    /// Id of the watch, chosen by the connection.
    pub watch_id: String,
}

/// Result of `fs/unwatch`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
pub struct FsUnwatchResponse {}

/// Params of `fs/watch`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(rename_all = "camelCase")]
pub struct FsWatchParams {
    /// Path of the file or directory to watch.
    pub path: AbsolutePath,
    /// Id of the watch, chosen by the connection.
    pub watch_id: String,
}

/// Result of `fs/watch`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
pub struct FsWatchResponse {
    /// The watched path.
    pub path: AbsolutePath,
}

/// Params of `fs/writeFile`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(rename_all = "camelCase")]
pub struct FsWriteFileParams {
    /// The content in base64.
    pub data_base64: String,
    /// Path of the file.
    pub path: AbsolutePath,
}

/// Result of `fs/writeFile`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
pub struct FsWriteFileResponse {}
