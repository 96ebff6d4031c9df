//! Which calls of one answer wait for which.

/// Something that calls have in common.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Resource {
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

/// When a call may begin, among the calls of one answer. Calls in different resources never wait for each other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CallOrder {
    /// At once: it is independent of all others.
    Independent,
    /// When the calls before it that change the resource have ended. Nobody waits for it.
    AfterChanges(Resource),
    /// When the calls before it that change the resource have ended. Later calls that change the resource wait for it.
    Reads(Resource),
    /// When all calls before it in the resource have ended. Later calls in the resource wait for it.
    Changes(Resource),
}
