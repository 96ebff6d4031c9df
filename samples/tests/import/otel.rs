//! Traces of OpenTelemetry as sessions.

use std::path::{Path, PathBuf};

use crate::{imported, scripted};
use proptest::prelude::*;
use serde_json::Value;
use trace_import::{ImportError, SessionRef, Summary, open, recognize, sessions, summarize};
use trace_recorder::Bundle;
use trace_reducer::{Options, reduce, state_json};

/// The only session of a file.
fn only(path: &Path) -> (Value, Summary, Bundle) {
    let found = sessions(path).expect("reads");
    assert_eq!(found.len(), 1, "{found:?}");
    let bundle = open(&found[0]).expect("imports");
    (imported::state(&found[0]), summarize(&found[0]).expect("reads"), bundle)
}

/// What a graph has, as short lines: threads with their turns, calls and tool calls in the order of their starts.
fn outline(state: &Value) -> Vec<String> {
    let list = |name: &str| -> Vec<Value> {
        let mut list: Vec<Value> = state[name].as_object().expect(name).values().cloned().collect();
        list.sort_by_key(|object| object["execution"]["started_seq"].as_u64());
        list
    };
    let text = |value: &Value| value.as_str().unwrap_or("-").to_owned();
    let mut lines = Vec::new();
    for thread in list("threads") {
        let of = |object: &Value| object["thread_id"] == thread["thread_id"];
        lines.push(format!("{} {}", text(&thread["agent_path"]), text(&thread["execution"]["status"])));
        for turn in list("codex_turns").iter().filter(|turn| of(turn)) {
            lines.push(format!("  turn {}", text(&turn["execution"]["status"])));
        }
        for call in list("inference_calls").iter().filter(|call| of(call)) {
            let count = |name: &str| call[name].as_array().map_or(0, Vec::len);
            let usage = &call["usage"];
            lines.push(format!(
                "  call {} {} in {} out {} tokens {} {}",
                text(&call["model"]),
                text(&call["execution"]["status"]),
                count("request_item_ids"),
                count("response_item_ids"),
                usage["input_tokens"],
                usage["output_tokens"],
            ));
        }
        for tool in list("tool_calls").iter().filter(|tool| of(tool)) {
            let count = |name: &str| tool[name].as_array().map_or(0, Vec::len);
            lines.push(format!(
                "  tool {} {} items {}+{}",
                text(&tool["summary"]["label"]),
                text(&tool["execution"]["status"]),
                count("model_visible_call_item_ids"),
                count("model_visible_output_item_ids"),
            ));
        }
    }
    for edge in list("interaction_edges") {
        lines.push(format!("edge {}", text(&edge["kind"])));
    }
    lines
}

fn recorded(name: &str) -> Option<PathBuf> {
    Some(
        trace_needs::imports("sessions of OpenTelemetry are not imported")?
            .join("otel-openai-agents")
            .join(name)
            .join("traces.jsonl"),
    )
}

fn fixture(name: &str) -> PathBuf {
    trace_needs::repository().join("samples/tests/import/fixtures/otel").join(name)
}

fn codes(bundle: &Bundle) -> Vec<(String, u64)> {
    let record = bundle.import().expect("it is imported");
    record.notes.iter().map(|note| (note.code.clone(), note.count)).collect()
}

