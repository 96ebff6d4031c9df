//! `trace check`.

use std::fs::{self, File};
use std::time::{Duration, SystemTime};

use insta::assert_snapshot;
use trace_recorder::format::RolloutStatus;

use crate::support::{Place, START, Session, tear, troubled, well};

/// A sound bundle and one with several kinds of damage. Both were written an hour ago.
fn bundles() -> Place {
    let place = Place::new();
    well(&place.path("root/well"), START);
    troubled(&place.path("root/below/torn"));
    tear(&place.path("root/below/torn"), 20);
    fs::remove_file(place.path("root/below/torn/payloads/1.json")).expect("removes");
    for name in ["root/well", "root/below/torn"] {
        age(&place, name);
    }
    place
}

fn age(place: &Place, bundle: &str) {
    let log = File::options().append(true).open(place.path(bundle).join("trace.jsonl")).expect("opens");
    log.set_modified(SystemTime::now() - Duration::from_secs(3600)).expect("sets the time");
}

#[test]
fn one_bundle_is_shown_whole() {
    let place = bundles();
    assert_snapshot!(place.run(&["check", "root/well"]), @r#"
    root/well: 9 events, 2 payloads, 601 B: ok
      CHECK       LOOKED AT                      RESULT
      manifest    schema 2                       ok
      log         9 lines                        ok
      sequence    9 events                       ok
      clock       8.0 s                          ok
      end                                        ok
      references  2 references                   ok
      payloads    2 files, 601 B, largest 394 B  ok
      recorder                                   ok
      files       3 entries                      ok
    "#);
    assert_snapshot!(place.run(&["check", "root/below/torn"]), @r#"
    root/below/torn: 29 events, 10 payloads, 2.3 kB: 2 errors, 1 note
      CHECK       LOOKED AT                        RESULT
      manifest    schema 2                         ok
      log         30 lines                         1 error
      sequence    29 events                        ok
      clock       28.0 s                           ok
      end                                          1 note
      references  11 references                    1 error
      payloads    10 files, 2.3 kB, largest 394 B  ok
      recorder                                     ok
      files       3 entries                        ok
      error[torn_tail] line 30: the last line breaks off after 149 bytes; its event is lost
      note[recording_incomplete]: the recorder did not close the log; what happened after its last event is not known
      error[payload_missing] line 4 seq 4 payloads/1.json: the payload file is missing
    --- exit code 1
    "#);
}

#[test]
fn of_many_bundles_the_damaged_are_shown() {
    let place = bundles();
    assert_snapshot!(place.run(&["check", "root", "none"]), @r"
    root/below/torn: 29 events, 10 payloads, 2.3 kB: 2 errors, 1 note
      CHECK       LOOKED AT                        RESULT
      manifest    schema 2                         ok
      log         30 lines                         1 error
      sequence    29 events                        ok
      clock       28.0 s                           ok
      end                                          1 note
      references  11 references                    1 error
      payloads    10 files, 2.3 kB, largest 394 B  ok
      recorder                                     ok
      files       3 entries                        ok
      error[torn_tail] line 30: the last line breaks off after 149 bytes; its event is lost
      note[recording_incomplete]: the recorder did not close the log; what happened after its last event is not known
      error[payload_missing] line 4 seq 4 payloads/1.json: the payload file is missing
    root/well: 9 events, 2 payloads, 601 B: ok
    2 of 3 bundles with errors
    --- stderr
    error: there is no file none, and no session of this user has an id that begins so
    hint: `trace ls` lists the sessions of this user
    --- exit code 1
    ");
    assert_snapshot!(place.run(&["check", "-q", "root"]), @r#"
    root/below/torn: error[torn_tail] line 30: the last line breaks off after 149 bytes; its event is lost
    root/below/torn: error[payload_missing] line 4 seq 4 payloads/1.json: the payload file is missing
    --- exit code 1
    "#);
    assert_snapshot!(place.run(&["check", "-q", "root/well"]), @"");
}

#[test]
fn json_has_all_of_it() {
    let place = bundles();
    let ran = place.run(&["check", "--json", "root/below/torn", "--repair", "--dry-run"]);
    assert_eq!(ran.code, 1);
    let entries: serde_json::Value = serde_json::from_str(&ran.stdout).expect("JSON");
    let entry = &entries[0];
    assert_eq!(entries.as_array().map(Vec::len), Some(1));
    assert_snapshot!(format!("{:#}", entry["checks"][1]), @r#"
    {
      "check": "log",
      "looked_at": "30 lines",
      "errors": 1,
      "warnings": 0,
      "notes": 0
    }
    "#);
    assert_snapshot!(format!("{:#}", entry["findings"]), @r#"
    [
      {
        "code": "torn_tail",
        "severity": "error",
        "line": 30,
        "seq": null,
        "path": null,
        "message": "the last line breaks off after 149 bytes; its event is lost"
      },
      {
        "code": "recording_incomplete",
        "severity": "note",
        "line": null,
        "seq": null,
        "path": null,
        "message": "the recorder did not close the log; what happened after its last event is not known"
      },
      {
        "code": "payload_missing",
        "severity": "error",
        "line": 4,
        "seq": 4,
        "path": "payloads/1.json",
        "message": "the payload file is missing"
      }
    ]
    "#);
    assert_snapshot!(format!("{:#}", entry["repair"]), @r#"
    {
      "dry_run": true,
      "changes": [
        {
          "change": "tail_cut",
          "message": "line 30, which breaks off after 149 bytes, is cut off"
        },
        {
          "change": "payload_replaced",
          "message": "an empty document replaces payloads/1.json: the payload file is missing"
        },
        {
          "change": "gap_recorded",
          "message": "event 30, which reports what is lost after event 3 (1 payload), is added with payloads/12.json"
        }
      ],
      "changes_left_out": 0,
      "backup": null
    }
    "#);
    assert_eq!((&entry["errors"], &entry["problem"]), (&2.into(), &serde_json::Value::Null));
}

#[test]
fn a_repair_says_what_it_does_and_does_it_once() {
    let place = bundles();
    let before = place.names("root/below/torn");
    assert_snapshot!(place.run(&["check", "root/below/torn", "--repair", "--dry-run"]), @r#"
    root/below/torn: 29 events, 10 payloads, 2.3 kB: 2 errors, 1 note
      CHECK       LOOKED AT                        RESULT
      manifest    schema 2                         ok
      log         30 lines                         1 error
      sequence    29 events                        ok
      clock       28.0 s                           ok
      end                                          1 note
      references  11 references                    1 error
      payloads    10 files, 2.3 kB, largest 394 B  ok
      recorder                                     ok
      files       3 entries                        ok
      error[torn_tail] line 30: the last line breaks off after 149 bytes; its event is lost
      note[recording_incomplete]: the recorder did not close the log; what happened after its last event is not known
      error[payload_missing] line 4 seq 4 payloads/1.json: the payload file is missing
      would repair: line 30, which breaks off after 149 bytes, is cut off
      would repair: an empty document replaces payloads/1.json: the payload file is missing
      would repair: event 30, which reports what is lost after event 3 (1 payload), is added with payloads/12.json
    --- exit code 1
    "#);
    assert_eq!(place.names("root/below/torn"), before);
    assert_snapshot!(place.run(&["check", "root/below/torn", "--repair"]), @r#"
    root/below/torn: 30 events, 12 payloads, 2.5 kB: 3 notes
      CHECK       LOOKED AT                        RESULT
      manifest    schema 2                         ok
      log         30 lines                         ok
      sequence    30 events                        ok
      clock       28.0 s                           ok
      end                                          1 note
      references  12 references                    ok
      payloads    12 files, 2.5 kB, largest 394 B  1 note
      recorder                                     ok
      files       4 entries                        1 note
      note[recording_incomplete]: the recorder did not close the log; what happened after its last event is not known
      note[payload_dropped] line 4 seq 4 payloads/1.json: its content was dropped; only its shape is left
      note[earlier_repair] before-repair-1: has copies of what a repair changed
      repaired: line 30, which breaks off after 149 bytes, is cut off
      repaired: an empty document replaces payloads/1.json: the payload file is missing
      repaired: event 30, which reports what is lost after event 3 (1 payload), is added with payloads/12.json
      the original files are in root/below/torn/before-repair-1
    "#);
    assert_eq!(place.names("root/below/torn/before-repair-1"), ["trace.jsonl"]);
    age(&place, "root/below/torn");
    assert_snapshot!(place.run(&["check", "root", "--repair"]), @r#"
    root/below/torn: 30 events, 12 payloads, 2.5 kB: 3 notes
    root/well: 9 events, 2 payloads, 601 B: ok
    2 bundles, no errors
    "#);
    assert_eq!(place.run(&["reduce", "--strict", "root"]).code, 0);
    assert_snapshot!(place.run(&["check", "root/well", "--dry-run"]), @r#"
    --- stderr
    error: the following required arguments were not provided:
      --repair

    Usage: trace check --repair --dry-run <BUNDLE>...

    For more information, try '--help'.
    --- exit code 2
    "#);
}

#[test]
fn what_is_being_recorded_is_left_alone() {
    let place = Place::new();
    well(&place.path("locked"), START);
    tear(&place.path("locked"), 20);
    let lock = File::create(place.path("locked/recorder.json")).expect("creates");
    lock.lock().expect("locks");
    assert_snapshot!(place.run(&["check", "locked", "--repair"]), @r#"
    locked: 8 events, 2 payloads, 601 B: 2 notes
      CHECK       LOOKED AT                      RESULT
      manifest    schema 2                       ok
      log         9 lines                        ok
      sequence    8 events                       ok
      clock       7.0 s                          ok
      end                                        1 note
      references  2 references                   ok
      payloads    2 files, 601 B, largest 394 B  ok
      recorder                                   1 note
      files       4 entries                      ok
      note[recording_incomplete]: the recorder did not close the log; what happened after its last event is not known
      note[being_recorded] recorder.json: a recorder is at work on the bundle; an incomplete last line is not damage
      error: locked is being recorded
      hint: a bundle can be repaired when its recording has ended
    --- exit code 1
    "#);
    // This is a bundle of a recorder that takes no lock.
    drop(Session::begin(&place.path("fresh"), START));
    tear(&place.path("fresh"), 20);
    assert_snapshot!(place.run(&["check", "fresh", "--repair"]), @r#"
    fresh: 0 events, 0 payloads, 0 B: 1 error, 1 note
      CHECK       LOOKED AT     RESULT
      manifest    schema 2      ok
      log         1 line        1 error, 1 note
      sequence    0 events      ok
      clock                     ok
      end                       ok
      references  0 references  ok
      payloads    0 files       ok
      recorder                  ok
      files       3 entries     ok
      error[torn_tail] line 1: the last line breaks off after 192 bytes; its event is lost
      note[log_empty] trace.jsonl: the log has no events
      error: the log has no end and was written to within the last ten minutes; a recorder may still write to it
      hint: try again when the recording has ended
    --- exit code 1
    "#);
    age(&place, "fresh");
    assert_eq!(place.run(&["check", "fresh", "--repair"]).code, 0);
}

#[test]
fn what_has_nothing_to_repair_is_well_though_it_unfinished() {
    let place = Place::new();
    drop(Session::begin(&place.path("root/fresh"), START));
    well(&place.path("root/well"), START);
    assert_eq!(place.run(&["pack", "root/well", "-q"]).code, 0);
    assert_snapshot!(place.run(&["check", "root", "--repair"]), @r#"
    root/fresh: 1 event, 0 payloads, 0 B: 1 note
    root/well: 9 events, 2 payloads, 601 B: ok
    root/well.trace: 9 events, 2 payloads, 601 B: ok
    3 bundles, no errors
    "#);
    // A bundle that was written to within the last ten minutes is not repaired.
    tear(&place.path("root/fresh"), 20);
    let log = File::options().append(true).open(place.path("root/fresh/trace.jsonl")).expect("opens");
    log.set_modified(SystemTime::now() - Duration::from_secs(500)).expect("sets the time");
    assert_eq!(place.run(&["check", "root/fresh", "--repair"]).code, 1);
    assert_eq!(place.run(&["check", "root/fresh", "--repair", "--dry-run"]).code, 1);
}

#[test]
fn a_damaged_packed_bundle_has_to_be_unpacked_first() {
    let place = bundles();
    assert_eq!(place.run(&["pack", "root/below/torn", "-q"]).code, 0);
    let ran = place.run(&["check", "root/below/torn.trace", "--repair"]);
    assert_eq!(ran.code, 1);
    assert_snapshot!(ran.stdout.lines().rev().take(2).collect::<Vec<_>>().join("\n"), @r#"
    hint: `trace unpack` it first
    error: root/below/torn.trace is not a directory, and only a directory can be repaired
    "#);
}

#[test]
fn what_is_not_there_has_an_entry_in_json() {
    let place = Place::new();
    let ran = place.run(&["check", "nothere", "--json"]);
    let entries: serde_json::Value = serde_json::from_str(&ran.stdout).expect("JSON");
    assert_eq!((ran.code, &entries[0]["bundle"]), (1, &"nothere".into()));
    assert_eq!(entries[0]["problem"], "there is no file nothere, and no session of this user has an id that begins so");
}

#[test]
fn hostile_names_do_nothing_to_a_terminal() {
    let place = Place::new();
    let mut session = Session::begin(&place.path("bundle"), START);
    session.thread("t-root", "/root", None);
    session.end(RolloutStatus::Completed);
    let log = place.read("bundle/trace.jsonl").replace("trace-id", "\\u001b[31mred");
    fs::write(place.path("bundle/trace.jsonl"), log.replace("rollout_ended", "\\u001b[2J")).expect("writes");
    let ran = place.run(&["check", "bundle", "--color", "never"]);
    assert!(!ran.stdout.contains('\u{1b}'), "{}", ran.stdout);
    assert_snapshot!(ran, @r#"
    bundle: 4 events, 0 payloads, 0 B: 1 error, 1 warning, 1 note
      CHECK       LOOKED AT     RESULT
      manifest    schema 2      1 warning
      log         4 lines       1 error
      sequence    4 events      ok
      clock       3.0 s         ok
      end                       1 note
      references  0 references  ok
      payloads    0 files       ok
      recorder                  ok
      files       3 entries     ok
      warning[manifest_disagrees] line 1 seq 1: the first event gives the session other ids than the manifest; readers use those of the event
      error[unknown_event] line 3 seq 3: the event `\u{1b}[2J` is not known to this version
      note[no_end]: the log has no end: the session still runs, or its process died
    --- exit code 1
    "#);
}
