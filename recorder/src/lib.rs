//! Rollout-trace bundles on disk: their format, a reader that keeps what it does not understand, and a writer.
//!
//! A bundle is a directory that one session of agents leaves behind: a manifest, an append-only log of small events, and
//! the payloads that the events point to. This crate reads and writes those files. It draws no conclusions from them;
//! that is the reducer's part. A packed bundle is the same in one file; whoever reads bundles reads both.

pub mod activity;
pub mod bounded;
pub mod bundle;
pub mod check;
mod files;
pub mod follow;
pub mod format;
mod lock;
pub mod log;
mod lost_manifest;
pub mod pack;
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
