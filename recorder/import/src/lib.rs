//! What the importers of foreign sessions share.
//!
//! Coding agents keep their sessions in files of their own. An importer reads such files and makes of each session the bundle
//! that a recorder would have written. It reads lines with [`Records`] and tells a [`Draft`] what happened, per thread and
//! in the order of the file. The draft brings the threads into one order, keeps for each event the line that it comes
//! from, and makes a bundle in memory, which [`write()`] puts on disk.
//!
//! Nothing is invented. What a file does not hold is missing in the bundle, and what was rebuilt or concluded is said by a
//! [`Code`] in the bundle's [`ImportRecord`](trace_recorder::format::ImportRecord).

mod body;
mod draft;
mod error;
mod event;
mod merge;
mod note;
mod records;
mod write;

pub use body::{History, ItemText};
pub use draft::{Draft, Lane};
pub use error::ImportError;
pub use event::{EventRef, Stamp, Time};
pub use note::Code;
pub use records::{MAX_RECORD_BYTES, Record, Records};
pub use write::write;
