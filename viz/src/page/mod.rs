//! The page that shows all of a session: one document that needs no network.
//!
//! [`Structure`] is the session as the page knows it, [`BodySource`] gives its texts and payloads, and [`document`] has the
//! document in its two forms: a file with everything in it, and a page that asks whoever served it.
//! `assets/README.md` says what the document's scripts expect.

mod bodies;
mod columns;
pub mod document;
mod embedded;
mod link;
mod strings;
mod structure;
#[cfg(test)]
mod visible;

pub use bodies::{Block, Body, BodyError, BodySource, Form, MAX_BODY_BYTES, MAX_PAYLOAD_BYTES, PayloadText};
pub use embedded::{EmbedLimits, Embedded};
pub use structure::{Number, Structure};
