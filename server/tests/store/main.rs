//! Tests of stored threads through the public interface, and together with the Codex CLI.

#![expect(clippy::unwrap_used, reason = "a test that fails says where")]

mod fixture;
mod peer;
mod support;
