//! Sessions of opencode, against what the program exported.

#![expect(clippy::print_stderr, reason = "the scores are for people")]

use std::collections::{BTreeMap, HashSet};
use std::fs;
use std::path::{Path, PathBuf};

use crate::imported::{codes, objects, state, statuses, tokens, unknown_types};
use crate::{imported, scripted};
use proptest::prelude::*;
use rusqlite::Connection;
use serde_json::{Value, json};
use tempfile::TempDir;
use trace_import::{ImportError, SessionRef};

/// The folders of the recorded sessions.
fn recorded() -> Vec<PathBuf> {
    let Some(folder) = trace_needs::imports("sessions of opencode are not compared with their exports") else {
        return Vec::new();
    };
    let list = |folder: &Path| -> Vec<PathBuf> {
        folder.read_dir().expect("lists").map(|entry| entry.expect("an entry").path()).collect()
    };
    let agents = list(&folder).into_iter();
    let agents =
        agents.filter(|path| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("opencode")));
    let mut sessions: Vec<_> = agents.flat_map(|agent| list(&agent)).collect();
    sessions.sort();
    assert!(!sessions.is_empty());
    sessions
}

/// The sessions of a recording by their ids, as `opencode export` prints them. The program that wrote folders of files had the
/// same messages in these.
fn exported(folder: &Path) -> BTreeMap<String, Value> {
    let read = |path: &Path| -> Value {
        serde_json::from_slice(&fs::read(path).expect("reads")).unwrap_or_else(|error| panic!("{path:?}: {error}"))
    };
    let files = |folder: &Path| -> Vec<PathBuf> {
        let mut files: Vec<_> =
            folder.read_dir().into_iter().flatten().map(|entry| entry.expect("an entry").path()).collect();
        files.sort();
        files
    };
    let mut sessions = BTreeMap::new();
    for path in files(folder) {
        if path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("export-")) {
            let export = read(&path);
            sessions.insert(export["info"]["id"].as_str().expect("an id").to_owned(), export);
        }
    }
    let storage = folder.join("storage");
    for path in files(&storage.join("session/global")) {
        let info = read(&path);
        let id = info["id"].as_str().expect("an id").to_owned();
        let messages: Vec<_> = files(&storage.join("message").join(&id))
            .iter()
            .map(|path| {
                let message = read(path);
                let parts = files(&storage.join("part").join(message["id"].as_str().expect("an id")));
                json!({"info": message, "parts": parts.iter().map(|path| read(path)).collect::<Vec<_>>()})
            })
            .collect();
        sessions.insert(id, json!({"info": info, "messages": messages}));
    }
    sessions
}

/// What is counted in a session and its children.
#[derive(Debug, Default, PartialEq, Eq)]
struct Facts {
    threads: usize,
    turns: usize,
    cancelled_turns: usize,
    failed_turns: usize,
    calls: usize,
    tools: usize,
    failed_tools: usize,
    answers: usize,
    tokens: [u64; 3],
}

impl Facts {
    /// Counts a session and those that it started, without copies of older messages.
    fn of_export(id: &str, sessions: &BTreeMap<String, Value>) -> Self {
        let mut facts = Self::default();
        let tree = sessions.values().filter(|session| session["info"]["id"] == id || session["info"]["parentID"] == id);
        for session in tree {
            facts.threads += 1;
            let began = session["info"]["time"]["created"].as_u64().expect("a time");
            let messages = session["messages"].as_array().expect("messages").iter();
            let is_own = |message: &&Value| message["info"]["time"]["created"].as_u64().expect("a time") >= began;
            // A fork in which nothing happened shows what it took over.
            let is_empty = !messages.clone().any(|message| is_own(&message));
            let own = messages.filter(|message| is_empty || is_own(message));
            let mut errors: BTreeMap<&str, &str> = BTreeMap::new();
            for message in own {
                let info = &message["info"];
                if info["role"] == "user" {
                    facts.turns += 1;
                    continue;
                }
                facts.calls += 1;
                errors.insert(
                    info["parentID"].as_str().expect("a turn"),
                    info["error"]["name"].as_str().unwrap_or_default(),
                );
                let count = |path: &str| info.pointer(path).and_then(Value::as_u64).expect("a count");
                let cached = count("/tokens/cache/read");
                facts.tokens[0] += count("/tokens/input") + cached + count("/tokens/cache/write");
                facts.tokens[1] += cached;
                facts.tokens[2] += count("/tokens/output") + count("/tokens/reasoning");
                for part in message["parts"].as_array().expect("parts").iter().filter(|part| part["type"] == "tool") {
                    facts.tools += 1;
                    let state = &part["state"];
                    let has_failed = state["metadata"]["exit"].as_i64().is_some_and(|exit| exit != 0)
                        || (state["status"] == "error" && state["error"] != "Task cancelled")
                        || part["tool"] == "invalid";
                    facts.failed_tools += usize::from(has_failed);
                    let is_answer = part["tool"] == "task" && state["error"] != "Task cancelled";
                    facts.answers += usize::from(is_answer && state["metadata"]["sessionId"].is_string());
                }
            }
            facts.cancelled_turns += errors.values().filter(|error| **error == "MessageAbortedError").count();
            facts.failed_turns += errors.values().filter(|error| **error == "APIError").count();
        }
        facts
    }

