//! Reads any bytes as a transcript of Claude Code, with those of two children. A zero byte separates the files.
#![no_main]

mod imported;

use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use tempfile::TempDir;
use trace_import::SessionRef;

/// A home of the program.
static HOME: LazyLock<TempDir> = LazyLock::new(|| tempfile::tempdir().expect("a directory"));

/// The session of the seeds.
const SESSION: &str = "4aab3200-c3f4-41a1-8c19-25e4b5ab8c36";

fuzz_target!(|data: &[u8]| {
    let mut files = imported::files(data);
    let mut next = || files.next().unwrap_or_default();
    let root = imported::write(HOME.path(), &format!("projects/repo/{SESSION}.jsonl"), next());
    imported::write(HOME.path(), &format!("projects/repo/{SESSION}/subagents/agent-a1.jsonl"), next());
    imported::write(HOME.path(), "projects/repo/agent-b2.jsonl", next());
    imported::check(&SessionRef::file("claude-code", &root));
    imported::check(&SessionRef::file("claude-code-stream", &root));
});
