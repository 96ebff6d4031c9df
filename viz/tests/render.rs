//! Diagrams in every language, held against the programs that read them.
//!
//! `dot` is looked for on the search path, Mermaid's parser where `TRACE_NODE_MODULES` says. Where one is missing, what
//! needs it says so and does nothing.

#[path = "render/bundles.rs"]
mod bundles;
#[path = "render/diagrams.rs"]
mod diagrams;
#[path = "render/dot.rs"]
mod dot;
#[path = "render/mermaid.rs"]
mod mermaid;
#[path = "render/snapshots.rs"]
mod snapshots;
#[path = "render/svg.rs"]
mod svg;
