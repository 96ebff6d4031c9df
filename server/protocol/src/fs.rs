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
    /// Where the copy goes.
    pub destination_path: AbsolutePath,
    /// What is copied.
    pub source_path: AbsolutePath,
    /// Whether directories are taken with all that is in them.
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
    /// The path.
    pub path: AbsolutePath,
    /// Whether the directories above are made too; they are if nothing is said.
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
    /// The path.
    pub path: AbsolutePath,
}

/// Result of `fs/getMetadata`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(rename_all = "camelCase")]
pub struct FsGetMetadataResponse {
    /// When it was made, in Unix milliseconds; 0 where the file system does not know.
    pub created_at_ms: i64,
    /// Whether it is a directory.
    pub is_directory: bool,
    /// Whether it is a file.
    pub is_file: bool,
    /// Whether it is a symbolic link.
    pub is_symlink: bool,
    /// When it was last changed, in Unix milliseconds; 0 where the file system does not know.
    pub modified_at_ms: i64,
}

/// One entry of a directory.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(rename_all = "camelCase")]
pub struct FsReadDirectoryEntry {
    /// The name, without the directory.
    pub file_name: String,
    /// Whether it is a directory.
    pub is_directory: bool,
    /// Whether it is a file.
    pub is_file: bool,
}

/// Params of `fs/readDirectory`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
pub struct FsReadDirectoryParams {
    /// The path.
    pub path: AbsolutePath,
}

/// Result of `fs/readDirectory`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
pub struct FsReadDirectoryResponse {
    /// What is in the directory.
    pub entries: Vec<FsReadDirectoryEntry>,
}

/// Params of `fs/readFile`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
pub struct FsReadFileParams {
    /// The path.
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
    /// The path.
    pub path: AbsolutePath,
    /// Whether it is no error that there is nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub force: Option<bool>,
    /// Whether directories go with all that is in them; they do if nothing is said.
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
    /// The connection's own name for the watch.
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
    /// The path.
    pub path: AbsolutePath,
    /// The connection's own name for the watch.
    pub watch_id: String,
}

/// Result of `fs/watch`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
pub struct FsWatchResponse {
    /// The path.
    pub path: AbsolutePath,
}

/// Params of `fs/writeFile`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(rename_all = "camelCase")]
pub struct FsWriteFileParams {
    /// The content in base64.
    pub data_base64: String,
    /// The path.
    pub path: AbsolutePath,
}

/// Result of `fs/writeFile`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
pub struct FsWriteFileResponse {}
