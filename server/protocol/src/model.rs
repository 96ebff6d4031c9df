//! Models and model providers that can be chosen.

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
#[cfg(feature = "schema")]
use ts_rs::TS;

use crate::settings::{CyberAccessProgram, MultiAgentVersion};

/// How the server authenticates at a gateway.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
#[serde(tag = "mode", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum GatewayAuth {
    /// Not at all.
    None,
    /// With a key from an environment variable.
    EnvironmentVariable {
        /// Name of the environment variable.
        env_key: String,
    },
    /// As configured elsewhere.
    ExternallyConfigured {
        /// Name of the environment variable.
        #[serde(default)]
        env_key: Option<String>,
    },
}

/// A kind of input that a model accepts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(rename_all = "camelCase")]
pub enum InputModality {
    /// Text.
    Text,
    /// Images.
    Image,
    /// Audio recordings.
    Audio,
}

/// A model that can be chosen.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
#[serde(rename_all = "camelCase")]
pub struct Model {
    /// Id of the model.
    pub id: String,
    /// The default reasoning effort.
    pub default_reasoning_effort: String,
    /// What the model is good for.
    pub description: String,
    /// Display name.
    pub display_name: String,
    /// Whether clients leave it out of their lists.
    pub hidden: bool,
    /// Whether it is the default model.
    pub is_default: bool,
    /// Name of the model.
    pub model: String,
    /// The reasoning efforts that can be chosen.
    pub supported_reasoning_efforts: Vec<ReasoningEffortOption>,
    /// Names of service tiers, in the older form.
    #[serde(default)]
    #[cfg_attr(feature = "schema", ts(as = "Option<_>", optional = nullable))]
    pub additional_speed_tiers: Vec<String>,
    /// Message for users who see the model for the first time.
    #[serde(default)]
    pub availability_nux: Option<ModelAvailabilityNux>,
    /// Access programs under which the model can be used.
    #[serde(default)]
    pub available_access_programs: Option<ModelAccessPrograms>,
    /// The default service tier.
    #[serde(default)]
    pub default_service_tier: Option<String>,
    /// Kinds of input that the model accepts.
    #[serde(default = "default_input_modalities")]
    #[cfg_attr(feature = "schema", ts(as = "Option<_>", optional = nullable))]
    pub input_modalities: Vec<InputModality>,
    /// What the model is specialized in.
    #[serde(default)]
    pub model_specialty: Option<String>,
    /// Version of the collaboration tools that the model knows.
    #[serde(default)]
    pub multi_agent_version: Option<MultiAgentVersion>,
    /// The service tiers that can be chosen.
    #[serde(default)]
    #[cfg_attr(feature = "schema", ts(as = "Option<_>", optional = nullable))]
    pub service_tiers: Vec<ModelServiceTier>,
    /// Whether its personality can be chosen.
    #[serde(default)]
    #[cfg_attr(feature = "schema", ts(as = "Option<_>", optional = nullable))]
    pub supports_personality: bool,
    /// The model that should be used instead.
    #[serde(default)]
    pub upgrade: Option<String>,
    /// Details about the model that should be used instead.
    #[serde(default)]
    pub upgrade_info: Option<ModelUpgradeInfo>,
}

/// Access programs under which a model can be used.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
pub struct ModelAccessPrograms {
    /// Access programs for work on security.
    pub cyber: Vec<CyberAccessProgram>,
}

/// Message for users who see a model for the first time.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
pub struct ModelAvailabilityNux {
    /// The message for people.
    pub message: String,
}

/// Params of `model/list`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
#[serde(rename_all = "camelCase")]
pub struct ModelListParams {
    /// Cursor of the previous page (its `nextCursor`). Without it, the list starts at the beginning.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cursor: Option<String>,
    /// Whether hidden models are listed too.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub include_hidden: Option<bool>,
    /// Most entries of a page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<u32>,
    /// Id of the model provider.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model_provider: Option<String>,
}

/// Result of `model/list`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
#[serde(rename_all = "camelCase")]
pub struct ModelListResponse {
    /// The requested entries.
    pub data: Vec<Model>,
    /// Cursor of the next page. `null` on the last page.
    #[serde(default)]
    pub next_cursor: Option<String>,
}

/// Params of `modelProvider/capabilities/read`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
pub struct ModelProviderCapabilitiesReadParams {}

/// Result of `modelProvider/capabilities/read`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(rename_all = "camelCase")]
pub struct ModelProviderCapabilitiesReadResponse {
    /// Whether the provider can generate images.
    pub image_generation: bool,
    /// Whether the provider can search the web.
    pub web_search: bool,
}

/// Params of `modelProvider/list`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
pub struct ModelProviderListParams {}

/// Result of `modelProvider/list`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(rename_all = "camelCase")]
pub struct ModelProviderListResponse {
    /// Whether the default provider can be changed.
    pub can_change_default: bool,
    /// The requested entries.
    pub data: Vec<ModelProviderSummary>,
    /// Id of the default provider.
    pub default_provider_id: String,
}

/// A model provider of the configuration.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
#[serde(rename_all = "camelCase")]
pub struct ModelProviderSummary {
    /// Id of the provider.
    pub id: String,
    /// Whether it can be edited.
    pub can_edit: bool,
    /// Name of the provider.
    pub name: String,
    /// Settings of the provider.
    pub settings: ProviderSettings,
    /// Base URL of the provider.
    #[serde(default)]
    pub base_url: Option<String>,
}

/// A service tier of a model.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
pub struct ModelServiceTier {
    /// Id of the tier.
    pub id: String,
    /// Description for people.
    pub description: String,
    /// Name of the tier.
    pub name: String,
}

/// The model that should be used instead of another one.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
#[serde(rename_all = "camelCase")]
pub struct ModelUpgradeInfo {
    /// Name of the model.
    pub model: String,
    /// How to migrate, in Markdown.
    #[serde(default)]
    pub migration_markdown: Option<String>,
    /// URL of more information.
    #[serde(default)]
    pub model_link: Option<String>,
    /// Time when the old model is retired, in Unix seconds.
    #[serde(default)]
    pub retirement_at: Option<i64>,
    /// Text for users about the upgrade.
    #[serde(default)]
    pub upgrade_copy: Option<String>,
}

/// Settings of a model provider.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum ProviderSettings {
    /// OpenAI.
    Openai,
    /// A custom gateway.
    CustomGateway {
        /// How the server authenticates.
        auth: GatewayAuth,
    },
    /// Amazon Bedrock.
    Bedrock {
        /// The profile.
        #[serde(default)]
        profile: Option<String>,
        /// The region.
        #[serde(default)]
        region: Option<String>,
    },
    /// Google Cloud.
    Gcp {
        /// File with the credentials.
        #[serde(default)]
        credential_file: Option<String>,
        /// The region.
        #[serde(default)]
        location: Option<String>,
        /// Id of the project.
        #[serde(default)]
        project_id: Option<String>,
    },
}

/// A reasoning effort that can be chosen.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(rename_all = "camelCase")]
pub struct ReasoningEffortOption {
    /// Description for people.
    pub description: String,
    /// The reasoning effort.
    pub reasoning_effort: String,
}

/// Returns the input that a model accepts if its description does not say so.
fn default_input_modalities() -> Vec<InputModality> {
    vec![InputModality::Text, InputModality::Image]
}
