//! Commands that clients run: `command/exec` and `process/*`.
//!
//! Both use the same code. A command may have a terminal, may get input, and may be ended. Its output is buffered up to
//! a limit, or sent in notifications. `command/exec` is answered when the command ends. `process/spawn` is answered
//! when the process has started, and a notification reports its end.

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
