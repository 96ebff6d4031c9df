//! Small transcripts of Claude Code, one for each thing that is easily read wrongly.

use std::path::{Path, PathBuf};

use proptest::prelude::*;
use serde_json::{Value, json};
use tempfile::TempDir;
use trace_import::{ImportError, SessionRef, Summary};
use trace_recorder::Bundle;
use trace_reducer::{Options, reduce, state_json};

const SESSION: &str = "0a9b4199-63b5-4311-a816-6bad9441aaa9";

/// A transcript that is put together line by line. Each line follows the one before it.
struct Script {
    lines: Vec<Value>,
    last: Option<String>,
    /// The beginning of the ids of lines.
    prefix: String,
}

impl Script {
    fn new() -> Self {
        Self { lines: Vec::new(), last: None, prefix: "u".to_owned() }
    }

    fn line(&mut self, kind: &str, members: &Value) -> &mut Self {
        let number = self.lines.len();
        let id = format!("{}{number}", self.prefix);
        let mut line = json!({
            "parentUuid": self.last, "isSidechain": false, "sessionId": SESSION, "version": "2.0.77", "cwd": "/work",
            "type": kind, "uuid": id, "timestamp": format!("2026-11-22T21:00:{:02}.000Z", number % 60),
        });
        for (key, value) in members.as_object().expect("members") {
            line[key] = value.clone();
        }
        self.last = line["uuid"].as_str().map(str::to_owned);
        self.lines.push(line);
        self
    }

    fn user(&mut self, text: &str) -> &mut Self {
        self.line("user", &json!({"message": {"role": "user", "content": text}}))
    }

    fn meta(&mut self, text: &str) -> &mut Self {
        self.line("user", &json!({"isMeta": true, "message": {"role": "user", "content": text}}))
    }

    fn answer(&mut self, id: &str, blocks: &Value, output: u64) -> &mut Self {
        self.line("assistant", &Self::answer_line(id, blocks, output))
    }

    fn answer_line(id: &str, blocks: &Value, output: u64) -> Value {
        let usage = json!({
            "input_tokens": 10, "cache_read_input_tokens": 5, "cache_creation_input_tokens": 3, "output_tokens": output,
        });
        let message = json!({
            "id": id, "role": "assistant", "model": "claude-x", "content": blocks, "stop_reason": "end_turn", "usage": usage,
        });
        json!({"requestId": format!("req_{id}"), "message": message})
    }

    fn says(&mut self, id: &str, text: &str) -> &mut Self {
        self.answer(id, &json!([{"type": "text", "text": text}]), 7)
    }

    fn calls(&mut self, id: &str, call: &str, name: &str, input: &Value) -> &mut Self {
        self.answer(id, &json!([{"type": "tool_use", "id": call, "name": name, "input": input}]), 7)
    }

    fn result(&mut self, call: &str, text: &str, is_error: bool) -> &mut Self {
        let block = json!({"type": "tool_result", "tool_use_id": call, "content": text, "is_error": is_error});
        self.line("user", &json!({"message": {"role": "user", "content": [block]}}))
    }

    fn back_to(&mut self, line: usize) -> &mut Self {
        self.last = self.lines[line]["uuid"].as_str().map(str::to_owned);
        self
    }

    fn text(&self) -> String {
        self.lines.iter().map(|line| format!("{line}\n")).collect()
    }

    fn read(&self) -> Read {
        let folder = tempfile::tempdir().expect("a directory");
        let path = folder.path().join(format!("{SESSION}.jsonl"));
        std::fs::write(&path, self.text()).expect("writes");
        Read::of(folder, &path)
    }
}

/// A session that was read.
struct Read {
    state: Value,
    summary: Summary,
    bundle: Bundle,
    folder: TempDir,
}

impl Read {
    fn of(folder: TempDir, path: &Path) -> Self {
        let sessions = trace_import::sessions(path).expect("lists");
        let [session] = &sessions[..] else { panic!("{} sessions", sessions.len()) };
        let bundle = trace_import::open(session).expect("imports");
        let summary = trace_import::summarize(session).expect("summarizes");
        Self { state: state(&bundle), summary, bundle, folder }
    }

    fn statuses(&self, objects: &str) -> Vec<&str> {
        let objects = self.state[objects].as_object().expect("objects");
        let mut found: Vec<_> = objects.values().collect();
        found.sort_by_key(|object| object["execution"]["started_seq"].as_u64());
        found.iter().map(|object| object["execution"]["status"].as_str().expect("a status")).collect()
    }

    fn note(&self, code: &str) -> u64 {
        let notes = &self.bundle.import().expect("is imported").notes;
        notes.iter().find(|note| note.code == code).map_or(0, |note| note.count)
    }

    /// The texts that each request has.
    fn requests(&self) -> Vec<String> {
        let items = |body: &Value| body["input"].as_array().expect("items").iter().map(shown).collect::<Vec<_>>();
        self.bodies().iter().map(|body| items(body).join(" ")).collect()
    }

    fn request_body(&self, number: usize) -> Value {
        self.bodies().swap_remove(number)
    }

