//! The server's configuration: `config.toml` and what overrides it.
//!
//! The file has the key names that the Codex CLI uses, as far as this server knows what they mean; it keeps what it does
//! not know, and says so. Three layers lie over the defaults: the user's file, what the server was started with, and what
//! a client says for one thread. [`Config`] is what comes out; [`ConfigStore`] reads and changes the file.

mod catalog;
mod edit;
mod effective;
mod error;
mod keys;
mod known;
mod layer;
mod mcp;
mod store;
mod variables;

pub use catalog::CatalogModel;
pub use edit::{Edit, Merge};
pub use effective::{
    AgentLimits, BUILT_IN_PROVIDERS, Config, DEFAULT_MODEL, DEFAULT_PROVIDER, MAX_AGENT_DEPTH_DEFAULT,
    MAX_AGENT_THREADS_DEFAULT, MAX_PROJECT_DOC_BYTES_DEFAULT, MAX_WARNINGS, PERMISSION_PROFILES,
    TOOL_OUTPUT_TOKENS_DEFAULT,
};
pub use error::ConfigError;
pub use keys::{Reviewer, SandboxMode};
pub use layer::{Layer, LayerName, MAX_KEY_BYTES, MAX_KEY_PARTS, Override};
pub use store::{CONFIG_FILE_NAME, ConfigStore, MAX_CONFIG_BYTES, Overridden, Written};
