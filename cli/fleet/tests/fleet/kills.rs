//! Writers that die at random moments.

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use crate::fixture::{all_rows, batches_of, checked, ingest, open, runtime, sessions, text};

/// Kills per test, unless the variable says another number.
const KILLS: usize = 12;

/// Number of kills, for long runs.
const KILLS_VARIABLE: &str = "TRACE_FLEET_KILLS";

fn kills() -> usize {
    std::env::var(KILLS_VARIABLE).ok().and_then(|count| count.parse().ok()).unwrap_or(KILLS)
}

fn start(arguments: &[&str], lake: &Path) -> Child {
    let mut command = Command::new(env!("CARGO_BIN_EXE_trace-fleet"));
    command.args(arguments).arg("--lake").arg(lake);
    command.stdout(Stdio::null()).stderr(Stdio::null()).stdin(Stdio::null()).spawn().expect("starts")
}

/// A sequence of numbers below 1000 that looks random and is the same each time.
fn random(seed: usize) -> u64 {
    let hash = xxhash_rust::xxh3::xxh3_64(&seed.to_le_bytes());
    hash % 1000
}

#[test]
fn ingests_and_compactions_that_are_killed_lose_nothing() {
    let (folder, runtime) = (tempfile::tempdir().expect("a folder"), runtime());
    let (source, url) = (folder.path().join("sessions"), folder.path().join("lake"));
    sessions(&source, 60);
    let lake = open(&runtime, text(&url));
    let mut was_killed = 0;
    for number in 0..kills() {
        let mut child = match number % 3 {
            2 => start(&["compact", "--target", "20"], &url),
            _ => start(&["ingest", text(&source), "--batch", "3"], &url),
        };
        std::thread::sleep(Duration::from_millis(20 + random(number) / 3));
        was_killed += usize::from(child.kill().is_ok() && !child.wait().expect("ends").success());
        checked(&lake, &runtime);
        // When all sessions are there, some change, so that there is something to do.
        if trace_changes(&lake, &runtime) {
            for session in 0..5 {
                let at = (number * 7 + session * 11) % 60;
                let team = if at.is_multiple_of(3) { "red" } else { "blue" };
                let log = source.join(format!("team={team}/session-{at:04}/trace.jsonl"));
                let file = std::fs::File::options().append(true).open(log).expect("opens");
                let later = std::time::SystemTime::now() + Duration::from_secs(number as u64);
                file.set_modified(later).expect("sets the time");
            }
        }
    }
    assert!(was_killed > 0 || kills() == 0, "no writer died");
    let rest = ingest(&lake, &source, batches_of(100), runtime.handle());
    assert!(rest.failed.is_empty());
    let last = checked(&lake, &runtime);
    assert_eq!((last.sessions, last.delta_behind), (60, 0));
    let fresh = open(&runtime, text(&folder.path().join("fresh")));
    ingest(&fresh, &source, batches_of(100), runtime.handle());
    assert_eq!(all_rows(&lake, &runtime), all_rows(&fresh, &runtime));
}

/// Returns whether all sessions are in the lake.
fn trace_changes(lake: &trace_fleet::lake::Lake, runtime: &tokio::runtime::Runtime) -> bool {
    runtime.block_on(lake.snapshot()).expect("a snapshot").sessions() == 60
}

#[test]
fn pushes_that_are_killed_leave_each_session_once() {
    let (folder, runtime) = (tempfile::tempdir().expect("a folder"), runtime());
    let (source, url) = (folder.path().join("sessions"), folder.path().join("pushed"));
    sessions(&source, 12);
    let push = || {
        let mut command = Command::new(env!("CARGO_BIN_EXE_trace-fleet"));
        command.args(["push", text(&source), text(&url), "--quiet-for", "0s", "--level", "1", "--team", "red"]);
        command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("starts")
    };
    for number in 0..kills() {
        let mut child = push();
        std::thread::sleep(Duration::from_millis(20 + random(number) / 4));
        let _ = child.kill();
        child.wait().expect("ends");
    }
    assert!(push().wait().expect("ends").success());
    let store = trace_fleet::Store::open(text(&url), &[]).expect("a store");
    let listed = runtime.block_on(store.list("", None)).expect("lists");
    let count = |is: &dyn Fn(&str) -> bool| listed.iter().filter(|it| is(&it.path)).count();
    assert_eq!(count(&|path| path.ends_with(".trace")), 12);
    assert_eq!(count(&|path| path.starts_with("_push/")), 12);
    // What was pushed is what lies in the folder: an ingest makes the same number of turns of both.
    let lakes = [open(&runtime, text(&folder.path().join("one"))), open(&runtime, text(&folder.path().join("other")))];
    ingest(&lakes[0], &source, batches_of(100), runtime.handle());
    ingest(&lakes[1], &url, batches_of(100), runtime.handle());
    let rows = |lake| {
        let sql =
            "SELECT session_id, status, turns, tool_calls, failures, input_tokens FROM sessions ORDER BY session_id";
        crate::fixture::csv(&crate::fixture::ask(lake, &runtime, sql))
    };
    assert_eq!(rows(&lakes[0]), rows(&lakes[1]));
}

#[test]
fn secrets_are_replaced_before_a_session_leaves() {
    let (folder, runtime) = (tempfile::tempdir().expect("a folder"), runtime());
    let (source, url) = (folder.path().join("sessions"), folder.path().join("pushed"));
    let path = &sessions(&source, 1)[0];
    let secret = format!("ghp_{}", "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8");
    let payload =
        std::fs::read_dir(path.join("payloads")).expect("lists").next().expect("a payload").expect("an entry").path();
    let content = std::fs::read_to_string(&payload).expect("reads");
    std::fs::remove_file(&payload).expect("the link goes, not the sample");
    std::fs::write(&payload, content.replacen('{', &format!("{{\"token\":\"{secret}\","), 1)).expect("writes");
    let push = |arguments: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_trace-fleet"));
        command.args(["push", text(&source), text(&url), "--quiet-for", "0s", "--json"]).args(arguments);
        let output = command.output().expect("starts");
        serde_json::from_slice::<serde_json::Value>(&output.stdout).expect("JSON")
    };
    let has_secret = || {
        let store = trace_fleet::Store::open(text(&url), &[]).expect("a store");
        let listed = runtime.block_on(store.list("", None)).expect("lists");
        let object = listed.iter().find(|it| it.path.ends_with(".trace")).expect("a session");
        let bundle = trace_recorder::pack::PackedBundle::open(&url.join(&object.path)).expect("opens");
        let mut text = Vec::new();
        bundle.files().any(|file| {
            bundle.read(file.path, &mut text).expect("reads");
            String::from_utf8_lossy(&text).contains(&secret)
        })
    };
    let plain = push(&[]);
    assert_eq!((plain["pushed"].as_u64(), plain["secrets"].as_u64()), (Some(1), Some(0)));
    assert!(has_secret());
    let redacted = push(&["--redact"]);
    assert_eq!((redacted["pushed"].as_u64(), redacted["secrets"].as_u64()), (Some(1), Some(1)), "{redacted}");
    assert!(!has_secret());
    assert_eq!(push(&["--redact"])["known"].as_u64(), Some(1));
}
