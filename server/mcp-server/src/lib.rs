//! A server for clients of the Model Context Protocol: questions about recorded sessions, and agents that record theirs.
//!
//! The *questions* (`sessions`, `overview`, `postmortem`, `audit`, `why`, `grep`, `context`, `query`) are answered from a [`Library`], which
//! the program provides. Each answer has at most [`answer::MAX_ANSWER_BYTES`] and goes on with a cursor.
//!
//! The messages are read and written here, without the protocol library that the client in `trace-mcp` is made of: its
//! server would add more to the first build than the code of this crate, and has no place for the members that clients of the Codex CLI
//! expect beside those of the protocol.

mod agents;
pub mod answer;
mod arguments;
mod client;
mod completions;
mod connection;
mod definitions;
mod http;
mod library;
mod message;
mod problem;
mod prompts;
mod questions;
mod resources;
mod service;
mod stdio;

pub use agents::{Host, Profile, Running, Starting};
pub use client::MAX_RUNNING;
pub use completions::MAX_COMPLETIONS;
pub use definitions::{MAX_DEFINITION_BYTES, Offer, tools};
pub use http::{Address, AddressError, BODY_TIMEOUT, HttpServer, KEEP_ALIVE, MAX_HTTP_SESSIONS};
pub use library::{Entry, LATEST, Library, MIN_NAME_CHARS, Rows, Summary};
pub use message::MAX_MESSAGE_BYTES;
pub use problem::{MAX_PROBLEM_CHARS, Problem};
pub use questions::{MAX_GREP_SECONDS, MAX_QUERY_ROWS, MAX_QUERY_SESSIONS};
pub use resources::MAX_SCHEMA_BYTES;
pub use service::{QUESTIONS_AT_ONCE, Service};
pub use stdio::{END_TIMEOUT, serve_stdio};
