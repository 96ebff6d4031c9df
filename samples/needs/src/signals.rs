//! Makes programs that tests start independent of how the tests were started.

use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Once};

/// Number of the signal of a closed terminal.
const SIGHUP: i32 = 1;

/// Makes programs that this process starts from now on react to SIGHUP as usual, even if the tests run under `nohup`, which makes
/// them ignore it. A program inherits that a signal is ignored, but not that it is handled, so a handler without an effect is
/// enough.
///
/// # Panics
///
/// Panics if the signal is ignored and the handler cannot be installed.
pub fn unignore_sighup() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
        let ignored =
            status.lines().find_map(|line| u64::from_str_radix(line.strip_prefix("SigIgn:")?.trim(), 16).ok());
        if ignored.is_some_and(|ignored| ignored & (1 << (SIGHUP - 1)) != 0) {
            signal_hook::flag::register(SIGHUP, Arc::new(AtomicBool::new(false))).expect("a handler");
        }
    });
}
