//! Commands: [`ExecTool`] runs them, [`WriteStdin`] continues those that run in the background.

pub mod actions;
mod denial;
pub mod output;
pub(crate) mod process;
pub mod program;
mod report;
pub mod request;
mod session;
mod stdin;
mod tool;

pub use report::{DEFAULT_OUTPUT_TOKENS, MAX_OUTPUT_TOKENS};
pub use session::{DRAIN_GRACE, KILL_GRACE, MAX_COMMANDS_AT_ONCE, MAX_UNHEARD_ENDS};
pub use stdin::WriteStdin;
pub use tool::{ExecTool, MAX_BACKGROUND_COMMANDS};
