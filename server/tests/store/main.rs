//! Stored threads, from outside: what another program recorded, and what it makes of ours.

#![expect(clippy::unwrap_used, reason = "a test that fails says where")]

mod fixture;
mod peer;
mod support;