    fn of_state(state: &Value) -> Self {
        let count = |kind: &str, status: &str| statuses(state, kind).iter().filter(|found| *found == status).count();
        Self {
            threads: objects(state, "threads").len(),
            turns: objects(state, "codex_turns").len(),
            cancelled_turns: count("codex_turns", "cancelled"),
            failed_turns: count("codex_turns", "failed"),
            calls: objects(state, "inference_calls").len(),
            tools: objects(state, "tool_calls").len(),
            failed_tools: count("tool_calls", "failed"),
            answers: objects(state, "interaction_edges").iter().filter(|edge| edge["kind"] == "agent_result").count(),
            tokens: tokens(state),
        }
    }
}

#[test]
fn sessions_are_told_as_they_went() {
    let Some(imports) = trace_needs::imports("sessions of opencode") else { return };
    insta::assert_snapshot!(imported::told(&imports, &["opencode", "opencode-1.0.185"]));
}

#[test]
fn recorded_sessions_are_as_the_program_exports_them() {
    for folder in recorded() {
        let exports = exported(&folder);
        let sessions = trace_import::sessions(&folder).expect("searches");
        let mut seen: HashSet<(&str, String)> = HashSet::new();
        for session in &sessions {
            let summary = trace_import::summarize(session).expect("summarizes");
            let id = summary.id.clone();
            assert!(seen.insert((session.format, id.clone())), "{session:?} is listed twice");
            let state = state(session);
            let facts = Facts::of_state(&state);
            assert_eq!(facts, Facts::of_export(&id, &exports), "{session:?}");
            let edges = objects(&state, "interaction_edges").len();
            assert_eq!(edges - facts.answers, facts.threads - 1, "{session:?}: edges");
            let info = &exports[&id]["info"];
            assert!(info["parentID"].is_null(), "{session:?} is a child");
            assert_eq!(summary.cwd.as_deref(), info["directory"].as_str());
            // The lists of the program show the name of the moment of the export.
            assert!(summary.title.is_some() && summary.agent_version.as_deref() == info["version"].as_str());
            assert_eq!(summary.turns as usize, facts.turns, "{session:?}");
            assert_eq!(
                summary.spent.iter().map(|spent| spent.usage.input).sum::<u64>(),
                facts.tokens[0],
                "{session:?}"
            );
        }
        let roots = exports.values().filter(|session| session["info"]["parentID"].is_null()).count();
        let formats: HashSet<&str> = sessions.iter().map(|session| session.format).collect();
        assert_eq!(sessions.len(), roots * formats.len(), "{}", folder.display());
    }
}

/// The sessions of one recording, by the scripts that the model followed. `None` if the session went on otherwise.
fn script_of(folder: &Path, id: &str) -> Option<scripted::Facts> {
    let name = folder.file_name().expect("a name").to_string_lossy().into_owned();
    let facts = |list: &[(&str, usize)]| Some(list.iter().map(|(fact, count)| ((*fact).to_owned(), *count)).collect());
    match (name.as_str(), id) {
        // Clients of the server played this one. A prompt, three that were stopped (one with a child), a summary, a prompt.
        ("abort-api", "ses_dfac919ccffeu5nCIiLVR9GYfn") => facts(&[
            ("turn /root completed", 3),
            ("turn /root cancelled", 3),
            ("turn /root/slow_helper cancelled", 1),
            ("call completed", 5),
            ("call cancelled", 4),
            ("tool command completed", 1),
            ("tool bash cancelled", 2),
            ("tool task cancelled", 1),
            ("edge spawn_agent", 1),
        ]),
        // The fork took over the first prompt, and has none of its own.
        ("abort-api", _) => facts(&[("turn /root completed", 1), ("call completed", 2), ("tool command completed", 1)]),
        // The summary replaced the script, so the model said something else.
        ("compaction", _) => None,
        _ => {
            let script: Value =
                serde_json::from_slice(&fs::read(folder.join("script.json")).expect("a script")).expect("is JSON");
            let runs = script["runs"].as_array().expect("runs").iter();
            let runs =
                runs.filter(|run| run["stream_json"].as_array().is_some_and(|lines| lines[0]["sessionID"] == id));
            let mut truth = scripted::Facts::new();
            runs.for_each(|run| {
                scripted::merge(&mut truth, scripted::played(run["prompt"].as_str().expect("a prompt")));
            });
            Some(truth)
        }
    }
}

