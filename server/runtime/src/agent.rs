//! One thread of a conversation that can work.

use std::fmt;
use std::sync::Arc;

use crate::id::ThreadId;

/// One thread of a conversation: its settings, what the model has seen, and at most one turn that runs. Clones are the same
/// agent.
#[derive(Clone)]
pub struct Agent(Arc<Inner>);

struct Inner {
    id: ThreadId,
}

impl Agent {
    /// Returns the id of the thread.
    pub fn id(&self) -> &ThreadId {
        &self.0.id
    }
}

impl fmt::Debug for Agent {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_tuple("Agent").field(&self.0.id).finish()
    }
}
