//! Sessions of Gemini CLI, against what the program printed when they were recorded.

#![expect(clippy::print_stderr, reason = "the scores are for people")]

use std::fs;
use std::path::{Path, PathBuf};

use crate::imported::{codes, objects, state, statuses, tokens, unknown_types};
use crate::{imported, scripted};
use proptest::prelude::*;
use serde_json::{Value, json};
use tempfile::TempDir;
use trace_import::SessionRef;

const SESSION: &str = "02acd56a-a0cd-4c1d-b083-ca4ba79c9b7d";
const CHILD: &str = "43082151-1979-4989-8950-dc4fbada763b";

/// The recorded sessions, each with its script.
fn recorded() -> Vec<(String, SessionRef, Value)> {
    let Some(folder) = trace_needs::imports("sessions of Gemini CLI are not compared with their scripts") else {
        return Vec::new();
    };
    let folders = folder.join("gemini-cli").read_dir().expect("lists").map(|entry| entry.expect("an entry").path());
    let mut found = Vec::new();
    for folder in folders {
        let script = fs::read(folder.join("script.json")).expect("a script");
        let name = folder.file_name().expect("a name").to_string_lossy().into_owned();
        let sessions = trace_import::sessions(&folder).expect("searches");
        assert_eq!(sessions.len(), 1, "{name}: {sessions:?}");
        found.push((name, sessions[0].clone(), serde_json::from_slice(&script).expect("is JSON")));
    }
    assert!(!found.is_empty());
    found
}

/// The events that the runs of a script printed.
fn printed(script: &Value) -> impl Iterator<Item = &Value> {
    let runs = script["runs"].as_array().expect("runs").iter();
    runs.flat_map(|run| run["stream_json"].as_array().into_iter().flatten())
}

#[test]
fn sessions_are_told_as_they_went() {
    let Some(imports) = trace_needs::imports("sessions of Gemini CLI") else { return };
    insta::assert_snapshot!(imported::told(&imports, &["gemini-cli"]));
}

#[test]
fn recorded_sessions_are_as_the_program_printed_them() {
    for (name, session, script) in recorded() {
        let state = state(&session);
        let runs = script["runs"].as_array().expect("runs").len();
        let root =
            objects(&state, "codex_turns").iter().filter(|turn| turn["thread_id"] == state["root_thread_id"]).count();
        assert_eq!(root, runs, "{name}: turns");
        let results: Vec<_> = printed(&script).filter(|event| event["type"] == "result").collect();
        let sum = |field: &str| results.iter().filter_map(|event| event["stats"][field].as_u64()).sum::<u64>();
        let [input, cached, output] = tokens(&state);
        match name.as_str() {
            // The request for the summary is not in the file.
            "compaction" => assert!(input < sum("input_tokens") && output < sum("output_tokens"), "{name}"),
            // Nothing was printed at the end.
            "interrupt-sigint" => assert_eq!([input, cached, output], [11_786, 5_893, 36], "{name}"),
            _ => assert_eq!([input, cached, output], ["input_tokens", "cached", "output_tokens"].map(sum), "{name}"),
        }
        let tools = statuses(&state, "tool_calls");
        if !results.is_empty() {
            assert_eq!(tools.len() as u64, sum("tool_calls"), "{name}: tool calls");
        }
        // What is printed counts commands that failed as successes, as the file does.
        let failed = printed(&script).filter(|event| {
            let output = event["output"].as_str().unwrap_or_default();
            let is_command = output.starts_with("Command exited with code") || output.ends_with("command not found");
            event["type"] == "tool_result" && (event["status"] == "error" || is_command)
        });
        assert_eq!(tools.iter().filter(|status| *status == "failed").count(), failed.count(), "{name}: failed calls");
        let is_open = ["api-error-final", "interrupt-sigint"].contains(&name.as_str());
        let ended = statuses(&state, "codex_turns").iter().filter(|status| *status == "completed").count();
        assert_eq!(ended == objects(&state, "codex_turns").len(), !is_open, "{name}: ends");
        assert_eq!(codes(&session).contains(&"turn-end-unknown".to_owned()), is_open, "{name}");
        let compactions = usize::from(name == "compaction");
        assert_eq!(objects(&state, "compactions").len(), compactions, "{name}: compactions");
        let edges: Vec<_> = objects(&state, "interaction_edges").iter().map(|edge| edge["kind"].clone()).collect();
        let expected = if name == "subagent" { vec![json!("agent_result"), json!("spawn_agent")] } else { Vec::new() };
        assert_eq!(edges, expected, "{name}: edges");
        let summary = trace_import::summarize(&session).expect("summarizes");
        let first = printed(&script).find(|event| event["type"] == "init").expect("a start");
        assert_eq!(summary.id, first["session_id"], "{name}");
        assert_eq!(summary.model.as_deref(), first["model"].as_str(), "{name}");
        assert_eq!(summary.cwd.as_deref(), Some(format!("/home/devel/run/gemini/{name}/repo").as_str()));
        assert_eq!(summary.turns as usize, objects(&state, "codex_turns").len());
        assert_eq!(summary.spent.iter().map(|spent| spent.usage.input).sum::<u64>(), input, "{name}");
    }
}

