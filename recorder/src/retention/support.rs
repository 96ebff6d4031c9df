//! Helpers for the tests of retention.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use crate::format::PAYLOADS_DIR;

pub(super) const DAY: Duration = Duration::from_secs(86_400);

pub(super) fn bundle(root: &Path, name: &str) -> PathBuf {
    let path = root.join(name);
    fs::create_dir_all(path.join(PAYLOADS_DIR)).expect("creates");
    fs::write(path.join("manifest.json"), "{}").expect("writes");
    fs::write(path.join("trace.jsonl"), "").expect("writes");
    fs::write(path.join("payloads/1.json"), "12345").expect("writes");
    path
}

pub(super) fn later() -> SystemTime {
    SystemTime::now() + DAY
}
