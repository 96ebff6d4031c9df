//! A relay: it connects clients to app-servers which neither side can reach directly.
//!
//! A server dials the relay and keeps one connection, which all its clients share. Clients connect to the relay as to
//! any app-server on a WebSocket. Each client has a *stream*; its messages are numbered in both directions, kept until
//! the other side has acknowledged them, sent again after a reconnect, and dropped if they come twice. Both ends of the
//! server's connection use [`envelope`], [`pieces`] and [`stream`]. [`devices`] says who may connect. [`relay`] is the
//! relay itself. With [`seal`], a client and a server keep their messages from the relay.

pub mod devices;
pub mod envelope;
pub mod file;
pub mod pieces;
mod random;
pub mod relay;
pub mod seal;
pub mod stream;

pub use random::{NoRandomness, shown_code};
