//! Figures of the running server.

use trace_protocol::connection::{ServerDiagnosticsGauge, ServerDiagnosticsProcess, ServerDiagnosticsResponse};

/// A figure with its name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Gauge {
    /// Its name; dots part it.
    pub name: String,
    /// How much.
    pub value: u64,
}

/// Returns the process and its figures.
#[must_use]
pub fn diagnostics(gauges: Vec<Gauge>) -> ServerDiagnosticsResponse {
    ServerDiagnosticsResponse {
        gauges: gauges.into_iter().map(|Gauge { name, value }| ServerDiagnosticsGauge { name, value }).collect(),
        process: ServerDiagnosticsProcess {
            id: std::process::id(),
            physical_footprint_bytes: None,
            resident_memory_bytes: resident_memory_bytes(),
        },
    }
}

/// Returns how much memory the process has in use, where the system tells.
#[cfg(target_os = "linux")]
fn resident_memory_bytes() -> Option<u64> {
    let pages: u64 = std::fs::read_to_string("/proc/self/statm").ok()?.split(' ').nth(1)?.parse().ok()?;
    pages.checked_mul(rustix::param::page_size() as u64)
}

/// Returns how much memory the process has in use, where the system tells.
#[cfg(not(target_os = "linux"))]
fn resident_memory_bytes() -> Option<u64> {
    None
}
