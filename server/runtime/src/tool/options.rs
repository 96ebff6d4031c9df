//! What the tools need to know of the machine.

use std::path::PathBuf;
use std::sync::Arc;

use crate::approval::PrefixRules;
use crate::sandbox::SandboxLauncher;

/// What the tools need to know of the machine.
#[derive(Debug, Clone)]
pub struct ToolOptions {
    /// The shell that runs lines; it must take `-c` and `-lc`.
    pub shell: PathBuf,
    /// What confines commands. Without it people are asked before a command runs that should be confined.
    pub launcher: Option<SandboxLauncher>,
    /// The folder for temporary files, where the system names one.
    pub tmpdir: Option<PathBuf>,
    /// Variables of the environment that commands do not inherit, such as those that hold keys.
    pub hidden_variables: Vec<String>,
    /// What people agreed to for good.
    pub rules: Arc<PrefixRules>,
}

impl Default for ToolOptions {
    fn default() -> Self {
        Self {
            shell: PathBuf::from("/bin/bash"),
            launcher: None,
            tmpdir: None,
            hidden_variables: Vec::new(),
            rules: Arc::default(),
        }
    }
}
