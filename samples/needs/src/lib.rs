//! What tests need and a machine may lack: programs, recordings and features of the system. Only tests use this crate.
//!
//! A test that cannot run, or can run only in part, calls [`skip`] and returns. Its line appears although the test
//! harness hides the output of tests that pass, and `.ci/run` lists all such lines at its end. With
//! `TRACE_REQUIRE_ALL=1`, a skip fails the test, unless `TRACE_MAY_SKIP` contains the name of the need. The other
//! functions find what tests share. The section "What tests need" of `docs/testing.md` describes how to install each
//! need; a test compares its table with [`Need`].
//!
//! Tests do not read environment variables themselves to find out what the machine has.

mod find;
mod signals;
mod skip;

pub use find::{
    Recording, audits, browser, imports, more_audits, node, node_modules, on_path, peer, python, recordings,
    repository, scripted_model, state_by_peer,
};
pub use signals::unignore_sighup;
pub use skip::{Need, skip};