/// A history in which two calls have one id, and an answer that uses the id for a third one.
#[test]
fn calls_of_one_id_are_different_calls() {
    let call = |city: &str| {
        serde_json::json!({"role": "assistant", "parts": [
            {"type": "tool_call", "id": "c1", "name": "weather", "arguments": {"city": city}},
        ]})
    };
    let result =
        serde_json::json!({"role": "tool", "parts": [{"type": "tool_call_response", "id": "c1", "response": "sun"}]});
    let user = serde_json::json!({"role": "user", "parts": [{"type": "text", "content": "Go."}]});
    let input = serde_json::json!([user, call("Rome"), result, call("Oslo"), result]).to_string();
    let output = serde_json::json!([call("Bonn")]).to_string();
    let text = |key: &str, value: &str| serde_json::json!({"key": key, "value": {"stringValue": value}});
    let span = serde_json::json!({
        "traceId": "0123456789abcdef0123456789abcdef", "spanId": "0123456789abcdef", "name": "chat m",
        "startTimeUnixNano": "1795400001000000000", "endTimeUnixNano": "1795400002000000000",
        "attributes": [
            text("gen_ai.operation.name", "chat"), text("gen_ai.request.model", "m"),
            text("gen_ai.input.messages", &input), text("gen_ai.output.messages", &output),
        ],
    });
    let trace = serde_json::json!({"resourceSpans": [{"scopeSpans": [{"spans": [span]}]}]});
    let folder = tempfile::tempdir().expect("a directory");
    let path = folder.path().join("traces.jsonl");
    std::fs::write(&path, format!("{trace}\n")).expect("writes");
    let (state, ..) = only(&path);
    let items: Vec<&Value> = state["conversation_items"].as_object().expect("items").values().collect();
    let calls: Vec<&Value> =
        items.iter().filter(|item| item["kind"] == "function_call").map(|item| &item["call_id"]).collect();
    assert_eq!(calls.len(), 3, "{items:#?}");
    assert!((0..3).all(|a| (0..a).all(|b| calls[a] != calls[b])), "{calls:?}");
    let answered =
        |call: &Value| items.iter().any(|item| item["kind"] == "function_call_output" && item["call_id"] == *call);
    assert_eq!(calls.iter().filter(|call| answered(call)).count(), 2, "{items:#?}");
}

#[test]
fn recorded_runs_have_their_turns_calls_tools_and_agents() {
    let expected: [(&str, &[&str]); 4] = [
        (
            "tools",
            &[
                "/root completed",
                "  turn completed",
                "  turn completed",
                "  turn completed",
                "  call gpt-4o completed in 1 out 2 tokens 314 9",
                "  call gpt-4o completed in 4 out 1 tokens 400 9",
                "  call gpt-4o completed in 6 out 1 tokens 461 9",
                "  tool get_weather completed items 1+1",
                "  tool broken failed items 1+1",
            ],
        ),
        (
            "agent-as-tool",
            &[
                "/root completed",
                "  turn completed",
                "  turn completed",
                "  call gpt-4o completed in 1 out 1 tokens 327 9",
                "  call gpt-4o completed in 3 out 1 tokens 410 9",
                "  tool ask_helper completed items 1+1",
                "/root/helper completed",
                "  turn completed",
                "  turn completed",
                "  call gpt-4o completed in 1 out 1 tokens 108 9",
                "  call gpt-4o completed in 3 out 1 tokens 161 9",
                "  tool get_weather completed items 1+1",
                "edge spawn_agent",
            ],
        ),
        (
            "model-error",
            &[
                "/root failed",
                "  turn completed",
                "  turn failed",
                "  call gpt-4o completed in 1 out 1 tokens 294 9",
                "  call  failed in 0 out 0 tokens null null",
                "  tool get_weather completed items 1+0",
            ],
        ),
        (
            "chat-ok",
            &[
                "/root completed",
                "  turn completed",
                "  call gpt-4o completed in 1 out 1 tokens 71 7",
                "  call gpt-4o completed in 3 out 1 tokens 122 7",
                "  tool get_weather completed items 1+1",
            ],
        ),
    ];
    for (name, expected) in expected {
        let Some(path) = recorded(name) else { return };
        let (state, summary, _) = only(&path);
        assert_eq!(outline(&state), expected, "{name}");
        agrees(&summary, &state);
    }
}

/// Checks that a summary has the numbers of a graph.
fn agrees(summary: &Summary, state: &Value) {
    let count = |name: &str| state[name].as_object().expect(name).len() as u64;
    assert_eq!(summary.threads, count("threads"));
    assert_eq!(summary.turns, count("codex_turns"));
    assert_eq!(summary.tool_calls, count("tool_calls"));
    let calls = state["inference_calls"].as_object().expect("calls").values();
    let tokens = |name: &str| calls.clone().filter_map(|call| call["usage"][name].as_u64()).sum::<u64>();
    assert_eq!(summary.spent.iter().map(|spent| spent.usage.input).sum::<u64>(), tokens("input_tokens"));
    assert_eq!(summary.spent.iter().map(|spent| spent.usage.output).sum::<u64>(), tokens("output_tokens"));
}

#[test]
fn every_recorded_session_is_one_that_the_peer_accepts() {
    let Some(folder) = trace_needs::imports("sessions of OpenTelemetry are not imported") else { return };
    let found = sessions(&folder.join("otel-openai-agents")).expect("reads");
    assert!(found.len() >= 4, "{found:?}");
    for session in found {
        let state = imported::state(&session);
        agrees(&summarize(&session).expect("reads"), &state);
    }
}

