//! `trace ls`.

use std::fs::{self, File};
use std::time::{Duration, SystemTime};

use insta::assert_snapshot;
use trace_recorder::format::RolloutStatus;

use crate::support::{Place, START, Session, tear, troubled, well};

fn bundles() -> Place {
    let place = Place::new();
    well(&place.path("root/oldest"), START);
    troubled(&place.path("root/below/failed"));
    let session = |name: &str, after: i64| Session::begin(&place.path(name), START + after * 1000);
    session("root/aborted", 10).end(RolloutStatus::Aborted);
    drop(session("root/dead", 20));
    session("root/torn", 30).end(RolloutStatus::Completed);
    drop(session("root/empty", 40));
    drop(session("root/no-manifest", 50));
    drop(session("root/running", 60));
    tear(&place.path("root/torn"), 10);
    fs::write(place.path("root/empty/trace.jsonl"), "").expect("writes");
    fs::write(place.path("root/no-manifest/manifest.json"), "{}").expect("writes");
    for name in ["oldest", "below/failed", "aborted", "dead", "torn", "empty", "no-manifest"] {
        age(&place, &format!("root/{name}/trace.jsonl"));
    }
    assert_eq!(place.run(&["reduce", "root/oldest", "root/aborted"]).code, 0);
    age(&place, "root/aborted/state.json");
    let log = File::options().append(true).open(place.path("root/aborted/trace.jsonl")).expect("opens");
    log.set_modified(SystemTime::now() - Duration::from_secs(1800)).expect("sets the time");
    place
}

fn age(place: &Place, name: &str) {
    let file = File::options().append(true).open(place.path(name)).expect("opens");
    file.set_modified(SystemTime::now() - Duration::from_secs(3600)).expect("sets the time");
}

#[test]
fn bundles_are_listed_newest_first() {
    let place = bundles();
    // The time of a bundle without a manifest is that of its log.
    assert_snapshot!(place.run(&["ls", "root"]), @r"
    STARTED              STATUS     LOG     PAYLOADS  STATE  KIND  BUNDLE
                         no end      212 B         0  -      -     root/no-manifest   root/no-manifest/manifest.json is not a manifest: missing field `schema_version` at line 1 column 2
    2025-01-02 03:05:05  running     212 B         0  -      -     root/running
    2025-01-02 03:04:45  empty         0 B         0  -      -     root/empty
    2025-01-02 03:04:35  completed   553 B         0  -      -     root/torn          its last line is incomplete
    2025-01-02 03:04:25  no end      212 B         0  -      -     root/dead
    2025-01-02 03:04:15  aborted     561 B         0  stale  -     root/aborted
    2025-01-02 03:04:05  failed     8.7 kB        11  -      -     root/below/failed
    2025-01-02 03:04:05  completed  2.2 kB         2  fresh  -     root/oldest
    ");
}

#[test]
fn the_root_comes_from_the_environment() {
    let place = bundles();
    let listed = place.run(&["ls", "root"]).stdout;
    let run = |pairs: &[(&str, &str)]| {
        let output = place.command(&["ls"]).envs(pairs.iter().copied()).output().expect("runs");
        String::from_utf8(output.stdout).expect("UTF-8")
    };
    assert_eq!(run(&[("TRACE_ROOT", "root"), ("CODEX_ROLLOUT_TRACE_ROOT", "none")]), listed);
    assert_eq!(run(&[("TRACE_ROOT", ""), ("CODEX_ROLLOUT_TRACE_ROOT", "root")]), listed);
    assert_snapshot!(place.run(&["ls"]), @r"
    --- stderr
    error: no folder is given, TRACE_ROOT and CODEX_ROLLOUT_TRACE_ROOT are not set, and nothing was recorded in the server home
    hint: `trace ls FOLDER`, or set TRACE_ROOT to the folder that holds your bundles
    --- exit code 2
    ");
}

#[test]
fn what_servers_record_is_listed_when_nothing_is_named() {
    let place = bundles();
    fs::create_dir(place.path("home")).expect("a folder");
    fs::rename(place.path("root"), place.path("home/traces")).expect("moves");
    let ran = place.run(&["ls"]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert!(ran.stdout.contains("home/traces/below/failed"), "{}", ran.stdout);
    // The argument takes precedence over the variable.
    let output = place.command(&["ls"]).env("TRACE_ROOT", "nowhere").output().expect("runs");
    assert_eq!(output.status.code(), Some(1));
}

#[test]
fn json_has_what_is_known() {
    let place = bundles();
    let ran = place.run(&["ls", "--json", "root/torn"]);
    let mut entries: serde_json::Value = serde_json::from_str(&ran.stdout).expect("JSON");
    entries[0]["log_modified_unix_ms"] = 0.into();
    assert_snapshot!(format!("{entries:#}"), @r#"
    [
      {
        "bundle": "root/torn",
        "packed": false,
        "status": "completed",
        "recording_complete": false,
        "torn_tail": true,
        "schema_version": 2,
        "trace_id": "trace-id",
        "rollout_id": "rollout-id",
        "root_thread_id": "t-root",
        "started_at_unix_ms": 1735787075000,
        "log_bytes": 553,
        "log_modified_unix_ms": 0,
        "payload_files": 0,
        "state": null,
        "problem": null
      }
    ]
    "#);
}

#[test]
fn nothing_is_there() {
    let place = Place::new();
    fs::create_dir(place.path("empty")).expect("creates");
    assert_snapshot!(place.run(&["ls", "empty"]), @"no bundles below empty");
    assert_snapshot!(place.run(&["ls", "empty", "--json"]), @"[]");
    assert_snapshot!(place.run(&["ls", "none"]), @r"
    --- stderr
    error: cannot read none: No such file or directory (os error 2)
    hint: `trace ls ROOT` lists the bundles below a folder
    --- exit code 1
    ");
}
