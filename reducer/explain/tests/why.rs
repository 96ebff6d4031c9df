//! Provenance in sessions for which the origins are known.

mod stage;

use std::path::Path;

use proptest::prelude::*;
use serde_json::{Value, json};
use stage::{Stage, arguments, direct, function_call, message, model, output};
use trace_explain::grep::{CaseRule, Matcher, Selection, Syntax, WholeWords, grep};
use trace_explain::texts::MAX_PAYLOAD_BYTES;
use trace_explain::why::{Form, Kind, Needle, Provenance, Way, object_text, why};
use trace_explain::{ObjectRef, Session};
use trace_recorder::format::SchemaVersion;
use trace_samples::texts::Texts;
use trace_samples::{Child, Command, Session as Script, Setup};

fn ask(session: &Session, text: &str) -> Provenance {
    why(session, &Needle::new(text).expect("a text"))
}

/// Returns kind, object and agent path of the origin.
fn origin(answer: &Provenance) -> Option<(Kind, String, &str)> {
    answer.origin.as_ref().map(|origin| (origin.kind, origin.object.id.clone(), origin.agent_path.as_str()))
}

fn found(kind: Kind, id: &str, agent: &'static str) -> Option<(Kind, String, &'static str)> {
    Some((kind, id.to_owned(), agent))
}

/// Returns agent path, way and form of each hop.
fn hops(answer: &Provenance) -> Vec<(&str, Way, Form)> {
    answer.path.iter().map(|hop| (hop.agent_path.as_str(), hop.way, hop.form)).collect()
}

fn seen_by(answer: &Provenance) -> Vec<&str> {
    answer.seen_by.iter().map(|seen| seen.inference_call_id.as_str()).collect()
}

fn followed_by(answer: &Provenance) -> Vec<&str> {
    answer.followed_by.iter().map(|followed| followed.tool_call_id.as_str()).collect()
}

/// Adds a tool call of a model from start to end. Returns its items.
fn command(stage: &mut Stage, thread: &str, id: &str, line: &str, printed: &str, returned: &str) -> [Value; 2] {
    let args = json!({ "cmd": line }).to_string();
    stage.call(thread, id, json!({ "type": "exec_command" }), "exec_command", arguments(&args), model());
    let begin = json!({ "command": ["/bin/sh", "-c", line], "cwd": "/", "process_id": id });
    stage.runtime(thread, id, "tool_call_runtime_started", &begin);
    let end = json!({ "exit_code": 0, "aggregated_output": printed, "process_id": id });
    stage.runtime(thread, id, "tool_call_runtime_ended", &end);
    stage.returned(thread, id, &direct(id, returned));
    [function_call(id, "exec_command", &args), output(id, &format!("fco_{thread}_{id}"), returned)]
}

