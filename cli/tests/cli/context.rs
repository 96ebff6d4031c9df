//! `trace context`.

use std::path::Path;

use insta::assert_snapshot;
use serde_json::{Value, json};
use trace_recorder::format::event::{
    CompactionInstalled, CompactionRequestFailed, CompactionRequestStarted, InferenceCompleted, InferenceStarted,
};
use trace_recorder::format::{EventPayload, PayloadKind, RolloutStatus};
use trace_recorder::write::Context;

use crate::schema::assert_valid;
use crate::support::{Place, START, Session};

fn message(role: &str, id: &str, text: &str) -> Value {
    let kind = if role == "assistant" { "output_text" } else { "input_text" };
    json!({ "type": "message", "role": role, "id": id, "content": [{ "type": kind, "text": text }] })
}

fn call(id: &str, name: &str, arguments: &Value) -> Value {
    json!({ "type": "function_call", "id": format!("fc-{id}"), "call_id": id, "name": name, "arguments": arguments.to_string() })
}

fn output(id: &str, text: &str) -> Value {
    json!({ "type": "function_call_output", "id": format!("fco-{id}"), "call_id": id, "output": text })
}

fn tools() -> Value {
    json!([
        { "type": "function", "name": "shell", "description": "Runs a command.", "parameters": { "type": "object" } },
        { "type": "namespace", "name": "agents", "tools": [
            { "type": "function", "name": "spawn", "description": "Starts an agent.", "parameters": {} },
        ] },
    ])
}

/// Adds an inference call with these items in its request and in its answer.
fn ask(session: &mut Session, id: &str, request: &Value, answer: &[Value], input_tokens: Option<u64>) {
    let request_payload = session.payload(PayloadKind::InferenceRequest, request);
    let started = InferenceStarted {
        inference_call_id: id.into(),
        thread_id: "t-root".into(),
        codex_turn_id: "turn-1".into(),
        model: "model-1".into(),
        provider_name: "provider".into(),
        request_payload,
    };
    session.event(Context::turn("t-root", "turn-1"), EventPayload::InferenceStarted(started));
    let usage = input_tokens.map(|input| {
        json!({
            "input_tokens": input,
            "cached_input_tokens": 100,
            "cache_write_input_tokens": 0,
            "output_tokens": 20,
            "reasoning_output_tokens": 0,
        })
    });
    let response = json!({ "output_items": answer, "token_usage": usage });
    let completed = InferenceCompleted {
        inference_call_id: id.into(),
        response_id: None,
        upstream_request_id: None,
        response_payload: session.payload(PayloadKind::InferenceResponse, &response),
    };
    session.event(Context::turn("t-root", "turn-1"), EventPayload::InferenceCompleted(completed));
}

fn request(input: &[Value], effort: &str) -> Value {
    json!({
        "model": "model-1",
        "instructions": "You help with the project.",
        "tools": tools(),
        "input": input,
        "reasoning": { "effort": effort },
        "stream": true,
    })
}

