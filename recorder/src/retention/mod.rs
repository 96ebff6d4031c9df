//! Which bundles go when there are too many, and how they go.
//!
//! The decision is made on a list of what is there and touches nothing. A bundle that is deleted is first given a hidden
//! name, so that nobody ever finds half of one.

mod candidate;
mod delete;
mod leftovers;
mod rules;
#[cfg(test)]
mod support;

pub use candidate::{CLOCK_AHEAD, Candidate, Protection, QUIET_FOR, look_at};
pub use delete::{PRUNED_PREFIX, delete};
pub(crate) use delete::{hidden_name, remove};
pub use leftovers::{delete_leftover, find_leftovers};
pub use rules::{Rules, Verdict, decide};
