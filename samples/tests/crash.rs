//! Kills a recording process at random moments and checks that everything acknowledged is in the bundle.
//!
//! After each kill, the test reduces the bundle as it is, repairs it, and reduces the repaired bundle strictly. If
//! `TRACE_PEER` names the binary of the Codex CLI, it must accept the repaired bundle as well.

#![cfg(unix)]

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use trace_needs::state_by_peer;
use trace_recorder::Bundle;
use trace_recorder::check::repair;
use trace_recorder::log::parse_lines;
use trace_recorder::pack::{PackedBundle, is_growing, unpack};
use trace_recorder::recording::is_being_recorded;
use trace_recorder::write::{Durability, Form, TraceRoot, WriterOptions};
use trace_reducer::{Code, Options, reduce};

/// Number of kills in one run of the test.
const KILLS: usize = 500;

/// Number of recordings at the same time.
const WORKERS: usize = 4;

/// Most acknowledgements before a kill.
const MOST_ACKNOWLEDGEMENTS: usize = 30;

/// Longest time between the last acknowledgement and the kill.
const LONGEST_DELAY: Duration = Duration::from_millis(4);

/// A killed recording, and the last sequence number that it acknowledged.
struct Left {
    bundle: PathBuf,
    acknowledged: u64,
}

/// Records until a number of steps are acknowledged and for `delay` longer, then kills the process.
fn record_and_kill(root: &Path, acknowledgements: usize, delay: Duration, durability: Durability, form: Form) -> Left {
    let mut command = Command::new(env!("CARGO_BIN_EXE_record-live"));
    command.arg(root).args(["--steps", "1000", "--output-bytes", "3000", "--model-ms", "0", "--command-ms", "0"]);
    if durability == Durability::Synced {
        command.arg("--synced");
    }
    if form == Form::Packed {
        command.arg("--packed");
    }
    let mut process = command.stdout(Stdio::piped()).spawn().expect("starts");
    let mut lines = BufReader::new(process.stdout.take().expect("a pipe")).lines().map_while(Result::ok);
    let first = lines.next().unwrap_or_default();
    let mut acknowledged = 0;
    let mut note = |line: &str| {
        // A line that the kill cut off before its number is ignored.
        let seq = line.strip_prefix("acknowledged ").and_then(|seq| seq.parse::<u64>().ok());
        acknowledged = seq.map_or(acknowledged, |seq| seq.max(acknowledged));
    };
    lines.by_ref().take(acknowledgements).for_each(|line| note(&line));
    thread::sleep(delay);
    process.kill().expect("kills");
    process.wait().expect("is dead");
    // Lines in the pipe were acknowledged before the kill. The number in the last one may be cut off, which only makes it
    // smaller.
    lines.for_each(|line| note(&line));
    let bundle = PathBuf::from(first.strip_prefix("bundle ").expect("the process names its bundle"));
    Left { bundle, acknowledged }
}

/// Checks that everything acknowledged is complete: the lines, their order, and the payloads to which they refer.
fn check_acknowledged(left: &Left) {
    let bundle = Bundle::open(&left.bundle).expect("opens");
    assert!(!is_being_recorded(&left.bundle).expect("asks"), "the lock died with its process");
    let lines: Vec<_> = bundle.log().expect("a log").lines().collect();
    let mut last_seq = 0;
    let mut text = Vec::new();
    for parsed in parse_lines(&lines) {
        match parsed.event {
            Ok(Some(event)) => {
                assert_eq!(event.seq, last_seq + 1);
                last_seq = event.seq;
                for reference in event.payload.payload_refs() {
                    bundle.payloads().read(&reference.path, &mut text).expect("the payload came first");
                    serde_json::from_slice::<serde::de::IgnoredAny>(&text).expect("the payload is whole");
                }
            }
            Ok(None) => panic!("a blank line"),
            Err(error) => {
                assert!(!parsed.line.terminated && error.is_cut(), "{error}: only the last line may be torn");
            }
        }
    }
    assert!(last_seq >= left.acknowledged, "{last_seq} events are there, {} were acknowledged", left.acknowledged);
}

