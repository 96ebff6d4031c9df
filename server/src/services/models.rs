//! Lists the models and providers of the configuration.

use trace_protocol::RpcError;
use trace_protocol::model::{
    GatewayAuth, InputModality, Model, ModelListParams, ModelListResponse, ModelProviderCapabilitiesReadResponse,
    ModelProviderListResponse, ModelProviderSummary, ProviderSettings, ReasoningEffortOption,
};
use trace_runtime::provider::config::KeySource;

use super::page::page;
use crate::config::{CatalogModel, Config, DEFAULT_PROVIDER};

/// Reasoning efforts of a model whose own efforts are not known.
pub const USUAL_EFFORTS: &[&str] = &["low", "medium", "high"];
/// Default reasoning effort of a model whose own default is not known.
pub const USUAL_EFFORT: &str = "medium";

/// Lists models and providers.
#[derive(Debug, Default)]
pub struct ModelService;

impl ModelService {
    /// Returns the models. The configured model is the first.
    ///
    /// # Errors
    ///
    /// Returns an error if the cursor is invalid.
    pub fn list(&self, config: &Config, params: &ModelListParams) -> Result<ModelListResponse, RpcError> {
        let provider_of = |model: &CatalogModel| model.provider.clone().unwrap_or_else(|| config.provider.clone());
        let configured = config.models.iter().find(|model| model.id == config.model);
        let configured = configured.cloned().unwrap_or_else(|| CatalogModel::named(config.model.as_str()));
        let others = config.models.iter().filter(|model| model.id != config.model).cloned();
        let wanted = params.model_provider.as_deref();
        let models = std::iter::once(configured)
            .chain(others)
            .filter(|model| !model.hidden || model.id == config.model || params.include_hidden == Some(true))
            .filter(|model| wanted.is_none_or(|wanted| provider_of(model) == wanted))
            .map(|model| described(model, config))
            .collect();
        let (data, next_cursor) = page(models, params.cursor.as_deref(), params.limit)?;
        Ok(ModelListResponse { data, next_cursor })
    }

    /// Returns the providers.
    #[must_use]
    pub fn providers(&self, config: &Config) -> ModelProviderListResponse {
        ModelProviderListResponse {
            can_change_default: true,
            data: config.provider_names().into_iter().map(|id| summary(id, config)).collect(),
            default_provider_id: config.provider.clone(),
        }
    }

    /// Returns the capabilities of providers in addition to inference. The server uses none of them.
    #[must_use]
    pub fn capabilities(&self) -> ModelProviderCapabilitiesReadResponse {
        ModelProviderCapabilitiesReadResponse { image_generation: false, web_search: false }
    }
}

/// Converts a model for clients.
fn described(model: CatalogModel, config: &Config) -> Model {
    let efforts = match model.efforts.is_empty() {
        true => USUAL_EFFORTS.iter().map(|effort| (*effort).to_owned()).collect(),
        false => model.efforts,
    };
    let default_effort = model
        .default_effort
        .or_else(|| efforts.iter().find(|effort| *effort == USUAL_EFFORT).or(efforts.first()).cloned())
        .unwrap_or_default();
    let mut input_modalities = vec![InputModality::Text];
    if model.images {
        input_modalities.push(InputModality::Image);
    }
    Model {
        is_default: model.id == config.model,
        display_name: model.display_name.unwrap_or_else(|| model.id.clone()),
        description: model.description,
        hidden: model.hidden,
        default_reasoning_effort: default_effort,
        supported_reasoning_efforts: efforts
            .into_iter()
            .map(|reasoning_effort| ReasoningEffortOption { description: String::new(), reasoning_effort })
            .collect(),
        input_modalities,
        model: model.id.clone(),
        id: model.id,
        ..Model::default()
    }
}

/// Converts a provider for clients. The result contains no keys, but the names of the variables that hold them.
fn summary(id: &str, config: &Config) -> ModelProviderSummary {
    let described = config.providers.get(id);
    let auth = match described.map(|provider| &provider.key) {
        Some(KeySource::Variable { name, .. }) => GatewayAuth::EnvironmentVariable { env_key: name.clone() },
        Some(KeySource::VariableIfSet { name }) => GatewayAuth::ExternallyConfigured { env_key: Some(name.clone()) },
        Some(KeySource::Clients | KeySource::Command { .. }) => GatewayAuth::ExternallyConfigured { env_key: None },
        Some(KeySource::Nowhere) | None => GatewayAuth::None,
    };
    let is_openai = id == DEFAULT_PROVIDER;
    ModelProviderSummary {
        id: id.to_owned(),
        can_edit: false,
        name: match described {
            Some(provider) => provider.name.clone(),
            None if is_openai => "OpenAI".to_owned(),
            None => id.to_owned(),
        },
        settings: match is_openai && described.is_none() {
            true => ProviderSettings::Openai,
            false => ProviderSettings::CustomGateway { auth },
        },
        base_url: match described {
            Some(provider) => Some(provider.base_url.to_string()),
            None => config.openai_base_url.clone().filter(|_| is_openai),
        },
    }
}
