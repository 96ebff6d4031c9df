//! Tests of all transports with a small service: which messages are allowed, how they are answered, and how connections
//! end.

mod admission;
mod bridge;
mod end;
mod in_process;
mod rules;
mod sockets;
mod stdio;
mod toy;
mod web;
