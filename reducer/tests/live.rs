//! Laws of the live reduction: a log that comes in any pieces gives the same graph as the whole bundle, and the
//! reported changes describe that graph.

#[expect(dead_code, reason = "the laws of reductions use the rest")]
mod random;

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use random::scenes;
use trace_recorder::Bundle;
use trace_recorder::bundle::find_bundles;
use trace_reducer::live::{Change, LiveReduction};
use trace_reducer::model::{Handle, Object, Trace};
use trace_reducer::state_json::{self, Style};
use trace_reducer::{Diagnostics, Options, Reduction, reduce};

const LENIENT: Options = Options { strict: false, verify: false };

/// Returns the graph as `state.json`. Diagnostics are compared separately; see [`said`].
fn text(reduction: &Reduction) -> String {
    let graph = Reduction { trace: reduction.trace.clone(), diagnostics: Diagnostics::default() };
    let mut text = Vec::new();
    state_json::write(&graph, Style::Compact, &mut text).expect("memory does not fail");
    String::from_utf8(text).expect("UTF-8")
}

/// Returns the diagnostics, sorted, because their order depends on the batches of the log.
fn said(reduction: &Reduction) -> Vec<String> {
    let mut said: Vec<String> = reduction.diagnostics.iter().map(ToString::to_string).collect();
    said.sort_unstable();
    said
}

/// Feeds a log in pieces of these lengths, repeatedly. Returns `None` if events come late: then the results may differ.
fn live(bundle: &Bundle, lengths: &[usize]) -> Option<(Reduction, Vec<Change>)> {
    let mut live = LiveReduction::begin(bundle, LENIENT).expect("lenient");
    let mut log = bundle.log().map(|log| log.as_bytes()).unwrap_or_default();
    let mut told = Vec::new();
    for length in lengths.iter().cycle() {
        let (piece, rest) = log.split_at((*length).min(log.len()));
        live.feed(piece, bundle.payloads(), |update| told.extend_from_slice(update.changes)).expect("lenient");
        log = rest;
        if log.is_empty() {
            break;
        }
    }
    live.feed_rest(bundle.payloads(), |update| told.extend_from_slice(update.changes)).expect("lenient");
    let is_late = live.has_late_events();
    let reduction = live.finish(bundle.payloads()).expect("lenient");
    (!is_late).then_some((reduction, told))
}

fn caught_up(bundle: &Bundle, lengths: &[usize]) -> Option<Reduction> {
    let mut live = LiveReduction::begin(bundle, LENIENT).expect("lenient");
    let mut log = bundle.log().map(|log| log.as_bytes()).unwrap_or_default();
    for length in lengths.iter().cycle() {
        let (piece, rest) = log.split_at((*length).min(log.len()));
        live.catch_up(piece, bundle.payloads()).expect("lenient");
        log = rest;
        if log.is_empty() {
            break;
        }
    }
    let is_late = live.has_late_events();
    let reduction = live.finish(bundle.payloads()).expect("lenient");
    (!is_late).then_some(reduction)
}

fn count(trace: &Trace) -> usize {
    trace.threads.len()
        + trace.turns.len()
        + trace.items.len()
        + trace.inferences.len()
        + trace.cells.len()
        + trace.tools.len()
        + trace.sessions.len()
        + trace.operations.len()
        + trace.compactions.len()
        + trace.compaction_requests.len()
}

