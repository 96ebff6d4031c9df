//! The configuration: reading it with the layers that it comes from, and writing single keys.
//!
//! The settings themselves are free JSON in this crate. The server knows which of them exist.

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
    /// Version of the file that the client knows. The write is refused if the file has another one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expected_version: Option<String>,
    /// The file to write. Without it, the user's own file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file_path: Option<String>,
    /// Whether running threads use the new settings.
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
    /// How the value is combined with an existing one.
    pub merge_strategy: MergeStrategy,
    /// The new value.
    pub value: Value,
}

/// One of the layers that make up the configuration.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
#[serde(rename_all = "camelCase")]
pub struct ConfigLayer {
    /// The settings.
    pub config: Value,
    /// Source of the layer.
    pub name: ConfigLayerSource,
    /// Version of the layer, for `expectedVersion`.
    pub version: String,
    /// Why the layer is disabled. `null` if it is not.
    #[serde(default)]
    pub disabled_reason: Option<String>,
}

/// The layer that a setting comes from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
pub struct ConfigLayerMetadata {
    /// Source of the layer.
    pub name: ConfigLayerSource,
    /// Version of the layer.
    pub version: String,
}

/// A source of settings.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum ConfigLayerSource {
    /// Defaults of the program.
    PackagedDefaults {
        /// The file.
        file: AbsolutePath,
    },
    /// Managed by the device (MDM).
    Mdm {
        /// Domain of the setting.
        domain: String,
        /// The key.
        key: String,
    },
    /// The file of the machine.
    System {
        /// The file.
        file: AbsolutePath,
    },
    /// Managed by an organization.
    EnterpriseManaged {
        /// Id of the layer.
        id: String,
        /// Name of the layer.
        name: String,
    },
    /// The file of the user.
    User {
        /// The file.
        file: AbsolutePath,
        /// Name of the profile.
        #[serde(default)]
        profile: Option<String>,
    },
    /// The settings directory of a project.
    Project {
        /// The settings directory in the project.
        dot_codex_folder: AbsolutePath,
    },
    /// Command line flags of this session.
    SessionFlags,
    /// A managed file in the older form.
    LegacyManagedConfigTomlFromFile {
        /// The file.
        file: AbsolutePath,
    },
    /// Managed by the device (MDM), in the older form.
    LegacyManagedConfigTomlFromMdm,
}

/// Params of `config/read`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
#[serde(rename_all = "camelCase")]
pub struct ConfigReadParams {
    /// The directory whose project settings apply.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    /// Whether the response contains the layers.
    #[serde(default, deserialize_with = "crate::common::null_is_default")]
    #[cfg_attr(feature = "schema", ts(as = "Option<_>", optional = nullable))]
    pub include_layers: bool,
}

/// Result of `config/read`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
pub struct ConfigReadResponse {
    /// The effective settings.
    pub config: JsonObject,
    /// The layer of each setting, by dotted key.
    pub origins: BTreeMap<String, ConfigLayerMetadata>,
    /// The layers, strongest first. `null` if they were not requested.
    #[serde(default)]
    pub layers: Option<Vec<ConfigLayer>>,
}

/// Result of `configRequirements/read`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
#[serde(rename_all = "camelCase")]
pub struct ConfigRequirementsReadResponse {
    /// Requirements of an organization. `null` if there are none.
    #[serde(default)]
    pub requirements: Option<Value>,
    /// Whether speed and reasoning effort can be chosen independently.
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
    /// How the value is combined with an existing one.
    pub merge_strategy: MergeStrategy,
    /// The new value.
    pub value: Value,
    /// Version of the file that the client knows. The write is refused if the file has another one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expected_version: Option<String>,
    /// The file to write. Without it, the user's own file.
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
    /// Whether the written setting is effective.
    pub status: WriteStatus,
    /// Version of the file after the write.
    pub version: String,
    /// The layer that overrides the written setting. `null` if none does.
    #[serde(default)]
    pub overridden_metadata: Option<OverriddenMetadata>,
}

/// How a written value is combined with an existing one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(rename_all = "camelCase")]
pub enum MergeStrategy {
    /// The new value replaces the old one.
    Replace,
    /// The new value is merged into the old one.
    Upsert,
}

/// The layer that overrides a written setting.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(rename_all = "camelCase")]
pub struct OverriddenMetadata {
    /// The effective value.
    pub effective_value: Value,
    /// The message for people.
    pub message: String,
    /// The layer.
    pub overriding_layer: ConfigLayerMetadata,
}

/// Whether a written setting is effective.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(rename_all = "camelCase")]
pub enum WriteStatus {
    /// It is effective.
    Ok,
    /// It was written, but another layer overrides it.
    OkOverridden,
}
