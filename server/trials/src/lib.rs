//! Puts app-servers under load, kills them, and breaks their model provider.
//!
//! Every trial runs any server command that takes `--listen URL` ([`ServerCommand`]), so that ours can be compared with others.
//! The model is a stand-in in this process ([`Model`]), which costs the server nothing but the connection. What a trial finds
//! is a report that can be printed and written as JSON; judging it is left to the caller, except where a promise of the
//! protocol is at stake.

pub mod burst;
pub mod client;
pub mod crowd;

pub mod kill;
pub mod latency;
pub mod model;
pub mod numbers;
pub mod provider;

pub mod server;
pub mod stall;
pub mod tree;

pub use client::{Answer, Client, Note};
pub use model::{End, Model, Part, Reply};
pub use numbers::{Latencies, Summary, table};
pub use server::{Home, Memory, Profile, Running, ServerCommand};
