//! `trace show`.

use std::fs;

use insta::assert_snapshot;
use trace_recorder::format::RolloutStatus;

use crate::support::{Place, START, Session, sample, tear, troubled, well};

#[test]
fn a_session_that_went_well() {
    let place = Place::new();
    well(&place.path("bundle"), START);
    assert_snapshot!(place.run(&["show", "bundle"]), @r"
    Session rollout-id completed in 7.0 s
      bundle     bundle
      started    2025-01-02 03:04:05 +00:00
      models     model-1 (provider), 1 call
      tokens     1,200 in (1,000 cached), 34 out (5 reasoning)
      holds      1 thread, 1 turn, 2 items, 1 inference call
      recording  complete, schema 2

    Threads
      AGENT  STATUS     TURNS  CALLS  TOOLS  TOKENS IN  CACHED  OUT   TIME
      /root  completed      1      1      0      1,200   1,000   34  5.0 s
    ");
}

#[test]
fn a_session_in_trouble() {
    let place = Place::new();
    troubled(&place.path("bundle"));
    assert_snapshot!(place.run(&["show", "bundle"]), @"
    Session rollout-id failed in 28.0 s
      bundle     bundle
      started    2025-01-02 03:04:05 +00:00
      models     model-1 (provider), 3 calls
      tokens     2,400 in (2,000 cached), 68 out (10 reasoning)
      holds      4 threads, 4 turns, 5 items, 3 inference calls, 2 tool calls, 2 terminals
      recording  complete, schema 2

    Needs attention: 2 failed, 1 with an exit code, 1 cancelled, 1 undelivered, 3 unfinished
      failed       inference call  /root/a  seq 15  model-1 → stream disconnected ⏎ before completion
      failed       turn            /root/a  seq 16
      exit code    tool call       /root/a  seq 13  exec_command make all → exit code 2: make: *** [all] Error 1
      cancelled    turn            /root/b  seq 26
      undelivered  message                  seq 24  agent_result from /root/b/c to /root/b never arrived
      unfinished   thread          /root/a  seq 6
      unfinished   thread          /root/b  seq 7
      unfinished   tool call       /root/b  seq 18  exec_command sleep 1000

    Threads
      AGENT    NICKNAME  STATUS      TURNS         CALLS         TOOLS  TOKENS IN  CACHED  OUT    TIME
      /root              completed       1             1             0      1,200   1,000   34  26.0 s
      ├─ a     Ada       unfinished      1  1 (1 failed)  1 (1 failed)          0       0    0
      └─ b     Bob       unfinished      1             0             1          0       0    0
         └─ c  Cyd       completed       1             1             0      1,200   1,000   34  17.0 s

    Tools
      TOOL          CALLS                        TIME
      exec_command  2 (1 failed, 1 unfinished)  3.0 s
    ");
}

#[test]
fn a_session_that_has_no_end() {
    let place = Place::new();
    troubled(&place.path("bundle"));
    let log = place.read("bundle/trace.jsonl");
    let lines: Vec<_> = log.lines().take(21).collect();
    fs::write(place.path("bundle/trace.jsonl"), lines.join("\n")).expect("writes");
    assert_snapshot!(place.run(&["show", "bundle"]), @"
    Session rollout-id has no end; its last event is 20.0 s after its start
      bundle     bundle
      started    2025-01-02 03:04:05 +00:00
      models     model-1 (provider), 3 calls
      tokens     1,200 in (1,000 cached), 34 out (5 reasoning)
      holds      4 threads, 4 turns, 4 items, 3 inference calls, 2 tool calls, 2 terminals
      recording  not closed by the recorder, schema 2

    Needs attention: 2 failed, 1 with an exit code, 5 running
      failed     inference call  /root/a    seq 15  model-1 → stream disconnected ⏎ before completion
      failed     turn            /root/a    seq 16
      exit code  tool call       /root/a    seq 13  exec_command make all → exit code 2: make: *** [all] Error 1
      running    turn            /root      seq 3
      running    turn            /root/b    seq 17
      running    tool call       /root/b    seq 18  exec_command sleep 1000
      running    turn            /root/b/c  seq 20
      running    inference call  /root/b/c  seq 21  model-1

    Threads
      AGENT    NICKNAME  STATUS   TURNS         CALLS         TOOLS  TOKENS IN  CACHED  OUT  TIME
      /root              running      1             1             0      1,200   1,000   34
      ├─ a     Ada       running      1  1 (1 failed)  1 (1 failed)          0       0    0
      └─ b     Bob       running      1             0             1          0       0    0
         └─ c  Cyd       running      1             1             0          0       0    0

    Tools
      TOOL          CALLS                        TIME
      exec_command  2 (1 failed, 1 unfinished)  3.0 s
    ");
}

#[test]
fn damage_is_shown() {
    let place = Place::new();
    troubled(&place.path("bundle"));
    tear(&place.path("bundle"), 20);
    fs::write(place.path("bundle/manifest.json"), "{").expect("writes");
    let ran = place.run(&["show", "bundle"]);
    let damage: Vec<_> = ran.stdout.lines().skip_while(|line| !line.starts_with("Damage")).take(4).collect();
    assert_snapshot!(damage.join("\n"), @r"
    Damage: 1 error, 1 warning
      error[torn_tail] line 30: the last line breaks off after 149 bytes; its event is lost
      warning[manifest_invalid]: bundle/manifest.json is not a manifest: EOF while parsing an object at line 1 column 1; the log stands in for it
    ");
}

#[test]
fn json_is_an_object_of_its_own() {
    let place = Place::new();
    troubled(&place.path("bundle"));
    let ran = place.run(&["show", "bundle", "--json"]);
    let report: serde_json::Value = serde_json::from_str(&ran.stdout).expect("JSON");
    let keys: Vec<_> = report.as_object().expect("an object").keys().map(String::as_str).collect();
    assert_eq!(
        keys,
        ["format", "bundle", "session", "attention", "findings", "diagnostics", "threads", "tools", "edges"]
    );
    assert_snapshot!(format!("{:#}", report["session"]), @r#"
    {
      "schema_version": 2,
      "trace_id": "trace-id",
      "rollout_id": "rollout-id",
      "root_thread_id": "t-root",
      "status": "failed",
      "recording_complete": true,
      "started_at_unix_ms": 1735787045000,
      "ended_at_unix_ms": 1735787073000,
      "last_activity_unix_ms": 1735787073000,
      "duration_ms": 28000,
      "tokens": {
        "input": 2400,
        "cached_input": 2000,
        "output": 68,
        "reasoning_output": 10
      },
      "models": [
        {
          "model": "model-1",
          "provider_name": "provider",
          "inference_calls": 3,
          "tokens": {
            "input": 2400,
            "cached_input": 2000,
            "output": 68,
            "reasoning_output": 10
          }
        }
      ],
      "counts": {
        "threads": 4,
        "turns": 4,
        "conversation_items": 5,
        "inference_calls": 3,
        "tool_calls": 2,
        "code_cells": 0,
        "terminal_sessions": 2,
        "compactions": 0,
        "interaction_edges": 0,
        "raw_payloads": 11
      }
    }
    "#);
    assert_snapshot!(format!("{:#}", report["attention"][0]), @r#"
    {
      "what": "inference_call",
      "state": "failed",
      "id": "call-2",
      "thread_id": "t-a",
      "agent_path": "/root/a",
      "seq": 15,
      "at_unix_ms": 1735787059000,
      "exit_code": null,
      "subject": "model-1",
      "detail": "stream disconnected ⏎ before completion"
    }
    "#);
    assert_snapshot!(format!("{:#}", report["threads"][3]), @r#"
    {
      "thread_id": "t-c",
      "parent_thread_id": "t-b",
      "depth": 2,
      "agent_path": "/root/b/c",
      "nickname": "Cyd",
      "agent_role": "worker",
      "model": null,
      "status": "completed",
      "started_at_unix_ms": 1735787052000,
      "ended_at_unix_ms": 1735787069000,
      "duration_ms": 17000,
      "turns": 1,
      "inference_calls": 1,
      "inference_calls_failed": 0,
      "tool_calls": 0,
      "tool_calls_failed": 0,
      "conversation_items": 1,
      "tokens": {
        "input": 1200,
        "cached_input": 1000,
        "output": 34,
        "reasoning_output": 5
      }
    }
    "#);
    assert_snapshot!(report["tools"], @r#"[{"tool":"exec_command","calls":2,"failed":1,"unfinished":1,"duration_ms":3000}]"#);
    assert_snapshot!(report["edges"], @"[]");
}

#[test]
fn colours_are_for_those_who_want_them() {
    let place = Place::new();
    troubled(&place.path("bundle"));
    let show = ["show", "bundle"];
    assert!(!place.run(&show).stdout.contains('\u{1b}'));
    assert!(place.run(&["show", "bundle", "--color", "always"]).stdout.contains("\u{1b}["));
    let forced = place.command(&show).env("CLICOLOR_FORCE", "1").output().expect("runs");
    assert!(forced.stdout.contains(&0x1b));
    let refused = place.command(&show).env("CLICOLOR_FORCE", "1").env("NO_COLOR", "1").output().expect("runs");
    assert!(!refused.stdout.contains(&0x1b));
}

#[test]
fn a_bundle_cannot_talk_to_the_terminal() {
    let place = Place::new();
    let evil = "\u{1b}]0;owned\u{7}\u{9b}31m\u{202e}\r\nevil";
    let mut session = Session::begin(&place.path("bundle"), START);
    session.thread("t-root", &format!("/root{evil}"), None);
    session.child(&format!("t{evil}"), "t-root", &format!("/root/{evil}"), evil);
    session.turn("t-root", evil);
    session.command("t-root", evil, "tool", evil);
    session.failed_answer("t-root", evil, evil, evil);
    session.end(RolloutStatus::Completed);
    fs::write(place.path("bundle/payloads/1.json"), evil).expect("writes");
    for arguments in [
        &["show", "bundle"][..],
        &["ls", "."],
        &["reduce", "bundle"],
        &["reduce", "--strict", "bundle"],
        &["tail", "bundle", "--from-start"],
        &["context", "bundle", "--last", "--diff"],
        &["context", "bundle", "--last", "--full"],
        &["context", "bundle", "--inference", "\u{9b}31m"],
    ] {
        let ran = place.run(arguments);
        for text in [&ran.stdout, &ran.stderr] {
            let hostile = text.chars().find(|c| (c.is_control() && *c != '\n') || *c == '\u{202e}');
            assert_eq!(hostile, None, "{arguments:?}: {text:?}");
        }
    }
    assert!(place.run(&["show", "bundle"]).stdout.contains(r"\u{1b}]0;owned\u{7}\u{9b}31m\u{202e} ⏎ evil"));
}

#[test]
fn very_many_threads_are_cut_but_counted() {
    let place = Place::new();
    let mut session = Session::begin(&place.path("bundle"), START);
    session.thread("t-root", "/root", None);
    let mut parent = "t-root".to_owned();
    for n in 0..60 {
        let id = format!("t-{n}");
        session.child(&id, &parent, &format!("/root/{n}"), "");
        parent = id;
    }
    let ran = place.run(&["show", "bundle"]);
    let tail: Vec<_> = ran.stdout.lines().skip_while(|line| *line != "Threads").collect();
    assert_eq!(tail.len(), 43);
    assert_snapshot!(tail[42], @"  ... and 21 more (--all shows them)");
    let ran = place.run(&["show", "bundle", "--all"]);
    let rows = ran.stdout.lines().skip_while(|line| *line != "Threads").skip(2).count();
    assert_eq!(rows, 61);
    assert!(ran.stdout.lines().all(|line| line.chars().count() < 120));
}

#[test]
fn threads_that_spawned_each_other_are_shown() {
    let place = Place::new();
    let mut session = Session::begin(&place.path("bundle"), START);
    session.child("t-a", "t-b", "/a", "A");
    session.child("t-b", "t-a", "/b", "B");
    session.child("t-c", "t-c", "/c", "C");
    session.end(RolloutStatus::Completed);
    let ran = place.run(&["show", "bundle", "--json"]);
    let report: serde_json::Value = serde_json::from_str(&ran.stdout).expect("JSON");
    assert_eq!(report["threads"].as_array().expect("threads").len(), 3);
}

#[test]
fn what_is_no_bundle_is_refused_with_a_hint() {
    let place = Place::new();
    well(&place.path("root/bundle"), START);
    fs::create_dir(place.path("empty")).expect("creates");
    assert_snapshot!(place.run(&["show", "root"]), @r"
    --- stderr
    error: root is not a bundle: it has neither manifest.json nor trace.jsonl
    hint: `trace ls root` lists the bundles below it
    --- exit code 1
    ");
    assert_snapshot!(place.run(&["show", "empty"]), @r"
    --- stderr
    error: empty is not a bundle: it has neither manifest.json nor trace.jsonl
    hint: a bundle is a file NAME.trace, or a directory with manifest.json and trace.jsonl; `trace ls ROOT` finds them
    --- exit code 1
    ");
    assert_snapshot!(place.run(&["show", "none"]), @r"
    --- stderr
    error: there is no file none, and no session of this user has an id that begins so
    hint: `trace ls` lists the sessions of this user
    --- exit code 1
    ");
    assert_snapshot!(place.run(&["show", "root/bundle/trace.jsonl"]), @r"
    --- stderr
    error: root/bundle/trace.jsonl is neither a directory nor a packed bundle
    hint: a bundle is the directory that holds the file, or one file that `trace` recorded or packed
    --- exit code 1
    ");
}

#[test]
fn findings_of_an_audit_are_counted() {
    let place = Place::new();
    let shown = place.run(&["show", &sample("untrue.trace")]).stdout;
    let line = shown.lines().find(|line| line.starts_with("Findings")).expect("a line");
    assert_snapshot!(line, @"Findings of the audit: 7 high, 6 medium, 1 low (trace audit shows them)");
    let shown = place.run(&["show", "--json", &sample("untrue.trace")]).stdout;
    let shown: serde_json::Value = serde_json::from_str(&shown).expect("JSON");
    assert_snapshot!(shown["findings"].to_string(), @r#"{"high":7,"medium":6,"low":1}"#);
    assert!(!place.run(&["show", &sample("honest.trace")]).stdout.contains("Findings"));
}