#[test]
fn recorded_sessions_are_as_their_scripts_tell() {
    let mut score = scripted::Score::default();
    for folder in recorded() {
        for session in trace_import::sessions(&folder).expect("searches") {
            let id = trace_import::summarize(&session).expect("summarizes").id;
            let Some(truth) = script_of(&folder, &id) else { continue };
            let differences = score.add(&truth, &scripted::told(&state(&session)));
            assert!(differences.is_empty(), "{session:?}: {differences:?}");
        }
    }
    eprintln!("against the scripts:\n{}", score.lines().join("\n"));
}

#[test]
fn each_call_has_the_tokens_of_its_message() {
    let mut calls = 0;
    for folder in recorded() {
        let exports = exported(&folder);
        for session in trace_import::sessions(&folder).expect("searches") {
            let id = trace_import::summarize(&session).expect("summarizes").id;
            let info = &exports[&id]["info"];
            let state = state(&session);
            let root = &state["root_thread_id"];
            let mut told: Vec<[u64; 3]> = objects(&state, "inference_calls")
                .iter()
                .filter(|call| call["thread_id"] == *root && !call["usage"].is_null())
                .map(|call| {
                    ["input_tokens", "cached_input_tokens", "output_tokens"].map(|field| count(&call["usage"][field]))
                })
                .collect();
            let began = count(&info["time"]["created"]);
            let messages = exports[&id]["messages"].as_array().expect("messages");
            let is_empty = messages.iter().all(|message| count(&message["info"]["time"]["created"]) < began);
            let mut exported: Vec<[u64; 3]> = messages
                .iter()
                .filter(|message| is_empty || count(&message["info"]["time"]["created"]) >= began)
                .map(|message| &message["info"]["tokens"])
                .filter(|tokens| count(&tokens["input"]) > 0)
                .map(|tokens| {
                    let cached = count(&tokens["cache"]["read"]);
                    [count(&tokens["input"]) + cached, cached, count(&tokens["output"]) + count(&tokens["reasoning"])]
                })
                .collect();
            told.sort_unstable();
            exported.sort_unstable();
            assert_eq!(told, exported, "{session:?}");
            calls += told.len();
            // What the program itself counts for the session, copies included.
            let sum = &info["tokens"];
            if sum.is_object() && began <= count(&messages[0]["info"]["time"]["created"]) {
                let told = told.iter().fold([0; 2], |sum, call| [sum[0] + call[0], sum[1] + call[2]]);
                let counted = count(&sum["input"]) + count(&sum["cache"]["read"]) + count(&sum["cache"]["write"]);
                assert_eq!(told, [counted, count(&sum["output"]) + count(&sum["reasoning"])], "{session:?}");
            }
        }
    }
    eprintln!("{calls} calls have the tokens of their messages");
}

fn count(value: &Value) -> u64 {
    value.as_u64().unwrap_or_default()
}

#[test]
fn a_fork_is_counted_once() {
    for folder in recorded() {
        let sessions = trace_import::sessions(&folder).expect("searches");
        let keys = |session: &SessionRef| -> Vec<String> {
            let summary = trace_import::summarize(session).expect("summarizes");
            summary.spent.iter().filter_map(|spent| spent.key.clone()).collect()
        };
        let by_format = |format: &str| sessions.iter().filter(|session| session.format == format).collect::<Vec<_>>();
        if !folder.ends_with("opencode/abort-api") {
            continue;
        }
        for format in ["opencode", "opencode-export"] {
            let [fork, origin] = by_format(format)[..] else { panic!("{sessions:?}") };
            let (fork, origin) = (keys(fork), keys(origin));
            assert_eq!(fork.len(), 2);
            assert!(fork.iter().all(|key| origin.contains(key)), "{fork:?} {origin:?}");
            let mut once = origin.clone();
            once.sort();
            once.dedup();
            assert_eq!(once.len(), origin.len(), "calls of one session differ");
        }
    }
}

#[test]
fn a_database_and_its_export_are_one_session() {
    for folder in recorded() {
        let mut by_id: BTreeMap<String, Vec<Value>> = BTreeMap::new();
        for session in trace_import::sessions(&folder).expect("searches") {
            let id = trace_import::summarize(&session).expect("summarizes").id;
            by_id.entry(id).or_default().push(state(&session));
        }
        for (id, states) in by_id {
            for pair in states.windows(2) {
                assert_eq!(pair[0], pair[1], "{} {id}", folder.display());
            }
        }
    }
}

