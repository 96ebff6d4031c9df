//! The formats of agents, one module each.

mod codex;

use crate::format::Format;

/// All formats. The first one that recognizes a file reads it.
pub static FORMATS: &[&dyn Format] = &[&codex::Codex];
