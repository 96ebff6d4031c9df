//! Models that the configuration adds to the catalogue.

use serde::{Deserialize, Serialize};

/// A model that clients can choose.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CatalogModel {
    /// The model's name at the provider.
    pub id: String,
    /// The name that users see, if it differs from the id.
    pub display_name: Option<String>,
    /// What the model is good for.
    #[serde(default)]
    pub description: String,
    /// The provider that offers the model. `None` stands for the configured provider.
    pub provider: Option<String>,
    /// The reasoning efforts that the model supports, from low to high.
    #[serde(default)]
    pub efforts: Vec<String>,
    /// The effort if the user sets none.
    pub default_effort: Option<String>,
    /// Size of the context window in tokens.
    pub context_window: Option<u64>,
    /// Number of tokens in the history at which a thread is compacted.
    pub auto_compact_token_limit: Option<u64>,
    /// Whether the model accepts images.
    #[serde(default = "takes_images")]
    pub images: bool,
    /// Whether ordinary model lists leave out the model.
    #[serde(default)]
    pub hidden: bool,
    /// Whether the model is the default if `model` is not set.
    #[serde(default)]
    pub default: bool,
}

/// Default of `images`: most models accept them.
fn takes_images() -> bool {
    true
}

impl CatalogModel {
    /// Returns a model of which only the id is known.
    #[must_use]
    pub fn named(id: impl Into<String>) -> Self {
        Self {
            id: id.into(),
            display_name: None,
            description: String::new(),
            provider: None,
            efforts: Vec::new(),
            default_effort: None,
            context_window: None,
            auto_compact_token_limit: None,
            images: true,
            hidden: false,
            default: false,
        }
    }
}