/// Returns the number of requests and of tools in the spans of a file, the failed tools, and the sums of the tokens. It goes by the names of
/// the attributes alone.
fn counted(text: &str) -> [u64; 5] {
    let mut counts = [0; 5];
    for line in text.lines() {
        let request: Value = serde_json::from_str(line).expect("is JSON");
        let list = |value: &Value, name: &str| value[name].as_array().cloned().unwrap_or_default();
        let scopes = list(&request, "resourceSpans").into_iter().flat_map(|resource| list(&resource, "scopeSpans"));
        for span in scopes.flat_map(|scope| list(&scope, "spans")) {
            let attribute = |names: &[&str]| {
                let named = |attribute: &&Value| names.iter().any(|name| attribute["key"] == *name);
                let found = span["attributes"].as_array().and_then(|list| list.iter().find(named));
                found.map(|found| found["value"].clone()).unwrap_or_default()
            };
            let kind = attribute(&["openinference.span.kind", "gen_ai.operation.name"])["stringValue"].clone();
            let is_failed = span["status"]["code"] == 2 || span["status"]["code"] == "STATUS_CODE_ERROR";
            match kind.as_str() {
                Some("LLM" | "chat") => counts[0] += 1,
                Some("TOOL" | "execute_tool") => {
                    counts[1] += 1;
                    counts[2] += u64::from(is_failed);
                }
                _ => continue,
            }
            let tokens = |names: &[&str]| {
                let value = attribute(names)["intValue"].clone();
                value.as_u64().or_else(|| value.as_str()?.parse().ok()).unwrap_or(0)
            };
            counts[3] += tokens(&["llm.token_count.prompt", "gen_ai.usage.input_tokens"]);
            counts[4] += tokens(&["llm.token_count.completion", "gen_ai.usage.output_tokens"]);
        }
    }
    counts
}

#[test]
fn recorded_runs_have_the_counts_of_their_spans() {
    for name in ["tools", "agent-as-tool", "model-error"] {
        let Some(path) = recorded(name) else { return };
        let (state, ..) = only(&path);
        let calls = imported::objects(&state, "inference_calls").len() as u64;
        let tools = imported::objects(&state, "tool_calls").len() as u64;
        let failed =
            imported::statuses(&state, "tool_calls").iter().filter(|status| *status == "failed").count() as u64;
        let [input, _, output] = imported::tokens(&state);
        let text = std::fs::read_to_string(&path).expect("reads");
        assert_eq!([calls, tools, failed, input, output], counted(&text), "{name}");
    }
}

/// Collects the scripts that the models followed: the prompts in the texts of a value, and of the JSON in them.
fn scripts(value: &Value, found: &mut Vec<String>) {
    match value {
        Value::String(text) if text.starts_with("RUN [[") => found.push(text.clone()),
        Value::String(text) => {
            if let Ok(value @ (Value::Array(_) | Value::Object(_))) = serde_json::from_str(text) {
                scripts(&value, found);
            }
        }
        Value::Array(values) => values.iter().for_each(|value| scripts(value, found)),
        Value::Object(members) => members.values().for_each(|value| scripts(value, found)),
        _ => {}
    }
}

/// Plays the script of an agent. A run of openai-agents has a turn for each answer.
fn play(path: &str, script: &str, has_turns: bool, facts: &mut scripted::Facts) {
    let steps: Vec<Vec<Value>> = serde_json::from_str(script.trim_start_matches("RUN ")).expect("a script");
    let mut add = |fact: String| *facts.entry(fact).or_default() += 1;
    let mut children = Vec::new();
    for step in &steps {
        let has_failed = step.iter().any(|part| part["status"].as_u64().is_some_and(|status| status >= 400));
        let status = if has_failed { "failed" } else { "completed" };
        add(format!("call {status}"));
        if has_turns {
            add(format!("turn {path} {status}"));
        }
        for (name, args) in step.iter().filter_map(|part| Some((part["call"].as_str()?, &part["args"]))) {
            // The script of the session defines a tool that always fails.
            add(format!("tool {name} {}", if name == "broken" { "failed" } else { "completed" }));
            if name == "ask_helper" {
                add("edge spawn_agent".to_owned());
                children.push(args["input"].as_str().expect("a task"));
            }
        }
    }
    if !has_turns {
        add(format!("turn {path} completed"));
    }
    children.into_iter().for_each(|script| play(&format!("{path}/helper"), script, has_turns, facts));
}

