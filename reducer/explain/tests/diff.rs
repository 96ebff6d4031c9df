//! Differences between sessions that differ in a known way.

#[expect(dead_code, reason = "other tests use more of it")]
mod stage;

use serde_json::{Value, json};
use stage::{Stage, arguments, direct, function_call, message, model, output};
use trace_explain::diff::{Aspect, Counts, Diff, Kind};

/// Writes a session whose agent waits for a child that runs a command, and then repeats the child's answer.
fn waiting(command: &str, came_of_it: &str) -> Stage {
    let mut stage = Stage::new();
    let said = format!("the child says {came_of_it}");
    let command = json!({ "cmd": command }).to_string();
    stage.thread("t-root", "/root", None);
    let task = message("user", "m1", "do it");
    let wait = function_call("wait", "wait_agent", "{}");
    stage.request("t-root", "i1", &json!({ "model": "m", "input": [task] }));
    stage.respond("t-root", "i1", std::slice::from_ref(&wait));
    stage.thread("t-kid", "/root/kid", Some("t-root"));
    stage.call("t-root", "wait", json!({ "type": "wait_agent" }), "wait_agent", arguments("{}"), model());
    let run = function_call("run", "read", &command);
    stage.request("t-kid", "i2", &json!({ "model": "m", "input": [message("user", "m2", "run it")] }));
    stage.respond("t-kid", "i2", &[run]);
    let kind = json!({ "type": "other", "name": "read" });
    stage.call("t-kid", "run", kind, "read", arguments(&command), model());
    stage.returned("t-kid", "run", &direct("run", came_of_it));
    stage.request(
        "t-kid",
        "i3",
        &json!({ "model": "m", "input": [message("user", "m2", "run it"),
        function_call("run", "read", &command), output("run", "o1", came_of_it)] }),
    );
    stage.respond("t-kid", "i3", &[message("assistant", "m3", came_of_it)]);
    stage.returned("t-root", "wait", &direct("wait", &said));
    stage.request(
        "t-root",
        "i4",
        &json!({ "model": "m", "input": [message("user", "m1", "do it"), wait,
        output("wait", "o2", &said)] }),
    );
    stage.respond("t-root", "i4", &[message("assistant", "m4", &said)]);
    stage
}

fn diff(a: &Stage, b: &Stage) -> Diff {
    Diff::new(&a.session(), &b.session(), None)
}

/// Returns agent, label and aspects of each difference.
fn told(diff: &Diff) -> Vec<(&str, &str, Vec<Aspect>)> {
    let sides = diff.differences.iter().filter_map(|of| Some((of.a.as_ref().or(of.b.as_ref())?, of)));
    sides.map(|(side, of)| (side.agent_path.as_str(), side.label.as_str(), of.aspects.clone())).collect()
}

#[test]
fn a_wait_that_began_before_its_child_went_wrong_is_not_the_first_difference() {
    let good = waiting("make", "good");
    assert_eq!(
        told(&diff(&good, &waiting("make", "bad"))),
        [
            ("/root/kid", "read", vec![Aspect::Output]),
            ("/root/kid", "m", vec![Aspect::Said]),
            ("/root", "wait_agent", vec![Aspect::Output]),
            ("/root", "m", vec![Aspect::Said]),
        ]
    );
    let other = diff(&good, &waiting("make test", "bad"));
    // What the model wrote comes before the calls that it made.
    assert_eq!(told(&other)[0], ("/root/kid", "m", vec![Aspect::Said]));
    assert_eq!(told(&other)[1].2, [Aspect::Arguments, Aspect::Output]);
    assert_eq!(other.first.as_ref(), other.differences.first());
}

