//! Reads any bytes as a rollout of the Codex CLI, with that of a child beside it. A zero byte separates the two.
#![no_main]

mod imported;

use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use tempfile::TempDir;

/// A home of the program.
static HOME: LazyLock<TempDir> = LazyLock::new(|| tempfile::tempdir().expect("a directory"));

fuzz_target!(|data: &[u8]| imported::codex(HOME.path(), data));