#[test]
fn recorded_runs_are_as_their_scripts_tell() {
    let mut score = scripted::Score::default();
    for name in ["tools", "agent-as-tool", "model-error", "chat-ok"] {
        let Some(path) = recorded(name) else { return };
        let mut prompts = Vec::new();
        for line in std::fs::read_to_string(&path).expect("reads").lines() {
            scripts(&serde_json::from_str(line).expect("is JSON"), &mut prompts);
        }
        // The script of a child is a part of its parent's.
        let script = prompts.iter().max_by_key(|prompt| prompt.len()).expect("a prompt");
        let mut truth = scripted::Facts::new();
        play("/root", script, name != "chat-ok", &mut truth);
        let differences = score.add(&truth, &scripted::told(&only(&path).0));
        assert!(differences.is_empty(), "{name}: {differences:?}");
    }
}

#[test]
fn a_hand_over_goes_to_an_agent_beside_the_first_one() {
    let (state, summary, bundle) = only(&fixture("handoff.jsonl"));
    assert_eq!(
        outline(&state),
        [
            "/root completed",
            "  turn completed",
            "  call gpt-x completed in 1 out 1 tokens 100 5",
            "  tool transfer_to_specialist completed items 2+1",
            "/root/specialist completed",
            "  turn completed",
            "  turn completed",
            "  call gpt-x completed in 3 out 1 tokens 120 6",
            "  call gpt-x completed in 5 out 1 tokens 150 7",
            "  tool get_weather completed items 1+1",
        ]
    );
    agrees(&summary, &state);
    let expected = [("no-system-prompt", 1), ("no-tool-definitions", 1), ("item-id-made", 5), ("thread-id-made", 1)];
    assert_eq!(codes(&bundle), expected.map(|(code, count)| (code.to_owned(), count)));
}

