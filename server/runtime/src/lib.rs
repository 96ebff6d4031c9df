//! Runs agents: sends requests to models, runs the tools that they call, and reports events to a host.
//!
//! A [`Runtime`] creates [`Agent`]s. An agent has one thread: its settings, its history, and at most one running turn. All events
//! are reported to the [`Host`] in order, as [`Event`]s; what a user has to decide is asked as a [`Question`]. The host stores,
//! shows and answers; the runtime knows neither clients nor stored threads.
//!
//! Agents record their work with `trace_recorder`: every request to a model with its retries, every tool call, and every message
//! between agents. The agents of one tree share one bundle.
//!
//! This crate neither prints nor reads the environment.

pub mod agent;
mod agent_record;
pub mod approval;
mod arrival;
pub mod clock;
pub mod control;
mod core;
pub mod environment;
pub mod event;
mod extensions;
mod history;
mod hold;
pub mod host;
mod host_link;
pub mod id;
mod identity;
pub mod instructions;
pub mod item;
pub mod mail;
pub mod open_item;
pub mod options;
pub mod pace;
mod paced_agent;
pub mod provider;
mod recording;
pub mod refusal;
pub mod replay;
pub mod runtime;
pub mod sandbox;
pub mod settings;
mod shared;
pub mod terminal;
pub mod tls;
pub mod tool;
pub mod tree;
mod turn;
pub mod turn_request;

pub use agent::{Agent, NewAgent};
pub use control::{StartedTurn, TurnRequest};
pub use event::{Delta, Event, EventKind};
pub use host::{Answer, Host, Question};
pub use id::{ItemId, ThreadId, TurnId};
pub use item::Item;
pub use open_item::OpenItem;
pub use options::{ModelWindow, RuntimeOptions};
pub use refusal::Refusal;
pub use runtime::{AgentHost, Runtime};
pub use settings::Settings;
pub use terminal::Terminal;