    fn bodies(&self) -> Vec<Value> {
        let log = std::str::from_utf8(self.bundle.log().expect("a log").as_bytes()).expect("UTF-8").to_owned();
        let events = log.lines().map(|line| serde_json::from_str::<Value>(line).expect("is JSON"));
        let body = |event: Value| {
            let mut bytes = Vec::new();
            let path = event["payload"]["request_payload"]["path"].as_str().expect("a path").to_owned();
            self.bundle.payloads().read(&path, &mut bytes).expect("reads");
            serde_json::from_slice(&bytes).expect("is JSON")
        };
        events.filter(|event| event["payload"]["type"] == "inference_started").map(body).collect()
    }
}

fn shown(item: &Value) -> String {
    match item["type"].as_str() {
        Some("message") => item["content"][0]["text"].as_str().unwrap_or("?").to_owned(),
        Some("function_call") => format!("call:{}", item["call_id"].as_str().expect("an id")),
        Some("function_call_output") => format!("result:{}", item["call_id"].as_str().expect("an id")),
        other => format!("{other:?}"),
    }
}

fn state(bundle: &Bundle) -> Value {
    let strict = Options { strict: true, ..Options::default() };
    let reduction = reduce(bundle, strict).expect("nothing is reported");
    let mut text = Vec::new();
    state_json::write(&reduction, state_json::Style::Compact, &mut text).expect("writes");
    serde_json::from_slice(&text).expect("is JSON")
}

#[test]
fn the_lines_of_an_answer_are_one_call_whose_last_figures_count() {
    let mut script = Script::new();
    script.user("Go").answer("m1", &json!([{"type": "text", "text": "One"}]), 1).answer(
        "m1",
        &json!([{"type": "text", "text": "Two"}]),
        9,
    );
    let read = script.read();
    assert_eq!(read.summary.spent.len(), 1);
    let spent = &read.summary.spent[0];
    assert_eq!((spent.key.as_deref(), spent.usage.input, spent.usage.output), (Some("m1:req_m1"), 18, 9));
    assert_eq!(
        (read.statuses("codex_turns"), read.statuses("inference_calls")),
        (vec!["completed"], vec!["completed"])
    );
}

#[test]
fn results_between_the_blocks_of_an_answer_are_seen_behind_them() {
    let mut script = Script::new();
    script.user("Go");
    script.calls("m1", "a", "Bash", &json!({"command": "x"})).result("a", "A", false);
    script.calls("m1", "b", "Bash", &json!({"command": "y"})).result("b", "B", false);
    script.says("m2", "Done");
    let read = script.read();
    assert_eq!(read.requests(), ["Go", "Go call:a call:b result:a result:b"]);
    assert_eq!(read.statuses("tool_calls"), ["completed", "completed"]);
}

#[test]
fn parallel_results_hang_on_their_own_calls() {
    let mut script = Script::new();
    script.user("Go");
    script.calls("m1", "a", "Bash", &json!({"command": "x"})).calls("m1", "b", "Bash", &json!({"command": "y"}));
    script.result("b", "B", false).back_to(1).result("a", "A", false).says("m2", "Done");
    let read = script.read();
    assert_eq!(read.requests(), ["Go", "Go call:a call:b result:b result:a"]);
    assert_eq!(read.note("dead-branch"), 0);
}

#[test]
fn a_branch_that_was_left_is_not_sent_again() {
    let mut script = Script::new();
    script.user("Go").says("m1", "Done").user("Wrong").says("m2", "Sure").back_to(1).user("Right").says("m3", "Yes");
    let read = script.read();
    assert_eq!(read.requests(), ["Go", "Go Done Wrong", "Go Done Right"]);
    assert_eq!((read.note("dead-branch"), read.statuses("codex_turns").len()), (2, 3));
}

#[test]
fn an_interrupt_cancels_and_a_denial_fails() {
    let refusal = "The user doesn't want to proceed with this tool use. The tool use was rejected.";
    let mut denied = Script::new();
    denied.user("Go").calls("m1", "a", "Bash", &json!({"command": "x"})).result("a", refusal, true).says("m2", "Fine");
    let read = denied.read();
    assert_eq!((read.statuses("tool_calls"), read.statuses("codex_turns")), (vec!["failed"], vec!["completed"]));
    let mut stopped = Script::new();
    stopped.user("Go").calls("m1", "a", "Bash", &json!({"command": "x"})).result("a", refusal, true);
    stopped.user("[Request interrupted by user for tool use]");
    let read = stopped.read();
    assert_eq!((read.statuses("tool_calls"), read.statuses("codex_turns")), (vec!["cancelled"], vec!["cancelled"]));
    assert_eq!(read.summary.outcome.as_deref(), Some("cancelled"));
}

#[test]
fn an_exit_code_is_known_only_if_the_result_names_it() {
    let mut script = Script::new();
    script.user("Go").calls("m1", "a", "Bash", &json!({"command": "x"})).result("a", "Exit code 3\nout", true);
    script.calls("m2", "b", "Bash", &json!({"command": "y"})).result("b", "out", false).says("m3", "Done");
    let read = script.read();
    let operations = read.state["terminal_operations"].as_object().expect("operations");
    let codes: Vec<_> = operations.values().map(|operation| &operation["result"]["exit_code"]).collect();
    assert_eq!(codes, [&json!(3)]);
    assert_eq!(read.statuses("tool_calls"), ["failed", "completed"]);
}

