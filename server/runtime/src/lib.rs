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
pub mod event;
pub mod host;
pub mod id;
pub mod item;
pub mod provider;
pub mod settings;
pub mod tool;

pub use agent::Agent;
pub use event::{Delta, Event, EventKind};
pub use host::{Answer, Host, Question};
pub use id::{ItemId, ThreadId, TurnId};
pub use item::Item;
pub use settings::Settings;
