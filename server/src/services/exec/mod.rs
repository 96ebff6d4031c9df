//! Commands that clients run on the machine: `command/exec` and `process/*`.
//!
//! Both are one engine: a command, which may stand on a terminal, may be written to and may be ended; what it prints is
//! gathered up to a limit, or told as it comes. They differ in who hears of the end: `command/exec` answers then, while
//! `process/spawn` answers at the start and tells later.

mod child;
mod input;
mod output;
mod service;

pub use child::GRACE_BEFORE_KILL;
pub use input::PENDING_INPUT_BYTES;
pub use output::{DRAIN_TIMEOUT, MAX_BUFFERED_OUTPUT_BYTES};
pub use service::{
    CHILDREN_PER_CONNECTION, Confined, Environment, ExecService, Finish, Launcher, Life, OUTPUT_CAP_BYTES_DEFAULT,
    TIMEOUT_DEFAULT,
};
