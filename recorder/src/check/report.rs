//! A whole check.

use super::directory::{check_files, check_recorder};
use super::finding::Findings;
use super::log::check_log;
use super::manifest::check_manifest;
use super::packed::check_packed_files;
use super::payloads::check_payloads;
use crate::bundle::Bundle;
use crate::payloads::PayloadEntry;
use crate::severity::Severity;

/// What a check looked at.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Counts {
    /// Lines of the log.
    pub lines: u64,
    /// Events among them.
    pub events: u64,
    /// Wall clock of the first event and of the last, in milliseconds since the Unix epoch.
    pub clock_span: Option<(i64, i64)>,
    /// References to payloads.
    pub references: u64,
    /// Files in the payload directory.
    pub payload_files: u64,
    /// Their bytes.
    pub payload_bytes: u64,
    /// The largest of them.
    pub largest_payload: Option<PayloadEntry>,
    /// Entries of the bundle directory, or of the top of a packed bundle.
    pub files: u64,
}

/// What a check looked at, and what it has to say.
#[derive(Debug, Clone, Default)]
pub struct Report {
    /// What was looked at.
    pub counts: Counts,
    /// What is to be said.
    pub findings: Findings,
}

impl Report {
    /// Says whether the bundle is as its format wants it.
    pub fn is_sound(&self) -> bool {
        self.findings.count_of(Severity::Error) == 0
    }
}

/// Checks a bundle. Nothing is changed, and nothing that is wrong with the bundle makes the check fail.
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
