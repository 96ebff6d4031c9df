//! Measurements, for people and for programs.

use std::time::Duration;

use comfy_table::{Table, presets};
use serde::Serialize;

/// A collection of durations.
#[derive(Debug, Clone, Default)]
pub struct Latencies(Vec<Duration>);

impl Latencies {
    /// Adds a duration.
    pub fn add(&mut self, time: Duration) {
        self.0.push(time);
    }

    /// Adds all durations of another collection.
    pub fn extend(&mut self, other: Self) {
        self.0.extend(other.0);
    }

    /// Returns a summary of the durations.
    #[must_use]
    pub fn summary(&self) -> Summary {
        let mut sorted = self.0.clone();
        sorted.sort_unstable();
        let at = |share: f64| {
            // The nearest-rank method: the smallest duration such that this share of all durations is at most as long.
            let rank = (share * sorted.len() as f64).ceil() as usize;
            sorted.get(rank.saturating_sub(1)).map_or(0.0, |time| time.as_secs_f64() * 1_000.0)
        };
        Summary { count: sorted.len(), median_ms: at(0.5), p99_ms: at(0.99), max_ms: at(1.0) }
    }
}

/// A summary of durations.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct Summary {
    /// Number of durations.
    pub count: usize,
    /// Median in milliseconds.
    pub median_ms: f64,
    /// 99th percentile in milliseconds.
    pub p99_ms: f64,
    /// Maximum in milliseconds.
    pub max_ms: f64,
}

impl Summary {
    /// Returns the numbers as cells of a table.
    #[must_use]
    pub fn cells(&self) -> Vec<String> {
        let times = [self.median_ms, self.p99_ms, self.max_ms];
        let mut cells = vec![self.count.to_string()];
        cells.extend(times.iter().map(|time| format!("{time:.2} ms")));
        cells
    }
}

/// Formats a number of bytes in megabytes.
#[must_use]
pub fn megabytes(bytes: u64) -> String {
    format!("{:.1} MB", bytes as f64 / 1e6)
}

/// Formats a table.
#[must_use]
pub fn table<const N: usize>(head: [&str; N], rows: impl IntoIterator<Item = Vec<String>>) -> String {
    let mut table = Table::new();
    table.load_style(presets::ASCII_MARKDOWN).set_header(head);
    table.add_rows(rows);
    table.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn summaries_take_the_nearest_rank() {
        let mut latencies = Latencies::default();
        assert_eq!(latencies.summary(), Summary::default());
        for milliseconds in (1..=200).rev() {
            latencies.add(Duration::from_millis(milliseconds));
        }
        let expected = Summary { count: 200, median_ms: 100.0, p99_ms: 198.0, max_ms: 200.0 };
        assert_eq!(latencies.summary(), expected);
    }
}