/// Writes exports as the folders of files that older versions kept.
fn stored(exports: &BTreeMap<String, Value>, folder: &Path) {
    let write = |path: PathBuf, value: &Value| {
        fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        fs::write(path, serde_json::to_string_pretty(value).expect("is JSON")).expect("writes");
    };
    let id = |value: &Value| value["id"].as_str().expect("an id").to_owned();
    for (session, export) in exports {
        write(folder.join(format!("session/global/{session}.json")), &export["info"]);
        fs::create_dir_all(folder.join("message").join(session)).expect("a folder");
        for message in export["messages"].as_array().expect("messages") {
            let info = &message["info"];
            write(folder.join(format!("message/{session}/{}.json", id(info))), info);
            for part in message["parts"].as_array().expect("parts") {
                write(folder.join(format!("part/{}/{}.json", id(info), id(part))), part);
            }
        }
    }
}

#[test]
fn all_layouts_of_a_session_give_the_same_graph() {
    let mut compared = 0;
    for folder in recorded() {
        let exports = exported(&folder);
        let store = tempfile::tempdir().expect("a folder");
        stored(&exports, &store.path().join("storage"));
        let made = trace_import::sessions(store.path()).expect("lists");
        for session in trace_import::sessions(&folder).expect("searches") {
            let id = trace_import::summarize(&session).expect("summarizes").id;
            let made = made.iter().find(|made| made.id.as_deref() == Some(&*id)).expect("the session is in the store");
            assert_eq!(state(made), state(&session), "{session:?}");
            compared += 1;
        }
    }
    eprintln!("{compared} sessions are the same in folders of files");
}

const ROOT: &str = "ses_dfadb9d5cffeqW0Wu7CWHLUkLX";
const CHILD: &str = "ses_dfadb4999ffey7pbCJODOtt08U";

/// Writes a session as `opencode export` prints it.
fn export(folder: &Path, id: &str, parent: Option<&str>, messages: &[Value]) -> PathBuf {
    let mut info = json!({"id": id, "directory": "/repo", "title": "A session", "version": "1.18.33",
                          "time": {"created": 1000, "updated": 9000}});
    if let Some(parent) = parent {
        info["parentID"] = json!(parent);
    }
    let path = folder.join(format!("export-{id}.json"));
    let whole = serde_json::to_string_pretty(&json!({"info": info, "messages": messages})).expect("is JSON");
    fs::write(&path, whole).expect("writes");
    path
}

fn prompt(id: &str, at: u64, text: &str) -> Value {
    json!({"info": {"id": id, "role": "user", "time": {"created": at}},
           "parts": [{"id": format!("{id}-p"), "type": "text", "text": text}]})
}

/// An answer. `more` has members that replace those of the message.
fn answer(id: &str, parent: &str, at: u64, more: &Value, parts: &[Value]) -> Value {
    let mut info = json!({"id": id, "role": "assistant", "parentID": parent, "modelID": "m", "providerID": "p",
        "time": {"created": at, "completed": at + 500}, "finish": "stop",
        "tokens": {"input": 10, "output": 2, "reasoning": 1, "cache": {"read": 5, "write": 3}}});
    let info_map = info.as_object_mut().expect("an object");
    info_map.extend(more.as_object().expect("an object").clone());
    info_map.retain(|_, value| !value.is_null());
    let mut all = vec![json!({"id": format!("{id}-p0"), "type": "step-start"})];
    all.extend(parts.iter().cloned());
    json!({"info": info, "parts": all})
}

fn text(id: &str, text: &str) -> Value {
    json!({"id": id, "type": "text", "text": text})
}

fn tool(id: &str, name: &str, call: &str, state: &Value) -> Value {
    json!({"id": id, "type": "tool", "tool": name, "callID": call, "state": state})
}

fn only(path: &Path) -> SessionRef {
    let sessions = trace_import::sessions(path).expect("reads");
    assert_eq!(sessions.len(), 1, "{sessions:?}");
    sessions[0].clone()
}

/// Statuses of turns, model calls and tool calls.
fn outcome(state: &Value) -> [String; 3] {
    ["codex_turns", "inference_calls", "tool_calls"].map(|kind| statuses(state, kind).join(" "))
}

