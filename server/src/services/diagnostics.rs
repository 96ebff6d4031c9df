//! Measurements of the running server.

use trace_protocol::connection::{ServerDiagnosticsGauge, ServerDiagnosticsProcess, ServerDiagnosticsResponse};

/// A named measurement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Gauge {
    /// The name. Its parts are separated by dots.
    pub name: String,
    /// The measured value.
    pub value: u64,
}

/// Returns the id and the memory of the process, and the gauges.
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

/// Returns the resident memory of the process in bytes, if the system reports it.
#[cfg(target_os = "linux")]
fn resident_memory_bytes() -> Option<u64> {
    let pages: u64 = std::fs::read_to_string("/proc/self/statm").ok()?.split(' ').nth(1)?.parse().ok()?;
    pages.checked_mul(rustix::param::page_size() as u64)
}

/// Returns `None`, because this system is not supported.
#[cfg(not(target_os = "linux"))]
fn resident_memory_bytes() -> Option<u64> {
    None
}
