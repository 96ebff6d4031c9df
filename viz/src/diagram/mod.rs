//! Pictures of a session as boxes and arrows.
//!
//! A view makes a [`Diagram`] of a session, which knows what is shown and nothing of how: where boxes stand, and in which
//! language they are written, is up to those who render it.
//!
//! A diagram never has more nodes than asked for. What there is no room for is folded with what is like it or stands beside
//! it, and what went well before what failed and the way to it. A folded node tells of how many objects it stands for, and
//! notes tell what is folded. Making a diagram takes time proportional to the session (and the logarithm of what it could
//! show), on top of that of the postmortem, which every view asks.

mod agents;
mod arguments;
mod causal;
mod chain;
mod facts;
mod fold;
mod handovers;
mod model;
mod options;
pub mod render;
mod text;
mod tree;

use trace_explain::Session;

pub use model::{Diagram, Edge, EdgeStyle, Group, GroupIdx, Mark, Node, NodeIdx, Shape, View};
pub use options::{DEFAULT_MAX_NODES, DiagramError, MIN_ALIKE_SIBLINGS, MIN_EQUAL_CALLS, Options, Rule};
pub use text::{MAX_ARROW_COLUMNS, MAX_LABEL_COLUMNS, MAX_LABEL_LINES, MAX_TOOLTIP_COLUMNS, MAX_TOOLTIP_LINES};

impl Diagram {
    /// Makes a diagram of a session.
    ///
    /// # Errors
    ///
    /// Fails when the session does not have what was asked for: a thread, a turn, or anything that went wrong.
    pub fn new(session: &Session, options: &Options) -> Result<Self, DiagramError> {
        let facts = facts::Facts::new(session);
        match options.view {
            View::Agents => agents::agents(&facts, options),
            View::Turns | View::Calls => chain::chain(&facts, options),
            View::Causal => causal::causal(&facts, options),
        }
    }
}
