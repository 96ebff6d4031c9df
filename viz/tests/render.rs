//! Tests diagrams in every language with the programs that read it.
//!
//! `dot` is searched on the PATH, and Mermaid's parser in the folder `TRACE_NODE_MODULES`. If one of them is missing,
//! the tests that need it print that they were skipped.

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