#[test]
fn a_program_that_was_killed_leaves_calls_that_run() {
    let folder = tempfile::tempdir().expect("a directory");
    let running = json!({"status": "running", "input": {"command": "sleep 30"}, "time": {"start": 2200}});
    let killed = json!({"time": {"created": 2000}, "finish": null, "tokens": null});
    let mut messages = vec![
        prompt("msg_1", 1500, "Go."),
        answer("msg_2", "msg_1", 2000, &killed, &[tool("p1", "bash", "c1", &running)]),
    ];
    let path = export(folder.path(), ROOT, None, &messages);
    let state = state(&only(&path));
    assert_eq!(outcome(&state), ["running", "completed", "running"]);
    assert_eq!(statuses(&state, "terminal_operations"), ["running"]);
    let noted = codes(&only(&path));
    for code in ["turn-end-unknown", "outcome-unknown", "no-usage"] {
        assert!(noted.contains(&code.to_owned()), "{code}: {noted:?}");
    }
    // Another process went on. The next request has the call without an output.
    messages
        .extend([prompt("msg_3", 5000, "More."), answer("msg_4", "msg_3", 5100, &json!({}), &[text("p2", "Yes.")])]);
    let path = export(folder.path(), ROOT, None, &messages);
    assert_eq!(outcome(&imported::state(&only(&path))), ["aborted completed", "completed completed", "running"]);
    // A request that nobody answered runs for ever, too.
    let messages = [prompt("msg_1", 1500, "Go."), answer("msg_2", "msg_1", 2000, &killed, &[])];
    let path = export(folder.path(), ROOT, None, &messages);
    assert_eq!(outcome(&imported::state(&only(&path))), ["running", "running", ""]);
}

#[test]
fn records_of_unknown_types_are_named() {
    let folder = tempfile::tempdir().expect("a directory");
    let mut judge = prompt("msg_3", 3000, "x");
    judge["info"]["role"] = json!("judge");
    let parts = [text("t", "Done."), json!({"id": "u", "type": "hologram"})];
    let messages = [prompt("msg_1", 1000, "Go."), answer("msg_2", "msg_1", 2000, &json!({}), &parts), judge];
    let path = export(folder.path(), ROOT, None, &messages);
    assert_eq!(unknown_types(&only(&path)), "\"hologram\" (1), \"judge\" (1).");
}

#[test]
fn calls_end_as_their_metadata_tell() {
    let folder = tempfile::tempdir().expect("a directory");
    let state_of = |exit: Value, output: &str| {
        json!({"status": "completed", "input": {"command": "x"}, "output": output, "metadata": {"exit": exit},
               "time": {"start": 2100, "end": 2200}})
    };
    let invalid = json!({"status": "completed", "input": {"tool": "nope", "error": "no"}, "output": "no",
                         "time": {"start": 2100, "end": 2200}});
    let error =
        json!({"status": "error", "input": {}, "error": "File not found", "time": {"start": 2100, "end": 2200}});
    let parts = [
        tool("p1", "bash", "c1", &state_of(json!(0), "fine")),
        tool("p2", "bash", "c2", &state_of(json!(3), "")),
        tool("p3", "bash", "c3", &state_of(Value::Null, "<shell_metadata>\ntimeout\n</shell_metadata>")),
        tool("p4", "invalid", "c4", &invalid),
        tool("p5", "read", "c5", &error),
        // The same id again, as after a retry.
        tool("p6", "read", "c5", &error),
        json!({"id": "p7", "type": "tool", "tool": "read", "state": {"status": "pending", "input": {}}}),
        json!({"id": "p8", "type": "surprise"}),
    ];
    let messages = [
        prompt("msg_1", 1500, "Go."),
        answer("msg_2", "msg_1", 2000, &json!({"finish": "tool-calls"}), &parts),
        answer("msg_3", "msg_1", 2600, &json!({}), &[text("p9", "Done.")]),
    ];
    let path = export(folder.path(), ROOT, None, &messages);
    let session = only(&path);
    let state = state(&session);
    assert_eq!(
        outcome(&state),
        ["completed", "completed completed", "completed failed failed failed failed failed running"]
    );
    let is_named = |call: &&Value| call["summary"]["label"] == "nope";
    assert_eq!(objects(&state, "tool_calls").into_iter().filter(is_named).count(), 1, "the tool that does not exist");
    let exits: Vec<_> =
        objects(&state, "terminal_operations").iter().map(|end| end["result"]["exit_code"].clone()).collect();
    assert_eq!(exits.len(), 2, "{exits:?}");
    let noted = codes(&session);
    for code in ["call-id-repeated", "call-id-made", "unknown-record", "no-tool-start"] {
        assert!(noted.contains(&code.to_owned()), "{code}: {noted:?}");
    }
    let usage = trace_import::summarize(&session).expect("summarizes").spent[0].usage;
    assert_eq!((usage.input, usage.cached_input, usage.cache_write_input, usage.output), (18, 5, 3, 3));
}

