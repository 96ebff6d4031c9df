//! Permissions beyond a sandbox policy: for paths, special places and the network.

use std::num::NonZeroU64;

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
#[cfg(feature = "schema")]
use ts_rs::TS;

/// Permissions for files beyond the sandbox of a command.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
#[serde(rename_all = "camelCase")]
pub struct AdditionalFileSystemPermissions {
    /// Access modes of paths.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub entries: Option<Vec<FileSystemSandboxEntry>>,
    /// Greatest depth to which a glob pattern is searched.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub glob_scan_max_depth: Option<NonZeroU64>,
    /// Paths that may be read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read: Option<Vec<String>>,
    /// Paths that may be written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub write: Option<Vec<String>>,
}

/// Permissions for the network beyond the sandbox of a command.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
pub struct AdditionalNetworkPermissions {
    /// Whether the network may be used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub enabled: Option<bool>,
}

/// Permissions that a command requests beyond its sandbox.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
#[serde(rename_all = "camelCase")]
pub struct AdditionalPermissionProfile {
    /// Permissions for files.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file_system: Option<AdditionalFileSystemPermissions>,
    /// Permissions for the network.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub network: Option<AdditionalNetworkPermissions>,
}

/// Access mode of a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(rename_all = "camelCase")]
pub enum FileSystemAccessMode {
    /// The path may be read.
    Read,
    /// The path may be read and written.
    Write,
    /// The path may not be accessed.
    Deny,
}

/// The paths that a permission applies to.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum FileSystemPath {
    /// A path and everything below it.
    Path {
        /// The path.
        path: String,
    },
    /// The paths that match a glob pattern.
    GlobPattern {
        /// The pattern.
        pattern: String,
    },
    /// A special place, whose path depends on the machine.
    Special {
        /// The special place.
        value: FileSystemSpecialPath,
    },
}

/// The access mode of a path.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
pub struct FileSystemSandboxEntry {
    /// The access mode.
    pub access: FileSystemAccessMode,
    /// The path that the mode applies to.
    pub path: FileSystemPath,
}

/// A special place, whose path depends on the machine.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum FileSystemSpecialPath {
    /// The root of the file system.
    Root,
    /// The minimal set of paths that programs need to run.
    Minimal,
    /// The directories of the project.
    ProjectRoots {
        /// A path below each directory, if only that is meant.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        subpath: Option<String>,
    },
    /// The directory for temporary files that the environment variable `TMPDIR` names.
    Tmpdir,
    /// The directory `/tmp`.
    SlashTmp,
    /// A place that this version does not know.
    Unknown {
        /// The unknown path.
        path: String,
        /// A path below it, if only that is meant.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        subpath: Option<String>,
    },
}

/// The permissions that the user granted.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
#[serde(rename_all = "camelCase")]
pub struct GrantedPermissionProfile {
    /// Permissions for files.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file_system: Option<AdditionalFileSystemPermissions>,
    /// Permissions for the network.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub network: Option<AdditionalNetworkPermissions>,
}

/// The connection that is to be approved.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
pub struct NetworkApprovalContext {
    /// The host.
    pub host: String,
    /// The protocol.
    pub protocol: NetworkApprovalProtocol,
}

/// The protocol of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(rename_all = "camelCase")]
pub enum NetworkApprovalProtocol {
    /// HTTP.
    Http,
    /// HTTPS.
    Https,
    /// SOCKS 5 over TCP.
    Socks5Tcp,
    /// SOCKS 5 over UDP.
    Socks5Udp,
}

/// A rule about a host.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
pub struct NetworkPolicyAmendment {
    /// The effect of the rule.
    pub action: NetworkPolicyRuleAction,
    /// The host.
    pub host: String,
}

/// The effect of a rule about a host.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(rename_all = "camelCase")]
pub enum NetworkPolicyRuleAction {
    /// Connections are allowed.
    Allow,
    /// Connections are refused.
    Deny,
}

/// How long a permission lasts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(rename_all = "camelCase")]
pub enum PermissionGrantScope {
    /// Until the end of the turn.
    #[default]
    Turn,
    /// For the lifetime of the thread.
    Session,
}

/// Permissions that the model requests.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
#[serde(rename_all = "camelCase")]
pub struct RequestPermissionProfile {
    /// Permissions for files.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file_system: Option<AdditionalFileSystemPermissions>,
    /// Permissions for the network.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub network: Option<AdditionalNetworkPermissions>,
}
