//! `trace costs`, and the cache of summaries behind it.

use std::fs;
use std::path::{Path, PathBuf};

use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::schema::assert_valid;
use crate::support::{Place, START, well};

const SESSION: &str = "11111111-1111-4111-8111-111111111111";
const FORK: &str = "22222222-2222-4222-8222-222222222222";

/// Lines of a transcript of Claude Code: a prompt, and an answer with these ids and tokens.
fn lines(session: &str, message: &str, model: &str, time: &str, output: u64) -> String {
    let common = |kind: &str, id: &str| {
        json!({
            "type": kind, "uuid": format!("{session}-{message}-{id}"), "sessionId": session, "isSidechain": false,
            "cwd": "/work/project", "version": "2.1.0", "timestamp": time, "parentUuid": null,
        })
    };
    let mut user = common("user", "u");
    user["message"] = json!({ "role": "user", "content": "go on" });
    let mut answer = common("assistant", "a");
    answer["parentUuid"] = user["uuid"].clone();
    answer["requestId"] = format!("req_{message}").into();
    answer["message"] = json!({
        "id": format!("msg_{message}"), "role": "assistant", "model": model, "stop_reason": "end_turn",
        "content": [{ "type": "text", "text": "done" }],
        "usage": { "input_tokens": 10, "cache_read_input_tokens": 5, "cache_creation_input_tokens": 3, "output_tokens": output },
    });
    format!("{user}\n{answer}\n")
}

/// Two sessions of two months; the second one has a copy of a call of the first one.
fn place() -> (Place, PathBuf) {
    let place = Place::new();
    let folder = place.path("agents/projects/-work-project");
    fs::create_dir_all(&folder).expect("creates");
    let first = lines(SESSION, "1", "example-large", "2026-10-31T23:30:00.000Z", 100);
    fs::write(folder.join(format!("{SESSION}.jsonl")), &first).expect("writes");
    let copy = first.replace(SESSION, FORK);
    let more = lines(FORK, "2", "other", "2026-11-02T08:00:00.000Z", 7);
    fs::write(folder.join(format!("{FORK}.jsonl")), format!("{copy}{more}")).expect("writes");
    fs::write(
        place.path("prices.toml"),
        "currency = \"EUR\"\n[[models]]\nname = \"example-*\"\ninput = 1000\noutput = 1000\n",
    )
    .expect("writes");
    (place, folder)
}

fn json(place: &Place, arguments: &[&str]) -> Value {
    let ran = place.run(&[&["costs", "--json"], arguments].concat());
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert_valid("costs", &ran.stdout);
    serde_json::from_str(&ran.stdout).expect("JSON")
}

#[test]
fn calls_count_once_and_unknown_prices_are_named() {
    let (place, _) = place();
    assert_snapshot!("months", place.run(&["costs", "--by", "month,model"]));
    assert_snapshot!("prices", place.run(&["costs", "--by", "model", "--prices", "prices.toml"]));
    let told = json(&place, &["--by", "model", "--prices", "prices.toml"]);
    assert_eq!((&told["total"]["calls"], &told["copied_calls"]), (&2.into(), &1.into()));
    assert_eq!((&told["unpriced_models"], &told["total"]["cost"]["amount"]), (&json!(["other"]), &Value::Null));
    assert_eq!(told["total"]["tokens"]["input"], 36);
}

#[test]
fn groups_keep_the_sums() {
    let (place, _) = place();
    well(&place.path("home/traces/one"), START);
    let total = json(&place, &[])["total"].clone();
    for by in ["day", "week", "month", "agent", "model", "project", "session", "agent,model", "project,day,session"] {
        let told = json(&place, &["--by", by]);
        assert_eq!(told["total"], total, "{by}");
        let rows = told["rows"].as_array().expect("rows");
        let sum = |pointer: &str| {
            rows.iter().map(|row| row.pointer(pointer).and_then(Value::as_u64).expect("a number")).sum::<u64>()
        };
        for pointer in ["/calls", "/tokens/input", "/tokens/cached_input", "/tokens/cache_write", "/tokens/output"] {
            assert_eq!(Some(sum(pointer)), total.pointer(pointer).and_then(Value::as_u64), "{by} {pointer}");
        }
    }
}

