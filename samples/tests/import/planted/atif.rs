//! Trajectories in ATIF 1.7.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::plot::{Calls, Plot, Step};

#[derive(Default)]
struct Clock {
    calls: Calls,
    seconds: u32,
}

pub(crate) fn write(plot: &Plot, folder: &Path) -> PathBuf {
    let mut clock = Clock::default();
    let (mut steps, mut children) = (Vec::new(), Vec::new());
    for turn in &plot.turns {
        tell(turn, &mut steps, &mut children, &mut clock);
    }
    let path = folder.join("trajectory.json");
    let mut whole = trajectory("root", &steps);
    whole["subagent_trajectories"] = json!(children);
    fs::write(&path, whole.to_string()).expect("writes");
    path
}

fn trajectory(id: &str, steps: &[Value]) -> Value {
    let steps: Vec<Value> = (1..)
        .zip(steps)
        .map(|(number, step)| {
            let mut step = step.clone();
            step["step_id"] = json!(number);
            step
        })
        .collect();
    json!({"schema_version": "ATIF-v1.7", "session_id": "run-1", "trajectory_id": id,
        "agent": {"name": id, "version": "1.0", "model_name": "m"}, "steps": steps})
}

fn step(clock: &mut Clock, source: &str, text: &str) -> Value {
    clock.seconds += 1;
    let timestamp = format!("2026-11-22T21:{:02}:{:02}.000Z", clock.seconds / 60, clock.seconds % 60);
    json!({"timestamp": timestamp, "source": source, "message": text})
}

fn tell(turn: &[Step], steps: &mut Vec<Value>, children: &mut Vec<Value>, clock: &mut Clock) {
    steps.push(step(clock, "user", "Please do it."));
    for happens in turn {
        let mut told = step(clock, "agent", "");
        told["metrics"] = json!({"prompt_tokens": 10, "completion_tokens": 2});
        let (name, result, is_error) = match happens {
            Step::Say(text) => {
                told["message"] = json!(text);
                steps.push(told);
                continue;
            }
            // A request that failed is no step.
            Step::Refuse => continue,
            Step::Run(printed, code) => ("shell", Some(json!({"content": printed})), *code != 0),
            Step::Unknown => ("nope", Some(json!({"content": "Tool \"nope\" not found"})), true),
            Step::Task(_) => (
                "delegate",
                Some(json!({"content": "Looked.", "subagent_trajectory_ref": [{"trajectory_id": "helper"}]})),
                false,
            ),
            Step::Die => ("shell", None, false),
        };
        let call = clock.calls.next();
        told["tool_calls"] = json!([{"tool_call_id": call, "function_name": name, "arguments": {},
            "extra": if is_error { json!({"is_error": true}) } else { json!({}) }}]);
        if let Some(mut result) = result {
            result["source_call_id"] = json!(call);
            told["observation"] = json!({"results": [result]});
        }
        if let Step::Task(turn) = happens {
            let mut below = Vec::new();
            tell(turn, &mut below, children, clock);
            children.push(trajectory("helper", &below));
        }
        steps.push(told);
    }
}
