//! `trace demo`, and the sample that is a recording of it.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::support::Place;

#[test]
fn a_team_works_and_the_sample_is_what_it_leaves() {
    let place = Place::new();
    let ran = place.run(&["demo", "--team", "-o", "session"]);
    assert_eq!(ran.code, 0, "{ran}");
    assert!(ran.stdout.contains("all is well") && ran.stderr.contains("trace postmortem"), "{ran}");
    let traces = place.names("session/home/traces");
    assert_eq!(traces.len(), 1, "{traces:?}");
    let bundle = place.path("session/home/traces").join(&traces[0]);
    let sample = Path::new(env!("CARGO_MANIFEST_DIR")).join("../samples/team");
    let (made, kept) = (reduced(&place, &bundle), reduced(&place, &sample));
    assert_eq!(shape(&made), shape(&kept), "`cargo run -p trace-samples --bin make-team` records the sample anew");

    let prompt = fs::read_to_string(sample.with_extension("txt")).expect("the prompt");
    let quoted = Value::from(prompt.trim_end()).to_string();
    let asked = fs::read_dir(sample.join("payloads"))
        .expect("payloads")
        .any(|payload| fs::read_to_string(payload.expect("a payload").path()).expect("a text").contains(&quoted));
    assert!(asked, "the prompt beside the sample is the one that it was recorded with");
}

#[test]
fn the_failure_in_the_team_is_explained() {
    let place = Place::new();
    let sample = Path::new(env!("CARGO_MANIFEST_DIR")).join("../samples/team");
    let sample = sample.to_str().expect("a text");
    let postmortem = place.run(&["postmortem", sample, "--all"]).stdout;
    assert!(postmortem.starts_with("1 turn needs attention (6 turns, 1 recovered)\n"), "{postmortem}");
    assert!(postmortem.contains("failed /root/tests") && postmortem.contains("provider_error"), "{postmortem}");
    let shown = place.run(&["show", sample]).stdout;
    assert!(shown.contains("4 spawn agent, 1 assign agent task, 2 send message, 5 agent result"), "{shown}");
}

/// Reduces a bundle. If `TRACE_PEER` names the peer, it reduces the bundle too, and the results must be equal.
fn reduced(place: &Place, bundle: &Path) -> Value {
    let bundle = bundle.to_str().expect("a text");
    let ran = place.run(&["reduce", "--strict", bundle, "-o", "ours.json"]);
    assert_eq!(ran.code, 0, "{ran}");
    let ours = place.json("ours.json");
    let directory = place.directory_of(Path::new(bundle));
    if let Some(theirs) = trace_needs::state_by_peer(&directory) {
        let theirs: Value = serde_json::from_str(&theirs).expect("JSON");
        assert_eq!(ours, theirs, "the peer sees the same");
    }
    ours
}

/// Counts the objects of a session by kind. Ids, times and the order of parallel events do not matter.
fn shape(state: &Value) -> BTreeMap<String, usize> {
    let text = |value: &Value| value.as_str().expect("a text").to_owned();
    let objects = |kind: &str| state[kind].as_object().expect("objects").values();
    let path = |thread: &Value| text(&state["threads"][text(thread)]["agent_path"]);
    let end = |anchor: &Value| match text(&anchor["type"]).as_str() {
        "tool_call" => path(&state["tool_calls"][text(&anchor["tool_call_id"])]["thread_id"]),
        "conversation_item" => path(&state["conversation_items"][text(&anchor["item_id"])]["thread_id"]),
        "thread" => path(&anchor["thread_id"]),
        other => panic!("an end of the type {other}"),
    };
    let mut shape = BTreeMap::new();
    let mut count = |what: String| *shape.entry(what).or_default() += 1;
    for kind in ["codex_turns", "inference_calls"] {
        for object in objects(kind) {
            count(format!("{kind} of {} {}", path(&object["thread_id"]), text(&object["execution"]["status"])));
        }
    }
    for call in objects("tool_calls") {
        let (kind, status) = (text(&call["kind"]["type"]), text(&call["execution"]["status"]));
        count(format!("{kind} of {} {status}", path(&call["thread_id"])));
    }
    for edge in objects("interaction_edges") {
        count(format!("{} from {} to {}", text(&edge["kind"]), end(&edge["source"]), end(&edge["target"])));
    }
    shape
}
