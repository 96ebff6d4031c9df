//! Bundles on disk: their format, a reader that keeps what it does not understand, and a writer.
//!
//! A bundle is the directory in which one session of agents is recorded: a manifest, an append-only log of small events,
//! and the payloads that the events refer to. This crate reads and writes these files. It does not interpret them; the
//! reducer does. A packed bundle has the same content in one file, which may be one that grows while it is recorded, and every reader accepts all
//! forms.

pub mod activity;
pub mod bounded;
pub mod bundle;
pub mod check;
pub mod files;
pub mod follow;
pub mod format;
mod header;
mod hidden;
mod lock;
pub mod log;
mod lost_manifest;
mod memory;
pub mod pack;
pub mod parts;
pub mod payloads;
pub mod recording;
pub mod redact;
pub mod retention;
pub mod severity;
pub mod tail;
pub mod write;

pub use bundle::{Bundle, BundleError};
pub use lost_manifest::{MAX_SEARCHED_LINES, manifest_from_log};
pub use severity::Severity;
