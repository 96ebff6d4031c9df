//! The configuration: read with the places it comes from, written key by key.
//!
//! The settings themselves are free JSON here; the server knows which there are.

use std::collections::BTreeMap;

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
#[cfg(feature = "schema")]
use ts_rs::TS;

use crate::common::{AbsolutePath, JsonObject};

/// Params of `config/batchWrite`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
#[serde(rename_all = "camelCase")]
pub struct ConfigBatchWriteParams {
    /// The changes, in order.
    pub edits: Vec<ConfigEdit>,
    /// The version of the file that the client knows; another one is refused.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expected_version: Option<String>,
    /// The file to write; the user's own if nothing is said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file_path: Option<String>,
    /// Whether running threads take the new settings.
    #[serde(default, deserialize_with = "crate::common::null_is_default")]
    #[cfg_attr(feature = "schema", ts(as = "Option<_>", optional = nullable))]
    pub reload_user_config: bool,
}

/// One change of the configuration.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(rename_all = "camelCase")]
pub struct ConfigEdit {
    /// The dotted key.
    pub key_path: String,
    /// What becomes of a value that is there already.
    pub merge_strategy: MergeStrategy,
    /// The value.
    pub value: Value,
}

/// One of the files and other places that the configuration comes from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
#[serde(rename_all = "camelCase")]
pub struct ConfigLayer {
    /// The settings.
    pub config: Value,
    /// The name.
    pub name: ConfigLayerSource,
    /// The version.
    pub version: String,
    /// Why it does not count.
    #[serde(default)]
    pub disabled_reason: Option<String>,
}

/// Which place a setting comes from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
pub struct ConfigLayerMetadata {
    /// The name.
    pub name: ConfigLayerSource,
    /// The version.
    pub version: String,
}

/// A place that settings come from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum ConfigLayerSource {
    /// What the program comes with.
    PackagedDefaults {
        /// The file.
        file: AbsolutePath,
    },
    /// Managed by the device.
    Mdm {
        /// The domain of the setting.
        domain: String,
        /// The key.
        key: String,
    },
    /// The machine's file.
    System {
        /// The file.
        file: AbsolutePath,
    },
    /// Managed by an organisation.
    EnterpriseManaged {
        /// The id.
        id: String,
        /// The name.
        name: String,
    },
    /// The user's file.
    User {
        /// The file.
        file: AbsolutePath,
        /// The profile.
        #[serde(default)]
        profile: Option<String>,
    },
    /// The project's directory.
    Project {
        /// The directory of settings in the project.
        dot_codex_folder: AbsolutePath,
    },
    /// What this run was started with.
    SessionFlags,
    /// A managed file of the older form.
    LegacyManagedConfigTomlFromFile {
        /// The file.
        file: AbsolutePath,
    },
    /// Managed by the device, in the older form.
    LegacyManagedConfigTomlFromMdm,
}

/// Params of `config/read`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
#[serde(rename_all = "camelCase")]
pub struct ConfigReadParams {
    /// The directory whose settings count.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    /// Whether the places that settings come from are wanted too.
    #[serde(default, deserialize_with = "crate::common::null_is_default")]
    #[cfg_attr(feature = "schema", ts(as = "Option<_>", optional = nullable))]
    pub include_layers: bool,
}

/// Result of `config/read`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
pub struct ConfigReadResponse {
    /// The settings in force.
    pub config: JsonObject,
    /// Which place a setting comes from, by its dotted key.
    pub origins: BTreeMap<String, ConfigLayerMetadata>,
    /// The places that settings come from, the weakest last; `null` unless they were asked for.
    #[serde(default)]
    pub layers: Option<Vec<ConfigLayer>>,
}

/// Result of `configRequirements/read`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
#[serde(rename_all = "camelCase")]
pub struct ConfigRequirementsReadResponse {
    /// What an organisation demands; `null` for nothing.
    #[serde(default)]
    pub requirements: Option<Value>,
    /// Whether speed and effort can be chosen apart.
    #[serde(default)]
    pub supports_independent_speed_modes: Option<bool>,
}

/// Params of `config/value/write`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
#[serde(rename_all = "camelCase")]
pub struct ConfigValueWriteParams {
    /// The dotted key.
    pub key_path: String,
    /// What becomes of a value that is there already.
    pub merge_strategy: MergeStrategy,
    /// The value.
    pub value: Value,
    /// The version of the file that the client knows; another one is refused.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expected_version: Option<String>,
    /// The file to write; the user's own if nothing is said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file_path: Option<String>,
}

/// Result of `config/value/write` and `config/batchWrite`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
#[serde(rename_all = "camelCase")]
pub struct ConfigWriteResponse {
    /// The file that was written.
    pub file_path: AbsolutePath,
    /// How far it is, or what became of it.
    pub status: WriteStatus,
    /// The version.
    pub version: String,
    /// The place that wins over what was written.
    #[serde(default)]
    pub overridden_metadata: Option<OverriddenMetadata>,
}

/// What becomes of a value that is there already.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(rename_all = "camelCase")]
pub enum MergeStrategy {
    /// The new value takes its place.
    Replace,
    /// The new value is merged into it.
    Upsert,
}

/// The place whose setting wins over one just written.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(rename_all = "camelCase")]
pub struct OverriddenMetadata {
    /// The value that counts.
    pub effective_value: Value,
    /// What there is to say.
    pub message: String,
    /// The place.
    pub overriding_layer: ConfigLayerMetadata,
}

/// Whether a written setting counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(rename_all = "camelCase")]
pub enum WriteStatus {
    /// It does.
    Ok,
    /// It is written, but another place wins.
    OkOverridden,
}