#[test]
fn an_answer_that_failed_fails_its_turn() {
    let folder = tempfile::tempdir().expect("a directory");
    let failed = json!({"finish": null, "tokens": {"input": 0, "output": 0, "reasoning": 0, "cache": {"read": 0, "write": 0}},
        "error": {"name": "APIError", "data": {"message": "overloaded", "statusCode": 529, "isRetryable": true}}});
    let aborted = json!({"finish": null, "error": {"name": "MessageAbortedError", "data": {"message": "Aborted"}}});
    let messages = [
        prompt("msg_1", 1500, "Go."),
        answer("msg_2", "msg_1", 2000, &failed, &[]),
        prompt("msg_3", 3000, "Again."),
        answer("msg_4", "msg_3", 3100, &aborted, &[text("p1", "I be")]),
        // A command that the user typed asks no model.
        prompt("msg_5", 4000, "!ls"),
        json!({"info": {"id": "msg_6", "role": "assistant", "parentID": "msg_5", "modelID": "m", "providerID": "p",
                        "time": {"created": 4100, "completed": 4200}},
               "parts": [tool("p2", "bash", "c1", &json!({"status": "completed", "input": {"command": "ls"}, "output": "a",
                                                           "metadata": {"exit": 0}, "time": {"start": 4100, "end": 4200}}))]}),
    ];
    let path = export(folder.path(), ROOT, None, &messages);
    let session = only(&path);
    assert_eq!(outcome(&state(&session)), ["cancelled completed failed", "cancelled failed", "completed"]);
    let bundle = trace_import::open(&session).expect("imports");
    let log = String::from_utf8_lossy(bundle.log().expect("a log").as_bytes()).into_owned();
    assert!(log.contains("HTTP 529: overloaded"), "{log}");
}

#[test]
fn a_child_that_gets_two_tasks_is_one_thread() {
    let folder = tempfile::tempdir().expect("a directory");
    let task = |start: u64, end: u64| {
        json!({"status": "completed", "input": {"description": "help", "prompt": "Help.", "subagent_type": "general"},
               "output": "done", "metadata": {"sessionId": CHILD}, "time": {"start": start, "end": end}})
    };
    let calls = json!({"finish": "tool-calls", "time": {"created": 1600, "completed": 3000}});
    let again = json!({"finish": "tool-calls", "time": {"created": 3100, "completed": 5000}});
    let messages = [
        prompt("msg_1", 1500, "Go."),
        answer("msg_2", "msg_1", 1600, &calls, &[tool("p1", "task", "c1", &task(1700, 2900))]),
        answer("msg_3", "msg_1", 3100, &again, &[tool("p2", "task", "c2", &task(3200, 4900))]),
        answer("msg_4", "msg_1", 5100, &json!({}), &[text("p3", "Done.")]),
    ];
    let path = export(folder.path(), ROOT, None, &messages);
    assert!(codes(&only(&path)).contains(&"child-missing".to_owned()));
    let child = [
        prompt("msg_a", 1800, "Help."),
        answer("msg_b", "msg_a", 1900, &json!({}), &[text("q1", "First.")]),
        prompt("msg_c", 3300, "Help."),
        answer("msg_d", "msg_c", 3400, &json!({}), &[text("q2", "Second.")]),
    ];
    let child = export(folder.path(), CHILD, Some(ROOT), &child);
    assert!(trace_import::sessions(&child).expect("reads").is_empty(), "a child is no session of its own");
    let state = state(&only(&path));
    assert_eq!(outcome(&state)[0], "completed completed completed");
    // The thread began with one task and answered two.
    assert_eq!((objects(&state, "threads").len(), objects(&state, "interaction_edges").len()), (2, 3));
    assert!(objects(&state, "threads").iter().any(|thread| thread["agent_path"] == "/root/help"));
}

#[test]
fn what_was_copied_from_another_session_is_history_only() {
    let folder = tempfile::tempdir().expect("a directory");
    let messages = [
        prompt("msg_1", 500, "Old."),
        answer("msg_2", "msg_1", 600, &json!({}), &[text("p1", "Known.")]),
        prompt("msg_3", 1500, "New."),
        answer("msg_4", "msg_3", 1600, &json!({}), &[text("p2", "Yes.")]),
    ];
    let path = export(folder.path(), ROOT, None, &messages);
    let session = only(&path);
    let state = state(&session);
    assert_eq!(outcome(&state), ["completed", "completed", ""]);
    let seen = objects(&state, "inference_calls")[0]["request_item_ids"].as_array().expect("a list").len();
    assert_eq!(seen, 3);
    assert!(codes(&session).contains(&"copied-record".to_owned()));
}

