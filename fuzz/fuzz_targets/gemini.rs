//! Reads any bytes as a chat file of Gemini CLI, with a child and a telemetry log beside it. A zero byte separates the three.
#![no_main]

mod imported;

use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use tempfile::TempDir;

/// A home of the program.
static HOME: LazyLock<TempDir> = LazyLock::new(|| tempfile::tempdir().expect("a directory"));

fuzz_target!(|data: &[u8]| imported::gemini(HOME.path(), data));
