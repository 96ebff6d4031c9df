//! Tests what diagrams of whole sessions show, and the laws of all diagrams.

mod laws;
mod sessions;
mod shown;
