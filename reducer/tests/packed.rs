//! A packed bundle reduces to the same state as its directory.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use trace_recorder::Bundle;
use trace_recorder::pack::{Level, PackedBundle, Source, pack, unpack, verify};
use trace_reducer::state_json::{self, Style};
use trace_reducer::{Options, reduce};

/// Returns the bundles right below `root`.
fn bundles(root: &Path) -> Vec<PathBuf> {
    let mut bundles: Vec<PathBuf> = fs::read_dir(root)
        .expect("lists")
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.join("trace.jsonl").exists() || path.join("manifest.json").exists())
        .collect();
    bundles.sort();
    bundles
}

/// Returns the diagnostics, `state.json` and the compact form.
fn state(path: &Path, strict: bool) -> Result<String, String> {
    let bundle = Bundle::open(path).expect("opens");
    let reduction = reduce(&bundle, Options { strict, verify: false }).map_err(|error| error.to_string())?;
    let mut text = Vec::new();
    state_json::write(&reduction, Style::Pretty, &mut text).expect("memory does not fail");
    text.push(b'\n');
    state_json::write_compact(&reduction, &mut text).expect("memory does not fail");
    let told: String = reduction.diagnostics.iter().map(|diagnostic| format!("{diagnostic}\n")).collect();
    Ok(told + &String::from_utf8(text).expect("UTF-8"))
}

/// Replaces the path of the bundle, which diagnostics about missing files contain.
fn without_place(text: Result<String, String>, place: &Path) -> Result<String, String> {
    let place = place.to_string_lossy();
    text.map(|text| text.replace(&*place, "BUNDLE")).map_err(|text| text.replace(&*place, "BUNDLE"))
}

/// Packs, unpacks and reduces each bundle.
fn compare_all(bundles: &[PathBuf]) {
    for directory in bundles {
        let place = tempfile::tempdir().expect("a directory");
        let path = place.path().join("bundle.trace");
        let source = Source::list(directory).expect("lists");
        let out = File::create(&path).expect("creates");
        pack(&source, &out, Level::new(3).expect("a level")).expect("packs");
        let packed = PackedBundle::open(&path).expect("opens");
        verify(&packed, &source).expect("is the same");
        let unpacked = place.path().join("unpacked");
        fs::create_dir(&unpacked).expect("creates");
        unpack(&packed, &unpacked, u64::MAX).expect("unpacks");
        verify(&packed, &Source::list(&unpacked).expect("lists")).expect("is the same again");
        for strict in [false, true] {
            let expected = without_place(state(directory, strict), directory);
            let found = without_place(state(&path, strict), &path);
            if expected.as_ref().is_ok_and(|text| text.contains("BUNDLE")) {
                // A missing manifest or log has another message in a packed bundle.
                assert!(found.is_ok_and(|text| text.contains("BUNDLE")), "{}", directory.display());
            } else {
                assert!(found == expected, "{} packed reduces to another state", directory.display());
            }
        }
    }
}

#[test]
fn every_case_reduces_packed_as_it_does_unpacked() {
    let bundles = bundles(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases"));
    assert_eq!(bundles.len(), 245);
    compare_all(&bundles);
}

#[test]
fn every_recording_reduces_packed_as_it_does_unpacked() {
    let recordings = trace_needs::recordings("packing");
    compare_all(&recordings.into_iter().map(|recording| recording.bundle).collect::<Vec<_>>());
}