#[test]
fn an_error_of_the_provider_is_no_answer() {
    let mut script = Script::new();
    script.user("Go").says("m1", "Done").user("More");
    let message = json!({
        "id": "x", "role": "assistant", "model": "<synthetic>", "content": [{"type": "text", "text": "API Error: 529 Overloaded"}],
        "usage": {"input_tokens": 0, "output_tokens": 0},
    });
    script.line("assistant", &json!({"isApiErrorMessage": true, "message": message}));
    let read = script.read();
    assert_eq!(read.statuses("inference_calls"), ["completed", "failed"]);
    assert_eq!(read.statuses("codex_turns"), ["completed", "failed"]);
    assert_eq!(read.summary.spent.len(), 1);
}

#[test]
fn a_command_of_the_program_is_no_prompt() {
    let mut script = Script::new();
    script.user("Go").says("m1", "Done");
    script.meta("Caveat: The messages below were generated by the user while running local commands.");
    script.user("<command-name>/cost</command-name>").user("<local-command-stdout>1</local-command-stdout>");
    let read = script.read();
    assert_eq!(read.statuses("codex_turns"), ["completed"]);
    // The model was asked behind a command that is a prompt in disguise.
    script.user("<command-name>/review</command-name>").meta("Review the code.").says("m2", "Looks good");
    assert_eq!(script.read().statuses("codex_turns"), ["completed", "completed"]);
}

#[test]
fn a_killed_process_leaves_a_call_that_runs() {
    let mut script = Script::new();
    script.user("Go").calls("m1", "a", "Bash", &json!({"command": "x"}));
    let read = script.read();
    assert_eq!((read.statuses("tool_calls"), read.statuses("codex_turns")), (vec!["running"], vec!["running"]));
    assert_eq!((read.note("outcome-unknown"), read.state["status"].as_str()), (1, Some("running")));
}

#[test]
fn a_summary_replaces_the_history() {
    let mut script = Script::new();
    script.user("Go").says("m1", "Done");
    script.last = None;
    script.line(
        "system",
        &json!({"subtype": "compact_boundary", "logicalParentUuid": "u1", "compactMetadata": {"trigger": "auto"}}),
    );
    script.line("user", &json!({"isCompactSummary": true, "message": {"role": "user", "content": "Summary"}}));
    script.user("More").says("m2", "Yes");
    let read = script.read();
    assert_eq!(read.requests(), ["Go", "Summary More"]);
    assert_eq!(read.state["compactions"].as_object().map(serde_json::Map::len), Some(1));
    assert_eq!(read.note("dead-branch"), 0);
}

#[test]
fn a_message_that_was_queued_is_part_of_the_turn() {
    let mut script = Script::new();
    script.user("Go").calls("m1", "a", "Bash", &json!({"command": "x"})).result("a", "A", false);
    script.line(
        "attachment",
        &json!({"attachment": {"type": "queued_command", "prompt": "also this", "commandMode": "prompt"}}),
    );
    script.says("m2", "Done");
    let read = script.read();
    assert_eq!(read.requests()[1], "Go call:a result:a also this");
    assert_eq!(read.statuses("codex_turns"), ["completed"]);
}

#[test]
fn a_prompt_between_a_result_and_its_answer_is_part_of_the_turn() {
    let mut script = Script::new();
    script.user("Go").calls("m1", "a", "Bash", &json!({"command": "x"})).result("a", "A", false);
    script.user("And this").says("m2", "Done");
    assert_eq!(script.read().statuses("codex_turns"), ["completed"]);
    // A prompt that a new process was given is another turn.
    script.lines.insert(3, json!({"type": "queue-operation", "operation": "dequeue", "sessionId": SESSION}));
    assert_eq!(script.read().statuses("codex_turns"), ["aborted", "completed"]);
}

/// The three layouts of children: a file in a folder of the session, a file beside it, and lines within it.
#[test]
fn a_child_is_found_in_all_layouts() {
    for layout in ["folder", "beside", "within"] {
        let mut child = Script::new();
        child.user("Count").says("c1", "Three");
        for (number, line) in child.lines.iter_mut().enumerate() {
            line["isSidechain"] = json!(true);
            line["uuid"] = json!(format!("c{number}"));
            line["parentUuid"] = if number == 0 { Value::Null } else { json!(format!("c{}", number - 1)) };
        }
        let mut root = Script::new();
        root.user("Go").calls("m1", "a", "Task", &json!({"description": "Count it", "prompt": "Count"}));
        root.result("a", "Three", false).says("m2", "Done");
        let folder = tempfile::tempdir().expect("a directory");
        let path = folder.path().join(format!("{SESSION}.jsonl"));
        let mut text = root.text();
        match layout {
            "folder" => {
                let children = folder.path().join(SESSION).join("subagents");
                std::fs::create_dir_all(&children).expect("makes");
                std::fs::write(children.join("agent-a1.jsonl"), child.text()).expect("writes");
                let meta = json!({"agentType": "general-purpose", "description": "Count it", "toolUseId": "a"});
                std::fs::write(children.join("agent-a1.meta.json"), meta.to_string()).expect("writes");
            }
            "beside" => std::fs::write(folder.path().join("agent-a1.jsonl"), child.text()).expect("writes"),
            _ => text.push_str(&child.text()),
        }
        std::fs::write(&path, text).expect("writes");
        // A folder has the root only.
        assert_eq!(trace_import::sessions(folder.path()).expect("lists").len(), 1, "{layout}");
        let read = Read::of(folder, &path);
        let edges = read.state["interaction_edges"].as_object().expect("edges");
        assert_eq!((read.summary.threads, edges.len()), (2, 2), "{layout}: one there, one back");
        let paths: Vec<_> =
            read.state["threads"].as_object().expect("threads").values().map(|thread| &thread["agent_path"]).collect();
        assert!(paths.contains(&&json!("/root/count_it")), "{layout}: {paths:?}");
        assert_eq!(read.note("child-by-text"), u64::from(layout != "folder"), "{layout}");
        assert_eq!(read.statuses("codex_turns"), ["completed", "completed"], "{layout}");
        // The file of a child leads to the session.
        if layout == "folder" {
            let child = read.folder.path().join(SESSION).join("subagents/agent-a1.jsonl");
            let bundle = trace_import::open(&SessionRef::file("claude-code", &child)).expect("imports");
            assert_eq!(state(&bundle), read.state);
        }
    }
}

