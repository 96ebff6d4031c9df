//! Which variables of the environment commands get.
//!
//! `names` says which names are those of keys, `command` what that means for the environment of a server, and `startup`
//! takes keys away again that a shell's start-up files brought back. Nothing here reads the environment: whoever starts the server
//! hands over its names.

mod command;
mod names;
mod startup;

pub use command::{CommandEnvironment, Inherit, VariableRules};
pub use names::{HARMLESS_NAMES, KEY_NAMES, MAX_PATTERN_BYTES, NamePattern, NotAName};
pub use startup::FILES as START_UP_FILES;