#[test]
fn inherited_history_is_a_way_and_call_ids_that_it_reuses_lead_nowhere_else() {
    let mut stage = Stage::new();
    stage.thread("t-root", "/root", None);
    let prompt = message("user", "m1", "go PROMPT");
    stage.request("t-root", "i1", &json!({ "input": [prompt] }));
    stage.respond("t-root", "i1", &[function_call("c1", "exec_command", r#"{"cmd":"cat a"}"#)]);
    let items = command(&mut stage, "t-root", "c1", "cat a", "OUTPUT\n", "Output:\nOUTPUT\n");
    stage.thread("t-child", "/root/child", Some("t-root"));
    let [call, out] = items;
    let inherited = json!({ "input": [prompt, call, output("c1", "fco_other", "Output:\nOUTPUT\n")] });
    stage.request("t-child", "i2", &inherited);
    stage.respond("t-child", "i2", &[message("assistant", "m2", "the file says OUTPUT")]);
    stage.request("t-root", "i3", &json!({ "input": [prompt, call, out] }));
    let session = stage.session();

    let answer = ask(&session, "OUTPUT");
    assert_eq!(origin(&answer), found(Kind::ToolOutput, "c1", "/root"));
    let expected = [
        ("/root", Way::Returned, Form::Within),
        ("/root/child", Way::Inherited, Form::Within),
        ("/root/child", Way::Said, Form::Within),
    ];
    assert_eq!(hops(&answer), expected);
    assert_eq!(seen_by(&answer), ["i2", "i3"]);

    let answer = ask(&session, "PROMPT");
    assert_eq!(origin(&answer), found(Kind::UserInput, "conversation_item:1", "/root"));
    assert_eq!(hops(&answer)[1], ("/root/child", Way::Inherited, Form::Within));
    assert_eq!((seen_by(&answer), followed_by(&answer)), (vec!["i1", "i2", "i3"], vec!["c1"]));

    let answer = ask(&session, "cat a");
    assert_eq!(origin(&answer), found(Kind::ToolArguments, "c1", "/root"));
    assert_eq!(ask(&session, "nowhere to be found").origin, None);
}

#[test]
fn what_a_response_holds_comes_before_what_it_caused() {
    let mut stage = Stage::new();
    stage.thread("t-root", "/root", None);
    stage.request("t-root", "i1", &json!({ "input": [message("user", "m1", "go")] }));
    // The tool runs while the response is still being streamed.
    let items = command(&mut stage, "t-root", "c1", "echo SAID", "SAID ECHOED\n", "SAID ECHOED\n");
    let said = stage.respond("t-root", "i1", &[message("assistant", "m2", "I echo SAID"), items[0].clone()]);
    let session = stage.session();
    let answer = ask(&session, "SAID");
    assert_eq!(origin(&answer), found(Kind::ModelOutput, "conversation_item:2", "/root"));
    assert_eq!(answer.origin.as_ref().map(|origin| origin.seq), Some(said));
    let ways = [Way::Said, Way::Called, Way::Returned];
    assert_eq!(hops(&answer).iter().map(|hop| hop.1).collect::<Vec<_>>(), ways);
    assert_eq!(origin(&ask(&session, "ECHOED")), found(Kind::ToolOutput, "c1", "/root"));
    assert_eq!(origin(&ask(&session, "{\"cmd\":\"echo SAID")), found(Kind::ToolArguments, "c1", "/root"));
}

#[test]
fn output_of_a_terminal_belongs_to_the_call_that_got_it() {
    let mut stage = Stage::new();
    stage.thread("t-root", "/root", None);
    stage.request("t-root", "i1", &json!({ "input": [message("user", "m1", "go")] }));
    let first = function_call("c1", "exec_command", r#"{"cmd":"./ask"}"#);
    stage.respond("t-root", "i1", std::slice::from_ref(&first));
    let exec = json!({ "type": "exec_command" });
    stage.call("t-root", "c1", exec, "exec_command", arguments(r#"{"cmd":"./ask"}"#), model());
    let begin = json!({ "command": ["./ask"], "cwd": "/", "process_id": "7" });
    stage.runtime("t-root", "c1", "tool_call_runtime_started", &begin);
    stage.returned("t-root", "c1", &direct("c1", "name? EARLY"));
    let outputs = [output("c1", "o1", "name? EARLY")];
    stage.request("t-root", "i2", &json!({ "input": [message("user", "m1", "go"), first, outputs[0]] }));
    let second = function_call("c2", "write_stdin", r#"{"session_id":7,"chars":"Ada\n"}"#);
    stage.respond("t-root", "i2", std::slice::from_ref(&second));
    let write = json!({ "type": "write_stdin" });
    let args = arguments(r#"{"session_id":7,"chars":"Ada\n"}"#);
    stage.call("t-root", "c2", write, "write_stdin", args, model());
    // The command ends, with its whole output, before the call that returns the rest of the output.
    let end = json!({ "exit_code": 0, "aggregated_output": "name? EARLY hello LATE", "process_id": "7" });
    stage.runtime("t-root", "c1", "tool_call_runtime_ended", &end);
    stage.returned("t-root", "c2", &direct("c2", "hello LATE"));
    let session = stage.session();
    assert_eq!(origin(&ask(&session, "LATE")), found(Kind::ToolOutput, "c2", "/root"));
    assert_eq!(origin(&ask(&session, "EARLY")), found(Kind::ToolOutput, "c1", "/root"));
    assert_eq!(origin(&ask(&session, "Ada\n")), found(Kind::ToolArguments, "c2", "/root"));
    assert_eq!(hops(&ask(&session, "Ada\n"))[0].2, Form::JsonEscaped);
}

#[test]
fn code_asks_for_tools_and_prints() {
    let mut stage = Stage::new();
    stage.thread("t-root", "/root", None);
    stage.request("t-root", "i1", &json!({ "input": [message("user", "m1", "go")] }));
    let code = "const r = await tools.exec_command({cmd: 'cat ' + 'b'}); text(JSON.stringify(r))";
    let call = json!({ "type": "custom_tool_call", "id": "ct1", "call_id": "c1", "name": "exec", "input": code });
    stage.respond("t-root", "i1", &[call]);
    let exec = json!({ "type": "other", "name": "exec" });
    stage.call("t-root", "c1", exec, "exec", json!({ "type": "custom", "input": code }), model());
    let started = json!({
        "type": "code_cell_started", "runtime_cell_id": "1", "model_visible_call_id": "c1", "source_js": code,
    });
    stage.event("t-root", started);
    let cell = json!({ "type": "code_cell", "runtime_cell_id": "1" });
    let kind = json!({ "type": "exec_command" });
    stage.call("t-root", "inner", kind, "exec_command", arguments(r#"{"cmd":"cat b"}"#), cell);
    let value = json!({ "type": "code_mode_response", "value": { "output": "two\nLINES é", "exit_code": 0 } });
    stage.returned("t-root", "inner", &value);
    let printed = r#"{"output":"two\nLINES \u00e9","exit_code":0}"#;
    let items = json!([{ "type": "input_text", "text": printed }, { "type": "input_text", "text": "CELL says" }]);
    let response = stage.payload("tool_result", &json!({ "response": { "Result": { "content_items": items } } }));
    let ended = json!({
        "type": "code_cell_ended", "runtime_cell_id": "1", "status": "completed", "response_payload": response,
    });
    stage.event("t-root", ended);
    let session = stage.session();
    assert_eq!(origin(&ask(&session, "two\nLINES é")), found(Kind::ToolOutput, "inner", "/root"));
    let forms: Vec<Form> = hops(&ask(&session, "two\nLINES é")).iter().map(|hop| hop.2).collect();
    assert_eq!(forms, [Form::Verbatim, Form::JsonEscaped]);
    assert_eq!(origin(&ask(&session, "CELL says")), found(Kind::ToolOutput, "c1", "/root"));
    assert_eq!(origin(&ask(&session, "'cat ' + 'b'")), found(Kind::ToolArguments, "c1", "/root"));
    assert_eq!(origin(&ask(&session, "cat b")), found(Kind::ToolArguments, "inner", "/root"));
}

#[test]
fn a_cut_output_holds_a_long_text_in_part() {
    let mut stage = Stage::new();
    let long: String = (0..200).map(|line| format!("line {line} of the file\n")).collect();
    let cut = format!("Output:\n{}…1840 tokens truncated…{}", &long[..300], &long[long.len() - 300..]);
    stage.thread("t-root", "/root", None);
    stage.request("t-root", "i1", &json!({ "input": [message("user", "m1", "go")] }));
    let [call, out] = command(&mut stage, "t-root", "c1", "cat a", &long, &cut);
    stage.respond("t-root", "i1", std::slice::from_ref(&call));
    stage.request("t-root", "i2", &json!({ "input": [message("user", "m1", "go"), call, out] }));
    let session = stage.session();
    let answer = ask(&session, long.trim_end());
    assert_eq!(origin(&answer), found(Kind::ToolOutput, "c1", "/root"));
    let forms: Vec<Form> = hops(&answer).iter().map(|hop| hop.2).collect();
    assert_eq!(forms, [Form::Within, Form::Truncated]);
    assert_eq!(answer.seen_by.iter().map(|seen| seen.form).collect::<Vec<_>>(), [Form::Truncated]);
    let answer = ask(&session, "line 100 of the file");
    assert_eq!((origin(&answer), seen_by(&answer)), (found(Kind::ToolOutput, "c1", "/root"), vec![]));
}

#[test]
fn a_cut_through_a_neighbour_of_a_text_is_none_through_the_text() {
    let mut stage = Stage::new();
    let start = "/srv/project/source/needle.rs: the planted sentence";
    let long: String = (0..900).map(|line| format!("{start} {line:03} stands here and nowhere else\n")).collect();
    let cut =
        format!("Output:\n{}…1840 tokens truncated…{}", &long[..20 * 82 + 54], &long[long.len() - 20 * 82 - 40..]);
    stage.thread("t-root", "/root", None);
    let prompt = message("user", "m1", "go");
    stage.request("t-root", "i1", &json!({ "input": [prompt] }));
    let [call, out] = command(&mut stage, "t-root", "c1", "cat a", &long, &cut);
    stage.respond("t-root", "i1", std::slice::from_ref(&call));
    let passed_on = message("assistant", "m2", &format!("it says {cut}"));
    stage.request("t-root", "i2", &json!({ "input": [prompt, call, out, passed_on] }));
    // This command never printed the line. Its output is cut within another line with the same beginning.
    let [call, out] = command(&mut stage, "t-root", "c2", "cat b", &long[..30 * 82], &cut);
    stage.request("t-root", "i3", &json!({ "input": [prompt, call, out] }));
    let session = stage.session();
    let gone = ask(&session, &format!("{start} 077 stands here and nowhere else"));
    assert_eq!((origin(&gone), seen_by(&gone)), (found(Kind::ToolOutput, "c1", "/root"), vec![]));
    let through = ask(&session, &long[19 * 82..300 * 82]);
    assert_eq!(seen_by(&through), ["i2"]);
}

#[test]
fn escapes_are_understood_without_quotes_but_not_those_of_a_shell() {
    let mut stage = Stage::new();
    stage.thread("t-root", "/root", None);
    let prompt = message("user", "m1", "go");
    stage.request("t-root", "i1", &json!({ "input": [prompt] }));
    let first = command(&mut stage, "t-root", "c1", r#"printf "a \"x\"\n\u00fc""#, "a \"x\"\nü\n", "a \"x\"\nü\n");
    stage.respond("t-root", "i1", &first[..1]);
    stage.request("t-root", "i2", &json!({ "input": [prompt, first[0], first[1]] }));
    stage.respond(
        "t-root",
        "i2",
        &[message(
            "assistant",
            "m2",
            r#"It printed:
a \"x\"\n\u00fc"#,
        )],
    );
    let session = stage.session();
    let answer = ask(&session, "a \"x\"\nü");
    assert_eq!(origin(&answer), found(Kind::ToolOutput, "c1", "/root"));
    let expected = [("/root", Way::Returned, Form::Within), ("/root", Way::Said, Form::JsonEscaped)];
    assert_eq!((hops(&answer), seen_by(&answer)), (expected.to_vec(), vec!["i2"]));
}

#[test]
fn what_the_graph_cuts_is_read_from_the_payload() {
    let mut stage = Stage::new();
    let long = json!({ "cmd": format!("echo {} END-OF-IT \"quoted\"", "x".repeat(400)) });
    let args = serde_json::to_string_pretty(&long).expect("JSON");
    stage.thread("t-root", "/root", None);
    stage.request("t-root", "i1", &json!({ "input": [message("user", "m1", "go")] }));
    let call = function_call("c1", "exec_command", &args);
    stage.respond("t-root", "i1", std::slice::from_ref(&call));
    stage.request("t-root", "i2", &json!({ "input": [message("user", "m1", "go"), call] }));
    let plain = json!({ "type": "message", "role": "user", "content": "a plain string of CONTENT" });
    stage.request("t-root", "i3", &json!({ "input": [message("user", "m1", "go"), call, plain] }));
    let session = stage.session();
    let answer = ask(&session, "END-OF-IT \"quoted\"");
    // The call has no start event, so there is no tool call to name.
    assert_eq!(origin(&answer), found(Kind::ToolArguments, "conversation_item:2", "/root"));
    assert_eq!(seen_by(&answer), ["i2", "i3"]);
    let answer = ask(&session, "string of CONTENT");
    assert_eq!(answer.origin.as_ref().map(|origin| origin.kind), Some(Kind::UserInput));
    assert_eq!(seen_by(&answer), ["i3"]);
}

#[test]
fn history_is_inherited_also_from_a_response_that_was_never_completed() {
    let mut stage = Stage::new();
    stage.thread("t-root", "/root", None);
    let prompt = message("user", "m1", "go");
    stage.request("t-root", "i1", &json!({ "input": [prompt] }));
    // The agent is started while the response is still being streamed, and inherits the part that has arrived.
    let args = r#"{"task_name":"child","message":"TASK"}"#;
    stage.call("t-root", "c1", json!({ "type": "spawn_agent" }), "spawn_agent", arguments(args), model());
    stage.thread("t-child", "/root/child", Some("t-root"));
    let said = message("assistant", "m2", "I hand over WORDS");
    stage.request("t-child", "i2", &json!({ "input": [prompt, said] }));
    stage.respond("t-child", "i2", &[message("assistant", "m3", "WORDS taken")]);
    let failed = json!({ "type": "inference_failed", "inference_call_id": "i1", "error": "dropped" });
    stage.event("t-root", failed);
    let call = function_call("c1", "spawn_agent", args);
    stage.request("t-root", "i3", &json!({ "input": [prompt, said, call] }));
    let session = stage.session();
    let answer = ask(&session, "WORDS");
    assert_eq!(
        answer.origin.as_ref().map(|origin| (origin.kind, origin.agent_path.as_str())),
        Some((Kind::ModelOutput, "/root"))
    );
    let ways: Vec<_> = hops(&answer).into_iter().map(|hop| (hop.0, hop.1)).collect();
    assert_eq!(ways, [("/root", Way::Said), ("/root/child", Way::Inherited), ("/root/child", Way::Said)]);
    assert_eq!(seen_by(&answer), ["i2", "i3"]);
}

#[test]
fn what_a_fork_inherits_it_neither_received_nor_said() {
    let mut stage = Stage::new();
    stage.thread("t-root", "/root", None);
    let mail = json!({
        "type": "agent_message", "id": "am1", "author": "/root/a", "recipient": "/root",
        "content": [{ "type": "input_text", "text": "the answer is MAIL" }],
    });
    let begins = "Another language model started to solve this problem and produced a summary";
    let summary = message("user", "s1", &format!("{begins}: SUMMARY"));
    stage.request("t-root", "i1", &json!({ "input": [mail, summary] }));
    stage.thread("t-fork", "/root/fork", Some("t-root"));
    stage.request("t-fork", "i2", &json!({ "input": [mail, summary] }));
    let session = stage.session();
    let ways = |text: &str| ask(&session, text).path.iter().map(|hop| hop.way).collect::<Vec<_>>();
    assert_eq!(ways("MAIL"), [Way::Received, Way::Inherited]);
    assert_eq!(ways("SUMMARY"), [Way::Said, Way::Inherited]);
}

#[test]
fn forms_are_those_of_the_arguments_as_they_were_written() {
    let mut stage = Stage::new();
    let args = r#"{"cmd": "echo caf\u00e9  'x'"}"#;
    stage.thread("t-root", "/root", None);
    let prompt = message("user", "m1", "go");
    stage.request("t-root", "i1", &json!({ "input": [prompt] }));
    let call = function_call("c1", "exec_command", args);
    stage.respond("t-root", "i1", std::slice::from_ref(&call));
    stage.call("t-root", "c1", json!({ "type": "exec_command" }), "exec_command", arguments(args), model());
    stage.thread("t-child", "/root/child", Some("t-root"));
    stage.request("t-child", "i2", &json!({ "input": [prompt, call] }));
    let session = stage.session();
    // The model wrote an escape; the graph has the character.
    let answer = ask(&session, "café");
    let expected = [("/root", Way::Called, Form::JsonEscaped), ("/root/child", Way::Inherited, Form::JsonEscaped)];
    assert_eq!((hops(&answer), seen_by(&answer)), (expected.to_vec(), vec!["i2"]));
    // With the space that the compact form of the graph leaves out.
    let answer = ask(&session, r#""cmd": "echo"#);
    assert_eq!((hops(&answer).len(), seen_by(&answer)), (2, vec!["i2"]));
    // Without the space, as in `state.json`.
    assert_eq!(seen_by(&ask(&session, r#""cmd":"echo"#)), ["i2"]);
}

#[test]
fn instructions_and_tools_stand_beside_the_items() {
    let mut stage = Stage::new();
    stage.thread("t-root", "/root", None);
    let tools = json!([{ "type": "function", "name": "f", "description": "does a THING" }]);
    let input = json!([
        message("developer", "d1", "be KIND"),
        message("user", "u1", "# AGENTS.md instructions for /project\n\nuse TABS"),
        message("user", "u2", "<environment_context><cwd>/CWD</cwd></environment_context>"),
        message("user", "u3", "Another language model started to solve this problem and produced a summary: SUMMARY"),
    ]);
    stage.request("t-root", "i1", &json!({ "instructions": "be BRIEF", "tools": tools, "input": input }));
    stage.request("t-root", "i2", &json!({ "instructions": "be BRIEF", "tools": tools, "input": input }));
    let session = stage.session();
    for (text, object) in [("BRIEF", "i1"), ("THING", "i1"), ("KIND", "conversation_item:1")] {
        let answer = ask(&session, text);
        assert_eq!(origin(&answer), found(Kind::Instructions, object, "/root"), "{text}");
        assert_eq!(seen_by(&answer), ["i1", "i2"], "{text}");
    }
    for (text, kind) in [("TABS", Kind::Instructions), ("/CWD", Kind::Instructions), ("SUMMARY", Kind::ModelOutput)] {
        assert_eq!(ask(&session, text).origin.map(|origin| origin.kind), Some(kind), "{text}");
    }
}

#[test]
fn commands_are_searched_as_they_were_meant() {
    let mut stage = Stage::new();
    stage.thread("t-root", "/root", None);
    let args = "{\"cmd\":\"echo \\\"caf\\u00e9\\\"\\ntrue\"}";
    let call = json!({ "type": "exec_command" });
    stage.call("t-root", "c1", call, "exec_command", arguments(args), model());
    let session = stage.session();
    let lines = |pattern: &str| {
        let matcher = Matcher::new(&[pattern], Syntax::Regex, CaseRule::Exact, WholeWords::No).expect("a pattern");
        let found = grep(&session, &matcher, &Selection::default());
        found.texts.into_iter().flat_map(|hits| hits.lines).map(|line| line.text).collect::<Vec<_>>()
    };
    assert_eq!(lines("\"café\"$"), ["echo \"café\""]);
    assert_eq!(lines("^true$"), ["true"]);
    assert_eq!(lines("\"cmd\":"), [args], "what only the document has");
    assert_eq!(lines("echo").len(), 1);
}

#[test]
fn objects_have_texts() {
    let mut stage = Stage::new();
    stage.thread("t-root", "/root", None);
    stage.request("t-root", "i1", &json!({ "input": [message("user", "m1", "go on")] }));
    let [call, _] = command(&mut stage, "t-root", "c1", "cat a", "PRINTED\n", "Output:\nPRINTED\n");
    stage.respond("t-root", "i1", &[message("assistant", "m2", "I look"), call]);
    let session = stage.session();
    let text = |name: &str| object_text(&session, &name.parse::<ObjectRef>().expect("a name"));
    assert_eq!(text("conversation_item:1").as_deref(), Ok("go on"));
    assert_eq!(text("tool_call:c1").as_deref(), Ok("PRINTED"));
    assert_eq!(text("terminal_operation:1").as_deref(), Ok("PRINTED"));
    assert_eq!(text("inference_call:i1").as_deref(), Ok("I look"));
    let refused = |name: &str| text(name).expect_err("no text").to_string();
    assert_eq!(refused("thread:t-root"), "thread:t-root has no text of its own");
    assert_eq!(refused("tool_call:c9"), "the session has no tool_call:c9");
}

#[test]
fn payloads_are_read_up_to_a_limit() {
    for (bytes, unread) in [(MAX_PAYLOAD_BYTES, 0), (MAX_PAYLOAD_BYTES + 1, 1)] {
        let mut stage = Stage::new();
        stage.thread("t-root", "/root", None);
        let exec = json!({ "type": "exec_command" });
        stage.call("t-root", "c1", exec, "exec_command", arguments("{}"), model());
        let around = json!({ "type": "error", "error": "LARGE" }).to_string().len();
        let text = format!("{}LARGE", " ".repeat(bytes - around));
        stage.returned("t-root", "c1", &json!({ "type": "error", "error": text }));
        let answer = ask(&stage.session(), "LARGE");
        assert_eq!((answer.unread_payloads, answer.origin.is_none()), (unread, unread > 0));
    }
}

/// A place where a text is put.
#[derive(Debug, Clone, Copy)]
enum Spot {
    Prompt,
    Instructions,
    Thought,
    CommandLine,
    Output,
    Task,
    ChildOutput,
    Message,
    ChildAnswer,
}

impl Spot {
    const ALL: [Self; 9] = [
        Self::Prompt,
        Self::Instructions,
        Self::Thought,
        Self::CommandLine,
        Self::Output,
        Self::Task,
        Self::ChildOutput,
        Self::Message,
        Self::ChildAnswer,
    ];

    fn truth(self) -> (Kind, &'static str) {
        match self {
            Self::Prompt => (Kind::UserInput, "/root"),
            Self::Instructions => (Kind::Instructions, "/root"),
            Self::Thought => (Kind::ModelOutput, "/root"),
            Self::CommandLine => (Kind::ToolArguments, "/root"),
            Self::Output => (Kind::ToolOutput, "/root"),
            Self::Task | Self::Message => (Kind::AgentMessage, "/root"),
            Self::ChildOutput => (Kind::ToolOutput, "/root/a"),
            Self::ChildAnswer => (Kind::ModelOutput, "/root/a"),
        }
    }
}

/// Records a session with a text in one place, which the child's answer repeats if the model has seen it.
fn record(path: &Path, spot: Spot, text: &str) {
    let at = |here: Spot, otherwise: &str| {
        if std::mem::discriminant(&here) == std::mem::discriminant(&spot) {
            format!("so: {text} .")
        } else {
            otherwise.to_owned()
        }
    };
    let mut texts = Texts::short();
    texts.instructions = at(Spot::Instructions, "be brief");
    let setup = Setup {
        seed: 5,
        started_at_unix_ms: 0,
        schema: SchemaVersion::CURRENT,
        cwd: "/project".to_owned(),
        model: "m".to_owned(),
        provider: "p".to_owned(),
        texts,
    };
    let (mut script, root) = Script::create(path, setup).expect("creates");
    script.prompt(root, &at(Spot::Prompt, "go")).expect("writes");
    script.think(root, &at(Spot::Thought, "well"));
    let line = match spot {
        // In a command line, all quotes but those of JSON documents belong to the shell.
        Spot::CommandLine => format!("so: [{text}] ."),
        _ => "ls".to_owned(),
    };
    let command = Command::new(line, at(Spot::Output, "a b"));
    script.run(root, &[command]).expect("writes");
    let child =
        Child { task_name: "a".to_owned(), nickname: "Ada".to_owned(), model: None, task: at(Spot::Task, "look") };
    let children = script.spawn(root, &[child]).expect("writes");
    script.run(children[0], &[Command::new("cat x", at(Spot::ChildOutput, "x"))]).expect("writes");
    script.send_message(root, children[0], &at(Spot::Message, "hurry")).expect("writes");
    let quote = match spot {
        Spot::ChildAnswer | Spot::ChildOutput | Spot::Task | Spot::Message => format!("it is {text}"),
        _ => "done".to_owned(),
    };
    script.answer(children[0], &quote).expect("writes");
    script.answer(root, "all done").expect("writes");
    script.end().expect("writes");
}

/// Writes a text as a JSON string, with `\uXXXX` in upper or lower case for characters that are not ASCII.
fn as_json(text: &str, upper: bool) -> String {
    let mut json = String::new();
    for c in serde_json::to_string(text).expect("JSON").chars() {
        if c.is_ascii() {
            json.push(c);
            continue;
        }
        for unit in c.encode_utf16(&mut [0; 2]) {
            json.push_str(&if upper { format!("\\u{unit:04X}") } else { format!("\\u{unit:04x}") });
        }
    }
    json
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, ..ProptestConfig::default() })]

    #[test]
    fn a_planted_text_is_found_where_it_was_planted(
        spot in prop::sample::select(Spot::ALL.to_vec()),
        tail in "[a-z\"\\\\/\n\té😀]{0,12}",
        levels in 0usize..3,
        upper: bool,
    ) {
        let text = format!("PLANTED-7f3a{tail}");
        let shown = (0..levels).fold(text.clone(), |text, _| as_json(&text, upper));
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("bundle");
        record(&path, spot, &shown);
        let session = Session::open(&path).expect("opens");
        let answer = ask(&session, &text);
        let (kind, agent) = spot.truth();
        prop_assert_eq!(origin(&answer).map(|(kind, _, agent)| (kind, agent)), Some((kind, agent)));
        prop_assert_eq!(&answer.path[0].object, &answer.origin.as_ref().expect("found").object);
        // The core of the text has no character that an escape changes.
        let seen: Vec<String> = session
            .trace()
            .inferences
            .values()
            .filter(|call| {
                let request = session.read_payload(call.request_payload_id).expect("reads");
                String::from_utf8(request).expect("UTF-8").contains("PLANTED-7f3a")
            })
            .map(|call| session.trace().text(call.id).to_owned())
            .collect();
        prop_assert_eq!(seen_by(&answer), seen);
    }
}
