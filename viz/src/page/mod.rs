//! The page that shows a whole session: one document that needs no network.
//!
//! [`Structure`] is the session as the page sees it, [`BodySource`] returns its texts and payloads, and [`document`]
//! writes the document in its two forms: a file that contains everything, and a page that requests its data from the
//! server. `assets/README.md` describes what the scripts of the document expect.

mod bodies;
mod columns;
pub mod document;
mod embedded;
pub(crate) mod files;
pub(crate) mod link;
mod strings;
mod structure;
#[cfg(test)]
mod visible;

pub use bodies::{Block, Body, BodyError, BodySource, Form, MAX_BODY_BYTES, MAX_PAYLOAD_BYTES, PayloadText};
pub use embedded::{EmbedLimits, Embedded};
pub use structure::{Changes, Number, Recorder, Structure};
