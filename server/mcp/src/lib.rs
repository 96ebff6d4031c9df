//! Tools of MCP servers, for agents.
//!
//! A [`ServerConfig`] says how a server is reached: as a process that communicates over its standard streams, or over
//! HTTP. [`Servers`] are the servers of one tree of agents. They start in parallel, each with a time limit, and report
//! their status to a listener. Their tools become [`trace_runtime::tool::Tool`]s, in one namespace for each server.
//! Calls of them are approved, made, recorded and shown like those of any other tool.
//!
//! This crate does not know clients or their messages: approvals are requested from the host of the runtime. It does
//! not print, and it does not read the environment; [`Variables`] hold the variables that servers may get.
//!
//! Servers are not trusted: the size of everything that they send is limited, their names are sanitised, and the
//! annotations of their tools only affect whether the user is asked.

mod approval;
mod call;
mod client;
pub mod config;
mod connection;
mod direct;
pub mod environment;
mod failure;
mod http;
mod launch_folders;
mod messenger;
pub mod name;
pub mod oauth;
mod outcome;
mod output;
mod planted;
mod process;
mod progress;
mod resources;
mod restart;
mod roots;
mod sample;
mod schema;
mod server_slot;
mod servers;
mod tool;

pub use call::{CANCEL_TIMEOUT, MAX_ASKED_DESCRIPTION_CHARS, MAX_ASKED_NAME_CHARS, PROGRESS_AT_ONCE, PROGRESS_PERIOD};
pub use client::{MAX_EARLY_PROGRESS, MAX_FORM_BYTES, MAX_MESSAGE_BYTES, MAX_OPEN_QUESTIONS, MAX_VISIT_BYTES};
pub use config::{Approval, ConfigError, OAuthKeys, Sampling, ServerConfig, Transport};
pub use connection::{MAX_LIST_PAGES, MAX_RESOURCES, MAX_TOOLS};
pub use direct::{DirectError, FilledPrompt, MAX_PROMPT_CHARS};
pub use environment::{INHERITED_VARIABLES, Variables};
pub use failure::{MAX_FAILURE_CHARS, Remedy, StartFailure};
pub use launch_folders::{FOLDER_NAME, LaunchPolicy};
pub use oauth::OAuth;
pub use output::{MAX_IMAGE_BYTES, MAX_PARTS, MAX_TEXT_BYTES};
pub use process::{EXIT_TIMEOUT, KILL_TIMEOUT, MAX_STDERR_LINE_BYTES};
pub use restart::{MAX_RESTART_DEATHS, RESTART_PAUSES, RESTART_PERIOD};
pub use roots::MAX_ROOTS;
pub use sample::{MAX_SAMPLE_BYTES, MAX_SAMPLE_TOKENS, MAX_SAMPLES_PER_TURN};
pub use schema::{MAX_SCHEMA_BYTES, MAX_SCHEMA_DEPTH, MAX_SCHEMAS_BYTES};
pub use server_slot::{Details, Listener, ServerReport, ServersShutdown, Startup};
pub use servers::{REFRESH_PAUSE, Servers, WeakServers};
pub use tool::{MAX_DESCRIPTION_BYTES, MAX_INSTRUCTIONS_BYTES};
