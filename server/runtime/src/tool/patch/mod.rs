//! Applies patches. [`invocation`] finds them in commands, [`grammar`] parses them, [`plan`] compares them with the files,
//! [`mod@write`] writes the changes, [`tracker`] accumulates the changes of a turn.

pub mod diff;
pub mod grammar;
pub mod invocation;
pub mod matching;
pub mod plan;
pub(crate) mod tool;
pub mod tracker;
pub mod write;

pub use tool::PatchTool;