/// What the files cannot tell: a request that failed, calls that were stopped while they ran, and how their turns ended.
const UNTOLD: [(&str, &[&str]); 2] = [
    ("api-error-final", &["-call failed", "-turn /root failed", "+turn /root running"]),
    (
        "interrupt-sigint",
        &["-call completed", "-tool command completed", "-turn /root completed", "+turn /root running"],
    ),
];

#[test]
fn recorded_sessions_are_as_their_scripts_tell() {
    let mut score = scripted::Score::default();
    for (name, session, script) in recorded() {
        let mut truth = scripted::Facts::new();
        for run in script["runs"].as_array().expect("runs") {
            let arguments = run["argv"].as_array().expect("arguments").iter().filter_map(Value::as_str);
            let prompt = arguments.into_iter().find(|argument| argument.starts_with("RUN ")).expect("a prompt");
            scripted::merge(&mut truth, scripted::played(prompt));
        }
        let state = state(&session);
        let differences = score.add(&truth, &scripted::told(&state));
        let untold = UNTOLD.iter().find(|(untold, _)| *untold == name).map_or(&[][..], |(_, facts)| *facts);
        assert_eq!(differences, untold, "{name}");
    }
    eprintln!("against the scripts:\n{}", score.lines().join("\n"));
}

/// A store with one session that is written line by line.
struct Store {
    folder: TempDir,
    path: PathBuf,
    lines: Vec<Value>,
}

impl Store {
    fn new() -> Self {
        let folder = tempfile::tempdir().expect("a directory");
        let chats = folder.path().join("tmp/repo/chats");
        fs::create_dir_all(&chats).expect("a folder");
        let path = chats.join(format!("session-2026-11-22T21-21-{}.jsonl", &SESSION[..8]));
        Self { folder, path, lines: vec![header(SESSION, "main")] }
    }

    fn line(&mut self, line: Value) -> &mut Self {
        self.lines.push(line);
        self
    }

    fn write(&self) -> SessionRef {
        write(&self.path, &self.lines);
        let sessions = trace_import::sessions(self.folder.path()).expect("searches");
        assert_eq!(sessions.len(), 1, "{sessions:?}");
        sessions[0].clone()
    }

    fn child(&self, lines: &[Value]) {
        let folder = self.path.with_file_name(SESSION);
        fs::create_dir_all(&folder).expect("a folder");
        write(&folder.join(format!("{CHILD}.jsonl")), lines);
    }
}

fn write(path: &Path, lines: &[Value]) {
    let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
    fs::write(path, text).expect("writes");
}

fn header(session: &str, kind: &str) -> Value {
    let start = time(if kind == "main" { 0 } else { 3 });
    json!({"sessionId": session, "projectHash": "f1d7", "startTime": start, "lastUpdated": start, "kind": kind})
}

fn time(second: u32) -> String {
    format!("2026-11-22T21:21:{second:02}.000Z")
}

fn prompt(id: &str, second: u32, text: &str) -> Value {
    json!({"id": id, "timestamp": time(second), "type": "user", "content": [{"text": text}]})
}

fn answer(id: &str, second: u32, text: &str, calls: &[Value]) -> Value {
    let mut line = json!({"id": id, "timestamp": time(second), "type": "gemini", "content": text, "thoughts": [],
        "tokens": {"input": 100, "output": 10, "cached": 50, "thoughts": 0, "tool": 0, "total": 110},
        "model": "gemini-2.5-pro"});
    if !calls.is_empty() {
        line["toolCalls"] = json!(calls);
    }
    line
}

fn call(id: &str, name: &str, args: &Value, output: &str, status: &str, second: u32) -> Value {
    json!({"id": id, "name": name, "args": args, "status": status, "timestamp": time(second),
           "result": [{"functionResponse": {"id": id, "name": name, "response": {"output": output}}}]})
}

