//! Checks a bundle against its format without reducing it, and repairs it.
//!
//! A check reads every line of the log and every payload once and compares them with the rules that readers of the format
//! rely on. It never changes anything. It does not interpret events, nor does it notice that two events contradict each
//! other. The reducer does, so it can still refuse a bundle without errors.
//!
//! A repair removes or replaces everything that readers refuse. First it copies every file that it changes into a
//! directory of the bundle.

mod clock;
mod directory;
mod finding;
mod json;
mod log;
mod manifest;
mod packed;
mod payloads;
mod repair;
mod report;
mod stand_in;

pub use clock::{BACKWARD_CLOCK_MS, FORWARD_CLOCK_MS};
pub use finding::{Area, Code, Finding, Findings};
pub use payloads::PayloadDamage;
pub use repair::{Change, Changes, MAX_GAP_EVENTS, RepairError, Repaired, preview_repair, repair};
pub use report::{Counts, Report, check};
