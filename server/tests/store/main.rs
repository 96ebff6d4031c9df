//! Stored threads, from outside: what another program recorded, and what it makes of ours.

#![expect(
    clippy::unwrap_used,
    clippy::print_stderr,
    reason = "a test that fails says where, and one that does not run says so"
)]

mod fixture;
mod peer;
mod support;
