//! What a repair makes of a damaged bundle, a strict reduction accepts, and so does the peer.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use tempfile::TempDir;
use trace_recorder::Bundle;
use trace_recorder::check::{BACKUP_PREFIX, check, preview_repair, repair};
use trace_reducer::{Options, reduce};

/// Returns a directory whose files are synchronised in no time, where the system has one.
fn fast_directory() -> (TempDir, bool) {
    match tempfile::tempdir_in("/dev/shm") {
        Ok(directory) => (directory, true),
        Err(_) => (tempfile::tempdir().expect("a directory"), false),
    }
}

fn here(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

/// Tells something past the test's captured output.
fn tell(text: &str) {
    std::io::stderr().write_all(text.as_bytes()).expect("stderr");
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to.join("payloads")).expect("creates");
    for part in ["", "payloads"] {
        let Ok(entries) = fs::read_dir(from.join(part)) else { continue };
        for entry in entries.map(|entry| entry.expect("an entry")) {
            if entry.path().is_file() {
                fs::copy(entry.path(), to.join(part).join(entry.file_name())).expect("copies");
            }
        }
    }
}

fn strict(bundle: &Path) -> Result<(), String> {
    let bundle = Bundle::open(bundle).map_err(|error| error.to_string())?;
    reduce(&bundle, Options { strict: true, verify: false }).map(|_| ()).map_err(|error| error.to_string())
}

/// Bundles that a strict reduction accepts.
fn accepted(root: &Path) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = trace_recorder::bundle::find_bundles(root).expect("lists");
    found.retain(|bundle| strict(bundle).is_ok());
    found
}

/// Repairs a bundle and says what is wrong with the outcome.
fn mend(bundle: &Path) -> Option<String> {
    if let Err(error) = repair(bundle) {
        return Some(format!("{error}"));
    }
    let report = check(&Bundle::open(bundle).expect("opens"));
    if !report.is_sound() {
        return Some(format!("errors are left: {:?}", report.findings.iter().next()));
    }
    match preview_repair(bundle) {
        Ok(left) if left.is_empty() => {}
        left => return Some(format!("another repair would change {left:?}")),
    }
    strict(bundle).err()
}

fn forget_backups(bundle: &Path) {
    for entry in fs::read_dir(bundle).expect("lists").map(|entry| entry.expect("an entry")) {
        if entry.file_name().to_string_lossy().starts_with(BACKUP_PREFIX) {
            fs::remove_dir_all(entry.path()).expect("removes");
        }
    }
}

#[test]
fn a_bundle_that_reduces_strictly_has_no_errors() {
    let mut roots = vec![here("tests/cases"), here("../samples")];
    let corpus = here("../../shared/corpus");
    if corpus.is_dir() {
        roots.push(corpus);
    } else {
        tell("SKIPPED: no corpus of real recordings beside the repository\n");
    }
    let bundles: Vec<PathBuf> = roots.iter().flat_map(|root| accepted(root)).collect();
    assert!(bundles.len() > 100, "{} bundles", bundles.len());
    for path in bundles {
        // Its payloads are broken, and nobody reads them.
        if path.ends_with("v1-loose-envelope") {
            continue;
        }
        let report = check(&Bundle::open(&path).expect("opens"));
        assert!(report.is_sound(), "{}: {:?}", path.display(), report.findings.iter().next());
        let changes = preview_repair(&path).expect("can be looked at");
        // What git does not keep, and what the case is about.
        let is_fine = |code| code == "payload_directory_created" || code == "tail_ended";
        assert!(changes.iter().all(|change| is_fine(change.code())), "{}: {changes:?}", path.display());
    }
}

#[test]
fn a_log_that_is_cut_anywhere_is_repaired() {
    let (directory, is_fast) = fast_directory();
    for (case, step) in [("env-minimal", 1), ("full-two-threads", 13)] {
        let bundle = directory.path().join(case);
        copy(&here("tests/cases").join(case), &bundle);
        let log = fs::read(bundle.join("trace.jsonl")).expect("reads");
        for cut in (0..=log.len()).step_by(if is_fast { step } else { step * 29 }) {
            fs::write(bundle.join("trace.jsonl"), &log[..cut]).expect("writes");
            assert_eq!(mend(&bundle), None, "{case} cut at {cut}");
            let left = fs::read(bundle.join("trace.jsonl")).expect("reads");
            assert!(log.starts_with(&left), "{case} cut at {cut}: what is left is what was written");
            assert!(log[left.len()..cut.max(left.len())].len() < 2000, "no whole line is lost");
            forget_backups(&bundle);
        }
    }
}

#[test]
fn a_lost_payload_is_made_up_for() {
    let (directory, is_fast) = fast_directory();
    let mut bundles = accepted(&here("tests/cases"));
    bundles.extend(accepted(&here("../samples")));
    let corpus = here("../../shared/corpus");
    if corpus.is_dir() && is_fast {
        bundles.extend(accepted(&corpus));
    } else {
        tell("SKIPPED: no corpus of real recordings beside the repository, or no fast directory to damage it in\n");
    }
    let mut tried = 0;
    let mut failed = Vec::new();
    for (index, path) in bundles.iter().enumerate() {
        if path.ends_with("v1-loose-envelope") {
            continue;
        }
        let whole = Bundle::open(path).expect("opens").payloads().list().expect("lists");
        // The long ones repeat themselves.
        for (number, payload) in whole.iter().enumerate().filter(|(number, _)| number % 11 == 0 || whole.len() < 40) {
            let bundle = directory.path().join(format!("{index}-{number}"));
            copy(path, &bundle);
            let file = bundle.join(&payload.path);
            if number % 2 == 0 {
                fs::remove_file(&file).expect("removes");
            } else {
                let text = fs::read(&file).expect("reads");
                fs::write(&file, &text[..text.len() / 2]).expect("writes");
            }
            tried += 1;
            if let Some(problem) = mend(&bundle) {
                failed.push(format!("{} without {}: {problem}", path.display(), payload.path));
            }
            fs::remove_dir_all(&bundle).expect("removes");
        }
    }
    assert!(tried > 300, "{tried} losses");
    assert!(failed.is_empty(), "{} of {tried}:\n{}", failed.len(), failed.join("\n"));
}
