//! The configuration, for clients: what is in force, where it comes from, and changes of the user's file.

use std::path::PathBuf;
use std::sync::Arc;

use serde_json::json;
use trace_protocol::RpcError;
use trace_protocol::common::AbsolutePath;
use trace_protocol::config::{
    ConfigBatchWriteParams, ConfigEdit, ConfigLayer, ConfigLayerMetadata, ConfigLayerSource, ConfigReadParams,
    ConfigReadResponse, ConfigValueWriteParams, ConfigWriteResponse, MergeStrategy, OverriddenMetadata, WriteStatus,
};
use trace_protocol::notification::ConfigWarningNotification;

use crate::config::{Config, ConfigError, ConfigStore, Edit, Layer, LayerName, Merge, Overridden};

/// Reads and changes the configuration.
#[derive(Debug, Clone)]
pub struct ConfigService {
    store: Arc<ConfigStore>,
}

impl ConfigService {
    /// Returns the service of a configuration.
    #[must_use]
    pub fn new(store: Arc<ConfigStore>) -> Self {
        Self { store }
    }

    /// Returns the configuration as it is, or as it was before somebody broke its file.
    pub async fn current(&self) -> Arc<Config> {
        let store = Arc::clone(&self.store);
        let read = tokio::task::spawn_blocking(move || store.current()).await;
        match read {
            Ok(Ok(config)) => config,
            Ok(Err(error)) => {
                tracing::warn!(%error, "the configuration is broken; what was read before stays in force");
                self.store.last_good()
            }
            Err(_) => self.store.last_good(),
        }
    }

    /// Returns what is in force, and where each key comes from.
    ///
    /// # Errors
    ///
    /// The file is broken now.
    pub async fn read(&self, params: &ConfigReadParams) -> Result<ConfigReadResponse, RpcError> {
        let store = Arc::clone(&self.store);
        let config = tokio::task::spawn_blocking(move || store.current()).await.map_err(RpcError::internal)?;
        let config = config.map_err(RpcError::internal)?;
        let origins = config.origins().into_iter().map(|(key, layer)| Ok((key, metadata(layer)?)));
        let layers = config.layers().iter().rev().map(|layer| {
            let ConfigLayerMetadata { name, version } = metadata(layer)?;
            Ok(ConfigLayer { config: layer.to_json(), name, version, disabled_reason: None })
        });
        Ok(ConfigReadResponse {
            config: config.to_json(),
            origins: origins.collect::<Result<_, RpcError>>()?,
            layers: match params.include_layers {
                true => Some(layers.collect::<Result<_, RpcError>>()?),
                false => None,
            },
        })
    }

    /// Changes one key of the user's file.
    ///
    /// # Errors
    ///
    /// See [`ConfigStore::write`].
    pub async fn write_value(&self, params: ConfigValueWriteParams) -> Result<ConfigWriteResponse, RpcError> {
        let ConfigValueWriteParams { key_path, merge_strategy, value, expected_version, file_path } = params;
        let edit = ConfigEdit { key_path, merge_strategy, value };
        self.write(vec![edit], expected_version, file_path).await
    }

    /// Changes some keys of the user's file, or none if one of them cannot be changed.
    ///
    /// # Errors
    ///
    /// See [`ConfigStore::write`].
    pub async fn write_batch(&self, params: ConfigBatchWriteParams) -> Result<ConfigWriteResponse, RpcError> {
        // Settings are read anew for each thread, so there is nothing to reload.
        self.write(params.edits, params.expected_version, params.file_path).await
    }

    async fn write(
        &self,
        edits: Vec<ConfigEdit>,
        expected: Option<String>,
        file: Option<String>,
    ) -> Result<ConfigWriteResponse, RpcError> {
        let edits: Vec<Edit> = edits.into_iter().map(edit_of).collect();
        let store = Arc::clone(&self.store);
        let file = file.map(PathBuf::from);
        let written = tokio::task::spawn_blocking(move || store.write(&edits, expected.as_deref(), file.as_deref()))
            .await
            .map_err(RpcError::internal)?
            .map_err(|error| refusal(&error))?;
        let overridden_metadata = written.overridden.map(overridden_metadata).transpose()?;
        Ok(ConfigWriteResponse {
            file_path: AbsolutePath::try_from(written.file.as_path()).map_err(RpcError::internal)?,
            status: if overridden_metadata.is_some() { WriteStatus::OkOverridden } else { WriteStatus::Ok },
            version: written.version,
            overridden_metadata,
        })
    }

    /// Returns what a client should hear about the configuration when it connects.
    #[must_use]
    pub fn warnings(&self) -> Vec<ConfigWarningNotification> {
        let config = self.store.last_good();
        if config.warnings.is_empty() {
            return Vec::new();
        }
        let path = self.store.file().to_string_lossy().into_owned();
        vec![ConfigWarningNotification {
            summary: format!("Some settings in {path} have no effect: {}", config.warnings.join("; ")),
            details: None,
            path: Some(path),
            range: None,
        }]
    }
}

/// Returns a change as the configuration takes it.
fn edit_of(ConfigEdit { key_path, merge_strategy, value }: ConfigEdit) -> Edit {
    let merge = match merge_strategy {
        MergeStrategy::Replace => Merge::Replace,
        MergeStrategy::Upsert => Merge::Upsert,
    };
    Edit { key: key_path, value, merge }
}

/// Returns why a change is refused, in a way that programs understand.
fn refusal(error: &ConfigError) -> RpcError {
    let code = match error {
        ConfigError::Read { .. } | ConfigError::Write { .. } => return RpcError::internal(error),
        ConfigError::Conflict { .. } => "configVersionConflict",
        ConfigError::OtherFile { .. } => "configLayerReadonly",
        ConfigError::TooLarge { .. }
        | ConfigError::File { .. }
        | ConfigError::Override { .. }
        | ConfigError::Key { .. }
        | ConfigError::Parent { .. }
        | ConfigError::Value { .. }
        | ConfigError::Invalid { .. } => "configValidationError",
    };
    RpcError::invalid_request(error).with_data(json!({ "config_write_error_code": code }))
}

/// Returns a layer as messages name it.
fn source(name: &LayerName) -> Result<ConfigLayerSource, RpcError> {
    Ok(match name {
        LayerName::User { file } => ConfigLayerSource::User {
            file: AbsolutePath::try_from(file.as_path()).map_err(RpcError::internal)?,
            profile: None,
        },
        LayerName::Flags => ConfigLayerSource::SessionFlags,
    })
}

fn metadata(layer: &Layer) -> Result<ConfigLayerMetadata, RpcError> {
    Ok(ConfigLayerMetadata { name: source(&layer.name)?, version: layer.version.clone() })
}

fn overridden_metadata(overridden: Overridden) -> Result<OverriddenMetadata, RpcError> {
    let Overridden { key, layer, version, value } = overridden;
    Ok(OverriddenMetadata {
        effective_value: value,
        message: format!("`{key}` is also set where the server was started, and that counts"),
        overriding_layer: ConfigLayerMetadata { name: source(&layer)?, version },
    })
}
