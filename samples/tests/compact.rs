//! The compact form of real sessions: the readers in `docs/compact` expand it, and it does not grow with the square of a
//! session.

use std::fs::{self, File};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;
use trace_needs::{Need, node, on_path, recordings, skip};
use trace_recorder::Bundle;
use trace_reducer::state_json::{self, Style};
use trace_reducer::{Options, Reduction, reduce};
use trace_samples::bench::{Shape, generate};

const SAMPLES: [&str; 6] = ["damaged", "honest.trace", "one-agent", "team", "three-children", "untrue.trace"];

/// Returns the samples, the cases of the reducer and the recordings.
fn bundles() -> Vec<PathBuf> {
    let samples = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut bundles: Vec<PathBuf> =
        recordings("readers of the compact form").into_iter().map(|one| one.bundle).collect();
    bundles.extend(SAMPLES.map(|name| samples.join(name)));
    let cases = fs::read_dir(samples.join("../reducer/tests/cases")).expect("lists");
    let cases = cases.map(|case| case.expect("an entry").path());
    bundles.extend(cases.filter(|case| case.join("manifest.json").exists()));
    bundles
}

fn reduction(bundle: &Path) -> Reduction {
    reduce(&Bundle::open(bundle).expect("opens"), Options::default()).expect("a lenient reduction does not fail")
}

fn state(reduction: &Reduction) -> Vec<u8> {
    let mut text = Vec::new();
    state_json::write(reduction, Style::Compact, &mut text).expect("memory does not fail");
    text
}

fn compact(reduction: &Reduction) -> Vec<u8> {
    let mut text = Vec::new();
    state_json::write_compact(reduction, &mut text).expect("memory does not fail");
    text
}

/// Lets a reader expand all bundles, one per line of its input, and then one from a file.
fn expands_all(mut reader: Command) {
    let bundles = bundles();
    let place = tempfile::tempdir().expect("a directory");
    let [input, output] = ["input", "output"].map(|name| place.path().join(name));
    let mut lines = File::create(&input).expect("creates");
    let mut expected: Vec<Value> = Vec::new();
    for bundle in &bundles {
        let reduction = reduction(bundle);
        lines.write_all(&compact(&reduction)).and_then(|()| lines.write_all(b"\n")).expect("writes");
        expected.push(serde_json::from_slice(&state(&reduction)).expect("JSON"));
    }
    reader.stdin(File::open(&input).expect("opens")).stdout(File::create(&output).expect("creates"));
    assert!(reader.status().expect("runs").success());
    let found = fs::read_to_string(&output).expect("reads");
    assert_eq!(found.lines().count(), bundles.len());
    for ((line, expected), bundle) in found.lines().zip(&expected).zip(&bundles) {
        let found: Value = serde_json::from_str(line).expect("JSON");
        assert!(found == *expected, "{} expands to another graph", bundle.display());
    }

    let file = place.path().join("state.compact.json");
    fs::write(&file, compact(&reduction(&bundles[0]))).expect("writes");
    let output = reader.arg(&file).stdin(Stdio::null()).stdout(Stdio::piped()).output().expect("runs");
    let found: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert!(found == expected[0]);

    // A plain graph is not mistaken for one of no requests.
    fs::write(&file, state(&reduction(&bundles[0]))).expect("writes");
    let output = reader.stderr(Stdio::piped()).output().expect("runs");
    assert!(!output.status.success());
    assert!(String::from_utf8_lossy(&output.stderr).contains("not a graph in the compact form"));
}

fn reader_in(file: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/compact").join(file)
}

#[test]
fn the_reader_in_python_expands_every_bundle() {
    let Some(python) = on_path("python3") else {
        return skip(Need::Python, "the reader of the compact form in Python");
    };
    let mut reader = Command::new(python);
    reader.env("PYTHONDONTWRITEBYTECODE", "1").arg(reader_in("expand.py"));
    expands_all(reader);
}

#[test]
fn the_reader_in_javascript_expands_every_bundle() {
    let Some(node) = node("the reader of the compact form in JavaScript") else { return };
    let mut reader = Command::new(node);
    reader.arg(reader_in("expand.mjs"));
    expands_all(reader);
}

#[test]
fn it_grows_with_what_is_new() {
    let place = tempfile::tempdir().expect("a directory");
    let [small, large] = [100, 400].map(|steps| {
        let bundle = place.path().join(steps.to_string());
        generate(&bundle, &Shape::steps(steps)).expect("records");
        let reduction = reduction(&bundle);
        fs::remove_dir_all(&bundle).expect("a bundle of this test");
        [state(&reduction).len() as f64, compact(&reduction).len() as f64]
    });
    let [plain, compact] = [0, 1].map(|form| large[form] / small[form]);
    // Numbers and times have a few digits more.
    assert!(compact < 4.2, "four times the steps are {compact} times the bytes");
    assert!(plain > 7.0, "four times the steps are {plain} times the bytes of state.json");
}