fn result(id: &str, second: u32, call: &str, output: &str) -> Value {
    json!({"id": id, "timestamp": time(second), "type": "user",
           "content": [{"functionResponse": {"id": call, "name": "x", "response": {"output": output}}}]})
}

/// Statuses of turns, model calls and tool calls.
fn outcome(state: &Value) -> [String; 3] {
    ["codex_turns", "inference_calls", "tool_calls"].map(|kind| statuses(state, kind).join(" "))
}

#[test]
fn a_message_that_is_written_again_replaces_itself() {
    let mut store = Store::new();
    let output = "<untrusted_context>\nOutput: hi\nExit Code: 3\nProcess Group PGID: 7\n</untrusted_context>";
    let shell = call("c1", "run_shell_command", &json!({"command": "exit 3"}), output, "success", 4);
    store.line(prompt("u1", 1, "Go.")).line(answer("a1", 2, "", &[]));
    store.line(answer("a1", 2, "", &[shell])).line(result("r1", 5, "c1", output)).line(answer("a2", 6, "Done.", &[]));
    let session = store.write();
    let state = state(&session);
    assert_eq!(outcome(&state), ["completed", "completed completed", "failed"]);
    let terminals = objects(&state, "terminal_operations");
    assert_eq!(terminals.len(), 1);
    assert_eq!(terminals[0]["result"]["exit_code"], 3, "{}", terminals[0]);
    // The second request has the prompt, the call and its output, once each.
    let mut inputs: Vec<_> = objects(&state, "inference_calls")
        .iter()
        .map(|call| call["request_item_ids"].as_array().expect("a list").len())
        .collect();
    inputs.sort_unstable();
    assert_eq!(inputs, [1, 3]);
}

#[test]
fn a_file_that_ends_with_a_user_line_leaves_the_turn_open() {
    let mut store = Store::new();
    store.line(prompt("u1", 1, "Go.")).line(answer("a1", 2, "Yes.", &[])).line(prompt("u2", 3, "More."));
    let session = store.write();
    assert_eq!(outcome(&state(&session)), ["completed running", "completed", ""]);
    assert!(codes(&session).contains(&"turn-end-unknown".to_owned()));
    // Another turn shows that it runs no more.
    store.line(header(SESSION, "main")).line(prompt("u3", 9, "Again.")).line(answer("a3", 10, "Fine.", &[]));
    assert_eq!(outcome(&state(&store.write())), ["aborted completed completed", "completed completed", ""]);
}

#[test]
fn a_child_that_reached_no_goal_failed_together_with_its_call() {
    let mut store = Store::new();
    let output = "Subagent 'generalist' finished.\nTermination Reason: ERROR_NO_COMPLETE_TASK_CALL\nResult:\nnone";
    let mut invoke =
        call("c1", "invoke_agent", &json!({"agent_name": "generalist", "prompt": "Look."}), output, "success", 8);
    invoke["agentId"] = json!(CHILD);
    store.line(prompt("u1", 1, "Go.")).line(answer("a1", 2, "", &[invoke])).line(answer("a2", 9, "It failed.", &[]));
    store.child(&[
        header(CHILD, "subagent"),
        prompt("k1", 3, "Look."),
        answer("k2", 4, "I stop.", &[]),
        // The program reminds the child of its task. That is no turn.
        prompt("k3", 5, "You have one final chance."),
        answer("k4", 6, "No.", &[]),
    ]);
    let state = state(&store.write());
    assert_eq!(outcome(&state), ["completed failed", "completed completed completed completed", "failed"]);
    assert_eq!(objects(&state, "interaction_edges").len(), 2, "the task there, the answer back");
    let child = &state["threads"][CHILD];
    assert_eq!(child["agent_path"], "/root/generalist");
    // The call ends behind the child.
    let ended = |object: &Value| object["execution"]["ended_seq"].as_u64().expect("it ended");
    let turns = objects(&state, "codex_turns");
    let turn = turns.iter().find(|turn| turn["thread_id"] == CHILD).expect("the child's turn");
    assert!(ended(objects(&state, "tool_calls")[0]) > ended(turn));
    // The file of the child is no session of its own.
    let file = store.path.with_file_name(SESSION).join(format!("{CHILD}.jsonl"));
    assert!(trace_import::sessions(&file).expect("reads").is_empty());
    // Without it, the parent's view remains.
    fs::remove_file(&file).expect("removes");
    assert!(codes(&store.write()).contains(&"child-missing".to_owned()));
}