#[test]
fn a_conversation_of_several_traces_is_one_session_in_any_order_of_its_spans() {
    let (state, summary, bundle) = only(&fixture("conversation.jsonl"));
    assert_eq!(
        outline(&state),
        [
            "/root failed",
            "  turn completed",
            "  turn failed",
            "  call m-1 completed in 1 out 2 tokens 50 10",
            "  call m-1 completed in 4 out 1 tokens 80 4",
            "  call m-1 completed in 6 out 1 tokens 90 3",
            "  call m-1 failed in 0 out 0 tokens null null",
            "  tool delegate completed items 1+1",
            "  tool delete failed items 1+0",
            "/root/counter completed",
            "  turn completed",
            "  call m-2 completed in 0 out 0 tokens 7 2",
            "edge spawn_agent",
        ]
    );
    agrees(&summary, &state);
    assert_eq!((summary.id.as_str(), summary.outcome.as_deref()), ("conv-7", Some("failed")));
    assert_eq!((summary.model.as_deref(), summary.agent_version.as_deref()), (Some("m-1"), Some("3.1")));
    assert_eq!((summary.started_at, summary.ended_at), (Some(1_795_400_000_000), Some(1_795_400_001_400)));
    let log = std::str::from_utf8(bundle.log().expect("a log").as_bytes()).expect("UTF-8");
    assert!(log.contains(r#""error":"the model did not answer""#), "the exception tells the error");
    let turns = state["codex_turns"].as_object().expect("turns");
    assert!(turns.contains_key("0000000000000004"), "the id of a turn is that of the span: {turns:?}");
}

#[test]
fn a_file_of_several_sessions_wants_the_name_of_one() {
    let path = fixture("older.json");
    let found = sessions(&path).expect("reads");
    let ids: Vec<_> = found.iter().map(|session| session.id.as_deref()).collect();
    assert_eq!(ids, [Some("eeeeeeeeeeeeeeeeeeeeeeeeeeeeeeee"), Some("ffffffffffffffffffffffffffffffff")]);
    let outlines: Vec<_> = found.iter().map(|session| outline(&imported::state(session))).collect();
    assert_eq!(
        outlines[0],
        [
            "/root completed",
            "  turn completed",
            "  call gpt-3 completed in 2 out 1 tokens 11 2",
            "  call gpt-3 completed in 4 out 1 tokens 15 1",
            "  tool look completed items 1+1",
        ]
    );
    assert_eq!(outlines[1], ["/root completed", "  turn failed", "  call gpt-3 failed in 1 out 0 tokens 1 1"]);
    let unnamed = SessionRef { id: None, ..found[0].clone() };
    let error = open(&unnamed).expect_err("several");
    assert!(matches!(error, ImportError::SeveralSessions { count: 2, .. }), "{error}");
    let wrong = SessionRef { id: Some("nobody".to_owned()), ..unnamed };
    assert!(matches!(open(&wrong), Err(ImportError::NoSuchSession { .. })));
}

#[test]
fn messages_may_be_events() {
    let (state, ..) = only(&fixture("events.jsonl"));
    assert_eq!(
        outline(&state),
        ["/root completed", "  turn completed", "  call m completed in 2 out 1 tokens null null"]
    );
}

/// The facts of a graph that spans hold.
fn facts(state: &Value) -> Vec<String> {
    let mut facts = Vec::new();
    let list = |name: &str| state[name].as_object().expect(name).values().collect::<Vec<_>>();
    for thread in list("threads") {
        let status = &thread["execution"]["status"];
        let names = [&thread["thread_id"], &thread["agent_path"], &thread["nickname"], &thread["origin"], status];
        facts.push(format!("{names:?}"));
    }
    for turn in list("codex_turns") {
        facts.push(format!("{:?}", [&turn["codex_turn_id"], &turn["thread_id"], &turn["execution"]["status"]]));
    }
    for call in list("inference_calls") {
        let window = &call["execution"];
        let ids =
            [&call["inference_call_id"], &call["response_id"], &call["upstream_request_id"], &call["codex_turn_id"]];
        let times = [&window["started_at_unix_ms"], &window["ended_at_unix_ms"], &window["status"]];
        facts.push(format!("{ids:?} {times:?} {} {} {}", call["model"], call["provider_name"], call["usage"]));
    }
    for tool in list("tool_calls") {
        let window = &tool["execution"];
        let ids = [&tool["tool_call_id"], &tool["model_visible_call_id"], &tool["started_by_codex_turn_id"]];
        let times = [&window["started_at_unix_ms"], &window["ended_at_unix_ms"], &window["status"]];
        facts.push(format!("{ids:?} {times:?} {}", tool["kind"]));
    }
    for operation in list("terminal_operations") {
        facts.push(format!("exit code {} of {}", operation["result"]["exit_code"], operation["tool_call_id"]));
    }
    for edge in list("interaction_edges").into_iter().filter(|edge| edge["kind"] == "spawn_agent") {
        let target = &edge["target"];
        let item = target["item_id"].as_str().map(|item| &state["conversation_items"][item]["thread_id"]);
        facts.push(format!("spawn from {} to {}", edge["source"], item.unwrap_or(&target["thread_id"])));
    }
    facts.sort();
    facts
}

#[test]
fn an_export_of_this_program_comes_back() {
    let sample = |name: &str| {
        let bundle = Bundle::open(&trace_needs::repository().join("samples").join(name)).expect("opens");
        let reduction = reduce(&bundle, Options::default()).expect("reduces");
        let mut text = Vec::new();
        state_json::write(&reduction, state_json::Style::Compact, &mut text).expect("writes");
        serde_json::from_slice::<Value>(&text).expect("is JSON")
    };
    let original = sample("three-children");
    let items = |state: &Value| state["conversation_items"].as_object().expect("items").len();
    for name in ["three-children.jsonl", "three-children-content.jsonl"] {
        let (imported, summary, bundle) = only(&fixture(name));
        assert_eq!(facts(&imported), facts(&original), "{name}");
        agrees(&summary, &imported);
        assert_eq!(summary.id, original["root_thread_id"].as_str().expect("an id"));
        let has_content = name.contains("content");
        assert_eq!(items(&imported) > 0, has_content);
        assert_eq!(codes(&bundle).iter().any(|(code, _)| code == "request-incomplete"), !has_content);
    }
    // What was still running when the log ended is running again.
    let (imported, ..) = only(&fixture("damaged.jsonl"));
    let running: Vec<String> = outline(&imported).into_iter().filter(|line| line.contains("running")).collect();
    assert_eq!(
        running,
        [
            "/root running",
            "  turn running",
            "  tool wait_agent running items 1+0",
            "/root/measure running",
            "  turn running",
            "  tool exec_command running items 1+0",
        ]
    );
}

#[test]
fn protobuf_is_read_with_and_without_lengths() {
    let request = std::fs::read(fixture("request.pb")).expect("reads");
    let lines = std::fs::read_to_string(fixture("conversation.jsonl")).expect("reads");
    let folder = tempfile::tempdir().expect("a directory");
    let write = |name: &str, bytes: &[u8]| {
        let path = folder.path().join(name);
        std::fs::write(&path, bytes).expect("writes");
        path
    };
    let json = write("json.jsonl", lines.lines().nth(2).expect("a line").as_bytes());
    let expected = outline(&only(&json).0);
    let length = u32::try_from(request.len()).expect("short");
    let varint = [(length & 0x7f | 0x80) as u8, (length >> 7) as u8];
    let framed = |head: &[u8]| [head, &request[..], head, &request[..]].concat();
    let files = [
        write("whole.pb", &request),
        write("length.pb", &framed(&length.to_be_bytes())),
        write("varint.pb", &framed(&varint)),
        write("packed.pb.zst", &zstd::encode_all(&request[..], 1).expect("compresses")),
    ];
    for path in files {
        let format = recognize(&path).expect("reads").expect("is known");
        assert_eq!(format.name(), "otel-protobuf");
        assert_eq!(outline(&only(&path).0), expected, "{}", path.display());
    }
    // The message behind a cut is lost, those before it are not.
    let cut = framed(&length.to_be_bytes());
    let path = write("cut.pb", &cut[..cut.len() - 9]);
    let (state, _, bundle) = only(&path);
    assert_eq!(outline(&state), expected);
    assert!(codes(&bundle).contains(&("damaged-line".to_owned(), 1)));
}

#[test]
fn damaged_lines_circles_and_missing_parents_cost_only_themselves() {
    let span = |id: u64, parent: u64, start: u64, rest: &str| {
        format!(
            r#"{{"traceId":"{:032x}","spanId":"{id:016x}","parentSpanId":"{parent:016x}","name":"chat",
               "startTimeUnixNano":"{start}000000","endTimeUnixNano":"{}000000","attributes":[
               {{"key":"gen_ai.operation.name","value":{{"stringValue":"{rest}"}}}},
               {{"key":"gen_ai.request.model","value":{{"stringValue":"m"}}}}]}}"#,
            7,
            start + 5
        )
        .replace('\n', "")
    };
    let line =
        |spans: &[String]| format!(r#"{{"resourceSpans":[{{"scopeSpans":[{{"spans":[{}]}}]}}]}}"#, spans.join(","));
    let text = [
        line(&[span(1, 2, 10, "invoke_agent"), span(2, 1, 11, "invoke_agent"), span(3, 2, 12, "chat")]),
        "{\"resourceSpans\":[{".to_owned(),
        line(&[span(4, 99, 30, "chat"), span(5, 5, 40, "chat")]),
        "{\"resourceLogs\":[]}".to_owned(),
    ]
    .join("\n");
    let folder = tempfile::tempdir().expect("a directory");
    let path = folder.path().join("traces.jsonl");
    std::fs::write(&path, text).expect("writes");
    let (state, _, bundle) = only(&path);
    assert_eq!(state["inference_calls"].as_object().expect("calls").len(), 3);
    assert!(codes(&bundle).contains(&("damaged-line".to_owned(), 1)), "{:?}", codes(&bundle));
}

/// Damages a file, and reads everything of it.
fn survive(name: &str, flips: &[(usize, u8)], cut: usize, swap: (usize, usize)) {
    let bytes = std::fs::read(fixture(name)).expect("reads");
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
    let path = folder.path().join(name);
    std::fs::write(&path, bytes).expect("writes");
    for session in sessions(&path).unwrap_or_default() {
        let _ = summarize(&session);
        if let Ok(bundle) = open(&session) {
            let strict = Options { strict: true, ..Options::default() };
            reduce(&bundle, strict).expect("what is made of a damaged file is still a whole bundle");
        }
    }
}

proptest! {
    #[test]
    fn damaged_files_are_read_without_a_panic(
        name in prop::sample::select(vec!["conversation.jsonl", "handoff.jsonl", "older.json", "request.pb", "events.jsonl"]),
        flips in prop::collection::vec((any::<usize>(), 1u8..255), 0..6),
        cut in prop_oneof![Just(0), any::<usize>()],
        swap in any::<(usize, usize)>(),
    ) {
        survive(name, &flips, cut, swap);
    }
}
