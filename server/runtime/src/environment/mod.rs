//! Decides which environment variables commands get.
//!
//! `names` recognises the names of variables with keys, `command` applies this to the environment of a server, and
//! `startup` removes keys that the start-up files of a shell set again. Nothing here reads the environment: the caller
//! passes the names.

mod command;
mod names;
mod startup;

pub use command::{CommandEnvironment, Inherit, VariableRules};
pub use names::{HARMLESS_NAMES, KEY_NAMES, MAX_PATTERN_BYTES, NamePattern, NotAName};
pub use startup::FILES as START_UP_FILES;
