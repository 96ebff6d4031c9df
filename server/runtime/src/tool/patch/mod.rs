//! Patches: what they say, what they would do, and doing it. [`invocation`] finds them in commands, [`grammar`] reads them,
//! [`plan`] holds them against the files, [`mod@write`] makes the changes, [`tracker`] keeps what a turn changed.

pub mod diff;
pub mod grammar;
pub mod invocation;
pub mod matching;
pub mod plan;
pub(crate) mod tool;
pub mod tracker;
pub mod write;

pub use tool::PatchTool;
