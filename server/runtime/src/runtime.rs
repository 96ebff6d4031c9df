//! What all agents share, and how agents are made.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::host::Host;
pub use crate::options::{COMPACT_AT_PERCENT, MAX_KEPT_AGENTS, MAX_PROJECT_BYTES, ModelWindow, RuntimeOptions};

/// What all agents share. Made once; [`start`](Self::start) makes agents.
pub struct Runtime {
    options: RuntimeOptions,
    host: Arc<dyn Host>,
    next_seed: AtomicU64,
}

impl Runtime {
    /// Returns a runtime that works for a host.
    pub fn new(options: RuntimeOptions, host: Arc<dyn Host>) -> Arc<Self> {
        let next_seed = AtomicU64::new(options.seed);
        Arc::new(Self { options, host, next_seed })
    }

    /// Returns who hears what happens.
    pub fn host(&self) -> &Arc<dyn Host> {
        &self.host
    }

    /// Returns what the runtime works with.
    pub fn options(&self) -> &RuntimeOptions {
        &self.options
    }

    /// Returns a seed that no other turn has.
    pub(crate) fn seed(&self) -> u64 {
        self.next_seed.fetch_add(1, Ordering::Relaxed)
    }
}

impl fmt::Debug for Runtime {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Runtime").finish_non_exhaustive()
    }
}
