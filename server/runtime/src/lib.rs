//! Runs agents: asks a model, carries out the tools it calls, and tells a host what happens.
//!
//! A [`Runtime`] makes [`Agent`]s. An agent is one thread of a conversation: its settings, what the model has seen, and at most
//! one turn that runs. Everything that happens is told to the [`Host`] in order, as [`Event`]s; what a person has to decide is
//! put to it as a [`Question`]. The host stores, shows and answers; the runtime knows neither clients nor files of threads.
//!
//! While it runs, an agent records what it does through `trace_recorder`: every request to a model with its retries, every tool
//! call, every hand-over between agents. The agents of one tree share one bundle.
//!
//! Nothing here prints or reads the environment.

pub mod agent;
pub mod approval;
pub mod clock;
mod compaction;
pub mod control;
pub mod environment;
pub mod event;
mod extensions;
mod history;
pub mod host;
pub mod id;
pub mod instructions;
pub mod item;
pub mod mail;
pub mod open_item;
pub mod pace;
pub mod provider;
mod recording;
pub mod replay;
mod review;
pub mod runtime;
pub mod sandbox;
pub mod settings;
mod state;
pub mod terminal;
pub mod tool;
pub mod tree;
mod turn;

pub use agent::{Agent, NewAgent};
pub use control::{Refusal, StartedTurn, TurnRequest};
pub use event::{Delta, Event, EventKind};
pub use host::{Answer, Host, Question};
pub use id::{ItemId, ThreadId, TurnId};
pub use item::Item;
pub use open_item::OpenItem;
pub use runtime::{ModelWindow, Runtime, RuntimeOptions};
pub use settings::Settings;
pub use terminal::Terminal;