/// A file that has the lines of a child twice, with their ids.
#[test]
fn a_child_whose_lines_are_repeated_is_one_child() {
    let mut child = Script { prefix: "c".to_owned(), ..Script::new() };
    child.user("Count").says("c1", "Three");
    child.lines.iter_mut().for_each(|line| line["isSidechain"] = json!(true));
    let mut root = Script::new();
    root.user("Go").calls("m1", "a", "Task", &json!({"description": "Count it", "prompt": "Count"}));
    root.result("a", "Three", false).says("m2", "Done");
    let folder = tempfile::tempdir().expect("a directory");
    let path = folder.path().join(format!("{SESSION}.jsonl"));
    std::fs::write(&path, format!("{}{}{}", root.text(), child.text(), child.text())).expect("writes");
    let read = Read::of(folder, &path);
    assert_eq!((read.summary.threads, read.statuses("codex_turns").len()), (2, 2));
}

#[test]
fn a_child_whose_answer_is_an_error_has_failed() {
    let mut root = Script::new();
    root.user("Go").calls("m1", "a", "Task", &json!({"description": "Count", "prompt": "Count"}));
    root.result("a", "API Error: 400 bad request", false).says("m2", "Done");
    let read = root.read();
    assert_eq!((read.statuses("tool_calls"), read.note("child-missing")), (vec!["failed"], 0));
}

#[test]
fn the_copies_of_a_fork_are_history_only() {
    let other = "1b9b4199-63b5-4311-a816-6bad9441aaa9";
    let mut original = Script::new();
    original.user("Go").says("m1", "Done");
    let mut fork = Script::new();
    fork.user("Go").says("m1", "Done").user("More").says("m2", "Yes");
    for (number, line) in fork.lines.iter_mut().enumerate() {
        line["sessionId"] = json!(other);
        if number == 1 {
            line["requestSessionId"] = json!(SESSION);
        }
    }
    let folder = tempfile::tempdir().expect("a directory");
    std::fs::write(folder.path().join(format!("{SESSION}.jsonl")), original.text()).expect("writes");
    let path = folder.path().join(format!("{other}.jsonl"));
    std::fs::write(&path, fork.text()).expect("writes");
    let read = Read::of(folder, &path);
    assert_eq!((read.requests(), read.note("copied-record")), (vec!["Go Done More".to_owned()], 2));
    // Without the original, the copies are all that is left of it.
    std::fs::remove_file(read.folder.path().join(format!("{SESSION}.jsonl"))).expect("removes");
    let read = Read::of(read.folder, &path);
    assert_eq!((read.requests().len(), read.note("copied-record")), (2, 0));
}

#[test]
fn a_title_is_that_of_the_session() {
    let mut script = Script::new();
    script.user("Go").says("m1", "Done");
    script.lines.push(json!({"type": "summary", "summary": "Own", "leafUuid": "u1"}));
    script.lines.push(json!({"type": "summary", "summary": "Of another session", "leafUuid": "other"}));
    assert_eq!(script.read().summary.title.as_deref(), Some("Own"));
    script.lines.push(json!({"type": "custom-title", "customTitle": "Mine", "sessionId": SESSION}));
    assert_eq!(script.read().summary.title.as_deref(), Some("Mine"));
}

#[test]
fn files_without_a_conversation_have_no_sessions() {
    let folder = tempfile::tempdir().expect("a directory");
    let path = folder.path().join(format!("{SESSION}.jsonl"));
    for text in ["", "{\"type\":\"summary\",\"summary\":\"x\",\"leafUuid\":\"y\"}\n"] {
        std::fs::write(&path, text).expect("writes");
        assert_eq!(trace_import::sessions(&path).expect("lists"), [], "{text}");
    }
    let session = SessionRef::file("claude-code", &path);
    assert!(matches!(trace_import::open(&session), Err(ImportError::Empty { .. })));
}

#[test]
fn a_call_id_that_comes_again_is_another_call() {
    let mut script = Script::new();
    script.user("Go").calls("m1", "a", "Bash", &json!({"command": "x"})).result("a", "A", false);
    script.calls("m2", "a", "Bash", &json!({"command": "y"})).result("a", "B", false).says("m3", "Done");
    let read = script.read();
    assert_eq!((read.statuses("tool_calls").len(), read.note("call-id-repeated")), (2, 1));
}

#[test]
fn stores_are_below_the_config_folder() {
    let format = trace_import::format("claude-code").expect("the format");
    let homes = trace_import::Homes { home: PathBuf::from("/home/a"), ..Default::default() };
    let stores = ["/home/a/.claude/projects", "/home/a/.config/claude/projects"].map(PathBuf::from);
    assert_eq!(format.stores(&homes), stores);
    let homes = trace_import::Homes { claude: Some(PathBuf::from("/c")), ..homes };
    assert_eq!(format.stores(&homes), [PathBuf::from("/c/projects")]);
}

