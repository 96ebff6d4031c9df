//! What somebody wants to see, and why it cannot be shown.

use super::model::View;

/// Most nodes of a diagram of which nobody said how large it may be. More do not fit on a screen.
pub const DEFAULT_MAX_NODES: usize = 60;

/// Fewest children of one agent that look alike and are folded by [`Rule::Siblings`].
pub const MIN_ALIKE_SIBLINGS: usize = 9;

/// Fewest calls of one tool in a row that are folded by [`Rule::Tools`].
pub const MIN_EQUAL_CALLS: usize = 3;

/// What is folded even if there is room for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rule {
    /// Children of one agent that look alike, with all agents below them, if at least [`MIN_ALIKE_SIBLINGS`] do and there
    /// was no trouble with them.
    Siblings,
    /// Calls of the same tool in a row that went well, if they are at least [`MIN_EQUAL_CALLS`].
    Tools,
    /// Agents with more than so many agents above them, if there was no trouble with them.
    Depth(usize),
}

/// What somebody wants to see.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Options {
    /// What of the session.
    pub view: View,
    /// One thread, by its agent path or id: in [`View::Agents`] with all agents below it.
    pub thread: Option<String>,
    /// One turn, by its id or the beginning or end of it.
    pub turn: Option<String>,
    /// Most nodes; of 0, one is made.
    pub max_nodes: usize,
    /// What is folded even if there is room for it.
    pub collapse: Vec<Rule>,
}

impl Options {
    /// Asks for a view of the whole session.
    pub fn new(view: View) -> Self {
        let collapse = vec![Rule::Siblings, Rule::Tools];
        Self { view, thread: None, turn: None, max_nodes: DEFAULT_MAX_NODES, collapse }
    }

    pub(super) fn folds_siblings(&self) -> bool {
        self.collapse.contains(&Rule::Siblings)
    }

    pub(super) fn folds_tools(&self) -> bool {
        self.collapse.contains(&Rule::Tools)
    }

    /// Returns how many agents may be above one that is shown.
    pub(super) fn max_depth(&self) -> usize {
        let depths =
            self.collapse.iter().filter_map(|rule| if let Rule::Depth(depth) = rule { Some(*depth) } else { None });
        depths.min().unwrap_or(usize::MAX)
    }
}

/// Why there is nothing to show.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DiagramError {
    /// No thread has that agent path or id.
    #[error("the session has no thread {thread:?}")]
    NoThread {
        /// What was asked for.
        thread: String,
    },
    /// No turn has an id like that.
    #[error("the session has no turn {turn:?}")]
    NoTurn {
        /// What was asked for.
        turn: String,
    },
    /// Several turns have ids like that.
    #[error("{count} turns have ids like {turn:?}")]
    ManyTurns {
        /// What was asked for.
        turn: String,
        /// How many turns have it.
        count: usize,
    },
    /// The turn is of another thread.
    #[error("turn {turn:?} is not one of thread {thread:?}")]
    OtherThread {
        /// What was asked for.
        turn: String,
        /// What was asked for.
        thread: String,
    },
    /// The view shows threads as wholes.
    #[error("the view of agents shows no single turns")]
    NoTurnsInView,
    /// No turn needs attention, so there is no way to a cause.
    #[error("no turn {within}needs attention: nothing failed that was not made good")]
    NothingWrong {
        /// Empty, or `of the thread ` for one thread.
        within: &'static str,
    },
    /// The turn came out well, so there is no way to a cause.
    #[error("turn {turn:?} came out well: there is no cause to show")]
    TurnIsFine {
        /// Id of the turn.
        turn: String,
    },
}
