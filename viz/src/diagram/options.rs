//! What a user wants to see in a diagram, and the errors if it cannot be shown.

use super::model::View;

/// Default for the most nodes of a diagram. More do not fit on a screen.
pub const DEFAULT_MAX_NODES: usize = 60;

/// Fewest children of one agent that look alike for [`Rule::Siblings`] to fold them.
pub const MIN_ALIKE_SIBLINGS: usize = 9;

/// Fewest calls of one tool in a row for [`Rule::Tools`] to fold them.
pub const MIN_EQUAL_CALLS: usize = 3;

/// What is folded even if there is room for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rule {
    /// Children of one agent that look alike, with all agents below them, if there are at least [`MIN_ALIKE_SIBLINGS`]
    /// of them and none had trouble.
    Siblings,
    /// Calls of the same tool in a row that went well, if there are at least [`MIN_EQUAL_CALLS`] of them.
    Tools,
    /// Agents with more ancestors than this number, if neither they nor agents below them had trouble.
    Depth(usize),
}

/// What a user wants to see in a diagram.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Options {
    /// What the diagram shows.
    pub view: View,
    /// One thread, by its agent path or id. [`View::Agents`] shows it with all agents below it. `None` for all threads.
    pub thread: Option<String>,
    /// One turn, by its id or by the beginning or the end of its id. `None` for all turns.
    pub turn: Option<String>,
    /// Most nodes of the diagram. 0 counts as 1.
    pub max_nodes: usize,
    /// What is folded even if there is room for it.
    pub collapse: Vec<Rule>,
}

impl Options {
    /// Returns the options for a view of the whole session with the default rules.
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

    /// Returns how many ancestors an agent may have to be shown by itself.
    pub(super) fn max_depth(&self) -> usize {
        let depths =
            self.collapse.iter().filter_map(|rule| if let Rule::Depth(depth) = rule { Some(*depth) } else { None });
        depths.min().unwrap_or(usize::MAX)
    }
}

/// Why a diagram cannot be drawn.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DiagramError {
    /// No thread has this agent path or id.
    #[error("the session has no thread {thread:?}")]
    NoThread {
        /// The path or id from the options.
        thread: String,
    },
    /// No turn has this id, and no id begins or ends with it.
    #[error("the session has no turn {turn:?}")]
    NoTurn {
        /// The id from the options.
        turn: String,
    },
    /// The ids of several turns begin or end with this text.
    #[error("{count} turns have ids like {turn:?}")]
    ManyTurns {
        /// The id from the options.
        turn: String,
        /// How many turns match.
        count: usize,
    },
    /// The turn and the thread from the options do not belong together.
    #[error("turn {turn:?} is not one of thread {thread:?}")]
    OtherThread {
        /// The id of the turn from the options.
        turn: String,
        /// The path or id of the thread from the options.
        thread: String,
    },
    /// The options ask for a turn, but the view of agents shows threads as wholes.
    #[error("the view of agents shows no single turns")]
    NoTurnsInView,
    /// No turn needs attention, so there is no chain to a cause.
    #[error("no turn {within}needs attention: nothing failed that was not made good")]
    NothingWrong {
        /// Empty for the whole session, or `of the thread ` if the options ask for one.
        within: &'static str,
    },
    /// The turn came out well, so there is no chain to a cause.
    #[error("turn {turn:?} came out well: there is no cause to show")]
    TurnIsFine {
        /// Id of the turn.
        turn: String,
    },
}
