//! Draws a reduced session.
//!
//! Everything here is made from a [`Session`](trace_explain::Session): [`diagram`] draws pictures of boxes and arrows,
//! and [`page`] makes the page that shows the whole session. [`client`] is the page of the web client, which shows sessions
//! while they run and knows none by itself, and [`fleet`] is the page of a lake of many sessions. All are deterministic: equal sessions make equal bytes.
//! Texts of a session are untrusted, so every writer escapes them for its output format.

pub mod client;
#[cfg(feature = "diagrams")]
pub mod diagram;
pub mod fleet;
pub mod page;
