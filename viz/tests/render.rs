//! Diagrams in every language, held against the programs that read them.
//!
//! `dot` is looked for on the search path. Where it is missing, what needs it says so and does nothing.

#[path = "render/diagrams.rs"]
mod diagrams;
#[path = "render/dot.rs"]
mod dot;
#[path = "render/mermaid.rs"]
mod mermaid;
