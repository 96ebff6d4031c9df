//! What a runtime is made with: providers, tools, limits, and where sessions are recorded.

use std::path::PathBuf;
use std::sync::Arc;

use trace_recorder::write::TraceRoot;

use crate::clock::{Clock, SystemClock};
use crate::environment::CommandEnvironment;
use crate::pace::Pace;
use crate::provider::Provider;
use crate::sandbox::{Surroundings, WritableFolderRegistry};
use crate::tool::Tool;

/// The share of a known context window at which a history is made shorter by itself, in percent.
pub const COMPACT_AT_PERCENT: u64 = 90;

/// Most bytes of the files in which a project says what it wants of agents that are read, where nobody says otherwise.
pub const MAX_PROJECT_BYTES: usize = 32 << 10;

/// Most agents of a tree that are kept, the root not counted, unless more may work at the same time. When another one is
/// started, the one that has been done for longest is shut down and forgotten.
pub const MAX_KEPT_AGENTS: usize = 64;

/// What a runtime works with.
#[derive(Clone)]
pub struct RuntimeOptions {
    /// Where models are. Settings name them.
    pub providers: Vec<Arc<dyn Provider>>,
    /// What every agent can do. The first tool that a call is for carries it out.
    pub tools: Vec<Arc<dyn Tool>>,
    /// What stands before everything that an agent can do, its own tools included.
    pub first_tools: Vec<Arc<dyn Tool>>,
    /// Says when agents go on, where something does.
    pub pace: Option<Arc<dyn Pace>>,
    /// Where sessions are recorded, if they are.
    pub recording: Option<TraceRoot>,
    /// The shell that runs commands of users; it must take `-lc`.
    pub shell: PathBuf,
    /// Variables of the environment that commands of users do not inherit, such as those that hold keys.
    pub hidden_variables: Vec<String>,
    /// Which variables of the environment commands of users get, beside those that are named above.
    pub environment: Arc<CommandEnvironment>,
    /// The folders that commands may write to, or could before.
    pub folders: Arc<WritableFolderRegistry>,
    /// What the sandbox has to know of the machine and of the server.
    pub surroundings: Surroundings,
    /// Tokens that a window holds, whatever the model is.
    pub context_window: Option<u64>,
    /// Tokens in a request from which on a history is made shorter by itself, whatever the model is. Without it, and without
    /// one in `windows`, [`COMPACT_AT_PERCENT`] of the window counts; without that either, nothing happens by itself.
    pub compact_at: Option<u64>,
    /// What is known of the windows of single models.
    pub windows: Vec<ModelWindow>,
    /// Most bytes of a project's instructions that the model is shown; with 0 nobody looks for them.
    pub project_bytes: usize,
    /// Most agents of a tree that are kept; see [`MAX_KEPT_AGENTS`].
    pub kept_agents: usize,
    /// What time it is.
    pub clock: Arc<dyn Clock>,
    /// Where the jitter of retries begins.
    pub seed: u64,
}

impl RuntimeOptions {
    /// Returns options with these providers and tools, without a recording.
    pub fn new(providers: Vec<Arc<dyn Provider>>, tools: Vec<Arc<dyn Tool>>) -> Self {
        let clock = SystemClock;
        let seed = clock.now_ms().unsigned_abs();
        Self {
            providers,
            tools,
            first_tools: Vec::new(),
            pace: None,
            recording: None,
            shell: PathBuf::from("/bin/sh"),
            hidden_variables: Vec::new(),
            environment: Arc::default(),
            folders: Arc::default(),
            surroundings: Surroundings::default(),
            context_window: None,
            compact_at: None,
            windows: Vec::new(),
            project_bytes: MAX_PROJECT_BYTES,
            kept_agents: MAX_KEPT_AGENTS,
            clock: Arc::new(clock),
            seed,
        }
    }

    /// Returns the provider that settings name.
    pub fn provider(&self, name: &str) -> Option<&Arc<dyn Provider>> {
        self.providers.iter().find(|provider| provider.name() == name)
    }

    /// Returns how many tokens the window of a model holds, where that is known.
    pub fn context_window(&self, model: &str) -> Option<u64> {
        self.context_window.or_else(|| self.window(model)?.context_window)
    }

    /// Returns the number of tokens from which on a history is made shorter by itself.
    pub fn compact_at(&self, model: &str) -> Option<u64> {
        let of_model = || self.window(model)?.compact_at;
        let of_window = || Some(self.context_window(model)?.saturating_mul(COMPACT_AT_PERCENT) / 100);
        self.compact_at.or_else(of_model).or_else(of_window)
    }

    fn window(&self, model: &str) -> Option<&ModelWindow> {
        self.windows.iter().find(|window| window.model == model)
    }
}

/// What is known of a model's window.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelWindow {
    /// The model, as settings name it.
    pub model: String,
    /// Tokens that the window holds.
    pub context_window: Option<u64>,
    /// Tokens in a request from which on a history is made shorter by itself.
    pub compact_at: Option<u64>,
}
