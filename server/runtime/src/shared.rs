//! State that all agents of a runtime share.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::host::Host;
use crate::options::RuntimeOptions;

/// State that all agents of a runtime share.
pub(crate) struct Shared {
    pub(crate) options: RuntimeOptions,
    pub(crate) host: Arc<dyn Host>,
    next_seed: AtomicU64,
}

impl Shared {
    pub(crate) fn new(options: RuntimeOptions, host: Arc<dyn Host>) -> Arc<Self> {
        let next_seed = AtomicU64::new(options.seed);
        Arc::new(Self { options, host, next_seed })
    }

    /// Returns a different seed for each turn.
    pub(crate) fn seed(&self) -> u64 {
        self.next_seed.fetch_add(1, Ordering::Relaxed)
    }
}
