//! Serves the configuration: the effective values, the layer of each value, and changes of the user's file.

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

/// Serves `config/*`.
#[derive(Debug, Clone)]
pub struct ConfigService {
    store: Arc<ConfigStore>,
}

impl ConfigService {
    /// Creates the service.
    #[must_use]
    pub fn new(store: Arc<ConfigStore>) -> Self {
        Self { store }
    }

    /// Returns the current configuration, or the last valid one if the file is invalid now.
    pub async fn current(&self) -> Arc<Config> {
        let store = Arc::clone(&self.store);
        let read = tokio::task::spawn_blocking(move || store.current()).await;
        match read {
            Ok(Ok(config)) => config,
            Ok(Err(error)) => {
                tracing::warn!(%error, "the configuration is invalid; the last valid one stays in use");
                self.store.last_good()
            }
            Err(_) => self.store.last_good(),
        }
    }

    /// Returns the effective configuration, and the layer of each key.
    ///
    /// # Errors
    ///
    /// Returns an error if the file is invalid.
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

    /// Sets one key of the user's file.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`ConfigStore::write`].
    pub async fn write_value(&self, params: ConfigValueWriteParams) -> Result<ConfigWriteResponse, RpcError> {
        let ConfigValueWriteParams { key_path, merge_strategy, value, expected_version, file_path } = params;
        let edit = ConfigEdit { key_path, merge_strategy, value };
        self.write(vec![edit], expected_version, file_path).await
    }

    /// Sets several keys of the user's file: either all of them, or none.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`ConfigStore::write`].
    pub async fn write_batch(&self, params: ConfigBatchWriteParams) -> Result<ConfigWriteResponse, RpcError> {
        // The server reads the settings anew for each thread, so nothing has to be reloaded.
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

    /// Returns the warnings that a client gets when it connects.
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

/// Converts an edit.
fn edit_of(ConfigEdit { key_path, merge_strategy, value }: ConfigEdit) -> Edit {
    let merge = match merge_strategy {
        MergeStrategy::Replace => Merge::Replace,
        MergeStrategy::Upsert => Merge::Upsert,
    };
    Edit { key: key_path, value, merge }
}

/// Returns the error that clients get for a refused change. Its data contain a code for programs.
fn refusal(error: &ConfigError) -> RpcError {
    let code = match error {
        ConfigError::Read { .. } | ConfigError::Write { .. } => return RpcError::internal(error),
        ConfigError::Conflict { .. } => "configVersionConflict",
        ConfigError::OtherFile { .. } => "configLayerReadonly",
        ConfigError::TooLarge { .. }
        | ConfigError::File { .. }
        | ConfigError::Override { .. }
        | ConfigError::ProfileName { .. }
        | ConfigError::Key { .. }
        | ConfigError::Parent { .. }
        | ConfigError::Value { .. }
        | ConfigError::Invalid { .. } => "configValidationError",
    };
    RpcError::invalid_request(error).with_data(json!({ "config_write_error_code": code }))
}

/// Returns the source of a layer in the terms of the protocol.
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
        message: format!("`{key}` is overridden by an option that the server was started with"),
        overriding_layer: ConfigLayerMetadata { name: source(&layer)?, version },
    })
}
