//! What `opencode export` 1.18 prints.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::plot::{Calls, Plot, Step};

const ROOT: &str = "ses_dfadb9d5cffeqW0Wu7CWHLUkLX";
const CHILD: &str = "ses_dfadb4999ffey7pbCJODOtt08U";

#[derive(Default)]
struct Clock {
    calls: Calls,
    now: u64,
}

pub(crate) fn write(plot: &Plot, folder: &Path) -> PathBuf {
    let mut clock = Clock { now: 1_795_381_260_000, ..Clock::default() };
    let mut messages = Vec::new();
    for steps in &plot.turns {
        turn(steps, &mut messages, folder, &mut clock);
    }
    save(folder, ROOT, None, &messages)
}

fn tick(clock: &mut Clock) -> u64 {
    clock.now += 1000;
    clock.now
}

/// Makes the message of an answer that began at `at` and ends now.
fn answer(clock: &mut Clock, prompt: &str, at: u64, part: Value, more: &Value) -> Value {
    let end = tick(clock);
    let id = format!("msg_{at}");
    let mut info = json!({"id": id, "role": "assistant", "parentID": prompt, "modelID": "m", "providerID": "p",
        "time": {"created": at, "completed": end}, "finish": "stop",
        "tokens": {"input": 10, "output": 2, "reasoning": 0, "cache": {"read": 0, "write": 0}}});
    let members = info.as_object_mut().expect("an object");
    members.extend(more.as_object().expect("members").clone());
    members.retain(|_, value| !value.is_null());
    let parts: Vec<Value> = [json!({"id": format!("{id}-a"), "type": "step-start"}), part]
        .into_iter()
        .filter(|part| !part.is_null())
        .collect();
    json!({"info": info, "parts": parts})
}

fn tool(call: &str, name: &str, state: &Value) -> Value {
    json!({"id": format!("prt_{call}"), "type": "tool", "tool": name, "callID": call, "state": state})
}

fn turn(steps: &[Step], messages: &mut Vec<Value>, folder: &Path, clock: &mut Clock) {
    let at = tick(clock);
    let prompt = format!("msg_{at}");
    messages.push(json!({"info": {"id": prompt, "role": "user", "time": {"created": at}},
        "parts": [{"id": format!("{prompt}-p"), "type": "text", "text": "Please do it."}]}));
    let with_tools = json!({"finish": "tool-calls"});
    for step in steps {
        let at = tick(clock);
        let message = match step {
            Step::Say(text) => answer(
                clock,
                &prompt,
                at,
                json!({"id": format!("prt_{}", clock.now), "type": "text", "text": text}),
                &json!({}),
            ),
            Step::Run(printed, code) => {
                let call = clock.calls.next();
                let (start, end) = (tick(clock), tick(clock));
                let state = json!({"status": "completed", "input": {"command": "make"}, "output": printed, "title": "make",
                    "metadata": {"exit": code, "output": printed}, "time": {"start": start, "end": end}});
                answer(clock, &prompt, at, tool(&call, "bash", &state), &with_tools)
            }
            Step::Unknown => {
                let call = clock.calls.next();
                let (start, end) = (tick(clock), tick(clock));
                let error = "Model tried to call unavailable tool 'nope'. Available tools: bash, read.";
                let state = json!({"status": "completed", "input": {"tool": "nope", "error": error}, "title": "Invalid Tool",
                    "output": format!("The arguments provided to the tool are invalid: {error}"), "metadata": {},
                    "time": {"start": start, "end": end}});
                answer(clock, &prompt, at, tool(&call, "invalid", &state), &with_tools)
            }
            Step::Task(steps) => {
                let call = clock.calls.next();
                let start = tick(clock);
                let mut child = Vec::new();
                turn(steps, &mut child, folder, clock);
                save(folder, CHILD, Some(ROOT), &child);
                let end = tick(clock);
                let mut state = json!({"status": "completed", "input": {"description": "helper", "prompt": "Please do it."},
                    "output": "Looked.", "title": "helper", "metadata": {"sessionId": CHILD, "parentSessionId": ROOT},
                    "time": {"start": start, "end": end}});
                if !matches!(steps.last(), Some(Step::Say(_))) {
                    state["status"] = json!("error");
                    state["error"] = json!(format!("Subagent failed (task_id: {CHILD})"));
                }
                answer(clock, &prompt, at, tool(&call, "task", &state), &with_tools)
            }
            Step::Refuse => {
                let data = json!({"message": "Too Many Requests", "statusCode": 429, "isRetryable": false});
                answer(
                    clock,
                    &prompt,
                    at,
                    Value::Null,
                    &json!({"finish": null, "error": {"name": "APIError", "data": data}}),
                )
            }
            Step::Die => {
                let call = clock.calls.next();
                let start = tick(clock);
                let state = json!({"status": "running", "input": {"command": "make"}, "time": {"start": start}});
                answer(
                    clock,
                    &prompt,
                    at,
                    tool(&call, "bash", &state),
                    &json!({"finish": null, "time": {"created": at}}),
                )
            }
        };
        messages.push(message);
    }
}

fn save(folder: &Path, id: &str, parent: Option<&str>, messages: &[Value]) -> PathBuf {
    let mut info = json!({"id": id, "directory": "/repo", "title": "A session", "version": "1.18.33",
        "time": {"created": 1_795_381_260_000_u64, "updated": 1_795_381_360_000_u64}});
    if let Some(parent) = parent {
        info["parentID"] = json!(parent);
    }
    let path = folder.join(format!("export-{id}.json"));
    fs::write(&path, json!({"info": info, "messages": messages}).to_string()).expect("writes");
    path
}
