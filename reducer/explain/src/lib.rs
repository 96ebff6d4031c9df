//! Answers questions about a reduced session.
//!
//! The graph of `trace-reducer` is evidence; this crate is what reads it. Everything here works on a [`Session`]: a
//! bundle, its graph, and the payloads of the bundle, which are read one by one when an answer needs them. An answer names
//! objects as `state.json` does ([`ObjectRef`]) and is a value that serializes; how it looks on a terminal or a page is not
//! this crate's business.

pub mod activity;
pub mod causal;
pub mod clock;
pub mod context;
pub mod costs;
pub mod critical_path;
pub mod diff;
pub mod family;
pub mod grep;
pub mod inherited;
pub mod label;
pub mod live;
pub mod mail;
pub mod object;
pub mod outcome;
pub mod postmortem;
pub mod prices;
pub mod session;
pub mod sightings;
pub mod texts;
pub mod timeline;
pub mod why;
pub mod words;

pub use causal::{CausalGraph, Link, Relation};
pub use family::Family;
pub use object::{Object, ObjectRef};
pub use session::{PayloadProblem, Session};
pub use sightings::Sightings;