/// Checks the reported changes against the final graph.
fn check_told(reduction: &Reduction, told: &[Change], what: &Path) {
    let trace = &reduction.trace;
    let mut added = HashSet::new();
    let mut ended = HashSet::new();
    for change in told {
        match change {
            Change::Added(object) => assert!(added.insert(*object), "{}: {object:?} is added twice", what.display()),
            Change::Changed(object) | Change::Ended(object) => {
                assert!(added.contains(object), "{}: {object:?} was not added", what.display());
                if matches!(change, Change::Ended(_)) {
                    ended.insert(*object);
                }
            }
            _ => {}
        }
    }
    let without_edges = added.iter().filter(|object| !matches!(object, Object::Edge(_))).count();
    assert_eq!(without_edges, count(trace), "{}", what.display());
    for (handle, turn) in trace.turns.iter() {
        assert_eq!(ended.contains(&Object::Turn(handle)), turn.execution.ended.is_some(), "{}", what.display());
    }
    for (handle, call) in trace.inferences.iter() {
        assert_eq!(ended.contains(&Object::Inference(handle)), call.execution.ended.is_some(), "{}", what.display());
    }
    for (handle, tool) in trace.tools.iter() {
        assert_eq!(ended.contains(&Object::Tool(handle)), tool.execution.ended.is_some(), "{}", what.display());
    }
    let observed = told.iter().filter(|change| matches!(change, Change::Observed(_))).count();
    assert_eq!(observed, trace.protocol_events.len(), "{}", what.display());
    assert_eq!(told.contains(&Change::SessionEnded), trace.ended.is_some(), "{}", what.display());
    assert_eq!(told.contains(&Change::RecordingCompleted), trace.recording_complete, "{}", what.display());
}

/// Returns all available bundles: hand-made cases, samples, and recordings.
fn bundles() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut found = Vec::new();
    for below in ["tests/cases", "../samples"] {
        found.extend(find_bundles(&root.join(below)).expect("bundles"));
    }
    found.extend(trace_needs::recordings("live reductions").into_iter().map(|recording| recording.bundle));
    found
}

#[test]
fn a_live_reduction_comes_to_that_of_the_bundle() {
    let mut compared = 0;
    let mut late = 0;
    for path in bundles() {
        let bundle = Bundle::open(&path).expect("opens");
        let expected = reduce(&bundle, LENIENT).expect("lenient");
        let log_bytes = bundle.log().map_or(0, |log| log.as_bytes().len());
        for lengths in [&[1][..], &[7, 1000, 64, 3, 5000], &[1 << 16], &[usize::MAX]] {
            // Skip byte-by-byte feeding of long logs: it is slow and tests nothing that short logs do not test.
            if lengths == [1] && log_bytes > 1 << 18 {
                continue;
            }
            let (Some((reduction, told)), Some(fast)) = (live(&bundle, lengths), caught_up(&bundle, lengths)) else {
                late += 1;
                continue;
            };
            assert!(text(&reduction) == text(&expected), "{} in pieces of {lengths:?}", path.display());
            assert_eq!(said(&reduction), said(&expected), "{} in pieces of {lengths:?}", path.display());
            assert!(text(&fast) == text(&expected), "{} caught up in pieces of {lengths:?}", path.display());
            assert_eq!(said(&fast), said(&expected), "{} caught up in pieces of {lengths:?}", path.display());
            check_told(&reduction, &told, &path);
            compared += 1;
        }
    }
    assert!(compared > 700 && late < compared / 10, "{compared} compared, {late} late");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, rng_seed: RngSeed::Fixed(0x6c69_7665), ..ProptestConfig::default() })]

    #[test]
    fn any_session_comes_in_any_pieces(scene in scenes(), lengths in prop::collection::vec(1usize..3000, 1..12)) {
        let (directory, bundle) = scene.record();
        let expected = reduce(&bundle, LENIENT).expect("lenient");
        if let Some((reduction, told)) = live(&bundle, &lengths) {
            prop_assert!(text(&reduction) == text(&expected));
            check_told(&reduction, &told, directory.path());
        }
        if let Some(reduction) = caught_up(&bundle, &lengths) {
            prop_assert!(text(&reduction) == text(&expected));
        }
    }
}

