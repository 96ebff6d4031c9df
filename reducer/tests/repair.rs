//! A repaired bundle is accepted by a strict reduction, and by the peer.

#[expect(dead_code, reason = "the laws of reductions use the rest")]
mod random;

use std::fs;
use std::path::{Path, PathBuf};

use proptest::prelude::*;
use random::scenes;
use tempfile::TempDir;
use trace_needs::{Need, recordings, skip};
use trace_recorder::Bundle;
use trace_recorder::check::{Code, check, preview_repair, repair};
use trace_recorder::parts::BACKUP_PREFIX;
use trace_reducer::{Options, Severity, reduce};

/// Returns a temporary directory and whether it is in memory, where syncing files is fast.
fn fast_directory() -> (TempDir, bool) {
    match tempfile::tempdir_in("/dev/shm") {
        Ok(directory) => (directory, true),
        Err(error) => {
            skip(
                Need::MemoryFolder,
                format_args!("repairs of damaged recordings, and every place of a cut: /dev/shm: {error}"),
            );
            (tempfile::tempdir().expect("a directory"), false)
        }
    }
}

fn here(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
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

/// Returns the bundles that a strict reduction accepts.
fn accepted(root: &Path) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = trace_recorder::bundle::find_bundles(root).expect("lists");
    // Only directories are repaired.
    found.retain(|bundle| bundle.is_dir() && strict(bundle).is_ok());
    found
}

/// Real recordings that a strict reduction accepts.
fn recorded() -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = recordings("repairs").into_iter().map(|recording| recording.bundle).collect();
    found.retain(|bundle| strict(bundle).is_ok());
    found
}

