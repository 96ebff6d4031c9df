//! A file of another agent, read in every way.

use std::fs;

use trace_import::{Format, open, recognize, sessions, summarize};
use trace_reducer::{Options, reduce};

/// Reads bytes as a file with this name. The bundle that is made of them must reduce without a finding, and its summary must have the
/// numbers of the graph.
pub fn read(name: &str, data: &[u8]) {
    let folder = tempfile::tempdir().expect("a directory");
    let path = folder.path().join(name);
    fs::write(&path, data).expect("writes");
    let _ = recognize(&path).expect("reads").map(Format::name);
    for session in sessions(&path).unwrap_or_default() {
        let summary = summarize(&session);
        let Ok(bundle) = open(&session) else { continue };
        let strict = Options { strict: true, ..Options::default() };
        let reduction = reduce(&bundle, strict).expect("what is imported is a whole bundle");
        let summary = summary.expect("what can be imported has a summary");
        assert_eq!(summary.threads, reduction.trace.threads.len() as u64);
        assert_eq!(summary.turns, reduction.trace.turns.len() as u64);
        assert_eq!(summary.tool_calls, reduction.trace.tools.len() as u64);
    }
}
