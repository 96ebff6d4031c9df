//! The time and date for events and for the model.

use std::fmt::Debug;

use jiff::Zoned;

/// A source of the current time. Timeouts do not use it; they use tokio's clock.
pub trait Clock: Debug + Send + Sync + 'static {
    /// Returns the current time in milliseconds since 1970.
    fn now_ms(&self) -> i64;

    /// Returns the local date of the user, such as `2026-01-31`.
    fn date(&self) -> String;
}

/// The clock of the system.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now_ms(&self) -> i64 {
        jiff::Timestamp::now().as_millisecond()
    }

    fn date(&self) -> String {
        Zoned::now().date().to_string()
    }
}
