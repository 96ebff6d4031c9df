//! What the tools need to know about the machine.

use std::path::PathBuf;
use std::sync::Arc;

use crate::approval::PrefixRules;
use crate::environment::CommandEnvironment;
use crate::sandbox::{SandboxLauncher, Surroundings};
use crate::tool::exec::program::SearchPath;

/// What the tools need to know about the machine.
#[derive(Debug, Clone)]
pub struct ToolOptions {
    /// The shell for command lines; it must accept `-c` and `-lc`.
    pub shell: PathBuf,
    /// The launcher that confines commands. If it is `None`, the user is asked before a command that should be confined
    /// runs.
    pub launcher: Option<SandboxLauncher>,
    /// What the sandbox needs to know about the machine and the server.
    pub surroundings: Surroundings,
    /// Environment variables that commands do not inherit, such as those with keys.
    pub hidden_variables: Vec<String>,
    /// Where programs are looked up by name. If it is empty, they are not looked up.
    pub search: SearchPath,
    /// Which other environment variables commands get.
    pub environment: Arc<CommandEnvironment>,
    /// Commands that the user accepted permanently.
    pub rules: Arc<PrefixRules>,
    /// Whether a command or a patch that is refused without a question is shown as an item. Otherwise only the model
    /// learns of it, as with the Codex CLI.
    pub shows_refusals: bool,
}

impl Default for ToolOptions {
    fn default() -> Self {
        Self {
            shell: PathBuf::from("/bin/bash"),
            launcher: None,
            surroundings: Surroundings::default(),
            hidden_variables: Vec::new(),
            search: SearchPath::default(),
            environment: Arc::default(),
            rules: Arc::default(),
            shows_refusals: false,
        }
    }
}