/// A session of five requests. The second one adds a call, the third one comes after a compaction, the fourth one has a
/// changed output, and before the fifth one the client summarised the history.
fn compacted(path: &Path) {
    let mut session = Session::begin(path, START);
    session.thread("t-root", "/root", None);
    session.turn("t-root", "turn-1");
    let rules = message("developer", "m-rules", "Answer briefly. Never push to main.");
    let place = message("user", "m-place", "<environment_context><cwd>/project</cwd></environment_context>");
    let task = message("user", "m-task", "Why does the build fail?");
    let look = call("call-1", "shell", &json!({ "cmd": "make all" }));
    ask(
        &mut session,
        "inf-1",
        &request(&[rules.clone(), place.clone(), task.clone()], "low"),
        std::slice::from_ref(&look),
        Some(400),
    );
    let printed = output("call-1", "cc: no such file: lamp.h\n\u{1b}[31mmake: *** [all] Error 1");
    let answer = message("assistant", "m-answer", "The header lamp.h is missing.");
    let history = [rules.clone(), place.clone(), task.clone(), look.clone(), printed];
    ask(&mut session, "inf-2", &request(&history, "high"), std::slice::from_ref(&answer), Some(500));

    let context = Context::turn("t-root", "turn-1");
    let payload = session.payload(PayloadKind::CompactionRequest, &json!({}));
    let started = CompactionRequestStarted {
        compaction_id: "compaction-1".into(),
        compaction_request_id: "cr-1".into(),
        thread_id: "t-root".into(),
        codex_turn_id: "turn-1".into(),
        model: "model-1".into(),
        provider_name: "provider".into(),
        request_payload: payload,
    };
    session.event(context, EventPayload::CompactionRequestStarted(started));
    let failed = CompactionRequestFailed {
        compaction_id: "compaction-1".into(),
        compaction_request_id: "cr-1".into(),
        error: "the provider answers 500".into(),
    };
    session.event(context, EventPayload::CompactionRequestFailed(failed));

    let summary = json!({ "type": "compaction", "id": "cmp", "encrypted_content": "c2VjcmV0IHN1bW1hcnk=" });
    let mut before = history.to_vec();
    before.push(answer);
    let after = vec![
        task.clone(),
        message("user", "m-place-2", "<environment_context><cwd>/elsewhere</cwd></environment_context>"),
        summary,
    ];
    let checkpoint = json!({ "input_history": before, "replacement_history": after });
    let installed = CompactionInstalled {
        compaction_id: "compaction-2".into(),
        checkpoint_payload: session.payload(PayloadKind::CompactionCheckpoint, &checkpoint),
    };
    session.event(context, EventPayload::CompactionInstalled(installed));
    let again = call("call-2", "agents.spawn", &json!({ "task": "find the header" }));
    ask(&mut session, "inf-3", &request(&after, "high"), std::slice::from_ref(&again), Some(150));
    let mut history = after;
    history.extend([again, output("call-2", "started")]);
    ask(&mut session, "inf-4", &request(&history, "high"), &[], None);
    let told = message("user", "m-told", "A summary of the work so far: the header was found.");
    ask(&mut session, "inf-5", &request(&[rules, told], "high"), &[], Some(90));
    session.end(RolloutStatus::Completed);
}

