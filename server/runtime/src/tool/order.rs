//! Which calls of one answer wait for which.

/// Something that calls have in common.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Room {
    /// The other agents of the tree.
    Agents,
    /// The files of the working folder.
    Files,
    /// What the agent shows of its plan.
    Plan,
    /// A command that runs, by the id that the model knows.
    Terminal(u32),
    /// A server of tools, by its name.
    Server(String),
}

/// When a call may begin, among the calls of one answer. Calls in different rooms never wait for each other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Order {
    /// At once: it is independent of all others.
    AtOnce,
    /// When the calls before it that change the room have ended. Nobody waits for it.
    Behind(Room),
    /// When the calls before it that change the room have ended. Later calls that change the room wait for it.
    Reads(Room),
    /// When all calls before it in the room have ended. Later calls in the room wait for it.
    Changes(Room),
}
