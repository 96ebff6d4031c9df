//! Reads any bytes as a chat file of Gemini CLI, with a child and a telemetry log beside it. A zero byte separates the three.
#![no_main]

mod imported;

use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use tempfile::TempDir;
use trace_import::SessionRef;

/// A home of the program.
static HOME: LazyLock<TempDir> = LazyLock::new(|| tempfile::tempdir().expect("a directory"));

/// The session and the child of the seeds.
const SESSION: &str = "0c62d305-917c-4e5b-be16-4f9464ad429f";
const CHILD: &str = "43082151-1979-4989-8950-dc4fbada763b";

fuzz_target!(|data: &[u8]| {
    let mut files = imported::files(data);
    let mut next = || files.next().unwrap_or_default();
    let chat = imported::write(HOME.path(), "tmp/repo/chats/session-2026-11-22T21-27-0c62d305.jsonl", next());
    imported::write(HOME.path(), &format!("tmp/repo/chats/{SESSION}/{CHILD}.jsonl"), next());
    imported::write(HOME.path(), "tmp/telemetry.log", next());
    imported::check(&SessionRef::file("gemini-cli", &chat));
});
