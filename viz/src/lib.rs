//! Draws a reduced session.
//!
//! Everything here is made from a [`Session`](trace_explain::Session): [`diagram`] draws pictures of boxes and arrows,
//! and [`page`] makes the page that shows the whole session. [`client`] is the page of the web client, which shows sessions
//! while they run and knows none by itself. All are deterministic: equal sessions make equal bytes.
//! Texts of a session are untrusted, so every writer escapes them for its output format.

pub mod client;
pub mod diagram;
pub mod page;
