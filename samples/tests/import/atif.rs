//! Trajectories in ATIF as sessions.

use std::path::{Path, PathBuf};

use crate::imported;
use proptest::prelude::*;
use serde_json::Value;
use trace_import::{SessionRef, open, recognize, sessions, summarize};
use trace_reducer::{Options, reduce};

fn fixture(name: &str) -> PathBuf {
    trace_needs::repository().join("samples/tests/import/fixtures/atif").join(name)
}

fn only(path: &Path) -> SessionRef {
    assert_eq!(recognize(path).expect("reads").expect("is known").name(), "atif");
    let mut found = sessions(path).expect("reads");
    assert_eq!(found.len(), 1, "{found:?}");
    found.remove(0)
}

/// What a graph has, as short lines.
fn outline(state: &Value) -> Vec<String> {
    let list = |name: &str| -> Vec<Value> {
        let mut list: Vec<Value> = state[name].as_object().expect(name).values().cloned().collect();
        list.sort_by_key(|object| object["execution"]["started_seq"].as_u64());
        list
    };
    let text = |value: &Value| value.as_str().unwrap_or("-").to_owned();
    let count = |value: &Value| value.as_array().map_or(0, Vec::len);
    let mut lines = Vec::new();
    for thread in list("threads") {
        let of = |object: &Value| object["thread_id"] == thread["thread_id"];
        lines.push(text(&thread["agent_path"]));
        for turn in list("codex_turns").iter().filter(|turn| of(turn)) {
            lines.push(format!("  turn {}", text(&turn["execution"]["status"])));
        }
        for call in list("inference_calls").iter().filter(|call| of(call)) {
            let (seen, said) = (count(&call["request_item_ids"]), count(&call["response_item_ids"]));
            let tokens = &call["usage"]["input_tokens"];
            lines.push(format!("  call {} in {seen} out {said} tokens {tokens}", text(&call["model"])));
        }
        for tool in list("tool_calls").iter().filter(|tool| of(tool)) {
            let items = count(&tool["model_visible_call_item_ids"]) + count(&tool["model_visible_output_item_ids"]);
            let status = text(&tool["execution"]["status"]);
            lines.push(format!("  tool {} {status} items {items}", text(&tool["summary"]["label"])));
        }
    }
    lines.extend(list("interaction_edges").iter().map(|edge| format!("edge {}", text(&edge["kind"]))));
    lines
}

/// Two calls of a file name the same child, which only one of them can have spawned.
#[test]
fn a_child_is_spawned_once() {
    let text = std::fs::read_to_string(fixture("embedded.json")).expect("reads");
    let mut trajectory: Value = serde_json::from_str(&text).expect("is JSON");
    let steps = trajectory["steps"].as_array_mut().expect("steps");
    let delegates = |step: &Value| step["observation"].to_string().contains("subagent_trajectory_ref");
    let mut again = steps.iter().find(|step| delegates(step)).expect("a step that delegates").clone();
    again["tool_calls"][0]["tool_call_id"] = "again".into();
    again["observation"]["results"][0]["source_call_id"] = "again".into();
    steps.push(again);
    let folder = tempfile::tempdir().expect("a directory");
    let path = folder.path().join("trajectory.json");
    std::fs::write(&path, trajectory.to_string()).expect("writes");
    let outline = outline(&imported::state(&only(&path)));
    assert_eq!(outline.iter().filter(|line| line.starts_with("edge spawn")).count(), 1, "{outline:#?}");
    assert_eq!(outline.iter().filter(|line| line.starts_with("  tool delegate")).count(), 2, "{outline:#?}");
}

