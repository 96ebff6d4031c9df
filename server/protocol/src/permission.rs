//! Permissions beyond a sandbox policy: paths, special places and the network.

use std::num::NonZeroU64;

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
#[cfg(feature = "schema")]
use ts_rs::TS;

/// What a command may do with files beyond its sandbox.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
#[serde(rename_all = "camelCase")]
pub struct AdditionalFileSystemPermissions {
    /// What may be done with which path.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub entries: Option<Vec<FileSystemSandboxEntry>>,
    /// How deep a pattern is looked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub glob_scan_max_depth: Option<NonZeroU64>,
    /// Paths that may be read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read: Option<Vec<String>>,
    /// Paths that may be written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub write: Option<Vec<String>>,
}

/// What a command may do on the network beyond its sandbox.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
pub struct AdditionalNetworkPermissions {
    /// Whether the network may be used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub enabled: Option<bool>,
}

/// Permissions that a command asks for beyond its sandbox.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
#[serde(rename_all = "camelCase")]
pub struct AdditionalPermissionProfile {
    /// What may be done with files.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file_system: Option<AdditionalFileSystemPermissions>,
    /// What may be done on the network.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub network: Option<AdditionalNetworkPermissions>,
}

/// What may be done with a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(rename_all = "camelCase")]
pub enum FileSystemAccessMode {
    /// Reading.
    Read,
    /// Reading and writing.
    Write,
    /// Nothing.
    Deny,
}

/// What a permission is about.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum FileSystemPath {
    /// A path and all below it.
    Path {
        /// The path.
        path: String,
    },
    /// The paths that match a pattern.
    GlobPattern {
        /// The pattern.
        pattern: String,
    },
    /// A place whose path depends on the machine.
    Special {
        /// The place.
        value: FileSystemSpecialPath,
    },
}

/// What may be done with which path.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
pub struct FileSystemSandboxEntry {
    /// What may be done with it.
    pub access: FileSystemAccessMode,
    /// The path.
    pub path: FileSystemPath,
}

/// A place whose path depends on the machine.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum FileSystemSpecialPath {
    /// The root of the file system.
    Root,
    /// What programs need to run at all.
    Minimal,
    /// The directories of the project.
    ProjectRoots {
        /// A path below it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        subpath: Option<String>,
    },
    /// The directory for temporary files that the environment names.
    Tmpdir,
    /// The directory `/tmp`.
    SlashTmp,
    /// A place that this version does not know.
    Unknown {
        /// The path.
        path: String,
        /// A path below it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        subpath: Option<String>,
    },
}

/// The permissions that the user granted.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
#[serde(rename_all = "camelCase")]
pub struct GrantedPermissionProfile {
    /// What may be done with files.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file_system: Option<AdditionalFileSystemPermissions>,
    /// What may be done on the network.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub network: Option<AdditionalNetworkPermissions>,
}

/// Which connection is to be approved.
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
    /// What the rule does.
    pub action: NetworkPolicyRuleAction,
    /// The host.
    pub host: String,
}

/// What a rule about a host does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(rename_all = "camelCase")]
pub enum NetworkPolicyRuleAction {
    /// Connections are made.
    Allow,
    /// Connections are refused.
    Deny,
}

/// For how long a permission is granted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(rename_all = "camelCase")]
pub enum PermissionGrantScope {
    /// For this turn.
    #[default]
    Turn,
    /// For this thread's life.
    Session,
}

/// Permissions that the model asks for.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
#[serde(rename_all = "camelCase")]
pub struct RequestPermissionProfile {
    /// What may be done with files.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file_system: Option<AdditionalFileSystemPermissions>,
    /// What may be done on the network.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub network: Option<AdditionalNetworkPermissions>,
}
