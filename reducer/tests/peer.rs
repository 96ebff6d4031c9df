//! Compares reductions with those of the Codex CLI.
//!
//! `tests/cases` has hand-made bundles, each with the peer's `expected.json`, or with `error.txt` if the peer refuses
//! the bundle. Real recordings are compared too: those in `tests/recordings`, and a larger corpus if there is one.
//! `verify.py` asks the peer for its verdicts again.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use serde_json::Value;
use trace_recorder::Bundle;
use trace_recorder::pack::{Level, Source, pack};
use trace_recorder::write::{End, regrow};
use trace_reducer::state_json::{self, Style};
use trace_reducer::{Options, ReduceError, Reduction, reduce};

/// The peer of schema 2 refuses every bundle of schema 1. This reducer reads both.
const READ_BY_US_ALONE: &str = "env-schema1-in-schema2-peer";

struct Case {
    name: String,
    bundle: PathBuf,
    /// The peer's state; `None` if the peer refuses the bundle.
    expected: Option<String>,
}

fn cases(root: &Path) -> Vec<Case> {
    let mut cases: Vec<Case> = fs::read_dir(root)
        .expect("the cases are there")
        .map(|entry| {
            let bundle = entry.expect("an entry").path();
            let expected = fs::read_to_string(bundle.join("expected.json")).ok();
            let name = bundle.file_name().expect("a name").to_string_lossy().into_owned();
            let is_judged = expected.is_some() || bundle.join("error.txt").exists();
            assert!(is_judged, "{name} has no verdict: `verify.py --write` asks the peer for it");
            Case { name, bundle, expected }
        })
        .collect();
    cases.sort_by(|a, b| a.name.cmp(&b.name));
    cases
}

fn run(bundle: &Path, options: Options) -> Result<Reduction, ReduceError> {
    reduce(&Bundle::open(bundle).expect("the bundle opens"), options)
}

fn text(reduction: &Reduction) -> String {
    let mut text = Vec::new();
    state_json::write(reduction, Style::Pretty, &mut text).expect("memory does not fail");
    String::from_utf8(text).expect("UTF-8")
}

/// A form in which a bundle is read.
#[derive(Debug, Clone, Copy)]
enum Door {
    Directory,
    /// What `trace pack` makes of the directory.
    Packed,
    /// The file of a recorder that wrote so many lines at once.
    Live(usize, End),
}

impl Door {
    /// Returns the bundle in this form, below `place` if it is made.
    fn open(self, directory: &Path, place: &Path) -> PathBuf {
        let path = place.join("bundle.trace");
        match self {
            Self::Directory => return directory.to_owned(),
            Self::Packed => {
                let out = File::create(&path).expect("creates");
                pack(&Source::list(directory).expect("lists"), &out, Level::new(3).expect("a level")).expect("packs");
            }
            Self::Live(lines, end) => {
                regrow(directory, &path, lines, end).unwrap_or_else(|error| panic!("{}: {error}", directory.display()));
            }
        }
        path
    }
}

/// Compares one case. Returns a description of the difference, or `None` if there is none.
fn compare(case: &Case, bundle: &Path) -> Option<String> {
    let strict = run(bundle, Options { strict: true, verify: false });
    let lenient = run(bundle, Options::default()).expect("a lenient reduction does not fail");
    let verified = run(bundle, Options { strict: false, verify: true }).expect("a slow one does not fail");
    if text(&lenient) != text(&verified) {
        return Some("comparing requests and parsing them whole differ".to_owned());
    }
    let Some(expected) = &case.expected else {
        let refused = strict.is_err() || case.name == READ_BY_US_ALONE;
        let told = lenient.diagnostics.is_damaged() || case.name == READ_BY_US_ALONE;
        return match (refused, told) {
            (true, true) => None,
            (false, _) => Some("a strict reduction accepts what the peer refuses".to_owned()),
            (_, false) => Some("a lenient reduction says nothing of the damage".to_owned()),
        };
    };
    if let Err(error) = strict {
        return Some(format!("a strict reduction refuses what the peer accepts: {error}"));
    }
    let found = text(&lenient);
    // The files must be equal byte for byte. The JSON is compared only to report which fields differ.
    if found == *expected {
        return None;
    }
    let (found, expected): (Value, Value) =
        (serde_json::from_str(&found).expect("JSON"), serde_json::from_str(expected).expect("JSON"));
    let fields = expected.as_object().expect("an object").keys();
    let differing: Vec<&str> = fields.filter(|key| found.get(key) != expected.get(key)).map(String::as_str).collect();
    Some(format!("differs from the peer in {differing:?}"))
}

/// Compares all cases through a door.
fn compare_all(cases: &[Case], door: Door) {
    let place = tempfile::tempdir().expect("a directory");
    let mut wrong = Vec::new();
    for (number, case) in cases.iter().enumerate() {
        let place = place.path().join(number.to_string());
        fs::create_dir(&place).expect("creates");
        let difference = compare(case, &door.open(&case.bundle, &place));
        wrong.extend(difference.map(|difference| format!("{}: {difference}", case.name)));
        fs::remove_dir_all(place).expect("a directory of this test");
    }
    assert!(wrong.is_empty(), "{door:?}: {} of {} cases:\n{}", wrong.len(), cases.len(), wrong.join("\n"));
}

fn all_cases() -> Vec<Case> {
    let cases = cases(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases"));
    assert_eq!(cases.len(), 245);
    cases
}

fn all_recordings(what: &str) -> Vec<Case> {
    let recordings = trace_needs::recordings(what).into_iter().map(|recording| {
        let expected = fs::read_to_string(recording.bundle.with_file_name("expected.json"));
        Case { name: recording.name, bundle: recording.bundle, expected: Some(expected.expect("a verdict")) }
    });
    recordings.collect()
}

#[test]
fn every_case_is_as_the_peer_has_it() {
    compare_all(&all_cases(), Door::Directory);
}

#[test]
fn every_recording_is_as_the_peer_has_it() {
    compare_all(&all_recordings("comparison with the peer"), Door::Directory);
}

#[test]
fn every_case_is_as_the_peer_has_it_through_the_packed_door() {
    compare_all(&all_cases(), Door::Packed);
}

#[test]
fn every_recording_is_as_the_peer_has_it_through_the_packed_door() {
    let cases = all_recordings("comparison of packed bundles with the peer");
    compare_all(&cases, Door::Packed);
}

#[test]
fn every_case_is_as_the_peer_has_it_through_the_live_door() {
    for door in [Door::Live(1, End::Killed), Door::Live(3, End::Completed)] {
        compare_all(&all_cases(), door);
    }
}

#[test]
fn every_recording_is_as_the_peer_has_it_through_the_live_door() {
    let cases = all_recordings("comparison of growing bundles with the peer");
    for door in [Door::Live(1, End::Killed), Door::Live(7, End::Killed), Door::Live(16, End::Completed)] {
        compare_all(&cases, door);
    }
}