/// A database with the tables that matter.
fn database(path: &Path) -> Connection {
    let connection = Connection::open(path).expect("opens");
    connection
        .execute_batch(
            "CREATE TABLE `session` (`id` text PRIMARY KEY, `parent_id` text, `directory` text, `title` text,
                 `version` text, `revert` text, `time_created` integer);
             CREATE TABLE `message` (`id` text PRIMARY KEY, `session_id` text, `time_created` integer, `data` text);
             CREATE TABLE `part` (`id` text PRIMARY KEY, `message_id` text, `session_id` text, `data` text);",
        )
        .expect("makes tables");
    connection
}

fn insert(connection: &Connection, session: &str, parent: Option<&str>, messages: &[Value]) {
    let sql = "INSERT INTO session VALUES (?1, ?2, '/repo', 'A session', '1.18.33', NULL, 1000)";
    connection.execute(sql, (session, parent)).expect("inserts");
    for message in messages {
        let mut info = message["info"].clone();
        let id = info["id"].as_str().expect("an id").to_owned();
        info.as_object_mut().expect("an object").remove("id");
        let sql = "INSERT INTO message VALUES (?1, ?2, 0, ?3)";
        connection.execute(sql, (&id, session, info.to_string())).expect("inserts");
        for part in message["parts"].as_array().expect("parts") {
            let sql = "INSERT INTO part VALUES (?1, ?2, ?3, ?4)";
            connection.execute(sql, (part["id"].as_str(), &id, session, part.to_string())).expect("inserts");
        }
    }
}

fn listing(folder: &Path) -> Vec<(String, u64)> {
    let entry = |entry: std::io::Result<fs::DirEntry>| {
        let entry = entry.expect("an entry");
        (entry.file_name().to_string_lossy().into_owned(), entry.metadata().expect("metadata").len())
    };
    let mut files: Vec<_> = folder.read_dir().expect("lists").map(entry).collect();
    files.sort();
    files
}

#[test]
fn a_database_in_use_is_read_with_its_log_and_left_alone() {
    let folder = tempfile::tempdir().expect("a directory");
    let path = folder.path().join("opencode.db");
    let connection = database(&path);
    connection.pragma_update(None, "journal_mode", "WAL").expect("sets");
    let turn = [prompt("msg_1", 1500, "Go."), answer("msg_2", "msg_1", 1600, &json!({}), &[text("p1", "Yes.")])];
    insert(&connection, ROOT, None, &turn);
    let before = listing(folder.path());
    assert!(before.iter().any(|(name, length)| name == "opencode.db-wal" && *length > 0), "{before:?}");
    let files = ["opencode.db", "opencode.db-wal", "opencode.db-shm"];
    assert_eq!(outcome(&state(&only(&path))), ["completed", "completed", ""]);
    assert_eq!(listing(folder.path()), before);
    // A program that was killed leaves the log and its index, and a backup may lack the index.
    for names in [&files[..], &files[..2]] {
        let left = tempfile::tempdir().expect("a directory");
        for name in names {
            fs::copy(folder.path().join(name), left.path().join(name)).expect("copies");
        }
        let before = listing(left.path());
        let contents = || names.iter().map(|name| fs::read(left.path().join(name)).expect("reads")).collect::<Vec<_>>();
        let was = contents();
        assert_eq!(outcome(&state(&only(&left.path().join(files[0])))), ["completed", "completed", ""], "{names:?}");
        assert_eq!(listing(left.path()), before);
        assert!(contents() == was, "the files are the same to the byte");
    }
    // What is written next is seen.
    let more = [prompt("msg_3", 1700, "More."), answer("msg_4", "msg_3", 1800, &json!({}), &[text("p2", "Yes.")])];
    insert(&connection, "ses_other", None, &more);
    assert_eq!(trace_import::sessions(&path).expect("lists").len(), 2);
    connection.execute("DELETE FROM session WHERE id = 'ses_other'", ()).expect("deletes");
    // A database that nobody uses is read in place.
    drop(connection);
    let before = listing(folder.path());
    assert_eq!(before.len(), 1, "{before:?}");
    assert_eq!(outcome(&state(&only(&path))), ["completed", "completed", ""]);
    assert_eq!(listing(folder.path()), before);
}

