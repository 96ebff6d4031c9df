//! Models that a user names in the configuration.

use serde::{Deserialize, Serialize};

/// A model that clients can choose.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CatalogModel {
    /// Its name at the provider.
    pub id: String,
    /// Its name for people; the id if there is none.
    pub display_name: Option<String>,
    /// What it is good for.
    #[serde(default)]
    pub description: String,
    /// Provider that has it; the configured one if there is none.
    pub provider: Option<String>,
    /// How much it can be told to reason, from little to much.
    #[serde(default)]
    pub efforts: Vec<String>,
    /// What it does when nothing is said.
    pub default_effort: Option<String>,
    /// Tokens that its window holds.
    pub context_window: Option<u64>,
    /// Tokens at which a history is made shorter.
    pub auto_compact_token_limit: Option<u64>,
    /// Whether it takes pictures.
    #[serde(default = "takes_images")]
    pub images: bool,
    /// Whether it is left out of ordinary lists.
    #[serde(default)]
    pub hidden: bool,
    /// Whether it is the model that is taken when `model` is not set.
    #[serde(default)]
    pub default: bool,
}

/// Most models do.
fn takes_images() -> bool {
    true
}

impl CatalogModel {
    /// Returns a model of which only the name is known.
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
