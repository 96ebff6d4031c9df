//! A provider without models. It plays scripts that it finds in the conversation, so that everything runs offline.
//!
//! `docs/providers.md` describes the script language.

mod player;
mod script;
mod spaced_json;

pub use player::{HOLD_MAX, ONCE_KEYS_MAX, Scripted};
pub use script::{ACTIONS_MAX, NAME_BYTES_MAX, PAUSE_MAX, SCRIPT_BYTES_MAX, STEPS_MAX, ScriptError};