#[test]
fn a_snapshot_is_the_reduction_of_what_is_there() {
    let sample = Path::new(env!("CARGO_MANIFEST_DIR")).join("../samples/three-children");
    let bundle = Bundle::open(&sample).expect("opens");
    let log = bundle.log().expect("a log").as_bytes();
    let mut live = LiveReduction::begin(&bundle, LENIENT).expect("lenient");
    for (at, piece) in log.chunks(4096).enumerate() {
        live.feed(piece, bundle.payloads(), |_| ()).expect("lenient");
        let copy = tempfile::tempdir().expect("a directory");
        std::fs::copy(sample.join("manifest.json"), copy.path().join("manifest.json")).expect("copies");
        std::fs::write(copy.path().join("trace.jsonl"), &log[..(at * 4096 + piece.len())]).expect("writes");
        std::fs::create_dir(copy.path().join("payloads")).expect("creates");
        for entry in std::fs::read_dir(sample.join("payloads")).expect("lists") {
            let entry = entry.expect("an entry");
            std::fs::copy(entry.path(), copy.path().join("payloads").join(entry.file_name())).expect("copies");
        }
        let part = Bundle::open(copy.path()).expect("opens");
        let expected = reduce(&part, LENIENT).expect("lenient");
        let snapshot = live.snapshot(bundle.payloads()).expect("lenient");
        assert!(text(&snapshot) == text(&expected), "after {at} pieces");
        assert_eq!(said(&snapshot), said(&expected), "after {at} pieces");
    }
}

#[test]
fn changes_are_told_as_they_come() {
    let sample = Path::new(env!("CARGO_MANIFEST_DIR")).join("../samples/three-children");
    let bundle = Bundle::open(&sample).expect("opens");
    let log = bundle.log().expect("a log").as_bytes();
    let mut live = LiveReduction::begin(&bundle, LENIENT).expect("lenient");
    let mut lines = Vec::new();
    live.feed(log, bundle.payloads(), |update| {
        let changes: Vec<String> = update.changes.iter().map(|change| format!("{change:?}")).collect();
        assert_eq!(update.at.map(|at| at.seq), Some(update.line), "no event is missing from the sample");
        assert!(update.trace.threads.len() < 5);
        if lines.len() < 14 {
            lines.push(changes.join(", "));
        }
    })
    .expect("lenient");
    insta::assert_snapshot!(lines.join("\n"), @r#"
    Added(Thread(ThreadIdx(0)))
    Observed(0)
    Added(Turn(TurnIdx(0)))
    Observed(1)



    Added(Item(ItemIdx(0))), Added(Item(ItemIdx(1))), Added(Item(ItemIdx(2))), Added(Item(ItemIdx(3))), Added(Inference(InferenceIdx(0))), Changed(Thread(ThreadIdx(0)))
    Added(Item(ItemIdx(4))), Added(Item(ItemIdx(5))), Added(Item(ItemIdx(6))), Added(Item(ItemIdx(7))), Changed(Thread(ThreadIdx(0))), Ended(Inference(InferenceIdx(0)))
    "#);
    assert_eq!(live.lines(), log.iter().filter(|byte| **byte == b'\n').count() as u64);
    assert_eq!(live.trace().threads.handles().map(Handle::index).max(), Some(3));
}

#[test]
fn a_payload_that_is_not_there_is_damage_as_ever() {
    let sample = Path::new(env!("CARGO_MANIFEST_DIR")).join("../samples/three-children");
    let bundle = Bundle::open(&sample).expect("opens");
    let empty = tempfile::tempdir().expect("a directory");
    let nothing = trace_recorder::payloads::PayloadFiles::open(empty.path()).expect("opens");
    let mut live = LiveReduction::begin(&bundle, LENIENT).expect("lenient");
    let mut found = 0;
    live.feed(bundle.log().expect("a log").as_bytes(), &nothing, |update| {
        found += update.changes.iter().filter(|change| matches!(change, Change::Found(_))).count();
    })
    .expect("lenient");
    assert!(found > 10);
    assert_eq!(found, live.diagnostics().iter().len());
    let strict = Options { strict: true, ..LENIENT };
    let mut live = LiveReduction::begin(&bundle, strict).expect("a good manifest");
    live.feed(bundle.log().expect("a log").as_bytes(), &nothing, |_| ()).expect_err("a strict reduction refuses");
}
