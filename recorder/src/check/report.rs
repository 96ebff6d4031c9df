//! Runs all checks of a bundle.

use super::directory::{check_files, check_recorder};
use super::finding::Findings;
use super::log::check_log;
use super::manifest::check_manifest;
use super::packed::check_packed_files;
use super::payloads::check_payloads;
use crate::bundle::Bundle;
use crate::payloads::PayloadEntry;
use crate::severity::Severity;

/// Sizes of the checked bundle.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Counts {
    /// Number of lines in the log.
    pub lines: u64,
    /// Number of events among these lines.
    pub events: u64,
    /// Wall clock of the first event and of the last, in milliseconds since the Unix epoch. `None` without events.
    pub clock_span: Option<(i64, i64)>,
    /// Number of payload references.
    pub references: u64,
    /// Number of files in the payload directory.
    pub payload_files: u64,
    /// Size of these files in bytes.
    pub payload_bytes: u64,
    /// The largest of these files.
    pub largest_payload: Option<PayloadEntry>,
    /// Number of entries in the bundle directory, or at the top of a packed bundle.
    pub files: u64,
}

/// Result of a check.
#[derive(Debug, Clone, Default)]
pub struct Report {
    /// Sizes of the checked bundle.
    pub counts: Counts,
    /// The findings.
    pub findings: Findings,
}

impl Report {
    /// Returns whether no finding is an error.
    pub fn is_sound(&self) -> bool {
        self.findings.count_of(Severity::Error) == 0
    }
}

/// Checks a bundle. Nothing is changed, and damage is reported as findings, never as an error of the check.
pub fn check(bundle: &Bundle) -> Report {
    let mut findings = Findings::default();
    check_manifest(bundle, &mut findings);
    let (liveness, about_recorder) = check_recorder(bundle);
    let view = check_log(bundle, liveness, &mut findings);
    let payloads = check_payloads(bundle, &view.references, &mut findings);
    about_recorder.into_iter().for_each(|finding| findings.push(finding));
    let files = match bundle.packed() {
        Some(packed) => check_packed_files(packed, &mut findings),
        None => check_files(bundle.path(), &mut findings),
    };
    let counts = Counts {
        lines: view.lines,
        events: view.events,
        clock_span: view.clock.span,
        references: view.references.len() as u64,
        payload_files: payloads.files,
        payload_bytes: payloads.bytes,
        largest_payload: payloads.largest,
        files,
    };
    Report { counts, findings }
}