/// Writes a session in which the model answers turn by turn.
fn turns(questions: &[&str]) -> Stage {
    let mut stage = Stage::new();
    stage.thread("t-root", "/root", None);
    let mut history: Vec<Value> = Vec::new();
    for (number, question) in questions.iter().enumerate() {
        let turn = format!("turn-{number}");
        stage.event("", json!({ "type": "codex_turn_started", "codex_turn_id": turn, "thread_id": "t-root" }));
        history.push(message("user", &format!("q-{question}"), question));
        let request = stage
            .payload("inference_request", &json!({ "model": "m", "input": history, "previous_response_id": null }));
        let started = json!({
            "type": "inference_started", "inference_call_id": turn, "thread_id": "t-root", "codex_turn_id": turn,
            "model": "m", "provider_name": "p", "request_payload": request,
        });
        stage.event("t-root", started);
        let answer = message("assistant", &format!("a-{question}"), &format!("the answer to {question}"));
        stage.respond("t-root", &turn, std::slice::from_ref(&answer));
        history.push(answer);
        stage.event("", json!({ "type": "codex_turn_ended", "codex_turn_id": turn, "status": "completed" }));
    }
    stage
}

#[test]
fn a_turn_more_is_one_difference() {
    let (short, long) = (turns(&["one", "two", "three"]), turns(&["one", "new", "two", "three"]));
    let there = diff(&short, &long);
    assert_eq!(there.counts, Counts { same_steps: 6, changed: 0, only_a: 0, only_b: 1 });
    let turn = there.first.as_ref().and_then(|first| first.b.as_ref()?.turn_id.clone());
    assert_eq!(turn.as_deref(), Some("turn-1"));
    assert_eq!(diff(&long, &short).counts, Counts { same_steps: 6, changed: 0, only_a: 1, only_b: 0 });
    // A turn with another input replaces the turn at its place.
    let other = diff(&short, &turns(&["one", "2", "three"]));
    assert_eq!(other.counts, Counts { same_steps: 4, changed: 2, only_a: 0, only_b: 0 });
    assert_eq!(other.first.map(|first| first.aspects), Some(vec![Aspect::Text]));
}

/// Writes a session in which the model calls one tool. `items` are the items of the response.
fn calling(tool: &str, items: &[Value]) -> Stage {
    let mut stage = Stage::new();
    stage.thread("t-root", "/root", None);
    stage.request("t-root", "i1", &json!({ "model": "m", "input": [message("user", "m1", "do it")] }));
    stage.respond("t-root", "i1", items);
    stage.call("t-root", "call", json!({ "type": "other", "name": tool }), tool, arguments("{}"), model());
    stage.returned("t-root", "call", &direct("call", "done"));
    stage
}

#[test]
fn another_tool_with_the_same_arguments_is_told_with_both() {
    let item = |tool: &str| [function_call("call", tool, "{}")];
    let said = diff(&calling("read_file", &item("read_file")), &calling("delete_file", &item("delete_file")));
    let first = said.first.expect("differs");
    assert_eq!((first.kind, first.aspects), (Kind::Changed, vec![Aspect::Said]));
    let quotes = [first.a, first.b].map(|side| side.and_then(|side| side.quote).expect("a quote"));
    assert_eq!(quotes, ["read_file {}", "delete_file {}"]);
    // Without items, the log does not show that the model made the call.
    let silent = diff(&calling("read_file", &[]), &calling("delete_file", &[]));
    let first = silent.first.expect("differs");
    assert_eq!((first.kind, first.aspects), (Kind::Changed, vec![Aspect::Tool]));
    let labels = [first.a, first.b].map(|side| side.expect("a side").label);
    assert_eq!(labels, ["read_file", "delete_file"]);
}

#[test]
fn what_stands_in_the_place_of_something_comes_after_it() {
    let (one, two) = (calling("read_file", &[]), {
        let mut stage = calling("write_file", &[]);
        for tool in ["move_file", "delete_file"] {
            stage.call("t-root", tool, json!({ "type": "other", "name": tool }), tool, arguments("{}"), model());
        }
        stage
    });
    let kinds: Vec<Kind> = diff(&one, &two).differences.iter().map(|difference| difference.kind).collect();
    assert_eq!(kinds, [Kind::OnlyA, Kind::OnlyB, Kind::OnlyB, Kind::OnlyB]);
}
