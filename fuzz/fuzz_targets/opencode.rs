//! Reads any bytes as a session of opencode: as the output of its export, and each line as a file of its store.
//!
//! The database has the same records as the store.
#![no_main]

mod imported;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| imported::opencode(data));
