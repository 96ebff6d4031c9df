//! Answers questions about a reduced session.
//!
//! The graph of `trace-reducer` is evidence; this crate is what reads it. Everything here works on a [`Session`]: a
//! bundle, its graph, and the payloads of the bundle, which are read one by one when an answer needs them. An answer names
//! objects as `state.json` does ([`ObjectRef`]) and is a value that serializes; how it looks on a terminal or a page is not
//! this crate's business.

pub mod context;
pub mod label;
pub mod live;
pub mod object;
pub mod session;
pub mod sightings;

pub use object::{Object, ObjectRef};
pub use session::{PayloadProblem, Session};
pub use sightings::Sightings;
