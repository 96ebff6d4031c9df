//! Clients of all kinds against a small service: what they are let do, what they are answered, and how connections end.

mod admission;
mod bridge;
mod end;
mod in_process;
mod rules;
mod sockets;
mod stdio;
mod toy;
