//! Draws a reduced session.
//!
//! Everything here is made from a [`Session`](trace_explain::Session): [`diagram`] has pictures of it as boxes and arrows,
//! [`page`] the page that shows all of it. Both are deterministic: equal sessions make equal bytes. Texts of a session are
//! untrusted; whatever writes them escapes them for the place where they go.

pub mod diagram;
pub mod page;
