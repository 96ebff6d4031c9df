//! Chats of Gemini CLI 0.61.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::plot::{Calls, Plot, Step};

const SESSION: &str = "02acd56a-a0cd-4c1d-b083-ca4ba79c9b7d";
const CHILD: &str = "43082151-1979-4989-8950-dc4fbada763b";

#[derive(Default)]
struct Clock {
    calls: Calls,
    lines: u32,
}

pub(crate) fn write(plot: &Plot, folder: &Path) -> PathBuf {
    let chats = folder.join("tmp/repo/chats");
    fs::create_dir_all(&chats).expect("a folder");
    let mut clock = Clock::default();
    let mut lines = vec![header(&mut clock, SESSION, "main")];
    for steps in &plot.turns {
        turn(steps, &mut lines, &chats, &mut clock);
    }
    let path = chats.join(format!("session-2026-11-22T21-00-{}.jsonl", &SESSION[..8]));
    save(&path, &lines);
    path
}

fn time(clock: &mut Clock) -> String {
    clock.lines += 1;
    format!("2026-11-22T21:{:02}:{:02}.000Z", clock.lines / 60, clock.lines % 60)
}

fn header(clock: &mut Clock, session: &str, kind: &str) -> Value {
    let start = time(clock);
    json!({"sessionId": session, "projectHash": "f1d7", "startTime": start, "lastUpdated": start, "kind": kind})
}

fn answer(clock: &mut Clock, text: &str) -> Value {
    let at = time(clock);
    json!({"id": format!("a{}", clock.lines), "timestamp": at, "type": "gemini", "content": text, "thoughts": [],
        "tokens": {"input": 10, "output": 2, "cached": 0, "thoughts": 0, "tool": 0, "total": 12}, "model": "gemini-x"})
}

/// Adds an answer with a call, as it is before the call has ended and after.
fn call(clock: &mut Clock, lines: &mut Vec<Value>, name: &str, args: &Value, output: &str, more: &Value, id: &str) {
    let message = answer(clock, "");
    lines.push(message.clone());
    called(clock, lines, message, name, args, output, more, id);
}

#[expect(clippy::too_many_arguments, reason = "a call has all of them")]
fn called(
    clock: &mut Clock,
    lines: &mut Vec<Value>,
    mut message: Value,
    name: &str,
    args: &Value,
    output: &str,
    more: &Value,
    id: &str,
) {
    let response = json!({"functionResponse": {"id": id, "name": name, "response": {"output": output}}});
    let mut call = json!({"id": id, "name": name, "args": args, "status": "success", "timestamp": time(clock), "result": [response]});
    for (key, value) in more.as_object().expect("members") {
        call[key] = value.clone();
    }
    message["toolCalls"] = json!([call]);
    lines.push(message);
    let at = time(clock);
    lines.push(json!({"id": format!("r{}", clock.lines), "timestamp": at, "type": "user", "content": [response]}));
}

fn turn(steps: &[Step], lines: &mut Vec<Value>, chats: &Path, clock: &mut Clock) {
    let at = time(clock);
    lines.push(json!({"id": format!("u{}", clock.lines), "timestamp": at, "type": "user", "content": [{"text": "Please do it."}]}));
    for step in steps {
        match step {
            Step::Say(text) => lines.push(answer(clock, text)),
            Step::Run(printed, code) => {
                let id = clock.calls.next();
                let code = if *code == 0 { String::new() } else { format!("Exit Code: {code}\n") };
                let output = format!("Output: {printed}{code}Process Group PGID: 7");
                call(clock, lines, "run_shell_command", &json!({"command": "make"}), &output, &json!({}), &id);
            }
            Step::Unknown => {
                let id = clock.calls.next();
                let output = "Tool \"nope\" not found. Did you mean one of: \"glob\"?";
                call(clock, lines, "nope", &json!({}), output, &json!({"status": "error"}), &id);
            }
            Step::Task(steps) => {
                let id = clock.calls.next();
                let message = answer(clock, "");
                lines.push(message.clone());
                let mut child = vec![header(clock, CHILD, "subagent")];
                turn(steps, &mut child, chats, clock);
                let reason = if matches!(steps.last(), Some(Step::Say(_))) { "GOAL" } else { "ERROR" };
                let folder = chats.join(SESSION);
                fs::create_dir_all(&folder).expect("a folder");
                save(&folder.join(format!("{CHILD}.jsonl")), &child);
                let output = format!("Subagent 'generalist' finished.\nTermination Reason: {reason}\nResult:\nLooked.");
                let args = json!({"agent_name": "generalist", "prompt": "Please do it."});
                called(clock, lines, message, "invoke_agent", &args, &output, &json!({"agentId": CHILD}), &id);
            }
            // A request that failed leaves nothing.
            Step::Refuse => {}
            // Calls are written when they have ended.
            Step::Die => {
                let _ = clock.calls.next();
                lines.push(answer(clock, ""));
            }
        }
    }
}

fn save(path: &Path, lines: &[Value]) {
    let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
    fs::write(path, text).expect("writes");
}
