//! The server's configuration: `config.toml` and what overrides it.
//!
//! The file uses the key names of the Codex CLI. A key that this server does not read stays in the file and leads to a
//! warning. Three layers override the defaults, the lowest first: the user's file, the options that the server was
//! started with, and the settings that a client gives for one thread. [`Config`] is the merged result. [`ConfigStore`]
//! reads and changes the file.

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
pub use keys::{RecordingForm, Reviewer, SandboxMode};
pub use layer::{Layer, LayerName, MAX_KEY_BYTES, MAX_KEY_PARTS, Override};
pub use store::{CONFIG_FILE_NAME, ConfigStore, MAX_CONFIG_BYTES, Overridden, Sources, Written};