/// Repairs a bundle. Returns what is wrong with the result, or `None`.
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
    let mut bundles = [accepted(&here("tests/cases")), accepted(&here("../samples"))].concat();
    bundles.extend(recorded());
    assert!(bundles.len() > 100, "{} bundles", bundles.len());
    for path in bundles {
        // The payloads of this case are broken, but no rule reads them.
        if path.ends_with("v1-loose-envelope") {
            continue;
        }
        let report = check(&Bundle::open(&path).expect("opens"));
        assert!(report.is_sound(), "{}: {:?}", path.display(), report.findings.iter().next());
        let changes = preview_repair(&path).expect("can be looked at");
        // Git does not store empty directories, and some cases are about a missing last line feed.
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
    if is_fast {
        bundles.extend(recorded());
    }
    let mut tried = 0;
    let mut failed = Vec::new();
    for (index, path) in bundles.iter().enumerate() {
        if path.ends_with("v1-loose-envelope") {
            continue;
        }
        let whole = Bundle::open(path).expect("opens").payloads().list().expect("lists");
        // Long recordings repeat themselves, so only some of their payloads are tried.
        for (number, payload) in whole.iter().enumerate().filter(|(number, _)| number % 23 == 0 || whole.len() < 40) {
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

#[test]
fn a_reduction_of_a_repaired_bundle_tells_what_is_lost() {
    let (directory, _) = fast_directory();
    let bundle = directory.path().join("bundle");
    copy(&here("tests/cases/full-two-threads"), &bundle);
    let log = fs::read_to_string(bundle.join("trace.jsonl")).expect("reads");
    let mut lines: Vec<&str> = log.lines().collect();
    let end = lines.len() - 2;
    assert!(lines[end].contains("rollout_ended"), "nothing depends on it");
    lines[end] = "garbage";
    lines.insert(3, "more garbage");
    fs::write(bundle.join("trace.jsonl"), lines.join("\n") + "\n").expect("writes");
    fs::remove_file(bundle.join("payloads/1.json")).expect("removes");
    repair(&bundle).expect("repairs");
    let reduced = reduce(&Bundle::open(&bundle).expect("opens"), Options::default()).expect("reduces");
    let told: Vec<String> = reduced
        .diagnostics
        .iter()
        .filter(|found| found.code == trace_reducer::Code::RecordingGap)
        .map(ToString::to_string)
        .collect();
    insta::assert_snapshot!(told.join("\n"), @r#"
    note[recording_gap] seq 30: the bundle was damaged after seq 29, and was repaired; lost: 1 event
    note[recording_gap] seq 31: the bundle was damaged after seq 4, and was repaired; lost: 1 payload
    "#);
}

/// One kind of damage to the files of a bundle.
#[derive(Debug, Clone)]
enum Accident {
    /// Bytes of the log are overwritten.
    Overwritten { at: prop::sample::Index, bytes: Vec<u8> },
    /// A line of the log is lost.
    Lost(prop::sample::Index),
    /// A line of the log is copied to another place.
    Repeated(prop::sample::Index, prop::sample::Index),
    /// Two lines of the log are swapped.
    Swapped(prop::sample::Index, prop::sample::Index),
    /// A payload is cut.
    Cut(prop::sample::Index, prop::sample::Index),
    /// A payload is deleted.
    Gone(prop::sample::Index),
}

fn accidents() -> impl Strategy<Value = Accident> {
    let index = any::<prop::sample::Index>;
    let bytes = prop::collection::vec(any::<u8>(), 1..6);
    prop_oneof![
        (index(), bytes).prop_map(|(at, bytes)| Accident::Overwritten { at, bytes }),
        index().prop_map(Accident::Lost),
        (index(), index()).prop_map(|(from, to)| Accident::Repeated(from, to)),
        (index(), index()).prop_map(|(a, b)| Accident::Swapped(a, b)),
        (index(), index()).prop_map(|(payload, at)| Accident::Cut(payload, at)),
        index().prop_map(Accident::Gone),
    ]
}

fn happen(accident: &Accident, bundle: &Path) {
    let log_path = bundle.join("trace.jsonl");
    let mut log = fs::read(&log_path).expect("reads");
    let mut lines: Vec<Vec<u8>> = log.split_inclusive(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect();
    let payloads = Bundle::open(bundle).expect("opens").payloads().list().expect("lists");
    match accident {
        _ if lines.is_empty() => {}
        Accident::Overwritten { at, bytes } => {
            let at = at.index(log.len());
            let end = log.len().min(at + bytes.len());
            log[at..end].copy_from_slice(&bytes[..end - at]);
            fs::write(&log_path, log).expect("writes");
            return;
        }
        Accident::Lost(line) => {
            let line = line.index(lines.len());
            lines.remove(line);
        }
        Accident::Repeated(from, to) => {
            let line = lines[from.index(lines.len())].clone();
            lines.insert(to.index(lines.len()), line);
        }
        Accident::Swapped(a, b) => {
            let (a, b) = (a.index(lines.len()), b.index(lines.len()));
            lines.swap(a, b);
        }
        Accident::Cut(payload, at) if !payloads.is_empty() => {
            let path = bundle.join(&payloads[payload.index(payloads.len())].path);
            let text = fs::read(&path).expect("reads");
            fs::write(&path, &text[..at.index(text.len() + 1)]).expect("writes");
        }
        Accident::Gone(payload) if !payloads.is_empty() => {
            fs::remove_file(bundle.join(&payloads[payload.index(payloads.len())].path)).expect("removes");
        }
        Accident::Cut(..) | Accident::Gone(..) => {}
    }
    fs::write(&log_path, lines.concat()).expect("writes");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, max_shrink_iters: 200, ..ProptestConfig::default() })]

    /// After a repair, only damage remains that a later release may understand, and a second repair changes nothing.
    #[test]
    fn no_accident_is_beyond_repair(scene in scenes(), accidents in prop::collection::vec(accidents(), 1..6)) {
        let (recorded, _) = scene.record();
        let (directory, _) = fast_directory();
        let bundle = directory.path().join("bundle");
        copy(recorded.path(), &bundle);
        for accident in &accidents {
            happen(accident, &bundle);
        }
        let repaired = repair(&bundle).expect("repairs");
        let report = check(&Bundle::open(&bundle).expect("opens"));
        let of_later = [Code::UnknownEvent, Code::UnknownValue, Code::ReservedEvent, Code::EventOfOtherSchema];
        for finding in report.findings.iter().filter(|finding| finding.severity() == Severity::Error) {
            prop_assert!(of_later.contains(&finding.code), "{} after {:?}", finding, repaired.changes);
        }
        prop_assert!(preview_repair(&bundle).expect("can be repaired").is_empty());
        // Each gap that the repair recorded is reported, if the bundle can be reduced.
        let gaps = repaired.changes.iter().filter(|change| change.code() == "gap_recorded").count() as u64;
        if let Ok(reduced) = reduce(&Bundle::open(&bundle).expect("opens"), Options::default()) {
            prop_assert_eq!(reduced.diagnostics.count(trace_reducer::Code::RecordingGap), gaps);
        }
        // If a strict reduction still refuses the bundle, the reason is the meaning of events, not the files.
        if let Err(refusal) = strict(&bundle) {
            let of_files = ["seq_", "torn_tail", "invalid_line", "payload_missing", "payload_outside", "manifest_", "other_rollout"];
            prop_assert!(!of_files.iter().any(|code| refusal.contains(&format!("[{code}"))), "{}", refusal);
        }
    }
}
