//! What tests need and a machine may lack. Only tests use this.
//!
//! A test that cannot run, or not as a whole, calls [`skip`] and goes on. The line that says so passes the test harness, which
//! hides what is printed by tests that pass, and `.ci/run` lists all such lines at its end. With `TRACE_REQUIRE_ALL=1` a skip is
//! a failure, unless `TRACE_MAY_SKIP` names the need. The functions beside it find what tests share: programs, recordings,
//! the peer. The section "What tests need" of `docs/testing.md` says how to get each; a test compares its table with [`Need`].
//!
//! Tests read no variable themselves to find out what the machine has.

mod find;
mod skip;

pub use find::{
    Recording, browser, node, node_modules, on_path, peer, python, recordings, repository, scripted_model,
    state_by_peer,
};
pub use skip::{Need, skip};
