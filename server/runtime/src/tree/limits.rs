//! Limits of names and messages of agents.

/// Most bytes of the name of an agent.
pub const MAX_NAME_BYTES: usize = 64;

/// Most bytes of a message between agents.
pub const MAX_MESSAGE_BYTES: usize = 256 << 10;
