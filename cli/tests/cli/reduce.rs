//! `trace reduce`.

use std::fs;
use std::path::Path;
use std::process::Stdio;

use insta::assert_snapshot;

use crate::schema;
use crate::support::{Place, START, Session, tear, troubled, well};

fn many() -> Place {
    let place = Place::new();
    for name in ["root/x/one", "root/x/two", "root/y/one"] {
        well(&place.path(name), START);
    }
    place
}

#[test]
fn one_bundle_gets_a_state() {
    let place = Place::new();
    well(&place.path("bundle"), START);
    let ran = place.run(&["reduce", "bundle"]);
    assert_snapshot!(ran, @"bundle/state.json: 1 thread, 1 turn, 2 items, 0 tools, 0 edges");
    assert_eq!(place.names("bundle"), ["manifest.json", "payloads", "state.json", "trace.jsonl"]);
    assert_eq!(place.json("bundle/state.json")["status"], "completed");
    assert!(place.read("bundle/state.json").starts_with("{\n  \"schema_version\": 2,\n"));

    assert_snapshot!(place.run(&["reduce", "bundle", "--quiet", "--one-line", "--jobs", "1"]), @"");
    assert!(place.read("bundle/state.json").starts_with("{\"schema_version\":2,"));
}

#[test]
fn a_root_stands_for_its_bundles() {
    let place = many();
    assert_snapshot!(place.run(&["reduce", "root"]), @r"
    root/x/one/state.json: 1 thread, 1 turn, 2 items, 0 tools, 0 edges
    root/x/two/state.json: 1 thread, 1 turn, 2 items, 0 tools, 0 edges
    root/y/one/state.json: 1 thread, 1 turn, 2 items, 0 tools, 0 edges
    ");
    for name in ["root/x/one", "root/x/two", "root/y/one"] {
        assert_eq!(place.json(&format!("{name}/state.json"))["status"], "completed");
    }
}

#[test]
fn a_bundle_that_is_named_twice_is_reduced_once() {
    let place = many();
    assert_snapshot!(place.run(&["reduce", "root/x", "root/x/two", "root/x/two/"]), @r"
    root/x/one/state.json: 1 thread, 1 turn, 2 items, 0 tools, 0 edges
    root/x/two/state.json: 1 thread, 1 turn, 2 items, 0 tools, 0 edges
    ");
}

#[test]
fn a_directory_takes_many_outputs_under_names_of_their_own() {
    let place = many();
    assert_snapshot!(place.run(&["reduce", "root", "-o", "out"]), @r"
    out/x/one.json: 1 thread, 1 turn, 2 items, 0 tools, 0 edges
    out/two.json: 1 thread, 1 turn, 2 items, 0 tools, 0 edges
    out/y/one.json: 1 thread, 1 turn, 2 items, 0 tools, 0 edges
    ");
    assert_eq!(place.names("out"), ["two.json", "x", "y"]);
    assert_eq!(place.names("out/x"), ["one.json"]);
    assert_eq!(place.names("root/x/one"), ["manifest.json", "payloads", "trace.jsonl"]);
}

#[test]
fn the_output_of_one_bundle_is_a_file_or_goes_into_a_directory() {
    let place = many();
    assert_snapshot!(place.run(&["reduce", "root/x/one", "-o", "here.json"]), @"here.json: 1 thread, 1 turn, 2 items, 0 tools, 0 edges");
    assert_snapshot!(place.run(&["reduce", "root/x/one", "-o", "new/"]), @"new/one.json: 1 thread, 1 turn, 2 items, 0 tools, 0 edges");
    assert_snapshot!(place.run(&["reduce", "root/x/two", "-o", "new"]), @"new/two.json: 1 thread, 1 turn, 2 items, 0 tools, 0 edges");
    assert_snapshot!(place.run(&["reduce", "root/y", "-o", "here.json"]), @r"
    --- stderr
    error: -o here.json is a file, but several bundles are to be reduced
    hint: name a directory, or leave -o out to write into the bundles
    --- exit code 2
    ");
    assert_snapshot!(place.run(&["reduce", "root/y/one", "-o", "no/such/directory/x.json"]), @r"
    --- stderr
    error: root/y/one: cannot write no/such/directory/x.json: No such file or directory (os error 2)
    hint: `mkdir -p no/such/directory` first
    --- exit code 1
    ");
}

#[test]
fn stdout_takes_documents_in_order() {
    let place = many();
    let ran = place.run(&["reduce", "root", "-o", "-", "--one-line"]);
    assert_snapshot!(ran.stderr, @r"
    root/x/one: 1 thread, 1 turn, 2 items, 0 tools, 0 edges
    root/x/two: 1 thread, 1 turn, 2 items, 0 tools, 0 edges
    root/y/one: 1 thread, 1 turn, 2 items, 0 tools, 0 edges
    ");
    assert_eq!(ran.stdout.lines().count(), 3);
    for line in ran.stdout.lines() {
        let state: serde_json::Value = serde_json::from_str(line).expect("JSON");
        assert_eq!(state["status"], "completed");
    }
    let ran = place.run(&["reduce", "root/y/one", "-o", "-", "--quiet"]);
    assert_eq!((ran.stderr.as_str(), ran.stdout.lines().last()), ("", Some("}")));
}

#[test]
fn the_compact_form_has_files_of_its_own() {
    let place = many();
    troubled(&place.path("root/y/two"));
    assert_snapshot!(place.run(&["reduce", "root/y", "--compact"]), @r"
    root/y/one/state.compact.json: 1 thread, 1 turn, 2 items, 0 tools, 0 edges
    root/y/two/state.compact.json: 4 threads, 4 turns, 5 items, 2 tools, 0 edges, 1 note
    --- stderr
    root/y/two: note[message_undelivered] seq 24: agent_result from /root/b/c to /root/b never arrived
    ");
    let names = place.names("root/y/one");
    assert_eq!(names, ["manifest.json", "payloads", "state.compact.json", "trace.jsonl"]);
    for name in ["one", "two"] {
        let compact = place.read(&format!("root/y/{name}/state.compact.json"));
        assert!(compact.starts_with(r#"{"compact":1,"item_lines":[["conversation_item:1""#), "{compact}");
        schema::assert_valid("compact", &compact);
    }

    // It belongs to the bundle as state.json does.
    assert_snapshot!(place.run(&["check", "root/y/one"]), @r"
    root/y/one: 9 events, 2 payloads, 601 B: ok
      CHECK       LOOKED AT                      RESULT
      manifest    schema 2                       ok
      log         9 lines                        ok
      sequence    9 events                       ok
      clock       8.0 s                          ok
      end                                        ok
      references  2 references                   ok
      payloads    2 files, 601 B, largest 394 B  ok
      recorder                                   ok
      files       4 entries                      ok
    ");
    assert_snapshot!(place.run(&["ls", "root/y"]), @r"
    STARTED              STATUS     LOG     PAYLOADS  STATE  KIND  BUNDLE
    2025-01-02 03:04:05  completed  2.2 kB         2  fresh  -     root/y/one
    2025-01-02 03:04:05  failed     8.7 kB        11  fresh  -     root/y/two
    ");
    assert_eq!(place.run(&["pack", "--delete-source", "--quiet", "root/y/one"]).code, 0);
    assert_snapshot!(place.run(&["reduce", "--compact", "root/y/one.trace"]), @"root/y/one.state.compact.json: 1 thread, 1 turn, 2 items, 0 tools, 0 edges");
    assert_eq!(place.names("root/y"), ["one.state.compact.json", "one.trace", "two"]);

    // Both forms of a bundle have room in one folder.
    assert_eq!(place.run(&["reduce", "root/x", "-o", "out", "--quiet"]).code, 0);
    assert_eq!(place.run(&["reduce", "root/x", "-o", "out", "--quiet", "--compact"]).code, 0);
    assert_eq!(place.names("out"), ["one.compact.json", "one.json", "two.compact.json", "two.json"]);
    let ran = place.run(&["reduce", "root/x", "-o", "-", "--quiet", "--compact"]);
    assert_eq!(ran.stdout.lines().count(), 2);
    ran.stdout.lines().for_each(|graph| schema::assert_valid("compact", graph));
    assert_snapshot!(place.run(&["reduce", "root/x", "--compact", "--one-line"]), @r"
    --- stderr
    error: the argument '--compact' cannot be used with '--one-line'

    Usage: trace reduce --compact <BUNDLE>...

    For more information, try '--help'.
    --- exit code 2
    ");
}

#[test]
fn a_session_of_another_agent_has_a_compact_form() {
    let place = Place::new();
    let session = Path::new(env!("CARGO_MANIFEST_DIR")).join("../samples/claude-code");
    let session = session.to_str().expect("UTF-8");
    let ran = place.run(&["reduce", session, "-o", "-", "--quiet", "--compact"]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    schema::assert_valid("compact", ran.stdout.trim_end());
}

#[test]
fn damage_is_said_and_costs_only_itself() {
    let place = Place::new();
    troubled(&place.path("bundle"));
    tear(&place.path("bundle"), 20);
    fs::remove_file(place.path("bundle/payloads/2.json")).expect("removes");
    let ran = place.run(&["reduce", "bundle"]);
    assert_snapshot!(ran, @r"
    bundle/state.json: 4 threads, 4 turns, 4 items, 2 tools, 0 edges, 2 errors, 2 notes
    --- stderr
    error[torn_tail] line 30: the last line breaks off after 149 bytes; its event is lost
    error[payload_missing] seq 5 raw_payload:2: the payload file is missing
    note[message_undelivered] seq 24: agent_result from /root/b/c to /root/b never arrived
    note[recording_incomplete]: the recorder did not close the log; what happened after its last event is not known
    ");
    let codes: Vec<_> = place.json("bundle/state.json")["diagnostics"]
        .as_array()
        .expect("diagnostics")
        .iter()
        .map(|diagnostic| diagnostic["code"].as_str().expect("a code").to_owned())
        .collect();
    assert!(codes.contains(&"torn_tail".to_owned()) && codes.contains(&"payload_missing".to_owned()));
}

#[test]
fn a_flood_of_diagnostics_is_cut() {
    let place = Place::new();
    well(&place.path("bundle"), START);
    let log = place.read("bundle/trace.jsonl");
    fs::write(place.path("bundle/trace.jsonl"), "nonsense\n".repeat(500) + &log).expect("writes");
    let ran = place.run(&["reduce", "bundle"]);
    assert_eq!(ran.stderr.lines().count(), 21);
    assert_snapshot!(ran.stderr.lines().last().expect("a line"), @"... and 480 more");
}

#[test]
fn strict_refuses_and_writes_nothing() {
    let place = many();
    tear(&place.path("root/x/two"), 20);
    fs::write(place.path("root/x/two/state.json"), "old").expect("writes");
    let ran = place.run(&["reduce", "--strict", "root"]);
    assert_snapshot!(ran, @r"
    root/x/one/state.json: 1 thread, 1 turn, 2 items, 0 tools, 0 edges
    root/y/one/state.json: 1 thread, 1 turn, 2 items, 0 tools, 0 edges
    --- stderr
    error: root/x/two: refused: error[torn_tail] line 9: the last line breaks off after 148 bytes; its event is lost
    hint: without --strict, a damaged bundle is reduced as far as its events allow
    1 of 3 bundles not reduced
    --- exit code 1
    ");
    assert_eq!(place.read("root/x/two/state.json"), "old");
    assert_eq!(place.names("root/x/two"), ["manifest.json", "payloads", "state.json", "trace.jsonl"]);

    let ran = place.run(&["reduce", "--strict", "root/x/two", "-o", "out.json"]);
    assert_snapshot!(ran, @r"
    --- stderr
    error: root/x/two: refused: error[torn_tail] line 9: the last line breaks off after 148 bytes; its event is lost
    hint: without --strict, a damaged bundle is reduced as far as its events allow
    --- exit code 1
    ");
    assert!(!place.path("out.json").exists());
}

#[test]
fn what_cannot_be_read_does_not_stop_the_rest() {
    let place = many();
    fs::create_dir(place.path("empty")).expect("creates");
    fs::remove_file(place.path("root/x/two/trace.jsonl")).expect("removes");
    let ran = place.run(&["reduce", "empty", "none", "root/x/one/trace.jsonl", "root/y", "root/x/two"]);
    assert_snapshot!(ran, @r"
    root/y/one/state.json: 1 thread, 1 turn, 2 items, 0 tools, 0 edges
    root/x/two/state.json: 0 threads, 0 turns, 0 items, 0 tools, 0 edges, 1 error, 1 note
    --- stderr
    error: empty is not a bundle: it has neither manifest.json nor trace.jsonl
    hint: there is no bundle below it either
    error: there is no file none, and no session of this user has an id that begins so
    hint: `trace ls` lists the sessions of this user
    error: cannot read root/x/one/trace.jsonl: Not a directory (os error 20)
    hint: a bundle is the directory that holds the file, or one file that `trace` recorded or packed
    root/x/two: error[log_unreadable]: cannot read root/x/two/trace.jsonl: No such file or directory (os error 2); there are no events
    root/x/two: note[no_end]: the log has no end: the session still runs, or its process died
    3 of 5 bundles not reduced
    --- exit code 1
    ");
}

#[test]
fn a_file_that_cannot_be_replaced_stays_and_nothing_is_left_behind() {
    let place = Place::new();
    well(&place.path("bundle"), START);
    fs::create_dir_all(place.path("bundle/state.json/in the way")).expect("creates");
    let ran = place.run(&["reduce", "bundle"]);
    assert_snapshot!(ran, @r"
    --- stderr
    error: cannot write bundle/state.json: Is a directory (os error 21)
    hint: -o FILE writes it elsewhere
    --- exit code 1
    ");
    assert_eq!(place.names("bundle"), ["manifest.json", "payloads", "state.json", "trace.jsonl"]);
}

#[test]
fn a_recording_is_never_overwritten() {
    let place = many();
    let log = place.read("root/x/two/trace.jsonl");
    assert_snapshot!(place.run(&["reduce", "root/x/one", "-o", "root/x/two/trace.jsonl"]), @r"
    --- stderr
    error: root/x/two/trace.jsonl belongs to a recording and is not overwritten
    hint: name another output with -o
    --- exit code 2
    ");
    assert_snapshot!(place.run(&["reduce", "root", "-o", "root/x/two/payloads"]), @r"
    --- stderr
    error: root/x/two/payloads/two.json belongs to a recording and is not overwritten
    hint: name another output with -o
    --- exit code 2
    ");
    assert_eq!(place.read("root/x/two/trace.jsonl"), log);
    assert_eq!(place.names("root/x/two/payloads"), ["1.json", "2.json"]);
}

#[cfg(unix)]
#[test]
fn a_link_in_a_bundle_is_not_followed_and_a_device_is_written_into() {
    use std::os::unix::fs::symlink;

    let place = Place::new();
    well(&place.path("bundle"), START);
    fs::write(place.path("precious"), "precious").expect("writes");
    symlink(place.path("precious"), place.path("bundle/state.json")).expect("links");
    assert_eq!(place.run(&["reduce", "bundle"]).code, 0);
    assert_eq!(place.read("precious"), "precious");
    assert!(fs::symlink_metadata(place.path("bundle/state.json")).expect("is there").is_file());

    symlink("/dev/null", place.path("nowhere")).expect("links");
    assert_eq!(place.run(&["reduce", "bundle", "-o", "nowhere"]).code, 0);
    assert!(fs::symlink_metadata(place.path("nowhere")).expect("is there").is_symlink());
    assert!(!fs::metadata("/dev/null").expect("is there").is_file());
}

#[test]
fn readers_may_leave() {
    let place = Place::new();
    let mut session = Session::begin(&place.path("bundle"), START);
    // The output is larger than the buffer of a pipe.
    for n in 0..2000 {
        session.thread(&format!("t-{n}"), &format!("/root/{n}"), None);
    }
    for arguments in [&["reduce", "bundle", "-o", "-"][..], &["show", "bundle", "--all"], &["show", "bundle", "--json"]]
    {
        let mut child = place.command(arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("starts");
        drop(child.stdout.take());
        let output = child.wait_with_output().expect("ends");
        assert_eq!(
            (output.status.code(), String::from_utf8_lossy(&output.stderr).as_ref()),
            (Some(0), ""),
            "{arguments:?}"
        );
    }
}

#[test]
fn wrong_usage_is_told_from_bad_data() {
    let place = many();
    assert_snapshot!(place.run(&["reduce"]), @r"
    --- stderr
    error: the following required arguments were not provided:
      <BUNDLE>...

    Usage: trace reduce <BUNDLE>...

    For more information, try '--help'.
    --- exit code 2
    ");
    assert_snapshot!(place.run(&["reduce", "root", "--jobs", "0"]), @r"
    --- stderr
    error: invalid value '0' for '--jobs <N>': 0 is not in 1..=1024

    For more information, try '--help'.
    --- exit code 2
    ");
    fs::write(place.path("file"), "").expect("writes");
    assert_snapshot!(place.run(&["reduce", "root", "-o", "file"]), @r"
    --- stderr
    error: -o file is a file, but several bundles are to be reduced
    hint: name a directory, or leave -o out to write into the bundles
    --- exit code 2
    ");
}

#[test]
fn threads_do_not_change_the_result() {
    let place = many();
    place.run(&["reduce", "root", "-o", "a", "--jobs", "1"]);
    place.run(&["reduce", "root", "-o", "b", "--jobs", "7", "--verify"]);
    for name in ["two.json", "x/one.json", "y/one.json"] {
        assert_eq!(place.read(&format!("a/{name}")), place.read(&format!("b/{name}")));
    }
    place.run(&["reduce", "root", "-o", "a", "--compact", "--jobs", "1"]);
    place.run(&["reduce", "root", "-o", "b", "--compact", "--jobs", "7", "--verify"]);
    for name in ["two.compact.json", "x/one.compact.json", "y/one.compact.json"] {
        assert_eq!(place.read(&format!("a/{name}")), place.read(&format!("b/{name}")));
    }
}
