//! What the tools need to know of the machine.

use std::path::PathBuf;
use std::sync::Arc;

use crate::approval::PrefixRules;
use crate::environment::CommandEnvironment;
use crate::sandbox::{SandboxLauncher, Surroundings};
use crate::tool::exec::program::SearchPath;

/// What the tools need to know of the machine.
#[derive(Debug, Clone)]
pub struct ToolOptions {
    /// The shell that runs lines; it must take `-c` and `-lc`.
    pub shell: PathBuf,
    /// What confines commands. Without it people are asked before a command runs that should be confined.
    pub launcher: Option<SandboxLauncher>,
    /// What the sandbox has to know of the machine and of the server.
    pub surroundings: Surroundings,
    /// Variables of the environment that commands do not inherit, such as those that hold keys.
    pub hidden_variables: Vec<String>,
    /// Where commands find programs by their names. Nothing is looked up if it is empty.
    pub search: SearchPath,
    /// Which variables of the environment commands get, beside those that are named above.
    pub environment: Arc<CommandEnvironment>,
    /// What people agreed to for good.
    pub rules: Arc<PrefixRules>,
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
        }
    }
}
