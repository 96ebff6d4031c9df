//! Models and model providers on offer.

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
#[cfg(feature = "schema")]
use ts_rs::TS;

use crate::settings::{CyberAccessProgram, MultiAgentVersion};

/// How the server proves to a gateway who it is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
#[serde(tag = "mode", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum GatewayAuth {
    /// Nothing.
    None,
    /// A key in an environment variable.
    EnvironmentVariable {
        /// The name of the environment variable.
        env_key: String,
    },
    /// Something set up elsewhere.
    ExternallyConfigured {
        /// The name of the environment variable.
        #[serde(default)]
        env_key: Option<String>,
    },
}

/// A kind of input that a model takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(rename_all = "camelCase")]
pub enum InputModality {
    /// Texts.
    Text,
    /// Pictures.
    Image,
    /// Recordings.
    Audio,
}

/// A model that can be chosen.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
#[serde(rename_all = "camelCase")]
pub struct Model {
    /// The id.
    pub id: String,
    /// The effort that is used when nobody says anything.
    pub default_reasoning_effort: String,
    /// What it is good for.
    pub description: String,
    /// The name, for people.
    pub display_name: String,
    /// Whether clients leave it out of their lists.
    pub hidden: bool,
    /// Whether it is used when nobody says anything.
    pub is_default: bool,
    /// The model.
    pub model: String,
    /// The efforts on offer.
    pub supported_reasoning_efforts: Vec<ReasoningEffortOption>,
    /// Names of service levels, in the older form.
    #[serde(default)]
    #[cfg_attr(feature = "schema", ts(as = "Option<_>", optional = nullable))]
    pub additional_speed_tiers: Vec<String>,
    /// What is told to somebody who sees the model for the first time.
    #[serde(default)]
    pub availability_nux: Option<ModelAvailabilityNux>,
    /// The programs that it can be used under.
    #[serde(default)]
    pub available_access_programs: Option<ModelAccessPrograms>,
    /// The service level that is used when nobody says anything.
    #[serde(default)]
    pub default_service_tier: Option<String>,
    /// What it takes.
    #[serde(default = "default_input_modalities")]
    #[cfg_attr(feature = "schema", ts(as = "Option<_>", optional = nullable))]
    pub input_modalities: Vec<InputModality>,
    /// What it is made for.
    #[serde(default)]
    pub model_specialty: Option<String>,
    /// The generation of collaboration tools that it knows.
    #[serde(default)]
    pub multi_agent_version: Option<MultiAgentVersion>,
    /// The levels of service on offer.
    #[serde(default)]
    #[cfg_attr(feature = "schema", ts(as = "Option<_>", optional = nullable))]
    pub service_tiers: Vec<ModelServiceTier>,
    /// Whether its tone can be chosen.
    #[serde(default)]
    #[cfg_attr(feature = "schema", ts(as = "Option<_>", optional = nullable))]
    pub supports_personality: bool,
    /// The model that should be used instead.
    #[serde(default)]
    pub upgrade: Option<String>,
    /// The model that should be used instead, and why.
    #[serde(default)]
    pub upgrade_info: Option<ModelUpgradeInfo>,
}

/// The programs that a model can be used under.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
pub struct ModelAccessPrograms {
    /// The programs for work on security.
    pub cyber: Vec<CyberAccessProgram>,
}

/// What is told to somebody who sees a model for the first time.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
pub struct ModelAvailabilityNux {
    /// What there is to say.
    pub message: String,
}

/// Params of `model/list`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
#[serde(rename_all = "camelCase")]
pub struct ModelListParams {
    /// Where to go on: the cursor that a page before gave.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cursor: Option<String>,
    /// Whether hidden ones are wanted too.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub include_hidden: Option<bool>,
    /// The most that a page holds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<u32>,
    /// The model provider.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model_provider: Option<String>,
}

/// Result of `model/list`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
#[serde(rename_all = "camelCase")]
pub struct ModelListResponse {
    /// What was asked for, page by page where there are pages.
    pub data: Vec<Model>,
    /// Where the next page begins; `null` on the last one.
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
    /// Whether it can make pictures.
    pub image_generation: bool,
    /// Whether it can search the web.
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
    /// Whether another provider can be made the default.
    pub can_change_default: bool,
    /// What was asked for, page by page where there are pages.
    pub data: Vec<ModelProviderSummary>,
    /// The provider that is used when nobody says anything.
    pub default_provider_id: String,
}

/// A model provider of the configuration.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
#[serde(rename_all = "camelCase")]
pub struct ModelProviderSummary {
    /// The id.
    pub id: String,
    /// Whether it can be changed.
    pub can_edit: bool,
    /// The name.
    pub name: String,
    /// What it sets.
    pub settings: ProviderSettings,
    /// The address of the provider.
    #[serde(default)]
    pub base_url: Option<String>,
}

/// A level of service at which a model can be used.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
pub struct ModelServiceTier {
    /// The id.
    pub id: String,
    /// What it is, for people.
    pub description: String,
    /// The name.
    pub name: String,
}

/// The model that should be used instead.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
#[serde(rename_all = "camelCase")]
pub struct ModelUpgradeInfo {
    /// The model.
    pub model: String,
    /// How to change over, in Markdown.
    #[serde(default)]
    pub migration_markdown: Option<String>,
    /// Where to read about it.
    #[serde(default)]
    pub model_link: Option<String>,
    /// When the old model goes, in Unix seconds.
    #[serde(default)]
    pub retirement_at: Option<i64>,
    /// What users are told about it.
    #[serde(default)]
    pub upgrade_copy: Option<String>,
}

/// What a model provider is made of.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum ProviderSettings {
    /// OpenAI.
    Openai,
    /// A gateway of the user's own.
    CustomGateway {
        /// How the server proves who it is.
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
        /// The file with the credentials.
        #[serde(default)]
        credential_file: Option<String>,
        /// The region.
        #[serde(default)]
        location: Option<String>,
        /// The project at the provider.
        #[serde(default)]
        project_id: Option<String>,
    },
}

/// A reasoning effort on offer.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(rename_all = "camelCase")]
pub struct ReasoningEffortOption {
    /// What it is, for people.
    pub description: String,
    /// How hard the model thinks.
    pub reasoning_effort: String,
}

/// What a model takes if nothing else is said.
fn default_input_modalities() -> Vec<InputModality> {
    vec![InputModality::Text, InputModality::Image]
}
