//! Transcripts of Claude Code 2.1.197.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::plot::{Calls, Plot, Step};

const SESSION: &str = "0a9b4199-63b5-4311-a816-6bad9441aaa9";

struct File<'a> {
    folder: &'a Path,
    /// Id of the agent, in the file of a child.
    agent: Option<String>,
    lines: Vec<Value>,
}

#[derive(Default)]
struct Clock {
    calls: Calls,
    lines: u32,
}

pub(crate) fn write(plot: &Plot, folder: &Path) -> PathBuf {
    let mut clock = Clock::default();
    let mut root = File { folder, agent: None, lines: Vec::new() };
    for steps in &plot.turns {
        root.turn(steps, &mut clock);
    }
    let path = folder.join(format!("{SESSION}.jsonl"));
    root.save(&path);
    path
}

impl File<'_> {
    fn line(&mut self, clock: &mut Clock, kind: &str, members: &Value) {
        clock.lines += 1;
        let (minute, second) = (clock.lines / 60, clock.lines % 60);
        let mut line = json!({
            "parentUuid": self.lines.last().map(|line| line["uuid"].clone()), "isSidechain": self.agent.is_some(),
            "sessionId": SESSION, "version": "2.1.197", "cwd": "/work", "type": kind, "uuid": format!("u{}", clock.lines),
            "timestamp": format!("2026-11-22T21:{minute:02}:{second:02}.000Z"),
        });
        if let Some(agent) = &self.agent {
            line["agentId"] = json!(agent);
        }
        for (key, value) in members.as_object().expect("members") {
            line[key] = value.clone();
        }
        self.lines.push(line);
    }

    fn answer(&mut self, clock: &mut Clock, block: &Value) {
        let id = format!("m{}", clock.lines);
        let usage = json!({"input_tokens": 10, "output_tokens": 2});
        let message = json!({"id": id, "role": "assistant", "model": "claude-x", "content": [block], "usage": usage});
        self.line(clock, "assistant", &json!({"requestId": format!("req_{id}"), "message": message}));
    }

    fn call(&mut self, clock: &mut Clock, call: &str, name: &str, input: &Value) {
        self.answer(clock, &json!({"type": "tool_use", "id": call, "name": name, "input": input}));
    }

    fn result(&mut self, clock: &mut Clock, call: &str, text: &str, is_error: bool, more: &Value) {
        let block = json!({"type": "tool_result", "tool_use_id": call, "content": text, "is_error": is_error});
        let mut members = json!({"message": {"role": "user", "content": [block]}});
        for (key, value) in more.as_object().expect("members") {
            members[key] = value.clone();
        }
        self.line(clock, "user", &members);
    }

    fn turn(&mut self, steps: &[Step], clock: &mut Clock) {
        let prompt = format!("p{}", clock.lines);
        self.line(clock, "user", &json!({"promptId": prompt, "message": {"role": "user", "content": "Please do it."}}));
        for step in steps {
            match step {
                Step::Say(text) => self.answer(clock, &json!({"type": "text", "text": text})),
                Step::Run(printed, code) => {
                    let call = clock.calls.next();
                    self.call(clock, &call, "Bash", &json!({"command": "make"}));
                    let text = if *code == 0 { (*printed).to_owned() } else { format!("Exit code {code}\n{printed}") };
                    self.result(clock, &call, &text, *code != 0, &json!({}));
                }
                Step::Unknown => {
                    let call = clock.calls.next();
                    self.call(clock, &call, "Nope", &json!({}));
                    let text = "<tool_use_error>Error: No such tool available: Nope</tool_use_error>";
                    self.result(clock, &call, text, true, &json!({}));
                }
                Step::Task(steps) => {
                    let call = clock.calls.next();
                    let agent = format!("a{}", clock.lines);
                    let input =
                        json!({"description": "helper", "prompt": "Please do it.", "subagent_type": "general-purpose"});
                    self.call(clock, &call, "Agent", &input);
                    let folder = self.folder.join(SESSION).join("subagents");
                    fs::create_dir_all(&folder).expect("a folder");
                    let mut child = File { folder: self.folder, agent: Some(agent.clone()), lines: Vec::new() };
                    child.turn(steps, clock);
                    child.save(&folder.join(format!("agent-{agent}.jsonl")));
                    let meta = json!({"agentType": "general-purpose", "description": "helper", "toolUseId": call, "spawnDepth": 1});
                    fs::write(folder.join(format!("agent-{agent}.meta.json")), meta.to_string()).expect("writes");
                    // A child that failed is told as one that completed, with the error as its answer.
                    let text = match steps.last() {
                        Some(Step::Say(text)) => text,
                        _ => "API Error: 429 too many requests",
                    };
                    self.result(
                        clock,
                        &call,
                        text,
                        false,
                        &json!({"toolUseResult": {"status": "completed", "agentId": agent}}),
                    );
                }
                Step::Refuse => {
                    let text = "API Error: Request rejected (429) · too many requests";
                    let message = json!({"id": format!("s{}", clock.lines), "role": "assistant", "model": "<synthetic>",
                        "content": [{"type": "text", "text": text}], "usage": {"input_tokens": 0, "output_tokens": 0}});
                    self.line(clock, "assistant", &json!({"isApiErrorMessage": true, "error": "rate_limit", "apiErrorStatus": 429, "message": message}));
                }
                Step::Die => {
                    let call = clock.calls.next();
                    self.call(clock, &call, "Bash", &json!({"command": "make"}));
                }
            }
        }
    }

    fn save(&self, path: &Path) {
        let text: String = self.lines.iter().map(|line| format!("{line}\n")).collect();
        fs::write(path, text).expect("writes");
    }
}
