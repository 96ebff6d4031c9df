//! Reads any bytes as a transcript of Claude Code, with those of two children. A zero byte separates the files.
#![no_main]

mod imported;

use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use tempfile::TempDir;

/// A home of the program.
static HOME: LazyLock<TempDir> = LazyLock::new(|| tempfile::tempdir().expect("a directory"));

fuzz_target!(|data: &[u8]| imported::claude(HOME.path(), data));