#[test]
fn a_request_is_told_item_by_item() {
    let place = Place::new();
    compacted(&place.path("bundle"));
    assert_snapshot!(place.run(&["context", "bundle", "--inference", "inf-2"]), @r#"
    Request inf-2 #2 of 5 of /root
      model      model-1 (provider)
      turn       turn-1, seq 6
      tokens     500 in (100 cached), 20 out

    What the tokens are spent on (estimated)
      WHAT               COUNT  TOKENS  SHARE
      tools                  2     187  37.4 %
      instructions           2     134  26.8 %
      tool output            1      73  14.6 %
      user input             1      40   8.0 %
      model output           1      37   7.4 %
      base instructions      1      29   5.8 %

    Base instructions 26 B, 5.8 %
      You help with the project.

    Tools 2
      NAME          TYPE      BYTES  TOKENS  SHARE
      shell         function     97     101  20.2 %
      agents.spawn  function     83      86  17.2 %

    Parameters
      model      "model-1"
      reasoning  {"effort":"high"}
      stream     true

    Items 5
      #  TOKENS  SHARE   SINCE  WHAT       FROM             TEXT
      0      52  10.4 %     #1  developer  instructions     Answer briefly. Never push to main.
      1      82  16.4 %     #1  user       instructions     <environment_context><cwd>/project</cwd></environment_context>
      2      40   8.0 %     #1  user       user input       Why does the build fail?
      3      37   7.4 %     #2  shell ←    model output #1  {"cmd":"make all"}
      4      73  14.6 %     #2  shell →    tool output      cc: no such file: lamp.h ⏎ \u{1b}[31mmake: *** [all] Error 1
    "#);
}

#[test]
fn a_request_against_the_one_before() {
    let place = Place::new();
    compacted(&place.path("bundle"));
    let of = |id: &str| {
        let ran = place.run(&["context", "bundle", "--inference", id, "--diff"]);
        let from = ran.stdout.find("Difference to").expect("a difference");
        ran.stdout[from..].to_owned()
    };
    assert_snapshot!(of("inf-1"), @r#"
    Difference to the request before: this is the first one of its thread

    Items 3
      #  TOKENS  SHARE   SINCE  WHAT       FROM          TEXT
      0      54  13.5 %     #1  developer  instructions  Answer briefly. Never push to main.
      1      83  20.8 %     #1  user       instructions  <environment_context><cwd>/project</cwd></environment_context>
      2      42  10.5 %     #1  user       user input    Why does the build fail?
    "#);
    assert_snapshot!(of("inf-2"), @r#"
    Difference to inf-1: 3 kept, 2 added, 0 removed, 0 changed
      tokens     400 before, 500 now (+100)
      params ~   reasoning

    Added 2
      #   TOKENS  SHARE   SINCE  WHAT     FROM             TEXT
      +3      37   7.4 %     #2  shell ←  model output #1  {"cmd":"make all"}
      +4      73  14.6 %     #2  shell →  tool output      cc: no such file: lamp.h ⏎ \u{1b}[31mmake: *** [all] Error 1
    "#);
    assert_snapshot!(of("inf-3"), @r#"
    Difference to inf-2: 1 kept, 2 added, 4 removed, 0 changed
      tokens     500 before, 150 now (-350)
      compacted  by compaction-2

    Removed 4
      #   TOKENS  SHARE   SINCE  WHAT       FROM             TEXT
      -0      52  10.4 %     #1  developer  instructions     Answer briefly. Never push to main.
      -1      82  16.4 %     #1  user       instructions     <environment_context><cwd>/project</cwd></environment_context>
      -3      37   7.4 %     #2  shell ←    model output #1  {"cmd":"make all"}
      -4      73  14.6 %     #2  shell →    tool output      cc: no such file: lamp.h ⏎ \u{1b}[31mmake: *** [all] Error 1

    Added 2
      #   TOKENS  SHARE   SINCE  WHAT     FROM                     TEXT
      +1      33  22.0 %     #3  user     compaction compaction-2  <environment_context><cwd>/elsewhere</cwd></environment_context>
      +2      13   8.7 %     #3  summary  compaction compaction-2  [encrypted_content, 20 bytes]
    "#);
    assert_snapshot!(of("inf-5"), @r#"
    Difference to inf-4: 0 kept, 2 added, 5 removed, 0 changed
      tokens     about 108 before, 90 now (-18)
      rewritten  most items are gone and no compaction was recorded: the client has summarised the history by itself

    Removed 5
      #   TOKENS  SHARE   SINCE  WHAT            FROM                     TEXT
      -0      10   9.3 %     #3  user            user input, kept         Why does the build fail?
      -1      20  18.5 %     #3  user            compaction compaction-2  <environment_context><cwd>/elsewhere</cwd></environment_context>
      -2       8   7.4 %     #3  summary         compaction compaction-2  [encrypted_content, 20 bytes]
      -3      11  10.2 %     #4  agents.spawn ←  model output #3          {"task":"find the header"}
      -4       6   5.6 %     #4  agents.spawn →  tool output              started

    Added 2
      #   TOKENS  SHARE   SINCE  WHAT       FROM          TEXT
      +0      14  15.6 %     #5  developer  instructions  Answer briefly. Never push to main.
      +1      18  20.0 %     #5  user       user input    A summary of the work so far: the header was found.
    "#);
}

#[test]
fn whole_texts_are_shown_on_demand() {
    let place = Place::new();
    compacted(&place.path("bundle"));
    let ran = place.run(&["context", "bundle", "--inference", "inf-2", "--full"]);
    let from = ran.stdout.find("Items").expect("items");
    assert_snapshot!(&ran.stdout[from..], @r#"
    Items 5
    0  developer  from instructions, since #1, 52 tokens (10.4 %), conversation_item:1
      Answer briefly. Never push to main.
    1  user  from instructions, since #1, 82 tokens (16.4 %), conversation_item:2
      <environment_context><cwd>/project</cwd></environment_context>
    2  user  from user input, since #1, 40 tokens (8.0 %), conversation_item:3
      Why does the build fail?
    3  shell ←  from model output #1, since #2, 37 tokens (7.4 %), conversation_item:4
      {"cmd":"make all"}
    4  shell →  from tool output, since #2, 73 tokens (14.6 %), conversation_item:5
      cc: no such file: lamp.h
      \u{1b}[31mmake: *** [all] Error 1
    "#);
}

#[test]
fn a_compaction_is_told() {
    let place = Place::new();
    compacted(&place.path("bundle"));
    assert_snapshot!(place.run(&["context", "bundle", "--compaction", "compaction-2"]), @r#"
    Compaction compaction-2 of /root
      turn       turn-1
      installed  seq 10
      items      6 items became 3: 1 kept, 5 removed, 1 summary, 1 new
      before     500 tokens in request inf-2 (items alone: 82, estimated)
      after      150 tokens in request inf-3 (items alone: 38, estimated)

    Summary 20 B (encrypted: only the provider can read it)

    Kept 1
      #  TOKENS  SHARE   SINCE  WHAT  FROM              TEXT
      0      10  26.3 %     #1  user  user input, kept  Why does the build fail?

    Removed 5
      #   TOKENS  SHARE   SINCE  WHAT                  FROM             TEXT
      -0      13  15.8 %     #1  developer             instructions     Answer briefly. Never push to main.
      -1      20  24.4 %     #1  user                  instructions     <environment_context><cwd>/project</cwd></environment_context>
      -3       9  11.0 %     #2  function call         model output #1  {"cmd":"make all"}
      -4      18  21.9 %     #2  function call output  tool output      cc: no such file: lamp.h ⏎ \u{1b}[31mmake: *** [all] Error 1
      -5      12  14.6 %         assistant             model output #2  The header lamp.h is missing.

    New 1
      #   TOKENS  SHARE   SINCE  WHAT  FROM                     TEXT
      +1      20  52.6 %     #3  user  compaction compaction-2  <environment_context><cwd>/elsewhere</cwd></environment_context>
    "#);
    assert_snapshot!(place.run(&["context", "bundle", "--compaction", "compaction-1"]), @r#"
    Compaction compaction-1 of /root
      turn       turn-1
      asked      of model-1, failed in 1.0 s: the provider answers 500
      installed  never: the history stayed as it was
    "#);
}

#[test]
fn what_is_not_there_is_told_with_what_is() {
    let place = Place::new();
    compacted(&place.path("bundle"));
    assert_snapshot!(place.run(&["context", "bundle", "--inference", "inf-9"]), @r#"
    --- stderr
    error: the session has no inference call inf-9
    hint: it has, for example, inf-1, inf-2, inf-3, inf-4, inf-5
    --- exit code 2
    "#);
    assert_snapshot!(place.run(&["context", "bundle", "--inference", "inf"]), @r#"
    --- stderr
    error: several inference call ids begin with inf
    hint: for example inf-1, inf-2, inf-3, inf-4, inf-5
    --- exit code 2
    "#);
    assert_snapshot!(place.run(&["context", "bundle", "--turn", "x"]), @r#"
    --- stderr
    error: the session has no turn x
    hint: it has, for example, turn-1
    --- exit code 2
    "#);
    assert_snapshot!(place.run(&["context", "bundle", "--compaction", "c"]), @r#"
    --- stderr
    error: several compaction ids begin with c
    hint: for example compaction-2, compaction-1
    --- exit code 2
    "#);
    let ran = place.run(&["context", "bundle"]);
    assert_eq!(ran.code, 2);
    let mut empty = Session::begin(&place.path("empty"), START);
    empty.thread("t-root", "/root", None);
    assert_snapshot!(place.run(&["context", "empty", "--last"]), @r#"
    --- stderr
    error: the session has no request to a model
    --- exit code 1
    "#);
    assert_snapshot!(place.run(&["context", "empty", "--compaction", "c"]), @r#"
    --- stderr
    error: the session has no compaction c
    hint: the session has no compaction
    --- exit code 2
    "#);
}

#[test]
fn json_is_as_its_schema_wants_it() {
    let place = Place::new();
    compacted(&place.path("bundle"));
    let sample = Path::new(env!("CARGO_MANIFEST_DIR")).join("../samples/three-children");
    let sample = sample.to_string_lossy().into_owned();
    for arguments in [
        &["context", "bundle", "--last", "--diff", "--json"][..],
        &["context", "bundle", "--inference", "inf-3", "--diff", "--full", "--json"],
        &["context", "bundle", "--inference", "inf-4", "--json"],
        &["context", "bundle", "--compaction", "compaction-1", "--json"],
        &["context", "bundle", "--compaction", "compaction-2", "--json"],
        &["context", &sample, "--last", "--diff", "--json"],
    ] {
        let ran = place.run(arguments);
        assert_eq!(ran.code, 0, "{ran}");
        assert_valid("context", &ran.stdout);
        let answer: Value = serde_json::from_str(&ran.stdout).expect("JSON");
        if answer["about"] == "request" {
            let tokens = |list: &Value| {
                list.as_array()
                    .expect("a list")
                    .iter()
                    .map(|part| part["tokens"].as_u64().expect("tokens"))
                    .sum::<u64>()
            };
            assert_eq!(tokens(&answer["sums"]), answer["tokens"]["input"], "{arguments:?}");
            let beside = answer["beside"]["instructions"]["tokens"].as_u64().unwrap_or(0);
            let parts = tokens(&answer["items"]) + tokens(&answer["beside"]["tools"]) + beside;
            assert_eq!(parts, answer["tokens"]["input"], "{arguments:?}");
        }
    }
    let ran = place.run(&["context", "bundle", "--inference", "inf-2", "--json"]);
    let answer: Value = serde_json::from_str(&ran.stdout).expect("JSON");
    assert_snapshot!(format!("{:#}", answer["items"][4]), @r#"
    {
      "index": 4,
      "item_id": "conversation_item:5",
      "responses_item_id": "fco-call-1",
      "role": "tool",
      "channel": "commentary",
      "kind": "function_call_output",
      "name": "shell",
      "call_id": "call-1",
      "text": "cc: no such file: lamp.h\n\u001b[31mmake: *** [all] Error 1",
      "text_bytes": 53,
      "is_cut": false,
      "origin": {
        "kind": "tool_output",
        "object": null,
        "agent_path": null,
        "number": null,
        "kept_by": null
      },
      "since": {
        "inference_call_id": "inf-2",
        "seq": 6,
        "number": 2
      },
      "tokens": 73,
      "share": 0.146
    }
    "#);
}

#[test]
fn a_request_that_cannot_be_read_has_no_items_and_says_so() {
    let place = Place::new();
    compacted(&place.path("bundle"));
    let log = place.read("bundle/trace.jsonl");
    let line = log.lines().find(|line| line.contains("\"inf-1\"")).expect("a line");
    let event: Value = serde_json::from_str(line).expect("JSON");
    let path = event["payload"]["request_payload"]["path"].as_str().expect("a path");
    std::fs::remove_file(place.path("bundle").join(path)).expect("removes");
    assert_snapshot!(place.run(&["context", "bundle", "--inference", "inf-1"]), @r#"
    Request inf-1 #1 of 5 of /root
      model      model-1 (provider)
      turn       turn-1, seq 4
      tokens     400 in (100 cached), 20 out
      missing    raw_payload:1 could not be read: what stands beside the items is not known
    "#);
}
