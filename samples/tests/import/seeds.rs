//! The seeds of the fuzz targets, among them what fuzzing has found, are read as whole bundles.

#[path = "../../../fuzz/fuzz_targets/imported/mod.rs"]
mod targets;

use std::path::Path;

/// Calls a fuzz target with each of its seeds.
fn seeds(target: &str, check: impl Fn(&Path, &[u8])) {
    let folder = trace_needs::repository().join("fuzz/seeds").join(target);
    let mut count = 0;
    for file in std::fs::read_dir(&folder).expect("a folder of seeds") {
        let home = tempfile::tempdir().expect("a directory");
        check(home.path(), &std::fs::read(file.expect("a file").path()).expect("reads"));
        count += 1;
    }
    assert!(count > 2, "{} has {count} seeds", folder.display());
}

#[test]
fn seeds_of_all_targets_are_whole_bundles() {
    seeds("codex", targets::codex);
    seeds("claude", targets::claude);
    seeds("gemini", targets::gemini);
    seeds("opencode", |_, data| targets::opencode(data));
    seeds("otel", |_, data| targets::otel(data));
    seeds("atif", |_, data| targets::atif(data));
}
