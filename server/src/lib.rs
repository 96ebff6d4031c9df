//! The app-server: threads, turns and items for clients, recorded as they happen.

mod claim;
pub mod config;
pub mod connection;
mod core;
mod dispatch;
mod fifo;
#[cfg(test)]
mod fifo_laws;
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
pub mod scopes;
mod server;
pub mod services;
pub mod store;
mod sync;
mod threads;
mod traces;
pub mod transport;
#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test that fails says where")]
mod whole;

pub use server::{PROTOCOL_RELEASE, Server, ServerOptions, StartError};
