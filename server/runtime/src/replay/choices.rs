//! Options of a replay.

/// Where outputs of tools come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ReplayTools {
    /// From the recording. The tools that concern other agents run nevertheless.
    #[default]
    Recorded,
    /// From the live tools.
    Live,
}

/// What happens after a divergence.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum OnDivergence {
    /// The turn with the divergence fails, and so does every later turn of any agent.
    #[default]
    Stop,
    /// The replay continues with recorded answers as long as there are any.
    Continue,
}
