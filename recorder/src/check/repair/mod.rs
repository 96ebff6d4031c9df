//! Makes a damaged bundle readable again.
//!
//! Before a repair changes a file, it copies the file into a new directory of the bundle, `before-repair-1` and so on.
//! Every file is replaced atomically, so if the repair is interrupted, each file is either as before or completely
//! repaired, and another repair completes the work. A repaired bundle needs no further repair.

mod apply;
mod change;
mod edit;
mod error;
mod gaps;
mod line;
mod numbers;
mod plan;
mod run;

pub use change::{Change, Changes};
pub use error::RepairError;
pub use gaps::MAX_GAP_EVENTS;
pub use run::{Repaired, preview_repair, repair};
