//! Reads any bytes as a trajectory in ATIF. Nothing may panic, and what is imported must be a whole bundle.
#![no_main]

mod imported;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    imported::read("trajectory.json", data);
    // Few inputs name the format, so the steps of others are put into a trajectory.
    let steps = [&b"{\"schema_version\":\"ATIF-v1.7\",\"agent\":{\"name\":\"a\",\"version\":\"1\"},\"steps\":["[..], data, b"]}"].concat();
    imported::read("trajectory.json", &steps);
});
