//! Decides which bundles to delete, and deletes them.
//!
//! The decision is a pure function of a list of bundles. Before a bundle is deleted, it is renamed to a hidden name, so
//! that nobody finds a partly deleted one.

mod candidate;
mod delete;
mod leftovers;
mod rules;
#[cfg(test)]
mod support;

pub use crate::hidden::PRUNED_PREFIX;
pub use candidate::{CLOCK_AHEAD, Candidate, Protection, QUIET_FOR, look_at};
pub use delete::delete;
pub use leftovers::{delete_leftover, find_leftovers};
pub use rules::{Rules, Verdict, decide};