#[test]
fn a_new_history_is_a_compaction_only_if_it_is_a_summary() {
    let mut store = Store::new();
    let shell = call("c1", "run_shell_command", &json!({"command": "ls"}), "Output: a", "success", 3);
    store.line(prompt("u1", 1, "Go.")).line(answer("a1", 2, "", &[shell]));
    let kept = json!({"id": "k3", "timestamp": time(4), "type": "gemini",
                      "content": [{"functionCall": {"id": "c1", "name": "run_shell_command", "args": {"command": "ls"}}}]});
    let summary = prompt("k1", 4, "<state_snapshot>All is well.</state_snapshot>");
    store.line(json!({"$set": {"messages": [summary, prompt("k2", 4, "Go."), kept], "lastUpdated": time(4)}}));
    store.line(result("r1", 5, "c1", "Output: a")).line(answer("a2", 6, "Done.", &[]));
    let state = state(&store.write());
    assert_eq!(outcome(&state), ["completed", "completed completed", "completed"]);
    assert_eq!(objects(&state, "compactions").len(), 1);
    // A process that goes on writes the history again. The results of calls stand in it twice.
    let known = json!([prompt("u1", 7, "Go."), {"id": "a1", "type": "gemini", "content": [{"functionCall": {"id": "c1", "name": "run_shell_command", "args": {"command": "ls"}}}]},
        {"id": "a1_response", "type": "user", "content": [{"functionResponse": {"id": "c1", "response": {"output": "Output: a"}}}]},
        {"id": "r1", "type": "user", "content": [{"functionResponse": {"id": "c1", "response": {"output": "Output: a"}}}]}]);
    let mut store = Store::new();
    let shell = call("c1", "run_shell_command", &json!({"command": "ls"}), "Output: a", "success", 3);
    store.line(prompt("u1", 1, "Go.")).line(answer("a1", 2, "", &[shell])).line(result("r1", 4, "c1", "Output: a"));
    store.line(answer("a2", 5, "Done.", &[])).line(header(SESSION, "main")).line(json!({"$set": {"messages": known}}));
    store.line(prompt("u2", 8, "More.")).line(answer("a3", 9, "Good.", &[]));
    let state = imported::state(&store.write());
    assert_eq!(outcome(&state), ["completed completed", "completed completed completed", "completed"]);
    assert!(objects(&state, "compactions").is_empty());
    let last = objects(&state, "inference_calls")[2]["request_item_ids"].as_array().expect("a list").len();
    assert_eq!(last, 4, "prompt, call, output, prompt");
}

#[test]
fn telemetry_has_the_attempts_that_failed() {
    let mut store = Store::new();
    store.line(prompt("u1", 1, "Go.")).line(answer("a1", 6, "Yes.", &[])).line(prompt("u2", 10, "More."));
    let event = |name: &str, second: u32, more: Value| {
        let mut attributes = json!({"session.id": SESSION, "event.name": name, "event.timestamp": time(second)});
        attributes.as_object_mut().expect("an object").extend(more.as_object().expect("an object").clone());
        serde_json::to_string_pretty(&json!({"hrTime": [1, 2], "attributes": attributes})).expect("is JSON")
    };
    let failure = |status: Value| json!({"error.message": "overloaded", "status_code": status, "model_name": "gemini-2.5-pro", "duration": 500, "role": "main"});
    let log = [
        event("gemini_cli.api_error", 2, failure(json!(503))),
        "{\n  \"cut\": ".to_owned(),
        event(
            "gemini_cli.api_response",
            6,
            json!({"input_token_count": 100, "output_token_count": 10, "duration_ms": 1500, "model": "m"}),
        ),
        event("gemini_cli.api_error", 7, json!({"error.message": "no", "role": "utility_compressor"})),
        event("gemini_cli.api_error", 11, failure(json!("400"))),
    ];
    fs::write(store.folder.path().join("telemetry.log"), log.join("\n")).expect("writes");
    let session = store.write();
    let state = state(&session);
    assert_eq!(outcome(&state), ["completed failed", "completed failed failed", ""]);
    let calls = objects(&state, "inference_calls");
    let done = calls.iter().find(|call| call["execution"]["status"] == "completed").expect("a call");
    let window = |field: &str| done["execution"][field].as_i64().expect("a time");
    assert_eq!(window("ended_at_unix_ms") - window("started_at_unix_ms"), 1500);
    assert!(!codes(&session).contains(&"no-failed-attempts".to_owned()));
}

