//! Reads any bytes as a rollout of the Codex CLI, with that of a child beside it. A zero byte separates the two.
#![no_main]

mod imported;

use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use tempfile::TempDir;
use trace_import::SessionRef;

/// A home of the program.
static HOME: LazyLock<TempDir> = LazyLock::new(|| tempfile::tempdir().expect("a directory"));

/// The threads of the seeds.
const ROOT: &str = "01a20517-0d54-7e41-a528-ca5c72628276";
const CHILD: &str = "01a20517-0de2-74f3-89a1-1d10e63117ff";

fuzz_target!(|data: &[u8]| {
    let mut files = imported::files(data);
    let mut next = |thread: &str| {
        let name = format!("sessions/2026/11/22/rollout-2026-11-22T21-08-46-{thread}.jsonl");
        imported::write(HOME.path(), &name, files.next().unwrap_or_default())
    };
    let root = next(ROOT);
    next(CHILD);
    imported::check(&SessionRef::file("codex", &root));
});
