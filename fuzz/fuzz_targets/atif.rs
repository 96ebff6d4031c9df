//! Reads any bytes as a trajectory in ATIF. Nothing may panic, and what is imported must be a whole bundle.
#![no_main]

mod imported;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| imported::atif(data));
