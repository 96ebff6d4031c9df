//! Puts app-servers under load, kills them, and breaks their model provider.
//!
//! Every trial runs a server command that accepts `--listen URL` ([`ServerCommand`]), so that different servers can be
//! compared. The model is a stand-in inside this process ([`Model`]), which costs the server nothing but the
//! connection. The result of a trial is a report that can be printed or written as JSON. Only promises of the protocol
//! are checked here; everything else is left to the caller.

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
