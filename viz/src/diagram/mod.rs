//! Pictures of a session as boxes and arrows.
//!
//! A view makes a [`Diagram`] of a session, which knows what is shown and nothing of how: where boxes stand, and in which
//! language they are written, is up to those who render it.

mod model;
pub mod render;

pub use model::{Diagram, Edge, EdgeStyle, Group, GroupIdx, Mark, Node, NodeIdx, Shape, View};
