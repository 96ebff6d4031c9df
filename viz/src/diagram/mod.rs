//! Pictures of a session as boxes and arrows.
//!
//! A view turns a session into a [`Diagram`]. A diagram says what is shown, and nothing about where the boxes are
//! placed or in which language they are written: that is the task of [`render`].
//!
//! A diagram never has more nodes than the options allow. Objects for which there is no room are folded with similar or
//! neighbouring objects. Objects that went well are folded before those that failed and the chain to them. A folded node
//! says how many objects it stands for, and notes say what is folded. Besides the postmortem, which every view needs,
//! making a diagram takes time proportional to the size of the session times the logarithm of the number of objects
//! that it could show.

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
    /// Returns an error if the options ask for a thread or a turn that the session does not have, or for the cause of a
    /// failure where nothing failed.
    pub fn new(session: &Session, options: &Options) -> Result<Self, DiagramError> {
        let facts = facts::Facts::new(session);
        match options.view {
            View::Agents => agents::agents(&facts, options),
            View::Turns | View::Calls => chain::chain(&facts, options),
            View::Causal => causal::causal(&facts, options),
        }
    }
}