#[test]
fn a_store_of_several_sessions_wants_a_name() {
    let folder = tempfile::tempdir().expect("a directory");
    let path = folder.path().join("opencode.db");
    let connection = database(&path);
    let turn = [prompt("msg_1", 1500, "Go."), answer("msg_2", "msg_1", 1600, &json!({}), &[text("p1", "Yes.")])];
    insert(&connection, ROOT, None, &turn);
    let unnamed = SessionRef { format: "opencode", path: path.clone(), id: None };
    trace_import::open(&unnamed).expect("the only session is meant");
    insert(&connection, CHILD, Some(ROOT), &[]);
    trace_import::open(&unnamed).expect("a child is no session of its own");
    insert(&connection, "ses_other", None, &[]);
    insert(&connection, "ses_orphan", Some("ses_gone"), &[]);
    match trace_import::open(&unnamed) {
        Err(ImportError::SeveralSessions { count: 3, .. }) => {}
        other => panic!("{other:?}"),
    }
    let missing = SessionRef { id: Some("ses_none".to_owned()), ..unnamed.clone() };
    assert!(matches!(trace_import::open(&missing), Err(ImportError::NoSuchSession { .. })));
    // A child that no call leads to is shown all the same.
    let named = SessionRef { id: Some(ROOT.to_owned()), ..unnamed };
    assert_eq!(objects(&state(&named), "threads").len(), 2);
    assert!(codes(&named).contains(&"child-unlinked".to_owned()));
}

#[test]
fn files_of_sessions_that_moved_into_the_database_are_not_listed_twice() {
    let Some(stored) = recorded().into_iter().find(|folder| folder.join("storage").is_dir()) else { return };
    let folder = tempfile::tempdir().expect("a directory");
    copy(&stored.join("storage"), &folder.path().join("storage"));
    let session = only(folder.path());
    assert_eq!(session.format, "opencode-storage");
    let file = folder.path().join(format!("storage/session/global/{}.json", session.id.as_deref().expect("an id")));
    assert_eq!(only(&file), session, "the file of a session is the session");
    insert(&database(&folder.path().join("opencode.db")), session.id.as_deref().expect("an id"), None, &[]);
    assert_eq!(only(folder.path()).format, "opencode");
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("a folder");
    for entry in from.read_dir().expect("lists") {
        let entry = entry.expect("an entry");
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).expect("copies");
        }
    }
}

/// A session with most of what a store can have, as an export and as a database.
fn rich(folder: &TempDir) -> (PathBuf, PathBuf) {
    let bash = json!({"status": "completed", "input": {"command": "x"}, "output": "y", "metadata": {"exit": 1},
                      "time": {"start": 2100, "end": 2200}});
    let task = json!({"status": "running", "input": {"prompt": "Help."}, "metadata": {"sessionId": CHILD}, "time": {"start": 2150}});
    let thought =
        json!({"id": "p3", "type": "reasoning", "text": "Hm.", "metadata": {"anthropic": {"signature": "abc"}}});
    let messages = [
        prompt("msg_1", 1500, "Go."),
        answer(
            "msg_2",
            "msg_1",
            2000,
            &json!({"finish": "tool-calls"}),
            &[thought, tool("p4", "bash", "c1", &bash), tool("p5", "task", "c2", &task)],
        ),
        json!({"info": {"id": "msg_3", "role": "user", "time": {"created": 3000}}, "parts": [{"id": "p6", "type": "compaction"}]}),
        answer("msg_4", "msg_3", 3100, &json!({"summary": true}), &[text("p7", "Summary.")]),
    ];
    let child = [prompt("msg_a", 2300, "Help.")];
    export(folder.path(), CHILD, Some(ROOT), &child);
    let database_path = folder.path().join("opencode.db");
    let connection = database(&database_path);
    insert(&connection, ROOT, None, &messages);
    insert(&connection, CHILD, Some(ROOT), &child);
    (export(folder.path(), ROOT, None, &messages), database_path)
}

#[test]
fn the_rich_session_is_whole() {
    let folder = tempfile::tempdir().expect("a directory");
    let (export, database) = rich(&folder);
    for path in [export, database] {
        let state = state(&only(&path));
        assert_eq!(outcome(&state), ["completed completed running", "completed completed", "failed running"]);
        assert_eq!(objects(&state, "compactions").len(), 1);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn damaged_files_give_an_answer(
        flips in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..12),
        cut in any::<prop::sample::Index>(),
        is_cut in any::<bool>(),
    ) {
        let folder = tempfile::tempdir().expect("a directory");
        let (export, database) = rich(&folder);
        for (format, path) in [("opencode-export", export), ("opencode", database)] {
            let mut bytes = fs::read(&path).expect("reads");
            for (at, byte) in &flips {
                let at = at.index(bytes.len());
                bytes[at] = *byte;
            }
            if is_cut {
                bytes.truncate(cut.index(bytes.len()));
            }
            fs::write(&path, bytes).expect("writes");
            let _ = trace_import::sessions(&path);
            for id in [None, Some(ROOT.to_owned())] {
                let session = SessionRef { format, path: path.clone(), id };
                if let Ok(bundle) = trace_import::open(&session) {
                    let strict = trace_reducer::Options { strict: true, ..trace_reducer::Options::default() };
                    prop_assert!(trace_reducer::reduce(&bundle, strict).is_ok());
                }
                let _ = trace_import::summarize(&session);
            }
        }
    }
}