#[test]
fn a_trajectory_has_its_turns_calls_tools_and_children() {
    let session = only(&fixture("embedded.json"));
    assert_eq!(
        outline(&imported::state(&session)),
        [
            "/root",
            "  turn completed",
            "  turn running",
            "  call m-large in 2 out 4 tokens 100",
            "  call m-large in 8 out 1 tokens 150",
            "  call m-large in 10 out 1 tokens 170",
            "  tool shell completed items 2",
            "  tool shell failed items 2",
            "  tool delegate completed items 2",
            "  tool clean running items 0",
            "/root/counter_2",
            "  turn completed",
            "  call  in 1 out 1 tokens null",
            "/root/counter",
            "  turn completed",
            "  call m-small in 1 out 1 tokens 11",
            "edge spawn_agent",
        ]
    );
    let summary = summarize(&session).expect("reads");
    assert_eq!((summary.id.as_str(), summary.agent_version.as_deref()), ("run-1", Some("2.0.1")));
    assert_eq!((summary.cwd.as_deref(), summary.model.as_deref()), (Some("/work/repo"), Some("m-large")));
    assert_eq!((summary.threads, summary.turns, summary.tool_calls, summary.failed_tool_calls), (3, 4, 4, 1));
    let spent = summary.spent.iter().map(|spent| (spent.usage.input, spent.usage.cached_input)).collect::<Vec<_>>();
    assert_eq!(spent, [(100, 60), (150, 0), (170, 0), (11, 0)]);
    assert_eq!((summary.spent[0].usage.reasoning_output, summary.outcome.as_deref()), (7, Some("running")));
}

#[test]
fn steps_of_unknown_sources_are_named() {
    let text = std::fs::read_to_string(fixture("parts/trajectory.json")).expect("reads");
    let mut trajectory: Value = serde_json::from_str(&text).expect("is JSON");
    let steps = trajectory["steps"].as_array_mut().expect("steps");
    steps.push(serde_json::json!({"step_id": steps.len() + 1, "source": "oracle", "message": "x"}));
    let folder = tempfile::tempdir().expect("a directory");
    let path = folder.path().join("trajectory.json");
    std::fs::write(&path, trajectory.to_string()).expect("writes");
    assert_eq!(imported::unknown_types(&only(&path)), "\"oracle\" (1).");
}

#[test]
fn a_trajectory_goes_on_in_other_files() {
    let session = only(&fixture("parts/trajectory.json"));
    assert_eq!(
        outline(&imported::state(&session)),
        [
            "/root",
            "  turn completed",
            "  call m in 1 out 1 tokens 10",
            "  call m in 1 out 1 tokens 12",
            "/root/summarizer",
            "  turn completed",
            "  call m in 1 out 1 tokens 30",
        ]
    );
    let codes = imported::codes(&session);
    for code in ["child-missing", "child-unlinked", "copied-record"] {
        assert!(codes.iter().any(|other| other == code), "{codes:?}");
    }
}

#[test]
fn several_trajectories_in_a_file_are_several_sessions() {
    let text = std::fs::read_to_string(fixture("embedded.json")).expect("reads");
    let folder = tempfile::tempdir().expect("a directory");
    let path = folder.path().join("all.json");
    std::fs::write(&path, format!("{text}\n{text}")).expect("writes");
    let found = sessions(&path).expect("reads");
    assert_eq!(found.iter().map(|session| session.id.as_deref()).collect::<Vec<_>>(), [Some("root:0"), Some("root:1")]);
    assert_eq!(outline(&imported::state(&found[1])), outline(&imported::state(&only(&fixture("embedded.json")))));
    let unnamed = SessionRef { id: None, ..found[0].clone() };
    assert!(open(&unnamed).expect_err("several").to_string().ends_with("holds 2 sessions; name one of them"));
}

proptest! {
    #[test]
    fn damaged_files_are_read_without_a_panic(
        flips in prop::collection::vec((any::<usize>(), 1u8..255), 0..6),
        cut in prop_oneof![Just(0), any::<usize>()],
        swap in any::<(usize, usize)>(),
    ) {
        let bytes = std::fs::read(fixture("embedded.json")).expect("reads");
        let mut lines: Vec<&[u8]> = bytes.split_inclusive(|byte| *byte == b'\n').collect();
        let count = lines.len();
        lines.swap(swap.0 % count, swap.1 % count);
        let mut bytes = lines.concat();
        for (at, mask) in flips {
            let at = at % bytes.len();
            bytes[at] ^= mask;
        }
        bytes.truncate(bytes.len() - cut % bytes.len());
        let folder = tempfile::tempdir().expect("a directory");
        let path = folder.path().join("trajectory.json");
        std::fs::write(&path, bytes).expect("writes");
        for session in sessions(&path).unwrap_or_default() {
            let _ = summarize(&session);
            if let Ok(bundle) = open(&session) {
                let strict = Options { strict: true, ..Options::default() };
                reduce(&bundle, strict).expect("what is made of a damaged file is still a whole bundle");
            }
        }
    }
}
