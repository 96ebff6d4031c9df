//! What diagrams of whole sessions show, and what is true of all of them.

mod laws;
mod sessions;
mod shown;
