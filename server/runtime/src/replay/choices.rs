//! What whoever plays a recording can choose.

/// Where answers of tools come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ReplayTools {
    /// The recording; the tools for other agents work all the same.
    #[default]
    Recorded,
    /// The tools.
    Live,
}

/// What a divergence does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum OnDivergence {
    /// The turn in which it is fails, and so does every later one of any agent.
    #[default]
    Stop,
    /// Recorded answers are played on, for as long as there are any.
    Continue,
}
