//! Makes a damaged bundle acceptable again.
//!
//! What a repair changes is copied first into a directory of its own in the bundle, `before-repair-1` and so on, and every
//! file is replaced in one step, so that a bundle is as it was or as it is to be, file by file, whenever the repair is
//! cut off; another repair then finishes it. What was repaired once needs no repair again.

mod apply;
mod change;
mod edit;
mod error;
mod gaps;
mod line;
mod numbers;
mod plan;
mod run;

pub use apply::BACKUP_PREFIX;
pub use change::{Change, Changes};
pub use error::RepairError;
pub use gaps::MAX_GAP_EVENTS;
pub use run::{Repaired, preview_repair, repair};
