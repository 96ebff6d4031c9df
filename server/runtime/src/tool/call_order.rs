//! The order of tool calls in one answer.

/// Something that calls share.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Resource {
    /// The other agents of the tree.
    Agents,
    /// The files of the working folder.
    Files,
    /// The plan that the agent shows.
    Plan,
    /// A running command, by the id that the model knows.
    Terminal(u32),
    /// An MCP server, by its name.
    Server(String),
}

/// When a call may start, relative to the other calls of its answer. Calls with different resources never wait for each
/// other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CallOrder {
    /// It starts at once and is independent of all others.
    Independent,
    /// It starts when earlier calls that change the resource have ended. No call waits for it.
    AfterChanges(Resource),
    /// It starts when earlier calls that change the resource have ended. Later calls that change the resource wait for it.
    Reads(Resource),
    /// It starts when all earlier calls with the resource have ended. Later calls with the resource wait for it.
    Changes(Resource),
}
