//! A server that dials a relay: with a relay and clients, and with a stand-in for the relay.

mod backend;
mod client;
mod cuts;
mod proxy;
mod sealed;
mod sessions;
mod world;