/// A line whose text was cut within a character has half a surrogate pair, which is no JSON for others.
#[test]
fn half_a_character_is_replaced() {
    let mut script = Script::new();
    script.user("Cut SURR").calls("m1", "a", "Bash", &json!({"command": "SURR"})).result("a", "out SURR", false);
    script.says("m2", "Done");
    let folder = tempfile::tempdir().expect("a directory");
    let path = folder.path().join(format!("{SESSION}.jsonl"));
    std::fs::write(&path, script.text().replace("SURR", "\\ud83d")).expect("writes");
    let read = Read::of(folder, &path);
    assert_eq!(read.requests()[1], "Cut \u{fffd} call:a result:a");
    assert_eq!((read.note("lone-surrogate"), read.note("damaged-line")), (3, 0));
}

#[test]
fn an_interrupt_may_stand_behind_the_results_of_a_line() {
    let refusal = "The user doesn't want to proceed with this tool use. The tool use was rejected.";
    let mut script = Script::new();
    script.user("Go").calls("m1", "a", "Bash", &json!({"command": "x"}));
    let result = json!({"type": "tool_result", "tool_use_id": "a", "content": refusal, "is_error": true});
    let mark = json!({"type": "text", "text": "[Request interrupted by user for tool use]"});
    script.line("user", &json!({"message": {"role": "user", "content": [result, mark]}}));
    script.user("Again").says("m2", "Done");
    let read = script.read();
    assert_eq!(read.statuses("tool_calls"), ["cancelled"]);
    assert_eq!(read.statuses("codex_turns"), ["cancelled", "completed"]);
}

/// Some compactions write the last lines once more, with new ids, behind the line that they followed.
#[test]
fn lines_that_are_written_again_are_told_once() {
    let mut script = Script::new();
    script.user("Go").says("m1", "Done").user("More").says("m2", "Yes");
    for (number, parent) in [(2, "u1"), (3, "again-2")] {
        let mut line = script.lines[number].clone();
        line["uuid"] = json!(format!("again-{number}"));
        line["parentUuid"] = json!(parent);
        script.lines.push(line);
    }
    script.last = Some("again-3".to_owned());
    script.user("Last").says("m3", "End");
    let read = script.read();
    assert_eq!(read.requests(), ["Go", "Go Done More", "Go Done More Yes Last"]);
    assert_eq!((read.note("copied-record"), read.note("dead-branch")), (2, 0));
    assert_eq!(read.summary.spent.len(), 3);
}

/// A summary, and behind it the lines that stay: named by the first and the last, or written again with their ids.
#[test]
fn lines_stay_behind_a_summary() {
    for is_written_again in [false, true] {
        let mut script = Script::new();
        script.user("Go").says("m1", "Done").user("More").says("m2", "Yes");
        script.last = None;
        let segment = json!({"trigger": "auto", "preservedSegment": {"headUuid": "u2", "tailUuid": "u3"}});
        let metadata = if is_written_again { json!({"trigger": "auto"}) } else { segment };
        // Some versions have the boundary as a type of its own.
        let kind = if is_written_again { "compact_boundary" } else { "system" };
        script.line(kind, &json!({"subtype": "compact_boundary", "compactMetadata": metadata}));
        script.line("user", &json!({"isCompactSummary": true, "message": {"role": "user", "content": "Summary"}}));
        if is_written_again {
            for number in [2, 3] {
                let mut line = script.lines[number].clone();
                line["parentUuid"] = json!(script.last);
                script.last = line["uuid"].as_str().map(str::to_owned);
                script.lines.push(line);
            }
        }
        script.user("Last").says("m3", "End");
        let read = script.read();
        assert_eq!(read.requests()[2], "Summary More Yes Last", "{is_written_again}");
        assert_eq!(read.statuses("codex_turns").len(), 3, "{is_written_again}");
        assert_eq!(read.state["compactions"].as_object().map(serde_json::Map::len), Some(1));
    }
}

/// Boundaries that each name the whole file would make an import take time and memory of their product.
#[test]
fn segments_that_stay_behind_many_summaries_are_limited() {
    for (boundaries, is_limited) in [(2, false), (60, true)] {
        let mut script = Script::new();
        (0..100).for_each(|number| {
            script.user(&format!("ask-{number}")).says(&format!("m{number}"), "Done");
        });
        let segment = json!({"trigger": "auto", "preservedSegment": {"headUuid": "u0", "tailUuid": "u199"}});
        for _ in 0..boundaries {
            script.last = None;
            script.line("system", &json!({"subtype": "compact_boundary", "compactMetadata": segment}));
            script.line("user", &json!({"isCompactSummary": true, "message": {"role": "user", "content": "Summary"}}));
        }
        script.user("Last").says("last", "End");
        let read = script.read();
        let request = read.requests().pop().expect("a request");
        assert_eq!(request.contains("ask-0 "), !is_limited, "{request}");
        assert!(request.starts_with("Summary ") && request.ends_with(" Last"), "{request}");
        assert_eq!(read.note("request-incomplete") > 0, is_limited);
    }
}

