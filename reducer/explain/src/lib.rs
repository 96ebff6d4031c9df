//! Answers questions about a reduced session.
//!
//! The graph of `trace-reducer` is the input. All functions work on a [`Session`]: a bundle, its graph, and the
//! payloads of the bundle, which are read one by one when an answer needs them. An answer refers to objects by their
//! names in `state.json` ([`ObjectRef`]) and is a value that can be serialized. The crate does not format answers for
//! terminals or pages.

pub mod activity;
pub mod audit;
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
pub mod prompt;
mod result;
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
