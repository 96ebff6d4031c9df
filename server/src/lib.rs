//! The app-server: threads, turns and items for clients, recorded as they happen.

mod blocking;
mod claim;
mod client_tokens;
pub mod config;
pub mod connection;
mod core;
mod dispatch;
mod fifo;
mod git;
mod handlers;
mod hub;
pub mod ingress;
#[cfg(target_os = "linux")]
mod lineage;
mod mapping;
pub mod outbound;
mod paging;
mod private;
pub mod requests;
pub mod scopes;
pub mod secret_file;
mod server;
pub mod services;
pub mod store;
mod sync;
#[cfg(test)]
mod tests;
mod threads;
mod traces;
pub mod transport;

pub use client_tokens::{ClientTokens, MAX_STARTED_TURNS, REFUSAL_HOLDS, RENEWAL_TIMEOUT};
pub use server::{PROTOCOL_RELEASE, Server, ServerOptions, StartError};