/// A provider that gives the same id to all answers, and none to requests.
#[test]
fn answers_of_one_id_are_told_apart_by_their_requests() {
    let mut script = Script::new();
    script.user("Go");
    for (call, input) in [("a", 10), ("b", 20)] {
        let mut line =
            Script::answer_line("same", &json!([{"type": "tool_use", "id": call, "name": "Bash", "input": {}}]), 3);
        line["message"]["usage"]["input_tokens"] = json!(input);
        line["message"]["stop_reason"] = json!("tool_use");
        line["requestId"] = Value::Null;
        script.line("assistant", &line).result(call, "ok", false);
    }
    script.says("m2", "Done");
    let read = script.read();
    assert_eq!(read.requests(), ["Go", "Go call:a result:a", "Go call:a result:a call:b result:b"]);
    assert_eq!(read.statuses("codex_turns"), ["completed"]);
}

#[test]
fn the_provider_answers_calls_of_its_own_tools() {
    let mut script = Script::new();
    let blocks = json!([
        {"type": "mcp_tool_use", "id": "a", "name": "find", "server_name": "s", "input": {}},
        {"type": "mcp_tool_result", "tool_use_id": "a", "is_error": true, "content": [{"type": "text", "text": "no"}]},
        {"type": "server_tool_use", "id": "b", "name": "web_search", "input": {"query": "x"}},
        {"type": "web_search_tool_result", "tool_use_id": "b", "content": [{"type": "web_search_result", "title": "t"}]},
        {"type": "text", "text": "Found"},
    ]);
    script.user("Go").answer("m1", &blocks, 3);
    let read = script.read();
    assert_eq!(read.statuses("tool_calls"), ["failed", "completed"]);
    assert_eq!((read.statuses("codex_turns"), read.note("outcome-unknown")), (vec!["completed"], 0));
}

#[test]
fn pictures_and_documents_are_parts_of_requests() {
    let mut script = Script::new();
    let picture = json!({"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AAAA"}});
    let document =
        json!({"type": "document", "source": {"type": "base64", "media_type": "application/pdf", "data": "AAAA"}});
    let content = json!([{"type": "text", "text": "[Image #1] see"}, picture, document]);
    script.line("user", &json!({"message": {"role": "user", "content": content}}));
    script.meta("[Image: source: /x.png]").calls("m1", "a", "Read", &json!({"file_path": "/y.png"}));
    let result =
        json!({"type": "tool_result", "tool_use_id": "a", "content": [picture, {"type": "text", "text": "y"}]});
    script.line("user", &json!({"message": {"role": "user", "content": [result]}})).says("m2", "Nice");
    let read = script.read();
    assert_eq!(read.requests()[1], "[Image #1] see ? ? [Image: source: /x.png] call:a result:a");
    assert_eq!(read.statuses("codex_turns"), ["completed"]);
}

#[test]
fn an_error_without_its_flag_is_one() {
    let mut script = Script::new();
    script.user("Go").calls("m1", "a", "Bash", &json!({"command": "x"}));
    let result = json!({"type": "tool_result", "tool_use_id": "a", "content": "boom"});
    script.line("user", &json!({"toolUseResult": "Error: boom", "message": {"role": "user", "content": [result]}}));
    script.says("m2", "Done");
    assert_eq!(script.read().statuses("tool_calls"), ["failed"]);
}

#[test]
fn a_hook_makes_the_model_go_on_in_the_same_turn() {
    let mut script = Script::new();
    script.user("Go").says("m1", "Done").meta("Stop hook feedback:\n- [check]: not yet").says("m2", "Now it is");
    assert_eq!(script.read().statuses("codex_turns"), ["completed"]);
    script.meta("Stop hook feedback:\n- [check]: not yet");
    assert_eq!(script.read().statuses("codex_turns"), ["running"]);
}

#[test]
fn a_refused_request_is_a_failed_call() {
    for (text, error, calls) in [
        ("Prompt is too long", Value::Null, vec!["completed", "failed"]),
        ("You've hit your limit", json!("rate_limit"), vec!["completed", "failed"]),
        ("Invalid API key", json!("authentication_failed"), vec!["completed"]),
    ] {
        let mut script = Script::new();
        script.user("Go").says("m1", "Done").user("More");
        let message = json!({
            "id": "x", "role": "assistant", "model": "<synthetic>", "content": [{"type": "text", "text": text}],
            "usage": {"input_tokens": 0, "output_tokens": 0},
        });
        script.line("assistant", &json!({"isApiErrorMessage": true, "error": error, "message": message}));
        let read = script.read();
        assert_eq!(read.statuses("inference_calls"), calls, "{text}");
        assert_eq!(read.statuses("codex_turns"), ["completed", "failed"], "{text}");
    }
}

#[test]
fn the_model_sees_what_took_the_place_of_a_result() {
    let mut script = Script::new();
    script.user("Go").calls("m1", "a", "Bash", &json!({"command": "x"})).calls(
        "m1",
        "b",
        "Bash",
        &json!({"command": "y"}),
    );
    script.result("a", "A long output", false).back_to(2).result("b", "B", false);
    let replacements = json!([{"kind": "tool-result", "toolUseId": "a", "replacement": "A"}, {"toolUseId": "gone"}]);
    script.lines.push(json!({"type": "content-replacement", "sessionId": SESSION, "replacements": replacements}));
    script.says("m2", "Done").user("More").says("m3", "Yes");
    let read = script.read();
    assert_eq!(read.requests()[2], "Go call:a call:b result:a result:b Done More");
    let body = read.request_body(1);
    let outputs: Vec<_> =
        body["input"].as_array().expect("items").iter().filter_map(|item| item["output"].as_str()).collect();
    assert_eq!(outputs, ["A", "B"]);
}

