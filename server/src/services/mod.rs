//! Services for requests that do not concern threads: files, commands, catalogues, configuration and measurements.
//!
//! Each service is a struct with the state that it needs, and none of them knows threads. Everything that belongs to a
//! connection (processes, watches, searches) ends with it. [`Services`] holds all services.

mod account;
mod all;
mod catalogs;
mod config;
mod diagnostics;
mod exec;
mod file_operations;
mod fs;
mod mcp;
mod mcp_login;
mod mcp_requests;
mod models;
mod notify;
mod page;

mod search;
mod watch;

pub use account::{AccountService, check_gov_cloud, configuration_requirements};
pub use all::{ServiceOptions, Services};
pub use catalogs::CatalogService;
pub use config::ConfigService;
pub use diagnostics::{Gauge, diagnostics};
pub use exec::{
    CHILDREN_PER_CONNECTION, Confined, DRAIN_TIMEOUT, Environment, ExecService, Finish, GRACE_BEFORE_KILL, Launcher,
    Life, MAX_BUFFERED_OUTPUT_BYTES, OUTPUT_CAP_BYTES_DEFAULT, PENDING_INPUT_BYTES, TIMEOUT_DEFAULT,
};
pub use file_operations::{FILE_OPERATIONS_AT_ONCE, FILE_OPERATIONS_PER_CONNECTION, FILE_TIMEOUT, TREE_TIMEOUT};
pub use fs::{FsService, LARGE_FILE_BYTES, LARGE_FILES_AT_ONCE, MAX_DIRECTORY_ENTRIES, MAX_READ_BYTES};
pub use mcp::{LOGINS_AT_ONCE, McpService, REPORTS_CACHED_FOR, STARTUP_FOR_ANSWER_MAX};
pub use mcp_login::{LOGIN_TIMEOUT_DEFAULT, LOGIN_TIMEOUT_MAX};
pub use models::{ModelService, USUAL_EFFORT, USUAL_EFFORTS};
pub use notify::{Notifier, Notify};
pub use search::{
    MAX_MATCHES, MAX_QUERY_CHARS, MAX_SEARCHED_FILES, SEARCHES_AT_ONCE, SESSIONS_PER_CONNECTION, SearchService,
};
pub use trace_mcp::Variables;
pub use watch::{CHANGES_AT_ONCE, CHANGES_BUNDLED_FOR, WATCHES_PER_CONNECTION, WatchService};
