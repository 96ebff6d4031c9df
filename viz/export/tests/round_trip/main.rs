//! Exports that are imported again make the graph that they were made of, but for what `docs/export.md` names.

#![expect(clippy::print_stdout, reason = "the output of the test has the counts")]

mod facts;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use insta::assert_snapshot;
use serde_json::Value;
use trace_explain::Session;
use trace_export::atif;
use trace_export::otlp::{self, Content};
use trace_reducer::{Options, reduce, state_json};

use facts::{differences, facts};

/// What every export holds.
const ALWAYS: [&str; 7] =
    ["threads", "statuses of threads", "turns", "times of turns", "times of requests", "tokens", "spawns"];

fn sample(name: &str) -> PathBuf {
    trace_needs::repository().join("samples").join(name)
}

fn bundles() -> Vec<(String, PathBuf)> {
    let samples = ["one-agent", "three-children", "damaged", "team"];
    let recordings = trace_needs::recordings("round trips of exports");
    let recording = recordings.into_iter().map(|recording| (recording.name, recording.bundle));
    samples.into_iter().map(|name| (name.to_owned(), sample(name))).chain(recording).collect()
}

fn opened(path: &Path) -> Session {
    Session::open(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Writes an export to a file and imports it.
fn imported(bytes: &[u8], name: &str) -> Session {
    let folder = tempfile::tempdir().expect("a directory");
    let path = folder.path().join(name);
    std::fs::write(&path, bytes).expect("writes");
    let found = trace_import::sessions(&path).expect("reads");
    assert_eq!(found.len(), 1, "{found:?}");
    let bundle = trace_import::open(&found[0]).expect("imports");
    let strict = Options { strict: true, ..Options::default() };
    let reduction = reduce(&bundle, strict).expect("nothing is reported");
    Session::new(bundle, reduction)
}

fn state(session: &Session) -> Value {
    let reduction = reduce(session.bundle(), Options::default()).expect("reduces");
    let mut text = Vec::new();
    state_json::write(&reduction, state_json::Style::Compact, &mut text).expect("writes");
    serde_json::from_slice(&text).expect("is JSON")
}

/// Compares all sessions with what comes back. The facts of the classes `exact` must be the same; of the other classes, the share that comes
/// back is returned in percent.
fn compare(what: &str, exact: &[&str], again: impl Fn(&Session) -> Session) -> BTreeMap<&'static str, usize> {
    let mut sums: BTreeMap<&'static str, [usize; 3]> = BTreeMap::new();
    for (name, path) in bundles() {
        let original = opened(&path);
        let (one, other) = (facts(&state(&original)), facts(&state(&again(&original))));
        for (class, list) in &one {
            sums.entry(class).or_default()[0] += list.len();
        }
        for (class, (lost, new)) in differences(&one, &other) {
            assert!(!exact.contains(&class), "{what} {name}: {class}: lost {lost:#?}, new {new:#?}");
            let sum = sums.entry(class).or_default();
            sum[1] += lost.len();
            sum[2] += new.len();
        }
    }
    for (class, [all, lost, new]) in &sums {
        println!("{what}, {class}: {} of {all} come back, {new} are new", all - lost);
    }
    sums.into_iter().map(|(class, [all, lost, _])| (class, (all - lost) * 100 / all.max(1))).collect()
}

fn trajectory(session: &Session) -> Vec<u8> {
    let mut bytes = Vec::new();
    atif::write(session, &mut bytes).expect("writes");
    bytes
}

#[test]
fn trajectories_come_back() {
    let exact: Vec<&str> = ALWAYS.into_iter().chain(["requests", "tool calls"]).collect();
    let shares = compare("ATIF", &exact, |session| imported(&trajectory(session), "trajectory.json"));
    let least = [("answered items", 90), ("seen items", 80), ("items of tool calls", 90), ("times of tool calls", 95)];
    for (class, percent) in least {
        assert!(shares[class] >= percent, "{class}: {shares:?}");
    }
}

#[test]
fn spans_come_back() {
    for content in [Content::LeftOut, Content::Included] {
        let shares = compare(&format!("OTLP {content:?}"), &ALWAYS, |session| {
            let mut bytes = Vec::new();
            otlp::write(session, content, &mut bytes).expect("writes");
            imported(&bytes, "traces.jsonl")
        });
        for (class, percent) in [("requests", 100), ("tool calls", 95), ("times of tool calls", 95), ("exit codes", 95)]
        {
            assert!(shares[class] >= percent, "{class}: {shares:?}");
        }
    }
}

/// Checks the rules of the format that its readers insist on.
fn check(trajectory: &Value) {
    assert_eq!(trajectory["schema_version"], atif::VERSION);
    assert!(trajectory["agent"]["name"].is_string() && trajectory["agent"]["version"].is_string());
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    assert!(!list(&trajectory["steps"]).is_empty());
    for (number, step) in list(&trajectory["steps"]).iter().enumerate() {
        assert_eq!(step["step_id"], number + 1);
        assert!(["system", "user", "agent"].contains(&step["source"].as_str().expect("a source")), "{step}");
        assert!(step["message"].is_string() || step["message"].is_array(), "{step}");
        assert!(step["timestamp"].as_str().is_some_and(|time| time.ends_with('Z')));
        let calls: Vec<Value> = list(&step["tool_calls"]).iter().map(|call| call["tool_call_id"].clone()).collect();
        assert!(list(&step["tool_calls"]).iter().all(|call| call["arguments"].is_object()), "{step}");
        for result in list(&step["observation"]["results"]) {
            assert!(calls.contains(&result["source_call_id"]), "{step}");
            for child in list(&result["subagent_trajectory_ref"]) {
                let children = list(&trajectory["subagent_trajectories"]);
                assert!(children.iter().any(|other| other["trajectory_id"] == child["trajectory_id"]), "{child}");
            }
        }
        let has = |name: &str| step.get(name).is_some();
        let is_agent = step["source"] == "agent";
        assert!(is_agent || !(has("tool_calls") || has("metrics") || has("model_name")), "{step}");
        assert!(step["llm_call_count"] != 0 || !(has("metrics") || has("reasoning_content")), "{step}");
    }
    list(&trajectory["subagent_trajectories"]).iter().for_each(check);
}

#[test]
fn trajectories_obey_the_rules_of_the_format() {
    for (_, path) in bundles() {
        let bytes = trajectory(&opened(&path));
        assert!(bytes == trajectory(&opened(&path)), "two exports of {} differ", path.display());
        check(&serde_json::from_slice(&bytes).expect("JSON"));
    }
}

#[test]
fn a_session_as_a_trajectory() {
    for name in ["one-agent", "three-children", "damaged"] {
        let value: Value = serde_json::from_slice(&trajectory(&opened(&sample(name)))).expect("JSON");
        assert_snapshot!(format!("{name}.atif"), serde_json::to_string_pretty(&value).expect("writes"));
    }
}