/// Writes a root and files of children.
fn with_children(root: &Script, children: &[(&str, &Script, &Value)]) -> Read {
    let folder = tempfile::tempdir().expect("a directory");
    let path = folder.path().join(format!("{SESSION}.jsonl"));
    std::fs::write(&path, root.text()).expect("writes");
    let below = folder.path().join(SESSION).join("subagents");
    std::fs::create_dir_all(&below).expect("makes");
    for (agent, script, meta) in children {
        let mut script = script.lines.clone();
        script.iter_mut().for_each(|line| line["isSidechain"] = json!(true));
        let text: String = script.iter().map(|line| format!("{line}\n")).collect();
        std::fs::write(below.join(format!("agent-{agent}.jsonl")), text).expect("writes");
        std::fs::write(below.join(format!("agent-{agent}.meta.json")), meta.to_string()).expect("writes");
    }
    Read::of(folder, &path)
}

/// A script whose lines have ids of their own.
fn child(prefix: &str) -> Script {
    Script { prefix: prefix.to_owned(), ..Script::new() }
}

fn kinds_of_edges(read: &Read) -> Vec<&str> {
    let edges = read.state["interaction_edges"].as_object().expect("edges");
    edges.values().filter_map(|edge| edge["kind"].as_str()).collect()
}

#[test]
fn the_end_of_a_background_child_may_come_within_a_turn() {
    let mut root = Script::new();
    root.user("Go").calls("m1", "a", "Agent", &json!({"description": "Count", "prompt": "Count"}));
    let result = json!({"type": "tool_result", "tool_use_id": "a", "content": "Async agent launched"});
    let launched = json!({"isAsync": true, "status": "async_launched", "agentId": "a1"});
    root.line("user", &json!({"toolUseResult": launched, "message": {"role": "user", "content": [result]}}));
    let notice = "<task-notification>\n<task-id>a1</task-id>\n<status>completed</status>\n<result>Three</result>";
    root.line(
        "attachment",
        &json!({"attachment": {"type": "queued_command", "prompt": notice, "commandMode": "task-notification"}}),
    );
    root.says("m2", "Done");
    let mut counted = child("c");
    counted.user("Count").says("c1", "Three");
    let read = with_children(&root, &[("a1", &counted, &json!({"agentType": "x"}))]);
    assert_eq!(kinds_of_edges(&read), ["agent_result", "spawn_agent"]);
    assert_eq!(read.statuses("codex_turns"), ["completed", "completed"]);
}

#[test]
fn a_member_of_a_team_is_found_by_its_task() {
    let mut root = Script::new();
    root.user("Go").calls("m1", "a", "Agent", &json!({"description": "Count", "prompt": "Count it"}));
    root.result("a", "Spawned", false).says("m2", "Done");
    let mut member = child("c");
    member.user("<teammate-message teammate_id=\"team-lead\">\nCount it\n</teammate-message>").says("c1", "Three");
    let read = with_children(&root, &[("a1", &member, &json!({"agentType": "x"}))]);
    assert_eq!((read.note("child-unlinked"), read.note("child-by-text"), read.note("child-missing")), (0, 1, 0));
}

#[test]
fn a_child_is_found_by_the_end_of_its_answer() {
    let mut root = Script::new();
    root.user("Go").calls("m1", "a", "Task", &json!({"description": "Count", "prompt": "Count"}));
    root.result("a", "Three\nagentId: a1 (use SendMessage to go on)", false).says("m2", "Done");
    let mut counted = child("c");
    counted.user("Another text").says("c1", "Three");
    let read = with_children(&root, &[("a1", &counted, &json!({"agentType": "x"}))]);
    assert_eq!((read.note("child-unlinked"), read.note("child-missing")), (0, 0));
    assert_eq!(kinds_of_edges(&read), ["agent_result", "spawn_agent"]);
}

/// A question beside the conversation is asked by a child whose file begins with the lines of the root, under other ids.
#[test]
fn a_child_with_a_copy_of_the_history_tells_only_what_is_new() {
    let mut root = Script::new();
    root.user("Go").says("m1", "Done");
    let mut side = child("c");
    side.user("Go").says("m1", "Done");
    side.lines[1]["requestId"] = json!("req_other");
    side.user("By the way?").says("s1", "Yes");
    let read = with_children(&root, &[("aside_question-1", &side, &json!({"agentType": "x"}))]);
    assert_eq!(read.requests(), ["Go", "Go Done By the way?"]);
    assert_eq!((read.statuses("codex_turns").len(), read.summary.spent.len(), read.note("copied-record")), (2, 2, 2));
    // One that goes on from a line of the root has seen the history, which its file lacks.
    let mut compacting = child("c");
    compacting.last = Some("u1".to_owned());
    compacting.user("Summarize").says("s1", "Summary");
    let read = with_children(&root, &[("acompact-1", &compacting, &json!({"agentType": "x"}))]);
    assert_eq!((read.note("child-unlinked"), read.note("request-incomplete")), (1, 1));
}