#[test]
fn days_are_those_of_the_time_zone() {
    let (place, _) = place();
    let days = |zone: &str, arguments: &[&str]| {
        let mut command = place.command(&[&["costs", "--json", "--by", "day"], arguments].concat());
        let told = command.env("TZ", zone).output().expect("runs").stdout;
        let told: Value = serde_json::from_slice(&told).expect("JSON");
        let rows = told["rows"].as_array().expect("rows").iter();
        rows.map(|row| row["key"]["day"].as_str().expect("a day").to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(days("UTC", &[]), ["2026-10-31", "2026-11-02"]);
    assert_eq!(days("Asia/Tokyo", &[]), ["2026-11-01", "2026-11-02"]);
    assert_eq!(days("Asia/Tokyo", &["--utc"]), ["2026-10-31", "2026-11-02"]);
    assert_eq!(days("UTC", &["--since", "2026-11-01"]), ["2026-11-02"]);
    assert_eq!(days("UTC", &["--until", "2026-10-31"]), ["2026-10-31"]);
    assert_eq!(days("UTC", &["--source", "codex"]), [""; 0]);
    assert_eq!(days("UTC", &["--cwd", "/work"]).len(), 2);
    assert_eq!(days("UTC", &["--cwd", "/other"]).len(), 0);
}

#[test]
fn the_cache_follows_the_files() {
    let (place, folder) = place();
    let output = || json(&place, &[])["total"]["tokens"]["output"].as_u64().expect("a number");
    let file = |name: &str| folder.join(name);
    let grow = |path: &Path, text: &str| {
        let mut whole = fs::read_to_string(path).unwrap_or_default();
        whole.push_str(text);
        fs::create_dir_all(path.parent().expect("a folder")).expect("creates");
        fs::write(path, whole).expect("writes");
    };
    assert_eq!((output(), output()), (107, 107));
    let cache = place.path("cache/trace/sessions.json");
    let written = fs::metadata(&cache).expect("a cache").modified().expect("a time");
    assert_eq!(output(), 107);
    assert_eq!(fs::metadata(&cache).expect("a cache").modified().expect("a time"), written, "nothing changed");
    // A session grows, a child appears, the child grows, the child goes.
    grow(&file(&format!("{SESSION}.jsonl")), &lines(SESSION, "3", "other", "2026-11-03T08:00:00.000Z", 1000));
    assert_eq!((output(), output()), (1107, 1107));
    let child = file(&format!("{SESSION}/subagents/agent-a1.jsonl"));
    let side = |message: &str, output| {
        lines(SESSION, message, "other", "2026-11-03T09:00:00.000Z", output)
            .replace("\"isSidechain\":false", "\"agentId\":\"a1\",\"isSidechain\":true")
    };
    grow(&child, &side("4", 10_000));
    assert_eq!((output(), output()), (11_107, 11_107));
    grow(&child, &side("5", 100_000));
    assert_eq!((output(), output()), (111_107, 111_107));
    fs::remove_file(&child).expect("removes");
    assert_eq!((output(), output()), (1107, 1107));
    // A child beside the sessions, as versions before 2.1 wrote it.
    grow(&file("agent-b2.jsonl"), &side("6", 10_000));
    assert_eq!((output(), output()), (11_107, 11_107));
    // When the session of a child goes, the child is a session.
    fs::remove_file(file(&format!("{SESSION}.jsonl"))).expect("removes");
    assert_eq!((output(), output()), (10_107, 10_107));
    // A damaged cache is ignored, and so is one that cannot be written.
    fs::write(&cache, "damaged").expect("writes");
    assert_eq!(output(), 10_107);
    fs::remove_dir_all(place.path("cache")).expect("removes");
    fs::write(place.path("cache"), "a file").expect("writes");
    assert_eq!(output(), 10_107);
}
