//! Tools of MCP servers, for agents.
//!
//! [`ServerConfig`] says how a server is reached: as a process that speaks on its standard streams, or over HTTP.
//! [`Servers`] are the servers that the agents of one tree share: they start beside each other, each with a time limit, and
//! whoever listens is told how far each of them is. What they offer becomes [`trace_runtime::tool::Tool`]s, one namespace for
//! each server, and calls of them are approved, carried out, recorded and shown like those of any tool.
//!
//! Nothing here knows clients or their messages: what a person has to decide is put to the host of the runtime. Nothing
//! prints or reads the environment, either; [`Variables`] hold what a server may have of it.
//!
//! Servers are not trusted: what they say is bounded, their names are made harmless, and their hints about what tools do only
//! ever decide whether a person is asked.

mod approval;
mod call;
mod client;
pub mod config;
mod connection;
pub mod environment;
mod failure;
mod ground;
mod http;
mod messenger;
pub mod name;
mod outcome;
mod output;
mod planted;
mod process;
mod progress;
mod resources;
mod schema;
mod servers;
mod slot;
mod tool;

pub use call::{CANCEL_PATIENCE, MAX_ASKED_DESCRIPTION_CHARS, MAX_ASKED_NAME_CHARS, PROGRESS_AT_ONCE, PROGRESS_PERIOD};
pub use client::{MAX_EARLY_PROGRESS, MAX_FORM_BYTES, MAX_MESSAGE_BYTES, MAX_OPEN_QUESTIONS, MAX_VISIT_BYTES};
pub use config::{Approval, ConfigError, ServerConfig, Transport};
pub use connection::{MAX_LIST_PAGES, MAX_RESOURCES, MAX_TOOLS};
pub use environment::{INHERITED_VARIABLES, Variables};
pub use failure::{MAX_FAILURE_CHARS, Need, StartFailure};
pub use ground::{FOLDER_NAME, Ground};
pub use output::{MAX_IMAGE_BYTES, MAX_PARTS, MAX_TEXT_BYTES};
pub use process::{EXIT_PATIENCE, KILL_PATIENCE, MAX_STDERR_LINE_BYTES};
pub use schema::{MAX_SCHEMA_BYTES, MAX_SCHEMA_DEPTH, MAX_SCHEMAS_BYTES};
pub use servers::{REFRESH_PAUSE, Servers, WeakServers};
pub use slot::{Details, Ending, Listener, ServerReport, Startup};
pub use tool::{MAX_DESCRIPTION_BYTES, MAX_INSTRUCTIONS_BYTES};