/// Tokens as other programs count them.
#[test]
fn tokens_are_those_of_the_fullest_line() {
    let mut script = Script::new();
    script.user("Go");
    for (input, output) in [(1, 9), (100, 2)] {
        let mut line = Script::answer_line("m1", &json!([{"type": "text", "text": "x"}]), output);
        line["message"]["usage"]["input_tokens"] = json!(input);
        script.line("assistant", &line);
    }
    let usage = json!({
        "input_tokens": 1, "output_tokens": 2, "speed": "fast",
        "cache_creation": {"ephemeral_5m_input_tokens": 4, "ephemeral_1h_input_tokens": 5},
        "iterations": [
            {"type": "message", "input_tokens": 1, "output_tokens": 2},
            {"type": "advisor_message", "model": "claude-y", "input_tokens": 100, "cache_read_input_tokens": 7, "output_tokens": 5},
        ],
    });
    let mut line = Script::answer_line("m2", &json!([{"type": "text", "text": "x"}]), 2);
    line["message"]["usage"] = usage;
    line["requestId"] = Value::Null;
    script.user("More").line("assistant", &line);
    let spent = script.read().summary.spent;
    let shown: Vec<_> = spent
        .iter()
        .map(|spent| {
            (spent.model.as_str(), spent.key.as_deref().unwrap_or_default(), spent.usage.input, spent.usage.output)
        })
        .collect();
    let (key, advisor) = (format!("m2:{SESSION}"), format!("m2:advisor:0:{SESSION}"));
    let expected = [
        ("claude-x", "m1:req_m1", 108, 2),
        ("claude-x-fast", key.as_str(), 10, 2),
        ("claude-y", advisor.as_str(), 107, 5),
    ];
    assert_eq!(shown, expected);
}

#[test]
fn types_that_are_unknown_are_named() {
    let mut script = Script::new();
    script.user("Go").says("m1", "Done");
    script.lines.push(json!({"type": "new-thing", "sessionId": SESSION}));
    script.lines.push(json!({"type": "new-thing", "sessionId": SESSION}));
    let read = script.read();
    let notes = &read.bundle.import().expect("is imported").notes;
    let note = notes.iter().find(|note| note.code == "unknown-record").expect("a note");
    assert!(note.count == 2 && note.message.contains("\"new-thing\" (2)"), "{}", note.message);
}

/// A session with everything, to be damaged.
fn everything() -> String {
    let mut script = Script::new();
    script.user("Go").calls("m1", "a", "Bash", &json!({"command": "x"})).calls(
        "m1",
        "b",
        "Task",
        &json!({"prompt": "Count"}),
    );
    script.result("b", "Three", false).back_to(1).result("a", "Exit code 3\nA", true).says("m2", "Done");
    script.line(
        "system",
        &json!({"subtype": "api_error", "error": {"status": 529, "message": "529 {\"type\":\"error\"}"}}),
    );
    script.line(
        "attachment",
        &json!({"attachment": {"type": "queued_command", "prompt": [{"type": "text", "text": "x"}]}}),
    );
    script.user("[Request interrupted by user]");
    script.lines.push(json!({"type": "api-request-shape", "shapeHash": "s", "shape": {"system": [], "tools": [{}]}}));
    script.lines.push(json!({"type": "api-request-blob", "hash": "h", "message": {"role": "user", "content": "Hi"}}));
    script.lines.push(json!({"type": "api-request", "id": "r1", "shapeHash": "s", "params": {"model": "x"}, "keep": 0, "tail": ["h"]}));
    script.lines.push(json!({"type": "api-request", "id": "r2", "base": "r1", "keep": 1, "tail": ["h", "h"]}));
    script.last = None;
    script.line(
        "system",
        &json!({"subtype": "compact_boundary", "compactMetadata": {"preservedMessages": {"uuids": ["u1"]}}}),
    );
    script.line("user", &json!({"isCompactSummary": true, "message": {"role": "user", "content": "Summary"}}));
    script.user("More").says("m3", "Yes");
    script.text()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    /// Whatever happened to a file, reading it gives an answer.
    #[test]
    fn damaged_files_are_read(
        flips in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..20),
        swaps in prop::collection::vec((any::<prop::sample::Index>(), any::<prop::sample::Index>()), 0..6),
        cut in prop::option::of(any::<prop::sample::Index>()),
        name in prop::sample::select(vec!["0a9b4199-63b5-4311-a816-6bad9441aaa9.jsonl", "agent-1.jsonl", "x.jsonl"]),
    ) {
        let text = everything();
        let mut lines: Vec<&str> = text.lines().collect();
        for (one, other) in swaps {
            let (one, other) = (one.index(lines.len()), other.index(lines.len()));
            lines.swap(one, other);
        }
        let mut bytes = lines.join("\n").into_bytes();
        for (at, byte) in flips {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        if let Some(cut) = cut {
            bytes.truncate(cut.index(bytes.len()));
        }
        let folder = tempfile::tempdir().expect("a directory");
        let path = folder.path().join(name);
        std::fs::write(&path, &bytes).expect("writes");
        for format in ["claude-code", "claude-code-stream"] {
            let session = SessionRef::file(format, &path);
            trace_import::summarize(&session).expect("summarizes");
            match trace_import::open(&session) {
                Ok(bundle) => {
                    reduce(&bundle, Options { strict: true, ..Options::default() }).expect("is a bundle");
                }
                Err(error) => prop_assert!(matches!(error, ImportError::Empty { .. }), "{error}"),
            }
        }
    }
}