#[test]
fn a_session_of_older_versions_is_one_object() {
    let folder = tempfile::tempdir().expect("a directory");
    let path = folder.path().join("session-2025-10-01T10-00-02acd56a.json");
    let shell = call("c1", "run_shell_command", &json!({"command": "ls"}), "Output: a", "success", 3);
    let whole = json!({"sessionId": SESSION, "projectHash": "f1d7", "startTime": time(0), "lastUpdated": time(9),
        "messages": [prompt("u1", 1, "Go."), answer("a1", 2, "", &[shell]), answer("a2", 4, "Done.", &[]), 7]});
    fs::write(&path, serde_json::to_string_pretty(&whole).expect("is JSON")).expect("writes");
    let sessions = trace_import::sessions(&path).expect("reads");
    assert_eq!(outcome(&state(&sessions[0])), ["completed", "completed completed", "completed"]);
    assert!(codes(&sessions[0]).contains(&"damaged-line".to_owned()));
}

#[test]
fn records_of_unknown_types_are_named() {
    let mut store = Store::new();
    store.line(prompt("u1", 1, "Go.")).line(json!({"$merge": {}})).line(json!({}));
    store.line(json!({"id": "h", "type": "hint", "timestamp": time(2), "content": "x"}));
    store.line(answer("a1", 3, "Done.", &[]));
    assert_eq!(unknown_types(&store.write()), "none (1), \"$merge\" (1), \"hint\" (1).");
}

#[test]
fn a_history_can_be_cut() {
    let mut store = Store::new();
    store.line(prompt("u1", 1, "Go.")).line(answer("a1", 2, "Yes.", &[])).line(prompt("u2", 3, "Wrong."));
    store.line(answer("a2", 4, "Oh.", &[])).line(json!({"$rewindTo": "u2"})).line(prompt("u3", 5, "Right."));
    store.line(answer("a3", 6, "Good.", &[]));
    let state = state(&store.write());
    let mut inputs: Vec<_> = objects(&state, "inference_calls")
        .iter()
        .map(|call| call["request_item_ids"].as_array().expect("a list").len())
        .collect();
    inputs.sort_unstable();
    assert_eq!(inputs, [1, 3, 3]);
}

/// A session with most of what a file can have.
fn rich() -> Vec<Value> {
    let mut invoke = call("c2", "invoke_agent", &json!({"prompt": "Look."}), "Termination Reason: GOAL", "success", 6);
    invoke["agentId"] = json!(CHILD);
    vec![
        header(SESSION, "main"),
        json!({"$set": {"messages": [prompt("x", 0, "<session_context>\nhere</session_context>")]}}),
        prompt("u1", 1, "Go."),
        answer(
            "a1",
            2,
            "I look.",
            &[call("c1", "run_shell_command", &json!({"command": "ls"}), "Output: a", "success", 3)],
        ),
        result("r1", 4, "c1", "Output: a"),
        answer("a2", 5, "", &[invoke]),
        json!({"$set": {"messages": [prompt("k1", 7, "<state_snapshot>s</state_snapshot>")]}}),
        json!({"$rewindTo": "k1"}),
        prompt("u2", 8, "More."),
        json!({"id": "e1", "timestamp": time(9), "type": "error", "content": "bad"}),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn damaged_files_give_an_answer(
        flips in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..8),
        swaps in prop::collection::vec((any::<prop::sample::Index>(), any::<prop::sample::Index>()), 0..4),
        cut in any::<prop::sample::Index>(),
    ) {
        let store = Store::new();
        store.child(&[header(CHILD, "subagent"), prompt("k1", 3, "Look."), answer("k2", 4, "Yes.", &[])]);
        let mut lines = rich();
        for (one, other) in &swaps {
            let (one, other) = (one.index(lines.len()), other.index(lines.len()));
            lines.swap(one, other);
        }
        let mut bytes: Vec<u8> = lines.iter().flat_map(|line| format!("{line}\n").into_bytes()).collect();
        for (at, byte) in &flips {
            let at = at.index(bytes.len());
            bytes[at] = *byte;
        }
        bytes.truncate(cut.index(bytes.len()) + bytes.len() / 2);
        fs::write(&store.path, bytes).expect("writes");
        let session = SessionRef::file("gemini-cli", &store.path);
        if let Ok(bundle) = trace_import::open(&session) {
            let strict = trace_reducer::Options { strict: true, ..trace_reducer::Options::default() };
            prop_assert!(trace_reducer::reduce(&bundle, strict).is_ok());
        }
        let _ = trace_import::summarize(&session);
    }
}
