//! Writes diagrams in several languages and as pictures.
//!
//! Each renderer takes any [`Diagram`](super::Diagram), cleans and shortens its texts, and escapes them for its
//! language. Equal diagrams make equal bytes.

mod dot;
mod graphviz;
mod layout;
mod mermaid;
mod outline;
mod png;
mod style;
mod svg;
mod text;

pub use dot::{MAX_NESTING, dot};
pub use graphviz::{Graphviz, GraphvizError, MAX_COMPLAINT_BYTES, MAX_GRAPHVIZ_BYTES, svg_by_graphviz};
pub use mermaid::{MAX_MERMAID_CHARS, MAX_MERMAID_EDGES, MermaidError, mermaid};
pub use png::{Fonts, MAX_PNG_PIXELS, MAX_PNG_SIDE, PNG_SCALE, PngError, png};
pub use svg::svg;
pub use text::{MAX_LINK_BYTES, MAX_NOTE_COLUMNS, permalink};
