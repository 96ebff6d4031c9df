//! Tests that use private items of several modules.

mod fifo;
#[expect(clippy::unwrap_used, reason = "a test that fails says where")]
mod server;