fn check_reductions(left: &Left) {
    let lenient = reduce(&Bundle::open(&left.bundle).expect("opens"), Options::default()).expect("reduces as it is");
    for found in &lenient.diagnostics {
        let is_expected = matches!(found.code, Code::TornTail | Code::NoEnd | Code::RecordingIncomplete)
            || found.code == Code::MessageUndelivered;
        assert!(is_expected, "{found}");
    }
    repair(&left.bundle).expect("repairs");
    assert!(!is_growing(&left.bundle).expect("reads"), "a repair finishes a growing bundle");
    let strict = Options { strict: true, ..Options::default() };
    let repaired = reduce(&Bundle::open(&left.bundle).expect("opens"), strict).expect("is accepted after the repair");
    assert!(!repaired.trace.recording_complete);
    let Some(packed) = repaired_file(&left.bundle) else {
        state_by_peer(&left.bundle);
        return;
    };
    let unpacked = tempfile::tempdir().expect("a directory");
    unpack(&packed, unpacked.path(), u64::MAX).expect("unpacks");
    state_by_peer(unpacked.path());
}

fn repaired_file(bundle: &Path) -> Option<PackedBundle> {
    bundle.is_file().then(|| PackedBundle::open(bundle).expect("opens"))
}

/// Returns how many processes are killed: [`KILLS`], or the number in the variable `TRACE_RECORD_KILLS`.
fn kills() -> usize {
    std::env::var("TRACE_RECORD_KILLS").map_or(KILLS, |kills| kills.parse().expect("a number"))
}

#[test]
#[expect(clippy::print_stderr, reason = "what was counted is told")]
fn what_was_acknowledged_survives_five_hundred_kills() {
    let kills = kills();
    let (next, torn) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let deepest = AtomicU64::new(0);
    thread::scope(|scope| {
        for _ in 0..WORKERS {
            scope.spawn(|| {
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    if number >= kills {
                        break;
                    }
                    let root = tempfile::tempdir().expect("a directory");
                    // 30 and 97 have no common factor, so every number of steps is combined with many delays.
                    let steps = number % MOST_ACKNOWLEDGEMENTS;
                    let delay = LONGEST_DELAY.mul_f64((number % 97) as f64 / 97.0);
                    let durability = if number % 10 == 9 { Durability::Synced } else { Durability::Buffered };
                    let form = if number % 2 == 0 { Form::Packed } else { Form::Directory };
                    let left = record_and_kill(root.path(), steps, delay, durability, form);
                    check_acknowledged(&left);
                    let bundle = Bundle::open(&left.bundle).expect("opens");
                    let is_torn = !bundle.log().expect("a log").as_bytes().ends_with(b"\n")
                        || bundle.packed().is_some_and(|packed| packed.torn_bytes() > 0);
                    torn.fetch_add(usize::from(is_torn), Ordering::Relaxed);
                    check_reductions(&left);
                    deepest.fetch_max(left.acknowledged, Ordering::Relaxed);
                }
            });
        }
    });
    let (torn, deepest) = (torn.into_inner(), deepest.into_inner());
    eprintln!(
        "{kills} kills in the middle of a recording: {torn} torn lines and records, up to {deepest} events acknowledged"
    );
    assert!(deepest > 100, "the last steps of many are acknowledged: {deepest}");
}

#[test]
fn a_killed_recording_can_be_gone_on_with() {
    for number in 0..10 {
        let root = tempfile::tempdir().expect("a directory");
        let form = if number % 2 == 0 { Form::Packed } else { Form::Directory };
        let left = record_and_kill(root.path(), 3 * number, Duration::ZERO, Durability::Buffered, form);
        let writer = TraceRoot::new(root.path(), WriterOptions::default()).reopen(&left.bundle).expect("reopens");
        writer.complete().expect("completes");
        drop(writer);
        let strict = Options { strict: true, ..Options::default() };
        let reduction = reduce(&Bundle::open(&left.bundle).expect("opens"), strict).expect("is accepted");
        assert!(reduction.trace.recording_complete);
        assert_eq!(reduction.diagnostics.count(Code::RecordingGap), 1);
    }
}
