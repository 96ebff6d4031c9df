//! The options of a runtime: providers, tools, limits, and where sessions are recorded.

use std::path::PathBuf;
use std::sync::Arc;

use trace_recorder::write::TraceRoot;

use crate::clock::{Clock, SystemClock};
use crate::environment::CommandEnvironment;
use crate::pace::Pace;
use crate::provider::Provider;
use crate::sandbox::{Surroundings, WritableFolderRegistry};
use crate::tool::Tool;

/// Share of a known context window, in percent, at which a history is compacted automatically.
pub const COMPACT_AT_PERCENT: u64 = 90;

/// Default of [`RuntimeOptions::project_bytes`].
pub const MAX_PROJECT_BYTES: usize = 32 << 10;

/// Most agents of a tree that are kept, without the root, unless more may work at the same time. If another one is spawned,
/// the agent that has been idle for the longest time is shut down and removed.
pub const MAX_KEPT_AGENTS: usize = 64;

/// The options of a runtime.
#[derive(Clone)]
pub struct RuntimeOptions {
    /// The providers. Settings name one of them.
    pub providers: Vec<Arc<dyn Provider>>,
    /// The tools of every agent. The first one that accepts a call runs it.
    pub tools: Vec<Arc<dyn Tool>>,
    /// Tools that come before all others, also before an agent's own.
    pub first_tools: Vec<Arc<dyn Tool>>,
    /// Makes agents wait, for a replay.
    pub pace: Option<Arc<dyn Pace>>,
    /// Where sessions are recorded; `None` if they are not.
    pub recording: Option<TraceRoot>,
    /// The shell that runs commands of users; it must take `-lc`.
    pub shell: PathBuf,
    /// Variables of the environment that commands of users do not inherit, such as those that hold keys.
    pub hidden_variables: Vec<String>,
    /// The rules for the environment variables of commands, in addition to `hidden_variables`.
    pub environment: Arc<CommandEnvironment>,
    /// The folders that commands can or could write to.
    pub folders: Arc<WritableFolderRegistry>,
    /// What the sandbox needs to know about the machine and the server.
    pub surroundings: Surroundings,
    /// Size of the context window in tokens, for all models.
    pub context_window: Option<u64>,
    /// Tokens of a request from which on the history is compacted automatically, for all models. Without it, and without a value
    /// in `windows`, [`COMPACT_AT_PERCENT`] of the window is used. If the window is unknown too, the history is not compacted.
    pub compact_at: Option<u64>,
    /// Context windows of single models.
    pub windows: Vec<ModelWindow>,
    /// Most bytes of a project's `AGENTS.md` files that the model gets. With 0 they are not looked for.
    pub project_bytes: usize,
    /// Most agents of a tree that are kept; see [`MAX_KEPT_AGENTS`].
    pub kept_agents: usize,
    /// The clock.
    pub clock: Arc<dyn Clock>,
    /// Seed for the jitter of retries.
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

    /// Returns the provider with this name.
    pub fn provider(&self, name: &str) -> Option<&Arc<dyn Provider>> {
        self.providers.iter().find(|provider| provider.name() == name)
    }

    /// Returns the size of a model's context window in tokens; `None` if it is unknown.
    pub fn context_window(&self, model: &str) -> Option<u64> {
        self.context_window.or_else(|| self.window(model)?.context_window)
    }

    /// Returns the number of tokens from which on a history is compacted automatically; `None` if it is not.
    pub fn compact_at(&self, model: &str) -> Option<u64> {
        let of_model = || self.window(model)?.compact_at;
        let of_window = || Some(self.context_window(model)?.saturating_mul(COMPACT_AT_PERCENT) / 100);
        self.compact_at.or_else(of_model).or_else(of_window)
    }

    fn window(&self, model: &str) -> Option<&ModelWindow> {
        self.windows.iter().find(|window| window.model == model)
    }
}

/// The context window of a model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelWindow {
    /// Name of the model.
    pub model: String,
    /// Size of the window in tokens.
    pub context_window: Option<u64>,
    /// Tokens of a request from which on the history is compacted automatically.
    pub compact_at: Option<u64>,
}
