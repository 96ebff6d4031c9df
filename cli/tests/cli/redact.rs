//! `trace redact`.

use std::fs;

use insta::assert_snapshot;
use trace_recorder::format::RolloutStatus;

use crate::support::{Place, START, Session, tear, well};

/// A token in the format of a provider. It is joined from parts, so that scanners do not report the test as a leak.
fn token() -> String {
    format!("{}_{}", "ghp", "q7Rw2Ez9Ty4Ui1Op6As8Df3Gh5JkLxCvBnM0")
}

/// Records a session with a token in a command, its output and its preview, and with a password in a URL of an error
/// message.
fn leaky(place: &Place) {
    let mut session = Session::begin(&place.path("b"), START);
    session.thread("t-root", "/root", None);
    session.turn("t-root", "turn-1");
    session.command("t-root", "turn-1", "tool-1", &format!("GH_TOKEN={} make release", token()));
    session.command_ended("t-root", "turn-1", "tool-1", 1, &format!("401 for {}\n", token()));
    session.failed_answer("t-root", "turn-1", "call-1", "cannot reach https://me:hunter2@proxy.example");
    session.thread_ended("t-root", RolloutStatus::Completed);
    session.end(RolloutStatus::Failed);
}

#[test]
fn secrets_are_replaced_and_told() {
    let place = Place::new();
    leaky(&place);
    fs::write(place.path("b/state.json"), "{}").expect("writes");
    assert_snapshot!(place.run(&["redact", "b", "-o", "out"]), @r#"
    b: 2 secrets replaced, 4 times in 4 documents
      KIND          HASH      TIMES  WHERE
      github-token  4676750e      3  seq 4, payloads/1.json, payloads/2.json
      url-password  7bb76b8b      1  seq 9
    written to out; check it before you share it
    "#);
    assert_eq!(place.names("out"), ["manifest.json", "payloads", "trace.jsonl"]);
    let log = place.read("out/trace.jsonl");
    assert!(!log.contains(&token()) && !log.contains("hunter2"));
    assert_snapshot!(place.run(&["redact", "--check", "out"]), @r#"
    out: no secrets found in 16 documents
    "#);
    assert_snapshot!(place.run(&["show", "out"]).stdout.lines().find(|line| line.contains("proxy")).expect("shown").trim(), @r#"
    failed      inference call  /root  seq 9  model-1 → cannot reach https://me:[redacted:url-password:7bb76b8b]@proxy.example
    "#);
    // A second copy does not replace the first one.
    assert_snapshot!(place.run(&["redact", "b", "-o", "out"]), @r#"
    --- stderr
    error: out exists already
    hint: name another place, or remove out first
    --- exit code 1
    "#);
    assert_snapshot!(place.run(&["redact", "b", "-o", "no/such/out"]), @r#"
    --- stderr
    error: cannot write no/such/out: No such file or directory (os error 2)
    hint: `mkdir -p no/such` first
    --- exit code 1
    "#);
    assert_eq!(place.names("."), ["b", "out"]);
}

#[test]
fn a_check_fails_when_there_is_something_to_replace() {
    let place = Place::new();
    leaky(&place);
    well(&place.path("fine"), START);
    assert_snapshot!(place.run(&["redact", "--check", "b"]), @r#"
    b: 2 secrets found, 4 times in 4 documents
      KIND          HASH      TIMES  WHERE
      github-token  4676750e      3  seq 4, payloads/1.json, payloads/2.json
      url-password  7bb76b8b      1  seq 9
    --- exit code 1
    "#);
    assert_snapshot!(place.run(&["redact", "--check", "fine"]), @r#"
    fine: no secrets found in 12 documents
    "#);
    assert_snapshot!(place.run(&["redact", "b"]), @r#"
    --- stderr
    error: the following required arguments were not provided:
      --output <OUT>

    Usage: trace redact --output <OUT> <BUNDLE>

    For more information, try '--help'.
    --- exit code 2
    "#);
    assert_eq!(place.names("."), ["b", "fine"]);
}

#[test]
fn the_report_is_json_too() {
    let place = Place::new();
    leaky(&place);
    assert_snapshot!(place.run(&["redact", "--check", "--json", "b"]), @r#"
    {
      "bundle": "b",
      "output": null,
      "report": {
        "secrets": [
          {
            "kind": "github-token",
            "hash": "4676750e",
            "occurrences": 3,
            "documents": 3,
            "places": [
              {
                "event": {
                  "line": 4,
                  "seq": 4
                }
              },
              {
                "payload": {
                  "path": "payloads/1.json"
                }
              },
              {
                "payload": {
                  "path": "payloads/2.json"
                }
              }
            ]
          },
          {
            "kind": "url-password",
            "hash": "7bb76b8b",
            "occurrences": 1,
            "documents": 1,
            "places": [
              {
                "event": {
                  "line": 9,
                  "seq": 9
                }
              }
            ]
          }
        ],
        "documents": 16,
        "documents_with_secrets": 4,
        "damaged": [],
        "unreadable": [],
        "left_out": []
      }
    }
    --- exit code 1
    "#);
}

#[test]
fn users_add_patterns_values_and_variables() {
    let place = Place::new();
    well(&place.path("b"), START);
    fs::write(place.path("values.txt"), "provider\n\nplease\r\n").expect("writes");
    let ran = place
        .command(&[
            "redact",
            "b",
            "-o",
            "out",
            "--regex",
            r"calls=call-(\d)",
            "--literal-file",
            "values.txt",
            "--env",
            "SECRET_MODEL",
        ])
        .env("SECRET_MODEL", "model-1")
        .output()
        .expect("runs");
    assert_snapshot!(crate::support::Ran::from(ran), @r#"
    b: 4 secrets replaced, 7 times in 4 documents
      KIND              HASH      TIMES  WHERE
      calls             cd3049d3      3  seq 4, seq 5, payloads/2.json
      env-secret-model  9c1c4fdc      2  seq 4, payloads/1.json
      literal           aaeccebd      1  payloads/1.json
      literal           ab8033f0      1  seq 4
    written to out; check it before you share it
    "#);
    assert!(
        !place.read("out/trace.jsonl").contains("provider\"") && !place.read("out/payloads/1.json").contains("please")
    );
    // Another salt gives another hash.
    let hash = |arguments: &[&str]| place.run(arguments).stdout.lines().nth(2).map(str::to_owned);
    let check = ["redact", "--check", "b", "--literal-file", "values.txt", "--salt"];
    assert_ne!(hash(&[&check[..], &["a"]].concat()), hash(&[&check[..], &["b"]].concat()));
}

#[test]
fn what_cannot_be_a_rule_is_refused() {
    let place = Place::new();
    well(&place.path("b"), START);
    fs::write(place.path("values.txt"), "long enough\nabc\n").expect("writes");
    assert_snapshot!(place.run(&["redact", "--check", "b", "--regex", "x"]), @r#"
    --- stderr
    error: --regex x has no name
    hint: --regex NAME=PATTERN, as in 'ticket=T-[0-9]+'
    --- exit code 2
    "#);
    assert_snapshot!(place.run(&["redact", "--check", "b", "--regex", "X=y"]), @r#"
    --- stderr
    error: `X` is no name of a kind: lower-case letters, digits and hyphens, 40 at most
    --- exit code 2
    "#);
    assert_snapshot!(place.run(&["redact", "--check", "b", "--regex", "x=(?:\\w{1,500}){1,500}y"]), @r#"
    --- stderr
    error: the pattern of `x` cannot be used: Compiled regex exceeds size limit of 1048576 bytes.
    --- exit code 2
    "#);
    assert_snapshot!(place.run(&["redact", "--check", "b", "--literal-file", "values.txt"]), @r#"
    --- stderr
    error: line 2 of --literal-file values.txt has 3 bytes; 4 to 1048576 can be searched for
    --- exit code 2
    "#);
    assert_snapshot!(place.run(&["redact", "--check", "b", "--env", "NOT_SET_ANYWHERE"]), @r#"
    --- stderr
    error: --env NOT_SET_ANYWHERE: the variable is not set, or not UTF-8
    hint: `export NOT_SET_ANYWHERE` first, or leave --env NOT_SET_ANYWHERE out
    --- exit code 2
    "#);
}

#[test]
fn damage_is_searched_as_it_stands() {
    let place = Place::new();
    leaky(&place);
    tear(&place.path("b"), 20);
    fs::write(place.path("b/payloads/1.json"), format!("{{\"command\": [\"GH_TOKEN={} make", token())).expect("writes");
    fs::write(place.path("b/notes.txt"), "").expect("writes");
    assert_snapshot!(place.run(&["redact", "b", "-o", "out"]), @r#"
    b: 2 secrets replaced, 4 times in 4 documents
      KIND          HASH      TIMES  WHERE
      github-token  4676750e      3  seq 4, payloads/1.json, payloads/2.json
      url-password  7bb76b8b      1  seq 9
    not JSON, searched as text: line 12, payloads/1.json
    written to out; check it before you share it
    "#);
    assert_snapshot!(place.read("out/payloads/1.json"), @r#"
    {"command": ["GH_TOKEN=[redacted:github-token:4676750e] make
    "#);
}

#[test]
fn a_copy_may_be_packed_and_what_is_packed_may_be_copied() {
    let place = Place::new();
    leaky(&place);
    fs::write(place.path("b/.keep"), "GH_TOKEN=swordfish\n").expect("writes");
    assert_snapshot!(place.run(&["redact", "b", "-o", "out.trace"]), @r#"
    b: 3 secrets replaced, 5 times in 5 documents
      KIND          HASH      TIMES  WHERE
      github-token  4676750e      3  seq 4, payloads/1.json, payloads/2.json
      token         d075b1ba      1  .keep
      url-password  7bb76b8b      1  seq 9
    written to out.trace; check it before you share it
    "#);
    assert_eq!(place.names("."), ["b", "out.trace"]);
    assert_snapshot!(place.run(&["redact", "--check", "out.trace"]), @r#"
    out.trace: no secrets found in 17 documents
    "#);
    assert_snapshot!(place.run(&["redact", "b", "-o", "out.trace"]), @r#"
    --- stderr
    error: out.trace exists already
    hint: name another place, or remove out.trace first
    --- exit code 1
    "#);
    // The directory of the packed copy is equal to the unpacked one.
    assert_eq!(place.run(&["unpack", "out.trace", "-o", "unpacked"]).stderr, "");
    assert_eq!(place.run(&["pack", "-q", "b"]).stderr, "");
    assert_snapshot!(place.run(&["redact", "b.trace", "-o", "copy"]), @r#"
    b.trace: 3 secrets replaced, 5 times in 5 documents
      KIND          HASH      TIMES  WHERE
      github-token  4676750e      3  seq 4, payloads/1.json, payloads/2.json
      token         d075b1ba      1  .keep
      url-password  7bb76b8b      1  seq 9
    written to copy; check it before you share it
    "#);
    for name in ["trace.jsonl", "manifest.json", ".keep", "payloads/1.json"] {
        assert_eq!(place.read(&format!("copy/{name}")), place.read(&format!("unpacked/{name}")), "{name}");
    }
}

#[test]
fn a_bundle_that_is_being_recorded_is_only_checked() {
    let place = Place::new();
    well(&place.path("b"), START);
    fs::write(place.path("b/recorder.json"), r#"{"pid":1,"opened_at_unix_ms":1}"#).expect("writes");
    let recorder = fs::File::open(place.path("b/recorder.json")).expect("opens");
    recorder.lock().expect("locks");
    assert_snapshot!(place.run(&["redact", "b", "-o", "out"]), @r#"
    --- stderr
    error: b is being recorded
    hint: wait until the session ends; `--check` can search it meanwhile
    --- exit code 1
    "#);
    assert_snapshot!(place.run(&["redact", "b", "--check"]), @r#"
    b: no secrets found in 13 documents
    "#);
    // A bundle of a recorder that died is not being recorded.
    well(&place.path("dead"), START);
    fs::copy(place.path("b/recorder.json"), place.path("dead/recorder.json")).expect("copies");
    assert_snapshot!(place.run(&["redact", "dead", "-o", "out"]), @r#"
    dead: no secrets found in 13 documents
    written to out; check it before you share it
    "#);
    assert_eq!(place.read("out/recorder.json"), place.read("b/recorder.json"));
}
