//! Checks a bundle against its format without making a graph of it, and repairs what can be repaired.
//!
//! A check reads every line of the log and every payload once and holds them against the rules that any reader of the
//! format counts on. It never changes anything. What an event *means*, and whether two events contradict each other, is
//! the reducer's part: a bundle without errors here can still be refused there.
//!
//! A repair makes a bundle acceptable again by taking out or replacing what no reader accepts, after it has put a copy of
//! everything that it changes beside it.

mod clock;
mod directory;
mod finding;
mod log;
mod manifest;
mod packed;
mod payloads;
mod repair;
mod report;
mod stand_in;

pub use clock::{BACKWARD_CLOCK_MS, FORWARD_CLOCK_MS};
pub use directory::{BundleFile, MAX_DIRECTORY_ENTRIES};
pub use finding::{Area, Code, Finding, Findings};
pub use payloads::PayloadDamage;
pub use repair::{BACKUP_PREFIX, Change, Changes, MAX_GAP_EVENTS, RepairError, Repaired, preview_repair, repair};
pub use report::{Counts, Report, check};
