//! What time it is, for events and for the model.

use std::fmt::Debug;

use jiff::Zoned;

/// Tells the time. Waiting is not its business: tasks wait on tokio's time.
pub trait Clock: Debug + Send + Sync + 'static {
    /// Returns the milliseconds since 1970.
    fn now_ms(&self) -> i64;

    /// Returns the date where the user is, as `2026-01-31`.
    fn date(&self) -> String;
}

/// The time of the system.
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
