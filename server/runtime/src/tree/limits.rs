//! Limits of what agents say to and of each other.

/// Most bytes of a name.
pub const MAX_NAME_BYTES: usize = 64;

/// Most bytes of what an agent says to another.
pub const MAX_MESSAGE_BYTES: usize = 256 << 10;
